//! Servers and their tools as operators see them.

use capability_core::provider::{Claims, DefinitionFault, ProvidedTool, ProviderReach, ProviderState, Standing, Whose};
use serde::{Deserialize, Serialize};

use super::pins::Pin;
use super::settings::{ClassLine, Scope, ServerSettings, Start, Way};
use crate::hex;

/// One server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ServerTold {
    /// The name of its configured connection.
    pub name: String,
    /// `program` or `http`.
    pub way: String,
    /// What is started or asked: the program's name, or host and port. No argument and no path, which may hold a secret.
    pub place: String,
    /// Whether it is started with the host.
    pub with_host: bool,
    /// Whether it is nobody's until a session names it.
    #[serde(default)]
    pub by_request: bool,
    /// Whose it is, where it is not everybody's: a subject's with a token of its own, or `one session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whose: Option<String>,
    /// `ready`, `degraded`, `connecting`, `not_connected` or `offline`.
    pub state: String,
    /// Why it is not ready, in words of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many tools it has.
    pub tools: usize,
    /// How many of them are out of use.
    pub unusable: usize,
    /// Lines of the configuration that classify a definition which no tool has: they do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale_lines: Vec<String>,
}

/// One tool. Names, title and description are the server's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolTold {
    /// What its server calls it.
    pub tool: String,
    /// A short name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it says it does.
    pub description: String,
    /// `accepted`, `changed`, `moved`, or why it is not taken.
    pub standing: String,
    /// Why it is not taken, in words of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What it counts as: `read_only` or `mutating`.
    pub side_effect: String,
    /// `local` or `external`.
    pub network: String,
    /// Whether a line of the configuration says so; without one it counts as the strictest.
    pub classified: bool,
    /// Whether it counts as more than that line says, because it claims more.
    #[serde(default)]
    pub raised: bool,
    /// What it claims about itself. A claim lowers nothing.
    pub claims: Claims,
    /// Whether its claims contradict each other.
    #[serde(default)]
    pub contradictory: bool,
    /// The digest of its accepted definition, as a line of the configuration names it.
    pub definition: String,
}

impl ServerTold {
    /// When it is started or contacted, in words for people.
    pub(crate) const fn starts(&self) -> &'static str {
        match (self.with_host, self.by_request) {
            (true, _) => "with the host",
            (false, true) => "for a session",
            (false, false) => "when asked",
        }
    }

    pub(super) fn of(state: &ProviderState, settings: &ServerSettings, is_connecting: bool) -> Self {
        let word = match state.reach {
            ProviderReach::NotConnected if is_connecting => "connecting",
            reach => reach.as_str(),
        };
        let (way, place) = match &settings.way {
            Way::Program(program) => ("program", program.command.first().cloned().unwrap_or_default()),
            Way::Http(http) => ("http", http.place.place.to_string()),
        };
        let has = |line: &&ClassLine| {
            state.tools.iter().any(|tool| tool.definition().id.native == line.tool && *tool.digest() == line.definition)
        };
        let stale = settings.classes.iter().filter(|line| !has(line)).map(|line| line.tool.clone());
        Self {
            name: state.id.to_string(),
            way: way.to_owned(),
            place,
            with_host: settings.start == Start::WithHost,
            by_request: settings.scope == Scope::Request,
            whose: match &state.whose {
                Whose::Everybody => None,
                Whose::Subject(subject) => Some(subject.to_string()),
                Whose::Session(_) => Some("one session".to_owned()),
            },
            state: word.to_owned(),
            why: state.reach.why().map(str::to_owned),
            tools: state.tools.len(),
            unusable: state.tools.iter().filter(|tool| tool.standing() != Standing::Accepted).count(),
            stale_lines: stale.collect(),
        }
    }
}

/// Why a tool counts as what it counts as, in words for people.
pub fn counts_because(classified: bool, raised: bool) -> &'static str {
    match (classified, raised) {
        (true, false) => "the configuration classifies this very definition",
        (true, true) => {
            "the configuration says less of this very definition than the tool claims, so the stricter holds"
        }
        (false, _) => "nobody has classified it",
    }
}

impl ToolTold {
    /// Where it stands, in words for people.
    pub(crate) fn stands(&self) -> String {
        self.why.as_ref().map_or_else(|| self.standing.replace('_', " "), |why| format!("not taken: {why}"))
    }

    pub(super) fn of(tool: &ProvidedTool, pins: &[Pin], classes: &[ClassLine]) -> Self {
        let pin = pins.iter().find(|pin| pin.accepted.id == tool.definition().id);
        let standing = match tool.standing() {
            Standing::Accepted => "accepted",
            Standing::Changed if pin.is_some_and(|pin| pin.seen.is_none()) => "moved",
            Standing::Changed => "changed",
            Standing::Unbound => "unbound",
            Standing::Faulty(DefinitionFault::TooLarge) => "too_large",
            Standing::Faulty(DefinitionFault::Name) => "name",
            Standing::Faulty(DefinitionFault::Schema) => "schema",
            Standing::Faulty(DefinitionFault::Duplicate) => "duplicate",
        };
        let (class, raised) = tool.class();
        let definition = tool.definition();
        Self {
            tool: definition.id.native.clone(),
            title: definition.title.clone(),
            description: definition.description.clone(),
            standing: standing.to_owned(),
            why: match tool.standing() {
                Standing::Faulty(fault) => Some(fault.why().to_owned()),
                Standing::Accepted | Standing::Changed | Standing::Unbound => None,
            },
            side_effect: class.side_effect.as_str().to_owned(),
            network: class.network.as_str().to_owned(),
            classified: classes
                .iter()
                .any(|line| line.tool == definition.id.native && line.definition == *tool.digest()),
            raised,
            claims: definition.claims,
            contradictory: definition.claims.contradict(),
            definition: format!("sha256:{}", hex::encode(tool.digest())),
        }
    }
}
