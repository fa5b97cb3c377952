//! Where bodies run.

mod thread;
#[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod worker;

pub use thread::{MAX_THREADS, ThreadRunner};
