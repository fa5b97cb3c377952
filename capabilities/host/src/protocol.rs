//! What the command line asks of a host, in the same words whether the host is this process or another one.

mod inbox;
mod kept;
mod mcp;
mod policy;
mod providers;
mod skills;
mod surface;

pub use inbox::{ChannelCode, Delivered, InboxPart, InboxRow};
pub use kept::{Entry, JournalPart, RepositoryState, ReviewShown, ScheduleShown, SecretShown, StateShown};
pub use mcp::{
    Client, ClientShown, Greeting, McpRequest, Said, ToolCall, ToolEnd, ToolReply, ToolShown, ToolWaits, ToolsShown,
};
pub use policy::{AskedCall, Compared, Eyes, PolicyQuestion, Reached};
pub use providers::{ForeignTool, HealthTold, LookedAt, ProviderQuestion, ProvidersShown, ToolChange, claimed};
pub use skills::{SkillGiven, SkillPart, SkillQuestion};
pub use surface::{DeferredRow, Lost, SurfaceShown, Unshown};

use core::num::NonZeroU32;

use crate::runner::Answer;
use crate::subjects::SlotPath;
use capability_core::approval::{
    ApprovalId, ApprovalSummary, Claims, DenialReason, GrantId, GrantLimit, PastCall, PendingApproval, Successor,
};
use capability_core::executor::GrantPreview;
use capability_core::session::{Mode, SessionId, Subject, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One request. It travels over the socket as one JSON document, and so does its reply.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Every capability of the build.
    List,
    /// One capability; the newest version when none is given.
    Describe {
        /// Its dotted name.
        name: String,
        /// Its version.
        version: Option<NonZeroU32>,
    },
    /// Ask for something.
    Invoke {
        /// The dotted name.
        name: String,
        /// The version; the newest when none is given.
        version: Option<NonZeroU32>,
        /// Argument bytes, as text, exactly as they came.
        arguments: String,
        /// What the proposer says about it.
        claims: Claims,
        /// For whom.
        caller: Caller,
    },
    /// Go on with what was answered.
    Resume {
        /// Which.
        id: ApprovalId,
        /// For whom.
        caller: Caller,
    },
    /// Wait until an approval is answered or expires, for a while: see [`Waited`].
    Wait {
        /// Which.
        id: ApprovalId,
        /// For whom.
        caller: Caller,
    },
    /// What happened in a subject's name, as the subject itself may read it.
    History {
        /// At most how many entries.
        most: u32,
        /// For whom.
        caller: Caller,
    },
    /// Everything that waits. Operators only.
    ApprovalList(Proof),
    /// One approval with its content. Operators only.
    ApprovalShow(Proof, ApprovalId),
    /// Answer yes. Operators only.
    Approve(Proof, ApprovalId),
    /// Answer no. Operators only.
    Deny {
        /// Who says so.
        proof: Proof,
        /// To what.
        id: ApprovalId,
        /// Why, as a word.
        reason: Option<DenialReason>,
        /// For the proposer, in the operator's own words.
        note: Option<String>,
    },
    /// Put a call with other arguments in a pending one's place, approved. Operators only.
    ApprovalEdit {
        /// Who says so.
        proof: Proof,
        /// In whose place.
        id: ApprovalId,
        /// The other arguments, as text.
        arguments: String,
    },
    /// Erase what is retained of approved calls, of one subject or of all. Operators only.
    ApprovalErase(Proof, Option<Subject>),
    /// Calls about which nobody is asked any more. Operators only.
    DenialLoops(Proof),
    /// Forget the denials of a subject's calls. Operators only.
    DenialsClear(Proof, Subject),
    /// Answer yes, and give a standing answer for its like. Operators only.
    GrantCreate {
        /// Who says so.
        proof: Proof,
        /// To which question.
        id: ApprovalId,
        /// How far it goes.
        limit: GrantLimit,
    },
    /// Every standing answer. Operators only.
    GrantList(Proof),
    /// Take one standing answer back, or all of them. Operators only.
    GrantRevoke(Proof, Option<GrantId>),
    /// The switches of external families.
    OptInShow,
    /// Turn one on or off. Operators only.
    OptInSet {
        /// Who says so.
        proof: Proof,
        /// The family.
        family: String,
        /// The new state.
        on: bool,
    },
    /// The newest entries of a subject's journal. Operators only.
    JournalShow {
        /// Who says so.
        proof: Proof,
        /// Whose.
        subject: Subject,
        /// At most how many.
        most: u32,
    },
    /// The tools that a model sees which speaks for somebody.
    Surface {
        /// For whom.
        subject: Subject,
        /// For which slot of its agent.
        #[serde(default)]
        slot: Option<SlotPath>,
        /// As which provider of models takes them.
        profile: String,
    },
    /// Erase the results that sessions can have again, of one subject or of all. Operators only.
    ResultsErase(Proof, Option<Subject>),
    /// Erase a subject's whole journal. Operators only.
    JournalErase(Proof, Subject),
    /// Take in a message that a program of the owner hands on.
    ChannelDeliver {
        /// By which channel.
        channel: String,
        /// Whom a mail server took it in for.
        recipient: Option<String>,
        /// Its bytes, in Base64.
        message: String,
    },
    /// A code by which somebody at a channel may answer a question, once. Operators only.
    ChannelCode {
        /// Who says so.
        proof: Proof,
        /// Which question.
        id: ApprovalId,
        /// By which channel.
        channel: String,
        /// By whom, as the channel's platform writes it.
        sender: String,
    },
    /// What came in for a subject.
    Inbox {
        /// Only what came after this entry.
        after: i64,
        /// At most how many.
        most: u32,
        /// Whether to wait a while for one, when there is none.
        wait: bool,
        /// For whom.
        caller: Caller,
    },
    /// Erase a subject's whole inbox. Operators only.
    InboxErase(Proof, Subject),
    /// Every open review. Operators only.
    ReviewList(Proof),
    /// Close a review. Operators only.
    ReviewClose(Proof, u64),
    /// What a subject keeps. Operators only.
    StateShow(Proof, Subject),
    /// Erase what a subject keeps. Operators only.
    StateErase(Proof, Subject),
    /// Every schedule. Operators only.
    ScheduleList(Proof),
    /// End a schedule. Operators only.
    ScheduleCancel(Proof, u64),
    /// Every secret: where it comes from and whether it can be used.
    SecretList,
    /// Every configured repository.
    RepositoryList,
    /// Fetch a repository that is elsewhere. Operators only.
    RepositoryFetch(Proof, String),
    /// Whether a password is set, and whether a session is alive on the caller's terminal.
    OperatorState,
    /// Set the operator password; the old one, or nothing while none is set.
    OperatorSetup {
        /// The new password.
        password: Redacted,
        /// The old one.
        old: Option<Redacted>,
    },
    /// Open an operator session.
    OperatorLogin {
        /// The password.
        password: Redacted,
        /// Bind the session to the caller's terminal, as `sudo` does.
        bind_terminal: bool,
    },
    /// End the operator sessions.
    OperatorLogout(Proof),
    /// A link that opens one session of the pages. Operators only.
    WebLink(Proof),
    /// The rules in force.
    PolicyShow,
    /// A question to them.
    Policy(PolicyQuestion),
    /// The servers whose tools can be called.
    Providers(ProviderQuestion),
    /// Packages of instructions, and which of them are in use.
    Skills(SkillQuestion),
    /// Tools, their calls, and the clients that call them.
    Mcp(McpRequest),
    /// The self-check.
    Doctor,
}

