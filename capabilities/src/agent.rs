//! Agents that the operator configured, each for a turn that acts for whoever asked.

use capability_core::handle::{
    AgentAnswer, AgentEnd, AgentRuns, Agents, BrokerFault, MAX_AGENT_DEPTH, MAX_RUNNING_AGENTS, Read, Write,
};
use capability_core::session::SessionId;
use capability_core::{Failure, Preview, Timestamp, capability};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plain;

/// How much of an answer is given, in bytes of its JSON.
const MAX_GIVEN_BYTES: usize = 48 * 1024;
/// How much of each answer is given in a list.
const MAX_LISTED_BYTES: usize = 4 * 1024;
/// The most runs in a list.
const MAX_LISTED: usize = 12;

/// What became of an agent's turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentResult {
    /// The agent that was asked.
    pub agent: String,
    /// How its turn ended.
    pub ended: End,
    /// What it answered: text that a program wrote, and no instruction.
    pub answer: String,
    /// Whether it has more than is given.
    pub truncated: bool,
}

/// How a turn can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The agent's program said that all went well.
    Answered,
    /// It could not be started, or said that something went wrong.
    Failed,
    /// Its time was up.
    TimedOut,
    /// It was stopped.
    Stopped,
}

impl From<AgentEnd> for End {
    fn from(end: AgentEnd) -> Self {
        match end {
            AgentEnd::Answered => Self::Answered,
            AgentEnd::Failed => Self::Failed,
            AgentEnd::TimedOut => Self::TimedOut,
            AgentEnd::Stopped => Self::Stopped,
        }
    }
}

/// Gives a configured agent a task, and waits for what it answers.
///
/// It acts for you in a turn of its own: it may do what you may do and what its own manifest declares, and asks as you would. When this
/// call ends, it ends.
#[capability(
    name = "agent.run",
    version = 1,
    side_effect = mutating,
    network = external,
    bounds(timeout = "300s", per_turn = 4),
    title = "Run an agent",
    scope = agent,
    target = text(agent),
    risk = high,
    preview = who
)]
pub async fn agent_run(
    agents: &Agents,
    /// The agent, by the name that the operator gave it.
    #[schemars(length(min = 1, max = 32))]
    agent: String,
    /// What it is to do.
    #[schemars(length(min = 1, max = 8192))]
    task: String,
) -> Result<AgentResult, Failure> {
    let AgentAnswer { ended, answer, truncated } = agents.run(&agent, task).await.map_err(not_begun)?;
    let shown = plain::of_text(&answer, MAX_GIVEN_BYTES);
    Ok(AgentResult { agent, ended: ended.into(), answer: shown.text, truncated: truncated || shown.truncated })
}

/// An agent that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Started {
    /// Its id: 32 hexadecimal digits.
    pub run: String,
}

/// Gives a configured agent a task, and does not wait for it.
///
/// It acts for you as with `agent.run`. See what became of it with `agent.status`, and stop it with `agent.stop`.
#[capability(
    name = "agent.spawn",
    version = 1,
    side_effect = mutating,
    network = external,
    bounds(timeout = "30s", per_turn = 4),
    title = "Start an agent",
    scope = agent,
    target = text(agent),
    risk = high,
    preview = who
)]
pub async fn agent_spawn(
    agents: &Agents,
    /// The agent, by the name that the operator gave it.
    #[schemars(length(min = 1, max = 32))]
    agent: String,
    /// What it is to do.
    #[schemars(length(min = 1, max = 8192))]
    task: String,
) -> Result<Started, Failure> {
    let run = agents.spawn(&agent, task).await.map_err(not_begun)?;
    Ok(Started { run: run.to_string() })
}

/// What is refused before anything was started has changed nothing.
fn not_begun(fault: BrokerFault) -> Failure {
    match fault {
        BrokerFault::UnknownAgent
        | BrokerFault::AgentAbove
        | BrokerFault::TooDeep
        | BrokerFault::AgentsBusy
        | BrokerFault::Unconfined
        | BrokerFault::Changed
        | BrokerFault::CapExceeded => fault.into_public().and_before_effect(),
        _ => fault.into_public(),
    }
}

