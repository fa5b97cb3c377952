//! The Model Context Protocol: this host as a server for other programs' models.

mod clients;
pub mod server;

pub use clients::{ClientEntry, ClientError, ClientToken, Clients};
