//! No command is run where the kernel cannot hold it.

use capability_core::handle::{BrokerFault, Command, CommandEnd};

use super::files::Files;
use crate::secrets::Secrets;

/// Whether commands can be run on this system.
pub const IS_THERE: bool = false;

/// There is nothing to run it in.
pub async fn run(_: &Files, _: Option<Secrets>, _: Command) -> Result<CommandEnd, BrokerFault> {
    Err(BrokerFault::Unserved)
}
