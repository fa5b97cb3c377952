//! `mcp`: this program as a server for the one that started it, and the programs that are let in by a token.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use capability_core::session::{SlotPath, Subject};
use clap::{Args, Subcommand, ValueHint};
use serde_json::{Value, json};

use super::arguments::ModeArg;
use super::commands::{Proofs, document, show};
use super::output::{NAME, Output, note, styled};
use super::table::layout;
use crate::agents::TURN;
use crate::connection::Connection;
use crate::mcp::server::{Speaker, lines};
use crate::protocol::{ClientShown, Fault, McpRequest, Redacted, Request};

/// How much is handed on at a time.
const CHUNK: usize = 16 << 10;

/// `mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Mcp {
    /// Another subject than the local one; needs the operator credential
    #[arg(long, value_name = "NAME")]
    pub subject: Option<Subject>,
    /// The slot of that subject's agent that the program stands in
    #[arg(long, value_name = "SLOT", requires = "subject")]
    pub slot: Option<SlotPath>,
    /// Speak for the subject whose client token is in this file, written by `mcp token create`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// A configured server with `scope = "request"` that this program has of its own, for as long as it is connected. May be repeated
    #[arg(long = "with", value_name = "SERVER")]
    pub with: Vec<String>,
    /// A stricter mode than the ordinary one
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ModeArg>,
    /// Leave the approval centre out where this process is the host itself
    #[arg(long)]
    pub no_web: bool,
    /// Speak for the agent's turn that a host started this program for, as `CAPABILITY_TURN` says
    #[arg(long, conflicts_with_all = ["subject", "token_file", "mode", "with"])]
    pub turn: bool,
    /// Something else than speaking MCP
    #[command(subcommand)]
    pub command: Option<McpCommand>,
}

impl Mcp {
    /// Whether it serves a program until that one is done.
    pub const fn serves(&self) -> bool {
        self.command.is_none()
    }
}

/// `mcp`, with a word behind it.
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// See and set which programs are let in, and for whom (operators)
    #[command(subcommand)]
    Token(McpToken),
}

/// `mcp token`.
#[derive(Debug, Subcommand)]
pub enum McpToken {
    /// Let a program in, and write its token into a file, or tell it once
    Create {
        /// What the program is called from now on
        name: Subject,
        /// For whom it speaks
        #[arg(long, value_name = "NAME")]
        subject: Subject,
        /// The slot of that subject's agent that it stands in
        #[arg(long, value_name = "SLOT")]
        slot: Option<SlotPath>,
        /// Write the token into this file, for nobody else to read, instead of telling it
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        token_file: Option<PathBuf>,
    },
    /// List the programs that are let in
    List,
    /// Let a program in no more
    Revoke {
        /// Which
        name: Subject,
    },
}

/// Performs one of them.
pub async fn perform(connection: &Connection<'_>, mcp: Mcp, proofs: &Proofs, output: Output) -> Result<u8, Fault> {
    match mcp.command {
        None => serve(connection, mcp, proofs).await,
        Some(McpCommand::Token(McpToken::Create { name, subject, slot, token_file })) => {
            create(connection, (name, subject, slot), token_file.as_deref(), proofs, output).await
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
    let (subject, slot, mode) = (mcp.subject, mcp.slot, mcp.mode.map(Into::into));
    let speaker = Speaker { subject, slot, mode, proof, token, with: mcp.with };
    // Pipes are read without a thread of their own; whatever else the streams are, with one.
    let (input, output) = rmcp::transport::io::stdio_pipes();
    lines(connection, speaker, input, output).await?;
    Ok(0)
}

/// Hands on what is said between standard input and output and the socket of a turn, which is all that there is to do: who speaks there
/// is known by where it is.
pub fn of_turn() -> Result<u8, Fault> {
    let help = "start it from the program of an agent, with that variable handed on";
    let Some(place) = std::env::var_os(TURN) else {
        return Err(Fault::usage(format!("no turn is under way here: `{TURN}` is not set"), help));
    };
    let ended = |_: std::io::Error| Fault::refused("the agent's turn is over, or was never here", help);
    let said = UnixStream::connect(place).map_err(ended)?;
    let heard = said.try_clone().map_err(ended)?;
    let told = std::thread::Builder::new().name("capability-turn".to_owned()).spawn(move || {
        let _ = hand_on(std::io::stdin().lock(), &said);
        let _ = said.shutdown(Shutdown::Write);
    });
    told.map_err(|_| Fault::broken("this process cannot start a thread", "free some memory and try again"))?;
    // What was called goes on while its answer is waited for; whoever listens no more has gone.
    let _ = hand_on(heard, std::io::stdout().lock());
    Ok(0)
}

/// Hands on what is read as it comes. `std::io::copy` would have the kernel move it, which holds a pipe for as long as nothing comes:
/// a reader at its other end that only wanted to look would wait with it.
fn hand_on(mut from: impl Read, mut to: impl Write) -> std::io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match from.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        to.write_all(chunk.get(..read).unwrap_or_default())?;
        to.flush()?;
    }
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
    (name, subject, slot): (Subject, Subject, Option<SlotPath>),
    token_file: Option<&Path>,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let request = McpRequest::ClientCreate { proof: proofs.operator().await?, name, subject, slot };
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
        let slot = made.get("slot").and_then(Value::as_str).map(|slot| format!("/{slot}")).unwrap_or_default();
        format!("{} is let in for {}{slot}; {token}\n", styled(NAME, text("client")), text("subject"))
    });
    Ok(0)
}

fn listed(clients: &[ClientShown]) -> String {
    if clients.is_empty() {
        return "no program is let in\n".to_owned();
    }
    let row = |client: &ClientShown| {
        let person = client.person.as_ref().map_or("-".to_owned(), ToString::to_string);
        let slot = client.slot.as_ref().map(|slot| format!("/{slot}")).unwrap_or_default();
        [client.name.to_string(), format!("{}{slot}", client.subject), person, client.created.to_string()]
    };
    layout(["CLIENT", "SUBJECT", "PERSON", "SINCE"], &clients.iter().map(row).collect::<Vec<_>>())
}
