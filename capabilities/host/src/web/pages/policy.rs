//! What the rules come to: what each subject may, and why, call by call.

use core::num::NonZeroU32;

use axum::extract::State;
use axum::response::Response;
use capability_core::Timestamp;
use capability_core::policy::analysis::{Explanation, Matrix, Possible, Sketch, Standing, Step};
use capability_core::policy::{Contributor, Verdict};
use capability_core::session::{Mode, Origin, SlotPath, Subject};
use maud::{Markup, html};
use serde::Deserialize;

use super::{Here, Page, time};
use crate::display::text::Reading;
use crate::protocol::{AskedCall, Eyes};
use crate::web::forms::Asked;
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Web, shown};

/// Whom the table is about.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct About {
    /// A subject; all of them without one.
    pub subject: Option<String>,
    /// A slot of its agent; each of them, and none, without one.
    pub slot: Option<String>,
}

/// A call that somebody asks about. Without a time it is about now.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The dotted name.
    pub capability: String,
    /// The version; the newest when none is given.
    #[serde(default)]
    pub version: Option<NonZeroU32>,
    /// Who asks.
    pub subject: String,
    /// In which slot of its agent.
    #[serde(default)]
    pub slot: Option<String>,
    /// `terminal`, `ui`, `model`, `schedule` or `channel`; a model when it is not said.
    #[serde(default)]
    pub origin: Option<String>,
    /// What it acts on.
    #[serde(default)]
    pub target: Option<String>,
    /// The value of the argument that is its scope.
    #[serde(default)]
    pub scope: Option<String>,
    /// When.
    #[serde(default)]
    pub at: Option<String>,
}

/// What each subject may, within the year that comes.
pub fn table(web: &Web, about: &About) -> Result<Matrix, Refused> {
    let subject = said(about.subject.as_ref()).map(subject).transpose()?;
    Ok(web.service().table(subject.as_ref(), slot(about.slot.as_ref())?.as_ref())?)
}

/// One call, with everything that has a say in it.
pub fn explained(web: &Web, call: Call) -> Result<Explanation, Refused> {
    let odd = |what: &'static str| Refused::malformed(format!("that is no {what}"), "see what it can be on the page");
    let origin = match said(call.origin.as_ref()) {
        None => Origin::Model,
        Some(word) => ORIGINS.into_iter().find(|origin| origin.as_str() == word).ok_or_else(|| odd("origin"))?,
    };
    let at = said(call.at.as_ref()).map(str::parse::<Timestamp>).transpose().map_err(|_| odd("time"))?;
    let asked = AskedCall {
        name: call.capability.trim().to_owned(),
        version: call.version,
        eyes: Eyes {
            subject: subject(call.subject.trim())?,
            slot: slot(call.slot.as_ref())?,
            mode: Mode::Live,
            origin,
        },
        scope: said(call.scope.as_ref()).map(str::to_owned),
        target: said(call.target.as_ref()).map(str::to_owned),
        at,
    };
    Ok(web.service().explained(&asked)?)
}

/// An empty field of a form says nothing.
fn said(field: Option<&String>) -> Option<&str> {
    field.map(|text| text.trim()).filter(|text| !text.is_empty())
}

fn subject(text: &str) -> Result<Subject, Refused> {
    text.parse().map_err(|_| Refused::not_found("no subject is called that", "see the subjects"))
}

fn slot(field: Option<&String>) -> Result<Option<SlotPath>, Refused> {
    said(field)
        .map(|text| text.parse().map_err(|_| Refused::not_found("no slot is called that", "see the subjects")))
        .transpose()
}

const ORIGINS: [Origin; 5] = [Origin::Terminal, Origin::Ui, Origin::Model, Origin::Schedule, Origin::Channel];

