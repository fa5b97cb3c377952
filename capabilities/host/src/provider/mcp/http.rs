//! Messages over HTTP: each request a connection of its own, answered by one JSON text or by a stream of events.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capability_core::handle::BrokerFault;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming as Body};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName,
    HeaderValue, USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::Value;
use tokio::time::timeout;

use super::credential::Credentials;
use super::events::Events;
use super::message::{self, Incoming, MAX_MESSAGE};
use super::peer::{Caller, PeerFault};
use crate::broker::{EndpointSettings, Resolver, Scheme, addresses, connected, exchanged, secured};

/// The most bytes that are read for one request, frames and events that are not its answer among them.
const MAX_WIRE_BYTES: usize = 2 * MAX_MESSAGE;
/// How long telling something may take that nobody waits for.
const TELL: Duration = Duration::from_secs(5);
/// The longest session name that a server may give.
const MAX_SESSION: usize = 1024;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

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
    resolver: Arc<dyn Resolver>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What a server of the older generation calls the session.
    session: Option<HeaderValue>,
    /// The revision that was agreed upon.
    version: Option<&'static str>,
}

/// What a way is made of.
#[derive(Clone)]
pub struct HttpSettings {
    /// Where: host, port, path, authorities.
    pub place: EndpointSettings,
    /// Headers that the operator configured.
    pub headers: HeaderMap,
    /// A file of the operator's that holds the token, when there is one.
    pub token_file: Option<PathBuf>,
}

impl HttpWay {
    /// To this place, with these credentials.
    pub fn new(
        settings: HttpSettings,
        server: &str,
        credentials: Arc<Credentials>,
        resolver: Arc<dyn Resolver>,
    ) -> Self {
        let HttpSettings { place, headers, token_file } = settings;
        let (server, state) = (server.to_owned(), Mutex::default());
        Self(Arc::new(Inner { place, headers, token_file, credentials, server, resolver, state }))
    }

    /// The revision that is spoken from here on.
    pub fn speak(&self, version: &'static str) {
        self.0.state().version = Some(version);
    }

    /// Asks, and gives every message that comes to `take`, until the answer to `id` is among them.
    pub async fn ask(
        &self,
        id: u64,
        method: &str,
        tool: Option<&str>,
        text: String,
        caller: Caller<'_>,
        take: impl Fn(Incoming) -> Option<String>,
    ) -> Result<Value, PeerFault> {
        let request = self.post(method, tool, text, caller).await?;
        let mut exchange = Exchange { way: self, id, take, is_greeting: method == "initialize" };
        self.exchanged(request, async |response| exchange.answer(response).await).await
    }

    /// Tells something that has no answer.
    pub async fn tell(&self, method: &str, text: String) -> Result<(), PeerFault> {
        let request = self.post(method, None, text, Caller::Host).await?;
        let told = self.exchanged(request, async |response| refused(response.status()).map_or(Ok(()), Err));
        timeout(TELL, told).await.unwrap_or(Err(PeerFault::Closed))
    }

    /// The same, with nobody waiting.
    pub fn tell_later(&self, method: &'static str, text: String) {
        let way = self.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { way.tell(method, text).await });
        }
    }

    /// Reads what a server of the older generation says by itself, until it ends that or has said as much as is read for one
    /// request. One that says nothing by itself ends it at once.
    pub async fn listen(&self, take: impl Fn(Incoming) -> Option<String>) {
        let Ok(mut request) = self.request(Method::GET, Bytes::new(), Caller::Host).await else { return };
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        // No answer has this number: whatever comes is taken for what it is.
        let mut exchange = Exchange { way: self, id: 0, take, is_greeting: false };
        let listened = self.exchanged(request, async |response| {
            let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
            match response.status().is_success() && kind.starts_with("text/event-stream") {
                true => exchange.streamed(response.into_body()).await.map(drop),
                false => Err(PeerFault::Closed),
            }
        });
        let _ = listened.await;
    }

    /// Gives a session back. It ends by itself without.
    pub async fn end(&self) {
        let Some(session) = self.0.state().session.take() else { return };
        let Ok(mut request) = self.request(Method::DELETE, Bytes::new(), Caller::Host).await else { return };
        request.headers_mut().insert(SESSION, session);
        let _ = timeout(TELL, self.exchanged(request, async |_| Ok(()))).await;
    }

    async fn post(
        &self,
        method: &str,
        tool: Option<&str>,
        text: String,
        caller: Caller<'_>,
    ) -> Result<Request<Full<Bytes>>, PeerFault> {
        let mut request = self.request(Method::POST, Bytes::from(text), caller).await?;
        let headers = request.headers_mut();
        let value = |text: &str| HeaderValue::from_str(text).map_err(|_| PeerFault::Malformed);
        headers.insert(METHOD, value(method)?);
        if let Some(tool) = tool {
            headers.insert(NAME, value(tool)?);
        }
        Ok(request)
    }

    async fn request(
        &self,
        method: Method,
        body: Bytes,
        caller: Caller<'_>,
    ) -> Result<Request<Full<Bytes>>, PeerFault> {
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
        if let Some(token) = self.token(caller).await? {
            request.headers_mut().insert(AUTHORIZATION, token);
        }
        let state = self.0.state();
        if let Some(session) = &state.session {
            request.headers_mut().insert(SESSION, session.clone());
        }
        // The first question already says which revision it is asked in.
        let version = state.version.unwrap_or("2026-07-28");
        request.headers_mut().insert(VERSION, HeaderValue::from_static(version));
        Ok(request)
    }

    /// The subject's own token, else the one for everybody.
    async fn token(&self, caller: Caller<'_>) -> Result<Option<HeaderValue>, PeerFault> {
        let subject = match caller {
            Caller::Host => None,
            Caller::Subject(subject) => Some(subject.clone()),
        };
        let inner = Arc::clone(&self.0);
        let found = tokio::task::spawn_blocking(move || {
            inner.credentials.token(&inner.server, subject.as_ref(), inner.token_file.as_deref())
        });
        let found = found.await.map_err(|_| PeerFault::Credential)?;
        let Some(mut token) = found.map_err(|_| PeerFault::Credential)? else { return Ok(None) };
        let header = HeaderValue::from_bytes(&[b"Bearer ", token.as_slice()].concat());
        crate::broker::wipe(&mut token);
        let mut header = header.map_err(|_| PeerFault::Credential)?;
        header.set_sensitive(true);
        Ok(Some(header))
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
    is_greeting: bool,
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
        if self.is_greeting
            && let Some(session) = head.headers.get(SESSION).filter(|session| session.len() <= MAX_SESSION)
        {
            self.way.0.state().session = Some(session.clone());
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
            // A server that takes the whole request for broken answers nothing in particular.
            _ => Err(refused(head.status).unwrap_or(PeerFault::Malformed)),
        }
    }

    async fn streamed(&mut self, mut body: Body) -> Result<Value, PeerFault> {
        let mut events = Events::default();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|error| broken(&error))?.into_data() else { continue };
            for event in events.push(&data).map_err(|_| PeerFault::TooLarge)? {
                match message::read(&event) {
                    Ok(Incoming::Answer(id, answer)) if id == self.id => {
                        return answer.map_err(|refusal| PeerFault::Refused(refusal.code));
                    }
                    Ok(incoming) => {
                        if let Some(answer) = (self.take)(incoming) {
                            self.way.tell_later("response", answer);
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
