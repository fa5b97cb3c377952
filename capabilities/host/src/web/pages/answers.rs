//! The answers below a card, and what each of them covers.

use axum::extract::State;
use axum::response::Response;
use capability_core::approval::{DenialReason, GrantLimit, GrantScope, MAX_NOTE_BYTES, PastCall, PendingApproval};
use capability_core::executor::GrantPreview;
use core::num::NonZeroU32;
use core::time::Duration;
use maud::{Markup, html};
use serde::Deserialize;

use super::{Here, csrf, on_to, time};
use crate::protocol::ApprovalDetail;
use crate::web::answer::{self, Consent};
use crate::web::forms::{Named, Sent};
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Web, shown};
use crate::words::counted;

/// Every answer that this call can have.
pub fn answers(web: &Web, who: &Who, detail: &ApprovalDetail, pending: &PendingApproval) -> Markup {
    let at = |what: &str| format!("/approvals/{}/{what}", pending.id);
    html! {
        section.answers #answers aria-labelledby="answers-heading" {
            h2 #answers-heading { "Your answer" }
            form #deny-form method="post" action=(at("deny")) {
                (csrf(web, who))
                button.deny #deny type="submit" data-first { "Deny" }
                div.fields {
                    label for="reason" { "Why (optional)" }
                    select #reason name="reason" {
                        option value="" { "no reason" }
                        @for reason in DenialReason::ALL { option value=(reason.as_str()) { (reason.sentence()) } }
                    }
                    label for="note" { "A sentence for whoever asked (optional)" }
                    input #note name="note" maxlength=(MAX_NOTE_BYTES) autocomplete="off";
                }
            }
            form #approve-form.yes method="post" action=(at("approve")) data-arm=(answer::ARM.as_millis()) {
                (consent(web, who, detail, pending, "typed"))
                button.approve #approve type="submit" aria-describedby="once-covers" { "Approve once" }
                p.covers #once-covers { "Covers this very call, once, until it expires." }
            }
            p.wide {
                a #edit href=(at("edit")) { "Approve with other arguments" }
                span.covers { ": a new call in its place, checked from the start." }
            }
            @if let Some(preview) = &detail.grant { (session(web, who, detail, pending, preview)) }
        }
    }
}

/// What every yes carries: that the card was shown, and the word where one is asked for.
pub fn consent(web: &Web, who: &Who, detail: &ApprovalDetail, pending: &PendingApproval, field: &str) -> Markup {
    let stamp = web.seal().stamp(&who.id, &answer::version(detail));
    html! {
        (csrf(web, who))
        input type="hidden" name="stamp" value=(stamp);
        @if let Some(word) = answer::word(pending) {
            label for=(field) { "To approve, type " strong.word data-word=(word) { (word) } }
            input id=(field) name="typed" autocomplete="off" autocapitalize="off" spellcheck="false" required;
        }
    }
}

/// A yes to this call and to its like for a while, where there can be one.
fn session(web: &Web, who: &Who, detail: &ApprovalDetail, pending: &PendingApproval, preview: &GrantPreview) -> Markup {
    let minutes = (preview.limit.longest.as_secs() / 60).max(1);
    let uses = preview.limit.uses.get();
    html! {
        form #session-form.yes.wide method="post" action={ "/approvals/" (pending.id) "/grant" } data-arm=(answer::ARM.as_millis()) {
            h3 { "For the session" }
            (consent(web, who, detail, pending, "typed-session"))
            div.fields {
                label for="minutes" { "Minutes, at most " (minutes) }
                input #minutes type="number" name="minutes" min="1" max=(minutes) value=(minutes.min(10)) required;
                label for="uses" { "Uses, at most " (uses) }
                input #uses type="number" name="uses" min="1" max=(uses) value=(uses.min(5)) required;
            }
            button.approve #session type="submit" aria-describedby="session-covers" { "Approve for the session" }
            p.covers #session-covers {
                "Covers calls of " code { (pending.capability) } " by " (pending.identity.subject) " in this session"
                @match (preview.scope, &pending.target) {
                    (GrantScope::Target, Some((kind, target))) => { " on " (shown::target(*kind, target)) ", whatever their other arguments." },
                    (GrantScope::Target | GrantScope::Exact, _) => " with exactly these arguments.",
                }
                " It ends with the session, a change of the policy or of the capability, and a restart."
            }
            (past(preview))
        }
    }
}

/// The same question asked of calls that were made.
fn past(preview: &GrantPreview) -> Markup {
    let GrantPreview { covered, not_covered, .. } = preview;
    let list = |calls: &[PastCall]| {
        html! {
            ul { @for call in calls {
                li {
                    (time(call.at, false)) " by " (call.subject)
                    @if let Some((kind, target)) = &call.target { " on " (shown::target(*kind, target)) }
                    details { summary { "arguments" } (shown::arguments(&String::from_utf8_lossy(&call.arguments))) }
                }
            } }
        }
    };
    html! {
        @if covered.is_empty() && not_covered.is_empty() {
            p.note #past { "No past calls are retained to compare with." }
        } @else {
            details #past data-covered=(covered.len()) data-not-covered=(not_covered.len()) {
                summary {
                    "It would have covered " (counted(covered.len(), "past call", "past calls"))
                    ", and not " (not_covered.len())
                }
                h4 { "Covered" } (list(covered))
                h4 { "Not covered" } (list(not_covered))
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
pub struct Standing {
    stamp: String,
    typed: Option<String>,
    minutes: NonZeroU32,
    uses: NonZeroU32,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /approvals/{id}/grant`.
pub async fn grant(
    State(web): Here,
    who: Who,
    Named(id): Named,
    Sent(standing): Sent<Standing>,
) -> Result<Response, Refused> {
    let Standing { stamp, typed, minutes, uses, .. } = standing;
    let limit = GrantLimit { longest: Duration::from_secs(u64::from(minutes.get()) * 60), uses };
    answer::grant(&web, &who, id, &Consent { stamp, typed }, limit).await?;
    Ok(on_to("/grants"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct No {
    #[serde(default)]
    reason: String,
    note: Option<String>,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /approvals/{id}/deny`.
pub async fn deny(State(web): Here, who: Who, Named(id): Named, Sent(no): Sent<No>) -> Result<Response, Refused> {
    let reason = match no.reason.as_str() {
        "" => None,
        word => {
            let found = DenialReason::ALL.into_iter().find(|reason| reason.as_str() == word);
            Some(found.ok_or_else(|| Refused::malformed("that is none of the reasons", "load the page again"))?)
        }
    };
    answer::deny(&web, &who, id, reason, no.note).await?;
    Ok(on_to("/"))
}
