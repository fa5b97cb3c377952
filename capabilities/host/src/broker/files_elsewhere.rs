//! A system whose kernel confines no lookup: no workspace is served there.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use capability_core::handle::{BrokerFault, FileChange, Fingerprint, Listing, TargetPlace, Workdir};

/// Serves nothing.
#[derive(Debug)]
pub struct Files;

impl Files {
    pub fn new(_: OwnedFd, _: Vec<PathBuf>) -> Self {
        Self
    }

    pub fn open(&self, _: &str, _: bool) -> Result<OwnedFd, BrokerFault> {
        Err(BrokerFault::Unserved)
    }

    pub fn open_outside(&self, _: &str) -> Result<OwnedFd, BrokerFault> {
        Err(BrokerFault::Unserved)
    }

    pub fn place_of(&self, _: &str) -> Result<TargetPlace, BrokerFault> {
        Err(BrokerFault::Unserved)
    }

    pub fn fingerprint(&self, _: &str) -> Result<Option<Fingerprint>, BrokerFault> {
        Err(BrokerFault::Unserved)
    }

    pub fn change(&self, _: &[FileChange], _: impl Fn(&[u8; 32]) -> bool) -> Result<(), BrokerFault> {
        Err(BrokerFault::Unserved)
    }

    pub fn entries(&self, _: &str) -> Result<Listing, BrokerFault> {
        Err(BrokerFault::Unserved)
    }

    pub fn workdir(&self, _: &str) -> Result<Workdir, BrokerFault> {
        Err(BrokerFault::Unserved)
    }

    pub fn write(&self, _: &str, _: &[u8]) -> Result<(), BrokerFault> {
        Err(BrokerFault::Unserved)
    }

    pub fn remove(&self, _: &str) -> Result<(), BrokerFault> {
        Err(BrokerFault::Unserved)
    }
}
