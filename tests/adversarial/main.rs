//! Callers that try to be somebody else, to have been confirmed, or to wear the gate out.

#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod claims;
#[cfg(test)]
mod input;
#[cfg(test)]
mod names;
