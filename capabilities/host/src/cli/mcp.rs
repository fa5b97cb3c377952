//! `mcp`: this program as a server for the one that started it, and the programs that are let in by a token.

use std::path::Path;

use serde_json::{Value, json};

use super::arguments::{Mcp, McpCommand, McpToken};
use super::commands::{Proofs, document, show};
use super::output::{NAME, Output, note, styled};
use super::table::layout;
use crate::connection::Connection;
use crate::mcp::server::{Speaker, lines};
use crate::protocol::{ClientShown, Fault, McpRequest, Redacted, Request};

/// Performs one of them.
pub async fn perform(connection: &Connection<'_>, mcp: Mcp, proofs: &Proofs, output: Output) -> Result<u8, Fault> {
    match mcp.command {
        None => serve(connection, mcp, proofs).await,
        Some(McpCommand::Token(McpToken::Create { name, subject, token_file })) => {
            create(connection, (name, subject), token_file.as_deref(), proofs, output).await
        }
        Some(McpCommand::Token(McpToken::List)) => {
            let request = Request::Mcp(McpRequest::ClientList(proofs.operator().await?));
            show::<Vec<ClientShown>>(connection, &request, output, |clients| listed(clients)).await
        }
        Some(McpCommand::Token(McpToken::Revoke { name })) => {
            let request = Request::Mcp(McpRequest::ClientRevoke(proofs.operator().await?, name));
            show::<Value>(connection, &request, output, |_| "it is let in no more\n".into()).await
        }
    }
}

/// Speaks MCP on standard input and output, until the other side is done.
async fn serve(connection: &Connection<'_>, mcp: Mcp, proofs: &Proofs) -> Result<u8, Fault> {
    let token = mcp.token_file.as_deref().map(read).transpose()?;
    // A token says itself for whom it speaks.
    let proof = match (&mcp.subject, &token) {
        (Some(_), None) => Some(proofs.operator().await?),
        _ => None,
    };
    if !mcp.no_web {
        // The pages are a convenience here: where they cannot be served, answers are given on the command line.
        connection.serve_pages_where_owned().await.unwrap_or_else(|fault| note(&format!("{}\n", fault.message)));
    }
    let speaker = Speaker { subject: mcp.subject, mode: mcp.mode.map(Into::into), proof, token };
    lines(connection, speaker, tokio::io::stdin(), tokio::io::stdout()).await?;
    Ok(0)
}

fn read(path: &Path) -> Result<Redacted, Fault> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Fault::usage(
            format!("the client token file cannot be read: {error}"),
            "write one with `capability mcp token create NAME --subject NAME --token-file FILE`",
        )
    })?;
    Ok(Redacted::new(text.trim().to_owned()))
}

async fn create(
    connection: &Connection<'_>,
    (name, subject): (capability_core::session::Subject, capability_core::session::Subject),
    token_file: Option<&Path>,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let request = McpRequest::ClientCreate { proof: proofs.operator().await?, name, subject };
    let mut made: Value = document(connection.ask(&Request::Mcp(request)).await?)?;
    if let (Some(path), Some(told)) = (token_file, made.as_object_mut()) {
        let token = told.remove("token");
        let token = token.as_ref().and_then(Value::as_str).unwrap_or_default();
        crate::data_dir::write_private(path, token.as_bytes()).map_err(|error| {
            Fault::usage(
                format!("the token file cannot be written: {error}"),
                "revoke the client with `capability mcp token revoke`, and name a file that can be written",
            )
        })?;
        told.insert("token_file".to_owned(), json!(path.display().to_string()));
    }
    output.print(&made, |made| {
        let text = |key: &str| made.get(key).and_then(Value::as_str).unwrap_or_default();
        let token = match token_file {
            Some(path) => format!("its token is in `{}`", path.display()),
            None => format!("its token, which is told this once: {}", text("token")),
        };
        format!("{} is let in for {}; {token}\n", styled(NAME, text("client")), text("subject"))
    });
    Ok(0)
}

fn listed(clients: &[ClientShown]) -> String {
    if clients.is_empty() {
        return "no program is let in\n".to_owned();
    }
    let row = |client: &ClientShown| {
        let person = client.person.as_ref().map_or("-".to_owned(), ToString::to_string);
        [client.name.to_string(), client.subject.to_string(), person, client.created.to_string()]
    };
    layout(["CLIENT", "SUBJECT", "PERSON", "SINCE"], &clients.iter().map(row).collect::<Vec<_>>())
}
