//! The one event type.

use core::num::NonZeroU32;
use std::sync::Arc;

use serde::Serialize;

use super::{
    ChannelNamed, ChannelRule, ConfiguredName, EdgeSet, FamilyName, InvocationId, RulesAsked, RunStopped, SchemaPlace,
    SkillSet,
};
use crate::approval::{ApprovalId, DenialReason, GrantEnd, GrantId};
use crate::code::{Code, Stage};
use crate::contract::{CapabilityName, Class};
use crate::executor::{Effect, Guarantees};
use crate::handle::{AgentEnd, HandleFamily, ProcessEnd, is_configured_name};
use crate::policy::{Contribution, PolicyRevision, Verdict};
use crate::provider::{ProviderDecision, ProviderType, ToolTag};
use crate::session::{Mode, Origin, SessionId, SessionIdentity, SlotPath, Subject, TurnId};
use crate::time::Timestamp;

/// One event and when it happened. A sink adds the number and the chain.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// When, by the host's clock.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// Who asked for what, as far as it was settled.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The invocation.
    pub invocation: InvocationId,
    /// The registered capability; absent while, or when, there is none of that name and version.
    pub capability: Option<(CapabilityName, NonZeroU32, Class)>,
    /// Who carries it out, where that is not this host.
    pub provided: Option<Arc<ProvidedBy>>,
    /// Who.
    pub identity: Arc<SessionIdentity>,
}

/// Who carries out a call: a connection by the name that an operator gave it, and a foreign tool by a number of ours. What a
/// provider calls its tool is the provider's text, and in no record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct ProvidedBy {
    kind: ProviderType,
    id: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<ToolTag>,
}

impl ProvidedBy {
    /// A connection by the name that an operator gave it, and one of its tools by its number; none for what is no such name.
    #[must_use]
    pub fn named(kind: ProviderType, id: &str, tool: Option<ToolTag>) -> Option<Self> {
        is_configured_name(id).then(|| Self { kind, id: id.into(), tool })
    }

    /// Which kind of provider.
    pub(crate) const fn kind(&self) -> ProviderType {
        self.kind
    }

    /// The configured connection's name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The foreign tool's number.
    pub(crate) const fn tool(&self) -> Option<ToolTag> {
        self.tool
    }

    /// What may be recorded of a decision; none for this host, and for what no operator has named.
    pub(crate) fn of(decision: &ProviderDecision) -> Option<Self> {
        let known = decision.provider_type != ProviderType::Compiled && is_configured_name(&decision.provider_id);
        known.then(|| Self { kind: decision.provider_type, id: (&*decision.provider_id).into(), tool: decision.tag() })
    }
}

impl Serialize for Asked {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Form<'a> {
            invocation: InvocationId,
            #[serde(skip_serializing_if = "Option::is_none")]
            capability: Option<CapabilityName>,
            #[serde(skip_serializing_if = "Option::is_none")]
            version: Option<NonZeroU32>,
            #[serde(flatten, skip_serializing_if = "Option::is_none")]
            class: Option<Class>,
            #[serde(skip_serializing_if = "Option::is_none")]
            provided: Option<&'a ProvidedBy>,
            session: SessionId,
            subject: &'a Subject,
            mode: Mode,
            origin: Origin,
            turn: TurnId,
        }
        let SessionIdentity { id, subject, mode, origin, turn } = self.identity.as_ref();
        Form {
            invocation: self.invocation,
            capability: self.capability.map(|(name, ..)| name),
            version: self.capability.map(|(_, version, _)| version),
            class: self.capability.map(|(.., class)| class),
            provided: self.provided.as_deref(),
            session: *id,
            subject,
            mode: *mode,
            origin: *origin,
            turn: *turn,
        }
        .serialize(serializer)
    }
}

