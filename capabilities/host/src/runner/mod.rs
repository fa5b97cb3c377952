//! Where bodies run.
//!
//! | runner | isolation | deadline |
//! |---|---|---|
//! | [`WorkerRunner`], what a host uses | a sandboxed process | the kernel ends the body |
//! | [`ThreadRunner`], for what an operator names, and where there are no workers | none | at the body's next await |

mod thread;
#[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod worker;

use std::collections::BTreeSet;

use capability_core::contract::Capability;
use capability_core::executor::{BodyEnd, Guarantees, PrepareFault, Prepared, Runner};
use capability_core::{Call, Soon};
use serde::{Deserialize, Serialize};

pub use thread::{MAX_THREADS, ThreadRunner};
#[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub use worker::WorkerRunner;

/// The most workers that serve calls at a time, unless the configuration says otherwise.
pub const MAX_WORKERS: u32 = 64;

/// The runner of a host: workers, but for the capabilities that an operator runs in the host's own process.
pub struct HostRunner {
    #[cfg(all(target_os = "linux", target_endian = "little", any(target_arch = "x86_64", target_arch = "aarch64")))]
    workers: WorkerRunner,
    threads: ThreadRunner,
    in_process: BTreeSet<String>,
}

/// One thing about the sandbox, and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub name: String,
    /// What was found.
    pub found: String,
    /// Whether it holds.
    pub state: FindingState,
    /// Everything that was tried for it, one by one.
    pub answers: Vec<Answer>,
}

impl Finding {
    /// Whether it is promised and does not hold.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == FindingState::Open
    }
}

/// One way out of the sandbox that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What, to be read behind "a body can".
    pub tried: String,
    /// In a worker of which profile.
    pub profile: String,
    /// What became of it.
    pub answer: String,
    /// Whether it led out.
    pub led_out: bool,
}

/// Whether something about the sandbox holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingState {
    /// It does.
    Holds,
    /// It is an extra that this machine does not have.
    Extra,
    /// It is promised and does not hold.
    Open,
}

/// How a host's bodies run.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The most workers at a time.
    pub workers: u32,
    /// The most bodies on threads at a time.
    pub threads: u32,
    /// The capabilities, of every version, that run in the host's own process.
    pub in_process: BTreeSet<String>,
    /// Whether a sandbox that does not hold everywhere is better than none.
    pub accept_degraded: bool,
}

impl HostRunner {
    /// A runner that places bodies so.
    #[must_use]
    pub fn new(placement: Placement) -> Self {
        Self {
            #[cfg(all(
                target_os = "linux",
                target_endian = "little",
                any(target_arch = "x86_64", target_arch = "aarch64")
            ))]
            workers: WorkerRunner::new(placement.workers, placement.accept_degraded),
            threads: ThreadRunner::new(placement.threads),
            in_process: placement.in_process,
        }
    }

    /// Puts the sandbox up and tells what holds; nothing where there are no workers. Once it is up, it is only told again.
    ///
    /// # Errors
    /// In words, why nothing can be isolated: nothing runs then but what an operator runs in the host's own process.
    pub async fn attest(&self) -> Result<Vec<Finding>, String> {
        #[cfg(all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        return match self.workers.attest().await {
            Ok(standing) => Ok(standing.findings()),
            Err(fault) => Err(fault.to_string()),
        };
        #[cfg(not(all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64")
        )))]
        Ok(Vec::new())
    }

    /// The names that run in the host's own process.
    #[must_use]
    pub const fn in_process(&self) -> &BTreeSet<String> {
        &self.in_process
    }

    fn of(&self, name: &str) -> &dyn Runner {
        #[cfg(all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64")
        ))]
        if !self.in_process.contains(name) {
            return &self.workers;
        }
        let _ = name;
        &self.threads
    }
}

impl Runner for HostRunner {
    fn guarantees(&self, entry: &'static Capability) -> Guarantees {
        self.of(entry.name().as_str()).guarantees(entry)
    }

    fn prepare<'a>(
        &'a self,
        entry: &'static Capability,
        arguments: &'a [u8],
        call: &Call,
    ) -> Soon<'a, Result<Prepared, PrepareFault>> {
        self.of(entry.name().as_str()).prepare(entry, arguments, call)
    }

    fn run(&self, prepared: Prepared, call: Call) -> Soon<'_, BodyEnd> {
        self.of(call.lease().capability().as_str()).run(prepared, call)
    }
}
