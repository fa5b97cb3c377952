//! Six stages in one order: every refusal at its stage, every ending with its effect, and one record of each.

#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod confirmation;
#[cfg(test)]
mod declared;
#[cfg(test)]
mod endings;
#[cfg(test)]
mod previews;
#[cfg(test)]
mod refusals;
