//! The broker as a worker has it: it asks the host.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capability_core::contract::Class;
use capability_core::handle::{Broker, BrokerFault, BrokerReply, BrokerRequest, HandleKind, Lease};
use capability_core::{BoxFuture, CallTerms};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::MOST_ASKED;
use super::channel::{Channel, Reader};
use super::frame::{self, Frame, FrameFault, FromWorker, ToWorker};
use super::zygote::exit;

type Answer = oneshot::Sender<Result<BrokerReply, BrokerFault>>;

/// Sends what handles ask to the host, and gives each the answer that is its own.
#[derive(Clone)]
pub struct Forward(Arc<Shared>);

struct Shared {
    channel: Channel,
    /// One frame at a time goes out whole.
    writing: tokio::sync::Mutex<()>,
    waiting: Mutex<HashMap<u32, Waiting>>,
    next: AtomicU32,
    /// As many questions as the host serves at a time: whoever asks more waits here, and is not taken for a flood there.
    room: Arc<Semaphore>,
    /// The worker's own: a handle may be used from a thread that has none.
    runtime: Handle,
}

/// Whoever waits for an answer, and the place it takes: kept until the answer is there, whoever has gone away meanwhile.
struct Waiting {
    answer: Answer,
    _place: OwnedSemaphorePermit,
}

impl Forward {
    /// Inside the worker's runtime.
    pub fn new(channel: Channel) -> Self {
        let (writing, waiting, next) = Default::default();
        let (room, runtime) = (Arc::new(Semaphore::new(MOST_ASKED)), Handle::current());
        Self(Arc::new(Shared { channel, writing, waiting, next, room, runtime }))
    }

    pub async fn send(&self, message: &FromWorker, tail: &[u8]) -> Result<(), FrameFault> {
        let bytes = frame::encoded(message, tail, false)?;
        let _writing = self.0.writing.lock().await;
        self.0.channel.send(&bytes, None).await
    }

    /// Takes in answers from now on; gives the terms under which the prepared body is to run, once they come.
    pub fn listen(&self, mut reader: Reader) -> oneshot::Receiver<CallTerms> {
        let (told, confirmed) = oneshot::channel();
        let (shared, mut told) = (Arc::clone(&self.0), Some(told));
        tokio::spawn(async move {
            loop {
                match reader.next(&shared.channel, 0).await {
                    Ok(Frame { message: ToWorker::Run { terms }, .. }) => {
                        if let Some(told) = told.take() {
                            let _ = told.send(terms);
                        }
                    }
                    Ok(Frame { message: ToWorker::Reply { id, reply }, descriptor, .. }) => {
                        if let Some(waiting) = shared.waiting().remove(&id) {
                            let beside = || descriptor.map(BrokerReply::Descriptor).ok_or(BrokerFault::WrongReply);
                            let _ = waiting.answer.send(reply.and_then(|plain| plain.map_or_else(beside, Ok)));
                        }
                    }
                    // The host is gone, or is not our host: whatever runs here has nobody to run for.
                    Ok(_) | Err(_) => exit(1),
                }
            }
        });
        confirmed
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<u32, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Broker for Forward {
    fn serves(&self, _: HandleKind, _: Class) -> bool {
        // The host was asked at policy, before anything was sent here.
        true
    }

    fn serve(&self, _: &Lease, request: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        let this = self.clone();
        Box::pin(async move {
            let place = Arc::clone(&this.0.room).acquire_owned().await.map_err(|_| BrokerFault::Unavailable)?;
            let id = this.0.next.fetch_add(1, Ordering::Relaxed);
            let (answer, answered) = oneshot::channel();
            this.0.waiting().insert(id, Waiting { answer, _place: place });
            // In a task of its own: a body that gives up in the middle would leave half a frame before the next one.
            let runtime = this.0.runtime.clone();
            let sending = runtime.spawn(async move { this.send(&FromWorker::Ask { id, request }, &[]).await });
            if !matches!(sending.await, Ok(Ok(()))) {
                return Err(BrokerFault::Unavailable);
            }
            answered.await.unwrap_or(Err(BrokerFault::Unavailable))
        })
    }
}

/// The broker of a body that holds no handle: nothing can be asked for.
pub struct Nobody;

impl Broker for Nobody {
    fn serves(&self, _: HandleKind, _: Class) -> bool {
        false
    }

    fn serve(&self, _: &Lease, _: BrokerRequest) -> BoxFuture<'static, Result<BrokerReply, BrokerFault>> {
        Box::pin(core::future::ready(Err(BrokerFault::Unserved)))
    }
}
