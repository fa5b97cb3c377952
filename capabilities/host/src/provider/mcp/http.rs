//! Messages over HTTP: each request a connection of its own, answered by one JSON text or by a stream of events.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capability_core::handle::BrokerFault;
use capability_core::session::Subject;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming as Body};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName,
    HeaderValue, USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::credential::Credentials;
use super::events::{Events, Left};
use super::given::Given;
use super::message::{self, Incoming, MAX_MESSAGE};
use super::peer::{MODERN, PeerFault};
use crate::broker::{EndpointSettings, Resolver, Scheme, addresses, connected, exchanged, secured};
use crate::secrets::NoRoom;

/// The most bytes that are read for one request, frames and events that are not its answer among them.
const MAX_WIRE_BYTES: usize = 2 * MAX_MESSAGE;
/// How long telling something may take that nobody waits for.
const TELL: Duration = Duration::from_secs(5);
/// How long a server that breaks a stream off is left alone where it does not say, and never less.
const LEFT_ALONE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(100));
/// The longest that a server may want to be left alone: nobody waits longer for the rest of an answer.
const MAX_LEFT_ALONE: Duration = Duration::from_secs(60);
/// The longest session name that a server may give.
const MAX_SESSION: usize = 1024;

/// The greeting of the older generation.
pub const GREETING: &str = "initialize";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const LEFT_OFF: HeaderName = HeaderName::from_static("last-event-id");

/// The way to a server that is reached over HTTP. Cheap to clone.
#[derive(Clone)]
pub struct HttpWay(Arc<Inner>);

struct Inner {
    /// Where: host, port, path, authorities.
    place: EndpointSettings,
    /// Headers that the operator configured.
    headers: HeaderMap,
    /// A file of the operator's that holds the token, when there is one.
    token_file: Option<PathBuf>,
    credentials: Arc<Credentials>,
    server: String,
    /// Whose credential goes along with everything: a subject's own and no other one, or everybody's.
    owner: Option<Subject>,
    resolver: Arc<dyn Resolver>,
    /// Everything that went to the server and that nobody else is to see.
    given: Arc<Given>,
    state: Mutex<State>,
}

/// What goes along with a request: a credential, where there is one.
#[derive(Clone)]
pub struct Pass(Option<HeaderValue>);

#[derive(Default)]
struct State {
    /// The revision that was agreed upon first.
    version: Option<&'static str>,
    /// How it was greeted in the older generation.
    greeted: Option<Greeted>,
}

struct Greeted {
    /// The revision that was agreed upon.
    version: &'static str,
    /// What the server calls the session, where it keeps one.
    session: Option<HeaderValue>,
}

/// A message that is sent, and what of it is said in headers as well.
pub struct Question<'q> {
    pub method: &'q str,
    pub text: String,
    /// What of its parameters.
    pub mirrored: HeaderMap,
}

/// What a way is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// Where: host, port, path, authorities.
    pub place: EndpointSettings,
    /// Headers that the operator configured.
    pub headers: HeaderMap,
    /// A file of the operator's that holds the token, when there is one.
    pub token_file: Option<PathBuf>,
}

impl HttpWay {
    /// To this place, with the credential of that owner.
    ///
    /// # Errors
    /// [`NoRoom`], when a header could not be kept out of what goes out.
    pub fn new(
        settings: HttpSettings,
        (server, owner): (&str, Option<Subject>),
        credentials: Arc<Credentials>,
        resolver: Arc<dyn Resolver>,
        given: Arc<Given>,
    ) -> Result<Self, NoRoom> {
        let HttpSettings { place, headers, token_file } = settings;
        headers.values().filter_map(|value| value.to_str().ok()).try_for_each(|value| given.remember(value))?;
        let (server, state) = (server.to_owned(), Mutex::default());
        Ok(Self(Arc::new(Inner { place, headers, token_file, credentials, server, owner, resolver, given, state })))
    }

    /// The revision that is spoken from here on.
    pub fn speak(&self, version: &'static str) {
        self.0.state().version = Some(version);
    }

    /// The revision that was agreed upon in a greeting of the older generation.
    pub fn agree(&self, version: &'static str) {
        self.0.state().greeted.get_or_insert(Greeted { version, session: None }).version = version;
    }

