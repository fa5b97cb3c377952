//! Readings of a Linux machine, from `/proc`, `/sys`, `/run` and `/etc`.
//!
//! Read here and nowhere passed on: host name, machine id, serial numbers, hardware and network addresses, user names.

use std::fs;
use std::path::{Path, PathBuf};

use capability_core::handle::{DeviceReadings, InterfaceReading, LoadReading, MemoryReading, ServiceReading};
use procfs::{FromRead, LoadAverage, Meminfo, Uptime};

use super::device::{DeviceSource, cpus, storage};

/// The most interfaces that are told; a machine with containers has hundreds.
const MAX_INTERFACES: usize = 64;
/// The longest file that is read whole.
const MAX_BYTES: u64 = 256 * 1024;

/// A Linux machine below a root directory, which is `/` but in tests.
#[derive(Debug)]
pub struct LinuxDevice {
    root: PathBuf,
    storage: PathBuf,
    services: Vec<String>,
}

impl LinuxDevice {
    /// The machine whose `/proc`, `/sys`, `/run` and `/etc` stand below `root`.
    #[must_use]
    pub fn new(root: &Path, storage: &Path, services: Vec<String>) -> Self {
        Self { root: root.to_owned(), storage: storage.to_owned(), services }
    }

    fn text(&self, path: &str) -> Option<String> {
        read(&self.root.join(path))
    }

    /// `linux` with the first two numbers of its release.
    fn version(&self) -> Option<String> {
        let release = self.text("proc/sys/kernel/osrelease")?;
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
        let (major, minor) = (numbers.next()?, numbers.next()?);
        Some(format!("linux {major}.{minor}"))
    }

    fn memory(&self) -> Option<MemoryReading> {
        let found = Meminfo::from_file(self.root.join("proc/meminfo")).ok()?;
        Some(MemoryReading { total: found.mem_total, available: found.mem_available? })
    }

    fn load(&self) -> Option<LoadReading> {
        let found = LoadAverage::from_file(self.root.join("proc/loadavg")).ok()?;
        // The kernel tells two decimals; what single precision adds to them is noise.
        let told = |average: f32| (f64::from(average) * 100.0).round() / 100.0;
        Some(LoadReading { one: told(found.one), five: told(found.five), fifteen: told(found.fifteen) })
    }

    fn uptime(&self) -> Option<u64> {
        let found = Uptime::from_file(self.root.join("proc/uptime")).ok()?;
        Some(found.uptime_duration().as_secs())
    }

    /// The hottest plausible sensor. A virtual machine has none.
    fn temperature(&self) -> Option<f64> {
        let sensors = entries(&self.root.join("sys/class/hwmon"))
            .into_iter()
            .flat_map(|chip| entries(&chip))
            .filter(|file| name(file).is_some_and(|name| name.starts_with("temp") && name.ends_with("_input")));
        let zones = entries(&self.root.join("sys/class/thermal"))
            .into_iter()
            .filter(|zone| name(zone).is_some_and(|name| name.starts_with("thermal_zone")))
            .map(|zone| zone.join("temp"));
        sensors
            .chain(zones)
            .filter_map(|file| read(&file)?.trim().parse::<i32>().ok())
            .filter(|milli| (-55_000..=150_000).contains(milli))
            .max()
            .map(|milli| f64::from(milli) / 1000.0)
    }

    fn interfaces(&self) -> Vec<InterfaceReading> {
        /// `ARPHRD_LOOPBACK`.
        const LOOPBACK: &str = "772";
        let word = |text: &str, most| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"._@-".contains(&b);
            (1..=most).contains(&text.len()) && text.bytes().all(plain)
        };
        let mut found: Vec<_> = entries(&self.root.join("sys/class/net"))
            .into_iter()
            .filter_map(|interface| {
                let name = name(&interface)?.to_owned();
                let kind = read(&interface.join("type"))?;
                let state = read(&interface.join("operstate"))?.trim().to_owned();
                let told = kind.trim() != LOOPBACK && word(&name, 15) && word(&state, 32);
                told.then_some(InterfaceReading { name, state })
            })
            .collect();
        found.sort_by(|one, two| one.name.cmp(&two.name));
        found.truncate(MAX_INTERFACES);
        found
    }

    /// What systemd-timesyncd says; where another program sets the clock, the machine does not tell.
    fn clock_synchronised(&self) -> Option<bool> {
        let dir = self.root.join("run/systemd/timesync");
        dir.is_dir().then(|| dir.join("synchronized").exists())
    }

    /// Whether the resolver's configuration names a server. No file is none; one that cannot be read tells nothing.
    fn resolver_configured(&self) -> Option<bool> {
        let path = self.root.join("etc/resolv.conf");
        match fs::read_to_string(&path) {
            Ok(text) => Some(text.lines().any(|line| {
                let mut words = line.split_whitespace();
                words.next() == Some("nameserver") && words.next().is_some()
            })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }

    /// A system service runs when its control group has processes. A machine without systemd does not tell.
    fn running(&self, service: &str) -> Option<bool> {
        let slice = ["sys/fs/cgroup/system.slice", "sys/fs/cgroup/systemd/system.slice"]
            .into_iter()
            .map(|slice| self.root.join(slice))
            .find(|slice| slice.is_dir())?;
        let told = self.root.join("run/systemd/system").is_dir();
        let group = slice.join(service);
        if !group.is_dir() {
            return told.then_some(false);
        }
        match read(&group.join("cgroup.events")) {
            Some(events) => Some(events.lines().any(|line| line.trim() == "populated 1")),
            None => read(&group.join("cgroup.procs")).map(|processes| !processes.trim().is_empty()),
        }
    }
}

impl DeviceSource for LinuxDevice {
    fn readings(&self) -> DeviceReadings {
        DeviceReadings {
            version: self.version(),
            uptime_s: self.uptime(),
            cpus: cpus(),
            load: self.load(),
            memory: self.memory(),
            storage: storage(&self.storage),
            temperature_c: self.temperature(),
            interfaces: self.interfaces(),
            clock_synchronised: self.clock_synchronised(),
            resolver_configured: self.resolver_configured(),
            services: self
                .services
                .iter()
                .map(|name| ServiceReading { name: name.clone(), running: self.running(name) })
                .collect(),
            // Whoever speaks with them asks.
            endpoints: Vec::new(),
        }
    }
}

/// What stands in a directory; nothing when it cannot be listed.
fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).into_iter().flatten().filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}

fn name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

fn read(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    fs::File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests;
