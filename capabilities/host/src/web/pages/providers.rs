//! The servers whose tools can be called, and what of them waits for an operator.

use axum::extract::{Path, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::{Here, Page, csrf, on_to, piece};
use crate::display::diff;
use crate::display::text::{LONG, Reading};
use crate::protocol::{ToolChange, claimed};
use crate::provider::{ServerTold, ToolTold};
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
    };
    Ok(Page { title: "Providers", place: "/providers", body }.show(&web, &who))
}

/// `GET /fragment/providers`.
pub async fn fragment(State(web): Here, _: Who) -> Result<Response, Refused> {
    Ok(piece(list(&web.service().servers()).into_string()))
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
            h2 { a href={ "/providers/" (server.name) } { (server.name) } }
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
            (server.way) " " (shown::text(&server.place, Reading::Name)) ", started " (if server.with_host { "with the host" } else { "when asked" })
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
            p { strong.capability { (shown::text(&tool.tool, Reading::Name)) } " is " strong.state { (tool.standing.replace('_', " ")) } }
            p.note {
                "counts as " (tool.side_effect.replace('_', " ")) " and " (tool.network)
                (if tool.classified { ", as the configuration says" } else { ": nobody has classified it" })
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
