//! Where readings of the machine come from.

use std::path::Path;
use std::sync::Arc;

use capability_core::handle::DeviceReadings;
#[cfg(any(target_os = "linux", test))]
use capability_core::handle::StorageReading;

/// Reads the machine. What it does not tell stays `None` or empty; nothing is guessed.
pub trait DeviceSource: Send + Sync + 'static {
    /// All readings, taken now. May block.
    fn readings(&self) -> DeviceReadings;
}

/// The machine this process runs on: its storage is the file system that holds `data_dir`, its services are those listed.
#[must_use]
pub fn machine(data_dir: &Path, services: Vec<String>) -> Arc<dyn DeviceSource> {
    #[cfg(target_os = "linux")]
    {
        Arc::new(super::LinuxDevice::new(Path::new("/"), data_dir, services))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = data_dir;
        Arc::new(Quiet { services })
    }
}

/// A system this host has no source for.
#[cfg(not(target_os = "linux"))]
struct Quiet {
    services: Vec<String>,
}

#[cfg(not(target_os = "linux"))]
impl DeviceSource for Quiet {
    fn readings(&self) -> DeviceReadings {
        let unknown = |name: &String| capability_core::handle::ServiceReading { name: name.clone(), running: None };
        DeviceReadings {
            version: Some(std::env::consts::OS.to_owned()),
            cpus: cpus(),
            services: self.services.iter().map(unknown).collect(),
            ..DeviceReadings::default()
        }
    }
}

/// Processors this process may run on.
pub(super) fn cpus() -> Option<u32> {
    std::thread::available_parallelism().ok().and_then(|cpus| u32::try_from(cpus.get()).ok())
}

/// The file system that holds `path`.
#[cfg(any(target_os = "linux", test))]
pub(super) fn storage(path: &Path) -> Option<StorageReading> {
    let found = rustix::fs::statvfs(path).ok()?;
    Some(StorageReading {
        total: found.f_blocks.checked_mul(found.f_frsize)?,
        available: found.f_bavail.checked_mul(found.f_frsize)?,
        read_only: found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
    })
}
