//! An output that is taken in while the command runs, so that it never waits for its reader.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::kept::Output;

/// How long the rest of an output is waited for once nobody is left who could write it.
const DRAIN: Duration = Duration::from_millis(100);

/// What has been taken in of an output, for whoever looks at it meanwhile.
#[derive(Debug, Clone)]
pub struct Taken(Arc<Mutex<Output>>);

impl Taken {
    /// Nothing yet.
    pub fn into(output: Output) -> Self {
        Self(Arc::new(Mutex::new(output)))
    }

    /// As it is now.
    pub fn now(&self) -> MutexGuard<'_, Output> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task that takes it in.
#[derive(Debug)]
pub struct Reading(JoinHandle<()>);

impl Reading {
    pub fn of(pipe: OwnedFd, taken: &Taken) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let mut pipe = pipe::Receiver::from_owned_fd(pipe)?;
        let taken = taken.clone();
        Ok(Self(tokio::spawn(async move {
            let mut chunk = vec![0; 16 << 10];
            while let Ok(read) = pipe.read(&mut chunk).await {
                if read == 0 {
                    break;
                }
                taken.now().add(chunk.get(..read).unwrap_or_default());
            }
        })))
    }

    /// Waits until all of it is taken in. Nobody is left who could write more.
    pub async fn rest(mut self) {
        let _ = timeout(DRAIN, &mut self.0).await;
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}
