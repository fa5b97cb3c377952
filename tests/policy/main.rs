//! The verdict, against a slow and obvious reference and by its laws.

#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod rules;
