//! Schemas and arguments, by what they promise.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod both_ways;
#[cfg(test)]
mod canonical;
#[cfg(test)]
#[cfg(feature = "jsonschema")]
mod oracle;
#[cfg(test)]
mod recursion;
#[cfg(test)]
mod refusals;
#[cfg(test)]
#[path = "../../../tests/support/sampler.rs"]
mod sampler;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod zoo;
