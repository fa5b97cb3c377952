//! Questions about the servers whose tools can be called.

use core::num::NonZeroU32;
use std::collections::BTreeMap;

use capability_core::Timestamp;
use capability_core::provider::Claims;
use capability_core::session::Subject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Proof, Redacted};
use crate::provider::{EdgeTold, ServerTold};

/// One question.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderQuestion {
    /// Every configured server.
    List,
    /// One server's tools.
    Tools {
        /// Which.
        server: String,
    },
    /// What its tools are now, where that is not what was accepted. Operators only: it is all foreign text.
    Diff {
        /// Who asks.
        proof: Proof,
        /// Which server.
        server: String,
        /// Which tool; every one that changed when none is named.
        tool: Option<String>,
    },
    /// Let tools come into use again as they are now. Operators only.
    Accept {
        /// Who says so.
        proof: Proof,
        /// Which server.
        server: String,
        /// Which tools, each with the digest of the definition that was looked at.
        looked_at: Vec<LookedAt>,
    },
    /// Keep a token for a server, or forget it without one. Operators only.
    Credential {
        /// Who says so.
        proof: Proof,
        /// Which server.
        server: String,
        /// Whose; everybody's when nobody is named.
        subject: Option<Subject>,
        /// The token.
        token: Option<Redacted>,
    },
    /// Every configured edge.
    Edges,
    /// Switch an edge on or off. Operators only.
    Switch {
        /// Who says so.
        proof: Proof,
        /// Which edge.
        edge: String,
        /// The new state.
        on: bool,
    },
    /// How tools have been doing.
    Health,
    /// What a server's program complained about. Operators only.
    Said {
        /// Who asks.
        proof: Proof,
        /// Which server.
        server: String,
    },
}

/// How one tool has been doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthTold {
    /// The capability that its calls go through.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// `compiled`, `edge`, `mcp` or `relay`.
    pub kind: String,
    /// Which provider of that kind.
    pub provider: String,
    /// What the provider calls the tool, in its own words; our number for it while the provider is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// How many calls ran to a result.
    pub worked: u64,
    /// How many began and gave none.
    pub failed: u64,
    /// How many of the last ones failed, one after the other.
    pub in_a_row: u32,
    /// How the last one ended.
    pub last: String,
    /// When.
    pub at: Timestamp,
    /// Whether it is failing, by evidence that is not old.
    pub failing: bool,
    /// What whoever would call it again is told; nothing is said of what only reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guidance: Option<String>,
}

impl HealthTold {
    /// In one sentence.
    pub fn sentence(&self) -> String {
        let Self { in_a_row, last, at, .. } = self;
        let calls = crate::words::counted(usize::try_from(*in_a_row).unwrap_or(usize::MAX), "call", "calls");
        format!("the last {calls} failed; the last one was `{last}` at {at}")
    }
}

/// Everything about providers at once: what `/api/providers` tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProvidersShown {
    /// Servers of the Model Context Protocol.
    pub servers: Vec<ServerTold>,
    /// Edges and relays.
    pub edges: Vec<EdgeTold>,
    /// Which capabilities have a word about fallback: `approved` or `disabled`.
    pub fallback: BTreeMap<String, String>,
    /// Who carries out what before everybody else.
    pub bind: BTreeMap<String, String>,
    /// How tools have been doing.
    pub health: Vec<HealthTold>,
}

/// A definition that somebody looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LookedAt {
    /// The server's name for the tool.
    pub tool: String,
    /// As `sha256:` and the digest.
    pub definition: String,
}

/// A tool that is something else than what was accepted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolChange {
    /// The server's name for it.
    pub tool: String,
    /// Whether it was accepted from another program or place than the one that is configured now.
    pub moved: bool,
    /// What was accepted.
    pub accepted: Value,
    /// What it is now.
    pub now: Value,
    /// What it is now, as `sha256:` and the digest.
    pub definition: String,
}

/// The foreign tool that a call goes to, as an approver has to know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignTool {
    /// The name of the configured connection.
    pub server: String,
    /// `program` or `http`.
    pub way: String,
    /// What is started or asked.
    pub place: String,
    /// What the server calls the tool.
    pub tool: String,
    /// What it says it does.
    pub description: String,
    /// What it claims about itself.
    pub claims: Claims,
    /// Whether the operator's configuration classifies this very definition.
    pub classified: bool,
    /// What it counts as: `read_only` or `mutating`.
    pub side_effect: String,
    /// `local` or `external`.
    pub network: String,
    /// Whether it counts as more than the configuration says, because it claims more.
    #[serde(default)]
    pub raised: bool,
    /// Where it stands.
    pub standing: String,
}

impl ToolChange {
    /// Whether it is again what was accepted, after it had been something else.
    #[must_use]
    pub fn is_back(&self) -> bool {
        !self.moved && self.accepted == self.now
    }
}

/// A claim in words: what is claimed, or that nothing is.
pub fn claimed(claims: Claims) -> String {
    let said = [
        (claims.read_only, "it only reads", "it changes things"),
        (claims.destructive, "it may destroy", "it destroys nothing"),
        (claims.idempotent, "twice is once", "twice is twice"),
        (claims.open_world, "it reaches out", "it reaches nothing outside"),
    ];
    let said = said.into_iter().filter_map(|(claim, yes, no)| claim.map(|claim| if claim { yes } else { no }));
    let said: Vec<_> = said.collect();
    let contradiction = if claims.contradict() { ", which contradicts itself" } else { "" };
    if said.is_empty() { "nothing".to_owned() } else { said.join(", ") + contradiction }
}
