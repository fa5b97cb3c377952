//! The tools a model sees: their order, their bytes, and the way from a name to a call.

#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod operations;
#[cfg(test)]
mod order;
#[cfg(test)]
mod tools;
