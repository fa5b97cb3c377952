//! One call that waits: facts above, claims below, and the answers.

use axum::extract::State;
use axum::response::Response;
use capability_core::approval::{ApprovalStatus, PastCall, PendingApproval, Successor};
use capability_core::contract::{Network, SideEffect};
use capability_core::provider::Diagnostic;
use maud::{Markup, html};

use super::answers::answers;
use super::{Here, Page, piece, time};
use crate::display::diff;
use crate::display::text::{LONG, Reading};
use crate::protocol::{ApprovalDetail, ForeignTool, claimed, turn_in_words};
use crate::provider::counts_because;
use crate::web::forms::Named;
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Web, answer, difference, shown};
use crate::words::acting_for;

/// `GET /approvals/{id}`.
pub async fn page(State(web): Here, who: Who, Named(id): Named) -> Result<Response, Refused> {
    let detail = answer::detail(&web, &who, id).await?;
    let body = html! {
        div #card-live data-live={ "/fragment/approvals/" (id) } { (card(&web, &who, &detail)) }
    };
    Ok(Page { title: "Approval", place: "/approvals", body }.show(&web, &who))
}

/// `GET /fragment/approvals/{id}`.
pub async fn fragment(State(web): Here, who: Who, Named(id): Named) -> Result<Response, Refused> {
    let detail = answer::detail(&web, &who, id).await?;
    Ok(piece(card(&web, &who, &detail).into_string()))
}

fn card(web: &Web, who: &Who, detail: &ApprovalDetail) -> Markup {
    let summary = &detail.summary;
    let Some(pending) = &detail.content else {
        return html! {
            article.card #card data-approval=(summary.id) data-status=(summary.status) {
                h1 { (summary.capability) "@" (summary.version) }
                (settled(web, detail))
                p { "What it said is erased." }
                p { a href="/" { "To the queue" } }
            }
        };
    };
    html! {
        article.card #card data-approval=(pending.id) data-status=(summary.status) data-risk=(pending.risk.as_str()) aria-labelledby="card-heading" {
            h1 #card-heading { (verb(pending)) }
            @if let Some((kind, target)) = &pending.target {
                p.target #target { (shown::target(*kind, target)) }
            }
            (settled(web, detail))
            @if let Some(tool) = &detail.foreign { (foreign(tool)) }
            @for failing in &detail.failing { p.warning data-failing=(failing.capability) { strong { "Look twice: " } (failing.sentence()) "." } }
            (facts(web, pending))
            (arguments(pending))
            @if let Some(preview) = &pending.preview {
                section aria-labelledby="preview-heading" {
                    h2 #preview-heading { "Preview" }
                    pre.exact #preview tabindex="0" { (shown::preview(&preview.text)) }
                }
            }
            @if let Some(last) = &detail.last_approved { (since(last, pending)) }
            span #end-of-text {}
            @if summary.status == ApprovalStatus::Pending { (answers(web, who, detail, pending)) }
            (claims(pending))
        }
    }
}

/// What it would do, in words of ours.
fn verb(pending: &PendingApproval) -> Markup {
    let verb = match (pending.class.side_effect, pending.class.network) {
        (SideEffect::ReadOnly, Network::Local) => "Read on this device",
        (SideEffect::ReadOnly, Network::External) => "Ask outside this device",
        (SideEffect::Mutating, Network::Local) => "Change something on this device",
        (SideEffect::Mutating, Network::External) => "Change something outside this device",
    };
    html! { (verb) ": " span.capability { (pending.capability) "@" (pending.version) } }
}

/// Where it stands, when that is not in front of whoever looks.
fn settled(web: &Web, detail: &ApprovalDetail) -> Markup {
    let status = detail.summary.status;
    if status == ApprovalStatus::Pending {
        return html! {};
    }
    let by = web.service().answered_by(detail.summary.id);
    html! {
        p.settled #settled role="status" {
            "This call is " strong { (status) } "."
            @if let Some(by) = by { " It was " (by.answer) " by " (by.operator) " at " (time(by.at, false)) "." }
            @match detail.successor {
                None => {},
                Some(Successor::By(next)) => { " " a #successor href={ "/approvals/" (next) } { "Another call came in its place." } },
                Some(Successor::Refused(code)) => { " What it was changed to was refused: " (code.message()) "." @if let Some(way) = Diagnostic::of(code) { " " (way.as_str()) ": " (way.message()) "." } },
            }
        }
    }
}

