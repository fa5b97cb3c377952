//! Workers that wait for a call.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capability_core::contract::{Capability, Network, SideEffect};
use capability_core::session::Subject;

use super::process::{Worker, WorkerFault, Zygote};
use super::sandbox::{Profile, Strictness};

/// How many workers of a profile wait, sealed and warm.
const WARM: usize = 2;
/// How long after a worker was taken another one is forked in its place: the call that took it has the processors first.
const REFILL_AFTER: Duration = Duration::from_millis(2);
/// How many calls a worker serves that may serve more than one.
const USES: u32 = 256;
/// How many such workers a capability keeps.
const KEPT: usize = 2;

/// One profile's zygote and the workers that wait.
pub struct Pool {
    profile: Profile,
    strictness: Strictness,
    /// The one that workers are forked from now.
    zygote: tokio::sync::Mutex<Option<Arc<Zygote>>>,
    warm: Mutex<VecDeque<Worker>>,
    /// By the entry and with the subject that they served: nothing of one is left over for another.
    kept: Mutex<HashMap<usize, Vec<Kept>>>,
}

struct Kept {
    worker: Worker,
    subject: Subject,
    uses: u32,
}

/// A worker for one call, and how many it has served before.
pub struct Taken {
    pub worker: Worker,
    /// Whether it was there before the call was.
    pub waited: bool,
    uses: u32,
}

impl From<Worker> for Taken {
    fn from(worker: Worker) -> Self {
        Self { worker, waited: false, uses: 0 }
    }
}

/// Whether a worker may serve this entry again: only what reads this device, and holds nothing to read it by.
pub fn may_be_kept(entry: &Capability) -> bool {
    let class = entry.class();
    class.side_effect == SideEffect::ReadOnly && class.network == Network::Local && entry.handles().is_empty()
}

fn key(entry: &'static Capability) -> usize {
    core::ptr::from_ref(entry).addr()
}

impl Pool {
    pub fn new(profile: Profile, strictness: Strictness) -> Self {
        Self {
            profile,
            strictness,
            zygote: tokio::sync::Mutex::default(),
            warm: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    pub const fn profile(&self) -> Profile {
        self.profile
    }

    /// A worker that has served no call.
    pub async fn fresh(&self) -> Result<Worker, WorkerFault> {
        let zygote = self.zygote().await?;
        match zygote.fork().await {
            // It was killed, by hand or for want of memory, or did not answer. One more is started, once. While it is there
            // it stays, whatever this process lacks: what runs was forked from it and would go with it.
            Err(_) if zygote.is_lost().await => {
                let mut current = self.zygote.lock().await;
                if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &zygote)) {
                    *current = None;
                }
                drop((current, zygote));
                self.zygote().await?.fork().await
            }
            forked => forked,
        }
    }

    async fn zygote(&self) -> Result<Arc<Zygote>, WorkerFault> {
        let mut current = self.zygote.lock().await;
        match current.as_ref() {
            Some(zygote) => Ok(Arc::clone(zygote)),
            None => Ok(Arc::clone(current.insert(Arc::new(Zygote::start(self.profile, self.strictness).await?)))),
        }
    }

    /// A worker for a call of this entry by this subject, the warmest there is.
    pub async fn take(self: &Arc<Self>, entry: &'static Capability, subject: &Subject) -> Result<Taken, WorkerFault> {
        if may_be_kept(entry)
            && let Some(Kept { worker, uses, .. }) = self.kept_for(entry, subject)
            && worker.is_alive()
        {
            return Ok(Taken { worker, waited: true, uses });
        }
        let warm = {
            let mut warm = lock(&self.warm);
            core::iter::from_fn(|| warm.pop_front()).find(Worker::is_alive)
        };
        self.refill();
        match warm {
            Some(worker) => Ok(Taken { worker, waited: true, uses: 0 }),
            None => Ok(self.fresh().await?.into()),
        }
    }

    fn kept_for(&self, entry: &'static Capability, subject: &Subject) -> Option<Kept> {
        let mut kept = lock(&self.kept);
        let kept = kept.get_mut(&key(entry))?;
        let at = kept.iter().rposition(|kept| kept.subject == *subject)?;
        Some(kept.remove(at))
    }

    /// Puts another worker in the place of one that was taken, beside the call.
    fn refill(self: &Arc<Self>) {
        let this = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(REFILL_AFTER).await;
            if lock(&this.warm).len() >= WARM {
                return;
            }
            match this.fresh().await {
                Ok(worker) => {
                    let mut warm = lock(&this.warm);
                    // Several are forked when several are taken at once.
                    if warm.len() < WARM {
                        warm.push_back(worker);
                    }
                }
                // Whoever needs one next asks again, and is told.
                Err(fault) => tracing::warn!(%fault, "no worker waits"),
            }
        });
    }

    /// Keeps a worker whose call ended as it should, if it may serve another of the same subject.
    pub fn give_back(&self, entry: &'static Capability, subject: &Subject, taken: Taken) {
        let Taken { worker, uses, .. } = taken;
        if uses + 1 >= USES || !worker.is_quiet() {
            return;
        }
        let mut kept = lock(&self.kept);
        let kept = kept.entry(key(entry)).or_default();
        if kept.len() >= KEPT {
            // The one that was of use the longest ago; it ends with this.
            kept.remove(0);
        }
        kept.push(Kept { worker, subject: subject.clone(), uses: uses + 1 });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
