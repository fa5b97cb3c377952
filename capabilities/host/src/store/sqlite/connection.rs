//! The thread that owns the connection.

use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use capability_core::BoxFuture;
use capability_core::store::StoreFault;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// A connection on a thread of its own. Dropping it finishes what was asked and closes the database.
#[derive(Debug)]
pub(super) struct ConnectionThread {
    jobs: Mutex<Option<mpsc::Sender<Job>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Whether a job erased content, so that the write-ahead log must not keep it either.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Erased {
    Nothing,
    Content,
}

impl ConnectionThread {
    pub(super) fn start(mut connection: Connection) -> io::Result<Self> {
        let (sender, jobs) = mpsc::channel::<Job>();
        let work = move || {
            for job in jobs {
                job(&mut connection);
            }
        };
        let thread = thread::Builder::new().name("capability-state".to_owned()).spawn(work)?;
        Ok(Self { jobs: Mutex::new(Some(sender)), thread: Mutex::new(Some(thread)) })
    }

    /// Runs `job` in one immediate transaction, in the order of the calls. It runs whether or not anybody waits for it.
    pub(super) fn transact<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<(T, Erased), Unreadable> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreFault>> {
        let (answer, answered) = oneshot::channel();
        let sent = self.submit(job, move |done| drop(answer.send(done)));
        Box::pin(async move { if sent { answered.await.unwrap_or(Err(StoreFault)) } else { Err(StoreFault) } })
    }

    /// The same, with the caller's thread waiting: for what happens once, before anything runs.
    pub(super) fn transact_here<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<(T, Erased), Unreadable> + Send + 'static,
    ) -> Result<T, StoreFault> {
        let (answer, answered) = mpsc::sync_channel(1);
        let sent = self.submit(job, move |done| drop(answer.send(done)));
        if sent { answered.recv().unwrap_or(Err(StoreFault)) } else { Err(StoreFault) }
    }

    /// Whether the thread takes the job.
    fn submit<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<(T, Erased), Unreadable> + Send + 'static,
        answer: impl FnOnce(Result<T, StoreFault>) + Send + 'static,
    ) -> bool {
        let job: Job = Box::new(move |connection| {
            let run = AssertUnwindSafe(|| -> Result<(T, Erased), Unreadable> {
                let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let done = job(&transaction)?;
                transaction.commit()?;
                Ok(done)
            });
            // A panic of ours must not take the thread, and with it every store, along; the transaction rolls back.
            let done = std::panic::catch_unwind(run).unwrap_or(Err(Unreadable::Content));
            let erased = matches!(done, Ok((_, Erased::Content)));
            if let Err(fault) = &done {
                tracing::error!(%fault, "a store of the host did not answer");
            }
            answer(done.map(|(value, _)| value).map_err(|_| StoreFault));
            if erased {
                // After the answer: nobody waits for this. When it fails, the next erasure or the next start tries again.
                let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
            }
        });
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }
}

impl Drop for ConnectionThread {
    fn drop(&mut self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}

/// Why a statement gave nothing. Its text holds no stored value.
#[derive(Debug)]
pub(super) enum Unreadable {
    /// SQLite said no.
    Sqlite(rusqlite::Error),
    /// What is stored is not what was written.
    Content,
}

impl From<rusqlite::Error> for Unreadable {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl core::fmt::Display for Unreadable {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            // The code alone: a message could quote a value.
            Self::Sqlite(error) => match error.sqlite_error_code() {
                Some(code) => write!(f, "sqlite {code:?}"),
                None => f.write_str("sqlite"),
            },
            Self::Content => f.write_str("stored content is damaged"),
        }
    }
}