    /// Whether it was greeted in the older generation, and is not known to have forgotten it.
    pub fn is_greeted(&self) -> bool {
        self.0.state().greeted.is_some()
    }

    /// Nothing is left of a greeting of the older generation.
    pub fn forget(&self) {
        self.0.state().greeted = None;
    }

    /// Nothing is left of any greeting.
    pub fn forget_all(&self) {
        *self.0.state() = State::default();
    }

    /// Asks, and gives every message that comes to `take`, until the answer to `id` is among them. A server of the older generation
    /// may break the stream off and have the rest of it asked for: by whoever asks, for as long as they wait.
    pub async fn ask(
        &self,
        id: u64,
        question: Question<'_>,
        pass: &Pass,
        take: impl Fn(Incoming) -> Option<String>,
    ) -> Result<Value, PeerFault> {
        let is_greeting = question.method == GREETING;
        let request = self.post(question, pass)?;
        let in_session = request.headers().contains_key(SESSION);
        let left = Left::default();
        let mut exchange = Exchange { way: self, id, take, pass, in_session, is_greeting, left };
        let mut answer = self.exchanged(request, async |response| exchange.answer(response).await).await;
        while answer == Err(PeerFault::Closed)
            && self.is_greeted()
            && let Some(mark) = exchange.left.mark.take()
        {
            let (usual, least) = LEFT_ALONE;
            let wait = exchange.left.wait.unwrap_or(usual).max(least);
            if wait > MAX_LEFT_ALONE {
                break;
            }
            sleep(wait).await;
            let mut request = self.hearing(pass)?;
            request.headers_mut().insert(LEFT_OFF, HeaderValue::from_bytes(&mark).map_err(|_| PeerFault::Malformed)?);
            answer = self.exchanged(request, async |response| exchange.rest(response).await).await;
        }
        answer
    }

    /// Tells something that has no answer.
    pub async fn tell(&self, method: &str, text: String, pass: &Pass) -> Result<(), PeerFault> {
        let request = self.post(Question { method, text, mirrored: HeaderMap::new() }, pass)?;
        let told = self.exchanged(request, async |response| refused(response.status()).map_or(Ok(()), Err));
        timeout(TELL, told).await.unwrap_or(Err(PeerFault::Closed))
    }

