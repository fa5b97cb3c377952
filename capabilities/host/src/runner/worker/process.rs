//! Zygotes and workers as their host has them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, pidfd_send_signal};
use serde::de::DeserializeOwned;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::channel::{Channel, Reader, receive_with, registered, send_with};
use super::entry;
use super::frame::{self, Frame, FrameFault, FromWorker, ToWorker};
use super::sandbox::{Achieved, NOTICE_BYTES, Notice, Profile, Strictness};
use super::zygote::WELL;

/// How long a zygote may take to seal itself, and a worker to be ready: both take milliseconds.
const START: Duration = Duration::from_secs(10);

/// The most bytes of a zygote's own explanation that are read.
const MAX_WORDS: usize = 4096;

/// Why there is no worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerFault {
    /// The process could not be started, or was gone before it answered.
    Start(String),
    /// The sandbox could not be put up.
    Sandbox(String),
    /// The worker is another build than its host.
    Fingerprint,
    /// The process that workers are forked from is gone.
    Gone,
}

impl core::fmt::Display for WorkerFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Start(what) => write!(f, "no worker process could be started: {what}"),
            Self::Sandbox(what) => f.write_str(what),
            Self::Fingerprint => f.write_str("a worker has other capabilities than its host"),
            Self::Gone => f.write_str("the process that workers are forked from is gone"),
        }
    }
}

impl core::error::Error for WorkerFault {}

impl From<io::Error> for WorkerFault {
    fn from(error: io::Error) -> Self {
        // The system's own words for its own number: nobody else's are among them.
        let said = error.raw_os_error().map(io::Error::from_raw_os_error);
        Self::Start(said.map_or_else(|| error.kind().to_string(), |error| error.to_string()))
    }
}

/// The process that a profile's workers are forked from.
pub struct Zygote {
    /// Taken out for as long as a question is open. One that is never answered is not put back: what came next would be
    /// taken for the answer to another question, and a worker for somebody else's process.
    control: Mutex<Option<UnixStream>>,
    child: Child,
}

impl Zygote {
    /// Starts one and waits until it has sealed itself.
    pub async fn start(profile: Profile, strictness: Strictness) -> Result<Self, WorkerFault> {
        let (own, theirs) = Socket::pair()?;
        // The file this process was started from, even when another stands in its place by now. Nothing is run between
        // fork and exec, so the standard library spawns it without copying this process's page tables.
        let child = Command::new("/proc/self/exe")
            .arg0(entry::NAME)
            .args(entry::words(profile, strictness))
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        own.set_nonblocking(true)?;
        let zygote = Self { control: Mutex::default(), child };
        let own = UnixStream::from_std(own)?;
        timeout(START, answered(&own)).await.map_err(|_| late())??;
        *zygote.control.lock().await = Some(own);
        Ok(zygote)
    }

    /// Whether no worker can be forked from it any more.
    pub async fn is_lost(&self) -> bool {
        self.control.lock().await.is_none()
    }

    /// Forks a worker and waits until it is sealed and warm.
    pub async fn fork(self: &Arc<Self>) -> Result<Worker, WorkerFault> {
        let this = Arc::clone(self);
        // In a task of its own: a caller that goes away in the middle would leave the question open.
        let forked = tokio::spawn(async move { timeout(START, this.fork_patiently()).await.map_err(|_| late())? });
        forked.await.unwrap_or_else(|_| Err(late()))
    }

    async fn fork_patiently(&self) -> Result<Worker, WorkerFault> {
        let (own, theirs) = Socket::pair()?;
        let (notices, notice) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).map_err(io::Error::from)?;
        let process = {
            let mut kept = self.control.lock().await;
            let control = kept.take().ok_or(WorkerFault::Gone)?;
            let descriptors = [theirs.as_fd(), notice.as_fd()];
            let asking = control.async_io(Interest::WRITABLE, || Ok(send_with(&control, &[WELL], &descriptors)?));
            asking.await.map_err(|_| WorkerFault::Gone)?;
            let answer = answered(&control).await;
            if !matches!(answer, Err(WorkerFault::Gone)) {
                *kept = Some(control);
            }
            answer?
        };
        drop((theirs, notice));
        let Some(process) = process else {
            return Err(WorkerFault::Start("there was no descriptor left for it".to_owned()));
        };
        let channel = Channel::new(own)?;
        let (reader, process) = (Reader::default(), Arc::new(process));
        let mut worker = Worker { channel, reader, process, notices, threads: OnceLock::new(), achieved: None };
        match worker.next(0).await {
            Ok(Frame { message: FromWorker::Ready { fingerprint, achieved }, .. }) => {
                if fingerprint != *super::FINGERPRINT {
                    return Err(WorkerFault::Fingerprint);
                }
                worker.achieved = Some(achieved);
                Ok(worker)
            }
            Ok(Frame { message: FromWorker::Unsealed(fault), .. }) => Err(WorkerFault::Sandbox(fault)),
            _ => Err(WorkerFault::Sandbox("a worker ended before it was sealed".to_owned())),
        }
    }
}

