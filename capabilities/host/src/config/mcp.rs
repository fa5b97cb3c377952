//! How programs that speak MCP are served, by the operator's word. The servers that the host calls are in `providers`.

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use capability_core::nearest;
use capability_core::session::Subject;
use serde::Deserialize;

use super::bindings::Mistake;
use super::providers::McpServerTable;
use super::standing::Span;
use super::web::{WebSettings, WebTable};
use crate::provider::Scope;

/// `[mcp]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpTable {
    /// The address and port at which `serve` speaks MCP over HTTP; it does not, unless it is said. Clients need a token.
    pub listen: Option<String>,
    /// The names that clients may call it by, beside those of this machine.
    pub hosts: Vec<String>,
    /// How long a turn of one connection lasts: what is counted a turn is counted in it. 10 seconds to 1 hour, `1m` unless it
    /// is said.
    pub turn: Option<Span>,
    /// How long a question to the person at a client may stay open before the call is answered as pending. 1 second to 10
    /// minutes, `45s` unless it is said.
    pub patience: Option<Span>,
    /// Which tools a client is shown; those that a model should always see, unless it is said.
    pub list: McpList,
    /// What is said about single clients, by the name that their token was made for.
    pub clients: BTreeMap<Subject, McpClientTable>,
    /// The servers whose tools can be called, by the names that rules and declarations know them by.
    pub servers: BTreeMap<String, McpServerTable>,
}

/// What stands in the list that a client asks for. Whatever does not is found by a search and called by way of one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpList {
    /// What is resident within the budget of a first request, and what is pinned.
    #[default]
    Resident,
    /// Everything that is compiled in: for clients that sort tools out themselves.
    All,
}

/// `[mcp.clients.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpClientTable {
    /// The person who sits at this client and nobody else does: what they answer there to its own calls counts as theirs.
    pub person: Option<Subject>,
    /// The servers that this client's session has of its own, by the names of those that are nobody's until a session names
    /// them.
    pub servers: BTreeSet<String>,
}

/// The same, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSettings {
    /// Where it listens, and its further names.
    pub listen: Option<WebSettings>,
    /// How long a turn lasts.
    pub turn: Duration,
    /// How long a question may stay open.
    pub patience: Duration,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self { listen: None, turn: Duration::from_secs(60), patience: Duration::from_secs(45) }
    }
}

/// The longest name of a person: what the log calls them is a little longer.
const MAX_PERSON_BYTES: usize = 60;

impl McpSettings {
    pub(super) fn of(table: &McpTable) -> Result<Self, Mistake> {
        let mistake = |key, what, help| Mistake { table: "mcp".to_owned(), key, what, help };
        let listen = match &table.listen {
            None if !table.hosts.is_empty() => {
                let what = "`hosts` are listed, and nobody listens".to_owned();
                return Err(mistake("hosts", what, "write where with `listen`, as in `127.0.0.1:8723`"));
            }
            None => None,
            Some(text) => {
                let address: SocketAddr = text.parse().map_err(|_| {
                    mistake(
                        "listen",
                        format!("`{}` is no address and port", text.escape_default()),
                        "write it as in `127.0.0.1:8723` or `[::1]:8723`",
                    )
                })?;
                let web = WebTable { listen: Some(address.to_string()), hosts: table.hosts.clone() };
                Some(WebSettings::of(&web).map_err(|wrong| Mistake { table: "mcp".to_owned(), ..wrong })?)
            }
        };
        let within = |key, span: Option<Span>, default, least, most, help| {
            let span = span.map_or(default, |span| span.0);
            if (Duration::from_secs(least)..=Duration::from_secs(most)).contains(&span) {
                Ok(span)
            } else {
                Err(mistake(key, format!("`{key}` is shorter or longer than it may be"), help))
            }
        };
        let Self { turn, patience, .. } = Self::default();
        let turn = within("turn", table.turn, turn, 10, 60 * 60, "write `10s` to `1h`, or leave the key out")?;
        let patience =
            within("patience", table.patience, patience, 1, 600, "write `1s` to `10m`, or leave the key out")?;
        for (name, client) in &table.clients {
            let mistake = |key, what, help| Mistake { table: format!("mcp.clients.{name}"), key, what, help };
            if client.person.as_ref().is_some_and(|person| person.as_str().len() > MAX_PERSON_BYTES) {
                let what = "the name of `person` is too long".to_owned();
                return Err(mistake("person", what, "write at most 60 characters"));
            }
            let named = |name: &&String| table.servers.get(*name).is_none_or(|server| server.scope != Scope::Request);
            if let Some(server) = client.servers.iter().find(named) {
                let can = table.servers.iter().filter(|(_, server)| server.scope == Scope::Request);
                let near = nearest(server, can.map(|(name, _)| name.as_str()));
                let near = near.map_or_else(String::new, |near| format!("; `{near}` is one"));
                let what =
                    format!("`{}` is no server that a session can have of its own{near}", server.escape_default());
                return Err(mistake("servers", what, "name a table `[mcp.servers.NAME]` with `scope = \"request\"`"));
            }
        }
        Ok(Self { listen, turn, patience })
    }
}

#[cfg(test)]
mod tests {
    use super::{McpSettings, McpTable, Span};

    #[test]
    fn spans_have_bounds_and_nobody_is_named_for_no_listener() {
        let of = |table: McpTable| McpSettings::of(&table).ok();
        assert_eq!(of(McpTable::default()), Some(McpSettings::default()));
        let span = |text: &str| Some(text.parse::<Span>().unwrap());
        for (turn, good) in [("9s", false), ("10s", true), ("1h", true), ("2h", false)] {
            assert_eq!(of(McpTable { turn: span(turn), ..McpTable::default() }).is_some(), good, "{turn}");
        }
        for (patience, good) in [("0s", false), ("1s", true), ("10m", true), ("11m", false)] {
            let table = McpTable { patience: span(patience), ..McpTable::default() };
            assert_eq!(of(table).is_some(), good, "{patience}");
        }
        assert!(of(McpTable { hosts: vec!["a".into()], ..McpTable::default() }).is_none());
        let listening =
            McpTable { listen: Some("127.0.0.1:0".into()), hosts: vec!["Home".into()], ..McpTable::default() };
        assert_eq!(of(listening).unwrap().listen.unwrap().hosts, ["home"]);
    }
}
