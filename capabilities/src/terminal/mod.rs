//! Commands: what one would do, and running it.

pub mod guard;
