//! The listener: where channels are reached, and the three answers that anybody gets.

use core::time::Duration;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
use capability_core::audit::ChannelKind;
use http_body_util::BodyExt;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;

use super::verify::{Delivery, matrix};
use super::{Acknowledgement, Answer, Headers, MAX_BODY};
use crate::protocol::Fault;
use crate::service::Service;
use crate::web::Room;

/// Room for senders. What waits beyond it waits where the kernel keeps it.
const SENDERS: Room = Room { most: 1024, of_one: 32, of_this_machine: 1024 };
/// How many connections the kernel keeps, as far as it lets anybody have so many.
const KEPT: u32 = 4096;
/// How many messages are looked at at a time. Whoever is still sending is none of them: what takes long to arrive keeps nobody
/// waiting who has arrived.
const AT_WORK: u32 = 128;
/// How many bytes of bodies are held at a time. Room is taken by what has arrived, and not by what was announced.
const MOST_READ: usize = 32 * 1024 * 1024;
/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a sender whose message comes at a bad time is to wait, in seconds.
const LATER: &str = "30";

/// What requests are answered with.
struct Reached {
    service: Arc<Service>,
    work: Arc<Semaphore>,
    read: Arc<Semaphore>,
}

/// The channels, being reached.
pub(crate) struct Server {
    address: SocketAddr,
    work: Arc<Semaphore>,
    ending: watch::Sender<bool>,
    served: JoinHandle<()>,
}

impl Server {
    /// Begins to listen.
    ///
    /// # Errors
    /// When a channel does not start, or nobody can listen there.
    pub(crate) async fn start(service: &Arc<Service>) -> Result<Self, Fault> {
        service.channels().await?;
        let listen = service.host().config().channels().listen;
        let cannot = |error: std::io::Error| {
            Fault::broken(
                format!("the channels cannot listen at {listen}: {error}"),
                "name another address with `listen` under `[channels]` in `config.toml`, or leave them out with `--no-channels`",
            )
        };
        let listener = bind(listen).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let (ending, told) = watch::channel(false);
        let work = Arc::new(Semaphore::new(usize::try_from(AT_WORK).unwrap_or(1)));
        let read = Arc::new(Semaphore::new(MOST_READ));
        let reached = Arc::new(Reached { service: Arc::clone(service), work: Arc::clone(&work), read });
        let router = Router::new().fallback(answer).with_state(reached);
        let served = tokio::spawn(crate::web::serve_connections(listener, router, SENDERS, told));
        Ok(Self { address, work, ending, served })
    }

    /// Where they are reached.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Lets nothing in any more, and finishes what was let in.
    pub(crate) async fn close(self) {
        let _ = self.ending.send(true);
        let _ = self.served.await;
        let all = self.work.acquire_many(AT_WORK).await;
        // Whoever is still being read comes too late.
        self.work.close();
        drop(all);
    }
}

fn bind(listen: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // As any server that is started anew: what its predecessor served may still be on its way.
    socket.set_reuseaddr(true)?;
    socket.bind(listen)?;
    socket.listen(KEPT)
}

async fn answer(State(reached): State<Arc<Reached>>, request: Request) -> Response {
    // To its end, whether or not whoever sent it waits: what is recorded is also stored.
    told(tokio::spawn(async move { looked_at(&reached, request).await }).await.unwrap_or(Answer::Later))
}

async fn looked_at(reached: &Reached, request: Request) -> Answer {
    let service = &reached.service;
    let Ok(channels) = service.channels().await else { return Answer::Later };
    let (head, body) = request.into_parts();
    let path = head.uri.path().trim_start_matches('/');
    let (name, rest) = match path.strip_prefix("channel/") {
        Some(addressed) => addressed.split_once('/').unwrap_or((addressed, "")),
        // Where homeservers put it whose registration has no path.
        None if path.starts_with(matrix::TRANSACTIONS) => {
            (channels.only(ChannelKind::Matrix).map_or("", |name| name.as_str()), path)
        }
        None => ("", ""),
    };
    let method = match channels.kind(name) {
        Some(ChannelKind::Matrix) => Method::PUT,
        _ => Method::POST,
    };
    // What stands behind a question mark stands in the logs of whatever is on the way; no token belongs there.
    if head.method != method || head.uri.query().is_some() {
        return channels.no_message(name, "the method or address is another one");
    }
    let headers = Headers::new(&head.headers);
    if let Some(refused) = channels.refused_unread(name, headers) {
        return refused;
    }
    let body = tokio::time::timeout(BODY_TIMEOUT, read(body, &reached.read)).await.unwrap_or(Err(Unread::Broken));
    let (body, _room) = match body {
        Ok(body) => body,
        Err(Unread::TooLarge) => return channels.too_large(name),
        Err(Unread::Broken) => return channels.no_message(name, "the body broke off"),
    };
    let Ok(_permit) = reached.work.acquire().await else { return Answer::Later };
    // Checked like any other header by whoever needs it: a mail server that is given two names none.
    let recipient = headers.optional("x-envelope-to").ok().flatten();
    let delivery = Delivery { headers, path: rest, recipient, by_owner: false, body: &body };
    channels.deliver(name, delivery, &**service).await
}

enum Unread {
    TooLarge,
    Broken,
}

/// The body, and the room that it takes for as long as it is held.
async fn read(mut body: Body, room: &Arc<Semaphore>) -> Result<(Vec<u8>, OwnedSemaphorePermit), Unread> {
    use axum::body::HttpBody as _;

    // Nobody is asked for what would be thrown away.
    if body.size_hint().lower() > MAX_BODY as u64 {
        return Err(Unread::TooLarge);
    }
    let mut taken = Arc::clone(room).acquire_many_owned(0).await.map_err(|_| Unread::Broken)?;
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        if whole.len() + data.len() > MAX_BODY {
            return Err(Unread::TooLarge);
        }
        let more = u32::try_from(data.len()).map_err(|_| Unread::TooLarge)?;
        taken.merge(Arc::clone(room).acquire_many_owned(more).await.map_err(|_| Unread::Broken)?);
        whole.extend_from_slice(&data);
    }
    Ok((whole, taken))
}

/// The three answers. Every refusal is the same, byte by byte.
fn told(answer: Answer) -> Response {
    let (status, kind, text) = match answer {
        Answer::Accepted(Acknowledgement::Plain) => (StatusCode::OK, "application/json", "{\"ok\":true}".to_owned()),
        Answer::Accepted(Acknowledgement::EmptyObject) => (StatusCode::OK, "application/json", "{}".to_owned()),
        Answer::Accepted(Acknowledgement::Challenge(text)) => (StatusCode::OK, "text/plain", text),
        Answer::Refused => (StatusCode::UNAUTHORIZED, "application/json", "{\"error\":\"refused\"}".to_owned()),
        Answer::Later => (StatusCode::SERVICE_UNAVAILABLE, "application/json", "{\"error\":\"later\"}".to_owned()),
    };
    let response = Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind)
        .header(header::CACHE_CONTROL, "no-store")
        .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    let response = match status {
        StatusCode::SERVICE_UNAVAILABLE => response.header(header::RETRY_AFTER, LATER),
        _ => response,
    };
    response.body(Body::from(text)).unwrap_or_default()
}
