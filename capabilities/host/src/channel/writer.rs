//! One writer for what arrives: whatever came while it wrote is written together, in one transaction.

use capability_core::store::StoreFault;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::store::sqlite::{Arrived, SqliteInbox};

/// The most events of one transaction, and the most that wait.
const TOGETHER: usize = 256;

type Waiting = (Arrived, oneshot::Sender<Result<(), StoreFault>>);

/// Writes what arrives. It ends, with everything written, when it is dropped.
#[derive(Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Waiting>,
    _task: JoinHandle<()>,
}

impl Writer {
    pub(super) fn start(inbox: SqliteInbox) -> Self {
        let (queue, mut waiting) = mpsc::channel::<Waiting>(TOGETHER);
        let task = tokio::spawn(async move {
            let mut next = Vec::new();
            while waiting.recv_many(&mut next, TOGETHER).await > 0 {
                let (arrived, told): (Vec<_>, Vec<_>) = next.drain(..).unzip();
                let stored = inbox.store(arrived).await;
                // Whoever does not wait any more learns nothing; what is written stays.
                for told in told {
                    let _ = told.send(stored);
                }
            }
        });
        Self { queue, _task: task }
    }

    /// Writes it.
    pub(super) async fn write(&self, arrived: Arrived) -> Result<(), StoreFault> {
        let (told, answer) = oneshot::channel();
        self.queue.send((arrived, told)).await.map_err(|_| StoreFault)?;
        answer.await.unwrap_or(Err(StoreFault))
    }
}
