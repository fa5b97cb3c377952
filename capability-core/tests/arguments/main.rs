//! Schemas and arguments, by what they promise.

mod refusals;
