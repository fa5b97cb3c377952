//! Where bodies run.

mod thread;

pub use thread::{MAX_THREADS, ThreadRunner};
