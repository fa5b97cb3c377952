//! A worker's life: sealed, warmed, one call, gone.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capability_core::contract::Capability;
use capability_core::executor::{PREPARE_TIMEOUT, PrepareFault, Prepared, prepare_in_process, run_in_process};
use capability_core::registry;
use capability_core::{Call, CallTerms, Preview};
use tokio::runtime::{Builder, Runtime};

use super::attest::TRYING;
use super::channel::{Channel, Reader};
use super::forward::{Forward, Nobody};
use super::frame::{self, Ending, Frame, FrameFault, FromWorker, ToWorker, Unprepared};
use super::place::Place;
use super::sandbox::attempts;
use super::sandbox::{Fork, Unsealed, Worker};
use super::zygote::exit;

/// How long after the host's deadline the kernel's own ends a worker.
const SLACK: Duration = Duration::from_millis(20);
/// How long a prepared call waits for its confirmation to be settled at most: no person is waited for here, only stores.
const BETWEEN: Duration = Duration::from_secs(5);
/// How long a worker waits for a call at most.
const IDLE: Duration = Duration::from_secs(24 * 60 * 60);
/// How many bytes of arguments and result are rehearsed.
const REHEARSED: usize = 1024;
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

/// Where something panicked, if it did.
fn panicked() -> Option<FromWorker> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).take().map(FromWorker::Panic)
}

/// Never returns: a worker ends by being told to, by its host going away, or by being killed.
pub fn work(fork: Fork<'_>, channel: OwnedFd, notices: OwnedFd) -> ! {
    let status = match fork.seal(channel, Some(notices)) {
        Ok(sealed) => match serve(sealed) {
            Ok(()) | Err(FrameFault::Closed) => 0,
            Err(_) => 1,
        },
        Err(Unsealed { fault, channel }) => {
            let told = frame::encoded(&FromWorker::Unsealed(fault.to_string()), &[], false);
            if let (Some(channel), Ok(bytes)) = (channel, told) {
                let _ = rustix::io::write(channel, &bytes);
            }
            2
        }
    };
    exit(status)
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING_THREADS).build()
}

/// What a host would send first, for nobody.
fn first_words() -> serde_json::Value {
    let identity = serde_json::json!({
        "id": format!("{:032x}", 0), "subject": "local", "mode": "live", "origin": "terminal", "turn": 0,
    });
    let terms = serde_json::json!({
        "invocation": format!("{:032x}", 0), "identity": identity, "target": null, "max_result": 0, "confirmed": false,
        "answered": false,        "remaining": Duration::ZERO,
    });
    serde_json::json!({ "Prepare": { "name": "", "version": 1, "terms": terms, "reused": false } })
}

/// Talks to itself as its host is going to. Whatever of this process is touched for the first time is copied or mapped by the
/// kernel then; when a call comes that has been paid for.
fn rehearse() -> Result<(), FrameFault> {
    runtime()?.block_on(async {
        // Both ends live for as long as this runtime: whoever listens ends this process when the other end is gone.
        let (host, own) = UnixStream::pair()?;
        let (host, own) = (Channel::new(host)?, Channel::new(own)?);
        host.send(&frame::encoded(&first_words(), &[b' '; REHEARSED], false)?, None).await?;
        let mut reader = Reader::with_descriptors();
        let Frame { message: ToWorker::Prepare { terms, .. }, .. } = reader.next(&own, u64::MAX).await? else {
            return Err(FrameFault::Malformed);
        };
        let forward = Forward::new(own);
        let confirmed = forward.listen(reader);
        forward.send(&FromWorker::Prepared(Ok(None)), &[]).await?;
        host.send(&frame::encoded(&ToWorker::Run { terms }, &[], false)?, None).await?;
        let terms = tokio::time::timeout(TRYING, confirmed).await.map_err(io::Error::from)?;
        terms.map_err(|_| FrameFault::Closed)?;
        forward.send(&FromWorker::End(Ending::Result), &[b' '; REHEARSED]).await
    })
}

fn serve((mut worker, channel): (Worker, OwnedFd)) -> Result<(), FrameFault> {
    // It blocks: nothing is to be done before there is a call, nor between two.
    let channel = UnixStream::from(channel);
    // Shows that the kernel has timers to give, and ends a worker that nobody wanted for so long.
    worker.arm(IDLE).map_err(|_| FrameFault::Closed)?;
    rehearse()?;
    let achieved = *worker.achieved();
    send(&channel, &FromWorker::Ready { fingerprint: *super::FINGERPRINT, achieved }, &[])?;
    let (mut reader, mut runtime) = (Reader::with_descriptors(), runtime()?);
    loop {
        let Frame { message, tail, .. } = reader.wait(&channel, u64::from(u32::MAX))?;
        let (name, version, terms) = match message {
            ToWorker::Prepare { name, version, terms, reused: true } => (name, version, terms),
            message => {
                return runtime
                    .block_on(async { only_call(worker, Channel::new(channel)?, reader, message, &tail).await });
            }
        };
        let entry = registry::linked(&name, version).ok_or(FrameFault::Malformed)?;
        worker = match one_call(worker, &channel, &mut reader, &runtime, entry, &tail, terms)? {
            Some(worker) => worker,
            None => return Ok(()),
        };
        if runtime.metrics().num_alive_tasks() > 0 {
            // Whatever a body left in it is gone before the next one begins.
            core::mem::replace(&mut runtime, self::runtime()?).shutdown_timeout(Duration::ZERO);
        }
    }
}

