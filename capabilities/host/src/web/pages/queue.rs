//! What waits, gravest and soonest first.

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

use super::{Here, Page, piece, time};
use crate::web::board::{Snapshot, Waiting};
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Shared, shown};
use crate::words::counted;

/// `GET /`.
pub async fn page(State(web): Here, who: Who) -> Result<Response, Refused> {
    let queue = queue(&web, &who).await?;
    let loops = web.service().denial_loops(&web.operator(&who)).await?;
    let body = html! {
        div.heading {
            h1 { "Queue" }
            a.refresh href="/" { "Refresh" }
        }
        @if !loops.is_empty() {
            p.notice #loops data-count=(loops.len()) {
                (counted(loops.len(), "call was", "calls were")) " denied so often that nobody is asked again: "
                a href="/grants#denial-loops" { "see which" } "."
            }
        }
        div #queue data-live="/fragment/queue" { (PreEscaped(String::from_utf8_lossy(&queue))) }
    };
    Ok(Page { title: "Queue", place: "/", body }.show(&web, &who))
}

/// `GET /fragment/queue`.
pub async fn fragment(State(web): Here, who: Who) -> Result<Response, Refused> {
    Ok(piece(queue(&web, &who).await?))
}

async fn queue(web: &Shared, who: &Who) -> Result<Bytes, Refused> {
    let looked = web.board.look(web.service(), &web.operator(who)).await;
    let snapshot = looked.map_err(|fault| Refused::from(crate::protocol::Fault::told(6, &fault)))?;
    Ok(snapshot.rendered.get_or_init(|| render(&snapshot).into_string().into()).clone())
}

fn render(snapshot: &Snapshot) -> Markup {
    html! {
        p #count data-count=(snapshot.count()) {
            @match snapshot.count() {
                0 => "Nothing waits for an answer.",
                count => { (counted(count, "call waits", "calls wait")) " for an answer." }
            }
        }
        @if !snapshot.waiting.is_empty() {
            ol.queue #waiting {
                @for group in &snapshot.waiting {
                    @if let [first, ..] = group.as_slice() {
                        li.group data-risk=(first.summary.risk.as_str()) {
                            @if group.len() > 1 {
                                p.same { (group.len()) " identical calls, each answered by itself" }
                            }
                            ul { @for one in group { (row(one)) } }
                        }
                    }
                }
            }
        }
        @if !snapshot.answered.is_empty() {
            section aria-labelledby="answered-heading" {
                h2 #answered-heading { "Approved, and not yet run" }
                ul.queue #answered { @for one in &snapshot.answered { (row(one)) } }
            }
        }
    }
}

fn row(waiting: &Waiting) -> Markup {
    let summary = &waiting.summary;
    html! {
        li.row data-approval=(summary.id) data-status=(summary.status) data-risk=(summary.risk.as_str()) {
            a.open href={ "/approvals/" (summary.id) } {
                span.risk { span.visually-hidden { "risk " } (summary.risk.as_str()) }
                " "
                span.what {
                    span.capability { (summary.capability) "@" (summary.version) }
                    @if let Some(target) = &waiting.target {
                        " " span.target { (shown::brief(target)) }
                    }
                }
                " "
                span.by { "asked by " (summary.identity.subject) (waiting.acts_for) }
            }
            p.expires { "expires " (time(summary.expires_at, true)) }
        }
    }
}
