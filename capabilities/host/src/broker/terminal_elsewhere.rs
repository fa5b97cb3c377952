//! No command is run where the kernel cannot hold it.

use std::sync::Arc;

use capability_core::Environment;
use capability_core::audit::{InvocationId, Sink};
use capability_core::handle::{
    BackgroundCommand, BrokerFault, Command, CommandEnd, Lease, ProcessId, ProcessPage, ProcessSeen,
};
use capability_core::session::{SessionId, Subject};

use super::files::Files;
use crate::secrets::Secrets;

/// Whether commands can be run on this system.
pub const IS_THERE: bool = false;

/// There is nothing to run it in.
pub async fn run(_: &Files, _: Option<Secrets>, _: Command) -> Result<CommandEnd, BrokerFault> {
    Err(BrokerFault::Unserved)
}

/// Nobody: there is nothing to begin.
pub enum Beginning {}

impl Beginning {
    pub fn of(_: &Lease) -> Result<Self, BrokerFault> {
        Err(BrokerFault::Unserved)
    }
}

/// The commands that run on: there are none.
pub struct Processes(());

impl Processes {
    pub fn new(_: Arc<dyn Environment>, _: Arc<dyn Sink>) -> Self {
        Self(())
    }

    pub fn stay(&self) {}

    pub fn stays(&self) -> bool {
        false
    }

    pub async fn start(&self, _: &Files, by: Beginning, _: BackgroundCommand) -> Result<ProcessPage, BrokerFault> {
        match by {}
    }

    pub fn list(&self, _: &Subject) -> Vec<ProcessSeen> {
        Vec::new()
    }

    pub fn inspect(&self, _: &Subject, _: ProcessId, _: u64, _: u64) -> Result<ProcessPage, BrokerFault> {
        Err(BrokerFault::UnknownProcess)
    }

    pub async fn stop(&self, _: &Subject, _: ProcessId) -> Result<ProcessPage, BrokerFault> {
        Err(BrokerFault::UnknownProcess)
    }

    pub fn running(&self) -> Vec<(Subject, InvocationId, ProcessSeen)> {
        Vec::new()
    }

    pub async fn end(&self, _: ProcessId) -> Result<(), BrokerFault> {
        Err(BrokerFault::UnknownProcess)
    }

    pub fn leave(&self, _: SessionId) {}

    pub fn count_over(&self, _: Option<&Subject>) -> usize {
        0
    }

    pub fn forget(&self, _: Option<&Subject>) -> usize {
        0
    }

    pub fn sweep(&self) {}

    pub async fn close(&self) {}
}
