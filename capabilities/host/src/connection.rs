//! Whichever host there is: this process, when it can own the data directory, or the one that does.

use core::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::channel;
use crate::data_dir::{DataDir, DataDirError};
use crate::error::HostError;
use crate::host::{Host, HostOptions};
use crate::mcp::server::HttpServer;
use crate::protocol::{Fault, Reply, Request};
use crate::service::Service;
use crate::socket::{self, Serve, Unanswered};
use crate::web::Server;

/// How long to wait for a host that owns the directory and does not answer yet, or no more.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a server waits for the directory: a command that owns it for its own duration is soon gone.
const BRIEFLY: Duration = Duration::from_secs(1);
/// How often whoever has something of its own in a host says that it is there: a quarter of how long that is kept without.
const STAY: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// A way to ask the host of a data directory.
pub struct Connection<'p> {
    path: PathBuf,
    packages: &'p [&'p str],
    accept_degraded: bool,
    /// Whether this process stays until it is told to end.
    stays: bool,
    /// What the host is told when this process is done, however it ends.
    leaving: OnceLock<Request>,
    /// Set when this process owns the directory; until then another one does.
    owner: OnceLock<Owner>,
}

/// This process as the host: it serves other command lines meanwhile.
struct Owner {
    service: Arc<Service>,
    socket: PathBuf,
    serve: watch::Sender<Serve>,
    served: JoinHandle<()>,
    /// The pages, when they are served.
    pages: OnceLock<Server>,
    /// MCP over HTTP, when it is served.
    programs: OnceLock<HttpServer>,
    /// The channels, when they are reached.
    channels: OnceLock<channel::Server>,
    /// The connection on lines, when there is one.
    lines: Mutex<Option<(CancellationToken, JoinHandle<()>)>>,
}

