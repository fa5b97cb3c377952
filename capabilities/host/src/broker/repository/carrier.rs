//! The connection that a fetch is spoken over: the broker's own, to the configured place and to no other.
//!
//! The library that speaks git blocks; the connection does not. Between them are channels: what is sent is collected, what comes
//! back is handed over piece by piece.

use std::io::{self, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use base64ct::{Base64, Encoding as _};
use capability_core::handle::BrokerFault;
use gix::protocol::transport::client::blocking_io::http::{GetResponse, Http, PostBodyDataKind, PostResponse};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, HOST, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, body::Incoming};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle as Runtime;
use tokio::sync::{mpsc, oneshot};

use super::Elsewhere;
use crate::broker::endpoint::{EndpointSettings, exchanged, secured};
use crate::broker::http::{Scheme, addresses, connected};
use crate::broker::resolve::Resolver;
use crate::secrets::{private_text, wipe};

/// The most bytes that one answer may have, headers included.
const MAX_WIRE_BYTES: usize = 256 * 1024 * 1024;
/// The most bytes that are sent: names of what is wanted.
const MAX_SENT_BYTES: usize = 1024 * 1024;

/// What the connection found out, for whoever waits for the fetch.
#[derive(Clone, Default)]
pub struct Found(Arc<Mutex<Option<BrokerFault>>>);

impl Found {
    pub fn told(&self) -> Option<BrokerFault> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, fault: BrokerFault) -> io::Error {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
        io::Error::other(fault)
    }
}

/// Carries requests to one configured server.
pub struct Carrier {
    runtime: Runtime,
    resolver: Arc<dyn Resolver>,
    server: Arc<EndpointSettings>,
    credential: Option<HeaderValue>,
    fault: Found,
}

impl Carrier {
    /// With the credential as its file says now.
    pub fn new(source: &Elsewhere, runtime: Runtime, resolver: Arc<dyn Resolver>) -> Result<Self, BrokerFault> {
        let credential = match &source.login {
            None => None,
            Some((user, file)) => {
                let mut password = private_text(file)?;
                let mut pair = [user.as_bytes(), b":", &password].concat();
                wipe(&mut password);
                let value = HeaderValue::from_str(&format!("Basic {}", Base64::encode_string(&pair)));
                wipe(&mut pair);
                let mut value = value.map_err(|_| BrokerFault::CredentialUnreadable)?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Self { runtime, resolver, server: Arc::new(source.server.clone()), credential, fault: Found::default() })
    }

    pub fn fault(&self) -> Found {
        self.fault.clone()
    }

    fn send(
        &self,
        method: Method,
        url: &str,
        base: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        body: Option<oneshot::Receiver<Vec<u8>>>,
    ) -> io::Result<(BufReader<Pipe>, BufReader<Pipe>)> {
        // Whatever the library makes of the address, it is asked at the configured place, below the configured path.
        let tail = url.strip_prefix(base).filter(|tail| tail.starts_with(['/', '?']));
        let tail = tail.ok_or_else(|| self.fault.tell(BrokerFault::MalformedTarget))?;
        let place = &self.server.place;
        let host = match (self.server.scheme, place.port) {
            (Scheme::Http, 80) | (Scheme::Https, 443) => place.host.to_string(),
            _ => place.to_string(),
        };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{tail}", self.server.base))
            .header(HOST, host)
            .header(ACCEPT_ENCODING, "identity")
            .header(CONNECTION, "close");
        for line in headers {
            let named = line.as_ref().split_once(':');
            let (name, value) = named.ok_or_else(|| self.fault.tell(BrokerFault::MalformedTarget))?;
            request = request.header(name, value.trim());
        }
        if let Some(credential) = &self.credential {
            request = request.header(AUTHORIZATION, credential);
        }
        let (told, head) = mpsc::channel(1);
        let (given, content) = mpsc::channel(4);
        let (server, resolver, fault) = (Arc::clone(&self.server), Arc::clone(&self.resolver), self.fault.clone());
        self.runtime.spawn(async move {
            let carried = async {
                let body = match body {
                    None => Vec::new(),
                    // Whoever was to write it has gone.
                    Some(body) => body.await.map_err(|_| BrokerFault::Ended)?,
                };
                let request = request.body(Full::new(Bytes::from(body))).map_err(|_| BrokerFault::MalformedTarget)?;
                let found = addresses(&*resolver, &server.place.host).await?;
                let stream = connected(&found, server.place.port).await?;
                match server.scheme {
                    Scheme::Http => asked(stream, request, &told, &given).await,
                    Scheme::Https => asked(secured(&server, stream).await?, request, &told, &given).await,
                }
            };
            if let Err(found) = carried.await {
                let _ = told.send(Err(fault.tell(found))).await;
                let _ = given.send(Err(fault.tell(found))).await;
            }
        });
        Ok((BufReader::new(Pipe::of(head)), BufReader::new(Pipe::of(content))))
    }
}

type Parts = mpsc::Sender<io::Result<Bytes>>;

async fn asked<S>(stream: S, request: Request<Full<Bytes>>, told: &Parts, given: &Parts) -> Result<(), BrokerFault>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let then = async |response| handed_over(response, told, given).await;
    let of = |_: &hyper::Error| BrokerFault::MalformedReply;
    exchanged(stream, MAX_WIRE_BYTES, request, BrokerFault::Unavailable, of, then).await
}