/// `GET /policy`.
pub async fn page(State(web): Here, who: Who, Asked(about): Asked<About>) -> Result<Response, Refused> {
    let matrix = crate::blocking::blocking(|| table(&web, &about))?;
    let body = html! {
        h1 { "Policy" }
        p #revision { "Revision " code { (web.service().host().executor().policy().revision()) } " is in force." }
        p { "What each subject may, with the rules, switches and bindings of this moment, at any time within a year. Each answer leads to a call for which it is the answer, and why." }
        @for row in &matrix.rows {
            @let slot = row.slot.as_ref();
            @let whose = slot.map_or_else(|| row.subject.to_string(), |slot| format!("{}/{slot}", row.subject));
            section data-subject=(row.subject) data-slot=[slot] {
                h2 id={ "of-" (whose) } { (whose) }
                @if let Some(fault) = &row.fault { pre.claim { (shown::block(fault)) } }
                div.scrolls tabindex="0" role="region" aria-labelledby={ "of-" (whose) } {
                    table.matrix {
                        thead { tr { th scope="col" { "Capability" } th scope="col" { "Answer" } th scope="col" { "Depends on" } } }
                        tbody { @for standing in &row.standings { (line(standing, slot)) } }
                    }
                }
            }
        }
    };
    Ok(Page { title: "Policy", place: "/policy", body }.show(&web, &who))
}

fn line(standing: &Standing, slot: Option<&SlotPath>) -> Markup {
    html! {
        tr data-capability=(standing.capability) data-version=(standing.version) {
            th scope="row" { span.capability { (standing.capability) "@" (standing.version) } }
            td {
                @match &standing.possible {
                    None => "not decided: there are more cases than can be looked at",
                    Some(several) => ul { @for one in several { (answer(one, slot)) } },
                }
            }
            td { (standing.depends_on.iter().map(|dimension| dimension.as_str()).collect::<Vec<_>>().join(", ")) }
        }
    }
}

fn answer(possible: &Possible, slot: Option<&SlotPath>) -> Markup {
    html! {
        li.verdict data-verdict=(possible.verdict.as_str()) {
            a href=(address(&possible.witness, slot)) { (words(possible.verdict)) }
            ": " (possible.code.message())
            @if !possible.rules.is_empty() {
                span.note {
                    " (by "
                    @for (at, rule) in possible.rules.iter().enumerate() { @if at > 0 { ", " } (rule) }
                    ")"
                }
            }
        }
    }
}

/// What a verdict means for whoever asks.
const fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "runs",
        Verdict::Ask => "asks a person, or a grant",
        Verdict::AskFresh => "asks a person each time",
        Verdict::Deny => "refused",
    }
}

/// Who contributes, for people.
const fn sayer(contributor: Contributor) -> &'static str {
    match contributor {
        Contributor::Locked => "the capability itself",
        Contributor::Declared => "the subject's manifest",
        Contributor::Mode => "the session's mode",
        Contributor::OptIn => "the family's switch",
        Contributor::Binding => "what the host has bound",
        Contributor::Floor => "the capability's class",
        Contributor::OperatorRules => "rules of the operator",
        Contributor::WorkspaceRules => "rules of a workspace",
        Contributor::PackageRules => "rules of a package",
        Contributor::Delegation => "whoever it acts for",
        Contributor::Guard => "the capability's own look at the call",
        Contributor::Fault => "whatever failed",
    }
}

/// Where a call is explained.
fn address(call: &Sketch, slot: Option<&SlotPath>) -> String {
    let version = call.version.to_string();
    let at = call.at.to_string();
    let mut fields = vec![
        ("capability", call.capability.as_str()),
        ("version", version.as_str()),
        ("subject", call.subject.as_str()),
        ("origin", call.origin.as_str()),
        ("at", at.as_str()),
    ];
    let slot = slot.map(ToString::to_string);
    fields.extend(slot.as_deref().map(|slot| ("slot", slot)));
    fields.extend(call.target.as_deref().map(|target| ("target", target)));
    fields.extend(call.scope.as_deref().map(|scope| ("scope", scope)));
    let fields = fields.into_iter().map(|(key, value)| format!("{key}={}", encoded(value)));
    format!("/policy/explain?{}", fields.collect::<Vec<_>>().join("&"))
}

/// As a value of an address.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
        out
    })
}

