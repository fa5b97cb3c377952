//! The servers whose tools can be called, and what of them waits for an operator.

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::{Here, Page, csrf, on_to, piece, skills};
use crate::display::diff;
use crate::display::text::{LONG, Reading};
use crate::protocol::{Fault, HealthTold, ToolChange, claimed};
use crate::provider::{ServerTold, ToolTold, counts_because};
use crate::web::forms::Sent;
use crate::web::guard::Who;
use crate::web::refused::Refused;
use crate::web::{Shared, Web, difference, shown};
use crate::words::counted;

/// `GET /providers`.
pub async fn page(State(web): Here, who: Who) -> Result<Response, Refused> {
    let body = html! {
        div.heading { h1 { "Providers" } a.refresh href="/providers" { "Refresh" } }
        p { "Servers whose tools can be called. What a tool says of itself is a claim: until the configuration classifies a very definition, its tool counts as changing things and reaching outside." }
        div #providers data-live="/fragment/providers" { (list(&web.service().servers())) }
        (edges(&web, &who))
        (skills::section(web.service())?)
        (health(&web.service().health()))
    };
    Ok(Page { title: "Providers", place: "/providers", body }.show(&web, &who))
}

/// `GET /fragment/providers`.
pub async fn fragment(State(web): Here, _: Who) -> Result<Response, Refused> {
    Ok(piece(list(&web.service().servers()).into_string()))
}

