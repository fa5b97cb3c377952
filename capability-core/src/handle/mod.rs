//! Authority as parameters.
//!
//! A capability's borrowed parameters are *handles*: what it may reach, lent for one call. There is no other way to reach
//! anything. Each handle is a stub in front of the host's [`Broker`]; the same stub works whether the body runs in the
//! host's process or elsewhere.
//!
//! | handle | what it is asked | class that may hold it |
//! |---|---|---|
//! | [`&Context`](Context) | [`subject`](Context::subject), [`turn`](Context::turn), [`mode`](Context::mode), [`remaining`](Context::remaining) | any |
//! | [`&Clock`](Clock) | [`now`](Clock::now), [`day_began`](Clock::day_began) | any |
//! | [`&Device`](Device) | [`readings`](Device::readings): one set of [`DeviceReadings`] | any |
//! | [`&Journal`](Journal) | [`append`](Journal::append) | any |
//! | [`&OwnHistory`](OwnHistory) | [`result`](OwnHistory::result), [`calls`](OwnHistory::calls) | any |
//! | [`&Http`](Http) | [`connect`](Http::connect), [`target`](Http::target), [`authorities`](Http::authorities) | `external`, with a `target` |
//! | [`&Endpoint<K>`](Endpoint) | [`get`](Endpoint::get), [`post`](Endpoint::post) | any; a `K` that [`Changes`] needs `mutating` |
//! | [`&Workspace<Read>`](Workspace) | [`open`](Workspace::open), [`read`](Workspace::read), [`entries`](Workspace::entries), [`fingerprint`](Workspace::fingerprint), [`open_target`](Workspace::open_target) | any |
//! | [`&Workspace<Write>`](Workspace) | [`write`](Workspace::write), [`remove`](Workspace::remove) and [`change`](Workspace::change) as well | `mutating` |
//! | [`&Mailer`](Mailer) | [`sender`](Mailer::sender), [`send`](Mailer::send) | `mutating`, `external` |
//! | [`&Repository`](Repository) | [`read`](Repository::read): one file of a revision | any |
//! | [`&State<Read>`](State) | [`get`](State::get) | any |
//! | [`&State<Write>`](State) | [`put`](State::put) as well | `mutating` |
//! | [`&Reviews`](Reviews) | [`file`](Reviews::file) | `mutating` |
//! | [`&Schedules<Read>`](Schedules) | [`list`](Schedules::list), [`next`](Schedules::next) | any |
//! | [`&Schedules<Write>`](Schedules) | [`create`](Schedules::create) and [`cancel`](Schedules::cancel) as well | `mutating` |
//! | [`&Agents`](Agents) | [`look`](Agents::look), [`run`](Agents::run), [`spawn`](Agents::spawn) | `mutating` and `external` |
//! | [`&AgentRuns<Read>`](AgentRuns) | [`list`](AgentRuns::list) | any |
//! | [`&AgentRuns<Write>`](AgentRuns) | [`stop`](AgentRuns::stop) as well | `mutating` |
//! | [`&Trees`](Trees) | [`plan`](Trees::plan), [`make`](Trees::make) | `mutating` |
//! | [`&Secret<K>`](Secret) | [`reveal`](Secret::reveal) | any |
//! | [`&Terminal`](Terminal) | [`workdir`](Terminal::workdir), [`run`](Terminal::run), [`start`](Terminal::start) | `mutating` |
//! | [`&Processes`](Processes) | [`list`](Processes::list), [`inspect`](Processes::inspect), [`cancel`](Processes::cancel) | any |
//! | [`&ProviderTool<K>`](ProviderTool) | [`call`](ProviderTool::call) | `mutating` and `external` |
//! | [`&ProviderLink<K>`](ProviderLink) | [`connect`](ProviderLink::connect) | `mutating` and `external` |
//!
//! Until a call is confirmed, in a `preview`, only `Context`, `Clock`, `Device`, `Repository`, `Mailer::sender`, `Agents::look`,
//! `Trees::plan`, `Terminal::workdir` and the reading sides of `Workspace`, `State`, `Schedules`, `AgentRuns` and `Processes` answer;
//! once it has ended, none does.
//!
//! The other items are markers that the class rules are written in, and the [`Broker`]'s side. An author needs neither.

