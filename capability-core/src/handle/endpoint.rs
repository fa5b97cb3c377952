//! One service the operator configured.

use core::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Changes, Handle, HandleKind, OnDevice, Reads, Targetless,
    is_configured_name, sealed,
};
use crate::call::Call;

/// The longest query of one exchange, names and values together, in bytes.
pub const MAX_QUERY_BYTES: usize = 8 * 1024;
/// The longest JSON text that is sent along, in bytes.
pub const MAX_SENT_BYTES: usize = 256 * 1024;
/// The longest answer that is taken, in bytes.
pub const MAX_REPLY_BYTES: usize = 1024 * 1024;

/// A method an endpoint kind may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpMethod {
    /// Reads.
    Get,
    /// Changes.
    Post,
}

/// A kind of service: its configured name and every method and path that may ever be sent to it.
///
/// ```
/// use capability_core::handle::{EndpointKind, HttpMethod, Reads};
///
/// /// The household's metasearch.
/// struct Searxng;
/// impl EndpointKind for Searxng {
///     const NAME: &'static str = "searxng";
///     type Power = Reads;
///     const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, "/search")];
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of endpoint, and `#[capability]` lends no other: a kind is a type of yours that says which service it is and what may be sent there\nhelp: write `impl capability_core::handle::EndpointKind for {Self} {{ .. }}` for a type of yours",
    label = "not a kind of endpoint"
)]
pub trait EndpointKind: Send + Sync + 'static {
    /// The name under which the operator configures it: `[a-z][a-z0-9_-]*`, at most 32 bytes.
    const NAME: &'static str;
    /// [`Reads`] or [`Changes`]: a kind that only reads allows only [`HttpMethod::Get`], and only a kind that changes is
    /// kept from `read_only` capabilities.
    type Power: EndpointPower;
    /// Everything the broker will send, by method and exact path; anything else is refused before a connection exists. A
    /// path starts with `/` and has plain segments: letters, digits, `-`, `_`, `.`, and no query.
    const ALLOWED: &'static [(HttpMethod, &'static str)];
}

/// [`Reads`] or [`Changes`].
pub trait EndpointPower: sealed::Sealed {
    /// Whether methods that change something may be allowed.
    #[doc(hidden)]
    const MAY_CHANGE: bool;
}
impl sealed::Sealed for Reads {}
impl sealed::Sealed for Changes {}
impl EndpointPower for Reads {
    const MAY_CHANGE: bool = false;
}
impl EndpointPower for Changes {
    const MAY_CHANGE: bool = true;
}

/// Whether everything that is allowed only reads.
#[expect(clippy::indexing_slicing, reason = "const fn: iterators are not const, and every index is below the length")]
const fn only_reads(allowed: &[(HttpMethod, &str)]) -> bool {
    let mut at = 0;
    while at < allowed.len() {
        if !matches!(allowed[at].0, HttpMethod::Get) {
            return false;
        }
        at += 1;
    }
    true
}

