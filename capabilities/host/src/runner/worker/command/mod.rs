//! Commands, in a place of their own: run to their end, or begun.
//!
//! ```text
//! host ── spawn ──> keeper   this same binary: leaves namespaces, holds nothing else, ends the rest
//!   │                 '── fork ──> inside   the first of its namespace: Landlock, filter, no capability
//!   │<── its descriptor ─┘            '── spawn ──> the command, and whatever it starts
//! ```
//!
//! The keeper ends the one inside when its time is over or the host's end of its socket is gone, however that came. With the one
//! inside, the kernel ends everything else; where there is no namespace of processes, the keeper does. When nothing is left the
//! socket closes, and only then is an end reported.

mod kept;
pub mod launcher;
mod reading;

pub use kept::Output;
pub use reading::Taken;

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::Arc;
use std::time::Duration;

use capability_core::handle::{Command, CommandEnd, Held, HowEnded};
use capability_core::redact::Redaction;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, pidfd_send_signal};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep_until, timeout};

use super::channel::{receive_with, send_with};
use super::sandbox::command::Kept;
use crate::environment::random;
use crate::hex;
use reading::Reading;

/// What a keeper is called, in place of the program's name.
pub const NAME: &str = "capability-command";
/// How long a keeper may take to be ready, and everything to be gone once it is ended.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long after the end of its time the keeper acts, if the host did not.
const SLACK_MS: u32 = 250;

/// What a keeper is told.
#[derive(Debug, Serialize, Deserialize)]
struct Told {
    argv: Vec<String>,
    environment: Vec<(String, String)>,
    /// A directory that is the command's alone.
    home: PathBuf,
    timeout_ms: u32,
}

/// What the one inside says, once.
#[derive(Debug, Serialize, Deserialize)]
enum Said {
    /// The command ended by itself.
    Ended(HowEnded, Kept),
    /// It could not be held, so it was not run.
    Unheld(String),
}

/// The longest that either says, in bytes.
const MAX_SAID: usize = 1 << 20;

/// Runs a command below `workspace`, in `workdir`, in the runtime that this is called in. A caller that goes away ends it.
///
/// # Errors
/// The place it would run in cannot be made.
pub async fn run(
    workspace: &OwnedFd,
    workdir: OwnedFd,
    command: Command,
    redaction: &Arc<dyn Redaction>,
) -> io::Result<CommandEnd> {
    let taken = [(); 2].map(|()| Taken::into(Output::of_a_call(), redaction));
    let running = begin(workspace, workdir, command, &taken).await?;
    let End { over: Over::ByItself(how), kept, ran_ms } = running.end(core::future::pending::<Infallible>()).await?;
    let [stdout, stderr] = taken.map(|taken| taken.look(Output::kept));
    let held = Held {
        processes: kept.processes,
        network: kept.network,
        most_processes: kept.most_processes,
        files: kept.files,
    };
    Ok(CommandEnd { how, stdout, stderr, ran_ms, held })
}

/// Begins a command, whose outputs are taken in from now on. Dropped, it is ended with everything that it started.
///
/// # Errors
/// The place it would run in cannot be made.
pub async fn begin(
    workspace: &OwnedFd,
    workdir: OwnedFd,
    command: Command,
    [stdout, stderr]: &[Taken; 2],
) -> io::Result<Running> {
    let began = Instant::now();
    let deadline = began + Duration::from_millis(u64::from(command.timeout_ms));
    let home = Home::make()?;
    let told = Told {
        environment: variables(&home.path, command.environment),
        argv: command.argv,
        home: home.path.clone(),
        timeout_ms: command.timeout_ms.saturating_add(SLACK_MS),
    };
    let (read_out, out) = pipe_with(PipeFlags::CLOEXEC)?;
    let (read_err, err) = pipe_with(PipeFlags::CLOEXEC)?;
    let mut keeper = Keeper::start(out, err)?;
    let reading = [Reading::of(read_out, stdout)?, Reading::of(read_err, stderr)?];
    timeout(PATIENCE, keeper.tell(&told, [workdir.as_fd(), workspace.as_fd()])).await??;
    home.is_the_keepers_now();
    Ok(Running { keeper, reading, began, deadline })
}

/// A command on its way. Dropped, it is ended with everything that it started.
pub struct Running {
    keeper: Keeper,
    reading: [Reading; 2],
    began: Instant,
    deadline: Instant,
}

/// How a command ended, when nothing of it is left.
pub struct End<S> {
    pub over: Over<S>,
    /// What it was kept by.
    pub kept: Kept,
    /// How long it ran, in milliseconds.
    pub ran_ms: u32,
}

/// Who ended a command.
pub enum Over<S> {
    /// Its program or its time.
    ByItself(HowEnded),
    /// Somebody, for this reason.
    Stopped(S),
}

impl Running {
    /// Whether its processes have a namespace of their own.
    pub const fn has_own_processes(&self) -> bool {
        self.keeper.kept.processes
    }

