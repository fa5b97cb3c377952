//! The one door behind every handle.

mod reply;

use serde::{Deserialize, Serialize};

use super::endpoint::fits;
use super::names::{is_protected_path, is_sensitive_path};
use super::{
    BackgroundCommand, BrokerFault, Command, FileChange, HandleFamily, HandleKind, HttpMethod, Letter,
    MAX_ADDRESS_BYTES, MAX_CHANGES, MAX_ENTRY_BYTES, MAX_KEY_BYTES, MAX_OWN_CALLS, MAX_PATH_BYTES, MAX_REVISION_BYTES,
    MAX_TASK_BYTES, MAX_VALUE_BYTES, MAX_WRITE_BYTES, OwnCalls, Plan, ProcessId, Review, StateScope, TreeMove,
    is_configured_name,
};
use crate::audit::Receipt;
use crate::contract::MAX_NAME_BYTES;
use crate::session::SessionId;

pub use reply::BrokerReply;

/// What a handle asks of the host. Plain data, so that it crosses a process boundary unchanged.
///
/// Whatever it names is checked again at the host: a request that did not come through its handle gets no further than one
/// that did.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokerRequest {
    /// The wall clock.
    Now,
    /// When today began, by the clocks where the machine is.
    DayBegan,
    /// Readings of this machine.
    Device,
    /// Append one entry to the subject's journal.
    Append {
        /// The entry, untrusted text.
        text: String,
    },
    /// An earlier result of the lease's own session.
    Recall {
        /// What it came with.
        receipt: Receipt,
    },
    /// What the lease's own subject asked for, and what became of it.
    Reflect {
        /// Which calls.
        wanted: OwnCalls,
    },
    /// A connection to the lease's approved target. There is nothing to name.
    Connect,
    /// The certificate authorities that the operator trusts beside the public ones.
    Authorities,
    /// One exchange with a configured service.
    Exchange {
        /// The endpoint kind's name.
        endpoint: String,
        /// Reads or changes.
        method: HttpMethod,
        /// One of the kind's listed paths.
        path: String,
        /// Names and values, not yet encoded.
        query: Vec<(String, String)>,
        /// The JSON text of what is sent along.
        body: Option<Vec<u8>>,
    },
    /// A file of the workspace, opened to be read.
    Open {
        /// Relative to the workspace root.
        path: String,
        /// Whether a file with a second name is refused.
        sole: bool,
    },
    /// The lease's approved target, a path from the root of the file system, opened to be read. There is nothing to name.
    OpenTarget,
    /// Where the lease's target is. Nothing of its content is told.
    PlaceTarget,
    /// The hash of a file of the workspace, or that there is none.
    Fingerprint {
        /// Relative to the workspace root.
        path: String,
    },
    /// What stands in a directory of the workspace.
    List {
        /// Relative to the workspace root, or `.` for the root itself.
        path: String,
    },
    /// Put a file of the workspace in place, whole or not at all.
    Write {
        /// Relative to the workspace root.
        path: String,
        /// The whole content.
        content: Vec<u8>,
    },
    /// Remove a file of the workspace.
    Remove {
        /// Relative to the workspace root.
        path: String,
    },
    /// What stands at a path of a repository's revision.
    Revised {
        /// The name under which the operator configured it.
        name: String,
        /// The revision.
        revision: String,
        /// Relative to the revision's root.
        path: String,
    },
    /// From whom a letter would come.
    Sender {
        /// To whom it would go.
        to: String,
    },
    /// Hand a letter over to the mail server.
    Send {
        /// The letter.
        letter: Letter,
    },
    /// What the subject keeps under a key.
    Kept {
        /// Where.
        scope: StateScope,
        /// The key.
        key: String,
    },
    /// Put a text under a key of the subject's, or take it away.
    Keep {
        /// Where.
        scope: StateScope,
        /// The key.
        key: String,
        /// The text, untrusted; none to take it away.
        value: Option<String>,
    },
    /// File something for a person to look at.
    Review {
        /// What.
        review: Review,
    },
    /// When a plan would run next.
    Foreseen {
        /// The plan.
        plan: Plan,
    },
    /// The subject's schedules.
    Schedules,
    /// Make a schedule.
    Schedule {
        /// What it calls, and when.
        plan: Plan,
    },
    /// End a schedule of the subject's.
    Unschedule {
        /// Its number.
        number: u64,
    },
    /// What a configured agent is, for the lease's own session.
    Agent {
        /// The name under which the operator configured it.
        agent: String,
    },
    /// An agent's turn that acts for the lease's session, to its end.
    RunAgent {
        /// The name under which the operator configured it.
        agent: String,
        /// What it is told, untrusted text.
        task: String,
    },
    /// The same, without waiting for it.
    SpawnAgent {
        /// The name under which the operator configured it.
        agent: String,
        /// What it is told, untrusted text.
        task: String,
    },
    /// The agents that the subject has started and not waited for.
    AgentRuns,
    /// End one of them.
    StopAgent {
        /// Which.
        run: SessionId,
    },
    /// What a move of a tree's live reference would do.
    PlanTree {
        /// The name under which the operator configured it.
        tree: String,
        /// Which move.
        wanted: TreeMove,
    },
    /// A move that the lease's preview rests on.
    MoveTree {
        /// The name under which the operator configured it.
        tree: String,
        /// Which move.
        wanted: TreeMove,
    },
    /// Change files of the workspace, all or none.
    Change {
        /// Each of them once.
        changes: Vec<FileChange>,
    },
    /// A secret's value.
    Reveal {
        /// The secret kind's name.
        secret: String,
    },
    /// Which directory a command would run in.
    Workdir {
        /// Relative to the workspace root, or `.` for the root itself.
        path: String,
    },
    /// Run a command to its end.
    Run {
        /// Which.
        command: Command,
    },
    /// Begin a command that runs on.
    Start {
        /// Which.
        command: BackgroundCommand,
    },
    /// The subject's commands that run on.
    Processes,
    /// One of them, and a part of what it wrote.
    Inspect {
        /// Which.
        id: ProcessId,
        /// From which byte of its standard output on.
        stdout: u64,
        /// From which byte of its standard error on.
        stderr: u64,
    },
    /// End one of them.
    Stop {
        /// Which.
        id: ProcessId,
    },
    /// What the manifest of the call's subject says to something; answered from the lease.
    Declares {
        /// A capability's name.
        name: String,
        /// Its scope.
        scope: Option<String>,
    },
    /// A call of the tool that the lease's decision names, with the arguments that were judged. There is nothing to name.
    CallTool {
        /// The kind of provider, as the handle has it.
        kind: String,
    },
    /// A connection to the provider that the lease's target names.
    ConnectProvider {
        /// The kind of provider, as the handle has it.
        kind: String,
    },
}

