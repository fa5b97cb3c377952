//! Bodies on threads of their own, in the host's process.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use capability_core::contract::Capability;
use capability_core::executor::{
    BodyEnd, Guarantees, PREPARE_TIMEOUT, PrepareFault, Prepared, Runner, prepare_in_process, run_in_process,
};
use capability_core::{Call, Soon};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{timeout, timeout_at};

/// The most bodies that run at a time, unless the configuration says otherwise.
pub const MAX_THREADS: u32 = 64;

/// How long a call waits for a slot. A body's answer is there a moment before its thread is gone; a call that follows it
/// must not be refused for that.
const SLOT_WAIT: Duration = Duration::from_millis(50);

/// The most helper threads that one body's `spawn_blocking` may have.
const BLOCKING_THREADS: usize = 4;

/// Runs every body on an operating system thread of its own, with a runtime of its own: a body that blocks stalls nobody
/// but itself. The runtime drives connections too, since a handle may lend one.
///
/// The deadline holds for the *caller*, who is told `TimedOut` when it passes. The body itself ends at its next await; one
/// that never awaits goes on behind, and its slot stays taken until it ends. So this runner promises
/// [`Guarantees::NONE`], and a host whose slots are all taken refuses with `runner_saturated` instead of starting more.
#[derive(Debug)]
pub struct ThreadRunner {
    slots: Arc<Semaphore>,
    most: usize,
}

impl ThreadRunner {
    /// A runner for at most this many bodies at a time.
    #[must_use]
    pub fn new(most: u32) -> Self {
        let most = usize::try_from(most).unwrap_or(Semaphore::MAX_PERMITS).min(Semaphore::MAX_PERMITS);
        Self { slots: Arc::new(Semaphore::new(most)), most }
    }

    /// How many slots are taken now, bodies that went on past their deadline included.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.most.saturating_sub(self.slots.available_permits())
    }

    async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        timeout(SLOT_WAIT, Arc::clone(&self.slots).acquire_owned()).await.ok()?.ok()
    }

    /// Starts `work` on a thread of its own; `None` when there is no room for one.
    async fn start<T, W>(&self, work: impl FnOnce() -> W + Send + 'static) -> Option<oneshot::Receiver<T>>
    where
        T: Send + 'static,
        W: Future<Output = T>,
    {
        let slot = self.slot().await?;
        let (mut answer, answered) = oneshot::channel();
        let body = move || {
            // INVARIANT: the slot is given back last, after everything the body left behind is gone.
            let _slot = slot;
            let run = AssertUnwindSafe(move || {
                let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
                    .enable_time()
                    .enable_io()
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
        Soon::Later(Box::pin(async move {
            let work = move || async move { prepare_in_process(entry, &arguments, &call).await };
            match self.start(work).await {
                None => Err(PrepareFault::Saturated),
                Some(answered) => match timeout(PREPARE_TIMEOUT, answered).await {
                    Err(_) => Err(PrepareFault::TimedOut),
                    Ok(Err(_)) => Err(PrepareFault::Panicked),
                    Ok(Ok(prepared)) => prepared,
                },
            }
        }))
    }

    fn run(&self, prepared: Prepared, call: Call) -> Soon<'_, BodyEnd> {
        let deadline = call.deadline();
        Soon::Later(Box::pin(async move {
            match self.start(move || async move { run_in_process(prepared, call).await }).await {
                None => BodyEnd::Saturated,
                Some(answered) => match timeout_at(deadline, answered).await {
                    Err(_) => BodyEnd::TimedOut,
                    Ok(Err(_)) => BodyEnd::Panicked,
                    Ok(Ok(end)) => end,
                },
            }
        }))
    }
}

#[cfg(test)]
mod tests;