mod agents;
mod broker;
mod clock;
mod context;
mod device;
mod endpoint;
mod fault;
mod http;
mod journal;
mod lease;
mod mailer;
mod names;
mod own;
mod permits;
mod processes;
mod provider;
mod repository;
mod reviews;
mod schedules;
mod secret;
mod serving;
mod state;
mod terminal;
mod trees;
mod variables;
mod workspace;

pub use agents::{
    AgentAnswer, AgentEnd, AgentRun, AgentRuns, AgentSeen, Agents, MAX_AGENT_DEPTH, MAX_ANSWER_BYTES,
    MAX_RUNNING_AGENTS, MAX_TASK_BYTES,
};
pub use broker::{BrokerReply, BrokerRequest};
pub use clock::Clock;
pub use context::Context;
pub use device::{
    Device, DeviceReadings, EndpointReading, InterfaceReading, LoadReading, MemoryReading, ServiceReading,
    StorageReading,
};
pub use endpoint::{
    Endpoint, EndpointKind, EndpointPower, EndpointReply, HttpMethod, MAX_QUERY_BYTES, MAX_REPLY_BYTES, MAX_SENT_BYTES,
};
pub use fault::BrokerFault;
pub use http::Http;
pub use journal::{Journal, MAX_ENTRIES_PER_TURN, MAX_ENTRY_BYTES};
pub(crate) use lease::{Foreign, LeaseHolder, Terms};
pub use lease::{Lease, LeaseEnding, SessionEnding};
pub use mailer::{Letter, MAX_ADDRESS_BYTES, MAX_LETTER_BYTES, MAX_SUBJECT_BYTES, Mailer, is_mail_address};
pub use names::{is_protected_path, is_sensitive_path};
pub use own::{Because, MAX_OWN_CALLS, OwnCall, OwnCalls, OwnHistory, OwnResult};
pub use permits::{
    Changes, EffectPermits, External, Local, Mutating, NetworkPermits, NoTarget, OffDevice, OnDevice, ReadOnly, Reads,
    TargetPermits, Targetless, Targets, WithTarget,
};
pub use processes::{
    BackgroundCommand, MAX_BACKGROUND_MS, MAX_LOG_HEAD_BYTES, MAX_LOG_TAIL_BYTES, MAX_PAGE_BYTES, MAX_PROCESSES,
    OutputPage, ProcessEnd, ProcessId, ProcessPage, ProcessSeen, Processes,
};
pub use provider::{
    Edges, McpServers, OmittedContent, ProviderConnected, ProviderKind, ProviderLink, ProviderTool, Relays,
    ToolContent, ToolReply,
};
pub use repository::{MAX_REVISED_BYTES, MAX_REVISION_BYTES, Repository, Revised, RevisedKind, is_revision};
pub use reviews::{MAX_OPEN_REVIEWS, MAX_REVIEW_REASON_BYTES, MAX_REVIEWED_BYTES, Review, ReviewKind, Reviews};
pub use schedules::{MAX_CRON_BYTES, MAX_PLANNED_BYTES, MAX_SCHEDULES, MAX_ZONE_BYTES, Plan, Scheduled, Schedules};
pub use secret::{MAX_SECRET_BYTES, Secret, SecretKind, SecretText};
pub use serving::Broker;
pub use state::{Kept, MAX_KEY_BYTES, MAX_KEYS, MAX_STATE_BYTES, MAX_VALUE_BYTES, State, StateScope, is_state_key};
pub use terminal::{
    Command, CommandEnd, Held, HowEnded, KeptOutput, MAX_COMMAND_BYTES, MAX_COMMAND_MS, MAX_COMMAND_WORDS,
    MAX_KEPT_BYTES, MAX_SECRET_USES, SecretUse, Terminal, Workdir,
};
pub use trees::{
    MAX_TOLD_COMMITS, MAX_TOLD_FILES, TreeChange, TreeCommit, TreeFile, TreeMove, TreeMoved, TreePlan, Trees,
};
pub use variables::{is_bindable_variable, is_execution_control, is_variable_name};
pub use workspace::{
    EntryKind, FileChange, Fingerprint, Listing, MAX_CHANGES, MAX_ENTRIES, MAX_PATH_BYTES, MAX_READ_BYTES,
    MAX_WRITE_BYTES, Read, TargetPlace, Workspace, WorkspaceAccess, WorkspaceEntry, Write, is_plain_absolute_path,
    is_plain_path,
};

