//! `[agents.NAME]`: what `Agents` handles start.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use capability_core::handle::is_configured_name;
use capability_core::session::Subject;
use serde::Deserialize;

use super::bindings::{Mistake, Wrong};
use super::providers::program_settings;
use super::standing::Span;
use crate::agents::AgentSettings;
use crate::subjects::SlotPath;

/// One agent: a program of this machine, and in whose name its turns are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentTable {
    /// The subject whose manifest it is held to. Not the local one, which has none.
    pub subject: Subject,
    /// The slot of that subject that it is.
    pub slot: Option<String>,
    /// The program and its arguments. It reads its task from standard input, writes its answer to standard output, and speaks MCP over
    /// the socket that `CAPABILITY_TURN` names.
    pub command: Vec<String>,
    /// Variables that the program is given as the host has them, by name.
    #[serde(default)]
    pub env: Vec<String>,
    /// Variables that the program is given.
    #[serde(default)]
    pub set: BTreeMap<String, String>,
    /// Variables that the program is given, each from a file that is the host's alone.
    #[serde(default)]
    pub secrets: BTreeMap<String, PathBuf>,
    /// Where the program starts; in an empty home of its own without.
    pub cwd: Option<PathBuf>,
    /// How long a turn may last, 1 second to 1 hour; `5m` unless it is said.
    pub timeout: Option<Span>,
}

/// The most agents.
const MAX_AGENTS: usize = 32;
/// How long a turn may last, where nothing is said, and at most.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);
const LONGEST: Duration = Duration::from_secs(60 * 60);

pub(super) fn checked(tables: &BTreeMap<String, AgentTable>) -> Result<BTreeMap<String, AgentSettings>, Mistake> {
    if tables.len() > MAX_AGENTS {
        return Err(Mistake {
            table: "agents".to_owned(),
            key: "[",
            what: format!("more than {MAX_AGENTS} agents are configured"),
            help: "keep those that are needed",
        });
    }
    let settings = |(name, table): (&String, &AgentTable)| {
        let at = format!("agents.{name}");
        let settings = table.settings(name).map_err(|(key, what, help)| Mistake { table: at, key, what, help })?;
        Ok((name.clone(), settings))
    };
    tables.iter().map(settings).collect()
}

impl AgentTable {
    fn settings(&self, name: &str) -> Result<AgentSettings, Wrong> {
        if !is_configured_name(name) {
            return Err((
                "[",
                format!("`{}` is no agent's name", name.escape_default()),
                "name it with lower-case letters, digits, `-` and `_`",
            ));
        }
        if self.subject == Subject::local() {
            return Err((
                "subject",
                "`local` declares everything: no agent acts in its name".to_owned(),
                "give the agent a subject and a manifest of its own",
            ));
        }
        let slot = match &self.slot {
            None => None,
            Some(slot) => Some(slot.parse::<SlotPath>().map_err(|what| {
                ("slot", what.to_owned(), "name it as the subject's `agent.yaml` does, or leave the key out")
            })?),
        };
        let timeout = self.timeout.map_or(TIMEOUT, |span| span.0);
        if timeout.is_zero() || timeout > LONGEST {
            let what = "`timeout` is shorter or longer than it may be".to_owned();
            return Err(("timeout", what, "write `1s` to `1h`, or leave the key out"));
        }
        let program = program_settings(&self.command, (&self.env, &self.set, &self.secrets), self.cwd.as_ref())?;
        if program.gives(crate::agents::TURN) {
            let what = format!("`{}` is the host's own to give", crate::agents::TURN);
            return Err(("set", what, "leave that variable out"));
        }
        Ok(AgentSettings { subject: self.subject.clone(), slot, program, timeout })
    }
}

#[cfg(test)]
mod tests {
    use super::{AgentTable, checked};

    fn of(text: &str) -> Result<usize, String> {
        let table: AgentTable = toml::from_str(text).map_err(|error| error.to_string())?;
        let tables = [("critic".to_owned(), table)].into();
        checked(&tables).map(|agents| agents.len()).map_err(|mistake| format!("{}: {}", mistake.key, mistake.what))
    }

    #[test]
    fn an_agent_is_a_program_and_a_subject_with_a_manifest() {
        let whole = "subject = \"agent:critic\"\ncommand = [\"/usr/bin/critic\"]\n";
        assert_eq!(of(whole), Ok(1));
        assert_eq!(of(&format!("{whole}slot = \"planner.critic\"\ntimeout = \"1h\"\nenv = [\"TZ\"]\n")), Ok(1));
        for (more, said) in [
            ("timeout = \"0s\"\n", "timeout"),
            ("timeout = \"2h\"\n", "timeout"),
            ("slot = \"A b\"\n", "slot"),
            ("cwd = \"here\"\n", "cwd"),
            ("env = [\"A-B\"]\n", "env"),
            ("set = { CAPABILITY_TURN = \"/elsewhere\" }\n", "CAPABILITY_TURN"),
            ("env = [\"CAPABILITY_TURN\"]\n", "CAPABILITY_TURN"),
            ("model = \"any\"\n", "model"),
        ] {
            let refused = of(&format!("{whole}{more}")).unwrap_err();
            assert!(refused.contains(said), "{more}: {refused}");
        }
        assert!(of("subject = \"local\"\ncommand = [\"x\"]\n").unwrap_err().contains("`local`"));
        assert!(of("subject = \"agent:critic\"\ncommand = []\n").unwrap_err().contains("command"));
    }
}