impl Request {
    /// Whether it asks for a capability, or waits until one may run: called off when whoever asked is gone. Anything else is
    /// done whole.
    pub const fn runs_a_capability(&self) -> bool {
        matches!(self, Self::Invoke { .. } | Self::Resume { .. } | Self::Wait { .. } | Self::Mcp(McpRequest::Call(_)))
    }

    /// Whether an answer to somebody who is gone is worth nothing.
    pub const fn is_called_off(&self) -> bool {
        self.runs_a_capability() || matches!(self, Self::Policy(PolicyQuestion::SelfModel { .. }) | Self::Inbox { .. })
    }
}

/// For whom a call is made: the local subject, live, in a turn of its own, unless it says otherwise.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Caller {
    /// Another subject than the local one; needs a proof.
    pub subject: Option<Subject>,
    /// The slot of that subject, when a component of it asks.
    #[serde(default)]
    pub slot: Option<SlotPath>,
    /// The mode; stricter only.
    pub mode: Option<Mode>,
    /// A turn that several calls share.
    pub turn: Option<u64>,
    /// The entry of the subject's inbox that a call is made because of: the call is made in its session and turn.
    #[serde(default)]
    pub entry: Option<i64>,
    /// An operator's proof, for another subject.
    pub proof: Option<Proof>,
    /// The program in between, when there is one.
    #[serde(default)]
    pub client: Option<Client>,
    /// A random name of a session of its own, instead of the one that all command lines of the subject share.
    #[serde(default)]
    pub own: Option<SessionId>,
    /// The servers that this session has of its own, by their configured names.
    #[serde(default)]
    pub with: Vec<String>,
}

