//! Standing answers, and calls about which nobody is asked any more.

use axum::extract::{Path, State};
use axum::response::Response;
use capability_core::approval::{DenialLoop, Grant, GrantId, GrantScope};
use capability_core::session::Subject;
use maud::{Markup, html};
use serde::Deserialize;

use super::{Here, Page, csrf, on_to, piece, time};
use crate::web::forms::Sent;
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Shared, Web, shown};
use crate::words::counted;

/// `GET /grants`.
pub async fn page(State(web): Here, who: Who) -> Result<Response, Refused> {
    let standing = standing(&web, &who).await?;
    let body = html! {
        div.heading { h1 { "Grants" } a.refresh href="/grants" { "Refresh" } }
        p { "A grant answers questions of a rule or a default for a while. It never answers what a capability's class asks." }
        div #standing data-live="/fragment/grants" { (standing) }
    };
    Ok(Page { title: "Grants", place: "/grants", body }.show(&web, &who))
}

/// `GET /fragment/grants`.
pub async fn fragment(State(web): Here, who: Who) -> Result<Response, Refused> {
    Ok(piece(standing(&web, &who).await?.into_string()))
}

async fn standing(web: &Shared, who: &Who) -> Result<Markup, Refused> {
    let operator = web.operator(who);
    let grants = web.service().grants(&operator).await?;
    let loops = web.service().denial_loops(&operator).await?;
    let (live, ended): (Vec<_>, Vec<_>) = grants.iter().partition(|grant| grant.ended.is_none());
    Ok(html! {
        p #grant-count data-count=(live.len()) {
            @match live.len() { 0 => "There is no grant.", count => { (counted(count, "grant is", "grants are")) " alive." } }
        }
        @if !live.is_empty() {
            ul.grants #live-grants { @for grant in &live { (row(web, who, grant)) } }
            form method="post" action="/grants/revoke" {
                (csrf(web, who))
                button.deny #revoke-all type="submit" { "Revoke all of them" }
            }
        }
        @if !loops.is_empty() { (refusals(web, who, &loops)) }
        @if !ended.is_empty() {
            details #ended-grants {
                summary { h2 { "Ended within a day" } }
                ul.grants { @for grant in &ended { (row(web, who, grant)) } }
            }
        }
    })
}

fn row(web: &Web, who: &Who, grant: &Grant) -> Markup {
    html! {
        li.grant data-grant=(grant.id) data-state=(grant.ended.map_or("live", |end| end.as_str())) {
            p {
                strong.capability { (grant.capability) "@" (grant.version) } " for " (grant.subject)
                @match (&grant.target, grant.scope) {
                    (Some((kind, target)), _) => { " on " (shown::target(*kind, target)) },
                    (None, GrantScope::Exact) => ", exactly one call",
                    (None, GrantScope::Target) => {},
                }
            }
            p.note {
                "given by " (grant.granted_by) " at " (time(grant.created_at, false)) "; "
                (grant.used) " of " (counted(grant.max_uses.get(), "use", "uses")) " used"
                @if let Some(at) = grant.last_used_at { ", last at " (time(at, false)) }
            }
            @match grant.ended {
                Some(end) => p { "ended: " (end.as_str()) },
                None => {
                    p.expires { "expires " (time(grant.expires_at, true)) }
                    form method="post" action={ "/grants/" (grant.id) "/revoke" } {
                        (csrf(web, who))
                        button type="submit" { "Revoke" span.visually-hidden { " the grant for " (grant.capability) } }
                    }
                }
            }
        }
    }
}

fn refusals(web: &Web, who: &Who, loops: &[DenialLoop]) -> Markup {
    html! {
        section #denial-loops aria-labelledby="loops-heading" {
            h2 #loops-heading { "Denied so often that nobody is asked again" }
            ul.grants {
                @for one in loops {
                    li data-subject=(one.subject) data-capability=(one.capability) {
                        p {
                            (one.subject) " proposes one call of " strong.capability { (one.capability) "@" (one.version) }
                            " again and again: denied " (counted(one.denials, "time", "times")) ", last at " (time(one.last_at, false))
                            ". Somebody may be asked again: " (time(one.until, true)) "."
                        }
                        form method="post" action={ "/denials/" (one.subject) "/clear" } {
                            (csrf(web, who))
                            button type="submit" { "Ask again for " (one.subject) }
                        }
                    }
                }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bare {
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /grants/{id}/revoke`.
pub async fn revoke(
    State(web): Here,
    who: Who,
    Path(id): Path<String>,
    Sent(_): Sent<Bare>,
) -> Result<Response, Refused> {
    let id: GrantId =
        id.parse().map_err(|_| Refused::not_found("no grant has that id", "see those that are alive under Grants"))?;
    take_back(&web, &who, Some(id)).await?;
    Ok(on_to("/grants"))
}

/// `POST /grants/revoke`.
pub async fn revoke_all(State(web): Here, who: Who, Sent(_): Sent<Bare>) -> Result<Response, Refused> {
    take_back(&web, &who, None).await?;
    Ok(on_to("/grants"))
}

/// Takes one grant back, or all of them.
pub async fn take_back(web: &Shared, who: &Who, id: Option<GrantId>) -> Result<serde_json::Value, Refused> {
    let (service, operator) = (Shared::clone(web), web.operator(who));
    web.whole(async move { service.service().revoke(&operator, id).await.map_err(Refused::from) }).await
}

/// `POST /denials/{subject}/clear`.
pub async fn clear(
    State(web): Here,
    who: Who,
    Path(subject): Path<String>,
    Sent(_): Sent<Bare>,
) -> Result<Response, Refused> {
    let subject: Subject =
        subject.parse().map_err(|_| Refused::not_found("no subject is called that", "see the subjects"))?;
    let (service, operator) = (Shared::clone(&web), web.operator(&who));
    web.whole(async move { service.service().clear_denials(&operator, &subject).await.map_err(Refused::from) }).await?;
    Ok(on_to("/grants"))
}
