//! `providers`: the servers whose tools can be called.

use capability_core::session::Subject;
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::arguments::{CallerArgs, Invoke, Named};
use super::commands::{Proofs, document, show};
use super::output::{BAD, GOOD, NAME, Output, WARN, note, styled};
use super::table::layout;
use super::{invoke, render, terminal};
use crate::connection::Connection;
use crate::display::arguments;
use crate::display::diff::{self, Difference, What};
use crate::display::text::written_out;
use crate::protocol::{
    Fault, ForeignTool, HealthTold, LookedAt, ProviderQuestion, Redacted, Request, ToolChange, claimed,
};
use crate::provider::{EdgeTold, ServerTold, ToolTold, counts_because};

/// The servers whose tools can be called.
#[derive(Debug, Subcommand)]
pub enum Providers {
    /// List the configured servers and where each stands
    List,
    /// Show a server's tools: where each stands, what it counts as, what it claims
    Tools {
        /// The name of its configured connection
        server: String,
    },
    /// Show what a server's tools are now, where that is not what was accepted (operators)
    Diff {
        /// The name of its configured connection
        server: String,
        /// One tool; every one that changed without
        tool: Option<String>,
    },
    /// Show the difference, and let the tools come into use again as they are now (operators)
    Accept {
        /// The name of its configured connection
        server: String,
        /// One tool; every one that changed without
        tool: Option<String>,
    },
    /// Ask to start or contact a server, as any caller does: a call of `mcp.connect`
    Connect {
        /// The name of its configured connection
        server: String,
        /// Why: shown to whoever answers, as your claim
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Where a person must answer, wait for the answer elsewhere, and finish by itself
        #[arg(long)]
        wait: bool,
    },
    /// Show the newest of what a server's program complained about, which may hold anything (operators)
    Said {
        /// The name of its configured connection
        server: String,
    },
    /// List the configured edges and relays: what each may carry out, and whether it is there
    Edges,
    /// Switch an edge or relay on or off, for this host and the next ones (operators)
    Switch {
        /// Its configured name
        edge: String,
        /// The new state
        state: SwitchTo,
    },
    /// Show how tools have been doing: how many calls worked and failed, and what is failing now
    Health,
    /// Keep and forget tokens for servers that are asked over HTTP (operators)
    #[command(subcommand)]
    Credential(ProviderCredential),
}

/// What a switch is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SwitchTo {
    /// It is sent what it may carry out
    On,
    /// It is known, and offline
    Off,
}

/// Tokens for servers.
#[derive(Debug, Subcommand)]
pub enum ProviderCredential {
    /// Keep the token on standard input, sealed
    Set {
        /// The name of its configured connection
        server: String,
        /// For the calls of this subject alone, instead of everybody's
        #[arg(long, value_name = "NAME")]
        subject: Option<Subject>,
    },
    /// Forget a token
    Remove {
        /// The name of its configured connection
        server: String,
        /// The token of this subject, instead of everybody's
        #[arg(long, value_name = "NAME")]
        subject: Option<Subject>,
    },
}

/// Performs one of them.
pub async fn perform(
    connection: &Connection<'_>,
    command: Providers,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let ask = Request::Providers;
    match command {
        Providers::List => {
            show::<Vec<ServerTold>>(connection, &ask(ProviderQuestion::List), output, |told| servers(told)).await
        }
        Providers::Tools { server } => {
            show::<Vec<ToolTold>>(connection, &ask(ProviderQuestion::Tools { server }), output, |told| tools(told))
                .await
        }
        Providers::Diff { server, tool } => {
            let proof = proofs.operator().await?;
            let request = ask(ProviderQuestion::Diff { proof, server, tool });
            show::<Vec<ToolChange>>(connection, &request, output, |told| changes(told)).await
        }
        Providers::Accept { server, tool } => accept(connection, server, tool, proofs, output).await,
        Providers::Connect { server, reason, wait } => {
            let call = Invoke {
                capability: Named { name: "mcp.connect".to_owned(), version: None },
                arguments: Some(json!({ "server": server }).to_string()),
                arg: Vec::new(),
                reason,
                evidence: None,
                entry: None,
                wait,
                with: Vec::new(),
                caller: CallerArgs { subject: None, turn: None, mode: None, slot: None },
            };
            invoke::invoke(connection, call, proofs, output).await
        }
        Providers::Edges => {
            show::<Vec<EdgeTold>>(connection, &ask(ProviderQuestion::Edges), output, |told| edges(told)).await
        }
        Providers::Switch { edge, state } => {
            let proof = proofs.operator().await?;
            let request = ask(ProviderQuestion::Switch { proof, edge, on: state == SwitchTo::On });
            show::<Value>(connection, &request, output, render::plain).await
        }
        Providers::Health => {
            show::<Vec<HealthTold>>(connection, &ask(ProviderQuestion::Health), output, |told| health(told)).await
        }
        Providers::Said { server } => {
            let proof = proofs.operator().await?;
            let request = ask(ProviderQuestion::Said { proof, server });
            show::<Value>(connection, &request, output, |told| match told.get("said").and_then(Value::as_str) {
                Some(said) => said.lines().map(|line| format!("  {}\n", written_out(line))).collect(),
                None => "no program of that server runs here\n".to_owned(),
            })
            .await
        }
        Providers::Credential(command) => {
            let proof = proofs.operator().await?;
            let (server, subject, token) = match command {
                ProviderCredential::Set { server, subject } => (server, subject, Some(token().await?)),
                ProviderCredential::Remove { server, subject } => (server, subject, None),
            };
            let request = ask(ProviderQuestion::Credential { proof, server, subject, token });
            show::<Value>(connection, &request, output, render::plain).await
        }
    }
}

