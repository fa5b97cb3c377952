//! What the executor remembers, on disk.

mod opt_ins;
pub mod sqlite;

pub use opt_ins::{FileOptIns, OptInError};
pub use sqlite::{Database, DatabaseError};
