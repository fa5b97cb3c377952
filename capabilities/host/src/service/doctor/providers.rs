//! Who carries out calls beside this host, and the skills: configured, there, with what they need, and as they were accepted.
//!
//! Nobody outside is asked: a server is contacted when a call of `mcp.connect` is let through, and a self-check is no such call.

use capability_core::handle::BrokerFault;

use super::super::Service;
use super::{failed, ok, weak};
use crate::protocol::Probe;
use crate::provider::mcp::CredentialFault;
use crate::provider::{EdgeTold, ServerTold, Way};
use crate::skill::SkillState;
use crate::words::counted;

impl Service {
    /// One row for each provider, one for what has been failing, and one for the skills.
    pub(super) fn provider_probes(&self) -> Vec<Probe> {
        let servers = self.servers().into_iter().map(|told| self.server_probe(&told));
        let edges = self.host.edges().told().into_iter().map(|told| edge_probe(&told));
        servers.chain(edges).chain(self.health_probe()).chain(self.skills_probe()).collect()
    }

    fn server_probe(&self, told: &ServerTold) -> Probe {
        let name = format!("provider {}", told.name);
        if let Err((what, help)) = self.has_credential(&told.name) {
            return failed(&name, what, help);
        }
        if told.unusable > 0 {
            let tools = counted(told.unusable, "tool is", "tools are");
            let what = format!("{}; {tools} out of use until an operator accepts what changed", told.state);
            return weak(&name, what, format!("look at it with `capability providers diff {}`", told.name));
        }
        if let Some(line) = told.stale_lines.first() {
            let what = format!("the line that classifies `{}` is about another definition", line.escape_default());
            return weak(&name, what, format!("see its tools with `capability providers tools {}`", told.name));
        }
        let tools = counted(told.tools, "tool", "tools");
        match (told.state.as_str(), &told.why) {
            ("ready", _) => ok(&name, format!("it is there, with {tools}, all as accepted")),
            ("not_connected" | "connecting", _) => {
                ok(&name, format!("configured, and not contacted yet; {tools} accepted before"))
            }
            (state, why) => {
                let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
                let help =
                    format!("look at what it says with `capability providers said {}`, and connect again", told.name);
                let help = if told.way == "program" {
                    help
                } else {
                    "look at its address, its certificate and its token".to_owned()
                };
                weak(&name, format!("{state}{why}"), help)
            }
        }
    }

    /// Whether what a server is to be given can be read.
    fn has_credential(&self, server: &str) -> Result<(), (String, &'static str)> {
        let Some(settings) = self.host.config().mcp_servers().get(server) else { return Ok(()) };
        match &settings.way {
            Way::Program(program) => match program.secrets() {
                Ok(_) => Ok(()),
                Err(BrokerFault::CredentialShort) => Err((
                    "one of its `secrets` is shorter than 8 bytes".to_owned(),
                    "give it a longer one: what is shorter could not be found again in what the program says",
                )),
                Err(_) => Err((
                    "one of its `secrets` cannot be read".to_owned(),
                    "write it into its file on one line, owned by the host's user with mode 0600",
                )),
            },
            Way::Http(http) => {
                match self.host.providers().credentials().token(server, None, http.token_file.as_deref()) {
                    Ok(_) => Ok(()),
                    Err(CredentialFault::Short) => Err((
                        "its token is shorter than 8 bytes".to_owned(),
                        "give it a longer one: what is shorter could not be found again in what the server says",
                    )),
                    Err(_) => Err((
                        "its token cannot be read".to_owned(),
                        "keep it anew with `capability providers credential set`, or look at its `token_file`: mode 0600",
                    )),
                }
            }
        }
    }

    fn health_probe(&self) -> Option<Probe> {
        let health = self.health();
        let failing: Vec<_> = health.iter().filter(|one| one.failing).collect();
        let first = failing.first()?;
        let more = if failing.len() > 1 { format!("; {} more", failing.len() - 1) } else { String::new() };
        Some(weak(
            "tool health",
            format!("`{}` at {}: {}{more}", first.capability, first.provider, first.sentence()),
            "see all with `capability providers health`",
        ))
    }

    fn skills_probe(&self) -> Option<Probe> {
        const NAME: &str = "skills";
        let skills = match self.skills() {
            Ok(skills) if skills.is_empty() => return None,
            Ok(skills) => skills,
            Err(fault) => return Some(Probe { help: fault.help, ..failed(NAME, fault.message, "") }),
        };
        let of = |state: SkillState| skills.iter().filter(|told| told.state == state).count();
        let (refused, gone) = (of(SkillState::Refused), of(SkillState::Gone));
        let found = format!(
            "{} in use, {} waiting, {} changed, {refused} refused, {gone} gone",
            of(SkillState::Loaded),
            of(SkillState::Waiting),
            of(SkillState::Changed)
        );
        let all_well = skills.iter().all(|told| told.state == SkillState::Loaded);
        Some(if all_well { ok(NAME, found) } else { weak(NAME, found, "see why with `capability skills list`") })
    }
}

fn edge_probe(told: &EdgeTold) -> Probe {
    let name = format!("provider {}", told.name);
    let why = told.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let carries = counted(told.carries_out.len(), "capability", "capabilities");
    match told.state.as_str() {
        "ready" => ok(&name, format!("{} that may carry out {carries}: it is there", told.kind)),
        "not_connected" => weak(
            &name,
            format!("{} that may carry out {carries}: nothing is attached to it", told.kind),
            "attach it, approve a fallback under `[fallback]`, or take it out of `[edges]`",
        ),
        state if !told.on => weak(
            &name,
            format!("{} that may carry out {carries}: {state}{why}", told.kind),
            format!("switch it on with `capability providers switch {} on`", told.name),
        ),
        state => weak(
            &name,
            format!("{} that may carry out {carries}: {state}{why}", told.kind),
            "look at the machine it is",
        ),
    }
}
