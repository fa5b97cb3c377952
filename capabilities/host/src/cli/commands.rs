//! Every command that needs a host.

use std::io::BufRead;
use std::path::PathBuf;

use capability_core::approval::ApprovalSummary;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::arguments::{Approvals, Audit, Command, CommandLine, OnOff, Operator, OptIn};
use super::output::{Output, note};
use super::{invoke, render, terminal};
use crate::connection::Connection;
use crate::protocol::{
    ApprovalDetail, Description, Fault, OperatorState, Probe, ProbeState, Proof, Redacted, Reply, Request, Row, Switch,
};

/// How whoever sits here can prove to be an operator.
pub struct Proofs {
    token_file: Option<PathBuf>,
    /// Asked once a command, whatever it needs the proof for.
    password: std::cell::OnceCell<Redacted>,
    live: bool,
}

impl Proofs {
    /// A token file wins; then a live session on this terminal; then the password.
    pub fn operator(&self) -> Result<Proof, Fault> {
        if let Some(path) = &self.token_file {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Fault::usage(
                    format!("the operator token file cannot be read: {error}"),
                    "write one with `capability operator login --token-file FILE`",
                )
            })?;
            return Ok(Proof::Token(Redacted::new(text.trim().to_owned())));
        }
        if self.live {
            return Ok(Proof::Terminal);
        }
        if let Some(password) = self.password.get() {
            return Ok(Proof::Password(password.clone()));
        }
        if !terminal::is_there() {
            return Err(Fault::refused(
                "this needs the operator credential, and there is no terminal to ask at",
                "pass `--operator-token-file FILE`, written by `capability operator login --token-file FILE`",
            ));
        }
        let password = ask_password("operator password")?;
        Ok(Proof::Password(self.password.get_or_init(|| password).clone()))
    }
}

fn ask_password(prompt: &str) -> Result<Redacted, Fault> {
    terminal::password(prompt).map_err(|_| {
        Fault::usage("the password cannot be read from here", "run this on a terminal, or pass `--password-stdin`")
    })
}

/// Where passwords come from: the terminal, or lines of standard input.
enum Passwords {
    Terminal,
    Lines(std::io::Lines<std::io::StdinLock<'static>>),
}

impl Passwords {
    fn from(stdin: bool) -> Self {
        if stdin { Self::Lines(std::io::stdin().lock().lines()) } else { Self::Terminal }
    }

