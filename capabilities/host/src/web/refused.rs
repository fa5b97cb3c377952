//! What the pages and their interface say when something is not done.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::protocol::Fault;

/// Why something was not done, in the form of every refusal here: a word, a sentence, and what would be right. It carries
/// nothing that was sent.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Refused {
    #[serde(skip)]
    status: StatusCode,
    /// A word for programs.
    pub code: &'static str,
    /// What was wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
    /// After how many seconds it may be tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u64>,
}

impl Refused {
    /// With this status.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), help: help.into(), retry_after_s: None }
    }

    /// Not for whoever asks, in this way.
    pub fn forbidden(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message, help)
    }

    /// What it was about stands elsewhere by now.
    pub fn conflict(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message, help)
    }

    /// It makes no sense as it was sent.
    pub fn malformed(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", message, help)
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message, help)
    }

    /// Nobody is logged in.
    pub fn no_session() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "no_session",
            "no operator session is open, or it has ended",
            "log in with a link from `capability web link`, or with the operator password",
        )
    }

    /// After so many seconds.
    pub fn after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// Its status.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// For a program.
    pub fn into_json(self) -> Response {
        let mut response = (self.status, Json(&self)).into_response();
        self.into_headers(&mut response);
        response
    }

    /// The headers that go with it, whatever its form.
    pub fn into_headers(self, response: &mut Response) {
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
    }
}

impl From<Fault> for Refused {
    fn from(Fault { exit, message, help }: Fault) -> Self {
        let (status, code) = match exit {
            2 => (StatusCode::BAD_REQUEST, "malformed"),
            4 => (StatusCode::FORBIDDEN, "refused"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "broken"),
        };
        Self::new(status, code, message, help.unwrap_or_else(|| "look at the host with `capability doctor`".to_owned()))
    }
}

impl IntoResponse for Refused {
    /// With itself beside it: the guard gives it the form that was asked for.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