/// How a call ended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Outcome")]
pub enum OutcomeKind {
    /// It ran and its result was given.
    Executed,
    /// It waits for a person.
    Pending,
    /// A stage refused it.
    Rejected,
    /// A person said no.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// A person put another call in its place.
    Superseded,
    /// The caller or the session went away.
    Cancelled,
    /// The body said that it failed.
    Failed,
    /// The deadline passed.
    TimedOut,
    /// The body panicked.
    Panicked,
    /// The result was above the cap.
    ResultTooLarge,
    /// The result did not follow its schema.
    ResultInvalid,
    /// It ran, and its record could not be written.
    Withheld,
    /// The host ended before it did.
    // The next start of the log writes it; no caller is ever told.
    Interrupted,
}

impl OutcomeKind {
    /// The word used in outcomes and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Executed => "executed",
            Self::Pending => "pending",
            Self::Rejected => "rejected",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Panicked => "panicked",
            Self::ResultTooLarge => "result_too_large",
            Self::ResultInvalid => "result_invalid",
            Self::Withheld => "withheld",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What happened to an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStep {
    /// A person said yes.
    Approved,
    /// A person said no.
    Denied,
    /// A person put another call in its place, or tried to.
    Edited,
}

/// What happened to a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantStep {
    /// It was given.
    Given,
    /// It answers nothing any more.
    Ended,
}

/// Whose calls a grant answers, and how far it goes: no word of what it covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Granted {
    /// The registered capability.
    pub capability: CapabilityName,
    /// Its version.
    pub version: NonZeroU32,
    /// Whose calls.
    pub subject: Subject,
    /// In which session.
    pub session: SessionId,
    /// The question that it was given in answer to.
    pub approval: ApprovalId,
    /// For how long, in seconds.
    pub seconds: u64,
    /// How often.
    pub uses: NonZeroU32,
}

/// A setting that an operator changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "setting")]
pub enum SettingKey {
    /// A family of external capabilities was turned on or off.
    OptIn {
        /// The family, from the registry.
        family: FamilyName,
        /// The new state.
        on: bool,
    },
    /// The operator credential was set or changed.
    OperatorCredential,
    /// An operator session was opened.
    OperatorSession,
    /// Rules came into force.
    Policy {
        /// Which.
        revision: PolicyRevision,
        /// How many.
        rules: usize,
    },
    /// Rules were written that make no policy; what was in force stays.
    PolicyRefused {
        /// Which the file would have been; absent when it is gone or cannot be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        revision: Option<PolicyRevision>,
    },
    /// Rules were written that let through more than those in force; they wait for an operator.
    PolicyHeld {
        /// Which.
        revision: PolicyRevision,
    },
    /// An operator accepted rules that let through more than those in force; that they come into force is a record of its own.
    PolicyAccepted {
        /// Which.
        revision: PolicyRevision,
    },
    /// A subject's journal was erased.
    JournalErased {
        /// Whose.
        subject: Subject,
    },
    /// A subject's inbox was erased.
    InboxErased {
        /// Whose.
        subject: Subject,
    },
    /// The denials that were counted for a subject's calls were forgotten.
    DenialsCleared {
        /// Whose.
        subject: Subject,
    },
    /// A provider listed tools for the first time, or otherwise than they were accepted.
    DefinitionsSeen {
        /// Which provider.
        provided: ProvidedBy,
        /// How many tools were seen for the first time, and are accepted as they are.
        first: usize,
        /// How many are something else than what was accepted, and out of use.
        changed: usize,
    },
    /// An operator accepted what a provider's tool is now.
    DefinitionAccepted {
        /// Which tool of which provider.
        provided: ProvidedBy,
    },
    /// A token for a provider was kept or forgotten.
    ProviderCredential {
        /// Which provider.
        provided: ProvidedBy,
        /// Whose token; everybody's when nobody is named.
        #[serde(skip_serializing_if = "Option::is_none")]
        subject: Option<Subject>,
        /// Whether it is kept now.
        kept: bool,
    },
    /// A skill was accepted or taken out of use.
    Skill(SkillSet),
    /// What ran on was stopped by an operator.
    Stopped(RunStopped),
    /// An edge or relay was switched on or off.
    Edge(EdgeSet),
    /// What a subject keeps was erased.
    StateErased {
        /// Whose.
        subject: Subject,
    },
    /// What a subject left for people to look at was closed.
    ReviewClosed {
        /// Who filed it.
        subject: Subject,
        /// Its number.
        number: u64,
    },
    /// A schedule was ended by an operator.
    ScheduleCancelled {
        /// Whose it was.
        subject: Subject,
        /// Its number.
        number: u64,
    },
    /// A repository that is elsewhere is fetched.
    RepositoryFetch {
        /// Which, by its name in the configuration.
        repository: ConfiguredName,
    },
    /// Retained content of approved calls was erased.
    RetainedErased {
        /// Whose; everybody's when nobody is named.
        #[serde(skip_serializing_if = "Option::is_none")]
        subject: Option<Subject>,
    },
    /// Results that their sessions could have had again were erased.
    ResultsErased {
        /// Whose; everybody's when nobody is named.
        #[serde(skip_serializing_if = "Option::is_none")]
        subject: Option<Subject>,
    },
    /// A program was let in by a token, or is let in no more.
    Client {
        /// What an operator calls it.
        client: Subject,
        /// For whom it speaks.
        subject: Subject,
        /// For which slot of its agent; for none, when none is named.
        #[serde(skip_serializing_if = "Option::is_none")]
        slot: Option<SlotPath>,
        /// Whether it is let in from now on.
        admitted: bool,
    },
}