fn late() -> WorkerFault {
    WorkerFault::Start("it did not answer in time".to_owned())
}

/// What a zygote says: that it is well, with a process or without one, or what is not.
async fn answered(control: &UnixStream) -> Result<Option<OwnedFd>, WorkerFault> {
    let mut words = [0; MAX_WORDS];
    let reading = control.async_io(Interest::READABLE, || Ok(receive_with(control, &mut words)?));
    let (read, descriptors) = reading.await.map_err(|_| WorkerFault::Gone)?;
    match words.get(..read).unwrap_or_default() {
        [WELL] => Ok(descriptors.into_iter().next()),
        [] => Err(WorkerFault::Gone),
        [_, why @ ..] => Err(WorkerFault::Sandbox(String::from_utf8_lossy(why).into_owned())),
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // Its workers go with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A sealed process with one channel. Dropping it kills it.
pub struct Worker {
    channel: Channel,
    reader: Reader,
    process: Arc<OwnedFd>,
    /// What it tells of system calls that it was refused.
    notices: OwnedFd,
    /// The directory of its threads, once somebody asked for it; none where the system does not show it.
    threads: OnceLock<Option<OwnedFd>>,
    achieved: Option<Achieved>,
}

impl Worker {
    /// What the watchdog kills.
    pub fn process(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.process)
    }

    pub async fn send(&self, message: &ToWorker, tail: &[u8], descriptor: Option<&OwnedFd>) -> Result<(), FrameFault> {
        self.channel.send(&frame::encoded(message, tail, descriptor.is_some())?, descriptor).await
    }

    /// The next frame, with a tail of at most this many bytes. Nothing is lost when the wait is given up.
    pub async fn next<M: DeserializeOwned>(&mut self, max_tail: u64) -> Result<Frame<M>, FrameFault> {
        self.reader.next(&self.channel, max_tail).await
    }

    /// Kills it and waits until it is gone, every thread of it.
    pub async fn end(&self) {
        self.kill();
        let process = registered(Arc::clone(&self.process), Interest::READABLE);
        if let Ok(process) = process {
            // A killed process that does not go is in the kernel's hands; the caller is not kept for it forever.
            let _ = timeout(START, process.readable()).await;
        }
    }

    fn kill(&self) {
        // It may be gone already.
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
    }

    /// What holds in it, as it says itself.
    pub const fn achieved(&self) -> Option<&Achieved> {
        self.achieved.as_ref()
    }

    /// A system call that it was refused, as it says itself.
    pub fn notice(&self) -> Option<Notice> {
        let mut bytes = [0; NOTICE_BYTES];
        (rustix::io::read(&self.notices, &mut bytes) == Ok(NOTICE_BYTES)).then(|| Notice::read(bytes)).flatten()
    }

    /// Whether it has not ended yet.
    pub fn is_alive(&self) -> bool {
        let mut ended = [PollFd::new(&self.process, PollFlags::IN)];
        poll(&mut ended, Some(&Timespec::default())) == Ok(0)
    }

    /// Whether exactly one thread is left in it, as far as the system tells: what a body left running would run on into
    /// the next call.
    pub fn is_quiet(&self) -> bool {
        // Whatever it said beyond its end would be read as the first word of the next call.
        if !self.reader.is_empty() {
            return false;
        }
        // The directory of a process's threads has a link for each of them, beside the two that every directory has. Whether
        // it still lives is asked when it is taken.
        let threads = self.threads.get_or_init(|| self.threads_of_process()).as_ref();
        threads.and_then(|threads| rustix::fs::fstat(threads).ok()).is_some_and(|told| told.st_nlink == 2 + 1)
    }

    fn threads_of_process(&self) -> Option<OwnedFd> {
        let said = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", self.process.as_raw_fd())).ok()?;
        let pid = said.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let threads = rustix::fs::open(format!("/proc/{pid}/task"), flags, Mode::empty()).ok()?;
        // A process that has not ended still has its number, so what was opened under that number is its.
        self.is_alive().then_some(threads)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::{FrameFault, FromWorker, Profile, Strictness, Zygote};

    /// A caller may go away at any point of a fork: whoever asks next gets the process at the other end of its own channel.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_fork_that_nobody_waits_for_shifts_no_answer() {
        let zygote = Arc::new(Zygote::start(Profile::Sealed, Strictness::Promised).await.unwrap());
        for step in 0..60 {
            drop(timeout(Duration::from_micros(step * 10), zygote.fork()).await);
            let mut worker = zygote.fork().await.unwrap();
            assert!(worker.is_alive(), "after {step} steps");
            worker.end().await;
            let left = timeout(Duration::from_secs(20), worker.next::<FromWorker>(0)).await;
            assert!(
                matches!(left, Ok(Err(FrameFault::Closed))),
                "after {step} steps: what was killed is what was forked"
            );
        }
    }
}
