//! What stands before every page: by which name it was asked for, from which page, by whom, with how much.
//!
//! Nothing behind it is reached without it, so that no route can forget a check.

use core::time::Duration;
use std::net::IpAddr;

use axum::Form;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use capability_core::redact::WITHHELD;
use serde::Deserialize;

use super::access::{Kept, Ticket, Way};
use super::hosts::is_own_origin;
use super::refused::Refused;
use super::{LOGIN, Shared, pages};
use crate::operator::OperatorToken;
use crate::secrets::redactor;

/// The largest form or document, in bytes; what changes the arguments of a call has room for the largest ones, escaped.
const MAX_BODY: usize = 64 * 1024;
const MAX_EDIT: usize = 4 * 1024 * 1024;
/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// The header that carries what a form carries in its field.
pub const CSRF_HEADER: &str = "x-csrf-token";

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// An operator who proved it: what stands in a request's extensions, and nowhere else.
#[derive(Clone, Copy)]
pub struct Who {
    /// How.
    pub way: Way,
    /// What is kept of the session.
    pub id: Kept,
}

/// Checks a request, and dresses the response.
pub async fn guard(State(web): State<Shared>, request: Request, next: Next) -> Response {
    let (is_api, method) = (is_api(request.uri().path()), request.method().clone());
    let is_page = method == Method::GET && !is_fetched(request.uri().path());
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
    let (who, answered) = match admit(&web, request).await {
        Ok(request) => (request.extensions().get::<Who>().copied(), next.run(request).await),
        Err(refused) => (None, refused.into_response()),
    };
    let mut response = answered;
    if let Some(refused) = response.extensions_mut().remove::<Refused>() {
        // Neither what was sent nor where to: that it was refused, and why.
        tracing::debug!(%method, ?peer, code = refused.code, "a request to the pages is refused");
        response = match (is_api, is_page && refused.status() == StatusCode::UNAUTHORIZED) {
            (true, _) => refused.into_json(),
            (false, true) => pages::on_to(LOGIN),
            (false, false) => pages::refused(&web, who.as_ref(), refused),
        };
    }
    dress(response.headers_mut());
    without_secrets(response).await
}

/// What goes to a browser or to a program of an operator's holds no secret. A stream of events says so for each.
async fn without_secrets(response: Response) -> Response {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind.starts_with("application/json");
    if !is_json && !kind.starts_with("text/html") {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let redactor = redactor();
    let told = match to_bytes(body, usize::MAX).await.ok().and_then(|bytes| String::from_utf8(bytes.into()).ok()) {
        Some(text) if is_json => redactor.json(&text).into_owned(),
        Some(text) => redactor.text(&text).into_owned(),
        // What cannot be looked through goes nowhere.
        None => WITHHELD.to_owned(),
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(told))
}

fn is_api(path: &str) -> bool {
    path.starts_with("/api/")
}

/// What only our own pages fetch.
fn is_fetched(path: &str) -> bool {
    is_api(path) || path.starts_with("/fragment/") || path == "/events"
}

/// Sessions are not kept alive by what a page does while nobody looks at it.
fn is_by_itself(path: &str) -> bool {
    path.starts_with("/fragment/") || path == "/events"
}

async fn admit(web: &Shared, mut request: Request) -> Result<Request, Refused> {
    let host = host(web, &request)?.to_owned();
    let safe = matches!(*request.method(), Method::GET | Method::HEAD);
    let path = request.uri().path().to_owned();
    let bearer = bearer(request.headers())?;
    from_own_page(request.headers(), &host, !safe, bearer.is_none(), is_fetched(&path))?;
    let who = match bearer {
        Some(_) if !is_api(&path) => None,
        Some(token) => Some(by_token(web, token)?),
        None => by_cookie(web, request.headers(), !is_by_itself(&path)),
    };
    if !safe {
        request = whole(request, &path).await?;
        // A login makes a session of its own, whatever the browser brought along.
        if let Some(who) = who.filter(|who| who.way == Way::Page && path != LOGIN) {
            request = with_csrf(web, &who, request).await?;
        }
    }
    if let Some(who) = who {
        request.extensions_mut().insert(who);
    }
    Ok(request)
}

/// The name it was asked for by, when it is one of ours.
fn host<'r>(web: &Shared, request: &'r Request) -> Result<&'r str, Refused> {
    let mut named = request.headers().get_all(header::HOST).iter();
    let host = named.next().and_then(|host| host.to_str().ok()).filter(|_| named.next().is_none());
    host.filter(|host| request.uri().authority().is_none() && web.hosts().admit(host)).ok_or_else(|| {
        Refused::new(
            StatusCode::MISDIRECTED_REQUEST,
            "foreign_host",
            "this is not the name of the approval centre",
            "use the address that `capability serve` printed, or list the name under `[web]` `hosts` in `config.toml`",
        )
    })
}

