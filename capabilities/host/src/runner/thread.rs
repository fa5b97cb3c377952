//! Bodies on threads of their own, in the host's process.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use capability_core::contract::Capability;
use capability_core::executor::{
    BodyEnd, Guarantees, PREPARE_TIMEOUT, PrepareFault, Prepared, Runner, prepare_in_process, run_in_process,
};
use capability_core::{BoxFuture, Call, Soon};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// The most bodies that run at a time, unless the configuration says otherwise.
pub const MAX_THREADS: u32 = 64;

/// The most helper threads that one body's `spawn_blocking` may have.
const BLOCKING_THREADS: usize = 4;

/// Runs every body on an operating system thread of its own, with a runtime of its own that has timers and no sockets: a
/// body that blocks stalls nobody but itself.
///
/// The deadline holds for the *caller*, who is told `TimedOut` when it passes. The body itself ends at its next await; one
/// that never awaits goes on behind, and its slot stays taken until it ends. So this runner promises
/// [`Guarantees::NONE`], and a host whose slots are all taken refuses with `runner_saturated` instead of starting more.
#[derive(Debug)]
pub struct ThreadRunner {
    taken: Arc<AtomicUsize>,
    most: usize,
}

impl ThreadRunner {
    /// A runner for at most this many bodies at a time.
    #[must_use]
    pub fn new(most: u32) -> Self {
        Self { taken: Arc::default(), most: usize::try_from(most).unwrap_or(usize::MAX) }
    }

    /// How many slots are taken now, bodies that went on past their deadline included.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Acquire)
    }

    fn slot(&self) -> Option<Slot> {
        let more = |taken: usize| (taken < self.most).then_some(taken + 1);
        self.taken.try_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        Some(Slot(Arc::clone(&self.taken)))
    }

    /// Starts `work` on a thread of its own; `None` when there is no room for one.
    fn start<T, W>(&self, work: impl FnOnce() -> W + Send + 'static) -> Option<oneshot::Receiver<T>>
    where
        T: Send + 'static,
        W: Future<Output = T>,
    {
        let slot = self.slot()?;
        let (mut answer, answered) = oneshot::channel();
        let body = move || {
            // INVARIANT: the slot is given back last, after everything the body left behind is gone.
            let _slot = slot;
            let run = AssertUnwindSafe(move || {
                let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
                    .enable_time()
                    .max_blocking_threads(BLOCKING_THREADS)
                    .build()
                else {
                    return;
                };
                let end = runtime.block_on(async {
                    tokio::select! {
                        biased;
                        // The caller went away: the body ends where it awaits.
                        () = answer.closed() => None,
                        end = work() => Some(end),
                    }
                });
                if let Some(end) = end {
                    let _ = answer.send(end);
                }
                // Dropping the runtime waits for what the body blocks on behind its back.
            });
            // Bodies' panics are caught where they arise; this keeps what they leave behind from ending the thread loudly.
            drop(std::panic::catch_unwind(run));
        };
        thread::Builder::new().name("capability-body".to_owned()).spawn(body).ok()?;
        Some(answered)
    }
}

impl Default for ThreadRunner {
    fn default() -> Self {
        Self::new(MAX_THREADS)
    }
}

/// One taken place.
struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Runner for ThreadRunner {
    fn guarantees(&self, _: &'static Capability) -> Guarantees {
        Guarantees::NONE
    }

    fn prepare<'a>(
        &'a self,
        entry: &'static Capability,
        arguments: &'a [u8],
        call: &Call,
    ) -> Soon<'a, Result<Prepared, PrepareFault>> {
        let (arguments, call) = (arguments.to_vec(), call.clone());
        let deadline = Instant::now() + PREPARE_TIMEOUT;
        let started = self.start(move || async move { prepare_in_process(entry, &arguments, &call).await });
        Soon::Later(Box::pin(async move {
            match started {
                None => Err(PrepareFault::Saturated),
                Some(answered) => match timeout_at(deadline, answered).await {
                    Err(_) => Err(PrepareFault::TimedOut),
                    Ok(Err(_)) => Err(PrepareFault::Panicked),
                    Ok(Ok(prepared)) => prepared,
                },
            }
        }))
    }

    fn run(&self, prepared: Prepared, call: Call) -> BoxFuture<'_, BodyEnd> {
        let deadline = call.deadline();
        let started = self.start(move || run_in_process(prepared, call));
        Box::pin(async move {
            match started {
                None => BodyEnd::Saturated,
                Some(answered) => match timeout_at(deadline, answered).await {
                    Err(_) => BodyEnd::TimedOut,
                    Ok(Err(_)) => BodyEnd::Panicked,
                    Ok(Ok(end)) => end,
                },
            }
        })
    }
}

#[cfg(test)]
mod tests;
