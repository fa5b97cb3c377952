//! What stands before every request: by which name it was asked for, from which page, by whom, with how much.

use core::time::Duration;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, JsonRpcError, RequestId};
use serde_json::json;

use super::super::lift::{TAKEN, lift, read, refusal};
use super::people::{Admitted, UnderWay};
use super::{Door, MAX_BODY, PATH};
use crate::cli::in_own_words;
use crate::protocol::Redacted;
use crate::web::is_own_origin;

/// How long a message may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// What a message says once more in its headers, for whoever stands between: of two values each could be read by somebody.
const MIRRORED: [HeaderName; 3] = [
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
];
/// What names a session of the older protocol.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Checks a request, lets its call in for its client, and dresses the response.
pub(super) async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let mut response = match admit(&door, request).await {
        Ok((request, admitted, under_way)) => {
            let response = next.run(request).await;
            // Only an answer to `initialize` names one.
            if let Some(session) = text(response.headers(), &SESSION) {
                door.people.owns(session, &admitted).await;
            }
            match under_way {
                Some(one) => response.map(|answer| one.answered_by(answer)),
                None => response,
            }
        }
        Err(refused) => refused.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

async fn admit(door: &Door, request: Request) -> Result<(Request, Admitted, Option<UnderWay>), Refused> {
    let headers = request.headers();
    let host = one(headers, &header::HOST).filter(|host| request.uri().authority().is_none() && door.hosts.admit(host));
    let host = host.ok_or_else(Refused::foreign_host)?;
    // A program sends no origin. A page of a browser that does must be of this very host, and there are none.
    if headers.contains_key(header::ORIGIN)
        && !one(headers, &header::ORIGIN).is_some_and(|origin| is_own_origin(origin, host))
    {
        return Err(Refused::foreign_origin());
    }
    let token = one(headers, &header::AUTHORIZATION).and_then(|text| text.strip_prefix("Bearer "));
    let token = Redacted::new(token.ok_or_else(Refused::no_token)?.to_owned());
    let admitted = door.people.admit(&door.service, token).await.ok_or_else(Refused::no_token)?;
    if request.uri().path() != PATH {
        return Err(Refused::not_found());
    }
    // Somebody else's session and none at all are told apart to nobody.
    if headers.contains_key(&SESSION) && !one(headers, &SESSION).is_some_and(|id| door.people.is_of(id, &admitted)) {
        return Err(Refused::no_session());
    }
    if MIRRORED.iter().any(|name| headers.get_all(name).iter().count() > 1) {
        let twice = refusal(None, ErrorCode::HEADER_MISMATCH, "a header that is there twice says nothing");
        return Err(Refused::malformed(&twice));
    }
    let session = text(headers, &SESSION).map(str::to_owned);
    let mut under_way = None;
    let mut request = if *request.method() == Method::POST {
        let (mut request, id) = lifted(request).await?;
        if let (Some(session), Some(id)) = (session, id) {
            let taken = || Refused::malformed(&refusal(None, ErrorCode::INVALID_REQUEST, TAKEN));
            let begun = door.people.begins(&session, &id).ok_or_else(taken)?;
            // With the request to whatever works on it.
            request.extensions_mut().insert(begun.clone());
            under_way = Some(begun);
        }
        request
    } else {
        request
    };
    request.extensions_mut().insert(admitted.clone());
    // It has done its work, and nothing behind this needs it.
    request.headers_mut().remove(header::AUTHORIZATION);
    Ok((request, admitted, under_way))
}

/// The one value of a header; two of them are none.
fn one<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

/// The request with its message read, and the arguments of a call beside it; and its id, where it is one that is answered.
async fn lifted(request: Request) -> Result<(Request, Option<RequestId>), Refused> {
    let (mut parts, body) = request.into_parts();
    let body = tokio::time::timeout(BODY_TIMEOUT, to_bytes(body, MAX_BODY)).await.map_err(|_| Refused::too_slow())?;
    let body = body.map_err(|_| Refused::too_large())?;
    let lifted = lift(&body).map_err(|answer| Refused::malformed(&answer))?;
    let id = match read(&lifted.message).map_err(|answer| Refused::malformed(&answer))? {
        ClientJsonRpcMessage::Request(request) => Some(request.id),
        _ => None,
    };
    if let Some(arguments) = lifted.arguments {
        parts.extensions.insert(arguments);
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok((Request::from_parts(parts, Body::from(lifted.message)), id))
}

/// A request that is turned away.
pub struct Refused {
    status: StatusCode,
    body: serde_json::Value,
}

impl Refused {
    fn new(status: StatusCode, code: &str, message: &str, help: &str) -> Self {
        Self { status, body: json!({ "code": code, "message": message, "help": in_own_words(help) }) }
    }

    fn foreign_host() -> Self {
        let help = "use the address that `serve` printed, or list the name under `[mcp]` `hosts` in `config.toml`";
        Self::new(StatusCode::FORBIDDEN, "foreign_host", "this is not the name of this host", help)
    }

    fn foreign_origin() -> Self {
        let message = "this request comes from a page of somebody else's";
        Self::new(StatusCode::FORBIDDEN, "foreign_origin", message, "send it from a program")
    }

    fn no_token() -> Self {
        let help =
            "let the client in with `capability mcp token create`, and send the token as `Authorization: Bearer`";
        Self::new(StatusCode::UNAUTHORIZED, "no_client", "that is not the token of a client that is let in", help)
    }

    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is nothing here", "ask at `/mcp`")
    }

    fn no_session() -> Self {
        Self::new(StatusCode::NOT_FOUND, "no_session", "there is no such session", "open one with `initialize`")
    }

    fn too_slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the message took too long", "send it again")
    }

    fn too_large() -> Self {
        let message = "the message is too large, or broke off";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, "send at most 8 MiB")
    }

    /// A message that cannot be read, answered as the protocol answers it.
    fn malformed(answer: &JsonRpcError) -> Self {
        Self { status: StatusCode::BAD_REQUEST, body: serde_json::to_value(answer).unwrap_or_default() }
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        tracing::debug!(status = self.status.as_u16(), "a request of a program is refused");
        let mut response = (self.status, axum::Json(self.body)).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
