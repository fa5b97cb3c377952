//! The listener: who gets a connection, and how long it may do nothing with it.

use core::time::Duration;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::access::Access;
use super::board::Board;
use super::guard::Peer;
use super::hosts::Hosts;
use super::seal::Seal;
use super::{AT_WORK, LOGIN, Shared, Web, router};
use crate::config::WebSettings;
use crate::protocol::Fault;
use crate::service::Service;

/// The most connections, and the most of one peer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) most: usize,
    pub(crate) of_one: usize,
    /// Of one on this machine, which may be a proxy that stands for everybody.
    pub(crate) of_this_machine: usize,
}

/// Room for people.
pub(crate) const PEOPLE: Room = Room { most: 256, of_one: 192, of_this_machine: 192 };
/// The most people who are told of changes as they happen.
const VIEWERS: u32 = 100;
/// How long a head may take, and how long a connection may be idle between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest head, in bytes and in lines.
const MAX_HEAD: usize = 32 * 1024;
const MAX_HEADERS: usize = 64;
/// How long the other side may leave what was sent to it unread or unacknowledged.
const UNREAD: Duration = Duration::from_secs(30);
/// How long the host waits after a peer that it could not take in.
const BREATH: Duration = Duration::from_millis(100);

/// Where the pages are served, for whoever tells people.
pub(crate) struct Serving {
    address: SocketAddr,
    access: Arc<Access>,
}

impl Serving {
    /// The address, as a browser takes it.
    pub(crate) fn address(&self) -> String {
        // What listens everywhere is reached at this machine's own name from here.
        if self.address.ip().is_unspecified() {
            format!("http://localhost:{}", self.address.port())
        } else {
            format!("http://{}", self.address)
        }
    }

    /// Whether only this machine reaches it.
    pub(crate) const fn is_loopback(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// A link that logs one browser in, once.
    pub(crate) fn link(&self) -> String {
        format!("{}{LOGIN}?link={}", self.address(), self.access.link().reveal())
    }
}

/// The pages, being served.
pub(crate) struct Server {
    web: Shared,
    ending: watch::Sender<bool>,
    served: JoinHandle<()>,
}

impl Server {
    /// Begins to serve the pages of a host.
    ///
    /// # Errors
    /// When nobody may or can listen there.
    pub(crate) async fn start(service: &Arc<Service>) -> Result<Self, Fault> {
        let settings = service.host().config().web();
        let is_set_up = service.host().operators().credential().is_set_up();
        if !settings.is_loopback() && !is_set_up.map_err(|error| Fault::told(6, &error))? {
            return Err(Fault::refused(
                format!(
                    "other machines would reach the approval centre at {}, and no password is set",
                    settings.listen
                ),
                "set one with `capability operator setup`, or listen at `127.0.0.1`",
            ));
        }
        let cannot = |error: io::Error| {
            Fault::broken(
                format!("the approval centre cannot listen at {}: {error}", settings.listen),
                "name another address with `listen` under `[web]` in `config.toml`, or leave it out with `--no-web`",
            )
        };
        let listener = TcpListener::bind(settings.listen).await.map_err(cannot)?;
        let bound = listener.local_addr().map_err(cannot)?;
        let (ending, told) = watch::channel(false);
        let web = web_of(service, settings, bound, told.clone());
        let serving = Serving { address: bound, access: Arc::clone(&web.access) };
        if service.web().set(serving).is_err() {
            return Err(Fault::usage("the approval centre is served already", "use it"));
        }
        let served = tokio::spawn(serve(listener, router(&web), PEOPLE, told));
        Ok(Self { web, ending, served })
    }

    /// Lets nobody in any more, finishes what changes something, and ends every connection.
    pub(crate) async fn close(self) {
        let _ = self.ending.send(true);
        let _ = self.served.await;
        // Whoever is at work, or tells somebody something, holds one of these.
        let _ = self.web.work.acquire_many(AT_WORK).await;
        let _ = self.web.viewers.acquire_many(VIEWERS).await;
    }
}

fn web_of(service: &Arc<Service>, settings: &WebSettings, bound: SocketAddr, ending: watch::Receiver<bool>) -> Shared {
    let environment = service.host().environment();
    Arc::new(Web {
        service: Arc::clone(service),
        access: Arc::new(Access::new(Arc::clone(environment))),
        seal: Seal::new(environment.as_ref()),
        board: Board::default(),
        hosts: Hosts::of(settings, bound),
        port: bound.port(),
        work: room(AT_WORK),
        viewers: room(VIEWERS),
        ending,
        verified: super::pages::Verified::default(),
        document: OnceLock::new(),
    })
}

fn room(count: u32) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(usize::try_from(count).unwrap_or(1)))
}

/// Connections by peer.
#[derive(Clone, Default)]
struct Peers(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// One of a peer's connections, for as long as it is open.
struct Place {
    peers: Peers,
    peer: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Peers {
    fn of(&self) -> std::sync::MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, peer: IpAddr, room: Room, permit: OwnedSemaphorePermit) -> Option<Place> {
        let most = if peer.is_loopback() { room.of_this_machine } else { room.of_one };
        let mut peers = self.of();
        let open = peers.entry(peer).or_default();
        if *open >= most {
            return None;
        }
        *open += 1;
        drop(peers);
        Some(Place { peers: self.clone(), peer, _permit: permit })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut peers = self.peers.of();
        if let Some(open) = peers.get_mut(&self.peer) {
            *open -= 1;
            if *open == 0 {
                peers.remove(&self.peer);
            }
        }
    }
}

/// Serves whoever connects, within the limits, until the end, when what is open is closed: nothing here is about pages.
pub(crate) async fn serve(listener: TcpListener, router: Router, room: Room, mut ending: watch::Receiver<bool>) {
    let (places, peers) = (Arc::new(Semaphore::new(room.most)), Peers::default());
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let permit = Arc::clone(&places).acquire_owned().await;
            (listener.accept().await, permit)
        };
        tokio::select! {
            biased;
            _ = ending.changed() => break,
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
            (accepted, permit) = next => match (accepted, permit) {
                (Ok((stream, address)), Ok(permit)) => {
                    if let Some(place) = peers.take(address.ip().to_canonical(), room, permit) {
                        connections.spawn(connection(stream, place, router.clone()));
                    }
                }
                // Whoever knocks still stands there, for as long as this process has no descriptor left.
                _ => tokio::time::sleep(BREATH).await,
            },
        }
    }
    drop(listener);
    connections.shutdown().await;
}

async fn connection(stream: TcpStream, place: Place, router: Router) {
    // A small write is sent at once: an event that waits for the other side's acknowledgement comes late.
    let _ = stream.set_nodelay(true);
    // Whoever takes in nothing of what it asked for is let go.
    #[cfg(target_os = "linux")]
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, u32::try_from(UNREAD.as_millis()).unwrap_or(30_000));
    let (peer, routes) = (Peer(place.peer), TowerToHyperService::new(router));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        routes.call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if served.is_err() {
        // What was wrong with it may hold what was sent.
        tracing::debug!("a connection to the pages broke off");
    }
    drop(place);
}
