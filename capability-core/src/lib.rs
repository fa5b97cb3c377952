//! Capabilities: typed functions that a machine may ask for, and the one executor that every request passes.

#[path = "private.rs"]
#[doc(hidden)]
pub mod __private;
mod arguments;
mod call;
pub mod contract;
mod failure;
mod future;
pub mod handle;
mod hex;
mod preview;
use __private as private;
#[path = "arguments/laws.rs"]
#[doc(hidden)]
pub mod __validation;
pub mod registry;
pub mod session;
mod time;

pub use arguments::{ArgumentCode, ArgumentFault, Arguments, MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH, ResultFault};
pub use capability_macros::capability;
pub use contract::{Bounds, Capability, Class, Confirmation, Network, SideEffect};
pub use failure::{Failure, IntoFailure};
pub use future::BoxFuture;
pub use hex::HexError;
pub use preview::{MAX_PREVIEW_BYTES, Preview};
pub use session::Session;
pub use time::{Environment, Timestamp};
