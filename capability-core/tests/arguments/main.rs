//! Schemas and arguments, by what they promise.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod refusals;
#[cfg(test)]
#[path = "../../../tests/support/sampler.rs"]
mod sampler;
#[cfg(test)]
mod zoo;
