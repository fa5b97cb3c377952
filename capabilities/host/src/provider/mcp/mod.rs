//! Speaking with servers of the Model Context Protocol.
//!
//! The protocol is spoken by hand, six messages of it: a call carries the very text that was judged and approved, which no
//! parsed value keeps; every message is read strictly and within a cap; and nothing a server says reaches a log.

pub mod credential;
mod definition;
mod events;
mod given;
mod http;
mod lines;
mod listing;
mod message;
mod mirror;
mod peer;
mod program;
mod reply;
mod schema;

pub use credential::{CredentialFault, Credentials};
pub(super) use definition::Described;
pub(super) use given::Given;
pub use http::HttpSettings;
pub(super) use http::HttpWay;
pub(super) use listing::{Listing, list};
pub(super) use peer::{Peer, PeerFault};
pub use program::ProgramSettings;
pub(super) use program::Running;
pub(crate) use program::Started;
pub(super) use reply::of_call;