/// A token from standard input: one line, which nothing repeats.
async fn token() -> Result<Redacted, Fault> {
    let read = match terminal::is_there() {
        true => terminal::password("token").await.ok(),
        false => terminal::line().await.ok().flatten().map(Redacted::new),
    };
    read.ok_or_else(|| Fault::usage("there is no token on standard input", "write it there, as one line"))
}

/// Shows what changed, and accepts exactly that.
async fn accept(
    connection: &Connection<'_>,
    server: String,
    tool: Option<String>,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let proof = proofs.operator().await?;
    let question = ProviderQuestion::Diff { proof, server: server.clone(), tool };
    let changed: Vec<ToolChange> = document(connection.ask(&Request::Providers(question)).await?)?;
    if changed.is_empty() {
        return Err(Fault::refused(
            "nothing waits to be accepted: what there is of it is what was accepted",
            "see its tools with `capability providers tools SERVER`",
        ));
    }
    if !output.json {
        note(&changes(&changed));
    }
    let looked_at = changed.into_iter().map(|one| LookedAt { tool: one.tool, definition: one.definition }).collect();
    let proof = proofs.operator().await?;
    let request = Request::Providers(ProviderQuestion::Accept { proof, server, looked_at });
    show::<Value>(connection, &request, output, |told| {
        format!("accepted: {}\n", told.get("accepted").and_then(Value::as_u64).unwrap_or_default())
    })
    .await
}

fn servers(told: &[ServerTold]) -> String {
    if told.is_empty() {
        return "no server is configured; write `[mcp.servers.NAME]` into `config.toml`\n".to_owned();
    }
    let state = |one: &ServerTold| match &one.why {
        Some(why) => format!("{}: {why}", one.state),
        None => one.state.clone(),
    };
    let cells: Vec<_> = told
        .iter()
        .map(|one| {
            let usable = one.tools.saturating_sub(one.unusable);
            [
                one.whose.as_ref().map_or_else(|| one.name.clone(), |whose| format!("{} ({whose})", one.name)),
                format!("{} {}", one.way, written_out(&one.place)),
                one.starts().to_owned(),
                format!("{usable} of {}", one.tools),
                state(one),
            ]
        })
        .collect();
    let mut text = layout(["SERVER", "IS", "STARTS", "USABLE", "STATE"], &cells);
    for one in told {
        for line in &one.stale_lines {
            text += &styled(
                WARN,
                &format!(
                    "{}: the line that classifies `{}` is about another definition, and does not count\n",
                    one.name,
                    written_out(line)
                ),
            );
        }
    }
    text
}

fn edges(told: &[EdgeTold]) -> String {
    if told.is_empty() {
        return "no edge is configured; write `[edges.NAME]` into `config.toml`\n".to_owned();
    }
    let state = |one: &EdgeTold| match &one.why {
        Some(why) => format!("{}: {why}", one.state),
        None => one.state.clone(),
    };
    let switch = |one: &EdgeTold| if one.on { "on" } else { "off" };
    let carries = |one: &EdgeTold| match one.carries_out.as_slice() {
        [] => "nothing".to_owned(),
        names => names.join(", "),
    };
    let row = |one: &EdgeTold| [one.name.clone(), one.kind.clone(), switch(one).to_owned(), state(one), carries(one)];
    layout(["NAME", "KIND", "SWITCH", "STATE", "CARRIES OUT"], &told.iter().map(row).collect::<Vec<_>>())
}

