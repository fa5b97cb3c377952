//! Commands that run on after the call that began them.

use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Command, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless,
    sealed,
};
use crate::call::Call;
use crate::time::Timestamp;

/// The longest that a command runs in the background, in milliseconds: eight hours.
pub const MAX_BACKGROUND_MS: u32 = 8 * 3_600_000;
/// The most commands that one subject has running in the background.
pub const MAX_PROCESSES: usize = 8;
/// How many bytes are kept of the beginning of each output of a command in the background.
pub const MAX_LOG_HEAD_BYTES: usize = 32 * 1024;
/// How many bytes are kept of the end of each of them.
pub const MAX_LOG_TAIL_BYTES: usize = 96 * 1024;
/// The most bytes of one output that are given at a time.
pub const MAX_PAGE_BYTES: usize = 24 * 1024;

/// The commands that the call's subject has left running, and of no other.
///
/// Beginning one is [`Terminal::start`](super::Terminal::start), which a person answered for, its time included. To look at what that
/// answer began, and to end it before its time, changes nothing that the answer did not cover: that is why a read-only capability
/// may hold this.
#[derive(Debug)]
pub struct Processes(Call);

/// What a command in the background is called. It cannot be guessed, and is of use to its subject alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId([u8; 16]);

crate::hex::hex_text!(ProcessId, 16, "the id of a process is 32 hexadecimal digits");

impl ProcessId {
    /// From bytes that nobody can guess.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

/// A command that is left running.
///
/// It has no way to hold a secret: what runs on unseen is given none.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundCommand {
    /// The program and its arguments. A program without a slash is looked for where the system keeps its own.
    pub argv: Vec<String>,
    /// Where it runs, relative to the workspace root; `.` for the root itself.
    pub workdir: String,
    /// Variables beside those that every command has.
    pub environment: Vec<(String, String)>,
    /// How long it may run.
    pub timeout_ms: u32,
}

impl BackgroundCommand {
    /// The command that it is when nobody waits for it.
    #[must_use]
    pub fn into_command(self) -> Command {
        let Self { argv, workdir, environment, timeout_ms } = self;
        Command { argv, workdir, environment, timeout_ms, secrets: Vec::new() }
    }

    /// Whether it is within what the handle takes.
    pub(crate) fn fits(&self) -> bool {
        self.clone().into_command().lasts_at_most(MAX_BACKGROUND_MS)
    }
}

impl core::fmt::Debug for BackgroundCommand {
    /// Without its words.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "BackgroundCommand({} words, {} variables)", self.argv.len(), self.environment.len())
    }
}

/// Why a command in the background is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessEnd {
    /// Its program ended by itself, with a status.
    Exited,
    /// A signal ended its program that did not come from the host.
    Signalled,
    /// There is no such program, or it may not be run.
    NotStarted,
    /// Its time was over.
    Deadline,
    /// Its subject ended it, or whoever began it went away before it was told that it runs.
    Cancelled,
    /// The session that began it ended.
    SessionEnded,
    /// The host stopped.
    HostStopped,
    /// The host was gone before it: the next start of the log says so, and nobody saw how it ended.
    HostDied,
    /// What kept it could not be made, or failed.
    Lost,
}

impl ProcessEnd {
    /// The word used in results and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Signalled => "signalled",
            Self::NotStarted => "not_started",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
            Self::SessionEnded => "session_ended",
            Self::HostStopped => "host_stopped",
            Self::HostDied => "host_died",
            Self::Lost => "lost",
        }
    }
}

/// The state of a command in the background.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSeen {
    /// What it is called.
    pub id: ProcessId,
    /// The beginning of its words, which its subject wrote.
    pub command: String,
    /// When it began.
    pub began_at: Timestamp,
    /// How long it has run, in milliseconds.
    pub ran_ms: u32,
    /// How long it may run, in milliseconds.
    pub timeout_ms: u32,
    /// Why it is over; none while it runs.
    pub end: Option<ProcessEnd>,
    /// Its status when it ended by itself; the signal's number when by one.
    pub status: Option<i32>,
    /// How many bytes it has written to its standard output.
    pub stdout_bytes: u64,
    /// How many to its standard error.
    pub stderr_bytes: u64,
    /// Its processes are in a namespace of their own, which ends as one; otherwise they are ended one by one.
    pub own_processes: bool,
}

impl core::fmt::Debug for ProcessSeen {
    /// Without its words.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ProcessSeen({:?})", self.end)
    }
}

/// A part of an output. Bytes that are no text are replaced.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputPage {
    /// What it wrote there.
    pub text: String,
    /// Where in the whole output it begins, in bytes. After where it was asked for when what stood there is not kept.
    pub from: u64,
    /// Where the next page begins.
    pub next: u64,
}

impl core::fmt::Debug for OutputPage {
    /// Without the text.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "OutputPage({} to {})", self.from, self.next)
    }
}

/// A command in the background, and a part of what it wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPage {
    /// Its state.
    pub process: ProcessSeen,
    /// Of its standard output.
    pub stdout: OutputPage,
    /// Of its standard error.
    pub stderr: OutputPage,
}

impl Processes {
    /// Those that run, and those that ended within the last hour, at most as many again. The oldest first.
    ///
    /// # Errors
    /// [`BrokerFault::Unserved`] where none can run.
    pub async fn list(&self) -> Result<Vec<ProcessSeen>, BrokerFault> {
        match self.0.ask(BrokerRequest::Processes).await? {
            BrokerReply::Processes(found) => Ok(found),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// The state of one, and what it wrote from these bytes on: at most [`MAX_PAGE_BYTES`] of each output.
    ///
    /// # Errors
    /// [`BrokerFault::UnknownProcess`] for one that the subject does not have, another's included.
    pub async fn inspect(&self, id: ProcessId, stdout: u64, stderr: u64) -> Result<ProcessPage, BrokerFault> {
        match self.0.ask(BrokerRequest::Inspect { id, stdout, stderr }).await? {
            BrokerReply::Process(page) => Ok(*page),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Ends one with everything that it started, and answers when nothing of it is left. One that is over stays as it ended.
    ///
    /// # Errors
    /// [`BrokerFault::UnknownProcess`] for one that the subject does not have; [`BrokerFault::Unavailable`] when it is not gone in
    /// time; [`BrokerFault::Unconfirmed`] in a `preview`.
    pub async fn cancel(&self, id: ProcessId) -> Result<ProcessSeen, BrokerFault> {
        match self.0.ask(BrokerRequest::Stop { id }).await? {
            BrokerReply::Process(page) => Ok(page.process),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Processes {}
impl Handle for Processes {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Processes, "");
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}
