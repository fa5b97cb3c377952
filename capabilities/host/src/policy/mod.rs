//! The operator's rules: a file that is read when it changes, and a copy of what was last in force.

mod error;
mod file;
mod load;

pub use error::PolicyError;
pub use file::FilePolicy;
pub(crate) use file::{MAX_FILE_BYTES, Places, Standing};
pub(crate) use load::{Loaded, load};
