//! Commands, in the workspace.

mod processes;

pub use processes::{Beginning, Processes};

use std::sync::Arc;

use capability_core::Timestamp;
use capability_core::handle::{BrokerFault, Command, CommandEnd, SecretUse};
use capability_core::redact::Redaction;
use tokio::sync::Semaphore;

use super::files::Files;
use crate::environment::now;
use crate::runner::worker::command;
use crate::secrets::{Knowing, Secrets};

/// Whether commands can be run on this system.
pub const IS_THERE: bool = true;

/// How many run at a time; whoever comes later waits.
static ROOM: Semaphore = Semaphore::const_new(8);

/// Runs a command to its end. Its directory is found from the workspace's root now, and from here on it is a descriptor.
pub async fn run(files: &Files, secrets: Option<Secrets>, mut command: Command) -> Result<CommandEnd, BrokerFault> {
    let _place = ROOM.acquire().await.map_err(|_| BrokerFault::Unavailable)?;
    let workdir = files.directory(&command.workdir)?;
    if !command.secrets.is_empty() {
        let (secrets, uses) = (secrets.ok_or(BrokerFault::SecretRefused)?, core::mem::take(&mut command.secrets));
        let given = tokio::task::spawn_blocking(move || given(&secrets, &uses)).await;
        let (variables, ends) = given.unwrap_or(Err(BrokerFault::SecretRefused))?;
        command.environment.extend(variables);
        command.timeout_ms = command.timeout_ms.min(left(ends, now())?);
    }
    // Asked for each piece of what it writes: it knows what was read until then.
    let redaction: Arc<dyn Redaction> = Arc::new(Knowing);
    command::run(files.root(), workdir, command, &redaction).await.map_err(|_| BrokerFault::Unavailable)
}

/// The variables with the values of secrets, and when the first of those ends.
type Given = (Vec<(String, String)>, Option<Timestamp>);

fn given(secrets: &Secrets, uses: &[SecretUse]) -> Result<Given, BrokerFault> {
    let (mut variables, mut ends) = (Vec::with_capacity(uses.len()), None);
    for SecretUse { variable, secret } in uses {
        let (value, expires) = secrets.bindable(secret).map_err(|_| BrokerFault::SecretRefused)?;
        variables.push((variable.clone(), value.text().to_owned()));
        ends = match (ends, expires) {
            (Some(one), Some(other)) => Some(core::cmp::min::<Timestamp>(one, other)),
            (one, other) => one.or(other),
        };
    }
    Ok((variables, ends))
}

/// How long a command may run that is given what ends then, in milliseconds.
fn left(ends: Option<Timestamp>, now: Timestamp) -> Result<u32, BrokerFault> {
    let Some(ends) = ends else { return Ok(u32::MAX) };
    let left = u32::try_from(ends.since(now).as_millis()).unwrap_or(u32::MAX);
    if left == 0 { Err(BrokerFault::SecretRefused) } else { Ok(left) }
}

#[cfg(test)]
mod tests {
    use super::{BrokerFault, Timestamp, left};

    #[test]
    fn a_command_ends_no_later_than_what_it_was_given() {
        let at = Timestamp::from_micros;
        assert_eq!(left(None, at(5)), Ok(u32::MAX));
        assert_eq!(left(Some(at(3_000_000)), at(1_000_000)), Ok(2_000));
        for ended in [0, 999_999, 1_000_000, 1_000_999] {
            assert_eq!(left(Some(at(ended)), at(1_000_000)), Err(BrokerFault::SecretRefused), "{ended}");
        }
    }
}
