//! Limits of what the kernel counts.

use rustix::process::{Resource, Rlimit, setrlimit};

/// How much a worker may have. Sizes are bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Memory that it writes to: heap, stacks, private mappings. 512 MiB unless said otherwise.
    pub data: u64,
    /// Addresses, whatever stands behind them: what allocators set aside without using it counts. 16 GiB unless said
    /// otherwise.
    pub addresses: u64,
    /// Open descriptors. 64 unless said otherwise.
    pub descriptors: u64,
    /// The largest file that it makes through a descriptor it was handed. Nothing unless said otherwise.
    pub file: u64,
    /// Threads, the first included. 32 unless said otherwise. Holds only for a worker that is a user of its own.
    pub tasks: u32,
}

/// What the first thread's stack grows to; it counts as no data.
const STACK: u64 = 8 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self { data: 512 << 20, addresses: 16 << 30, descriptors: 64, file: 0, tasks: 32 }
    }
}

impl Limits {
    pub(super) fn set(&self) -> rustix::io::Result<()> {
        for (resource, most) in [
            (Resource::Core, 0),
            (Resource::Memlock, 0),
            (Resource::Msgqueue, 0),
            (Resource::Nice, 0),
            (Resource::Rtprio, 0),
            (Resource::Stack, STACK),
            (Resource::Fsize, self.file),
            (Resource::Nofile, self.descriptors),
            (Resource::Data, self.data),
            (Resource::As, self.addresses),
        ] {
            set(resource, most)?;
        }
        Ok(())
    }

    /// Counts every task of the same user, so it is set where the worker is the only one of it.
    pub(super) fn set_tasks(&self) -> rustix::io::Result<()> {
        set(Resource::Nproc, u64::from(self.tasks))
    }
}

/// Never above what holds already, which only the privileged could exceed.
pub(super) fn set(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let most = rustix::process::getrlimit(resource).maximum.map_or(most, |now| now.min(most));
    setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
}