fn facts(web: &Web, pending: &PendingApproval) -> Markup {
    let identity = &pending.identity;
    // The registry's own words: none of them is the proposer's.
    let entry = web.service().describe(&pending.capability, Some(pending.version)).ok();
    html! {
        @if let Some(entry) = &entry { p.summary #summary { (entry.row.summary) } }
        dl.facts #facts {
            div { dt { "Asked by" } dd #asked-by {
                (identity.subject) @if let Some(slot) = &pending.slot { " in " (slot) } (acting_for(&pending.behind)) ", by way of " (identity.origin.as_str()) ", " (turn_in_words(identity.turn))
                ", session " code { (identity.id) }
            } }
            div { dt { "Asked because" } dd #because {
                ul { @for code in &pending.because { li { (code.message()) } } }
            } }
            @if let Some(carrier) = &pending.provider {
                div { dt { "Carried out by" } dd #carrier { strong { (carrier) } } }
            }
            // Nothing says yet which message or page a target was taken from, and that is said.
            @if pending.target.is_some() {
                div { dt { "Target taken from" } dd #taken-from { "not traced" } }
            }
            div { dt { "Risk" } dd #risk {
                strong { (pending.risk.as_str()) } ", " (pending.class)
                @if entry.as_ref().is_some_and(|entry| entry.idempotent) { ", twice is the same as once" }
            } }
            @if let Some(entry) = &entry {
                div { dt { "Is lent" } dd #lent {
                    @if entry.handles.is_empty() { "nothing" } @else {
                        ul { @for handle in &entry.handles {
                            @let bound = entry.bound_to.iter().find(|bound| bound.starts_with(&format!("{handle}:")));
                            li { (bound.unwrap_or(handle)) }
                        } }
                    }
                } }
                div { dt { "Runs" } dd #runs { "isolation " (entry.row.isolation) ", deadline " (entry.row.deadline) } }
            }
            div { dt { "Expires" } dd #expires { (time(pending.expires_at, true)) } }
            div { dt { "Asked at" } dd { (time(pending.created_at, false)) } }
        }
    }
}

/// The tool of somebody else's that the call goes to: what we know of it, and apart from that what it says of itself.
fn foreign(tool: &ForeignTool) -> Markup {
    html! {
        section.foreign #foreign data-server=(tool.server) aria-labelledby="foreign-heading" {
            h2 #foreign-heading { "A tool of somebody else's" }
            dl.facts {
                div { dt { "Server" } dd #foreign-server { strong { (tool.server) } ", " (tool.way) " " (shown::text(&tool.place, Reading::Name)) } }
                div { dt { "Tool" } dd #foreign-tool { (shown::text(&tool.tool, Reading::Name)) } }
                div { dt { "Counts as" } dd #foreign-class {
                    (tool.side_effect.replace('_', " ")) " and " (tool.network) ": " (counts_because(tool.classified, tool.raised))
                } }
                div { dt { "Claims" } dd #foreign-claims { (claimed(tool.claims)) ", which nobody has checked" } }
            }
            details { summary { "What the server says it does" } pre.claim { (shown::block(&tool.description)) } }
        }
    }
}

/// The arguments exactly as they would run: laid out, never cut.
fn arguments(pending: &PendingApproval) -> Markup {
    html! {
        section aria-labelledby="arguments-heading" {
            details #arguments open {
                summary { h2 #arguments-heading { "Arguments, exactly as they would run" } }
                (shown::arguments(&String::from_utf8_lossy(&pending.arguments)))
            }
        }
    }
}

/// What is different from the last call of this capability that people let its subject make.
fn since(last: &PastCall, pending: &PendingApproval) -> Markup {
    let (before, now) = (String::from_utf8_lossy(&last.arguments), String::from_utf8_lossy(&pending.arguments));
    html! {
        section aria-labelledby="difference-heading" {
            details #difference open {
                summary { h2 #difference-heading { "Different from the last one that was approved" } }
                p.note { "That one was used at " (time(last.at, false)) "." }
                (difference::difference(&diff::arguments(&before, &now), before.len() + now.len() > LONG))
            }
        }
    }
}

/// What the proposer says: below everything that we know, and called what it is.
fn claims(pending: &PendingApproval) -> Markup {
    let claims = [("reason", &pending.claims.reason), ("evidence", &pending.claims.evidence)];
    if claims.iter().all(|(_, claim)| claim.is_none()) {
        return html! {};
    }
    html! {
        section.claims #claims aria-labelledby="claims-heading" {
            h2 #claims-heading { "Claimed by the proposer" }
            p.note { "Nobody has checked this. It is not what would run." }
            @for (what, claim) in claims {
                @if let Some(claim) = claim {
                    h3 { (what) }
                    pre.claim data-claim=(what) { (shown::block(claim)) }
                }
            }
        }
    }
}
