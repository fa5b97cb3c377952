//! Whichever host there is: this process, when it can own the data directory, or the one that does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::data_dir::{DataDir, DataDirError};
use crate::error::HostError;
use crate::host::{Host, HostOptions};
use crate::protocol::{Fault, Reply, Request};
use crate::service::Service;
use crate::socket;

/// How long to wait for a host that owns the directory and does not answer yet, or no more.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);

/// A way to ask the host of a data directory.
pub struct Connection {
    path: PathBuf,
    side: Side,
}

enum Side {
    /// This process owns the directory, and serves other command lines meanwhile.
    Owner { service: Arc<Service>, stop: watch::Sender<bool>, served: JoinHandle<()> },
    /// Another process does.
    Client { socket: PathBuf },
}

impl Connection {
    /// Owns the directory, or reaches its owner.
    ///
    /// # Errors
    /// What keeps this process from owning it, when nobody else does.
    pub async fn open(path: &Path, packages: &[&str]) -> Result<Self, Fault> {
        let patience = Instant::now() + PATIENCE;
        loop {
            match Host::open(HostOptions { data_dir: path.to_owned(), packages }) {
                Ok(host) => return Self::own(path, host),
                Err(HostError::DataDir(DataDirError::Owned { .. })) => {}
                Err(error) => return Err(Fault::told(6, &error)),
            }
            let socket = DataDir::open(path).map_err(|error| Fault::told(6, &error))?.socket();
            if tokio::net::UnixStream::connect(&socket).await.is_ok() {
                return Ok(Self { path: path.to_owned(), side: Side::Client { socket } });
            }
            if Instant::now() >= patience {
                return Err(Fault::broken(
                    format!("another process owns `{}` and does not answer", path.display()),
                    "end that process, or name another directory with `--data-dir DIR`",
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn own(path: &Path, host: Host) -> Result<Self, Fault> {
        let socket = host.data_dir().socket();
        let listener = socket::listen(&socket).map_err(|error| {
            Fault::broken(
                format!("the socket `{}` cannot be made: {error}", socket.display()),
                "name a data directory with a shorter path with `--data-dir DIR`",
            )
        })?;
        let service = Arc::new(Service::new(host));
        let (stop, stopped) = watch::channel(false);
        let served = tokio::spawn(socket::serve(listener, Arc::clone(&service), stopped));
        Ok(Self { path: path.to_owned(), side: Side::Owner { service, stop, served } })
    }

    /// The data directory.
    pub fn place(&self) -> &Path {
        &self.path
    }

    /// Whether this process is the host.
    pub const fn is_owner(&self) -> bool {
        matches!(self.side, Side::Owner { .. })
    }

    /// Asks, wherever the host is.
    ///
    /// # Errors
    /// When the host went away before it answered.
    pub async fn ask(&self, request: &Request) -> Result<Reply, Fault> {
        match &self.side {
            Side::Owner { service, .. } => Ok(service.handle(request, None).await),
            Side::Client { socket } => socket::ask(socket, request).await.map_err(|_| {
                Fault::broken("the host went away before it answered", "look at the end with `capability audit tail`")
            }),
        }
    }

    /// Serves other command lines until this process is told to stop.
    ///
    /// # Errors
    /// When another process owns the directory.
    pub async fn serve_until_interrupted(&self) -> Result<u8, Fault> {
        match &self.side {
            Side::Owner { .. } => core::future::pending().await,
            Side::Client { .. } => Err(Fault::usage(
                format!("another process serves `{}` already", self.path.display()),
                "use it, or name another directory with `--data-dir DIR`",
            )),
        }
    }

    /// Waits for an interrupt or a polite end.
    pub async fn interrupted(&self) {
        let terminated = async {
            match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
                Ok(mut signal) => drop(signal.recv().await),
                Err(_) => core::future::pending().await,
            }
        };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = terminated => {}
        }
    }

    /// Lets no further command line in, finishes those that are, and gives the directory free.
    pub async fn close(self) {
        if let Side::Owner { service, stop, served } = self.side {
            let _ = stop.send(true);
            let _ = served.await;
            drop(service);
        }
    }
}