/// Turns that the host draws are numbered from here on, so that no number that somebody gives is one of them.
const DRAWN: u64 = 1 << 62;

/// A turn of its own, from random bits.
pub const fn drawn_turn(bits: u64) -> TurnId {
    TurnId(bits | DRAWN)
}

/// A turn that several calls share, by its number; `None` for a number too large to be one.
pub const fn shared_turn(number: u64) -> Option<TurnId> {
    if number < DRAWN { Some(TurnId(number)) } else { None }
}

/// The turn in words: a drawn number tells nobody anything.
pub fn turn_in_words(turn: TurnId) -> String {
    shared_turn(turn.0).map_or_else(|| "turn of its own".to_owned(), |turn| format!("turn {}", turn.0))
}

/// How an operator proves to be one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// By the password.
    Password(Redacted),
    /// By the token of a live operator session.
    Token(Redacted),
    /// By a live operator session on the caller's terminal.
    Terminal,
}

/// A secret on its way over the socket: no `Debug` of its text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Redacted(String);

impl Redacted {
    /// Wraps a secret.
    #[must_use]
    pub const fn new(secret: String) -> Self {
        Self(secret)
    }

    /// The secret, for whoever checks it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl core::fmt::Debug for Redacted {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("[redacted]")
    }
}

/// What a host answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// An invocation's outcome, as JSON.
    Outcome(Value),
    /// Anything else that succeeded, as JSON.
    Document(Value),
    /// It could not be done.
    Fault(Fault),
}

/// Why something could not be done: a sentence, what to do, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The exit code: 2 usage, 4 refused, 6 audit.
    pub exit: u8,
    /// What was wrong.
    pub message: String,
    /// What would be right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Fault {
    /// From an error whose text ends with a `help:` line.
    pub fn told(exit: u8, error: &dyn core::fmt::Display) -> Self {
        let text = error.to_string();
        let (message, help) = match text.split_once("\nhelp: ") {
            Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
            None => (text, None),
        };
        Self { exit, message, help }
    }

    /// A request that makes no sense as it stands.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { exit: 2, message: message.into(), help: Some(help.into()) }
    }

    /// A request that was understood and refused.
    pub fn refused(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { exit: 4, message: message.into(), help: Some(help.into()) }
    }

    /// A host that cannot do its work.
    pub fn broken(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { exit: 6, message: message.into(), help: Some(help.into()) }
    }
}

/// One row of `list`.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Row {
    /// The dotted name.
    pub name: String,
    /// The version.
    pub version: NonZeroU32,
    /// `read_only` or `mutating`.
    pub side_effect: String,
    /// `local` or `external`.
    pub network: String,
    /// Derived from the two.
    pub confirmation: String,
    /// `ready`, or what refuses every call as things stand: `locked`, `denied` by its own default, `unbound`, or `off`.
    pub status: String,
    /// What keeps its body away from everything else.
    pub isolation: String,
    /// What ends its body.
    pub deadline: String,
    /// How long a call may run, in milliseconds.
    pub timeout_ms: u64,
    /// How large a result may be, in bytes of JSON text.
    pub max_result: u64,
    /// How often in one turn.
    pub per_turn: u32,
    /// What the operator brings so that it runs: tables of the configuration, secrets, a switch. Empty where it needs nothing.
    pub needs: Vec<String>,
    /// The first line of its description.
    pub summary: String,
}

/// What `policy show` tells.
#[derive(Debug, Serialize, Deserialize)]
pub struct PolicyShown {
    /// Which policy: the beginning of its revision.
    pub revision: String,
    /// Its rules, in the order they are written.
    pub rules: Vec<RuleShown>,
    /// What is strange about them, with what would be better.
    pub strange: Vec<String>,
    /// Why the file is not what is in force, with what to do.
    pub problem: Option<String>,
}

