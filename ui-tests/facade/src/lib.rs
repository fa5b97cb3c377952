//! A facade: it depends on the framework under another name, exports it under a third, and has a capability of its own.
//!
//! The lints are those of a strict author, so that checking this crate checks generated code.
#![deny(missing_docs, unsafe_code, unused_qualifications, clippy::all, clippy::pedantic)]
#![deny(rustdoc::all)]

pub use renamed as cap;

use renamed::capability;
use renamed::handle::{Clock, Context};

/// Answers with what was asked.
///
/// # Errors
/// When nothing was asked.
#[capability(
    name = "facade.own",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "Answer",
    bounds(timeout = "2s"),
    scope = text,
    check = something,
    risk = low,
    default = ask,
    resident,
    idempotent
)]
pub async fn own(
    context: &Context,
    /// What to answer with.
    #[schemars(length(min = 1))]
    text: String,
    times: Option<u8>,
    clock: &Clock,
) -> Result<String, String> {
    clock.now().await.map_err(|fault| format!("{fault:?} {:?}", context.turn()))?;
    Ok(text.repeat(usize::from(times.unwrap_or(1))))
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "a check borrows each argument as it is")]
fn something(text: &str, times: &Option<u8>) -> Result<(), String> {
    if text.is_empty() || *times == Some(0) { Err("nothing to answer with".to_owned()) } else { Ok(()) }
}
