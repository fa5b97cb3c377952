//! Channels: what comes from outside by itself, and becomes an entry of one subject's inbox only after it is proven to come
//! from whom the operator named.
//!
//! [`verify`] is pure: settings, headers, raw bytes and a time in; an [`Event`] or the rule that refused it out. Everything
//! that reads, waits or remembers stands around it.

mod event;
mod headers;
mod secret;
pub mod verify;

pub use event::{Acknowledgement, Event, Item, Message, Refused, Replay};
pub use headers::Headers;
pub use secret::{MIN_SECRET_BYTES, Secret};

/// The largest message, in bytes.
pub const MAX_BODY: usize = 256 * 1024;
