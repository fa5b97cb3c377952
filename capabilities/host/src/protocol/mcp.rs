//! What the server for MCP clients asks of a host.

use core::num::NonZeroU32;

use capability_core::Timestamp;
use capability_core::approval::ApprovalId;
use capability_core::contract::{Network, SideEffect};
use capability_core::session::{SessionId, SlotPath, Subject};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Caller, Proof, Redacted};
use crate::skill::SkillTold;

/// Requests about tools and about the clients that call them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpRequest {
    /// Whether whoever asks may ask at all, and what a client has to know from the start.
    Greet(Caller),
    /// The tools that a session sees, in their order.
    Tools(Caller),
    /// One call of a tool.
    Call(ToolCall),
    /// Whoever asked before is still there, and has what it named then.
    Stay(Caller),
    /// The connection has ended: what was kept for it alone is forgotten.
    Leave(Caller),
    /// The skills in use for a session.
    Skills(Caller),
    /// What one of them tells.
    Skill(Caller, String),
    /// One file that one of them brings along, by its path.
    SkillPart(Caller, String, String),
    /// Let a client in under a name, for a subject. Operators only.
    ClientCreate {
        /// Who says so.
        proof: Proof,
        /// What the client is called.
        name: Subject,
        /// For whom it speaks.
        subject: Subject,
        /// For which slot of its agent.
        #[serde(default)]
        slot: Option<SlotPath>,
    },
    /// Every client that is let in. Operators only.
    ClientList(Proof),
    /// Let a client in no more. Operators only.
    ClientRevoke(Proof, Subject),
}

/// A program that speaks MCP with this host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Client {
    /// The connection's random name: what its turns are counted within.
    pub connection: SessionId,
    /// What names its subject; the local one without it.
    pub token: Option<Redacted>,
    /// Whether it is the program of an agent, in its turn: that turn's session is its own, and without it it has none. Nobody says so
    /// of itself.
    #[serde(skip)]
    pub of_turn: bool,
}

/// What a client has to know from the start.
#[derive(Debug, Serialize, Deserialize)]
pub struct Greeting {
    /// How long a turn lasts, in milliseconds.
    pub turn_ms: u64,
    /// How long a question to the person at the client may stay open, in milliseconds.
    pub patience_ms: u64,
    /// Whether this host has skills at all.
    #[serde(default)]
    pub skills: bool,
}

/// What a session sees.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolsShown {
    /// The tools, in their order: the same whatever the state of things.
    pub tools: Vec<ToolShown>,
    /// What stands against calling some of them now.
    pub facts: Value,
    /// The skills in use.
    #[serde(default)]
    pub skills: Vec<SkillTold>,
}

/// One tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolShown {
    /// What a client calls it.
    pub name: String,
    /// A short name for people.
    pub title: Option<String>,
    /// What a model is told about it.
    pub description: String,
    /// The schema of its arguments.
    pub arguments: Value,
    /// The schema of its result, when it has one.
    pub result: Option<Value>,
    /// The capability behind it, and its version; none behind what the surface does itself.
    pub capability: Option<(String, NonZeroU32)>,
    /// What it does.
    pub side_effect: SideEffect,
    /// Where its data can go.
    pub network: Network,
    /// Whether doing it twice is doing it once.
    pub idempotent: bool,
}

/// One call of a tool.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the client calls it.
    pub tool: String,
    /// The arguments as they came, byte for byte.
    pub arguments: String,
    /// What an earlier answer to the same call said to bring along.
    pub state: Option<String>,
    /// What the person at the client is said to have answered.
    pub said: Said,
    /// For whom.
    pub caller: Caller,
}

/// What a client says that its person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Nothing: how things stand is looked at.
    Nothing,
    /// Yes. It counts for a client that an operator bound to a person, and is nothing from any other.
    Yes,
}

/// What became of a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolReply {
    /// No tool is called so.
    Unknown(ToolEnd),
    /// What was brought along belongs to another call, has ended, or is nothing of ours.
    Stale,
    /// What a search among the tools found.
    Found(Value),
    /// A search that was not answered.
    Refused {
        /// What was wrong.
        message: String,
        /// What would be right.
        help: String,
    },
    /// It ended, one way or another.
    Ended(ToolEnd),
    /// It waits for a person.
    Waiting(ToolWaits),
}

/// How a call ended.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolEnd {
    /// The outcome, as everywhere else.
    pub outcome: Value,
    /// The capability behind the tool, and its version, when it is one.
    pub capability: Option<(String, NonZeroU32)>,
    /// Which of the ways in which a tool cannot be called it is: a word, and a sentence for people.
    pub diagnostic: Option<(String, String)>,
    /// Whether a person put other arguments in its place.
    #[serde(default)]
    pub changed: bool,
}

/// A call that waits for a person.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToolWaits {
    /// The outcome as it would be told elsewhere.
    pub end: ToolEnd,
    /// What waits.
    pub approval: ApprovalId,
    /// When nobody can answer any more.
    pub expires_at: Timestamp,
    /// Where an operator answers, when this host serves the approval centre.
    pub link: Option<String>,
    /// What to bring along with the same call.
    pub state: String,
    /// Whether an answer of the person at this client counts.
    pub answers: bool,
    /// What the person is asked, in words.
    pub question: String,
}

/// One client that is let in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClientShown {
    /// What it is called.
    pub name: Subject,
    /// For whom it speaks.
    pub subject: Subject,
    /// For which slot of its agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotPath>,
    /// Since when.
    pub created: Timestamp,
    /// The person whose answers it may bring, when the configuration names one.
    pub person: Option<Subject>,
}