impl core::fmt::Debug for BrokerRequest {
    /// What is asked for, without what is given along.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Now => "Now",
            Self::DayBegan => "DayBegan",
            Self::Device => "Device",
            Self::Append { .. } => "Append",
            Self::Recall { .. } => "Recall",
            Self::Reflect { .. } => "Reflect",
            Self::Connect => "Connect",
            Self::Authorities => "Authorities",
            Self::Exchange { .. } => "Exchange",
            Self::Open { .. } => "Open",
            Self::OpenTarget => "OpenTarget",
            Self::PlaceTarget => "PlaceTarget",
            Self::Fingerprint { .. } => "Fingerprint",
            Self::List { .. } => "List",
            Self::Write { .. } => "Write",
            Self::Remove { .. } => "Remove",
            Self::Revised { .. } => "Revised",
            Self::Sender { .. } => "Sender",
            Self::Send { .. } => "Send",
            Self::Kept { .. } => "Kept",
            Self::Keep { .. } => "Keep",
            Self::Review { .. } => "Review",
            Self::Foreseen { .. } => "Foreseen",
            Self::Schedules => "Schedules",
            Self::Schedule { .. } => "Schedule",
            Self::Unschedule { .. } => "Unschedule",
            Self::Agent { .. } => "Agent",
            Self::RunAgent { .. } => "RunAgent",
            Self::SpawnAgent { .. } => "SpawnAgent",
            Self::AgentRuns => "AgentRuns",
            Self::StopAgent { .. } => "StopAgent",
            Self::PlanTree { .. } => "PlanTree",
            Self::MoveTree { .. } => "MoveTree",
            Self::Change { .. } => "Change",
            Self::Reveal { .. } => "Reveal",
            Self::Workdir { .. } => "Workdir",
            Self::Run { .. } => "Run",
            Self::Start { .. } => "Start",
            Self::Processes => "Processes",
            Self::Inspect { .. } => "Inspect",
            Self::Stop { .. } => "Stop",
            Self::Declares { .. } => "Declares",
            Self::CallTool { .. } => "CallTool",
            Self::ConnectProvider { .. } => "ConnectProvider",
        })
    }
}

