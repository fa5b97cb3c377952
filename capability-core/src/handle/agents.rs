//! Agents that the operator configured: what runs them, and what became of those that were started.

use core::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::workspace::{WorkspaceAccess, Write};
use super::{
    BrokerFault, BrokerReply, BrokerRequest, Changes, Handle, HandleFamily, HandleKind, OffDevice, OnDevice,
    Targetless, is_configured_name, sealed,
};
use crate::call::Call;
use crate::session::{SessionId, Subject};
use crate::time::Timestamp;

/// The longest task, in bytes.
pub const MAX_TASK_BYTES: usize = 32 * 1024;
/// The longest answer that is kept of an agent, in bytes.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// How many sessions may act for one another, the first one not counted.
pub const MAX_AGENT_DEPTH: usize = 3;
/// The most agents that one subject has started and that have not ended.
pub const MAX_RUNNING_AGENTS: usize = 4;

/// Starts agents that the operator configured under `[agents]`, each for a turn that acts for the calling session.
///
/// Whatever that session may not do its agents may not do either: they declare what their own manifest and everybody behind them
/// declare, in the strictest of all modes, and no standing answer is theirs because it was given to somebody behind them. A session
/// that has ended has ended its agents.
///
/// What an agent is told goes to a program that may send it anywhere, so only a `mutating` and `external` capability may hold this. A
/// host without a configured agent does not serve it.
#[derive(Debug)]
pub struct Agents(Call);

impl Agents {
    /// What a configured agent is. A `preview` may ask.
    ///
    /// # Errors
    /// [`BrokerFault::UnknownAgent`]; [`BrokerFault::AgentAbove`] for one that the calling session acts for already;
    /// [`BrokerFault::TooDeep`] above [`MAX_AGENT_DEPTH`].
    pub async fn look(&self, agent: &str) -> Result<AgentSeen, BrokerFault> {
        match self.0.ask(BrokerRequest::Agent { agent: named(agent)? }).await? {
            BrokerReply::Agent(seen) => Ok(*seen),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Gives it a task and waits for its answer. It ends with the call.
    ///
    /// # Errors
    /// Those of [`look`](Self::look); [`BrokerFault::CapExceeded`] above [`MAX_TASK_BYTES`]; [`BrokerFault::AgentsBusy`] above
    /// [`MAX_RUNNING_AGENTS`]; [`BrokerFault::Unconfined`] where the machine cannot keep its program apart;
    /// [`BrokerFault::Unavailable`] when it cannot be started.
    pub async fn run(&self, agent: &str, task: String) -> Result<AgentAnswer, BrokerFault> {
        match self.0.ask(BrokerRequest::RunAgent { agent: named(agent)?, task }).await? {
            BrokerReply::AgentAnswered(answer) => Ok(*answer),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Gives it a task and does not wait: the id is that of the session which it acts in.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub async fn spawn(&self, agent: &str, task: String) -> Result<SessionId, BrokerFault> {
        match self.0.ask(BrokerRequest::SpawnAgent { agent: named(agent)?, task }).await? {
            BrokerReply::AgentStarted(run) => Ok(run),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

fn named(agent: &str) -> Result<String, BrokerFault> {
    if is_configured_name(agent) { Ok(agent.to_owned()) } else { Err(BrokerFault::UnknownAgent) }
}

impl sealed::Sealed for Agents {}
impl Handle for Agents {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Agents, "");
    type Reach = OffDevice;
    type Power = Changes;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

/// The agents that the calling subject has started and not waited for, and no other ones.
pub struct AgentRuns<A>(Call, PhantomData<A>);

impl<A> AgentRuns<A> {
    /// Those that run, and those that have ended within the hour, the newest first.
    ///
    /// # Errors
    /// [`BrokerFault::Unserved`] without a configured agent.
    pub async fn list(&self) -> Result<Vec<AgentRun>, BrokerFault> {
        match self.0.ask(BrokerRequest::AgentRuns).await? {
            BrokerReply::AgentRuns(runs) => Ok(runs),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl AgentRuns<Write> {
    /// Ends one, with everything that its program has started.
    ///
    /// # Errors
    /// [`BrokerFault::UnknownRun`] when none of the subject's own runs under that id.
    pub async fn stop(&self, run: SessionId) -> Result<(), BrokerFault> {
        match self.0.ask(BrokerRequest::StopAgent { run }).await? {
            BrokerReply::Done => Ok(()),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl<A> core::fmt::Debug for AgentRuns<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("AgentRuns")
    }
}

impl<A> sealed::Sealed for AgentRuns<A> {}
impl<A: WorkspaceAccess> Handle for AgentRuns<A> {
    const KIND: HandleKind = HandleKind { may_change: A::MAY_CHANGE, ..HandleKind::new(HandleFamily::AgentRuns, "") };
    type Reach = OnDevice;
    type Power = A::Power;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

/// What an operator configured under an agent's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSeen {
    /// Whose manifest it is held to.
    pub subject: Subject,
    /// The slot of that subject, if it is one.
    pub slot: Option<String>,
    /// The program that runs, without its arguments.
    pub program: String,
    /// How long one of its turns may last, in seconds.
    pub lasts_s: u64,
    /// What an approval of it rests on: everything that is configured of it.
    pub rests_on: [u8; 32],
}

/// How an agent's turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentEnd {
    /// Its program said that all went well.
    Answered,
    /// Its program could not be started, or said that something went wrong.
    Failed,
    /// Its time was up.
    TimedOut,
    /// It was stopped, by who started it or with them.
    Stopped,
}

impl AgentEnd {
    /// The word it is shown and recorded as.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Stopped => "stopped",
        }
    }
}

/// What became of an agent's turn: its program's own text, and no instruction.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentAnswer {
    /// How it ended.
    pub ended: AgentEnd,
    /// What the program wrote, at most [`MAX_ANSWER_BYTES`].
    pub answer: String,
    /// Whether it wrote more.
    pub truncated: bool,
}

impl core::fmt::Debug for AgentAnswer {
    /// Without a word of it.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "AgentAnswer({:?}, {} bytes)", self.ended, self.answer.len())
    }
}

/// An agent that was started and not waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRun {
    /// Its id: that of the session which it acts in.
    pub run: SessionId,
    /// Under which name the operator configured it.
    pub agent: String,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended; none while it runs.
    pub ended_at: Option<Timestamp>,
    /// What became of it; none while it runs.
    pub answer: Option<AgentAnswer>,
}
