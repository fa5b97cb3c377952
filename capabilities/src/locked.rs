//! Named so that a rule, a declaration or a refusal can name them. Neither has a body, and nothing opens a lock: not a rule,
//! not an answer, not a setting.

use capability_core::{Failure, capability};

/// Runs a command as root. Never: it exists to be named, and every call is refused.
#[capability(
    name = "shell.sudo",
    version = 1,
    side_effect = mutating,
    network = external,
    title = "Root shell",
    target = text(command),
    risk = critical,
    locked
)]
pub async fn shell_sudo(
    /// The command line.
    #[schemars(length(min = 1, max = 4096))]
    command: String,
) -> Result<(), Failure>;

/// Deletes a whole database. Never: it exists to be named, and every call is refused.
#[capability(
    name = "database.delete",
    version = 1,
    side_effect = mutating,
    network = external,
    title = "Delete a database",
    target = text(database),
    risk = critical,
    locked
)]
pub async fn database_delete(
    /// Which database.
    #[schemars(length(min = 1, max = 256))]
    database: String,
) -> Result<(), Failure>;
