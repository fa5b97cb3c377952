//! Skills: where each stands, what it demands, and what of it waits for an operator.

use std::collections::BTreeMap;

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::{Here, Page, csrf, on_to};
use crate::display::diff;
use crate::display::text::{LONG, Reading};
use crate::service::Service;
use crate::skill::{PartChange, SkillState, SkillTold, SkillWhole};
use crate::web::forms::Sent;
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Shared, Web, difference, shown};
use crate::words::counted;

/// All of them, on the page of providers.
pub fn section(service: &Service) -> Result<Markup, Refused> {
    let skills = service.skills()?;
    Ok(html! {
        section aria-labelledby="skills-heading" {
            h2 #skills-heading { "Skills" }
            p.note { "Packages of instructions. What one tells a model is its author's word, and allows nothing; what it requires of policy only raises." }
            @if skills.is_empty() { p #no-skill { "There are none." } }
            ul.switches { @for skill in &skills {
                li data-skill=(skill.name) data-state=(skill.state.as_str()) {
                    h3 { a href={ "/skills/" (skill.name) } { (skill.name) } }
                    (stands(skill))
                }
            } }
        }
    })
}

fn stands(skill: &SkillTold) -> Markup {
    let ready = skill.tools.iter().filter(|tool| tool.state == "ready").count();
    html! {
        p { @if let Some(version) = &skill.version { (version) ", " } strong.state { (skill.state.as_str()) } }
        @if let Some(why) = &skill.why { p.note { (shown::text(&why.replace("\nhelp: ", ". "), Reading::Prose)) } }
        p.note {
            (counted(skill.tools.len(), "tool", "tools")) ", " (ready) " ready; requires "
            (counted(skill.requires.len(), "rule", "rules"))
        }
    }
}

/// `GET /skills/{name}`.
pub async fn page(State(web): Here, who: Who, Path(name): Path<String>) -> Result<Response, Refused> {
    let told = web.service().skills()?.into_iter().find(|told| told.name == name);
    let told =
        told.ok_or_else(|| Refused::not_found("there is no such skill", "see those that are at `/providers`"))?;
    // One that is none has nothing to show but why.
    let whole = web.service().skill(&told.name).ok();
    let body = html! {
        div.heading { h1 { "Skill " (told.name) } a.refresh href={ "/skills/" (told.name) } { "Refresh" } }
        (stands(&told))
        @if let Some(whole) = &whole { (all(&web, &who, whole)) }
        @if told.accepted.is_some() {
            form method="post" action={ "/skills/" (told.name) "/remove" } {
                (csrf(&web, &who))
                button type="submit" { "Take it out of use, with what it requires" }
            }
        }
        p { a href="/providers" { "To all providers and skills" } }
    };
    Ok(Page { title: "Skill", place: "/providers", body }.show(&web, &who))
}

fn all(web: &Web, who: &Who, whole: &SkillWhole) -> Markup {
    let SkillWhole { told, instructions, changes } = whole;
    html! {
        @if let Some(description) = &told.description { p.claim { (shown::text(description, Reading::Prose)) } }
        section aria-labelledby="demands-heading" {
            h2 #demands-heading { "What it demands" }
            ul.grants {
                @for tool in &told.tools {
                    li data-tool=(tool.named) data-state=(tool.state) {
                        p { strong.capability { (shown::text(&tool.named, Reading::Name)) } " is " strong.state { (tool.state.replace('_', " ")) } }
                        @if let Some(message) = &tool.message { p.note { (message) } }
                    }
                }
                @for server in &told.servers { li { p { "binds the connection " strong { (server) } } } }
                @for rule in &told.requires { li data-rule { p { "requires " (shown::text(rule, Reading::Prose)) } } }
                @for (path, bytes) in &told.resources { li { p { "brings " (shown::text(path, Reading::Name)) ", " (bytes) " bytes" } } }
            }
        }
        @if told.state == SkillState::Loaded {
            section aria-labelledby="told-heading" {
                h2 #told-heading { "What it tells a model" }
                pre.claim tabindex="0" { (shown::block(instructions)) }
            }
        } @else {
            section #changed aria-labelledby="changed-heading" {
                h2 #changed-heading { "What is not as it was accepted" }
                (changed(changes))
                form method="post" action={ "/skills/" (told.name) "/accept" } {
                    (csrf(web, who))
                    input type="hidden" name="digest" value=(told.digest.as_deref().unwrap_or_default());
                    button type="submit" { "Accept it exactly as it is now" }
                }
            }
        }
    }
}

/// File by file, line by line.
fn changed(changes: &[PartChange]) -> Markup {
    let side = |of: fn(&PartChange) -> Option<&String>| {
        let texts: BTreeMap<&str, &String> =
            changes.iter().filter_map(|change| Some((change.path.as_str(), of(change)?))).collect();
        serde_json::to_string(&texts).unwrap_or_default()
    };
    let (before, now) = (side(|change| change.accepted.as_ref()), side(|change| change.now.as_ref()));
    let found = diff::arguments(&before, &now);
    html! {
        (difference::difference(&found, before.len() + now.len() > LONG))
        @if found == diff::Difference::TooMuch {
            @for change in changes {
                details { summary { (shown::text(&change.path, Reading::Name)) " as it is now" }
                    pre.exact { (shown::block(change.now.as_deref().unwrap_or_default())) } }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Looked {
    digest: String,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /skills/{name}/accept`.
pub async fn accept(
    State(web): Here,
    who: Who,
    Path(name): Path<String>,
    Sent(looked): Sent<Looked>,
) -> Result<Response, Refused> {
    let (shared, operator) = (Shared::clone(&web), web.operator(&who));
    let place = format!("/skills/{}", known(&web, &name)?);
    web.whole(
        async move { shared.service().accept_skill(&operator, &name, &looked.digest).await.map_err(Refused::from) },
    )
    .await?;
    Ok(on_to(&place))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /skills/{name}/remove`.
pub async fn remove(
    State(web): Here,
    who: Who,
    Path(name): Path<String>,
    Sent(Nothing { .. }): Sent<Nothing>,
) -> Result<Response, Refused> {
    let (shared, operator) = (Shared::clone(&web), web.operator(&who));
    web.whole(async move { shared.service().remove_skill(&operator, &name).await.map_err(Refused::from) }).await?;
    Ok(on_to("/providers"))
}

/// The name, when it is a skill's: only that leads back.
fn known(web: &Web, name: &str) -> Result<String, Refused> {
    let mut skills = web.service().skills()?.into_iter();
    let found = skills.find(|told| told.name == name).map(|told| told.name);
    found.ok_or_else(|| Refused::not_found("there is no such skill", "see those that are at `/providers`"))
}