    fn next(&mut self, prompt: &str) -> Result<Redacted, Fault> {
        match self {
            Self::Terminal => ask_password(prompt),
            Self::Lines(lines) => match lines.next() {
                Some(Ok(line)) => Ok(Redacted::new(line)),
                Some(Err(_)) | None => Err(Fault::usage(
                    format!("standard input has no line for the {prompt}"),
                    "write one password a line",
                )),
            },
        }
    }
}

/// Sends a request to the host.
pub async fn ask(connection: &Connection, request: &Request) -> Result<Reply, Fault> {
    connection.ask(request).await
}

/// The reply as the document that was asked for.
pub fn document<T: DeserializeOwned>(reply: Reply) -> Result<T, Fault> {
    match reply {
        Reply::Fault(fault) => Err(fault),
        Reply::Document(value) | Reply::Outcome(value) => serde_json::from_value(value)
            .map_err(|_| Fault::broken("the host answered something else", "use the same version on both sides")),
    }
}

/// Performs one command and gives its exit code.
pub async fn perform(connection: &Connection, line: CommandLine, output: Output) -> Result<u8, Fault> {
    let state: OperatorState = document(ask(connection, &Request::OperatorState).await?)?;
    let proofs = Proofs {
        token_file: line.everywhere.operator_token_file,
        password: std::cell::OnceCell::new(),
        live: state.live_here,
    };
    match line.command {
        Command::List => show::<Vec<Row>>(connection, &Request::List, output, |shown| render::list(shown)).await,
        Command::Describe { capability } => {
            let request = Request::Describe { name: capability.name, version: capability.version };
            show::<Description>(connection, &request, output, render::describe).await
        }
        Command::Invoke(args) => invoke::invoke(connection, args, &proofs, output).await,
        Command::Resume { id, caller } => invoke::resume(connection, id, &caller, &proofs, output).await,
        Command::Approvals(command) => approvals(connection, command, &proofs, output).await,
        Command::Optin(OptIn::Show) => {
            show::<Vec<Switch>>(connection, &Request::OptInShow, output, |shown| render::switches(shown)).await
        }
        Command::Optin(OptIn::Set { family, state }) => {
            let request = Request::OptInSet { proof: proofs.operator()?, family, on: state == OnOff::On };
            show::<Value>(connection, &request, output, render::plain).await
        }
        Command::Operator(command) => operator(connection, command, state, &proofs, output).await,
        Command::Audit(Audit::Tail { count }) => {
            show::<Vec<Value>>(connection, &Request::AuditTail { count }, output, |shown| render::records(shown)).await
        }
        Command::Audit(Audit::Verify) => {
            let report: Value = document(ask(connection, &Request::AuditVerify).await?)?;
            output.print(&report, render::plain);
            let exit = report.get("exit").and_then(Value::as_u64).and_then(|exit| u8::try_from(exit).ok());
            Ok(exit.unwrap_or(6))
        }
        Command::Audit(Audit::Stats) => show::<Value>(connection, &Request::AuditStats, output, render::stats).await,
        Command::Doctor { report } => doctor(connection, report, output).await,
        Command::Serve => {
            if connection.is_owner() {
                note(&format!("serving command lines at `{}`; stop with Ctrl-C\n", connection.place().display()));
            }
            connection.serve_until_interrupted().await
        }
        Command::Contract(_) | Command::Completions { .. } => Ok(0),
    }
}

async fn show<T: DeserializeOwned + serde::Serialize>(
    connection: &Connection,
    request: &Request,
    output: Output,
    human: impl FnOnce(&T) -> String,
) -> Result<u8, Fault> {
    let shown: T = document(ask(connection, request).await?)?;
    output.print(&shown, human);
    Ok(0)
}

async fn approvals(connection: &Connection, command: Approvals, proofs: &Proofs, output: Output) -> Result<u8, Fault> {
    let proof = proofs.operator()?;
    match command {
        Approvals::List => {
            show::<Vec<ApprovalSummary>>(connection, &Request::ApprovalList(proof), output, |shown| {
                render::approvals(shown)
            })
            .await
        }
        Approvals::Show { id } => {
            show::<ApprovalDetail>(connection, &Request::ApprovalShow(proof, id), output, render::approval).await
        }
        Approvals::Approve { id } => {
            show::<Value>(connection, &Request::Approve(proof, id), output, |_| {
                format!("approved once; `capability resume {id}` finishes it\n")
            })
            .await
        }
        Approvals::Deny { id, note } => {
            show::<Value>(connection, &Request::Deny(proof, id, note), output, |_| "denied, for good\n".into()).await
        }
    }
}

async fn operator(
    connection: &Connection,
    command: Operator,
    state: OperatorState,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    match command {
        Operator::Setup { password_stdin } => {
            let mut source = Passwords::from(password_stdin);
            let old = if state.set_up { Some(source.next("present password")?) } else { None };
            let password = source.next("new operator password")?;
            if !password_stdin && source.next("the same again")?.reveal() != password.reveal() {
                return Err(Fault::usage("the two passwords differ", "type the same password twice"));
            }
            show::<Value>(connection, &Request::OperatorSetup { password, old }, output, |_| {
                "the operator password is set\n".into()
            })
            .await
        }
        Operator::Login { password_stdin, token_file } => {
            let password = Passwords::from(password_stdin).next("operator password")?;
            let request = Request::OperatorLogin { password, bind_terminal: token_file.is_none() };
            let opened: Value = document(ask(connection, &request).await?)?;
            let word = |key: &str| opened.get(key).and_then(Value::as_str).unwrap_or_default();
            if let Some(path) = token_file {
                crate::data_dir::write_private(&path, word("token").as_bytes()).map_err(|error| {
                    Fault::usage(
                        format!("the token file cannot be written: {error}"),
                        "name a file that can be written",
                    )
                })?;
            }
            output.print(&json!({ "expires_at": word("expires_at") }), |_| {
                format!("operator session until {}\n", word("expires_at"))
            });
            Ok(0)
        }
        Operator::Logout => {
            let request = Request::OperatorLogout(proofs.operator()?);
            show::<Value>(connection, &request, output, |_| "every operator session is ended\n".into()).await
        }
    }
}

async fn doctor(connection: &Connection, report: Option<PathBuf>, output: Output) -> Result<u8, Fault> {
    let probes: Vec<Probe> = document(ask(connection, &Request::Doctor).await?)?;
    output.print(&probes, |probes| render::probes(probes));
    if let Some(directory) = report {
        let path = super::report::write(&directory, &probes)?;
        note(&format!("report: {}\n", path.display()));
    }
    let failed = probes.iter().any(|probe| probe.state == ProbeState::Failed);
    Ok(if failed { 6 } else { 0 })
}