use crate::call::Call;

/// What a handle gives access to. Two handles of one kind are never lent to one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleKind {
    family: HandleFamily,
    /// The configured service or secret, for the families that have several.
    instance: &'static str,
    /// Whether a workspace, a state, schedules or runs of agents are written, too.
    may_change: bool,
    /// What an endpoint may be sent.
    allowed: &'static [(HttpMethod, &'static str)],
}

/// The families of authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandleFamily {
    /// Who asks, in which turn and mode, and how long there is.
    Context,
    /// The wall clock.
    Clock,
    /// Readings of this machine.
    Device,
    /// The subject's own append-only journal.
    Journal,
    /// What happened in the subject's name.
    OwnHistory,
    /// The approved public host.
    Http,
    /// A service the operator configured.
    Endpoint,
    /// Files below a workspace root.
    Workspace,
    /// A secret the operator bound.
    Secret,
    /// Repositories the operator configured, at their revisions.
    Repository,
    /// The mail server the operator configured.
    Mailer,
    /// What the subject keeps from one call to the next.
    State,
    /// What a person has to look at.
    Reviews,
    /// Calls that are made at times.
    Schedules,
    /// Agents that the operator configured.
    Agents,
    /// What became of the agents that the subject has started.
    AgentRuns,
    /// References that the operator lets move.
    Trees,
    /// Programs that the host runs.
    Terminal,
    /// Programs of the subject's that run on.
    Processes,
    /// One tool of a provider that the operator connected.
    ProviderTool,
    /// The way to a provider that the operator configured.
    ProviderLink,
}

impl HandleFamily {
    /// The word shown to operators.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Clock => "clock",
            Self::Device => "device",
            Self::Journal => "journal",
            Self::OwnHistory => "own_history",
            Self::Http => "http",
            Self::Endpoint => "endpoint",
            Self::Workspace => "workspace",
            Self::Secret => "secret",
            Self::Repository => "repository",
            Self::Mailer => "mailer",
            Self::State => "state",
            Self::Reviews => "reviews",
            Self::Schedules => "schedules",
            Self::Agents => "agents",
            Self::AgentRuns => "agent_runs",
            Self::Trees => "trees",
            Self::Terminal => "terminal",
            Self::Processes => "processes",
            Self::ProviderTool => "provider_tool",
            Self::ProviderLink => "provider_link",
        }
    }
}

impl HandleKind {
    pub(crate) const fn new(family: HandleFamily, instance: &'static str) -> Self {
        Self { family, instance, may_change: false, allowed: &[] }
    }

    pub(crate) const fn workspace(may_change: bool) -> Self {
        Self { may_change, ..Self::new(HandleFamily::Workspace, "") }
    }

    pub(crate) const fn secret(name: &'static str) -> Self {
        Self::new(HandleFamily::Secret, name)
    }

