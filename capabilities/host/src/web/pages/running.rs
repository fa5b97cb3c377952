//! What runs on in the host, and an end to it.

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::{Here, Page, csrf, on_to, time};
use crate::display::text::Reading;
use crate::host::Running;
use crate::protocol::Fault;
use crate::web::forms::Sent;
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Shared, Web, shown};

const PLACE: &str = "/running";

/// `GET /running`.
pub async fn page(State(web): Here, who: Who) -> Result<Response, Refused> {
    let running = web.service().host().running(&web.operator(&who));
    let body = html! {
        div.heading { h1 { "Running" } a.refresh href=(PLACE) { "Refresh" } }
        p.note { "Turns of agents, and commands in the background. Each ends by itself when its time is over, with the session that began it, and with this host." }
        @if running.is_empty() { p #nothing-runs { "Nothing runs: no agent, and no command in the background." } }
        @if !running.is_empty() {
            ul.grants #running { @for one in &running { (row(&web, &who, one)) } }
        }
    };
    Ok(Page { title: "Running", place: PLACE, body }.show(&web, &who))
}

fn row(web: &Web, who: &Who, running: &Running) -> Markup {
    html! {
        li data-run=(running.id) data-subject=(running.subject) {
            p {
                strong { (running.kind.as_str()) } " of " (running.subject)
                @if let Some(other) = &running.acts_for { ", acting for " (other) }
            }
            p.target { (shown::text(&running.what, Reading::Name)) }
            p.note { "since " (time(running.since, false)) ", until " (time(running.ends_at, true)) " at most" }
            form method="post" action={ (PLACE) "/" (running.id) "/stop" } {
                (csrf(web, who))
                button type="submit" { "Stop it, with everything that it started" }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /running/{id}/stop`.
pub async fn stop(
    State(web): Here,
    who: Who,
    Path(id): Path<String>,
    Sent(Nothing { .. }): Sent<Nothing>,
) -> Result<Response, Refused> {
    let (shared, operator) = (Shared::clone(&web), web.operator(&who));
    web.whole(async move {
        let stopped = shared.service().host().stop_running(&operator, &id).await;
        stopped.map_err(|error| Refused::from(Fault::told(4, &error)))
    })
    .await?;
    Ok(on_to(PLACE))
}
