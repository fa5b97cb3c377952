//! The newest records of the audit log, and whether its chain holds.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use axum::extract::State;
use axum::response::Response;
use capability_core::Code;
use capability_core::provider::Diagnostic;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use super::{Here, Page};
use crate::audit_log;
use crate::blocking::blocking;
use crate::display::text::Reading;
use crate::protocol::Fault;
use crate::web::forms::Asked;
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Web, shown};

/// How many records are looked through, from the end, and how many are shown.
const LOOKED_AT: usize = 5000;
const SHOWN: usize = 200;
/// How long what a look at the whole chain found is told again before it is looked at anew.
const VERIFIED_FOR: Duration = Duration::from_secs(60);

/// What the last look at the chain found, and when.
#[derive(Default)]
pub struct Verified(Mutex<Option<(Instant, Chain)>>);

/// Whether the chain holds.
#[derive(Debug, Clone, serde::Serialize, schemars::JsonSchema)]
pub struct Chain {
    /// Everything is in order.
    pub holds: bool,
    /// What was found.
    pub found: String,
}

/// Which records.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Of this kind.
    pub event: Option<String>,
    /// About this capability.
    pub capability: Option<String>,
    /// Of this subject, or by this operator.
    pub subject: Option<String>,
    /// About this approval.
    pub approval: Option<String>,
}

impl Filter {
    /// An empty field of a form asks for nothing.
    fn lets(&self, record: &Value) -> bool {
        let is = |key: &str, wanted: &str| record.get(key).and_then(Value::as_str) == Some(wanted);
        let lets = |wanted: &Option<String>, keys: &[&str]| {
            let wanted = wanted.as_deref().map(str::trim).filter(|wanted| !wanted.is_empty());
            wanted.is_none_or(|wanted| keys.iter().any(|key| is(key, wanted)))
        };
        lets(&self.event, &["event"])
            && lets(&self.capability, &["capability"])
            && lets(&self.subject, &["subject", "operator"])
            && lets(&self.approval, &["approval", "grant"])
    }
}

/// The newest records that a filter lets through, newest first.
pub fn records(web: &Web, filter: &Filter) -> Result<Vec<Value>, Refused> {
    let lines = blocking(|| audit_log::tail(&web.service().host().audit_dir(), LOOKED_AT));
    let lines = lines.map_err(|error| Refused::from(Fault::told(6, &error)))?;
    let records = lines.iter().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(records.filter(|record| filter.lets(record)).take(SHOWN).collect())
}

/// Whether the chain holds, as of the last minute. One looks, and the others wait where they keep nobody else from going on.
pub fn chain(web: &Web) -> Chain {
    blocking(|| {
        let mut verified = web.verified.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, chain)) = verified.as_ref()
            && at.elapsed() < VERIFIED_FOR
        {
            return chain.clone();
        }
        let chain = match audit_log::verify(&web.service().host().audit_dir()) {
            Ok(report) => {
                let found = report.to_string().lines().next().unwrap_or_default().to_owned();
                Chain { holds: report.exit_code() == 0, found }
            }
            Err(error) => Chain { holds: false, found: Fault::told(6, &error).message },
        };
        *verified = Some((Instant::now(), chain.clone()));
        chain
    })
}

/// `GET /audit`.
pub async fn page(State(web): Here, who: Who, Asked(filter): Asked<Filter>) -> Result<Response, Refused> {
    let records = records(&web, &filter)?;
    let chain = chain(&web);
    let body = html! {
        h1 { "Audit" }
        p.chain #chain data-holds=(chain.holds) role="status" {
            strong { (if chain.holds { "The chain holds. " } else { "The chain does not hold. " }) }
            (chain.found)
        }
        (form(&filter))
        p #shown { (records.len()) " of the newest records" @if records.len() == SHOWN { ", and there are more" } }
        div.scrolls tabindex="0" role="region" aria-label="Records" {
            table #records {
                thead { tr {
                    th scope="col" { "No." } th scope="col" { "When" } th scope="col" { "What" }
                    th scope="col" { "Capability" } th scope="col" { "Who" } th scope="col" { "How it went" }
                } }
                tbody { @for record in &records { (row(record)) } }
            }
        }
    };
    Ok(Page { title: "Audit", place: "/audit", body }.show(&web, &who))
}

fn form(filter: &Filter) -> Markup {
    let kinds = [
        "policy_decision",
        "intent",
        "outcome",
        "approval",
        "grant",
        "expiry",
        "provider_fallback",
        "configuration",
        "recovery",
        "rotation",
    ];
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    html! {
        form.filter #filter method="get" action="/audit" {
            label { "What " select name="event" {
                option value="" { "everything" }
                @for kind in kinds { option value=(kind) selected[filter.event.as_deref() == Some(kind)] { (kind) } }
            } }
            label { "Capability " input name="capability" value=(text(&filter.capability)) autocomplete="off"; }
            label { "Who " input name="subject" value=(text(&filter.subject)) autocomplete="off"; }
            label { "Approval " input name="approval" value=(text(&filter.approval)) autocomplete="off"; }
            button type="submit" { "Show" }
        }
    }
}

fn row(record: &Value) -> Markup {
    let text = |key: &str| match record.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(on)) => if *on { "on" } else { "off" }.to_owned(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let who = [text("subject"), text("operator")].into_iter().find(|who| !who.is_empty()).unwrap_or_default();
    let ends = ["outcome", "verdict", "step", "reason", "setting", "family", "on", "kind", "code", "effect"];
    let went: Vec<_> = ends.iter().map(|key| text(key)).filter(|word| !word.is_empty()).collect();
    let at = text("at");
    let capability = match (text("capability"), text("version")) {
        (name, version) if !name.is_empty() => format!("{name}@{version}"),
        _ => String::new(),
    };
    html! {
        tr data-event=(text("event")) {
            td { (text("seq")) }
            td { time datetime=(at) { (at.split('.').next().unwrap_or_default().trim_end_matches('Z').replace('T', " ")) } }
            td { (text("event")) }
            td { (text_of(&capability)) }
            td { (text_of(&who)) }
            td {
                (text_of(&went.join(", ")))
                @if let Some(diagnostic) = diagnosed(record) {
                    " " span.note data-diagnostic=(diagnostic.as_str()) { (diagnostic.message()) }
                }
            }
        }
    }
}

/// Which of the seven ways a call went, by its record.
fn diagnosed(record: &Value) -> Option<Diagnostic> {
    if record.get("event").and_then(Value::as_str) == Some("provider_fallback") {
        return Some(Diagnostic::FallbackSelected);
    }
    // A log that somebody changed may name a code that is none.
    Diagnostic::of(serde_json::from_value::<Code>(record.get("code")?.clone()).ok()?)
}

/// A log that somebody changed may hold anything.
fn text_of(text: &str) -> Markup {
    shown::text(text, Reading::Prose)
}
