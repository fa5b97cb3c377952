//! Logging in and out.

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::html;
use serde::Deserialize;

use super::{Here, Page, on_to};
use crate::web::access::{LINK_LIFETIME, Refusal, Ticket};
use crate::web::forms::{Asked, Sent};
use crate::web::guard::{Peer, Who};
use crate::web::refused::Refused;
use crate::web::{LOGIN, Shared};

#[derive(Deserialize)]
pub struct Link {
    link: Option<String>,
}

/// `GET /login`. Looking at a link does not use it up: what fetches addresses before a person opens them burns none.
pub async fn page(State(web): Here, Asked(Link { link }): Asked<Link>) -> Response {
    let minutes = LINK_LIFETIME.as_secs() / 60;
    let link = link.filter(|link| Ticket::from_hex(link).is_some());
    let has_password = web.service().host().operators().credential().is_set_up().unwrap_or(false);
    let body = html! {
        section.login {
            h1 { "Log in" }
            @if let Some(link) = &link {
                form #login-link method="post" action=(LOGIN) {
                    input type="hidden" name="link" value=(link);
                    p { "This link opens one session in this browser, once." }
                    button.primary type="submit" autofocus { "Open the approval centre" }
                }
            } @else {
                p {
                    "Get a link with " code { "capability web link" } ", which is good for one login within "
                    (minutes) " minutes" @if has_password { ", or use the operator password" } "."
                }
            }
            @if has_password {
                form #login-password method="post" action=(LOGIN) {
                    label for="password" { "Operator password" }
                    input #password type="password" name="password" autocomplete="current-password" required maxlength="1024" autofocus[link.is_none()];
                    button type="submit" { "Log in" }
                }
            }
        }
    };
    Page { title: "Log in", place: LOGIN, body }.show_to_anybody(&web)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    link: Option<String>,
    password: Option<String>,
    #[serde(rename = "csrf")]
    _csrf: Option<String>,
}

/// `POST /login`. Whatever session the browser brought along ends: the one it gets is new.
pub async fn enter(
    State(web): Here,
    Extension(Peer(peer)): Extension<Peer>,
    before: Option<Extension<Who>>,
    headers: HeaderMap,
    Sent(proof): Sent<Proof>,
) -> Result<Response, Refused> {
    web.access().try_once(peer).map_err(told)?;
    let epoch = web.epoch();
    let password = match (proof.link, proof.password) {
        (Some(link), None) => {
            let link = Ticket::from_hex(&link).ok_or_else(|| told(Refusal::NoSuchLink))?;
            web.access().redeem(&link).map_err(told)?;
            None
        }
        (None, Some(password)) => Some(password),
        _ => return Err(Refused::malformed("a login has a link or a password", "load the page again")),
    };
    // The guard let it in, so the origin is our own; over which scheme, only the browser knows.
    let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes);
    let encrypted = origin.is_some_and(|origin| origin.starts_with(b"https://"));
    let ticket = web.whole(begin(Shared::clone(&web), password, epoch)).await?;
    if let Some(Extension(who)) = before {
        web.access().close(&who.id);
    }
    tracing::info!(%peer, "somebody logged in to the pages");
    let mut response = on_to("/");
    let secure = if encrypted { "; Secure" } else { "" };
    let text = format!("{}={}; HttpOnly; SameSite=Strict; Path=/{secure}", web.cookie_name(encrypted), ticket.reveal());
    response.headers_mut().insert(header::SET_COOKIE, cookie(&text)?);
    Ok(response)
}

/// On record first, and alive then.
async fn begin(web: Shared, password: Option<String>, epoch: u64) -> Result<Ticket, Refused> {
    let entered = web.service().host().operators().enter(password.as_deref()).await;
    entered.map_err(|error| {
        let fault = crate::protocol::Fault::told(4, &error);
        let help = fault.help.unwrap_or_default();
        Refused::forbidden("not_admitted", fault.message, help)
    })?;
    Ok(web.access().open(epoch))
}

fn cookie(text: &str) -> Result<HeaderValue, Refused> {
    let mut value = HeaderValue::from_str(text).map_err(|_| Refused::no_session())?;
    value.set_sensitive(true);
    Ok(value)
}

fn told(refusal: Refusal) -> Refused {
    match refusal {
        Refusal::TooMany(seconds) => {
            let status = StatusCode::TOO_MANY_REQUESTS;
            let message = format!("too many tries to log in: the next one is possible in {seconds} s");
            Refused::new(status, "too_many_tries", message, "wait").after(seconds)
        }
        Refusal::NoSuchLink => Refused::forbidden(
            "no_such_link",
            "this link was used, is too old, or is none",
            "get a new one with `capability web link`, or use the operator password",
        ),
    }
}

/// `POST /logout`.
pub async fn leave(State(web): Here, who: Who) -> Result<Response, Refused> {
    web.access().close(&who.id);
    let mut response = on_to(LOGIN);
    for (encrypted, secure) in [(false, ""), (true, "; Secure")] {
        let name = web.cookie_name(encrypted);
        let gone = cookie(&format!("{name}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0{secure}"))?;
        response.headers_mut().append(header::SET_COOKIE, gone);
    }
    Ok(response)
}
