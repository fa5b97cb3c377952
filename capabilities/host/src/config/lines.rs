//! What can be written into a configuration, and where in it something stands.

/// What can be written at all.
pub(super) const KEYS: &str = "keys are `services`; under `[limits]` `per_turn`, `approval_lifetime_s`, `workers`, `threads`; under `[isolation]` `in_process`; under `[approvals]` `retain`; under `[results]` `keep`; under `[surface]` `pinned`; under `[grants.\"NAME\"]` `max`, `uses`; under `[subjects.\"NAME\"]` `capabilities`; under `[http]` `allow`, `ca_file`; under `[workspace]` `root`; under `[repositories.NAME]` `path`, or `url`, `ca_file`, `server_name`, `user`, `password_file`, `depth`; under `[trees.NAME]` `path`, `live`, `from`, `any_direction`; under `[agents.NAME]` `subject`, `slot`, `command`, `env`, `set`, `secrets`, `cwd`, `timeout`; under `[mail]` `server`, `security`, `ca_file`, `server_name`, `user`, `password_file`, `from`, `recipients`; under `[edges.NAME]` `kind`, `carries_out`; under `[fallback]` and `[bind]` names of capabilities; under `[skills]` `folder`; under `[secrets.NAME]` `file`, or `dotenv`, `key`, or `env`, or `credential`, and `expires`; under `[web]` `listen`, `hosts`; under `[mcp]` `listen`, `hosts`, `turn`, `patience`, `list`; under `[mcp.clients.NAME]` `person`; under `[mcp.servers.NAME]` `command`, `env`, `set`, `secrets`, `cwd`, or `url`, `headers`, `token_file`, `ca_file`, `server_name`, `check_s`, and `start`, `discovery_s`; under `[[mcp.servers.NAME.tools]]` `tool`, `definition`, `side_effect`, `network`; under `[channels]` `listen`, `retain`, and what each kind of channel has under `[channels.NAME]`; under `[endpoints.NAME]` `url`, `reach`, `ca_file`, `server_name`, `auth`, `token_file`, `password_file`";

/// The line of a key in a table, or else the table's own.
pub(super) fn line_in(text: &str, table: &str, key: &str) -> Option<usize> {
    let headed = |line: &str| line.trim().replace(['"', '\''], "") == format!("[{table}]");
    let header = text.lines().position(headed)?;
    let inside = text.lines().skip(header + 1).take_while(|line| !line.trim_start().starts_with('['));
    let at = inside.into_iter().position(|line| line.trim_start().starts_with(key));
    Some(header + 1 + at.map_or(0, |at| at + 1))
}

pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    text.lines().position(|line| line.trim_start().starts_with(key)).map(|at| at + 1)
}