/// Serves one call of those that may be more, and gives the worker back if there may be another. Its body holds no handle, so
/// nothing is said on the channel but what is said in turn.
fn one_call(
    worker: Worker,
    channel: &UnixStream,
    reader: &mut Reader,
    runtime: &Runtime,
    entry: &'static Capability,
    arguments: &[u8],
    terms: CallTerms,
) -> Result<Option<Worker>, FrameFault> {
    let call = |terms: CallTerms| -> Call { terms.call(entry, Arc::new(Nobody)) };
    let tell_panic = || panicked().map_or(Ok(()), |place| send(channel, &place, &[]));
    let worker = armed(worker, terms.remaining() + SLACK)?;
    let preparing = call(terms.clone());
    let (prepared, answer) =
        prepared_and_said(runtime.block_on(async { prepare_in_process(entry, arguments, &preparing).await }));
    tell_panic()?;
    send(channel, &FromWorker::Prepared(answer), &[])?;
    let Some(prepared) = prepared else { return Ok(None) };
    let Frame { message: ToWorker::RunFor { remaining }, .. } = reader.wait(channel, 0)? else {
        return Err(FrameFault::Malformed);
    };
    let worker = armed(worker, remaining + SLACK)?;
    let running = call(terms.lasting(remaining));
    let (end, tail) = Ending::of(runtime.block_on(async { run_in_process(prepared, running).await }));
    tell_panic()?;
    send(channel, &FromWorker::End(end), &tail)?;
    Ok(Some(worker))
}

/// Sends a whole frame on a channel that blocks.
fn send(mut channel: &UnixStream, message: &FromWorker, tail: &[u8]) -> Result<(), FrameFault> {
    Ok(channel.write_all(&frame::encoded(message, tail, false)?)?)
}

fn prepared_and_said(
    prepared: Result<Prepared, PrepareFault>,
) -> (Option<Prepared>, Result<Option<Preview>, Unprepared>) {
    match prepared {
        Ok(prepared) => {
            let preview = prepared.preview().cloned();
            (Some(prepared), Ok(preview))
        }
        Err(fault) => (None, Err(Unprepared::from(fault))),
    }
}

/// Serves what a worker does once.
async fn only_call(
    worker: Worker,
    channel: Channel,
    reader: Reader,
    message: ToWorker,
    tail: &[u8],
) -> Result<(), FrameFault> {
    let forward = Forward::new(channel);
    match message {
        ToWorker::Prepare { name, version, terms, .. } => {
            let entry = registry::linked(&name, version).ok_or(FrameFault::Malformed)?;
            forwarded(worker, &forward, reader, entry, tail, terms).await
        }
        ToWorker::Attest(outside) => {
            locked(worker, TRYING)?;
            forward.send(&FromWorker::Attested(attempts::attest(&outside)), &[]).await
        }
        ToWorker::AttestEnding { outside, attempt } => {
            locked(worker, TRYING)?;
            let found = attempts::attempts().find(|one| one.name == attempt).ok_or(FrameFault::Malformed)?;
            let finding = attempts::Finding { attempt, tried: found.run(&outside) };
            forward.send(&FromWorker::Attested(vec![finding]), &[]).await
        }
        ToWorker::Run { .. } | ToWorker::RunFor { .. } | ToWorker::Reply { .. } => Err(FrameFault::Malformed),
    }
}

fn armed(mut worker: Worker, after: Duration) -> Result<Worker, FrameFault> {
    worker.arm(after).map_err(|_| FrameFault::Closed)?;
    Ok(worker)
}

fn locked(worker: Worker, after: Duration) -> Result<(), FrameFault> {
    armed(worker, after)?.lock().map(drop).map_err(|_| FrameFault::Closed)
}

async fn forwarded(
    worker: Worker,
    forward: &Forward,
    reader: Reader,
    entry: &'static Capability,
    arguments: &[u8],
    terms: CallTerms,
) -> Result<(), FrameFault> {
    // The kernel's own deadline, behind the host's two. It is set once and locked before any code of the author runs, so that
    // nothing in this process can move it any more. What may serve another call is armed anew for each instead.
    locked(worker, PREPARE_TIMEOUT + BETWEEN + entry.bounds().timeout() + SLACK)?;
    let confirmed = forward.listen(reader);
    let call = |terms: CallTerms| -> Call { terms.call(entry, Arc::new(forward.clone())) };
    let (prepared, answer) = prepared_and_said(prepare_in_process(entry, arguments, &call(terms)).await);
    if let Some(place) = panicked() {
        forward.send(&place, &[]).await?;
    }
    forward.send(&FromWorker::Prepared(answer), &[]).await?;
    let Some(prepared) = prepared else { return Ok(()) };
    let terms = confirmed.await.map_err(|_| FrameFault::Closed)?;
    let (end, tail) = Ending::of(run_in_process(prepared, call(terms)).await);
    if let Some(place) = panicked() {
        forward.send(&place, &[]).await?;
    }
    forward.send(&FromWorker::End(end), &tail).await?;
    // Nothing is put in order that goes with this process: its end is under way when the host asks for it.
    exit(0)
}
