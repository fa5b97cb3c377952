//! Programs, run by the host in a place of their own.

use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Changes, Handle, HandleFamily, HandleKind, MAX_PATH_BYTES, OnDevice,
    Targetless, is_bindable_variable, is_configured_name, is_plain_path, sealed,
};
use crate::call::Call;

/// The longest command, its words and environment together, in bytes.
pub const MAX_COMMAND_BYTES: usize = 128 * 1024;
/// The most words, and the most variables, of one.
pub const MAX_COMMAND_WORDS: usize = 256;
/// The longest that a command runs, in milliseconds.
pub const MAX_COMMAND_MS: u32 = 300_000;
/// How many bytes are kept of the beginning of each of its two outputs, and as many of the end.
pub const MAX_KEPT_BYTES: usize = 24 * 1024;

/// A program that the host runs: in a directory of the workspace, without a terminal, a network or anything that the host's own
/// environment holds.
///
/// It may change the workspace and a home of its own, which is gone afterwards; it reads and runs what the system has. It and
/// everything that it started are gone when the answer is there.
#[derive(Debug)]
pub struct Terminal(Call);

/// A command.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program and its arguments. A program without a slash is looked for where the system keeps its own.
    pub argv: Vec<String>,
    /// Where it runs, relative to the workspace root; `.` for the root itself.
    pub workdir: String,
    /// Variables beside those that every command has.
    pub environment: Vec<(String, String)>,
    /// How long it may run.
    pub timeout_ms: u32,
    /// Secrets that it is given as variables beside those. Each must be one that the call's preview named and a person answered
    /// for; what it writes comes back without their values.
    #[serde(default)]
    pub secrets: Vec<SecretUse>,
}

/// The most secrets that one command is given.
pub const MAX_SECRET_USES: usize = 16;

/// One secret that a command is given: bound to one variable, for this one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretUse {
    /// The variable. It is what a manifest declares, as `secret.bind:DEPLOY_TOKEN`; none that decides what runs.
    pub variable: String,
    /// The secret's configured name.
    pub secret: String,
}

impl SecretUse {
    /// Whether these can be given to one command: few enough, well named, and no variable twice.
    pub(crate) fn all_fit(uses: &[Self]) -> bool {
        uses.len() <= MAX_SECRET_USES
            && uses.iter().enumerate().all(|(at, one)| {
                is_bindable_variable(&one.variable)
                    && is_configured_name(&one.secret)
                    && !uses.iter().take(at).any(|other| other.variable == one.variable)
            })
    }
}

impl core::fmt::Debug for Command {
    /// Without its words.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Command({} words, {} variables)", self.argv.len(), self.environment.len())
    }
}

impl Command {
    /// Whether it is within what the handle takes.
    pub(crate) fn fits(&self) -> bool {
        let words = self.argv.iter().map(String::len).sum::<usize>();
        let variables = self.environment.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        (1..=MAX_COMMAND_WORDS).contains(&self.argv.len())
            && self.environment.len() <= MAX_COMMAND_WORDS
            && words + variables <= MAX_COMMAND_BYTES
            && self.workdir.len() <= MAX_PATH_BYTES
            && (1..=MAX_COMMAND_MS).contains(&self.timeout_ms)
            && SecretUse::all_fit(&self.secrets)
            && !self.secrets.iter().any(|one| self.environment.iter().any(|(name, _)| *name == one.variable))
    }
}

/// How a command ended, and what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// How the program itself ended.
    pub how: HowEnded,
    /// What it wrote to its standard output.
    pub stdout: KeptOutput,
    /// What it wrote to its standard error.
    pub stderr: KeptOutput,
    /// How long it ran, in milliseconds.
    pub ran_ms: u32,
    /// What kept it where it was.
    pub held: Held,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HowEnded {
    /// By itself, with this status.
    Exited(i32),
    /// By a signal.
    Signalled(i32),
    /// Its time was over, and it was ended with everything that it had started.
    TimedOut,
    /// It could not be started: there is no such program, or it may not be run.
    NotStarted,
}

/// The beginning and the end of an output. Bytes that are no text are replaced.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptOutput {
    /// Its first [`MAX_KEPT_BYTES`].
    pub head: String,
    /// Its last, when there were more.
    pub tail: String,
    /// How many bytes in between are not kept.
    pub dropped: u64,
}

impl core::fmt::Debug for KeptOutput {
    /// Without the text.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "KeptOutput({} bytes, {} dropped)", self.head.len() + self.tail.len(), self.dropped)
    }
}

/// What kept a command where it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Its processes were in a namespace of their own, which ends as one; otherwise they were ended one by one.
    pub processes: bool,
    /// There was no network interface at all; sockets are refused either way.
    pub network: bool,
    /// How many processes it could have at most, where the kernel counts them.
    pub most_processes: Option<u32>,
    /// The version of the file rules that held.
    pub files: Option<u32>,
}

/// Where a command would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workdir {
    /// The file system.
    pub device: u64,
    /// The directory.
    pub inode: u64,
    /// The path of the workspace's root, as a command would see it; absent when it is no plain text.
    pub root: Option<String>,
}

impl Terminal {
    /// Which directory a command would run in.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedPath`], [`BrokerFault::NotFound`], [`BrokerFault::OutsideWorkspace`] for a path with a link in it.
    pub async fn workdir(&self, path: &str) -> Result<Workdir, BrokerFault> {
        if path != "." && !is_plain_path(path) {
            return Err(BrokerFault::MalformedPath);
        }
        match self.0.ask(BrokerRequest::Workdir { path: path.to_owned() }).await? {
            BrokerReply::Workdir(found) => Ok(found),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// Those of [`Terminal::workdir`]; [`BrokerFault::CapExceeded`] for a command beyond [`MAX_COMMAND_BYTES`],
    /// [`MAX_COMMAND_WORDS`] or [`MAX_COMMAND_MS`]; [`BrokerFault::Unavailable`] when the place it runs in cannot be made;
    /// [`BrokerFault::Unconfirmed`] in a `preview`; [`BrokerFault::SecretRefused`] for a secret that nobody answered for or that
    /// is not there any more.
    pub async fn run(&self, command: Command) -> Result<CommandEnd, BrokerFault> {
        if command.workdir != "." && !is_plain_path(&command.workdir) {
            return Err(BrokerFault::MalformedPath);
        }
        if !command.fits() {
            return Err(BrokerFault::CapExceeded);
        }
        match self.0.ask(BrokerRequest::Run { command }).await? {
            BrokerReply::Ran(end) => Ok(*end),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Terminal {}
impl Handle for Terminal {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Terminal, "");
    type Reach = OnDevice;
    type Power = Changes;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}