    /// The same, with nobody waiting.
    pub fn tell_later(&self, method: &'static str, text: String, pass: Pass) {
        let way = self.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { way.tell(method, text, &pass).await });
        }
    }

    /// Reads what a server of the older generation says by itself, until it ends that or has said as much as is read for one
    /// request. One that says nothing by itself ends it at once.
    pub async fn listen(&self, pass: &Pass, take: impl Fn(Incoming) -> Option<String>) {
        let Ok(request) = self.hearing(pass) else { return };
        // No answer has this number: whatever comes is taken for what it is.
        let left = Left::default();
        let mut exchange = Exchange { way: self, id: 0, take, pass, in_session: false, is_greeting: false, left };
        let _ = self.exchanged(request, async |response| exchange.rest(response).await).await;
    }

    /// A request for what a server of the older generation says by itself.
    fn hearing(&self, pass: &Pass) -> Result<Request<Full<Bytes>>, PeerFault> {
        let mut request = self.request(Method::GET, Bytes::new(), pass)?;
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        Ok(request)
    }

    /// Gives the session back, where the server keeps one. It ends by itself without.
    pub async fn end(&self) {
        let greeted = self.0.state().greeted.take();
        let Some(session) = greeted.and_then(|greeted| greeted.session) else { return };
        let Ok(pass) = self.pass().await else { return };
        let Ok(mut request) = self.request(Method::DELETE, Bytes::new(), &pass) else { return };
        request.headers_mut().insert(SESSION, session);
        let _ = timeout(TELL, self.exchanged(request, async |_| Ok(()))).await;
    }

    fn post(&self, question: Question<'_>, pass: &Pass) -> Result<Request<Full<Bytes>>, PeerFault> {
        let Question { method, text, mirrored } = question;
        let mut request = self.request(Method::POST, Bytes::from(text), pass)?;
        let headers = request.headers_mut();
        headers.extend(mirrored);
        headers.insert(METHOD, HeaderValue::from_str(method).map_err(|_| PeerFault::Malformed)?);
        if method == GREETING {
            // What is spoken is what it asks: a header would say so before there is an answer.
            headers.remove(VERSION);
            headers.remove(SESSION);
        }
        Ok(request)
    }

    fn request(&self, method: Method, body: Bytes, pass: &Pass) -> Result<Request<Full<Bytes>>, PeerFault> {
        let Inner { place, headers, .. } = self.0.as_ref();
        let host = match (place.scheme, place.place.port) {
            (Scheme::Http, 80) | (Scheme::Https, 443) => place.place.host.to_string(),
            _ => place.place.to_string(),
        };
        let path = if place.base.is_empty() { "/" } else { &place.base };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, host)
            .header(USER_AGENT, concat!("capability/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT, "application/json, text/event-stream")
            .header(ACCEPT_ENCODING, "identity")
            .header(CONTENT_TYPE, "application/json")
            .header(CONNECTION, "close");
        let mut request = request.body(Full::new(body)).map_err(|_| PeerFault::Malformed)?;
        for (name, value) in headers {
            request.headers_mut().insert(name, value.clone());
        }
        if let Pass(Some(token)) = pass {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        let state = self.0.state();
        let greeted = state.greeted.as_ref();
        if let Some(session) = greeted.and_then(|greeted| greeted.session.as_ref()) {
            request.headers_mut().insert(SESSION, session.clone());
        }
        // The first question already says which revision it is asked in.
        let version = greeted.map(|greeted| greeted.version).or(state.version).unwrap_or(MODERN);
        request.headers_mut().insert(VERSION, HeaderValue::from_static(version));
        Ok(request)
    }

    /// The credential that goes along now: its owner's. A subject's own has no other one in its place.
    ///
    /// # Errors
    /// [`PeerFault::Credential`] when one that is there cannot be read, or the owner's is not there any more.
    pub async fn pass(&self) -> Result<Pass, PeerFault> {
        let inner = Arc::clone(&self.0);
        let found = tokio::task::spawn_blocking(move || match &inner.owner {
            Some(owner) => inner.credentials.own(&inner.server, owner),
            None => inner.credentials.token(&inner.server, None, inner.token_file.as_deref()),
        });
        let found = found.await.map_err(|_| PeerFault::Credential)?;
        let Some(mut token) = found.map_err(|_| PeerFault::Credential)? else {
            return if self.0.owner.is_some() { Err(PeerFault::Credential) } else { Ok(Pass(None)) };
        };
        let remembered = core::str::from_utf8(&token).map_or(Ok(()), |token| self.0.given.remember(token));
        remembered.map_err(|NoRoom| PeerFault::Credential)?;
        let header = HeaderValue::from_bytes(&[b"Bearer ", token.as_slice()].concat());
        crate::secrets::wipe(&mut token);
        let mut header = header.map_err(|_| PeerFault::Credential)?;
        header.set_sensitive(true);
        Ok(Pass(Some(header)))
    }

    async fn exchanged<T>(
        &self,
        request: Request<Full<Bytes>>,
        then: impl AsyncFnOnce(Response<Body>) -> Result<T, PeerFault>,
    ) -> Result<T, PeerFault> {
        let place = &self.0.place;
        let found = addresses(self.0.resolver.as_ref(), &place.place.host).await.map_err(unreachable)?;
        let stream = connected(&found, place.place.port).await.map_err(unreachable)?;
        match place.scheme {
            Scheme::Http => exchanged(stream, MAX_WIRE_BYTES, request, PeerFault::Closed, broken, then).await,
            Scheme::Https => {
                let stream = secured(place, stream).await.map_err(unreachable)?;
                exchanged(stream, MAX_WIRE_BYTES, request, PeerFault::Closed, broken, then).await
            }
        }
    }
}

impl Inner {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request and what comes back for it.
struct Exchange<'a, T> {
    way: &'a HttpWay,
    id: u64,
    take: T,
    pass: &'a Pass,
    /// Whether the request names a session.
    in_session: bool,
    is_greeting: bool,
    /// Where its stream was left.
    left: Left,
}

impl<T: Fn(Incoming) -> Option<String>> Exchange<'_, T> {
    async fn answer(&mut self, response: Response<Body>) -> Result<Value, PeerFault> {
        let (head, body) = response.into_parts();
        let encoded = |value: &HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"identity");
        if head.headers.get_all(CONTENT_ENCODING).iter().any(encoded) {
            return Err(PeerFault::Malformed);
        }
        if let Some(fault @ PeerFault::Credential) = refused(head.status) {
            return Err(fault);
        }
        if self.in_session && head.status == StatusCode::NOT_FOUND {
            // Another one is opened before the next request.
            self.way.forget();
            return Err(PeerFault::Session);
        }
        if self.is_greeting
            && let Some(session) = head.headers.get(SESSION).filter(|session| session.len() <= MAX_SESSION)
        {
            let greeted = Greeted { version: MODERN, session: Some(session.clone()) };
            self.way.0.state().greeted = Some(greeted);
        }
        let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/event-stream") {
            return self.streamed(body).await;
        }
        let text = whole(body).await?;
        match message::read(&text) {
            Ok(Incoming::Answer(id, answer)) if id == self.id => {
                answer.map_err(|refusal| PeerFault::Refused(refusal.code))
            }
            // A server that takes the whole request for broken answers nothing in particular; some say so of a session that
            // they do not know.
            _ if self.in_session && head.status == StatusCode::BAD_REQUEST => {
                self.way.forget();
                Err(PeerFault::Malformed)
            }
            _ => Err(refused(head.status).unwrap_or(PeerFault::Malformed)),
        }
    }

    /// The rest of a stream.
    async fn rest(&mut self, response: Response<Body>) -> Result<Value, PeerFault> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        match response.status().is_success() && kind.starts_with("text/event-stream") {
            true => self.streamed(response.into_body()).await,
            false => Err(PeerFault::Closed),
        }
    }

    async fn streamed(&mut self, body: Body) -> Result<Value, PeerFault> {
        let mut events = Events::default();
        let answer = self.read(body, &mut events).await;
        let Left { mark, wait } = events.left();
        // What the server said of waiting counts until it says otherwise.
        self.left = Left { mark, wait: wait.or(self.left.wait) };
        answer
    }

    async fn read(&mut self, mut body: Body, events: &mut Events) -> Result<Value, PeerFault> {
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() else { continue };
            for event in events.push(&data).map_err(|_| PeerFault::TooLarge)? {
                match message::read(&event) {
                    Ok(Incoming::Answer(id, answer)) if id == self.id => {
                        return answer.map_err(|refusal| PeerFault::Refused(refusal.code));
                    }
                    Ok(incoming) => {
                        if let Some(answer) = (self.take)(incoming) {
                            self.way.tell_later("response", answer, self.pass.clone());
                        }
                    }
                    Err(_) => return Err(PeerFault::Malformed),
                }
            }
        }
        // An answer that was cut short is none.
        Err(PeerFault::Closed)
    }
}

async fn whole(mut body: Body) -> Result<Vec<u8>, PeerFault> {
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() else { continue };
        if text.len() + data.len() > MAX_MESSAGE {
            return Err(PeerFault::TooLarge);
        }
        text.extend_from_slice(&data);
    }
    Ok(text)
}

/// What a status says by itself.
fn refused(status: StatusCode) -> Option<PeerFault> {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            Some(PeerFault::Credential)
        }
        // The session is over, or there is no such server.
        StatusCode::NOT_FOUND => Some(PeerFault::Closed),
        status if status.is_success() => None,
        _ => Some(PeerFault::Malformed),
    }
}

const fn unreachable(fault: BrokerFault) -> PeerFault {
    match fault {
        BrokerFault::Untrusted => PeerFault::Untrusted,
        _ => PeerFault::Closed,
    }
}

/// What the library could not do, without its words: they may quote the other side.
fn broken(error: &hyper::Error) -> PeerFault {
    let mut cause: Option<&(dyn core::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if inner.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::FileTooLarge) {
            return PeerFault::TooLarge;
        }
        cause = inner.source();
    }
    if error.is_parse() { PeerFault::Malformed } else { PeerFault::Closed }
}
