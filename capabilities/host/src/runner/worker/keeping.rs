//! Programs of somebody else's as their host has them: see [`super::sandbox::keeper`].

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::channel::send_with;
use super::sandbox::keeper::{ENDED, HIDDEN, NAME, NO_PROGRAM, STARTED, TOGETHER};

/// How long a keeper may take to start: milliseconds, on a machine that is not drowning.
const START: Duration = Duration::from_secs(10);

/// What is started.
pub struct Program<'a> {
    /// The program and its arguments.
    pub command: &'a [String],
    /// Its whole environment.
    pub environment: &'a [(OsString, OsString)],
    /// Where it starts.
    pub directory: &'a Path,
    /// The directory that it is not shown, where that can be done.
    pub hidden: &'a Path,
}

/// The three streams of a program. They are sockets: whoever reads or writes at one end of a pipe can be made to wait by the other
/// end, whatever was said about not waiting, because a program that has the kernel move something (`splice`) holds the whole pipe.
pub struct Streams {
    /// What it reads.
    pub input: UnixStream,
    /// What it writes.
    pub output: UnixStream,
    /// What it complains about.
    pub errors: UnixStream,
}

/// A stream: ours, and the program's.
fn stream() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = Socket::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs.into()))
}

/// What holds for a kept program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holds {
    /// The kernel keeps it and all that it starts together.
    pub together: bool,
    /// The host's directory is hidden from it.
    pub hidden: bool,
}

/// A program that runs, with everything that it started. Dropping it kills all of it.
pub struct Kept {
    socket: Option<UnixStream>,
    outer: Option<Child>,
    holds: Holds,
}

impl Kept {
    /// Starts one.
    ///
    /// # Errors
    /// When this machine starts no process, or the directory is none. That the program itself could not be started shows
    /// in [`ended`](Self::ended).
    pub async fn start(program: Program<'_>) -> io::Result<(Self, Streams)> {
        let (own, theirs) = Socket::pair()?;
        let [(input, theirs_in), (output, theirs_out), (errors, theirs_err)] = [stream()?, stream()?, stream()?];
        let outer = Command::new("/proc/self/exe")
            .arg0(NAME)
            .arg(program.hidden)
            .args(program.command)
            .env_clear()
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(program.directory)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(theirs_out))
            .stderr(Stdio::from(theirs_err))
            .spawn()?;
        let mut kept = Self { socket: None, outer: Some(outer), holds: Holds { together: false, hidden: false } };
        send_with(&own, &[STARTED], &[theirs_in.as_fd()])?;
        drop(theirs_in);
        own.set_nonblocking(true)?;
        let socket = kept.socket.insert(UnixStream::from_std(own)?);
        let mut word = [0; 2];
        timeout(START, socket.read_exact(&mut word)).await.map_err(|_| io::ErrorKind::TimedOut)??;
        match word {
            [STARTED, holds] => kept.holds = Holds { together: holds & TOGETHER != 0, hidden: holds & HIDDEN != 0 },
            _ => return Err(io::Error::other("the keeper could not start it")),
        }
        Ok((kept, Streams { input, output, errors }))
    }

    /// What holds for it.
    pub const fn holds(&self) -> Holds {
        self.holds
    }

    /// Waits until the program has ended by itself, and says whether it could be started at all.
    pub async fn ended(&mut self) -> bool {
        self.status().await != Some(NO_PROGRAM)
    }

    /// Waits until the program has ended by itself, and gives its exit status, 255 for one that was killed; none when the keeper is gone.
    pub async fn status(&mut self) -> Option<u8> {
        let socket = self.socket.as_mut()?;
        let mut word = [0; 2];
        match socket.read_exact(&mut word).await {
            Ok(_) => match word {
                [ENDED, status] => Some(status),
                _ => None,
            },
            Err(_) => None,
        }
    }

    /// Kills it and waits until all of it is gone.
    pub async fn end(mut self) {
        self.socket = None;
        if let Some(mut outer) = self.outer.take() {
            let _ = timeout(START, tokio::task::spawn_blocking(move || outer.wait())).await;
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // The keeper takes this for its word.
        self.socket = None;
        if let Some(mut outer) = self.outer.take() {
            // Somebody has to wait for it, and whoever drops this may be unable to.
            let _ = std::thread::Builder::new().name("capability-kept".to_owned()).spawn(move || outer.wait());
        }
    }
}
