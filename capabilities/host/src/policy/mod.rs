//! The operator's rules: a file that is read when it changes, and a copy of what was last in force.
//!
//! Rules that let through more than those in force count once an operator accepted them; all others count at once.

mod accept;
mod error;
mod file;
mod load;
mod required;

pub(crate) use accept::{Waiting, digest};
pub use error::PolicyError;
pub use file::FilePolicy;
pub(crate) use file::{MAX_FILE_BYTES, Places, Standing};
pub(crate) use load::{Loaded, load, zone};
pub use required::RequiredPolicy;
