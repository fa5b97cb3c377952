//! One request, one answer.

use core::future::poll_fn;
use core::pin::Pin;

use capability_core::Http;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::wire::{Spent, Stream, Wire};
use super::{Address, HttpFault, MediaType, Scheme, tls};

/// How a request says who sends it: a program, and nothing about the household.
const USER_AGENT: HeaderValue = HeaderValue::from_static(concat!("capability/", env!("CARGO_PKG_VERSION")));
/// How much of what came in and was not yet looked at is kept, in bytes. The HTTP library refuses less than 8 KiB.
const BUFFER: usize = 64 * 1024;

/// Caps on what one exchange takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Everything that comes in on the connection, in bytes: TLS, headers, chunk marks, body.
    pub wire: u64,
    /// All headers together, in bytes.
    pub header_bytes: usize,
    /// How many headers there may be.
    pub headers: usize,
}

impl Default for Limits {
    /// 4 MiB, 32 KiB and 100.
    fn default() -> Self {
        Self { wire: 4 * 1024 * 1024, header_bytes: 32 * 1024, headers: 100 }
    }
}

/// An answer whose body has not been read yet. Dropping it ends the connection.
pub struct Response {
    /// The status code.
    pub status: u16,
    address: Address,
    headers: HeaderMap,
    body: Incoming,
    connection: Connection,
}

/// A body, or as much of it as was wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The bytes, as they were sent.
    pub bytes: Vec<u8>,
    /// Whether there were more.
    pub truncated: bool,
}

/// Asks with `GET` for the address that was approved for this call: its `target`, which must be a `url`. `accept` is sent
/// as it stands.
///
/// # Errors
/// [`HttpFault`]: no connection, no TLS, no HTTP, or an answer in a coding that nobody asked for.
pub async fn get(http: &Http, accept: &'static str, limits: &Limits) -> Result<Response, HttpFault> {
    let address = http.target().ok_or(HttpFault::Address)?;
    let address = Address::parse(address).map_err(|_| HttpFault::Address)?;
    let wire = Wire::new(http.connect().await?, limits.wire).map_err(|_| HttpFault::Runtime)?;
    let stream = match address.scheme() {
        Scheme::Http => Stream::Clear(wire),
        Scheme::Https => {
            let own = http.authorities().await?;
            Stream::Tls(Box::new(tls::connect(wire, address.host(), own).await?))
        }
    };
    exchange(stream, address, accept, limits).await
}

async fn exchange(
    stream: Stream,
    address: Address,
    accept: &'static str,
    limits: &Limits,
) -> Result<Response, HttpFault> {
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(BUFFER)
        .max_header_size(limits.header_bytes)
        .max_headers(limits.headers)
        .handshake(stream)
        .await
        .map_err(|error| fault(&error))?;
    let mut connection = Connection(Some(Box::pin(connection)));
    let host = HeaderValue::from_str(&address.authority()).map_err(|_| HttpFault::Address)?;
    let request = hyper::Request::get(address.request())
        .header(header::HOST, host)
        .header(header::USER_AGENT, USER_AGENT)
        .header(header::ACCEPT, accept)
        .header(header::ACCEPT_ENCODING, "identity")
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|_| HttpFault::Address)?;
    let answer = connection.beside(sender.send_request(request)).await.map_err(|error| fault(&error))?;
    let (parts, body) = answer.into_parts();
    let response = Response { status: parts.status.as_u16(), address, headers: parts.headers, body, connection };
    if response.is_coded() { Err(HttpFault::Coded) } else { Ok(response) }
}

impl Response {
    /// The address that was asked.
    #[must_use]
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// A header that stands there once and is plain ASCII.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.get_all(name).iter();
        let value = found.next()?;
        if found.next().is_some() { None } else { value.to_str().ok() }
    }

    /// What the server says that the body is.
    #[must_use]
    pub fn media_type(&self) -> Option<MediaType> {
        MediaType::parse(self.header("content-type")?)
    }

    /// Where the server says to look instead: the whole address of a redirect, or why it is none. `None` when the answer is
    /// no redirect.
    #[must_use]
    pub fn redirect(&self) -> Option<Result<Address, super::AddressFault>> {
        matches!(self.status, 301 | 302 | 303 | 307 | 308).then(|| {
            let location = self.header("location").ok_or(super::AddressFault::Malformed)?;
            self.address.join(location)
        })
    }

    /// Reads the body up to `most` bytes and ends the connection.
    ///
    /// # Errors
    /// [`HttpFault::CutOff`] when the connection ends before the body does, [`HttpFault::WireCap`], [`HttpFault::Protocol`].
    pub async fn body(mut self, most: usize) -> Result<Body, HttpFault> {
        let mut bytes = Vec::new();
        while let Some(frame) = self.connection.beside(self.body.frame()).await {
            let Ok(data) = frame.map_err(|error| fault(&error))?.into_data() else { continue };
            let room = most.saturating_sub(bytes.len());
            bytes.extend_from_slice(data.get(..room).unwrap_or(&data));
            if data.len() > room {
                return Ok(Body { bytes, truncated: true });
            }
        }
        Ok(Body { bytes, truncated: false })
    }

    /// Whether the body's bytes are something else than the thing itself.
    fn is_coded(&self) -> bool {
        let plain = |name: HeaderName, plain: &str| {
            self.headers.get_all(name).iter().all(|value| value.as_bytes().eq_ignore_ascii_case(plain.as_bytes()))
        };
        !plain(header::CONTENT_ENCODING, "identity") || !plain(header::TRANSFER_ENCODING, "chunked")
    }
}

impl core::fmt::Debug for Response {
    /// Without what the server said.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Response").field("status", &self.status).finish_non_exhaustive()
    }
}

/// The connection's own half of the work. It is done beside whatever waits for it, so nothing is spawned and nothing is
/// left behind when the call's future is dropped.
struct Connection(Option<Pin<Box<Half>>>);

type Half = http1::Connection<Stream, Empty<Bytes>>;

impl Connection {
    async fn beside<F: Future>(&mut self, work: F) -> F::Output {
        let mut work = core::pin::pin!(work);
        poll_fn(|cx| {
            if let Some(connection) = &mut self.0
                && connection.as_mut().poll(cx).is_ready()
            {
                // Whatever ended it, whoever waits for a part of it is told.
                self.0 = None;
            }
            work.as_mut().poll(cx)
        })
        .await
    }
}

/// What the HTTP library says, in one of our words.
fn fault(error: &hyper::Error) -> HttpFault {
    let mut cause = core::error::Error::source(error);
    while let Some(inner) = cause {
        let spent =
            inner.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref).is_some_and(|at| at.is::<Spent>());
        if spent || inner.is::<Spent>() {
            return HttpFault::WireCap;
        }
        cause = inner.source();
    }
    if error.is_parse() || error.is_parse_status() { HttpFault::Protocol } else { HttpFault::CutOff }
}
