//! An output that is taken in while the command runs, so that it never waits for its reader.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capability_core::redact::{RedactingStream, Redactor};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::kept::Output;

/// How long the rest of an output is waited for once nobody is left who could write it.
const DRAIN: Duration = Duration::from_millis(100);

/// What was taken in of an output, without secrets: what is kept never held one, wherever it is cut. For whoever looks meanwhile.
#[derive(Clone)]
pub struct Taken(Arc<Mutex<Inner>>);

struct Inner {
    output: Output,
    /// None once the output has ended.
    stream: Option<RedactingStream>,
    told: Vec<u8>,
}

impl Taken {
    /// Nothing yet.
    pub fn into(output: Output, redactor: &Arc<Redactor>) -> Self {
        Self(Arc::new(Mutex::new(Inner { output, stream: Some(redactor.stream()), told: Vec::new() })))
    }

    /// As it is now.
    pub fn look<T>(&self, look: impl FnOnce(&Output) -> T) -> T {
        look(&self.inner().output)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn add(&mut self, bytes: &[u8]) {
        if let Some(stream) = &mut self.stream {
            stream.push(bytes, &mut self.told);
            self.output.add(&self.told);
            self.told.clear();
        }
    }

    fn end(&mut self, end: impl FnOnce(RedactingStream, &mut Vec<u8>)) {
        if let Some(stream) = self.stream.take() {
            end(stream, &mut self.told);
            self.output.add(&self.told);
            self.told.clear();
        }
    }
}

/// The task that takes it in.
pub struct Reading {
    taken: Taken,
    task: JoinHandle<()>,
}

impl Reading {
    pub fn of(pipe: OwnedFd, taken: &Taken) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let mut pipe = pipe::Receiver::from_owned_fd(pipe)?;
        let (taken, into) = (taken.clone(), taken.clone());
        let task = tokio::spawn(async move {
            let mut chunk = vec![0; 16 << 10];
            while let Ok(read) = pipe.read(&mut chunk).await {
                if read == 0 {
                    break;
                }
                into.inner().add(chunk.get(..read).unwrap_or_default());
            }
        });
        Ok(Self { taken, task })
    }

    /// Waits until all of it is taken in. Nobody is left who could write more; `whole` says that it ended where its writer ended it.
    pub async fn rest(mut self, whole: bool) {
        let whole = timeout(DRAIN, &mut self.task).await.is_ok() && whole;
        self.taken.inner().end(if whole { RedactingStream::finish } else { RedactingStream::cut });
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.task.abort();
    }
}