/// `GET /policy/explain`.
pub async fn explain(State(web): Here, who: Who, Asked(call): Asked<Call>) -> Result<Response, Refused> {
    let slot = said(call.slot.as_ref()).unwrap_or_default().to_owned();
    let told = explained(&web, call)?;
    let body = html! {
        h1 { "Why" }
        (form(&told.call, &slot))
        p.answer #verdict data-verdict=(told.verdict.as_str()) {
            (told.call.subject) @if !slot.is_empty() { "/" (slot) } " asks for " span.capability { (told.call.capability) "@" (told.call.version) }
            @if let Some(target) = &told.call.target { " on " code { (shown::text(target, Reading::Name)) } }
            " at " (time(told.call.at, false)) ": " strong { (words(told.verdict)) } "."
        }
        @if let Some(flip) = &told.flip {
            p #flip { "It would be “" (words(flip.to)) "” if " (flip.changes.join(", and ")) "." }
        }
        @if let Some(grant) = &told.grant { p #grant { (shown::text(grant, Reading::Prose)) } }
        h2 #say-heading { "Who has a say" }
        div.scrolls tabindex="0" role="region" aria-labelledby="say-heading" {
            table #contributors {
                thead { tr { th scope="col" { "Who" } th scope="col" { "Says" } th scope="col" { "Why" } } }
                tbody { @for said in &told.contributors {
                    tr data-decides=(said.decides) {
                        th scope="row" { (sayer(said.contributor)) @if said.decides { " " strong { "(decides)" } } }
                        td { (words(said.verdict)) }
                        td { (said.code.message()) }
                    }
                } }
            }
        }
        @if !told.rules.is_empty() {
            h2 #rules-heading { "Rules that were looked at" }
            div.scrolls tabindex="0" role="region" aria-labelledby="rules-heading" {
                table #rules {
                    thead { tr { th scope="col" { "Rule" } th scope="col" { "Says" } th scope="col" { "What became of it" } } }
                    tbody { @for step in &told.rules { (rule(step)) } }
                }
            }
            @if told.omitted > 0 { p { "And " (told.omitted) " more that do not match." } }
        }
        p { a href="/policy" { "To the table" } }
    };
    Ok(Page { title: "Why", place: "/policy", body }.show(&web, &who))
}

fn rule(step: &Step) -> Markup {
    html! {
        tr data-decides=(step.decides) data-matches=(step.matches) {
            th scope="row" {
                (step.rule)
                @if let Some(reason) = &step.rule.reason { br; span.note { (shown::text(reason, Reading::Prose)) } }
            }
            td { (step.effect.as_str()) }
            td { (shown::text(&step.fate, Reading::Prose)) }
        }
    }
}

/// The call again, to ask about another one.
fn form(call: &Sketch, slot: &str) -> Markup {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    html! {
        form.filter #ask method="get" action="/policy/explain" {
            label { "Capability " input name="capability" value=(call.capability) autocomplete="off" required; }
            label { "Subject " input name="subject" value=(call.subject) autocomplete="off" required; }
            label { "Slot " input name="slot" value=(slot) autocomplete="off"; }
            label { "Origin " select name="origin" {
                @for origin in ORIGINS { option value=(origin.as_str()) selected[origin == call.origin] { (origin.as_str()) } }
            } }
            label { "Target " input name="target" value=(text(&call.target)) autocomplete="off"; }
            label { "Scope " input name="scope" value=(text(&call.scope)) autocomplete="off"; }
            label { "When " input name="at" value=(call.at) autocomplete="off"; }
            button type="submit" { "Ask" }
        }
    }
}

#[cfg(test)]
mod tests {
    use capability_core::policy::analysis::Sketch;

    use super::address;

    #[test]
    fn a_call_is_an_address_whatever_is_in_it() {
        let call = Sketch {
            subject: "kid".parse().unwrap(),
            capability: "web.fetch".into(),
            version: core::num::NonZeroU32::MIN,
            scope: None,
            origin: capability_core::session::Origin::Model,
            target: Some("https://a/?b=c&d=\u{202e}\"<".into()),
            at: "2026-11-30T12:00:00Z".parse().unwrap(),
            class: None,
        };
        assert_eq!(
            address(&call, None),
            "/policy/explain?capability=web.fetch&version=1&subject=kid&origin=model&at=2026-11-30T12%3A00%3A00Z&target=https%3A%2F%2Fa%2F%3Fb%3Dc%26d%3D%E2%80%AE%22%3C"
        );
    }
}
