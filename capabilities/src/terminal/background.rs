//! Commands that run on: `terminal.exec` begins them, the others look at them and end them.

use capability_core::handle::{
    BackgroundCommand, BrokerFault, OutputPage, ProcessEnd, ProcessId, ProcessPage, ProcessSeen, Processes, Terminal,
};
use capability_core::{Failure, Timestamp, capability};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CommandResult, Ended, Execution, Written, words};

/// The longest that a command in the background runs, in seconds.
pub const MAX_SECONDS: u16 = 28_800;
/// How long one runs that says nothing about it.
pub const DEFAULT_SECONDS: u16 = 600;

/// Begins a command, and tells how far it has come.
pub async fn begun(terminal: &Terminal, wanted: Execution) -> Result<CommandResult, Failure> {
    let timeout_ms = u32::from(wanted.seconds()) * 1000;
    // INVARIANT: every argument is named. One that a command in the background cannot have is refused when arguments are checked.
    let Execution { argv, script, workdir, env, secrets: _, timeout: _, background: _ } = wanted;
    let command = BackgroundCommand {
        argv: words(argv, script),
        workdir: workdir.unwrap_or_else(|| ".".to_owned()),
        environment: env.unwrap_or_default().into_iter().map(|set| (set.name, set.value)).collect(),
        timeout_ms,
    };
    let ProcessPage { process, stdout, stderr } = terminal.start(command).await.map_err(|fault| match fault {
        BrokerFault::ProcessLimit | BrokerFault::NotLasting => fault.into_public().and_before_effect(),
        _ => fault.into_public(),
    })?;
    let written = |page: OutputPage, bytes: u64| Written {
        text: page.text,
        end: None,
        left_out: bytes.saturating_sub(page.next),
    };
    Ok(CommandResult {
        ended: state(process.end),
        status: process.status,
        stdout: written(stdout, process.stdout_bytes),
        stderr: written(stderr, process.stderr_bytes),
        ran_ms: process.ran_ms,
        own_processes: process.own_processes,
        process: Some(process.id.to_string()),
    })
}

const fn state(end: Option<ProcessEnd>) -> Ended {
    match end {
        None => Ended::Running,
        Some(ProcessEnd::Exited) => Ended::Exited,
        Some(ProcessEnd::Signalled) => Ended::Signalled,
        Some(ProcessEnd::NotStarted) => Ended::NotStarted,
        Some(ProcessEnd::Deadline) => Ended::TimedOut,
        Some(ProcessEnd::Cancelled) => Ended::Cancelled,
        Some(ProcessEnd::SessionEnded) => Ended::SessionEnded,
        Some(ProcessEnd::HostStopped | ProcessEnd::HostDied) => Ended::HostStopped,
        Some(ProcessEnd::Lost) => Ended::Lost,
    }
}

/// A command in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Process {
    /// What it is called.
    pub process: String,
    /// The beginning of its words.
    pub command: String,
    /// Whether it runs, or how it ended.
    pub state: Ended,
    /// Its status when it ended by itself; the signal's number when by one.
    pub status: Option<i32>,
    /// When it began.
    pub began_at: Timestamp,
    /// How long it has run, in milliseconds.
    pub ran_ms: u32,
    /// How long it may run, in milliseconds.
    pub timeout_ms: u32,
    /// How many bytes it has written to its standard output.
    pub stdout_bytes: u64,
    /// How many to its standard error.
    pub stderr_bytes: u64,
}

impl From<ProcessSeen> for Process {
    fn from(seen: ProcessSeen) -> Self {
        Self {
            process: seen.id.to_string(),
            command: seen.command,
            state: state(seen.end),
            status: seen.status,
            began_at: seen.began_at,
            ran_ms: seen.ran_ms,
            timeout_ms: seen.timeout_ms,
            stdout_bytes: seen.stdout_bytes,
            stderr_bytes: seen.stderr_bytes,
        }
    }
}

/// Commands in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Listed {
    /// The oldest first.
    pub processes: Vec<Process>,
}

/// Lists the commands that you left running in the background, and those that ended within the last hour.
#[capability(
    name = "terminal.list",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "List background commands",
    risk = low
)]
pub async fn terminal_list(processes: &Processes) -> Result<Listed, Failure> {
    let found = processes.list().await.map_err(BrokerFault::into_public)?;
    Ok(Listed { processes: found.into_iter().map(Process::from).collect() })
}

/// A part of what a command wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Page {
    /// The text.
    pub text: String,
    /// Which byte of the whole it begins with. After the one that was asked for when what stood there is not kept.
    pub from: u64,
    /// Where the next page begins: what to ask for next.
    pub next: u64,
}

impl From<OutputPage> for Page {
    fn from(OutputPage { text, from, next }: OutputPage) -> Self {
        Self { text, from, next }
    }
}

/// A command in the background, and a part of what it wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Inspected {
    /// Whether it runs, or how it ended.
    pub process: Process,
    /// Of its standard output.
    pub stdout: Page,
    /// Of its standard error.
    pub stderr: Page,
}

/// Looks at one of your commands in the background: whether it runs, how it ended, and what it wrote.
///
/// Of each output the first 32 KiB and the last 96 KiB are kept. A page has at most 24 KiB; ask again from its `next` on.
#[capability(
    name = "terminal.inspect",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "Look at a background command",
    bounds(max_result = "512 KiB", per_turn = 64),
    risk = low
)]
pub async fn terminal_inspect(
    processes: &Processes,
    /// What `terminal.exec` called it.
    #[schemars(length(min = 32, max = 32))]
    process: String,
    /// From which byte of its standard output on.
    stdout_from: Option<u64>,
    /// From which byte of its standard error on.
    stderr_from: Option<u64>,
) -> Result<Inspected, Failure> {
    let (stdout, stderr) = (stdout_from.unwrap_or_default(), stderr_from.unwrap_or_default());
    let found = processes.inspect(named(&process)?, stdout, stderr).await.map_err(BrokerFault::into_public)?;
    Ok(Inspected { process: found.process.into(), stdout: found.stdout.into(), stderr: found.stderr.into() })
}

/// Ends one of your commands in the background with everything that it started, and waits until nothing of it is left.
///
/// One that is over stays as it ended.
#[capability(
    name = "terminal.cancel",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "End a background command",
    bounds(timeout = "15s"),
    risk = low
)]
pub async fn terminal_cancel(
    processes: &Processes,
    /// What `terminal.exec` called it.
    #[schemars(length(min = 32, max = 32))]
    process: String,
) -> Result<Process, Failure> {
    processes.cancel(named(&process)?).await.map(Process::from).map_err(BrokerFault::into_public)
}

/// What is no such name names nobody's process.
fn named(process: &str) -> Result<ProcessId, Failure> {
    process.parse().map_err(|_| BrokerFault::UnknownProcess.into_public())
}