impl BrokerRequest {
    /// Whether serving it changes, sends, stores or records anything: refused to a call that nobody has confirmed yet,
    /// whatever its class. A rule may have raised an `automatic` call to a question, and a preview runs before the answer:
    /// it may look at files of the workspace and at this machine, and the rest waits for the body.
    pub(crate) const fn leaves_a_trace(&self) -> bool {
        match self {
            Self::Now
            | Self::DayBegan
            | Self::Device
            | Self::Authorities
            | Self::Open { .. }
            | Self::Revised { .. }
            | Self::Sender { .. }
            | Self::Kept { .. }
            | Self::Foreseen { .. }
            | Self::Schedules
            | Self::Agent { .. }
            | Self::AgentRuns
            | Self::PlanTree { .. }
            | Self::PlaceTarget
            | Self::Fingerprint { .. }
            | Self::List { .. }
            | Self::Workdir { .. }
            | Self::Processes
            | Self::Inspect { .. }
            | Self::Declares { .. } => false,
            // A connection and a request are seen at their other end; a revealed secret is recorded.
            Self::Append { .. }
            // A question stands on what it shows, not on what was seen before.
            | Self::Recall { .. }
            | Self::Reflect { .. }
            | Self::Connect
            | Self::Exchange { .. }
            | Self::OpenTarget
            | Self::Write { .. }
            | Self::Remove { .. }
            | Self::Send { .. }
            | Self::Keep { .. }
            | Self::Review { .. }
            | Self::Schedule { .. }
            | Self::Unschedule { .. }
            | Self::RunAgent { .. }
            | Self::SpawnAgent { .. }
            | Self::StopAgent { .. }
            | Self::MoveTree { .. }
            | Self::Change { .. }
            | Self::Reveal { .. }
            | Self::CallTool { .. }
            | Self::Run { .. }
            | Self::Start { .. }
            | Self::Stop { .. }
            | Self::ConnectProvider { .. } => true,
        }
    }

    /// Whether it may be asked for these paths: by what they are called, by the call's target, and by whether a person answered
    /// the call.
    ///
    /// # Errors
    /// [`BrokerFault::Protected`], [`BrokerFault::Sensitive`] and [`BrokerFault::Unanswered`], and which one.
    pub(crate) fn is_for_its_paths(
        &self,
        declared: &[HandleKind],
        target: Option<&str>,
        answered: bool,
    ) -> Result<(), BrokerFault> {
        let read = |path: &String| {
            let asked = answered && target == Some(path);
            if is_sensitive_path(path) && !asked { Err(BrokerFault::Sensitive) } else { Ok(()) }
        };
        let changed = |path: &String| if is_protected_path(path) { Err(BrokerFault::Protected) } else { read(path) };
        match self {
            Self::Open { path, .. } => read(path),
            // Whoever has the hash of a short secret can find the secret. What changes a file is answered afresh before it
            // tells anybody anything, and its preview rests on what is there.
            Self::Fingerprint { path } if declared.iter().any(HandleKind::may_change) && target == Some(path) => Ok(()),
            Self::Fingerprint { path } => read(path),
            Self::OpenTarget if answered && target.is_some() => Ok(()),
            Self::OpenTarget => Err(BrokerFault::Unanswered),
            Self::Write { path, .. } | Self::Remove { path } => changed(path),
            Self::Change { changes } => changes.iter().try_for_each(|change| changed(&change.path)),
            _ => Ok(()),
        }
    }