    /// Waits for its end, or ends it when `stop` comes or its time is over.
    ///
    /// # Errors
    /// The place it would run in could not be made, or what kept it failed.
    pub async fn end<S>(self, stop: impl Future<Output = S>) -> io::Result<End<S>> {
        let Self { mut keeper, reading: [stdout, stderr], began, deadline } = self;
        let mut said = Vec::new();
        let ended = tokio::select! {
            biased;
            heard = keeper.hear(&mut said) => heard.map(|()| None)?,
            why = stop => Some(Over::Stopped(why)),
            () = sleep_until(deadline) => Some(Over::ByItself(HowEnded::TimedOut)),
        };
        if ended.is_some() {
            keeper.end();
            // Whatever it says now, it was over.
            timeout(PATIENCE, keeper.hear(&mut said)).await??;
        }
        keeper.reap().await;
        let said = read(&said);
        // What did not end by itself may have been in the middle of a word.
        let whole = ended.is_none() && matches!(said, Some(Said::Ended(HowEnded::Exited(_), _)));
        tokio::join!(stdout.rest(whole), stderr.rest(whole));
        let (over, kept) = match (ended, said) {
            (Some(over), _) => (over, keeper.kept),
            (None, Some(Said::Ended(how, kept))) => (Over::ByItself(how), kept),
            (None, Some(Said::Unheld(step))) => return Err(io::Error::other(step)),
            (None, None) if Instant::now() >= deadline => (Over::ByItself(HowEnded::TimedOut), Kept::default()),
            (None, None) => return Err(io::ErrorKind::UnexpectedEof.into()),
        };
        Ok(End { over, kept, ran_ms: u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX) })
    }
}

/// What every command has, and what was asked for besides.
fn variables(home: &Path, more: Vec<(String, String)>) -> Vec<(String, String)> {
    let home = home.to_string_lossy();
    let mut variables: Vec<(String, String)> =
        [("PATH", PATH), ("LANG", "C.UTF-8"), ("TERM", "dumb"), ("HOME", &home), ("TMPDIR", &format!("{home}/tmp"))]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    variables.extend(more.into_iter().filter(|(name, _)| !FIXED.contains(&name.as_str())));
    variables
}

/// Where programs are looked for.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What nobody sets.
const FIXED: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// What is said on a socket: its length, and then itself.
fn written<T: Serialize>(said: &T) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(said)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    Ok([&length.to_le_bytes(), text.as_slice()].concat())
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (length, text) = bytes.split_first_chunk::<4>()?;
    let text = text.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    serde_json::from_slice(text).ok()
}

/// A directory that is one command's alone. Its keeper removes it; before there is one, this does.
struct Home {
    path: PathBuf,
    ours: std::cell::Cell<bool>,
}

impl Home {
    fn make() -> io::Result<Self> {
        let name = random::<16>().map_err(io::Error::other)?;
        let path = std::env::temp_dir().join(format!("capability-{}", hex::encode(&name)));
        let mut private = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
        private.create(&path)?;
        private.create(path.join("tmp"))?;
        Ok(Self { path, ours: std::cell::Cell::new(true) })
    }

    fn is_the_keepers_now(&self) {
        self.ours.set(false);
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if self.ours.get() {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// The host's side of a keeper. With it, everything that it keeps is gone.
struct Keeper {
    control: Option<UnixStream>,
    child: Option<Child>,
    /// The first process of the command.
    inside: Option<OwnedFd>,
    /// What is known to hold before the command says so itself.
    kept: Kept,
}

impl Keeper {
    fn start(out: OwnedFd, err: OwnedFd) -> io::Result<Self> {
        let (own, theirs) = Socket::pair()?;
        let child = Program::new("/proc/self/exe")
            .arg0(NAME)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(out))
            .stderr(Stdio::from(err))
            .spawn()?;
        let mut keeper = Self { control: None, child: Some(child), inside: None, kept: Kept::default() };
        own.set_nonblocking(true)?;
        keeper.control = Some(UnixStream::from_std(own)?);
        Ok(keeper)
    }

    /// Tells what to run, and waits until there is a process to end.
    async fn tell(&mut self, told: &Told, places: [std::os::fd::BorrowedFd<'_>; 2]) -> io::Result<()> {
        let control = self.control.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        control.async_io(Interest::WRITABLE, || Ok(send_with(&*control, b"+", &places)?)).await?;
        control.write_all(&written(told)?).await?;
        let mut flags = [0; 1];
        let (_, descriptors) =
            control.async_io(Interest::READABLE, || Ok(receive_with(&*control, &mut flags)?)).await?;
        let [inside] = <[OwnedFd; 1]>::try_from(descriptors).map_err(|_| io::ErrorKind::UnexpectedEof)?;
        self.inside = Some(inside);
        let [flags] = flags;
        self.kept.processes = flags & launcher::HAS_PROCESSES != 0;
        self.kept.network = flags & launcher::HAS_NETWORK != 0;
        Ok(())
    }

    /// Takes in whatever is said until nobody is left who could say anything.
    async fn hear(&mut self, said: &mut Vec<u8>) -> io::Result<()> {
        let control = self.control.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        while said.len() < MAX_SAID {
            if control.read_buf(said).await? == 0 {
                return Ok(());
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    /// Ends the first process, and with it all others.
    fn end(&self) {
        if let Some(inside) = &self.inside {
            let _ = pidfd_send_signal(inside, Signal::KILL);
        }
    }

    /// The keeper itself has ended, or is about to.
    async fn reap(&mut self) {
        self.control = None;
        if let Some(mut child) = self.child.take() {
            let _ = tokio::task::spawn_blocking(move || child.wait()).await;
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.end();
        // Its socket is closed: whatever the line above missed it ends itself.
        self.control = None;
        if let Some(mut child) = self.child.take() {
            let wait = move || {
                let _ = child.wait();
            };
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn_blocking(wait)),
                Err(_) => drop(std::thread::Builder::new().spawn(wait)),
            }
        }
    }
}