/// What a log found when it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryKind {
    /// What an interrupted write left at the end was set aside and cut off.
    TornTail,
    /// Intents without an outcome: their effect is unknown, and an outcome that says so follows for each.
    UnfinishedIntents,
}

/// One thing that happened.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// Policy was evaluated.
    PolicyDecision {
        /// Who and what.
        #[serde(flatten)]
        asked: Asked,
        /// The verdict.
        verdict: Verdict,
        /// Every contributor with what it said.
        contributions: Contributions,
        /// What rules had to do with it; absent when there is no rule about the call.
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        rules: Option<RulesAsked>,
    },
    /// A mutating or external call is about to start.
    Intent {
        /// Who and what.
        #[serde(flatten)]
        asked: Asked,
        /// The approval that lets it run.
        #[serde(skip_serializing_if = "Option::is_none")]
        approval: Option<ApprovalId>,
        /// What the runner can promise.
        #[serde(flatten)]
        guarantees: Guarantees,
    },
    /// An invocation ended.
    Outcome {
        /// Who and what.
        #[serde(flatten)]
        asked: Asked,
        /// How.
        outcome: OutcomeKind,
        /// The stage it reached.
        stage: Stage,
        /// Why, where a stage of ours says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        /// Where in the schema, for a schema refusal.
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        place: Option<SchemaPlace>,
        /// What became of the world.
        effect: Effect,
        /// The approval it made or used.
        #[serde(skip_serializing_if = "Option::is_none")]
        approval: Option<ApprovalId>,
        /// The size of the result's JSON text.
        #[serde(skip_serializing_if = "Option::is_none")]
        result_bytes: Option<u64>,
        /// Whether the provider's tool ran to its end and says that it failed; absent when it does not.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        provider_failed: bool,
        /// From entry to end, in microseconds.
        duration_us: u64,
        /// What the runner can promise; absent when nothing ran.
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        guarantees: Option<Guarantees>,
    },
    /// A person answered.
    Approval {
        /// Which.
        approval: ApprovalId,
        /// What was answered.
        step: ApprovalStep,
        /// The operator who answered.
        operator: Subject,
        /// Why, for a denial that has a reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<DenialReason>,
        /// What came in its place, for a call that was edited.
        #[serde(skip_serializing_if = "Option::is_none")]
        successor: Option<ApprovalId>,
        /// Why nothing came in its place, for a call that was edited.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
    },
    /// A standing answer was given, or ended.
    Grant {
        /// Which.
        grant: GrantId,
        /// What happened to it.
        step: GrantStep,
        /// For whom, and how far.
        #[serde(flatten)]
        granted: Granted,
        /// The operator who did it; none for what ended by itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        operator: Option<Subject>,
        /// Why it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<GrantEnd>,
    },
    /// A standing answer was used: one event a use.
    GrantUse {
        /// Who and what.
        #[serde(flatten)]
        asked: Asked,
        /// Which.
        grant: GrantId,
        /// How many uses are left.
        left: u32,
    },
    /// Nobody answered in time.
    Expiry {
        /// Which.
        approval: ApprovalId,
    },
    /// A secret was bound to a call: its configured name and source, never its value.
    SecretBinding {
        /// Who and what.
        #[serde(flatten)]
        asked: Asked,
        /// Which family of handle bound it.
        handle: HandleFamily,
        /// Where it comes from; absent where the host does not say.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<super::SecretSource>,
        /// The configured name.
        name: ConfiguredName,
    },
    /// A command is about to be left running in the background.
    ProcessBegun {
        /// Who, by which call.
        #[serde(flatten)]
        asked: Asked,
        /// How long it may run, in milliseconds.
        timeout_ms: u32,
    },
    /// A command in the background is over, with everything that it started.
    ProcessEnded {
        /// Who had begun it, by which call.
        #[serde(flatten)]
        asked: Asked,
        /// Why.
        why: ProcessEnd,
        /// Its status when it ended by itself, the signal's number when by one.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<i32>,
        /// How long it ran, in milliseconds; at most so long where nobody saw its end.
        ran_ms: u64,
    },
    /// A channel turned messages away. Of many within a short time the first ones have a record each and the rest one
    /// together, so that whoever floods a channel floods no log.
    ChannelRefusal {
        /// Which channel, and its kind; absent for a name that is none's.
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        channel: Option<ChannelNamed>,
        /// By which rule.
        rule: ChannelRule,
        /// How many messages.
        count: u64,
    },
    /// A channel takes a message in: it becomes an entry in its subject's inbox, in a session and a turn of its own.
    ChannelEntry {
        /// Which channel, and its kind.
        #[serde(flatten)]
        channel: ChannelNamed,
        /// Whose inbox.
        subject: Subject,
        /// The session that the host made for it.
        session: SessionId,
        /// What it came from.
        origin: Origin,
        /// Its turn.
        turn: TurnId,
        /// The size of what was taken in, in bytes.
        bytes: u64,
    },
    /// An agent's turn that acts for a session began or ended. What it was told and what it answered is in no record.
    AgentTurn {
        /// The call that started it.
        invocation: InvocationId,
        /// The agent, by its name in the configuration.
        agent: ConfiguredName,
        /// For whom it acts.
        parent: Subject,
        /// In whose name.
        subject: Subject,
        /// In which session.
        session: SessionId,
        /// Its turn.
        turn: TurnId,
        /// In which mode.
        mode: Mode,
        /// How many sessions are behind it.
        depth: usize,
        /// How it ended; absent when it begins.
        #[serde(skip_serializing_if = "Option::is_none")]
        ended: Option<AgentEnd>,
    },
    /// A tree's live reference was moved. Its reflog names the call, and from where to where.
    TreeMoved {
        /// The call that moved it.
        invocation: InvocationId,
        /// The tree, by its name in the configuration.
        tree: ConfiguredName,
        /// Whether it was a promotion, else a way back.
        promoted: bool,
    },
    /// Another provider served than the first choice.
    ProviderFallback {
        /// Who and what.
        #[serde(flatten)]
        asked: Asked,
    },
    /// An operator changed a setting.
    Configuration {
        /// Which, and to what.
        #[serde(flatten)]
        key: SettingKey,
        /// Who.
        operator: Subject,
    },
    /// The log was opened and something was put right.
    Recovery {
        /// What.
        kind: RecoveryKind,
        /// How many bytes were cut off, or how many intents have no outcome.
        count: u64,
    },
    /// A segment of the log is full, and this record begins the next one. The chain itself names the last record before it.
    Rotation {
        /// The number of the full segment's first record.
        first: u64,
        /// The full segment's length.
        bytes: u64,
    },
}

/// What every contributor said, in its fixed order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Contributions(pub [Contribution; crate::policy::CONTRIBUTORS]);
