//! `providers`: the servers whose tools can be called.

use capability_core::approval::{Operator, PendingApproval};
use capability_core::handle::HandleFamily;
use capability_core::provider::ToolDefinition;
use capability_core::session::Subject;
use rustix::process::Pid;
use serde_json::{Value, json};

use super::{Service, document};
use crate::config::FallbackWord;
use crate::hex;
use crate::protocol::{Fault, ForeignTool, LookedAt, ProviderQuestion, ProvidersShown, Redacted, Reply, ToolChange};
use crate::provider::{PinChange, ServerTold, ToolTold};

impl Service {
    pub(super) async fn of_providers(&self, question: &ProviderQuestion, peer: Option<Pid>) -> Result<Reply, Fault> {
        match question {
            ProviderQuestion::List => document(&self.servers()),
            ProviderQuestion::Tools { server } => document(&self.tools_of(server)?),
            ProviderQuestion::Diff { proof, server, tool } => {
                self.operator(proof, peer)?;
                document(&self.tool_changes(server, tool.as_deref())?)
            }
            ProviderQuestion::Accept { proof, server, looked_at } => {
                let operator = self.operator(proof, peer)?;
                for LookedAt { tool, definition } in looked_at {
                    self.accept_tool(&operator, server, tool, definition).await?;
                }
                document(&json!({ "server": server, "accepted": looked_at.len() }))
            }
            ProviderQuestion::Credential { proof, server, subject, token } => {
                let operator = self.operator(proof, peer)?;
                document(&self.set_token(&operator, server, subject.as_ref(), token.as_ref()).await?)
            }
            ProviderQuestion::Edges => document(&self.host.edges().told()),
            ProviderQuestion::Switch { proof, edge, on } => {
                let operator = self.operator(proof, peer)?;
                self.switch_edge(&operator, edge, *on).await?;
                document(&json!({ "edge": edge, "on": on }))
            }
            ProviderQuestion::Health => document(&self.health()),
            ProviderQuestion::Said { proof, server } => {
                self.operator(proof, peer)?;
                self.known(server)?;
                document(&json!({ "said": self.host.providers().said(server).await }))
            }
        }
    }

    /// Everything about providers at once.
    pub(crate) fn providers_shown(&self) -> ProvidersShown {
        let config = self.host.config();
        let word = |word: &FallbackWord| match word {
            FallbackWord::Approved => "approved".to_owned(),
            FallbackWord::Disabled => "disabled".to_owned(),
        };
        ProvidersShown {
            servers: self.servers(),
            edges: self.host.edges().told(),
            fallback: config.fallback.iter().map(|(name, said)| (name.clone(), word(said))).collect(),
            bind: config.bind.clone(),
            health: self.health(),
        }
    }

    pub(crate) async fn switch_edge(&self, operator: &Operator, edge: &str, on: bool) -> Result<(), Fault> {
        self.host.switch_edge(operator, edge, on).await.map_err(|error| Fault::told(4, &error))
    }

    pub(crate) fn servers(&self) -> Vec<ServerTold> {
        self.host.providers().told()
    }

    pub(crate) fn tools_of(&self, server: &str) -> Result<Vec<ToolTold>, Fault> {
        self.host.providers().tools(server).ok_or_else(|| unknown(server))
    }

    pub(crate) fn tool_changes(&self, server: &str, tool: Option<&str>) -> Result<Vec<ToolChange>, Fault> {
        self.known(server)?;
        let changes = self.host.providers().changes(server);
        let wanted = changes.into_iter().filter(|change| tool.is_none_or(|tool| tool == change.now.id.native));
        Ok(wanted.map(|change| shown(&change)).collect())
    }

    pub(crate) async fn accept_tool(
        &self,
        operator: &Operator,
        server: &str,
        tool: &str,
        definition: &str,
    ) -> Result<(), Fault> {
        self.known(server)?;
        let digest = definition.strip_prefix("sha256:").and_then(hex::decode::<32>);
        let digest = digest.ok_or_else(|| {
            Fault::usage("that names no definition", "write it as `capability providers diff` shows it")
        })?;
        let accepted = self.host.accept_definition(operator, server, tool, digest).await;
        accepted.map_err(|error| Fault::told(4, &error))
    }

    async fn set_token(
        &self,
        operator: &Operator,
        server: &str,
        subject: Option<&Subject>,
        token: Option<&Redacted>,
    ) -> Result<Value, Fault> {
        self.known(server)?;
        let set = self.host.set_provider_token(operator, server, subject, token.map(Redacted::reveal)).await;
        set.map_err(|error| Fault::told(4, &error))?;
        Ok(json!({ "server": server, "subject": subject, "kept": token.is_some() }))
    }

    /// The foreign tool that a waiting call goes to; none for a call that this host carries out by itself.
    pub(crate) fn foreign_tool(&self, pending: &PendingApproval) -> Option<ForeignTool> {
        let entry = self.host.executor().registry().resolve(&pending.capability, pending.version.get())?.entry();
        let mut handles = entry.handles().iter();
        if !handles.any(|kind| kind.family() == HandleFamily::ProviderTool && kind.instance() == "mcp") {
            return None;
        }
        let arguments: Value = serde_json::from_slice(&pending.arguments).ok()?;
        let word = |key: &str| arguments.get(key).and_then(Value::as_str);
        let (server, tool) = (word("server")?, word("tool")?);
        let told = self.servers().into_iter().find(|told| told.name == server)?;
        let tool = self.tools_of(server).ok()?.into_iter().find(|told| told.tool == tool)?;
        Some(ForeignTool {
            server: told.name,
            way: told.way,
            place: told.place,
            tool: tool.tool,
            description: tool.description,
            claims: tool.claims,
            classified: tool.classified,
            side_effect: tool.side_effect,
            network: tool.network,
            raised: tool.raised,
            standing: tool.standing,
        })
    }

    fn known(&self, server: &str) -> Result<(), Fault> {
        if self.host.providers().has(server) { Ok(()) } else { Err(unknown(server)) }
    }
}

fn unknown(server: &str) -> Fault {
    Fault::refused(
        format!("no server is configured as `{}`", server.escape_default()),
        "see those that are with `capability providers list`",
    )
}

fn shown(change: &PinChange) -> ToolChange {
    let value = |definition: &ToolDefinition| serde_json::to_value(definition).unwrap_or_default();
    ToolChange {
        tool: change.now.id.native.clone(),
        moved: change.moved,
        accepted: value(&change.accepted),
        now: value(&change.now),
        definition: format!("sha256:{}", hex::encode(&change.now.digest())),
    }
}
