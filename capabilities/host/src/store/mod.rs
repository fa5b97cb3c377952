//! What the executor remembers, on disk.

mod opt_ins;
pub mod sqlite;
mod watched;

pub use opt_ins::{FileOptIns, OptInError};
pub use sqlite::{Database, DatabaseError};
pub(crate) use watched::{Revision, WatchedApprovals};
