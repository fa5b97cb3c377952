//! Channels: what comes from outside by itself, and becomes an entry of one subject's inbox only after it is proven to come
//! from whom the operator named.
//!
//! [`verify`] is pure: settings, headers, raw bytes and a time in; an [`Event`] or the rule that refused it out. Everything
//! that reads, waits or remembers stands around it.

mod codes;
mod door;
mod event;
mod headers;
pub mod limits;
mod listen;
mod open;
pub mod replay;
mod secret;
pub mod verify;
mod writer;

pub(crate) use codes::{Codes, said};
pub use door::{Answer, Answering, Channel, Channels, Spoken};
pub(crate) use door::{MOST_BYTES, MOST_ENTRIES};
pub use event::{Acknowledgement, Event, Item, Message, Refused, Replay};
pub use headers::Headers;
pub(crate) use listen::Server;
pub use replay::Seen;
pub use secret::{MIN_SECRET_BYTES, Secret};

/// The largest message, in bytes.
pub const MAX_BODY: usize = 256 * 1024;
