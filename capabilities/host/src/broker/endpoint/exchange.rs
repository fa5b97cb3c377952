//! One request and its answer: HTTP/1.1 over a connection of its own, every part of it bounded.

use std::fmt::Write as _;

use capability_core::handle::{BrokerFault, EndpointReply, MAX_REPLY_BYTES};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::{Method, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};

use super::io::{MAX_HEAD_BYTES, exchanged};
use super::settings::EndpointSettings;
use super::tls;
use crate::broker::http::{Scheme, addresses, connected};
use crate::broker::resolve::Resolver;

/// The most bytes that are read at all: a body in many small chunks is a little longer than its content.
const MAX_WIRE_BYTES: usize = 2 * MAX_REPLY_BYTES + MAX_HEAD_BYTES;
/// The longest content type that is told.
const MAX_CONTENT_TYPE: usize = 256;

/// What is sent. Path and query are encoded already, and the path is of the kind's list or of a login scheme of ours.
pub struct Sent {
    pub method: Method,
    pub path: String,
    pub body: Option<Vec<u8>>,
    pub credential: Option<(HeaderName, HeaderValue)>,
}

/// Connects, asks, and reads the answer. Redirects are answers; no proxy is asked for, whatever the environment says.
pub async fn exchange(
    resolver: &dyn Resolver,
    settings: &EndpointSettings,
    sent: Sent,
) -> Result<EndpointReply, BrokerFault> {
    let found = addresses(resolver, &settings.place.host).await?;
    let stream = connected(&found, settings.place.port).await?;
    let request = request(settings, sent)?;
    match settings.scheme {
        Scheme::Http => asked(stream, request).await,
        Scheme::Https => asked(tls::secured(settings, stream).await?, request).await,
    }
}

fn request(settings: &EndpointSettings, sent: Sent) -> Result<Request<Full<Bytes>>, BrokerFault> {
    let place = &settings.place;
    let host = match (settings.scheme, place.port) {
        (Scheme::Http, 80) | (Scheme::Https, 443) => place.host.to_string(),
        _ => place.to_string(),
    };
    let mut request = Request::builder()
        .method(sent.method)
        .uri(format!("{}{}", settings.base, sent.path))
        .header(HOST, host)
        .header(USER_AGENT, concat!("capability/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, "application/json, */*;q=0.5")
        .header(ACCEPT_ENCODING, "identity")
        .header(CONNECTION, "close");
    if sent.body.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if let Some((name, value)) = sent.credential {
        request = request.header(name, value);
    }
    request.body(Full::new(Bytes::from(sent.body.unwrap_or_default()))).map_err(|_| BrokerFault::CredentialUnreadable)
}

async fn asked<S>(stream: S, request: Request<Full<Bytes>>) -> Result<EndpointReply, BrokerFault>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    exchanged(stream, MAX_WIRE_BYTES, request, BrokerFault::Unavailable, of_http, reply).await
}

async fn reply(response: Response<Incoming>) -> Result<EndpointReply, BrokerFault> {
    let (head, mut incoming) = response.into_parts();
    let encoded = |value: &HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"identity");
    if head.headers.get_all(CONTENT_ENCODING).iter().any(encoded) {
        return Err(BrokerFault::EncodedReply);
    }
    if incoming.size_hint().lower() > MAX_REPLY_BYTES as u64 {
        return Err(BrokerFault::ReplyTooLarge);
    }
    let content_type = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let content_type = content_type.filter(|text| text.len() <= MAX_CONTENT_TYPE).map(str::to_owned);
    let mut body = Vec::new();
    while let Some(frame) = incoming.frame().await {
        // Trailers say nothing that anybody asked for.
        let Ok(data) = frame.map_err(|error| of_http(&error))?.into_data() else { continue };
        if body.len() + data.len() > MAX_REPLY_BYTES {
            return Err(BrokerFault::ReplyTooLarge);
        }
        body.extend_from_slice(&data);
    }
    Ok(EndpointReply { status: head.status.as_u16(), content_type, body })
}

/// What the library could not do, without its words: they may quote the other side.
fn of_http(error: &hyper::Error) -> BrokerFault {
    let mut cause: Option<&(dyn core::error::Error + 'static)> = Some(error);
    while let Some(inner) = cause {
        if inner.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::FileTooLarge) {
            return BrokerFault::ReplyTooLarge;
        }
        cause = inner.source();
    }
    // A head above its cap is among what does not parse.
    if error.is_parse() || error.is_incomplete_message() || error.is_body_write_aborted() {
        BrokerFault::MalformedReply
    } else {
        BrokerFault::Unavailable
    }
}

/// A path with its query, encoded so that no value ends where it should not.
pub fn with_query(path: &str, query: &[(String, String)]) -> String {
    let mut text = path.to_owned();
    for (at, (name, value)) in query.iter().enumerate() {
        text.push(if at == 0 { '?' } else { '&' });
        encode(name, &mut text);
        text.push('=');
        encode(value, &mut text);
    }
    text
}

fn encode(text: &str, into: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => into.push(byte.into()),
            // Writing to a string does not fail.
            _ => drop(write!(into, "%{byte:02X}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_query;

    #[test]
    fn a_query_is_names_and_values_and_nothing_else() {
        let query = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            with_query("/search", &pairs)
        };
        assert_eq!(query(&[]), "/search");
        assert_eq!(query(&[("q", "a b&c=d"), ("page", "2")]), "/search?q=a%20b%26c%3Dd&page=2");
        assert_eq!(query(&[("q#", "\r\nHost: x\u{e9}%")]), "/search?q%23=%0D%0AHost%3A%20x%C3%A9%25");
    }
}
