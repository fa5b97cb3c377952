//! One record of everything, whatever happens to it, and nothing in it that anybody said.

#[cfg(test)]
#[expect(dead_code, reason = "each suite uses some of the laboratory")]
#[path = "../fixtures/mod.rs"]
mod fixtures;

#[cfg(test)]
mod canary;
#[cfg(test)]
mod dropping;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod order;
