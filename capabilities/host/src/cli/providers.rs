//! `providers`: the servers whose tools can be called.

use serde_json::{Value, json};

use super::arguments::{CallerArgs, Invoke, Named, ProviderCredential, Providers};
use super::commands::{Proofs, document, show};
use super::output::{BAD, GOOD, NAME, Output, WARN, note, styled};
use super::table::layout;
use super::{invoke, render, terminal};
use crate::connection::Connection;
use crate::display::arguments;
use crate::display::diff::{self, Difference, What};
use crate::display::text::written_out;
use crate::protocol::{Fault, ForeignTool, LookedAt, ProviderQuestion, Redacted, Request, ToolChange, claimed};
use crate::provider::{ServerTold, ToolTold};

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
                caller: CallerArgs { subject: None, turn: None, mode: None, slot: None },
                entry: None,
            };
            invoke::invoke(connection, call, proofs, output).await
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
            let starts = if one.with_host { "with the host" } else { "when asked" };
            let usable = one.tools.saturating_sub(one.unusable);
            [
                one.name.clone(),
                format!("{} {}", one.way, written_out(&one.place)),
                starts.to_owned(),
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

fn tools(told: &[ToolTold]) -> String {
    if told.is_empty() {
        return "it has shown no tools yet\n".to_owned();
    }
    let mut text = "names and descriptions are the server's own words\n".to_owned();
    for one in told {
        let style = if one.standing == "accepted" { GOOD } else { BAD };
        text += &format!("\n{}  {}\n", styled(NAME, &written_out(&one.tool)), styled(style, &one.standing));
        let by = if one.classified { "as the configuration says" } else { "nobody has classified it" };
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
    let by =
        if tool.classified { "the configuration classifies this very definition" } else { "nobody has classified it" };
    format!(
        "  a tool of somebody else's: {} of server {} ({} {}); {by}\n  it claims, which nobody has checked: {}\n",
        written_out(&tool.tool),
        tool.server,
        tool.way,
        written_out(&tool.place),
        claimed(tool.claims)
    )
}