async fn handed_over(response: Response<Incoming>, told: &Parts, given: &Parts) -> Result<(), BrokerFault> {
    let (head, mut incoming) = response.into_parts();
    match head.status {
        StatusCode::OK => {}
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return Err(BrokerFault::CredentialRefused),
        StatusCode::TOO_MANY_REQUESTS => return Err(BrokerFault::Busy),
        // A redirect leads to a place that nobody configured.
        _ => return Err(BrokerFault::MalformedReply),
    }
    let encoded = |value: &HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"identity");
    if head.headers.get_all(CONTENT_ENCODING).iter().any(encoded) {
        return Err(BrokerFault::EncodedReply);
    }
    let mut lines = Vec::new();
    for (name, value) in &head.headers {
        lines.extend_from_slice(name.as_str().as_bytes());
        lines.extend_from_slice(b": ");
        lines.extend_from_slice(value.as_bytes());
        lines.extend_from_slice(b"\r\n");
    }
    // Nobody may be there any more to read it: that is no matter of the connection's.
    let _ = told.send(Ok(lines.into())).await;
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(|_| BrokerFault::MalformedReply)?.into_data() else { continue };
        if given.send(Ok(data)).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// What comes out of a channel, as whoever blocks reads it.
pub struct Pipe {
    parts: mpsc::Receiver<io::Result<Bytes>>,
    part: Bytes,
}

impl Pipe {
    const fn of(parts: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self { parts, part: Bytes::new() }
    }
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() {
            match self.parts.blocking_recv() {
                None => return Ok(0),
                Some(part) => self.part = part?,
            }
        }
        let now = self.part.split_to(into.len().min(self.part.len()));
        let room = into.get_mut(..now.len()).ok_or(io::ErrorKind::InvalidInput)?;
        room.copy_from_slice(&now);
        Ok(now.len())
    }
}

/// What is to be sent, collected until it is let go.
pub struct Collected {
    body: Vec<u8>,
    done: Option<oneshot::Sender<Vec<u8>>>,
}

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.body.len() + bytes.len() > MAX_SENT_BYTES {
            self.done = None;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.body.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Collected {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            let _ = done.send(core::mem::take(&mut self.body));
        }
    }
}

impl Http for Carrier {
    type Headers = BufReader<Pipe>;
    type ResponseBody = BufReader<Pipe>;
    type PostBody = Collected;

    fn get(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::error::Result<GetResponse<Self::Headers, Self::ResponseBody>> {
        let (headers, body) =
            self.send(Method::GET, url, base_url, headers, None).map_err(gix::error::Error::from_error)?;
        Ok(GetResponse { headers, body })
    }

    fn post(
        &mut self,
        url: &str,
        base_url: &str,
        headers: impl IntoIterator<Item = impl AsRef<str>>,
        _: PostBodyDataKind,
    ) -> gix::error::Result<PostResponse<Self::Headers, Self::ResponseBody, Self::PostBody>> {
        let (done, body) = oneshot::channel();
        let (headers, body) =
            self.send(Method::POST, url, base_url, headers, Some(body)).map_err(gix::error::Error::from_error)?;
        Ok(PostResponse { post_body: Collected { body: Vec::new(), done: Some(done) }, headers, body })
    }

    /// There is nothing that a repository's configuration could say here.
    fn configure(&mut self, _: &dyn core::any::Any) -> gix::error::Result {
        Ok(())
    }
}
