//! The host around `capability_core`: a command line, durable stores, an audit log, runners and brokers.
//!
//! An author's own binary depends on `capability-core` and `capability-host`, has annotated functions, and calls [`main!`].
//! It is then a command line with every command that `--help` lists:
//!
//! ```
//! use capability_core::capability;
//!
//! /// Turns a lamp on or off.
//! #[capability(name = "lamp.switch", version = 1, side_effect = mutating, network = external)]
//! fn lamp_switch(lamp: String, on: bool) -> String {
//!     format!("{lamp} is {}", if on { "on" } else { "off" })
//! }
//!
//! capability_host::main!();
//! ```
//!
//! [`Host`] puts the durable parts together around the executor: the data directory, the stores, the log, the operator
//! credential, the runner and the broker.

#[cfg(not(unix))]
compile_error!("capability-host needs a Unix: its files are closed by owner and mode, and its owner lock is `flock`");

// linkme drops a crate that nothing names.
#[cfg(feature = "builtins")]
use capabilities as _;

pub mod agents;
pub mod audit_log;
mod blocking;
pub mod broker;
pub mod channel;
mod cli;
pub mod config;
mod connection;
pub mod data_dir;
pub mod display;
pub mod environment;
mod error;
mod hex;
mod host;
mod mcp;
pub mod operator;
pub mod panic_hook;
pub mod policy;
mod protocol;
pub mod provider;
pub mod runner;
mod schedule;
pub mod secrets;
mod service;
pub mod skill;
mod socket;
pub mod store;
mod streamed;
pub mod subjects;
mod tool_search;
mod web;
mod words;

pub use agents::AgentHost;
pub use error::{HostError, SettingError};
pub use host::{Host, HostOptions, Operators, Running};

pub use cli::run;

/// Turns off from `main` where this process was started as a worker. It has done so before `main` where the C library lets it.
#[doc(hidden)]
pub fn become_worker() {
    #[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
    runner::worker::entry::turn_off();
}

/// The packages whose capabilities this crate links by itself.
#[doc(hidden)]
pub const LINKED: &[&str] = if cfg!(feature = "builtins") { &["capabilities"] } else { &[] };

/// The whole `main` of a binary: the command line over its own capabilities and, with the feature `builtins`, over the
/// built-in ones.
///
/// Linking a crate is no invitation: capabilities of any other package keep the host from starting until the package is
/// listed, as in `capability_host::main!(packages: ["household"]);`.
///
/// ```no_run
/// use capability_core::capability;
///
/// /// Greets somebody.
/// #[capability(name = "example.greet", version = 1, side_effect = read_only, network = local)]
/// fn greet(
///     /// Whom to greet.
///     name: String,
/// ) -> String {
///     format!("hello, {name}")
/// }
///
/// capability_host::main!();
/// ```
#[macro_export]
macro_rules! main {
    () => {
        $crate::main!(packages: []);
    };
    (packages: [$($package:literal),* $(,)?]) => {
        fn main() -> ::std::process::ExitCode {
            $crate::become_worker();
            $crate::run(&[::core::env!("CARGO_PKG_NAME"), $($package),*])
        }
    };
}

/// The examples of the repository's front page.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