fn health(told: &[HealthTold]) -> String {
    if told.is_empty() {
        return "no tool has been run yet\n".to_owned();
    }
    let name = |one: &HealthTold| match &one.tool {
        Some(tool) => format!("{} {} {}", one.kind, one.provider, written_out(tool)),
        None if one.kind == "compiled" => format!("{}@{}", one.capability, one.version),
        None => format!("{}@{} at {} {}", one.capability, one.version, one.kind, one.provider),
    };
    let state = |one: &HealthTold| if one.failing { "failing" } else { "" };
    let row = |one: &HealthTold| {
        let last = format!("{} at {}", one.last, one.at);
        [name(one), one.worked.to_string(), one.failed.to_string(), last, state(one).to_owned()]
    };
    let mut text = layout(["TOOL", "WORKED", "FAILED", "LAST", "NOW"], &told.iter().map(row).collect::<Vec<_>>());
    for one in told {
        if let Some(guidance) = &one.guidance {
            text += &styled(WARN, &format!("{}: {guidance}\n", name(one)));
        }
    }
    text
}

fn tools(told: &[ToolTold]) -> String {
    if told.is_empty() {
        return "it has shown no tools yet\n".to_owned();
    }
    let mut text = "names and descriptions are the server's own words\n".to_owned();
    for one in told {
        let style = if one.standing == "accepted" { GOOD } else { BAD };
        text += &format!("\n{}  {}\n", styled(NAME, &written_out(&one.tool)), styled(style, &one.stands()));
        let by = counts_because(one.classified, one.raised);
        text += &format!("  counts as   {} + {} ({by})\n", one.side_effect, one.network);
        text += &format!("  claims      {}\n", claimed(one.claims));
        text += &format!("  definition  {}\n", one.definition);
        let first = one.description.lines().next().unwrap_or_default();
        text += &format!("  says        {}\n", written_out(first));
    }
    text
}

fn changes(told: &[ToolChange]) -> String {
    if told.is_empty() {
        return "nothing differs from what was accepted\n".to_owned();
    }
    let mut text = String::new();
    for one in told {
        text += &format!("{}\n", styled(NAME, &written_out(&one.tool)));
        if one.is_back() {
            text += "  it was another one in between, and is what was accepted again\n";
        }
        if one.moved {
            text += "  it was accepted from another program or place than the one that is configured now\n";
        }
        text += &difference(&diff::arguments(&one.accepted.to_string(), &one.now.to_string()));
        text += &format!("  now {}\n", one.definition);
    }
    text
}

/// What differs, value by value.
fn difference(found: &Difference) -> String {
    let Difference::Of { changes, .. } = found else {
        return "  it differs in too much to be told one by one: see both with `--json`\n".to_owned();
    };
    if changes.is_empty() {
        return "  its definition is the same\n".to_owned();
    }
    let mut text = String::new();
    for change in changes {
        let path: Vec<_> = change.path.iter().map(|key| written_out(&key.to_string())).collect();
        text += &format!("  {}\n", path.join(" > "));
        let mut side = |sign: char, value: &arguments::Value| {
            let source = match value {
                arguments::Value::Literal(text) | arguments::Value::Text(text) => text.clone(),
                arguments::Value::List(count) => format!("a list of {count}"),
                arguments::Value::Object(count) => format!("an object of {count}"),
            };
            for line in source.lines() {
                text += &format!("    {sign} {}\n", written_out(line));
            }
        };
        match &change.what {
            What::Added(after) => side('+', after),
            What::Removed(before) => side('-', before),
            What::Changed { before, after, .. } => {
                side('-', before);
                side('+', after);
            }
        }
    }
    text
}

/// The foreign tool that a waiting call goes to.
pub fn foreign(tool: &ForeignTool) -> String {
    let by = counts_because(tool.classified, tool.raised);
    format!(
        "  a tool of somebody else's: {} of server {} ({} {}); it counts as {} + {}: {by}\n  it claims, which nobody has checked: {}\n",
        written_out(&tool.tool),
        tool.server,
        tool.way,
        written_out(&tool.place),
        tool.side_effect,
        tool.network,
        claimed(tool.claims)
    )
}
