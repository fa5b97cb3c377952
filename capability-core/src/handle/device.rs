//! Readings of the machine the host runs on.

use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless, sealed,
};
use crate::call::Call;

/// What the machine says about itself, through the host.
#[derive(Debug)]
pub struct Device(Call);

impl Device {
    /// All readings, taken now. What the machine does not tell is `None`, never a guess.
    ///
    /// # Errors
    /// [`BrokerFault`] when the host cannot read the machine at all.
    pub async fn readings(&self) -> Result<DeviceReadings, BrokerFault> {
        match self.0.ask(BrokerRequest::Device).await? {
            BrokerReply::Device(readings) => Ok(*readings),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Device {}
impl Handle for Device {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Device, "");
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

/// One set of readings. There is no field for a host name, serial number, address or user name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceReadings {
    /// Operating system and its major and minor version, such as `linux 6.18`.
    pub version: Option<String>,
    /// Seconds since the machine started.
    pub uptime_s: Option<u64>,
    /// Processors the host may run on.
    pub cpus: Option<u32>,
    /// Runnable processes, averaged.
    pub load: Option<LoadReading>,
    /// Main memory.
    pub memory: Option<MemoryReading>,
    /// The storage that holds the host's data.
    pub storage: Option<StorageReading>,
    /// The hottest sensor, in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Network interfaces but the loopback one.
    pub interfaces: Vec<InterfaceReading>,
    /// Whether the clock is synchronised.
    pub clock_synchronised: Option<bool>,
    /// Whether a resolver is configured.
    pub resolver_configured: Option<bool>,
    /// Services the operator listed.
    pub services: Vec<ServiceReading>,
    /// Services of this device that the operator configured and that can be asked without a credential whether they are there.
    pub endpoints: Vec<EndpointReading>,
}

/// Load averages over 1, 5 and 15 minutes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadReading {
    /// Over one minute.
    pub one: f64,
    /// Over five minutes.
    pub five: f64,
    /// Over fifteen minutes.
    pub fifteen: f64,
}

/// Main memory, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryReading {
    /// Installed.
    pub total: u64,
    /// Available without swapping.
    pub available: u64,
}

/// A file system, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageReading {
    /// Size.
    pub total: u64,
    /// Free for an ordinary user.
    pub available: u64,
    /// Whether it is mounted read-only.
    pub read_only: bool,
}

/// A network interface, without its addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterfaceReading {
    /// Its name, such as `eth0`.
    pub name: String,
    /// The kernel's word for its state, such as `up` or `down`.
    pub state: String,
}

/// A configured service of this device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointReading {
    /// The name of its endpoint kind, such as `pihole`.
    pub name: String,
    /// Whether it answers, asked now.
    pub answers: bool,
}

/// A service the operator listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceReading {
    /// The name the operator listed.
    pub name: String,
    /// Whether it runs; `None` when the machine does not tell.
    pub running: Option<bool>,
}
