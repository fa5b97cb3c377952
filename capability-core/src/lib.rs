//! Capabilities: typed functions that a machine may ask for, and the one executor that every request passes.

// Unit tests use the macro as an author does, and it names this crate.
#[cfg(test)]
extern crate self as capability_core;

#[path = "private.rs"]
#[doc(hidden)]
pub mod __private;
pub mod approval;
mod arguments;
pub mod audit;
mod call;
mod code;
pub mod contract;
pub mod executor;
mod failure;
mod future;
pub mod handle;
mod hex;
pub mod policy;
mod preview;
use __private as private;
#[path = "arguments/laws.rs"]
#[doc(hidden)]
pub mod __validation;
pub mod provider;
pub mod registry;
pub mod session;
pub mod store;
mod time;

pub use arguments::{ArgumentCode, ArgumentFault, Arguments, MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH, ResultFault};
pub use call::Call;
pub use capability_macros::capability;
pub use code::{Code, Stage};
pub use contract::{Bounds, Capability, Class, Confirmation, Network, SideEffect};
pub use executor::{Executor, Outcome, Proposal};
pub use failure::{Failure, IntoFailure};
pub use future::{BoxFuture, Soon, SoonFuture};
pub use handle::{Clock, Context, Device, Endpoint, Http, Journal, Secret, Workspace};
pub use hex::HexError;
pub use preview::{MAX_PREVIEW_BYTES, Preview};
pub use registry::Registry;
pub use session::Session;
pub use time::{Environment, Timestamp};
