//! What came in from outside, for programs.

use axum::Json;
use axum::extract::State;
use capability_core::session::Subject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Shared;
use super::forms::Asked;
use super::guard::Who;
use super::refused::Refused;
use crate::protocol::InboxPart;
use crate::service::MOST_TOLD;

/// Which entries.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Whose.
    #[schemars(with = "String")]
    subject: Subject,
    /// Only what came after the entry of this number.
    #[serde(default)]
    after: i64,
    /// At most how many, 1 to 100.
    #[serde(default = "most")]
    most: u32,
    /// Wait a while for one, when there is none.
    #[serde(default)]
    wait: bool,
}

const fn most() -> u32 {
    MOST_TOLD
}

pub async fn inbox(State(web): State<Shared>, _: Who, Asked(part): Asked<Part>) -> Result<Json<InboxPart>, Refused> {
    let Part { subject, after, most, wait } = part;
    Ok(Json(web.service().inbox(&subject, after, most, wait).await?))
}
