use std::fs;
use std::path::Path;

use capability_core::handle::{DeviceReadings, InterfaceReading, LoadReading, MemoryReading, ServiceReading};

use super::LinuxDevice;
use crate::broker::DeviceSource;

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn services() -> Vec<String> {
    ["ssh.service", "dead.service", "gone.service"].map(str::to_owned).to_vec()
}

#[test]
fn a_whole_machine() {
    let top = tempfile::tempdir().unwrap();
    let root = top.path();
    put(root, "proc/sys/kernel/osrelease", "6.18.5-secret-vendor-build\n");
    put(root, "proc/uptime", "12345.67 99999.00\n");
    put(root, "proc/loadavg", "11.06 1.25 0.07 1/234 5678\n");
    put(
        root,
        "proc/meminfo",
        "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 600 kB\nBuffers: 1 kB\nCached: 1 kB\nSwapCached: 0 kB\nActive: 1 kB\nInactive: 1 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nDirty: 0 kB\nWriteback: 0 kB\nMapped: 0 kB\nSlab: 0 kB\nCommitted_AS: 0 kB\nVmallocTotal: 0 kB\nVmallocUsed: 0 kB\nVmallocChunk: 0 kB\n",
    );
    put(root, "sys/class/hwmon/hwmon0/temp1_input", "41500\n");
    put(root, "sys/class/hwmon/hwmon0/temp2_input", "999000\n");
    put(root, "sys/class/hwmon/hwmon0/fan1_input", "120000\n");
    put(root, "sys/class/thermal/thermal_zone0/temp", "55250\n");
    put(root, "sys/class/thermal/cooling_device0/temp", "99000\n");
    for (name, kind, state, address) in [
        ("lo", "772", "unknown", "00:00"),
        ("wlan0", "1", "down", "aa:bb"),
        ("eth0", "1", "up", "cc:dd"),
        ("odd", "1", "a b", "ee"),
    ] {
        put(root, &format!("sys/class/net/{name}/type"), kind);
        put(root, &format!("sys/class/net/{name}/operstate"), &format!("{state}\n"));
        put(root, &format!("sys/class/net/{name}/address"), address);
    }
    put(root, "run/systemd/timesync/synchronized", "");
    put(root, "run/systemd/system/.keep", "");
    put(root, "etc/resolv.conf", "# nameserver 1.1.1.1\nsearch secret.example\n nameserver 192.0.2.1\n");
    put(root, "etc/hostname", "secret-host");
    put(root, "sys/fs/cgroup/system.slice/ssh.service/cgroup.events", "populated 1\nfrozen 0\n");
    put(root, "sys/fs/cgroup/system.slice/dead.service/cgroup.events", "populated 0\nfrozen 0\n");
    let readings = LinuxDevice::new(root, root, services()).readings();
    let interface = |name: &str, state: &str| InterfaceReading { name: name.into(), state: state.into() };
    let service = |name: &str, running| ServiceReading { name: name.into(), running };
    let expected = DeviceReadings {
        version: Some("linux 6.18".into()),
        uptime_s: Some(12345),
        load: Some(LoadReading { one: 11.06, five: 1.25, fifteen: 0.07 }),
        memory: Some(MemoryReading { total: 1_024_000, available: 614_400 }),
        temperature_c: Some(55.25),
        interfaces: vec![interface("eth0", "up"), interface("wlan0", "down")],
        clock_synchronised: Some(true),
        resolver_configured: Some(true),
        services: vec![
            service("ssh.service", Some(true)),
            service("dead.service", Some(false)),
            service("gone.service", Some(false)),
        ],
        cpus: readings.cpus,
        storage: readings.storage,
        endpoints: Vec::new(),
    };
    assert_eq!(readings, expected);
    assert!(readings.cpus.is_some_and(|cpus| cpus > 0));
    let storage = readings.storage.unwrap();
    assert!(storage.total >= storage.available && !storage.read_only);
    let told = serde_json::to_string(&readings).unwrap();
    for private in ["secret", "aa:bb", "cc:dd", "192.0.2.1", "vendor"] {
        assert!(!told.contains(private), "{private}");
    }
}

/// Nothing is guessed: what a machine does not tell is absent.
#[test]
fn a_silent_machine() {
    let top = tempfile::tempdir().unwrap();
    let readings = LinuxDevice::new(top.path(), &top.path().join("gone"), services()).readings();
    let unknown = |name: String| ServiceReading { name, running: None };
    let expected = DeviceReadings {
        cpus: readings.cpus,
        resolver_configured: Some(false),
        services: services().into_iter().map(unknown).collect(),
        ..DeviceReadings::default()
    };
    assert_eq!(readings, expected);
}

#[test]
fn a_machine_that_speaks_nonsense() {
    let top = tempfile::tempdir().unwrap();
    let root = top.path();
    for path in [
        "proc/sys/kernel/osrelease",
        "proc/uptime",
        "proc/loadavg",
        "proc/meminfo",
        "sys/class/thermal/thermal_zone0/temp",
    ] {
        put(root, path, "\u{0}nonsense");
    }
    put(root, "run/systemd/timesync/clock", "");
    put(root, "etc/resolv.conf", "nameserver\n");
    let readings = LinuxDevice::new(root, root, Vec::new()).readings();
    assert_eq!((readings.version, readings.uptime_s, readings.load), (None, None, None));
    assert_eq!((readings.memory, readings.temperature_c), (None, None));
    assert_eq!((readings.clock_synchronised, readings.resolver_configured), (Some(false), Some(false)));
}

/// This very machine answers, whatever it tells.
#[test]
fn this_machine() {
    let readings = crate::broker::machine(Path::new("/"), Vec::new()).readings();
    assert!(readings.version.is_some_and(|version| version.starts_with("linux ")));
    assert!(readings.memory.is_some_and(|memory| memory.total > memory.available));
    assert!(readings.interfaces.iter().all(|interface| interface.name != "lo"));
}