/// Whether it comes from a page of ours, as far as the browser says. What changes something must say so, unless it brings
/// a credential that no browser sends by itself.
fn from_own_page(headers: &HeaderMap, host: &str, changes: bool, must: bool, fetched: bool) -> Result<(), Refused> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("null"));
    let origin = text(header::ORIGIN).map(|origin| is_own_origin(origin, host));
    let site = text(HeaderName::from_static("sec-fetch-site")).map(|site| matches!(site, "same-origin" | "none"));
    let own = match (origin, site) {
        (Some(false), _) => false,
        (_, Some(false)) => !changes && !fetched && origin.is_none(),
        (Some(true), _) => true,
        (None, Some(true)) => true,
        (None, None) => !(changes && must),
    };
    if own {
        return Ok(());
    }
    Err(Refused::forbidden(
        "foreign_origin",
        "this request comes from a page that is not the approval centre's",
        "open the approval centre itself and do it there",
    ))
}

/// The token in `Authorization`; anything else in there is refused, and never passed over.
fn bearer(headers: &HeaderMap) -> Result<Option<OperatorToken>, Refused> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let token = value.to_str().ok().and_then(|text| text.strip_prefix("Bearer ")).and_then(OperatorToken::from_hex);
    token.filter(|_| values.next().is_none()).map(Some).ok_or_else(not_a_token)
}

fn not_a_token() -> Refused {
    Refused::new(
        StatusCode::UNAUTHORIZED,
        "no_session",
        "that is not the token of a live operator session",
        "write one with `capability operator login --token-file FILE`",
    )
}

fn by_token(web: &Shared, token: OperatorToken) -> Result<Who, Refused> {
    web.service().host().operators().credential().check(&token).map_err(|_| not_a_token())?;
    Ok(Who { way: Way::Token, id: token.kept() })
}

fn by_cookie(web: &Shared, headers: &HeaderMap, used: bool) -> Option<Who> {
    let named = |encrypted| cookie(headers, &web.cookie_name(encrypted));
    let ticket = named(true).or_else(|| named(false))?;
    let id = web.access().alive(&ticket, web.epoch(), used)?;
    Some(Who { way: Way::Page, id })
}

/// The one cookie of this name; two of them are none.
fn cookie(headers: &HeaderMap, name: &str) -> Option<Ticket> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut found = lines.flat_map(|line| line.split(';')).filter_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    });
    let ticket = Ticket::from_hex(found.next()?)?;
    found.next().is_none().then_some(ticket)
}

/// The request with its whole body, which is neither too large nor too slow.
async fn whole(request: Request, path: &str) -> Result<Request, Refused> {
    let most = if path.ends_with("/edit") { MAX_EDIT } else { MAX_BODY };
    let (parts, body) = request.into_parts();
    let read = tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, most)).await;
    let slow = |_| Refused::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the request took too long", "send it again");
    let large = |_| {
        let message = "the request is too large, or broke off";
        Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, "send less")
    };
    let bytes = read.map_err(slow)?.map_err(large)?;
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

#[derive(Deserialize)]
struct CsrfField {
    csrf: String,
}

/// The request again, when it carries the session's own token in its header or in its form.
async fn with_csrf(web: &Shared, who: &Who, request: Request) -> Result<Request, Refused> {
    let (parts, body) = request.into_parts();
    let bytes: Bytes = to_bytes(body, MAX_EDIT).await.unwrap_or_default();
    let again = || Request::from_parts(parts.clone(), Body::from(bytes.clone()));
    let header = parts.headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let token = match header {
        Some(token) => Some(token),
        None => Form::<CsrfField>::from_request(again(), &()).await.ok().map(|Form(field)| field.csrf),
    };
    if token.is_some_and(|token| web.seal().is_csrf(&who.id, &token)) {
        return Ok(again());
    }
    Err(Refused::forbidden(
        "forged",
        "this request does not carry the token of your session's own pages",
        "load the page again and repeat it there",
    ))
}

/// What every response carries: nothing runs or loads but our own two files, nothing frames it, nothing keeps it.
const DRESS: [(&str, &str); 8] = [
    (
        "content-security-policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    // Other sites are told nothing. With `no-referrer` a browser would not say of our own forms either that they are ours.
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    ("cache-control", "no-store"),
];

fn dress(headers: &mut HeaderMap) {
    for (name, value) in DRESS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
