//! Which families may reach outside the device.

use axum::extract::{Path, State};
use axum::response::Response;
use maud::html;
use serde::Deserialize;

use super::{Here, Page, csrf, on_to};
use crate::web::forms::Sent;
use crate::web::guard::Who;
use crate::web::opt_in;
use crate::web::refused::Refused;

/// `GET /optins`.
pub async fn page(State(web): Here, who: Who) -> Result<Response, Refused> {
    let switches = web.service().switches();
    let body = html! {
        h1 { "Opt-ins" }
        p { "A family that is off reaches nothing outside this device. One that is on still asks for each call." }
        @if switches.is_empty() { p { "No capability of this build reaches outside the device." } }
        ul.switches {
            @for switch in &switches {
                li data-family=(switch.family) data-state=(switch.state) {
                    h2 { (switch.family) }
                    p { "is " strong.state { (switch.state) } ": " (switch.capabilities.join(", ")) }
                    form method="post" action={ "/optins/" (switch.family) } {
                        (csrf(&web, &who))
                        @let on = switch.state == "on";
                        input type="hidden" name="on" value=(!on);
                        button type="submit" { "Turn " (switch.family) " " (if on { "off" } else { "on" }) }
                    }
                }
            }
        }
    };
    Ok(Page { title: "Opt-ins", place: "/optins", body }.show(&web, &who))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    on: bool,
    #[serde(rename = "csrf")]
    _csrf: String,
}

/// `POST /optins/{family}`.
pub async fn set(
    State(web): Here,
    who: Who,
    Path(family): Path<String>,
    Sent(switch): Sent<Switch>,
) -> Result<Response, Refused> {
    opt_in(&web, &who, family, switch.on).await?;
    Ok(on_to("/optins"))
}
