//! Bodies in sandboxed processes of their own.
//!
//! A call is prepared and run in a worker: a fork of a zygote of this same binary, sealed by the kernel before any code of an
//! author runs in it, killed when the call ends. Its handles ask this process, which is the only one that can reach anything.
//! The host ends it at the deadline by a process descriptor, from a timer of the runtime and from a thread that does nothing
//! else; the kernel's own timer inside the worker is behind both.

mod attest;
mod channel;
pub(crate) mod command;
pub mod entry;
mod forward;
mod frame;
pub mod keeping;
mod place;
mod pool;
mod process;
pub mod sandbox;
mod watchdog;
mod work;
mod zygote;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use capability_core::contract::Capability;
use capability_core::executor::{
    BodyEnd, Deadline, Guarantees, Isolation, PREPARE_TIMEOUT, PrepareFault, Prepared, Runner,
};
use capability_core::handle::{BrokerReply, HandleFamily};
use capability_core::{Call, Failure, Preview, Soon, registry};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};

use super::Finding;
use crate::panic_hook;
pub use attest::Standing;
use frame::{Ending, Frame, FrameFault, FromWorker, ToWorker};
use pool::{Pool, Taken};
use process::Worker;
pub use process::WorkerFault;
use sandbox::{Notice, Profile, Strictness};
use watchdog::Watchdog;

/// How long a call waits for a slot before it is refused.
const SLOT_WAIT: Duration = Duration::from_millis(50);
/// How long after a deadline the watchdog kills what the runtime's own timer should have.
const SLACK: Duration = Duration::from_millis(5);
/// The most requests of one body that are served at a time.
const MOST_ASKED: usize = 8;

/// What tells this build's capabilities from another's. A zygote has made it before it forks.
static FINGERPRINT: LazyLock<[u8; 32]> = LazyLock::new(registry::linked_fingerprint);

/// Runs every body in a sandboxed process of its own.
pub struct WorkerRunner {
    slots: Arc<Semaphore>,
    sealed: Arc<Pool>,
    connected: Arc<Pool>,
    watchdog: OnceCell<Watchdog>,
    standing: OnceCell<Result<Standing, WorkerFault>>,
    accept_degraded: bool,
}

/// A worker that waits for its call to be confirmed.
struct Waiting {
    taken: Taken,
    entry: &'static Capability,
    _slot: OwnedSemaphorePermit,
}

impl WorkerRunner {
    /// A runner for at most this many calls at a time. It starts nothing yet.
    #[must_use]
    pub fn new(most: u32, accept_degraded: bool) -> Self {
        let strictness = if accept_degraded { Strictness::Degraded } else { Strictness::Promised };
        let most = usize::try_from(most).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Self {
            slots: Arc::new(Semaphore::new(most)),
            sealed: Arc::new(Pool::new(Profile::Sealed, strictness)),
            connected: Arc::new(Pool::new(Profile::Connected, strictness)),
            watchdog: OnceCell::new(),
            standing: OnceCell::new(),
            accept_degraded,
        }
    }

    /// Puts up a sandbox of each profile and tries to get out of it, once; everything waits for it before anything runs.
    ///
    /// # Errors
    /// [`WorkerFault`] when there is no sandbox, or when one does not hold what is promised and nobody accepted that.
    pub async fn attest(&self) -> Result<&Standing, WorkerFault> {
        let standing = self.standing.get_or_try_init(|| async {
            match attest::attack([&self.sealed, &self.connected]).await {
                // For want of a process or a descriptor: that may pass, and says nothing of the sandbox.
                Err(fault @ (WorkerFault::Start(_) | WorkerFault::Gone)) => Err(fault),
                attacked => Ok(attacked.and_then(|standing| self.judged(standing))),
            }
        });
        standing.await?.as_ref().map_err(Clone::clone)
    }

    /// What stands, if everything that is promised holds or somebody accepted that it does not.
    fn judged(&self, standing: Standing) -> Result<Standing, WorkerFault> {
        let open: Vec<_> = standing.findings().into_iter().filter(Finding::is_open).collect();
        if open.is_empty() || self.accept_degraded {
            return Ok(standing);
        }
        let open: Vec<_> = open.iter().map(|finding| finding.found.as_str()).collect();
        Err(WorkerFault::Sandbox(format!("the sandbox of this machine does not hold: {}", open.join("; "))))
    }

    /// What was found, if the sandbox has been put up.
    #[must_use]
    pub fn standing(&self) -> Option<&Standing> {
        self.standing.get().and_then(|standing| standing.as_ref().ok())
    }

