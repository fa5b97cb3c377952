//! The tools a model sees: a projection of decisions, in one order, by names that lead back.
//!
//! Source: the capability system's contract, "Tool surface".
//!
//! | type | what it is |
//! |---|---|
//! | [`WireName`] | what a tool is called where dots are not allowed |
//! | [`WireNames`] | the names of one surface, and the way back |

mod wire_name;

pub use wire_name::{Collision, MAX_WIRE_NAME_BYTES, ToolKey, WireName, WireNames};
