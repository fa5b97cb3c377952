//! One call that waits: facts above, claims below, and the answers.

use axum::extract::State;
use axum::response::Response;
use capability_core::approval::{ApprovalStatus, PendingApproval};
use capability_core::contract::{Network, SideEffect};
use maud::{Markup, html};
use serde::Deserialize;

use super::{Here, Page, csrf, on_to, piece, time};
use crate::protocol::{ApprovalDetail, turn_in_words};
use crate::service::MAX_NOTE;
use crate::web::answer::{self, Consent};
use crate::web::forms::{Named, Sent};
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Web, shown};

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
            (facts(pending))
            (arguments(pending))
            @if let Some(preview) = &pending.preview {
                section aria-labelledby="preview-heading" {
                    h2 #preview-heading { "Preview" }
                    pre.exact #preview tabindex="0" { (shown::block(&preview.text)) }
                }
            }
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
        }
    }
}

fn facts(pending: &PendingApproval) -> Markup {
    let identity = &pending.identity;
    html! {
        dl.facts #facts {
            div { dt { "Asked by" } dd #asked-by {
                (identity.subject) ", by way of " (identity.origin.as_str()) ", " (turn_in_words(identity.turn))
                ", session " code { (identity.id) }
            } }
            div { dt { "Asked because" } dd #because {
                ul { @for code in &pending.because { li { (code.message()) } } }
            } }
            div { dt { "Risk" } dd #risk { strong { (pending.risk.as_str()) } ", " (pending.class) } }
            div { dt { "Expires" } dd #expires { (time(pending.expires_at, true)) } }
            div { dt { "Asked at" } dd { (time(pending.created_at, false)) } }
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

fn answers(web: &Web, who: &Who, detail: &ApprovalDetail, pending: &PendingApproval) -> Markup {
    let stamp = web.seal().stamp(&who.id, &answer::version(detail));
    let at = |what: &str| format!("/approvals/{}/{what}", pending.id);
    let word = answer::word(pending);
    html! {
        section.answers #answers aria-labelledby="answers-heading" {
            h2 #answers-heading { "Your answer" }
            form #deny-form method="post" action=(at("deny")) {
                (csrf(web, who))
                button.deny #deny type="submit" data-first { "Deny" }
                label for="note" { "A sentence for whoever asked (optional)" }
                input #note name="note" maxlength=(MAX_NOTE) autocomplete="off";
            }
            form #approve-form method="post" action=(at("approve")) data-arm=(answer::ARM.as_millis()) {
                (csrf(web, who))
                input type="hidden" name="stamp" value=(stamp);
                @if let Some(word) = &word {
                    label for="typed" { "To approve, type " strong #word data-word=(word) { (word) } }
                    input #typed name="typed" autocomplete="off" autocapitalize="off" spellcheck="false" required;
                }
                button.approve #approve type="submit" aria-describedby="once-covers" { "Approve once" }
                p.covers #once-covers { "Covers this very call, once, until it expires." }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yes {
    stamp: String,
    typed: Option<String>,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /approvals/{id}/approve`.
pub async fn approve(State(web): Here, who: Who, Named(id): Named, Sent(yes): Sent<Yes>) -> Result<Response, Refused> {
    let Yes { stamp, typed, .. } = yes;
    answer::approve(&web, &who, id, &Consent { stamp, typed }).await?;
    Ok(on_to("/"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct No {
    note: Option<String>,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /approvals/{id}/deny`.
pub async fn deny(State(web): Here, who: Who, Named(id): Named, Sent(no): Sent<No>) -> Result<Response, Refused> {
    answer::deny(&web, &who, id, no.note).await?;
    Ok(on_to("/"))
}
