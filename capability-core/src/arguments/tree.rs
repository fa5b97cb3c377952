//! Arguments and results as trees: slower, and able to say what is wrong with them.

use serde_json::Value;

use super::defaults::Defaults;
use super::fault::{ArgumentFault, ResultFault};
use super::judge::Judge;
use super::{MAX_ARGUMENT_BYTES, canonical, parse, refusal};

/// The canonical text of arguments, or why there is none.
pub(super) fn arguments(judge: &Judge, raw: &[u8], defaults: &Defaults) -> Result<Vec<u8>, ArgumentFault> {
    let parsed = parse::parse(raw)?;
    let value = parsed.value;
    if !value.is_object() {
        return Err(refusal::not_an_object(&value));
    }
    if !judge.accepts_tree(&value) {
        return Err(refusal::refusal(judge, &value, false, raw.len()));
    }
    if parsed.inexact && !judge.accepts_exactly(&value) {
        return Err(refusal::refusal(judge, &value, true, raw.len()));
    }
    let Value::Object(mut properties) = value else {
        return Err(refusal::not_an_object(&Value::Null));
    };
    defaults.fill(&mut properties).map_err(|_| refusal::too_many_defaults())?;
    let bytes = canonical::object(&properties, raw.len());
    if bytes.len() > MAX_ARGUMENT_BYTES {
        return Err(refusal::too_many_defaults());
    }
    Ok(bytes)
}

/// Whether a result follows its schema, and where it does not.
pub(super) fn result(judge: &Judge, json: &str) -> Result<(), ResultFault> {
    let value: Value = serde_json::from_str(json).map_err(|_| ResultFault::unreadable())?;
    if judge.accepts_tree(&value) { Ok(()) } else { Err(refusal::result(judge, &value)) }
}