/// Edges and relays: what each may carry out, and the switch of each.
fn edges(web: &Web, who: &Who) -> Markup {
    let shown = web.service().providers_shown();
    html! {
        section aria-labelledby="edges-heading" {
            h2 #edges-heading { "Edges and relays" }
            @if shown.edges.is_empty() { p #no-edge { "None is configured." } }
            ul.switches { @for edge in &shown.edges {
                li data-edge=(edge.name) data-state=(edge.state) {
                    h3 { (edge.name) }
                    p { (edge.kind) ": " strong.state { (edge.state.replace('_', " ")) } @if let Some(why) = &edge.why { ", " (why) } }
                    p.note { "may carry out " (if edge.carries_out.is_empty() { "nothing".to_owned() } else { edge.carries_out.join(", ") }) }
                    form method="post" action={ "/edges/" (edge.name) } {
                        (csrf(web, who))
                        input type="hidden" name="on" value=(if edge.on { "off" } else { "on" });
                        button type="submit" { (if edge.on { "Switch off" } else { "Switch on" }) span.visually-hidden { ": " (edge.name) } }
                    }
                }
            } }
            @if !shown.fallback.is_empty() || !shown.bind.is_empty() {
                dl.facts #fallback {
                    @for (name, word) in &shown.fallback { div { dt { "Fallback of " (name) } dd { (word) } } }
                    @for (name, to) in &shown.bind { div { dt { (name) } dd { "is carried out by " (to) } } }
                }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switched {
    on: String,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /edges/{edge}`.
pub async fn switch(
    State(web): Here,
    who: Who,
    Path(edge): Path<String>,
    Sent(switched): Sent<Switched>,
) -> Result<Response, Refused> {
    let on = match switched.on.as_str() {
        "on" => true,
        "off" => false,
        _ => return Err(Refused::from(Fault::usage("a switch is on or off", "use the buttons of the page"))),
    };
    let (shared, operator) = (Shared::clone(&web), web.operator(&who));
    web.whole(async move { shared.service().switch_edge(&operator, &edge, on).await.map_err(Refused::from) }).await?;
    Ok(on_to("/providers"))
}

/// Tools that have been failing; the rest is nobody's concern here.
fn health(told: &[HealthTold]) -> Markup {
    let failing: Vec<_> = told.iter().filter(|one| one.failing).collect();
    html! {
        section aria-labelledby="health-heading" {
            h2 #health-heading { "How tools have been doing" }
            p.note { (counted(told.len(), "tool was run", "tools were run")) ", " (failing.len()) " failing now." }
            ul.grants #health { @for one in failing {
                li data-failing=(one.capability) {
                    p { strong.capability { (one.capability) "@" (one.version) } " at " (one.kind) " " (one.provider)
                        @if let Some(tool) = &one.tool { ", " (shown::text(tool, Reading::Name)) } }
                    p { (one.sentence()) "; " (one.worked) " worked and " (one.failed) " failed in all." }
                    @if let Some(guidance) = &one.guidance { p.note { (guidance) } }
                }
            } }
        }
    }
}

fn list(servers: &[ServerTold]) -> Markup {
    html! {
        @if servers.is_empty() { p #no-provider { "No server is configured." } }
        ul.switches { @for server in servers { (row(server)) } }
    }
}

fn row(server: &ServerTold) -> Markup {
    html! {
        li data-server=(server.name) data-state=(server.state) {
            h2 {
                a href={ "/providers/" (server.name) } { (server.name) }
                @if let Some(whose) = &server.whose { ", for " (whose) }
            }
            (state(server))
            p.note {
                (counted(server.tools, "tool", "tools"))
                @if server.unusable > 0 { ", " strong { (server.unusable) " out of use" } }
            }
        }
    }
}

fn state(server: &ServerTold) -> Markup {
    html! {
        p {
            (server.way) " " (shown::text(&server.place, Reading::Name)) ", started " (server.starts())
            ": " strong.state { (server.state.replace('_', " ")) }
            @if let Some(why) = &server.why { ", " (why) }
        }
        @for line in &server.stale_lines {
            p.note { "The line that classifies " (shown::text(line, Reading::Name)) " is about another definition, and does not count." }
        }
    }
}

/// `GET /providers/{server}`.
pub async fn server(State(web): Here, who: Who, Path(name): Path<String>) -> Result<Response, Refused> {
    let tools = web.service().tools_of(&name)?;
    let changes = web.service().tool_changes(&name, None)?;
    let told = web.service().servers().into_iter().find(|told| told.name == name);
    let body = html! {
        div.heading { h1 { "Provider " (name) } a.refresh href={ "/providers/" (name) } { "Refresh" } }
        @if let Some(told) = &told { (state(told)) }
        @if !changes.is_empty() {
            section #changed aria-labelledby="changed-heading" {
                h2 #changed-heading { "Out of use until an operator accepts what changed" }
                @for change in &changes { (changed(&web, &who, &name, change)) }
            }
        }
        section aria-labelledby="tools-heading" {
            h2 #tools-heading { "Tools" }
            @if tools.is_empty() { p { "It has shown none yet." } }
            ul.grants { @for tool in &tools { (described(tool)) } }
        }
        p { a href="/providers" { "To all providers" } }
    };
    Ok(Page { title: "Provider", place: "/providers", body }.show(&web, &who))
}

fn described(tool: &ToolTold) -> Markup {
    html! {
        li data-tool=(tool.tool) data-standing=(tool.standing) {
            p { strong.capability { (shown::text(&tool.tool, Reading::Name)) } " is " strong.state { (tool.stands()) } }
            p.note {
                "counts as " (tool.side_effect.replace('_', " ")) " and " (tool.network)
                ": " (counts_because(tool.classified, tool.raised))
                "; claims: " (claimed(tool.claims))
            }
            details {
                summary { "What the server says it does" }
                pre.claim { (shown::block(&tool.description)) }
                p.note { "definition " code { (tool.definition) } }
            }
        }
    }
}

fn changed(web: &Web, who: &Who, server: &str, change: &ToolChange) -> Markup {
    let (before, now) = (change.accepted.to_string(), change.now.to_string());
    let found = diff::arguments(&before, &now);
    html! {
        article.change data-changed=(change.tool) {
            h3 { (shown::text(&change.tool, Reading::Name)) }
            @if change.is_back() { p { "It was another one in between, and is what was accepted again." } }
            @if change.moved { p { "It was accepted from another program or place than the one that is configured now." } }
            (difference::difference(&found, before.len() + now.len() > LONG))
            @if found == diff::Difference::TooMuch {
                details { summary { "What was accepted" } pre.exact { (shown::block(&before)) } }
                details { summary { "What it is now" } pre.exact { (shown::block(&now)) } }
            }
            form method="post" action={ "/providers/" (server) "/accept" } {
                (csrf(web, who))
                input type="hidden" name="tool" value=(change.tool);
                input type="hidden" name="definition" value=(change.definition);
                button type="submit" { "Accept it as it is now" span.visually-hidden { ": " (change.tool) } }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Looked {
    tool: String,
    definition: String,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /providers/{server}/accept`.
pub async fn accept(
    State(web): Here,
    who: Who,
    Path(server): Path<String>,
    Sent(looked): Sent<Looked>,
) -> Result<Response, Refused> {
    let (shared, operator) = (Shared::clone(&web), web.operator(&who));
    // Only a configured name leads back.
    web.service().tools_of(&server)?;
    let place = format!("/providers/{server}");
    web.whole(async move {
        let accepted = shared.service().accept_tool(&operator, &server, &looked.tool, &looked.definition).await;
        accepted.map_err(Refused::from)
    })
    .await?;
    Ok(on_to(&place))
}
