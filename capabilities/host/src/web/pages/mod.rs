//! Pages for people, whole without a script.

mod answers;
mod assets;
pub mod audit;
mod card;
mod edit;
pub mod grants;
mod login;
mod opt_ins;
pub mod policy;
mod providers;
mod queue;
mod running;
mod skills;
mod subjects;

pub use audit::Verified;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::{DOCTYPE, Markup, html};

use super::guard::Who;
use super::refused::Refused;
use super::{LOGIN, Shared, Web};

/// Every page and what belongs to it.
pub fn routes() -> Router<Shared> {
    Router::new()
        .route("/", get(queue::page))
        .route("/fragment/queue", get(queue::fragment))
        .route("/approvals/{id}", get(card::page))
        .route("/fragment/approvals/{id}", get(card::fragment))
        .route("/approvals/{id}/approve", post(answers::approve))
        .route("/approvals/{id}/deny", post(answers::deny))
        .route("/approvals/{id}/grant", post(answers::grant))
        .route("/approvals/{id}/edit", get(edit::page).post(edit::edit))
        .route("/grants", get(grants::page))
        .route("/fragment/grants", get(grants::fragment))
        .route("/grants/revoke", post(grants::revoke_all))
        .route("/grants/{id}/revoke", post(grants::revoke))
        .route("/denials/{subject}/clear", post(grants::clear))
        .route("/policy", get(policy::page))
        .route("/policy/explain", get(policy::explain))
        .route("/audit", get(audit::page))
        .route("/providers", get(providers::page))
        .route("/fragment/providers", get(providers::fragment))
        .route("/providers/{server}", get(providers::server))
        .route("/providers/{server}/accept", post(providers::accept))
        .route("/edges/{edge}", post(providers::switch))
        .route("/skills/{name}", get(skills::page))
        .route("/skills/{name}/accept", post(skills::accept))
        .route("/skills/{name}/remove", post(skills::remove))
        .route("/running", get(running::page))
        .route("/running/{id}/stop", post(running::stop))
        .route("/optins", get(opt_ins::page))
        .route("/optins/{family}", post(opt_ins::set))
        .route("/subjects", get(subjects::page))
        .route("/subjects/{subject}", get(subjects::one))
        .route(LOGIN, get(login::page).post(login::enter))
        .route("/logout", post(login::leave))
        .route("/assets/style.css", get(assets::style))
        .route("/assets/page.js", get(assets::script))
        .route("/assets/icon.svg", get(assets::icon))
}

/// The pages that the head of each leads to: where, and what it is called.
const PLACES: [(&str, &str); 8] = [
    ("/", "Queue"),
    ("/grants", "Grants"),
    ("/policy", "Policy"),
    ("/audit", "Audit"),
    ("/providers", "Providers"),
    ("/running", "Running"),
    ("/optins", "Opt-ins"),
    ("/subjects", "Subjects"),
];

/// One page.
pub struct Page<'p> {
    /// What it is called.
    pub title: &'p str,
    /// Where it is: the place that is marked as the present one.
    pub place: &'p str,
    /// What it says.
    pub body: Markup,
}

impl Page<'_> {
    /// With the head that an operator sees.
    pub fn show(self, web: &Web, who: &Who) -> Response {
        let nav = html! {
            nav aria-label="Pages" {
                ul {
                    @for (place, name) in PLACES {
                        li { a href=(place) aria-current=[(place == self.place).then_some("page")] { (name) } }
                    }
                }
            }
            form.logout method="post" action="/logout" {
                (csrf(web, who))
                button type="submit" { "Log out" }
            }
        };
        self.whole(web, &nav)
    }

    /// For whoever is not logged in.
    pub fn show_to_anybody(self, web: &Web) -> Response {
        self.whole(web, &html! {})
    }

    fn whole(self, web: &Web, nav: &Markup) -> Response {
        let now = web.service().host().environment().now();
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Approval centre" }
                    link rel="stylesheet" href="/assets/style.css";
                    link rel="icon" href="/assets/icon.svg";
                    script src="/assets/page.js" defer {}
                }
                body data-page=(self.place) data-now=(now.as_micros() / 1000) {
                    a.skip href="#main" { "Skip to the page" }
                    header { p.name { a href="/" { "Approval centre" } } (nav) }
                    main #main tabindex="-1" { (self.body) }
                    div #live .visually-hidden role="status" aria-live="polite" {}
                    (keys())
                }
            }
        };
        ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.into_string()).into_response()
    }
}

/// What the keys do; a script opens it, and without one it is a line at the end that opens by itself.
fn keys() -> Markup {
    let keys = [
        ("j, k", "next and previous"),
        ("o", "open"),
        ("y, then Enter", "approve once"),
        ("n", "deny"),
        ("e", "edit"),
        ("s", "allow for the session"),
        ("?", "this list"),
    ];
    html! {
        details #keys {
            summary { "Keys" }
            dl { @for (key, does) in keys { div { dt { kbd { (key) } } dd { (does) } } } }
        }
    }
}

/// The token that a form carries.
pub fn csrf(web: &Web, who: &Who) -> Markup {
    html! { input type="hidden" name="csrf" value=(web.seal().csrf(&who.id)); }
}

/// A piece of a page, for a script of ours.
pub fn piece(rendered: impl Into<Bytes>) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], rendered.into()).into_response()
}

/// Goes on to another page, with a fresh request.
pub fn on_to(place: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

/// A refusal as a page.
pub fn refused(web: &Web, who: Option<&Who>, refused: Refused) -> Response {
    let body = html! {
        section.refused role="alert" data-code=(refused.code) {
            h1 { "Not done" }
            p { (refused.message) }
            p.help { "What to do: " (refused.help) }
            p { a href="/" { "To the queue" } }
        }
    };
    let page = Page { title: "Not done", place: "", body };
    let mut response = match who {
        Some(who) => page.show(web, who),
        None => page.show_to_anybody(web),
    };
    *response.status_mut() = refused.status();
    refused.into_headers(&mut response);
    response
}

/// A point in time: exact without a script, and counted down with one where it is ahead.
pub fn time(at: capability_core::Timestamp, counts: bool) -> Markup {
    let text = at.to_string();
    let plain = text.split('.').next().unwrap_or(&text).trim_end_matches('Z').replace('T', " ");
    html! {
        time datetime=(text) data-at=(at.as_micros() / 1000) data-counts[counts] { (plain) " UTC" }
    }
}

/// The state that every handler gets.
pub type Here = State<Shared>;
