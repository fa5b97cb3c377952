//! The machine itself.

use capability_core::handle::DeviceReadings;
use capability_core::{Clock, Device, Failure, Timestamp, capability};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether something is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// As it should be.
    Healthy,
    /// Worth a look.
    Degraded,
}

/// How the machine is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Health {
    /// Degraded when any check is.
    pub status: Status,
    /// When the readings were taken.
    pub time: Timestamp,
    /// The readings.
    pub system: System,
    /// What was concluded from them.
    pub checks: Checks,
}

/// Readings of the machine; null where it does not tell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct System {
    /// Operating system with major and minor version.
    pub version: Option<String>,
    /// Seconds since start.
    pub uptime_s: Option<u64>,
    /// Processors.
    pub cpus: Option<u32>,
    /// Load averages over 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// Main memory.
    pub memory: Option<Capacity>,
    /// The storage that holds the host's data.
    pub storage: Option<Capacity>,
    /// The hottest sensor, in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Network interfaces, without their addresses.
    pub interfaces: Vec<Interface>,
}

/// An amount of memory or storage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Capacity {
    /// All of it, in bytes.
    pub total_bytes: u64,
    /// What is free to use, in bytes.
    pub available_bytes: u64,
    /// What is not, in percent of all.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub used_percent: f64,
}

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// The kernel's word for its state.
    pub state: String,
}

/// What was concluded; null where the readings tell nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checks {
    /// Room left, and writable.
    pub storage: Option<Check>,
    /// Room left in memory.
    pub memory: Option<Check>,
    /// The clock is synchronised.
    pub clock: Option<Check>,
    /// A resolver is configured.
    pub dns: Option<Check>,
    /// The services that the operator listed.
    pub services: Vec<ServiceCheck>,
}

/// One conclusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// Whether it is as it should be.
    pub status: Status,
    /// In words.
    pub summary: String,
}

/// The conclusion about one listed service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServiceCheck {
    /// The name the operator listed.
    pub name: String,
    /// Null when the machine does not tell.
    pub check: Option<Check>,
}

/// From here on storage or memory counts as nearly full, in percent used.
const NEARLY_FULL: f64 = 95.0;

/// How this machine is: uptime, memory, storage, temperature, network interfaces, and what is wrong.
///
/// Takes no arguments. A reading that the machine does not give is null, never guessed. No host name, serial number,
/// address or user name is read.
#[capability(name = "system.health", version = 1, side_effect = read_only, network = local, title = "System health", resident)]
pub async fn system_health(device: &Device, clock: &Clock) -> Result<Health, Failure> {
    let readings = device.readings().await?;
    let time = clock.now().await?;
    let checks = checks(&readings);
    let services = checks.services.iter().filter_map(|service| service.check.as_ref());
    let all = [&checks.storage, &checks.memory, &checks.clock, &checks.dns];
    let degraded = all.into_iter().flatten().chain(services).any(|check| check.status == Status::Degraded);
    let status = if degraded { Status::Degraded } else { Status::Healthy };
    Ok(Health { status, time, system: system(readings), checks })
}

fn system(readings: DeviceReadings) -> System {
    let interfaces = readings.interfaces.into_iter().map(|found| Interface { name: found.name, state: found.state });
    System {
        version: readings.version,
        uptime_s: readings.uptime_s,
        cpus: readings.cpus,
        load: readings.load.map(|load| [load.one, load.five, load.fifteen]),
        memory: readings.memory.map(|memory| capacity(memory.total, memory.available)),
        storage: readings.storage.map(|storage| capacity(storage.total, storage.available)),
        temperature_c: readings.temperature_c,
        interfaces: interfaces.collect(),
    }
}

fn checks(readings: &DeviceReadings) -> Checks {
    let room = |kind: &str, capacity: Capacity| {
        let used = capacity.used_percent;
        let words = format!("{used:.1} % of {kind} is used");
        if used >= NEARLY_FULL { degraded(words) } else { healthy(words) }
    };
    let services = readings.services.iter().map(|service| ServiceCheck {
        name: service.name.clone(),
        check: service.running.map(|runs| if runs { healthy("it runs") } else { degraded("it does not run") }),
    });
    let endpoints = readings.endpoints.iter().map(|service| ServiceCheck {
        name: service.name.clone(),
        check: Some(if service.answers { healthy("it answers") } else { degraded("it does not answer") }),
    });
    Checks {
        storage: readings.storage.map(|storage| {
            if storage.read_only {
                degraded("storage is mounted read-only")
            } else {
                room("storage", capacity(storage.total, storage.available))
            }
        }),
        memory: readings.memory.map(|memory| room("memory", capacity(memory.total, memory.available))),
        clock: readings.clock_synchronised.map(|synchronised| {
            if synchronised { healthy("the clock is synchronised") } else { degraded("the clock is not synchronised") }
        }),
        dns: readings.resolver_configured.map(|configured| {
            if configured { healthy("a resolver is configured") } else { degraded("no resolver is configured") }
        }),
        services: services.chain(endpoints).collect(),
    }
}

fn healthy(summary: impl Into<String>) -> Check {
    Check { status: Status::Healthy, summary: summary.into() }
}

fn degraded(summary: impl Into<String>) -> Check {
    Check { status: Status::Degraded, summary: summary.into() }
}

/// Percent with one decimal, as people read it.
#[expect(clippy::cast_precision_loss, reason = "a percentage with one decimal needs no more than 52 bits")]
fn capacity(total: u64, available: u64) -> Capacity {
    let used = total.saturating_sub(available);
    let used_percent = if total == 0 { 0.0 } else { (used as f64 / total as f64 * 1000.0).round() / 10.0 };
    Capacity { total_bytes: total, available_bytes: available, used_percent }
}

#[cfg(test)]
mod tests {
    use super::{Status, capacity, checks};
    use capability_core::handle::{DeviceReadings, EndpointReading, MemoryReading, ServiceReading, StorageReading};

    #[test]
    fn nothing_known_is_nothing_concluded() {
        let found = checks(&DeviceReadings::default());
        assert_eq!((found.storage, found.memory, found.clock, found.dns), (None, None, None, None));
        assert!(found.services.is_empty());
    }

    #[test]
    fn each_fault_is_seen() {
        let readings = DeviceReadings {
            memory: Some(MemoryReading { total: 1000, available: 40 }),
            storage: Some(StorageReading { total: 1000, available: 500, read_only: true }),
            clock_synchronised: Some(false),
            resolver_configured: Some(false),
            services: vec![
                ServiceReading { name: "a.service".into(), running: Some(false) },
                ServiceReading { name: "b.service".into(), running: None },
            ],
            endpoints: vec![EndpointReading { name: "pihole".into(), answers: false }],
            ..DeviceReadings::default()
        };
        let found = checks(&readings);
        for check in [found.memory, found.storage, found.clock, found.dns, found.services[0].check.clone()] {
            assert_eq!(check.unwrap().status, Status::Degraded);
        }
        assert_eq!(found.services[1].check, None);
        let answering = found.services[2].check.as_ref().map(|check| (check.status, check.summary.as_str()));
        assert_eq!(answering, Some((Status::Degraded, "it does not answer")));
    }

    #[test]
    fn percentages_have_one_decimal_and_no_division_by_zero() {
        assert!((capacity(3000, 2000).used_percent - 33.3).abs() < f64::EPSILON);
        assert!(capacity(0, 0).used_percent.abs() < f64::EPSILON);
        assert!(capacity(10, 20).used_percent.abs() < f64::EPSILON);
    }
}