impl<'p> Connection<'p> {
    /// Owns the directory, or will ask its owner. A process that stays lets commands run on in it.
    ///
    /// # Errors
    /// What keeps this process from owning it, when nobody else does.
    pub fn open(path: &Path, packages: &'p [&'p str], accept_degraded: bool, stays: bool) -> Result<Self, Fault> {
        let (leaving, owner) = (OnceLock::new(), OnceLock::new());
        let connection = Self { path: path.to_owned(), packages, accept_degraded, stays, leaving, owner };
        connection.try_own()?;
        Ok(connection)
    }

    /// Becomes the owner, unless another process is.
    fn try_own(&self) -> Result<bool, Fault> {
        let host = match Host::open(HostOptions {
            data_dir: self.path.clone(),
            packages: self.packages,
            accept_degraded: self.accept_degraded,
        }) {
            Ok(host) => host,
            Err(HostError::DataDir(DataDirError::Owned { .. })) => return Ok(false),
            Err(error) => return Err(Fault::told(6, &error)),
        };
        if self.stays {
            host.stay();
        }
        let socket = host.data_dir().socket();
        let listener = socket::listen(&socket).map_err(|error| {
            Fault::broken(
                format!("the socket `{}` cannot be made: {error}", socket.display()),
                match error.kind() {
                    std::io::ErrorKind::InvalidInput => {
                        "name a data directory with a shorter path with `--data-dir DIR`"
                    }
                    _ => "look at the file system it lies on, and at this process's limits with `ulimit -a`",
                },
            )
        })?;
        let service = Service::shared(host);
        let (serve, told) = watch::channel(Serve::On);
        let served = tokio::spawn(socket::serve(listener, Arc::clone(&service), told));
        let _ = self.owner.set(Owner {
            service,
            socket,
            serve,
            served,
            pages: OnceLock::new(),
            programs: OnceLock::new(),
            channels: OnceLock::new(),
            lines: Mutex::default(),
        });
        Ok(true)
    }

    /// The data directory.
    pub fn place(&self) -> &Path {
        &self.path
    }

    /// Asks, wherever the host is. An owner that leaves before it was asked is followed, by the next owner or by this
    /// process itself; nothing is ever asked twice.
    ///
    /// # Errors
    /// When the host went away after it was asked, or does not answer.
    pub async fn ask(&self, request: &Request) -> Result<Reply, Fault> {
        let until = Instant::now() + PATIENCE;
        let mut socket = None;
        loop {
            if let Some(owner) = self.owner.get() {
                return Ok(owner.service.handle(request, None).await);
            }
            let socket = match &mut socket {
                Some(socket) => socket,
                none => none.insert(DataDir::open(&self.path).map_err(|error| Fault::told(6, &error))?.socket()),
            };
            match socket::ask(socket, request, until.saturating_duration_since(Instant::now())).await {
                Ok(reply) => return Ok(reply),
                Err(Unanswered::WentAway) => {
                    return Err(Fault::broken(
                        "the host went away before it answered",
                        "look at the end with `capability audit tail`",
                    ));
                }
                Err(Unanswered::NotLetIn) => {}
            }
            if self.try_own()? {
                continue;
            }
            if Instant::now() >= until {
                return Err(Fault::broken(
                    format!("another process owns `{}` and does not answer", self.path.display()),
                    "end that process, or name another directory with `--data-dir DIR`",
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Tells whoever owns the directory now; where nobody does, nobody has to know. Whether it was heard is not told.
    async fn tell(&self, request: &Request) {
        match self.owner.get() {
            Some(owner) => drop(owner.service.handle(request, None).await),
            None => told_elsewhere(&self.path, request).await,
        }
    }

    /// What whoever owns the directory then is told when this connection closes, an interrupt included. The first one stands.
    pub fn leaves_with(&self, request: Request) {
        let _ = self.leaving.set(request);
    }

    /// The host, where it is this process.
    pub fn service(&self) -> Option<&Arc<Service>> {
        self.owner.get().map(|owner| &owner.service)
    }

    /// Serves a connection on lines as the host, and waits for its end. Whoever stops waiting calls nothing off: closing does, with
    /// `calls`, and waits for what that leaves on record.
    pub async fn attend_lines(&self, calls: CancellationToken, spoken: impl Future<Output = ()> + Send + 'static) {
        let Some(owner) = self.owner.get() else { return };
        let mut lines = owner.lines.lock().await;
        let (_, served) = lines.insert((calls, tokio::spawn(spoken)));
        let _ = served.await;
        *lines = None;
    }

    /// Tells the owner now and then that whoever asks is still there, by this request, for as long as it is waited for.
    pub async fn stay(&self, request: &Request) -> Infallible {
        loop {
            tokio::time::sleep(STAY).await;
            self.tell(request).await;
        }
    }

    /// Makes sure that this process is the owner.
    ///
    /// # Errors
    /// When another process stays to be.
    pub async fn must_own(&self) -> Result<(), Fault> {
        let until = Instant::now() + BRIEFLY;
        while self.owner.get().is_none() && !self.try_own()? {
            if Instant::now() >= until {
                return Err(Fault::usage(
                    format!("another process serves `{}` already", self.path.display()),
                    "use it, or name another directory with `--data-dir DIR`",
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Makes sure that whatever this process will run can be isolated.
    ///
    /// # Errors
    /// When it cannot, and nobody accepted that.
    pub async fn prove_isolation(&self) -> Result<(), Fault> {
        let Some(owner) = self.owner.get() else { return Ok(()) };
        owner.service.prove_isolation().await
    }

    /// Starts the servers that the operator starts with the host, and comes back at once.
    pub fn start_providers(&self) {
        if let Some(owner) = self.owner.get() {
            owner.service.host().providers().start();
        }
    }

    /// Serves the approval centre's pages, and gives their address and a link that logs one browser in.
    ///
    /// # Errors
    /// When nobody may or can listen there, or this process is not the owner.
    pub async fn serve_pages(&self) -> Result<(String, String), Fault> {
        let not_ours = || Fault::broken("this process does not own the data directory", "start it again");
        let owner = self.owner.get().ok_or_else(not_ours)?;
        let server = Server::start(&owner.service).await?;
        let _ = owner.pages.set(server);
        let serving = owner.service.web().get().ok_or_else(not_ours)?;
        Ok((serving.address(), serving.link()))
    }

    /// Serves MCP over HTTP where the configuration says so, and gives its address.
    ///
    /// # Errors
    /// When nobody can listen there, or this process is not the owner.
    pub async fn serve_programs(&self) -> Result<Option<String>, Fault> {
        let not_ours = || Fault::broken("this process does not own the data directory", "start it again");
        let owner = self.owner.get().ok_or_else(not_ours)?;
        let Some(server) = HttpServer::start(&owner.service).await? else { return Ok(None) };
        let address = server.address();
        let _ = owner.programs.set(server);
        Ok(Some(address))
    }

    /// Serves them where this process is the owner and they are not served yet, and leaves it where it is not.
    ///
    /// # Errors
    /// When nobody may or can listen there.
    pub async fn serve_pages_where_owned(&self) -> Result<(), Fault> {
        match self.owner.get() {
            Some(owner) if owner.pages.get().is_none() => self.serve_pages().await.map(drop),
            Some(_) | None => Ok(()),
        }
    }

    /// Begins to listen for channels, where there are any, and gives their address.
    ///
    /// # Errors
    /// When one of them does not start, nobody can listen there, or this process is not the owner.
    pub async fn serve_channels(&self) -> Result<Option<String>, Fault> {
        let not_ours = || Fault::broken("this process does not own the data directory", "start it again");
        let owner = self.owner.get().ok_or_else(not_ours)?;
        if owner.service.host().config().channels().each.is_empty() {
            return Ok(None);
        }
        let server = channel::Server::start(&owner.service).await?;
        let address = format!("http://{}/channel/", server.address());
        let _ = owner.channels.set(server);
        Ok(Some(address))
    }

    /// Lets no further command line in, finishes those that are, and gives the directory free. An interrupt meanwhile
    /// calls off what others asked for.
    pub async fn close(self) {
        let leaving = self.leaving.into_inner();
        if let Some(Owner { service, socket, serve, mut served, pages, programs, channels, lines }) =
            self.owner.into_inner()
        {
            if let Some((calls, spoken)) = lines.into_inner() {
                calls.cancel();
                let _ = spoken.await;
            }
            // After the last of its calls, which ends with what is above.
            if let Some(leaving) = &leaving {
                service.handle(leaving, None).await;
            }
            if let Some(programs) = programs.into_inner() {
                programs.close().await;
            }
            if let Some(channels) = channels.into_inner() {
                channels.close().await;
            }
            if let Some(pages) = pages.into_inner() {
                pages.close().await;
            }
            let _ = serve.send(Serve::Out);
            tokio::select! {
                _ = &mut served => {}
                () = interrupted() => {
                    let _ = serve.send(Serve::NoMore);
                    let _ = served.await;
                }
            }
            service.close().await;
            // While the directory is still ours: the next owner's socket has the same name.
            let _ = std::fs::remove_file(socket);
            drop(service);
        } else if let Some(leaving) = &leaving {
            told_elsewhere(&self.path, leaving).await;
        }
    }
}

/// Tells another process that owns the directory, where there is one.
async fn told_elsewhere(path: &Path, request: &Request) {
    if let Ok(directory) = DataDir::open(path) {
        let _ = socket::ask(&directory.socket(), request, BRIEFLY).await;
    }
}

/// Waits for an interrupt, a polite end, or the end of the terminal.
pub async fn interrupted() {
    tokio::select! {
        () = told(SignalKind::interrupt()) => {}
        () = told(SignalKind::terminate()) => {}
        () = told(SignalKind::hangup()), if !outlives_its_terminal() => {}
    }
}

async fn told(kind: SignalKind) {
    match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => core::future::pending().await,
    }
}

/// Whether whoever started this process had it ignore hang-ups, as `nohup` does.
#[cfg(target_os = "linux")]
fn outlives_its_terminal() -> bool {
    let status = procfs::process::Process::myself().and_then(|own| own.status());
    status.is_ok_and(|status| status.sigign & 1 != 0)
}

/// Not told on this system: a process that ignores hang-ups goes on ignoring them.
#[cfg(not(target_os = "linux"))]
fn outlives_its_terminal() -> bool {
    true
}
