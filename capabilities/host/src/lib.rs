//! The durable half of a host: the data directory, the stores, the audit log, the operator credential, the runner and the
//! broker, and [`Host`], which puts them together around the executor.

#[cfg(not(unix))]
compile_error!("capability-host needs a Unix: its files are closed by owner and mode, and its owner lock is `flock`");

pub mod audit_log;
pub mod broker;
pub mod config;
pub mod data_dir;
pub mod environment;
mod error;
mod hex;
mod host;
pub mod operator;
pub mod panic_hook;
pub mod runner;
pub mod store;

pub use error::{HostError, SettingError};
pub use host::{Host, HostOptions, Operators};