/// Whether every path is plain: what is compared with it later needs no decoding, and no two spellings mean one path.
#[expect(clippy::indexing_slicing, reason = "const fn: iterators are not const, and every index is below the length")]
const fn are_plain(allowed: &[(HttpMethod, &str)]) -> bool {
    let mut at = 0;
    while at < allowed.len() {
        let path = allowed[at].1.as_bytes();
        if path.is_empty() || path.len() > 256 || path[0] != b'/' {
            return false;
        }
        let mut i = 1;
        while i < path.len() {
            let after_slash = path[i - 1] == b'/';
            let plain = matches!(path[i], b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_')
                // A segment that starts with a dot may be a step up.
                || (matches!(path[i], b'.' | b'/') && !after_slash);
            if !plain {
                return false;
            }
            i += 1;
        }
        at += 1;
    }
    true
}

/// The service of kind `K` that the operator configured. The broker speaks with it and keeps credential and session.
///
/// What it reaches counts as outside the device unless the operator's configuration says `device`, and only such an
/// endpoint binds to a `local` capability; both are checked when the binding is made, not here.
///
/// A host where it is not configured does not serve it: a capability that takes it is then refused at policy with
/// `missing_runtime_binding`, visible to operators.
///
/// ```
/// use capability_core::handle::{BrokerFault, Endpoint, EndpointKind, HttpMethod, Reads};
///
/// struct Searxng;
/// impl EndpointKind for Searxng {
///     const NAME: &'static str = "searxng";
///     type Power = Reads;
///     const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, "/search")];
/// }
///
/// #[derive(serde::Deserialize)]
/// struct Page {
///     results: Vec<serde_json::Value>,
/// }
///
/// async fn count(searxng: &Endpoint<Searxng>, query: &str) -> Result<usize, BrokerFault> {
///     let reply = searxng.get("/search", &[("q", query), ("format", "json")]).await?;
///     Ok(reply.json::<Page>()?.results.len())
/// }
/// ```
pub struct Endpoint<K>(Call, PhantomData<K>);

impl<K: EndpointKind> Endpoint<K> {
    /// Asks with `GET`. The path is one of the kind's; names and values of the query are encoded by the host.
    ///
    /// # Errors
    /// [`BrokerFault::NotListed`] for a path that the kind does not list with `GET`; [`BrokerFault::CapExceeded`] above
    /// [`MAX_QUERY_BYTES`]; [`BrokerFault::ReplyTooLarge`] above [`MAX_REPLY_BYTES`]; [`BrokerFault::Unavailable`] and
    /// [`BrokerFault::TimedOut`] when the service does not answer; [`BrokerFault::Untrusted`] for a certificate that is not
    /// the configured one's; [`BrokerFault::CredentialRefused`] and [`BrokerFault::CredentialUnreadable`] and its like when it cannot be
    /// logged in to; [`BrokerFault::MalformedReply`] and [`BrokerFault::EncodedReply`] for an answer that is none;
    /// [`BrokerFault::Unconfirmed`] in a `preview`. An answer with an error status is an answer.
    pub async fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<EndpointReply, BrokerFault> {
        self.exchange(HttpMethod::Get, path, query, None).await
    }

    async fn exchange(
        &self,
        method: HttpMethod,
        path: &str,
        query: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Result<EndpointReply, BrokerFault> {
        if !Self::KIND.lists(method, path) {
            return Err(BrokerFault::NotListed);
        }
        let query: Vec<_> = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        if !fits(&query, body.as_deref()) {
            return Err(BrokerFault::CapExceeded);
        }
        let (endpoint, path) = (K::NAME.to_owned(), path.to_owned());
        match self.0.ask(BrokerRequest::Exchange { endpoint, method, path, query, body }).await? {
            BrokerReply::Exchanged(reply) => Ok(reply),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl<K: EndpointKind<Power = Changes>> Endpoint<K> {
    /// Sends `body` as JSON with `POST`, for a kind that [`Changes`].
    ///
    /// # Errors
    /// Those of [`Endpoint::get`]; [`BrokerFault::CapExceeded`] for a body above [`MAX_SENT_BYTES`] too, and
    /// [`BrokerFault::NotJson`] for one that does not serialise.
    pub async fn post(&self, path: &str, body: &impl Serialize) -> Result<EndpointReply, BrokerFault> {
        let body = serde_json::to_vec(body).map_err(|_| BrokerFault::NotJson)?;
        self.exchange(HttpMethod::Post, path, &[], Some(body)).await
    }
}

/// Whether query and body are within their caps.
pub(crate) fn fits(query: &[(String, String)], body: Option<&[u8]>) -> bool {
    let asked: usize = query.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    asked <= MAX_QUERY_BYTES && body.is_none_or(|body| body.len() <= MAX_SENT_BYTES)
}

/// What a service answered: foreign bytes, to be read with care. Headers other than the content type stay at the host.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointReply {
    /// The HTTP status. A redirect is one of them: nobody follows it.
    pub status: u16,
    /// The content type as the service wrote it, at most 256 bytes of printable ASCII.
    pub content_type: Option<String>,
    /// The body, at most [`MAX_REPLY_BYTES`].
    pub body: Vec<u8>,
}

impl EndpointReply {
    /// Whether the status is 200 to 299.
    #[must_use]
    pub const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// The body as JSON, whatever the status.
    ///
    /// # Errors
    /// [`BrokerFault::NotJson`] when the content type is none of JSON, or the body is not JSON of that shape.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, BrokerFault> {
        let essence = self.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let is_json = essence.eq_ignore_ascii_case("application/json")
            || essence.get(essence.len().saturating_sub(5)..).is_some_and(|end| end.eq_ignore_ascii_case("+json"));
        if !is_json {
            return Err(BrokerFault::NotJson);
        }
        serde_json::from_slice(&self.body).map_err(|_| BrokerFault::NotJson)
    }
}

impl core::fmt::Debug for EndpointReply {
    /// Without what the service wrote.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "EndpointReply({}, {} bytes)", self.status, self.body.len())
    }
}

impl<K> core::fmt::Debug for Endpoint<K> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Endpoint")
    }
}

impl<K> sealed::Sealed for Endpoint<K> {}
impl<K: EndpointKind> Handle for Endpoint<K> {
    const KIND: HandleKind = HandleKind::endpoint(K::NAME, K::ALLOWED);
    const FAULT: Option<&'static str> = if !is_configured_name(K::NAME) {
        Some(
            "the `NAME` of this endpoint kind is no plain name: a `#[capability]` finds its service by a word in the configuration\nhelp: write it as in `const NAME: &'static str = \"searxng\";`",
        )
    } else if !K::Power::MAY_CHANGE && !only_reads(K::ALLOWED) {
        Some(
            "the `ALLOWED` of this endpoint kind holds `HttpMethod::Post`, and its `Power` is `Reads`: a kind that only reads sends `HttpMethod::Get`\nhelp: write `type Power = Changes;`",
        )
    } else if !are_plain(K::ALLOWED) {
        Some(
            "the `ALLOWED` of this endpoint kind holds a path that is not plain: a path is `/` and segments of letters, digits, `-`, `_`, `.`\nhelp: write it as in `/api/stats/summary`; a query goes to `get`",
        )
    } else {
        None
    };
    type Reach = OnDevice;
    type Power = K::Power;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}