    /// Forks a worker, waits until it is ready and lets it go again: how long that took, for measuring what a refill of the
    /// pool costs.
    ///
    /// # Errors
    /// [`WorkerFault`] when there is no sandbox.
    #[doc(hidden)]
    pub async fn fork_for_measurement(&self) -> Result<Duration, WorkerFault> {
        self.attest().await?;
        let begun = Instant::now();
        let worker = self.sealed.fresh().await?;
        let took = begun.elapsed();
        worker.end().await;
        Ok(took)
    }

    fn pool(&self, entry: &Capability) -> &Arc<Pool> {
        match entry.handles().iter().any(|kind| kind.family() == HandleFamily::Http) {
            true => &self.connected,
            false => &self.sealed,
        }
    }

    async fn watchdog(&self) -> Result<&Watchdog, WorkerFault> {
        Ok(self.watchdog.get_or_try_init(|| async { Watchdog::start() }).await?)
    }

    async fn prepared(
        &self,
        entry: &'static Capability,
        arguments: &[u8],
        call: &Call,
    ) -> Result<Prepared, PrepareFault> {
        let unavailable = |fault: &WorkerFault| {
            tracing::error!(%fault, "nothing can be isolated, so nothing runs");
            PrepareFault::Unisolated
        };
        self.attest().await.map_err(|fault| unavailable(&fault))?;
        let watchdog = self.watchdog().await.map_err(|fault| unavailable(&fault))?;
        let Ok(Ok(slot)) = timeout(SLOT_WAIT, Arc::clone(&self.slots).acquire_owned()).await else {
            return Err(PrepareFault::Saturated);
        };
        let message = ToWorker::Prepare {
            name: entry.name().as_str().to_owned(),
            version: entry.version().get(),
            terms: call.terms().lasting(PREPARE_TIMEOUT),
            reused: pool::may_be_kept(entry),
        };
        let pool = self.pool(entry);
        let mut taken =
            pool.take(entry, &call.lease().identity().subject).await.map_err(|fault| unavailable(&fault))?;
        let mut deadline = Instant::now() + PREPARE_TIMEOUT;
        let mut answer = asked(watchdog, &mut taken, &message, arguments, call, deadline).await;
        if matches!(answer, Ok(Err(FrameFault::Closed))) && taken.waited && Instant::now() < deadline {
            // It may have been about to die when it was taken, with its zygote. Preparing leaves no trace, so it is done
            // again, once, by a worker that was alive a moment ago.
            taken.worker.end().await;
            taken = pool.fresh().await.map_err(|fault| unavailable(&fault))?.into();
            deadline = Instant::now() + PREPARE_TIMEOUT;
            answer = asked(watchdog, &mut taken, &message, arguments, call, deadline).await;
        }
        let fault = match answer {
            // Made elsewhere, it is held to its bounds here: a worker can say what no preview function could.
            Ok(Ok(Frame { message: FromWorker::Prepared(Ok(preview)), .. }))
                if preview.as_ref().is_none_or(Preview::is_within_bounds) =>
            {
                let waiting = Waiting { taken, entry, _slot: slot };
                return Ok(Prepared::elsewhere(Box::new(waiting), preview));
            }
            Ok(Ok(Frame { message: FromWorker::Prepared(Err(fault)), .. })) => fault.into(),
            Ok(_) if Instant::now() < deadline => PrepareFault::Panicked,
            Ok(_) | Err(_) => PrepareFault::TimedOut,
        };
        taken.worker.end().await;
        Err(fault)
    }

    async fn ended(&self, waiting: Waiting, call: &Call) -> BodyEnd {
        let Waiting { mut taken, entry, _slot } = waiting;
        let deadline = call.deadline();
        let Ok(watchdog) = self.watchdog().await else { return BodyEnd::Saturated };
        let _guard = watchdog.watch(taken.worker.process(), (deadline + SLACK).into_std());
        let answer = timeout_at(deadline, async {
            let message = match pool::may_be_kept(entry) {
                true => ToWorker::RunFor { remaining: deadline.saturating_duration_since(Instant::now()) },
                false => ToWorker::Run { terms: call.terms() },
            };
            taken.worker.send(&message, &[], None).await?;
            attended(&mut taken.worker, call, call.max_result()).await
        });
        let end = match answer.await {
            Ok(Ok(Frame { message: FromWorker::End(end), tail, .. })) => match end {
                Ending::Result => BodyEnd::Result(tail),
                Ending::TimedOut => BodyEnd::TimedOut,
                end => {
                    taken.worker.notice().map_or_else(|| end.into_end(Vec::new()), |notice| reached_out(entry, notice))
                }
            },
            Ok(Err(FrameFault::TailTooLong)) => BodyEnd::TooLarge,
            // Killed by a timer of the kernel or of the watchdog, or gone by itself: aborted, out of stack or memory.
            Ok(_) if Instant::now() < deadline => BodyEnd::Panicked,
            Ok(_) | Err(_) => BodyEnd::TimedOut,
        };
        match end {
            BodyEnd::Result(_) if pool::may_be_kept(entry) => {
                self.pool(entry).give_back(entry, &call.lease().identity().subject, taken);
            }
            // It is killed here and now, and nothing is said of its end: taking it apart is the kernel's, while the record is
            // written.
            BodyEnd::Result(_) => drop(taken),
            // Whatever is said of it from here on is said of a process that is gone.
            _ => taken.worker.end().await,
        }
        end
    }
}