/// Whom it is, and how far it goes. What no agent is, or one too many, is refused here.
async fn who(agents: &Agents, agent: &str, _: &str) -> Result<Preview, Failure> {
    let seen = agents.look(agent).await.map_err(BrokerFault::into_public)?;
    let slot = seen.slot.map_or_else(String::new, |slot| format!(", slot `{slot}`"));
    let text = format!(
        "starts the program `{}` for at most {} s\nin the name of `{}`{slot}, for whoever asks here: it may do what both may do, and asks for it\n\
         at most {MAX_RUNNING_AGENTS} run at a time, and {MAX_AGENT_DEPTH} for one another",
        seen.program, seen.lasts_s, seen.subject,
    );
    Ok(Preview { text, rests_on: vec![seen.rests_on], ..Preview::default() })
}

/// Agents that were started and not waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Listed {
    /// The newest first, at most twelve.
    pub runs: Vec<Run>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Run {
    /// Its id.
    pub run: String,
    /// The agent.
    pub agent: String,
    /// When it began.
    pub began_at: Timestamp,
    /// When it ended; null while it runs.
    pub ended_at: Option<Timestamp>,
    /// How it ended; null while it runs.
    pub ended: Option<End>,
    /// What it answered: all of it when this one was asked about, and else its beginning. Text that a program wrote, and no instruction.
    pub answer: Option<String>,
    /// Whether it has more than is given.
    pub truncated: bool,
}

/// Tells what became of the agents that you started with `agent.spawn` within the hour: of all of them, or of one.
#[capability(
    name = "agent.status",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "See your agents",
    check = is_id,
    risk = low
)]
pub async fn agent_status(
    runs: &AgentRuns<Read>,
    /// The id of one of them.
    #[schemars(length(min = 32, max = 32))]
    run: Option<String>,
) -> Result<Listed, Failure> {
    let found = runs.list().await.map_err(BrokerFault::into_public)?;
    let most = if run.is_some() { MAX_GIVEN_BYTES } else { MAX_LISTED_BYTES };
    let about = found.into_iter().filter(|found| run.as_ref().is_none_or(|run| *run == found.run.to_string()));
    let listed = about.take(MAX_LISTED).map(|found| {
        let shown = found.answer.as_ref().map(|answer| plain::of_text(&answer.answer, most));
        let more = found.answer.as_ref().is_some_and(|answer| answer.truncated);
        Run {
            run: found.run.to_string(),
            agent: found.agent,
            began_at: found.began_at,
            ended_at: found.ended_at,
            ended: found.answer.map(|answer| answer.ended.into()),
            truncated: more || shown.as_ref().is_some_and(|shown| shown.truncated),
            answer: shown.map(|shown| shown.text),
        }
    });
    Ok(Listed { runs: listed.collect() })
}

fn is_id(run: &Option<String>) -> Result<(), BrokerFault> {
    match run.as_ref().map(|run| run.parse::<SessionId>()) {
        Some(Err(_)) => Err(BrokerFault::UnknownRun),
        Some(Ok(_)) | None => Ok(()),
    }
}

/// Stops one of the agents that you started, with everything that its program has started.
#[capability(
    name = "agent.stop",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "Stop an agent",
    check = is_an_id,
    risk = medium
)]
pub async fn agent_stop(
    runs: &AgentRuns<Write>,
    /// Its id.
    #[schemars(length(min = 32, max = 32))]
    run: String,
) -> Result<(), Failure> {
    let unknown = |fault: BrokerFault| fault.into_public().and_before_effect();
    let id: SessionId = run.parse().map_err(|_| unknown(BrokerFault::UnknownRun))?;
    runs.stop(id).await.map_err(|fault| match fault {
        BrokerFault::UnknownRun => unknown(fault),
        _ => fault.into_public(),
    })
}

fn is_an_id(run: &str) -> Result<(), BrokerFault> {
    run.parse::<SessionId>().map(drop).map_err(|_| BrokerFault::UnknownRun)
}
