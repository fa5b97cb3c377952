//! Commands, in the workspace.

use capability_core::handle::{BrokerFault, Command, CommandEnd};
use tokio::sync::Semaphore;

use super::files::Files;
use crate::runner::worker::command;

/// Whether commands can be run on this system.
pub const IS_THERE: bool = true;

/// How many run at a time; whoever comes later waits.
static ROOM: Semaphore = Semaphore::const_new(8);

/// Runs a command to its end. Its directory is found from the workspace's root now, and from here on it is a descriptor.
pub async fn run(files: &Files, command: Command) -> Result<CommandEnd, BrokerFault> {
    let _place = ROOM.acquire().await.map_err(|_| BrokerFault::Unavailable)?;
    let workdir = files.directory(&command.workdir)?;
    command::run(files.root(), workdir, command).await.map_err(|_| BrokerFault::Unavailable)
}