    /// The paths of the workspace that it names, the directory of a command among them.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        let (one, several) = match self {
            Self::Open { path, .. }
            | Self::Fingerprint { path }
            | Self::List { path }
            | Self::Write { path, .. }
            | Self::Remove { path }
            | Self::Workdir { path } => (Some(path), &[][..]),
            Self::Run { command } => (Some(&command.workdir), &[][..]),
            Self::Start { command } => (Some(&command.workdir), &[][..]),
            Self::Change { changes } => (None, changes.as_slice()),
            _ => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().map(|change| &change.path)).map(String::as_str)
    }

    /// Whether what it gives along is within what its handle takes, whoever made it: a request that did not come through
    /// its handle was not measured there.
    pub(crate) fn is_within_caps(&self) -> bool {
        match self {
            Self::Append { text } => text.len() <= MAX_ENTRY_BYTES,
            Self::Reflect { wanted } => {
                wanted.most <= MAX_OWN_CALLS
                    && wanted.capability.as_ref().is_none_or(|name| name.len() <= MAX_NAME_BYTES)
            }
            Self::Exchange { query, body, .. } => fits(query, body.as_deref()),
            Self::Open { path, .. }
            | Self::List { path }
            | Self::Remove { path }
            | Self::Fingerprint { path }
            | Self::Workdir { path } => path.len() <= MAX_PATH_BYTES,
            Self::Run { command } => command.fits(),
            Self::Start { command } => command.fits(),
            Self::Write { path, content } => path.len() <= MAX_PATH_BYTES && content.len() <= MAX_WRITE_BYTES,
            Self::Revised { name, revision, path } => {
                is_configured_name(name) && revision.len() <= MAX_REVISION_BYTES && path.len() <= MAX_PATH_BYTES
            }
            Self::Sender { to } => to.len() <= MAX_ADDRESS_BYTES,
            Self::Send { letter } => letter.check() != Err(BrokerFault::CapExceeded),
            Self::Kept { key, .. } => key.len() <= MAX_KEY_BYTES,
            Self::Keep { key, value, .. } => {
                key.len() <= MAX_KEY_BYTES && value.as_ref().is_none_or(|value| value.len() <= MAX_VALUE_BYTES)
            }
            Self::Review { review } => review.fits(),
            Self::Foreseen { plan } | Self::Schedule { plan } => plan.fits(),
            Self::Agent { agent } => is_configured_name(agent),
            Self::RunAgent { agent, task } | Self::SpawnAgent { agent, task } => {
                is_configured_name(agent) && task.len() <= MAX_TASK_BYTES
            }
            Self::PlanTree { tree, wanted } | Self::MoveTree { tree, wanted } => {
                is_configured_name(tree) && wanted.fits()
            }
            Self::Declares { name, scope } => {
                name.len() <= MAX_NAME_BYTES && scope.as_ref().is_none_or(|scope| scope.len() <= MAX_PATH_BYTES)
            }
            Self::Change { changes } => {
                let short = changes.iter().all(|change| change.path.len() <= MAX_PATH_BYTES);
                let bytes = changes.iter().filter_map(|change| change.content.as_ref()).map(Vec::len).sum::<usize>();
                short && changes.len() <= MAX_CHANGES && bytes <= MAX_WRITE_BYTES
            }
            Self::Now
            | Self::DayBegan
            | Self::Device
            | Self::Connect
            | Self::Authorities
            | Self::Schedules
            | Self::Unschedule { .. }
            | Self::AgentRuns
            | Self::StopAgent { .. }
            | Self::OpenTarget
            | Self::PlaceTarget
            | Self::Recall { .. }
            | Self::Reveal { .. }
            | Self::Processes
            | Self::Inspect { .. }
            | Self::Stop { .. }
            | Self::CallTool { .. }
            | Self::ConnectProvider { .. } => true,
        }
    }

    /// Whether one of an entry's declared handles asks this.
    ///
    /// # Errors
    /// [`BrokerFault::Undeclared`] without such a handle, [`BrokerFault::NotListed`] for an exchange that the endpoint
    /// kind does not list.
    pub(crate) fn is_declared_by(&self, declared: &[HandleKind]) -> Result<(), BrokerFault> {
        let holds = |family, instance: &str| {
            let found = declared.iter().find(|kind| kind.family() == family && kind.instance() == instance);
            found.ok_or(BrokerFault::Undeclared)
        };
        match self {
            Self::Now | Self::DayBegan => holds(HandleFamily::Clock, "").map(drop),
            Self::Device => holds(HandleFamily::Device, "").map(drop),
            Self::Append { .. } => holds(HandleFamily::Journal, "").map(drop),
            Self::Recall { .. } | Self::Reflect { .. } => holds(HandleFamily::OwnHistory, "").map(drop),
            Self::Connect | Self::Authorities => holds(HandleFamily::Http, "").map(drop),
            Self::Exchange { endpoint, method, path, .. } => {
                let kind = holds(HandleFamily::Endpoint, endpoint)?;
                if kind.lists(*method, path) { Ok(()) } else { Err(BrokerFault::NotListed) }
            }
            Self::Open { .. } | Self::OpenTarget | Self::PlaceTarget | Self::Fingerprint { .. } | Self::List { .. } => {
                holds(HandleFamily::Workspace, "").map(drop)
            }
            Self::Write { .. } | Self::Remove { .. } | Self::Change { .. } => {
                if holds(HandleFamily::Workspace, "")?.may_change() { Ok(()) } else { Err(BrokerFault::Undeclared) }
            }
            Self::Revised { .. } => holds(HandleFamily::Repository, "").map(drop),
            Self::Sender { .. } | Self::Send { .. } => holds(HandleFamily::Mailer, "").map(drop),
            Self::Kept { .. } => holds(HandleFamily::State, "").map(drop),
            Self::Keep { .. } => {
                if holds(HandleFamily::State, "")?.may_change() {
                    Ok(())
                } else {
                    Err(BrokerFault::Undeclared)
                }
            }
            Self::Review { .. } => holds(HandleFamily::Reviews, "").map(drop),
            Self::Foreseen { .. } | Self::Schedules => holds(HandleFamily::Schedules, "").map(drop),
            Self::Schedule { .. } | Self::Unschedule { .. } => {
                if holds(HandleFamily::Schedules, "")?.may_change() {
                    Ok(())
                } else {
                    Err(BrokerFault::Undeclared)
                }
            }
            Self::Agent { .. } | Self::RunAgent { .. } | Self::SpawnAgent { .. } => {
                holds(HandleFamily::Agents, "").map(drop)
            }
            Self::AgentRuns => holds(HandleFamily::AgentRuns, "").map(drop),
            Self::StopAgent { .. } => {
                if holds(HandleFamily::AgentRuns, "")?.may_change() {
                    Ok(())
                } else {
                    Err(BrokerFault::Undeclared)
                }
            }
            Self::PlanTree { .. } | Self::MoveTree { .. } => holds(HandleFamily::Trees, "").map(drop),
            Self::Reveal { secret } => holds(HandleFamily::Secret, secret).map(drop),
            Self::Workdir { .. } | Self::Run { .. } | Self::Start { .. } => holds(HandleFamily::Terminal, "").map(drop),
            Self::Processes | Self::Inspect { .. } | Self::Stop { .. } => holds(HandleFamily::Processes, "").map(drop),
            Self::Declares { .. } => holds(HandleFamily::Context, "").map(drop),
            Self::CallTool { kind } => holds(HandleFamily::ProviderTool, kind).map(drop),
            Self::ConnectProvider { kind } => holds(HandleFamily::ProviderLink, kind).map(drop),
        }
    }
}

#[cfg(test)]
mod tests;
