//! One handler for each client, and whose the sessions of the older protocol are.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use capability_core::session::SessionId;
use http_body_util::BodyExt as _;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use tokio::sync::mpsc;

use super::super::asker::Asker;
use super::super::handler::Handler;
use crate::environment::random;
use crate::protocol::{Caller, Client, McpRequest, Redacted, Reply, Request};
use crate::service::Service;
use crate::streamed::Streamed;

/// The most sessions of one client; the oldest ends first.
const MOST_SESSIONS: usize = 16;
/// The most handlers: more clients than can be let in, with those that no longer are.
const MOST_HANDLERS: usize = 256;

/// A client that a request comes from.
#[derive(Clone)]
pub struct Admitted {
    /// Which, as its token tells: nothing that others know.
    kept: [u8; 32],
    /// What answers it.
    pub handler: Handler,
    /// Whether it is still there.
    pub presence: Arc<Presence>,
}

/// Whether a client is still there. With the last session of the older protocol that it had open, nobody can have its results
/// again; whoever speaks the newer one has nothing that ends, and its results are kept as long as any are.
pub struct Presence {
    service: Arc<Service>,
    session: SessionId,
    visits: AtomicUsize,
    stays: AtomicBool,
}

impl Presence {
    /// It has opened a session.
    pub fn visit(self: &Arc<Self>) -> Visit {
        self.visits.fetch_add(1, Ordering::SeqCst);
        Visit(Arc::clone(self))
    }

    /// It asks without one.
    pub fn stays(&self) {
        self.stays.store(true, Ordering::SeqCst);
    }
}

/// One session of the older protocol, for as long as it is open.
pub struct Visit(Arc<Presence>);

impl Drop for Visit {
    fn drop(&mut self) {
        let Self(presence) = self;
        if presence.visits.fetch_sub(1, Ordering::SeqCst) == 1 && !presence.stays.load(Ordering::SeqCst) {
            presence.service.program_left(presence.session);
        }
    }
}

/// Everybody who has come so far.
pub struct People {
    manager: Arc<LocalSessionManager>,
    handlers: Mutex<HashMap<[u8; 32], Admitted>>,
    sessions: Mutex<VecDeque<(String, [u8; 32])>>,
    under_way: Arc<Mutex<HashSet<Place>>>,
}

/// A session, and the id of a request in it.
type Place = (String, RequestId);

/// A request of a session that is worked on, or whose answer is on its way: for as long as any copy of this is there.
#[derive(Clone)]
pub struct UnderWay {
    _held: Arc<Held>,
}

struct Held(Arc<Mutex<HashSet<Place>>>, Place);

impl UnderWay {
    /// The answer for whoever listens. It is read to its end by this host, listened to or not: a request goes on without the client
    /// that hung up, and is over when it has been answered.
    pub fn answered_by(self, mut answer: Body) -> Body {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            let _under_way = self;
            while let Some(Ok(frame)) = answer.frame().await {
                let _ = sender.send(frame).await;
            }
        });
        Body::new(Streamed(receiver))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        locked(&self.0).remove(&self.1);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl People {
    pub fn new(manager: Arc<LocalSessionManager>) -> Self {
        Self { manager, handlers: Mutex::default(), sessions: Mutex::default(), under_way: Arc::default() }
    }

    /// Whoever has this token, while it lets anybody in.
    pub async fn admit(&self, service: &Arc<Service>, token: Redacted) -> Option<Admitted> {
        // A token that was revoked is none from that moment on, whatever is remembered here.
        service.client(&token).ok()?;
        let kept = crate::mcp::ClientToken::from_hex(token.reveal())?.hash();
        if let Some(admitted) = locked(&self.handlers).get(&kept) {
            return Some(admitted.clone());
        }
        let connection = SessionId::from_bytes(random().ok()?);
        let caller = || Caller {
            client: Some(Client { connection, token: Some(token.clone()), of_turn: false }),
            ..Caller::default()
        };
        let asker = Asker::Here(Arc::clone(service));
        let greet = McpRequest::Greet(caller());
        let Ok(Reply::Document(greeting)) = asker.ask(Request::Mcp(greet)).await else { return None };
        let greeting = serde_json::from_value(greeting).ok()?;
        let presence = Arc::new(Presence {
            service: Arc::clone(service),
            session: service.program_session(&caller(), None).ok()?,
            visits: AtomicUsize::new(0),
            stays: AtomicBool::new(false),
        });
        let admitted = Admitted { kept, handler: Handler::new(asker, caller(), &greeting), presence };
        let mut handlers = locked(&self.handlers);
        if handlers.len() >= MOST_HANDLERS {
            handlers.clear();
        }
        Some(handlers.entry(kept).or_insert(admitted).clone())
    }

    /// A session was opened for this client. What one client holds open is bounded; what has ended, by whomever, counts for nothing.
    pub async fn owns(&self, session: &str, admitted: &Admitted) {
        let ended = {
            let open = self.manager.sessions.read().await;
            let mut sessions = locked(&self.sessions);
            sessions.retain(|(known, _)| open.contains_key(known.as_str()));
            if sessions.iter().any(|(known, _)| known == session) {
                return;
            }
            sessions.push_back((session.to_owned(), admitted.kept));
            let mut own = sessions.iter().enumerate().filter(|(_, (_, kept))| *kept == admitted.kept);
            let first = own.next().map(|(at, _)| at).filter(|_| own.count() >= MOST_SESSIONS);
            first.and_then(|at| sessions.remove(at))
        };
        if let Some((id, _)) = ended {
            let _ = self.manager.close_session(&id.into()).await;
        }
    }

    /// A request begins in a session; none when another one of its id is under way there. The library has one place for each id.
    pub fn begins(&self, session: &str, id: &RequestId) -> Option<UnderWay> {
        let place = (session.to_owned(), id.clone());
        let is_first = locked(&self.under_way).insert(place.clone());
        is_first.then(|| UnderWay { _held: Arc::new(Held(Arc::clone(&self.under_way), place)) })
    }

    /// Whether a session is this client's.
    pub fn is_of(&self, session: &str, admitted: &Admitted) -> bool {
        locked(&self.sessions).iter().any(|(known, kept)| known == session && *kept == admitted.kept)
    }
}