    pub(crate) const fn endpoint(name: &'static str, allowed: &'static [(HttpMethod, &'static str)]) -> Self {
        Self { allowed, ..Self::new(HandleFamily::Endpoint, name) }
    }

    /// The family.
    #[must_use]
    pub const fn family(&self) -> HandleFamily {
        self.family
    }

    /// The configured service or secret; empty for the families that have one instance.
    #[must_use]
    pub const fn instance(&self) -> &'static str {
        self.instance
    }

    /// Whether it is a workspace, a state, schedules or runs of agents, and written, too.
    #[must_use]
    pub const fn may_change(&self) -> bool {
        self.may_change
    }

    /// What an endpoint may be sent, by method and exact path; empty for every other family.
    #[must_use]
    pub const fn allowed(&self) -> &'static [(HttpMethod, &'static str)] {
        self.allowed
    }

    /// Whether an endpoint may be sent that.
    #[must_use]
    pub fn lists(&self, method: HttpMethod, path: &str) -> bool {
        self.allowed.contains(&(method, path))
    }

    /// Whether no two of `kinds` are the same.
    #[expect(
        clippy::indexing_slicing,
        reason = "const fn: iterators are not const, and every index is below the length"
    )]
    pub(crate) const fn all_distinct(kinds: &[Self]) -> bool {
        let mut at = 0;
        while at < kinds.len() {
            if kinds[at].is_among(kinds.split_at(at).0) {
                return false;
            }
            at += 1;
        }
        true
    }

    /// Whether one of `kinds` is the same.
    #[expect(
        clippy::indexing_slicing,
        reason = "const fn: iterators are not const, and every index is below the length"
    )]
    pub(crate) const fn is_among(&self, kinds: &[Self]) -> bool {
        let mut at = 0;
        while at < kinds.len() {
            if kinds[at].family as u8 == self.family as u8 && same(kinds[at].instance, self.instance) {
                return true;
            }
            at += 1;
        }
        false
    }
}

/// Whether a text can name a service or a secret in a configuration: `[a-z][a-z0-9_-]*`, at most 32 bytes. A secret's name
/// is a file's name, too.
#[must_use]
#[expect(clippy::indexing_slicing, reason = "const fn: iterators are not const, and every index is below the length")]
pub const fn is_configured_name(name: &str) -> bool {
    let name = name.as_bytes();
    if name.is_empty() || name.len() > 32 || !name[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 1;
    while at < name.len() {
        if !matches!(name[at], b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-') {
            return false;
        }
        at += 1;
    }
    true
}

#[expect(clippy::indexing_slicing, reason = "const fn: slices are not comparable in const, and lengths are equal")]
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

impl core::fmt::Display for HandleKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.family.as_str())?;
        if self.instance.is_empty() { Ok(()) } else { write!(f, "<{}>", self.instance) }
    }
}

/// A parameter that carries authority. Sealed: authority comes from the host or not at all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handle, and `#[capability]` lends nothing else: a borrowed parameter is authority, an owned one is an argument\nhelp: take it owned, as in `name: String`, or take one of `&Context`, `&Clock`, `&Device`, `&Journal`, `&Http`, `&Endpoint<..>`, `&Workspace<..>`, `&Repository`, `&Mailer`, `&State<..>`, `&Reviews`, `&Schedules<..>`, `&Agents`, `&AgentRuns<..>`, `&Trees`, `&Secret<..>`, `&Terminal`, `&Processes`",
    label = "not a handle"
)]
pub trait Handle: sealed::Sealed + Sized + Send + Sync + 'static {
    /// What it gives access to.
    const KIND: HandleKind;
    /// What is wrong with the author's own part of it, if anything: a compile error at the parameter that takes it.
    #[doc(hidden)]
    const FAULT: Option<&'static str> = None;
    /// [`OnDevice`] or [`OffDevice`]: whether holding it can send data off the device.
    type Reach;
    /// [`Reads`] or [`Changes`]: whether holding it can change something.
    type Power;
    /// [`Targetless`] or [`Targets`]: whether it serves only what the `target` argument names.
    type Scope;

    /// Lends it for one call.
    #[doc(hidden)]
    fn lend(call: &Call) -> Self;
}

pub(crate) mod sealed {
    /// Closes [`super::Handle`].
    pub trait Sealed {}
}

#[cfg(test)]
mod tests {
    use super::{HandleFamily, HandleKind};

    #[test]
    fn one_handle_of_each_kind() {
        let kind = |instance| HandleKind::new(HandleFamily::Endpoint, instance);
        assert!(HandleKind::all_distinct(&[kind("pihole"), kind("searxng"), HandleKind::new(HandleFamily::Clock, "")]));
        assert!(!HandleKind::all_distinct(&[kind("pihole"), kind("searxng"), kind("pihole")]));
    }
}
