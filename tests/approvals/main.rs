//! A person's answer: used once, in time, by its own subject, for exactly what was shown.

#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod binding;
#[cfg(test)]
mod caps;
#[cfg(test)]
mod denials;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod grants;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod timing;
#[cfg(test)]
mod using;
#[cfg(test)]
mod waiting;