/// One rule.
#[derive(Debug, Serialize, Deserialize)]
pub struct RuleShown {
    /// Its id.
    pub id: String,
    /// `operator`, `workspace` or `package`.
    pub source: String,
    /// `allow`, `ask`, `ask_fresh` or `deny`.
    pub effect: String,
    /// Its selector as it would be written; empty when it is about everything.
    pub about: String,
    /// Its exceptions, likewise.
    pub except: Vec<String>,
    /// Why it is there.
    pub reason: Option<String>,
    /// How far grants may go.
    pub max_grant: Option<String>,
}

/// Everything `describe` tells.
#[derive(Debug, Serialize, Deserialize)]
pub struct Description {
    /// What `list` tells.
    #[serde(flatten)]
    pub row: Row,
    /// A short human name.
    pub title: Option<String>,
    /// The whole description.
    pub description: String,
    /// How grave a wrong call would be.
    pub risk: String,
    /// What policy starts from.
    pub default: String,
    /// Whether it wants to be among the tools a model always sees.
    pub resident: bool,
    /// Whether doing it twice is doing it once.
    pub idempotent: bool,
    /// The kind of thing it acts on.
    pub target: String,
    /// The argument that names it.
    pub target_argument: Option<String>,
    /// The authority it is lent.
    pub handles: Vec<String>,
    /// What the operator put behind those of them that need it.
    pub bound_to: Vec<String>,
    /// The package that compiled it in.
    pub package: String,
    /// Where its function stands.
    pub location: String,
    /// The schema of its arguments.
    pub arguments: Value,
    /// The schema of its result.
    pub result: Value,
}

/// Everything `approvals show` tells: for operators.
#[derive(Debug, Serialize, Deserialize)]
pub struct ApprovalDetail {
    /// Where it stands.
    pub summary: ApprovalSummary,
    /// Its content, until it is final.
    pub content: Option<PendingApproval>,
    /// What came in its place, once it is superseded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<Successor>,
    /// What a grant along with the answer would cover, where there can be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantPreview>,
    /// The last call of the same subject, capability and version that was approved and used, where that is retained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_approved: Option<PastCall>,
    /// The tool of somebody else's that the call goes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignTool>,
    /// What has been failing of whatever the call goes to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<HealthTold>,
}

/// Whether an approval is still pending after a while of waiting: wait again then, else go on with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// Nobody has answered yet.
    pub pending: bool,
    /// The host has no room for one more who waits: look again in a while.
    #[serde(default)]
    pub crowded: bool,
}

/// What became of an edit.
#[derive(Debug, Serialize, Deserialize)]
pub struct EditReply {
    /// The changed call's own outcome: pending, and approved already, or refused.
    pub outcome: Value,
    /// Whether the original is superseded.
    pub superseded: bool,
    /// The changed call, for its subject to resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub successor: Option<ApprovalId>,
}

/// One family's switch.
#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Switch {
    /// The family.
    pub family: String,
    /// `on`, `off`, or `damaged`, which counts as off.
    pub state: String,
    /// Its external capabilities.
    pub capabilities: Vec<String>,
}

/// What a command line asks before it asks a person for a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorState {
    /// A password is set.
    pub set_up: bool,
    /// A session is alive on the caller's terminal.
    pub live_here: bool,
}

/// One line of the self-check.
#[derive(Debug, Serialize, Deserialize)]
pub struct Probe {
    /// What was looked at.
    pub name: String,
    /// Whether it is as it should be.
    pub state: ProbeState,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Everything that was tried for it, one by one, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
}

/// How a probe ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeState {
    /// As it should be.
    Ok,
    /// Works, and weaker than it could be.
    Weak,
    /// Does not work.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::{drawn_turn, shared_turn, turn_in_words};

    #[test]
    fn no_number_that_is_given_is_a_drawn_one() {
        for bits in [0, 1, u64::MAX >> 2, u64::MAX >> 1, u64::MAX] {
            assert_eq!(turn_in_words(drawn_turn(bits)), "turn of its own");
        }
        let largest = u64::MAX >> 2;
        assert_eq!(turn_in_words(shared_turn(largest).unwrap()), format!("turn {largest}"));
        assert_eq!(shared_turn(largest + 1), None);
    }
}
