//! What is sent to us, in a shape or refused. What a library would say about it could hold what was sent.

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::{Form, Json};
use capability_core::approval::ApprovalId;
use serde::de::DeserializeOwned;

use super::Shared;
use super::guard::Who;
use super::refused::Refused;

/// A form of one of our pages.
pub struct Sent<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Shared> for Sent<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, web: &Shared) -> Result<Self, Refused> {
        match Form::<T>::from_request(request, web).await {
            Ok(Form(sent)) => Ok(Self(sent)),
            Err(_) => Err(Refused::malformed("the form is not one of this page", "load the page again")),
        }
    }
}

/// A document of a program.
pub struct Document<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Shared> for Document<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, web: &Shared) -> Result<Self, Refused> {
        match Json::<T>::from_request(request, web).await {
            Ok(Json(sent)) => Ok(Self(sent)),
            Err(_) => {
                let message =
                    "the body is not the JSON document that belongs here, or is not called `application/json`";
                Err(Refused::malformed(message, "see `/api/openapi.json`"))
            }
        }
    }
}

/// What stands after the question mark.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for Asked<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Refused> {
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(asked)) => Ok(Self(asked)),
            Err(_) => Err(Refused::malformed("the address asks for something else than this page has", "leave it out")),
        }
    }
}

/// The approval that an address names.
pub struct Named(pub ApprovalId);

impl FromRequestParts<Shared> for Named {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, web: &Shared) -> Result<Self, Refused> {
        let named = Path::<String>::from_request_parts(parts, web).await;
        let id = named.ok().and_then(|Path(text)| text.parse().ok());
        id.map(Self).ok_or_else(|| Refused::not_found("no approval has that id", "see what waits in the queue"))
    }
}

impl FromRequestParts<Shared> for Who {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &Shared) -> Result<Self, Refused> {
        parts.extensions.get::<Self>().copied().ok_or_else(Refused::no_session)
    }
}
