//! What a subject keeps from one call to the next.

use capability_core::handle::{BrokerFault, Read, State, StateScope, Write, is_state_key};
use capability_core::{Failure, Preview, Timestamp, capability};
use schemars::JsonSchema;
use serde::Serialize;

/// What is kept under a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KeptText {
    /// The text; null where nothing is kept.
    pub value: Option<String>,
    /// When it was put there.
    pub at: Option<Timestamp>,
}

/// Looks up what you keep under a key, in this session or in all of them.
#[capability(
    name = "state.get",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "Look up a kept text",
    risk = low,
    check = is_key
)]
pub async fn state_get(
    state: &State<Read>,
    /// `core`: in every session of yours; `session`: in this one alone.
    scope: StateScope,
    /// Letters `a-z`, digits, `.`, `_` and `-`.
    #[schemars(length(min = 1, max = 64))]
    key: String,
) -> Result<KeptText, Failure> {
    let kept = state.get(scope, &key).await.map_err(BrokerFault::into_public)?;
    Ok(kept.map_or(KeptText { value: None, at: None }, |kept| KeptText { value: Some(kept.value), at: Some(kept.at) }))
}

/// Keeps a text under a key, in place of what was there, or takes it away.
#[capability(
    name = "state.put",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "Keep a text",
    target = text(key),
    risk = low,
    check = is_entry,
    preview = what_is_there,
    idempotent
)]
pub async fn state_put(
    state: &State<Write>,
    /// `core`: in every session of yours; `session`: in this one alone, for a week at most.
    scope: StateScope,
    /// Letters `a-z`, digits, `.`, `_` and `-`.
    #[schemars(length(min = 1, max = 64))]
    key: String,
    /// The text, at most 16 KiB; left out, what is there is taken away.
    #[schemars(length(max = 16_384))]
    value: Option<String>,
) -> Result<(), Failure> {
    state.put(scope, &key, value).await.map_err(|fault| match fault {
        // The store wrote nothing then.
        BrokerFault::CapExceeded | BrokerFault::MalformedKey => fault.into_public().and_before_effect(),
        _ => fault.into_public(),
    })
}

fn is_key(_: &StateScope, key: &str) -> Result<(), BrokerFault> {
    if is_state_key(key) { Ok(()) } else { Err(BrokerFault::MalformedKey) }
}

fn is_entry(scope: &StateScope, key: &str, value: &Option<String>) -> Result<(), BrokerFault> {
    is_key(scope, key)?;
    // The schema counts characters, the store bytes.
    match value {
        Some(value) if value.len() > capability_core::handle::MAX_VALUE_BYTES => Err(BrokerFault::CapExceeded),
        _ => Ok(()),
    }
}

/// Whether something stands there, and how much of it.
async fn what_is_there(
    state: &State<Write>,
    scope: &StateScope,
    key: &str,
    value: &Option<String>,
) -> Result<Preview, Failure> {
    let kept = state.get(*scope, key).await.map_err(BrokerFault::into_public)?;
    let does = if value.is_some() { "puts it in place of" } else { "takes away" };
    let text = match kept {
        None => "nothing is kept there".to_owned(),
        Some(kept) => format!("{does} {} bytes that were put there at {}", kept.value.len(), kept.at),
    };
    Ok(Preview { text, ..Preview::default() })
}
