//! A worker's life: sealed, warmed, one call, gone.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capability_core::contract::Capability;
use capability_core::executor::{prepare_in_process, run_in_process};
use capability_core::registry;
use capability_core::{Call, CallTerms};
use tokio::net::UnixStream;
use tokio::runtime::{Builder, Runtime};

use super::forward::Forward;
use super::frame::{self, Ending, Frame, FrameFault, FromWorker, Place, Reader, ToWorker, Unprepared};
use super::sandbox::{Fork, Worker};
use super::zygote::exit;

/// How long after the host's deadline the kernel's own ends a worker.
const SLACK: Duration = Duration::from_millis(20);
/// How long a worker waits for a call at most.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);
/// The most threads a body's `spawn_blocking` may have.
const BLOCKING_THREADS: usize = 4;

/// Where something panicked last.
static PANIC: Mutex<Option<Place>> = Mutex::new(None);

/// Keeps where something panics, and never what it says: a message may quote arguments.
pub fn note_panics() {
    std::panic::set_hook(Box::new(|info| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = info.location().map(Place::of);
    }));
}

/// Tells where something panicked, if it did.
async fn told(forward: &Forward) -> Result<(), FrameFault> {
    let place = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    match place {
        Some(place) => forward.send(&FromWorker::Panic(place), &[]).await,
        None => Ok(()),
    }
}

/// Never returns: a worker ends by being told to, by its host going away, or by being killed.
pub fn work(fork: Fork<'_>, channel: OwnedFd, notices: OwnedFd) -> ! {
    let status = match fork.seal(channel, Some(notices)).map(serve) {
        Ok(Ok(()) | Err(FrameFault::Closed)) => 0,
        Ok(Err(_)) => 1,
        Err(_) => 2,
    };
    exit(status)
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING_THREADS).build()
}

fn serve((mut worker, channel): (Worker, OwnedFd)) -> Result<(), FrameFault> {
    let channel = std::os::unix::net::UnixStream::from(channel);
    channel.set_nonblocking(true)?;
    // Shows that the kernel has timers to give, and ends a worker that nobody wanted for so long.
    worker.arm(IDLE).map_err(|_| FrameFault::Closed)?;
    let achieved = *worker.achieved();
    let mut ready = Some(FromWorker::Ready { fingerprint: registry::linked_fingerprint(), achieved });
    loop {
        // A runtime for each call: whatever a body left in it is gone before the next one begins.
        let runtime = runtime()?;
        let (channel, ready) = (channel.try_clone()?, ready.take());
        let again = runtime.block_on(async { one_call(worker, UnixStream::from_std(channel)?, ready).await })?;
        runtime.shutdown_timeout(Duration::ZERO);
        match again {
            Some(again) => worker = again,
            None => return Ok(()),
        }
    }
}

/// Serves one call, and gives the worker back if there may be another.
async fn one_call(worker: Worker, stream: UnixStream, ready: Option<FromWorker>) -> Result<Option<Worker>, FrameFault> {
    let mut reader = Reader::with_descriptors();
    if let Some(ready) = ready {
        frame::send(&stream, &frame::encoded(&ready, &[], false)?, None).await?;
    }
    let Frame { message, tail, .. } = reader.next(&stream, u64::from(u32::MAX)).await?;
    let forward = Forward::new(stream);
    match message {
        ToWorker::Prepare { name, version, terms, reused } => {
            let entry = registry::linked(&name, version).ok_or(FrameFault::Malformed)?;
            forwarded(worker, &forward, reader, entry, &tail, terms, reused).await
        }
        ToWorker::Run { .. } | ToWorker::Reply { .. } => Err(FrameFault::Malformed),
    }
}

async fn forwarded(
    mut worker: Worker,
    forward: &Forward,
    reader: Reader,
    entry: &'static Capability,
    arguments: &[u8],
    terms: CallTerms,
    reused: bool,
) -> Result<Option<Worker>, FrameFault> {
    // The kernel's own deadline, behind the host's two.
    worker.arm(terms.remaining() + SLACK).map_err(|_| FrameFault::Closed)?;
    let mut confirmed = forward.listen(reader);
    let call = |terms: CallTerms| -> Call { terms.call(entry, Arc::new(forward.clone())) };
    let (prepared, answer) = match prepare_in_process(entry, arguments, &call(terms)).await {
        Ok(prepared) => {
            let preview = prepared.preview().cloned();
            (Some(prepared), Ok(preview))
        }
        Err(fault) => (None, Err(Unprepared::from(fault))),
    };
    told(forward).await?;
    forward.send(&FromWorker::Prepared(answer), &[]).await?;
    let Some(prepared) = prepared else { return Ok(None) };
    let terms = (&mut confirmed).await.map_err(|_| FrameFault::Closed)?;
    worker.arm(terms.remaining() + SLACK).map_err(|_| FrameFault::Closed)?;
    let kept = if reused {
        Some(worker)
    } else {
        // From here on nothing in this process can move the deadline.
        worker.lock().map_err(|_| FrameFault::Closed)?;
        None
    };
    let (end, tail) = Ending::of(run_in_process(prepared, call(terms)).await);
    told(forward).await?;
    forward.send(&FromWorker::End(end), &tail).await?;
    Ok(kept)
}
