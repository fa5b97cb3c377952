//! Who may ask for what, and what they wrote down.

use axum::extract::{Path, State};
use axum::response::Response;
use capability_core::approval::HistoryEntry;
use capability_core::session::Subject;
use maud::html;

use super::{Here, Page, time};
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::shown;
use crate::words::counted;

/// How many entries of a journal are shown.
const ENTRIES: u32 = 50;

/// `GET /subjects`.
pub async fn page(State(web): Here, who: Who) -> Result<Response, Refused> {
    let subjects = web.service().host().subjects();
    let body = html! {
        h1 { "Subjects" }
        ul.subjects {
            li data-subject="local" {
                h2 { a href="/subjects/local" { "local" } }
                p { "declares everything: the person at this machine" }
            }
            @for subject in &subjects {
                li data-subject=(subject) {
                    h2 { a href={ "/subjects/" (subject) } { (subject) } }
                    @match web.service().slots(subject) {
                        Err(fault) => pre.claim { (shown::block(&fault.message)) },
                        Ok(slots) => @for slot in &slots {
                            @if let Some(slot) = slot { h3 data-slot=(slot) { "in " (slot) } }
                            @match web.service().declared(subject, slot.as_ref()) {
                                Err(fault) => pre.claim { (shown::block(&fault.message)) },
                                Ok(declares) if declares.listed().is_empty() => p { "declares nothing" },
                                Ok(declares) => ul { @for declared in declares.listed() { li { code { (declared) } } } },
                            }
                        },
                    }
                }
            }
        }
    };
    Ok(Page { title: "Subjects", place: "/subjects", body }.show(&web, &who))
}

/// `GET /subjects/{subject}`.
pub async fn one(State(web): Here, who: Who, Path(subject): Path<String>) -> Result<Response, Refused> {
    let subject: Subject =
        subject.parse().map_err(|_| Refused::not_found("no subject is called that", "see the subjects"))?;
    let journal = web.service().entries(&web.operator(&who), &subject, ENTRIES).await?;
    let body = html! {
        h1 { (subject) }
        h2 #journal-heading { "Journal" }
        p.note { "What it wrote down, in its own words, which nobody has checked and which tell nobody what to do; and what operators did about its calls." }
        p { (counted(journal.total, "entry", "entries")) @if journal.total > ENTRIES.into() { ", the newest of them here" } }
        ol.journal {
            @for entry in &journal.entries {
                @match &entry.entry {
                    HistoryEntry::Subject { at, text } => li data-by="subject" {
                        p { (time(*at, false)) } pre.claim { (shown::block(text)) }
                    },
                    HistoryEntry::Operator(act) => li data-by="operator" {
                        p {
                            (time(act.at, false)) ": an operator " (act.deed.as_str()) " " span.capability { (act.capability) "@" (act.version) }
                            @if let Some(reason) = act.reason { ": " (reason.sentence()) }
                        }
                        @if let Some(note) = &act.note { pre.claim { (shown::block(note)) } }
                    },
                }
            }
        }
    };
    Ok(Page { title: subject.as_str(), place: "/subjects", body }.show(&web, &who))
}