/// Has arguments prepared, until a deadline.
async fn asked(
    watchdog: &Watchdog,
    taken: &mut Taken,
    message: &ToWorker,
    arguments: &[u8],
    call: &Call,
    deadline: Instant,
) -> Result<Result<Frame<FromWorker>, FrameFault>, Elapsed> {
    let _guard = watchdog.watch(taken.worker.process(), (deadline + SLACK).into_std());
    timeout_at(deadline, async {
        taken.worker.send(message, arguments, None).await?;
        attended(&mut taken.worker, call, 0).await
    })
    .await
}

/// The next message of a body that is not a question, with all its questions answered meanwhile.
async fn attended(worker: &mut Worker, call: &Call, max_tail: u64) -> Result<Frame<FromWorker>, FrameFault> {
    let (mut asked, mut panicked) = (JoinSet::new(), false);
    loop {
        tokio::select! {
            Some(answered) = asked.join_next() => {
                let Ok((id, reply)) = answered else { return Err(FrameFault::Malformed) };
                let (reply, descriptor) = match reply {
                    Ok(BrokerReply::Descriptor(descriptor)) => (Ok(None), Some(descriptor)),
                    Ok(plain) => (Ok(Some(plain)), None),
                    Err(fault) => (Err(fault), None),
                };
                match worker.send(&ToWorker::Reply { id, reply }, &[], descriptor.as_ref()).await {
                    // It may have ended without waiting for this: what it said last is still to be read.
                    Ok(()) | Err(FrameFault::Closed) => {}
                    Err(fault) => return Err(fault),
                }
            }
            frame = worker.next(max_tail) => match frame? {
                Frame { message: FromWorker::Ask { id, request }, .. } if asked.len() < MOST_ASKED => {
                    let answer = call.ask(request);
                    asked.spawn(async move { (id, answer.await) });
                }
                Frame { message: FromWorker::Ask { .. }, .. } => return Err(FrameFault::Malformed),
                // Told once, before the end: more of it is a body that writes to the host's own output.
                Frame { message: FromWorker::Panic(place), .. } if !panicked => {
                    panicked = true;
                    panic_hook::say(&place.line());
                }
                Frame { message: FromWorker::Panic(_), .. } => return Err(FrameFault::Malformed),
                frame => return Ok(frame),
            },
        }
    }
}

/// A body that failed after it tried to reach out by itself: what its author should know.
fn reached_out(entry: &Capability, notice: Notice) -> BodyEnd {
    BodyEnd::Failed(Failure::public(format!(
        "`{}` called `{}`, and a capability has no files or network of its own: it is {}, and reaches what its handles reach; \
         take `&Endpoint<..>`, `&Http` or `&Workspace<..>` instead",
        entry.name(),
        notice.call(),
        entry.class(),
    )))
}

impl Runner for WorkerRunner {
    fn guarantees(&self, _: &'static Capability) -> Guarantees {
        let degraded = self.standing().is_some_and(Standing::is_degraded);
        Guarantees { isolation: Isolation::Process, deadline: Deadline::Enforced, degraded }
    }

    fn prepare<'a>(
        &'a self,
        entry: &'static Capability,
        arguments: &'a [u8],
        call: &Call,
    ) -> Soon<'a, Result<Prepared, PrepareFault>> {
        let call = call.clone();
        Soon::Later(Box::pin(async move { self.prepared(entry, arguments, &call).await }))
    }

    fn run(&self, prepared: Prepared, call: Call) -> Soon<'_, BodyEnd> {
        Soon::Later(Box::pin(async move {
            match prepared.into_elsewhere().and_then(|waiting| waiting.downcast::<Waiting>().ok()) {
                Some(waiting) => self.ended(*waiting, &call).await,
                None => BodyEnd::Panicked,
            }
        }))
    }
}
