//! A system whose kernel confines no lookup: no workspace is served there.

use std::os::fd::OwnedFd;

use capability_core::handle::{BrokerFault, Listing, Workdir};

/// Serves nothing.
#[derive(Debug)]
pub struct Files;

impl Files {
    pub fn new(_: OwnedFd) -> Self {
        Self
    }

    pub fn open(&self, _: &str) -> Result<OwnedFd, BrokerFault> {
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
