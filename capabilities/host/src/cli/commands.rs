//! Every command that needs a host.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::arguments::{Command, CommandLine, Journal, OnOff, Operator, OptIn, Policy, Web};
use super::output::{Output, note};
use super::program::own;
use super::{approvals, channel, invoke, render, terminal};
use crate::connection::Connection;
use crate::protocol::{
    Description, Fault, JournalPart, OperatorState, PolicyShown, Probe, ProbeState, Proof, Redacted, Reply, Request,
    Row, SurfaceShown, Switch,
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
    pub async fn operator(&self) -> Result<Proof, Fault> {
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
        let password = ask_password("operator password").await?;
        Ok(Proof::Password(self.password.get_or_init(|| password).clone()))
    }
}

async fn ask_password(prompt: &'static str) -> Result<Redacted, Fault> {
    terminal::password(prompt).await.map_err(|_| {
        Fault::usage("the password cannot be read from here", "run this on a terminal, or pass `--password-stdin`")
    })
}

/// Where passwords come from: the terminal, or lines of standard input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passwords {
    Terminal,
    Lines,
}

impl Passwords {
    const fn from(stdin: bool) -> Self {
        if stdin { Self::Lines } else { Self::Terminal }
    }

    async fn next(self, prompt: &'static str) -> Result<Redacted, Fault> {
        match self {
            Self::Terminal => ask_password(prompt).await,
            Self::Lines => match terminal::line().await {
                Ok(Some(line)) => Ok(Redacted::new(line)),
                Ok(None) | Err(_) => Err(Fault::usage(
                    format!("standard input has no line for the {prompt}"),
                    "write one password a line",
                )),
            },
        }
    }
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
pub async fn perform(connection: &Connection<'_>, line: CommandLine, output: Output) -> Result<u8, Fault> {
    let state: OperatorState = document(connection.ask(&Request::OperatorState).await?)?;
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
        Command::Resume { id, wait, caller } => invoke::resume(connection, id, wait, &caller, &proofs, output).await,
        Command::History { count, caller } => invoke::history(connection, count, &caller, &proofs, output).await,
        Command::Approvals(command) => approvals::perform(connection, command, &proofs, output).await,
        Command::Grants(command) => approvals::grants(connection, command, &proofs, output).await,
        Command::Optin(OptIn::Show) => {
            show::<Vec<Switch>>(connection, &Request::OptInShow, output, |shown| render::switches(shown)).await
        }
        Command::Optin(OptIn::Set { family, state }) => {
            let request = Request::OptInSet { proof: proofs.operator().await?, family, on: state == OnOff::On };
            show::<Value>(connection, &request, output, render::plain).await
        }
        Command::Surface { subject, slot, profile } => {
            let request = Request::Surface { subject, slot, profile: profile.as_str().to_owned() };
            show::<SurfaceShown>(connection, &request, output, super::surface::shown).await
        }
        Command::Results(super::arguments::Results::Erase { subject }) => {
            let request = Request::ResultsErase(proofs.operator().await?, subject);
            show::<Value>(connection, &request, output, render::plain).await
        }
        Command::Reviews(command) => super::reviews::reviews(connection, command, &proofs, output).await,
        Command::State(command) => super::reviews::state(connection, command, &proofs, output).await,
        Command::Schedules(command) => super::schedules::perform(connection, command, &proofs, output).await,
        Command::Running(command) => super::running::perform(connection, command, &proofs, output).await,
        Command::Repositories(command) => super::repositories::perform(connection, command, &proofs, output).await,
        Command::Secrets(command) => super::secrets::perform(connection, command, output).await,
        Command::Journal(command) => journal(connection, command, &proofs, output).await,
        Command::Inbox(asked) => channel::inbox(connection, asked, &proofs, output).await,
        Command::Channel(command) => channel::channel(connection, command, &proofs, output).await,
        Command::Policy(Policy::Show) => {
            show::<PolicyShown>(connection, &Request::PolicyShow, output, super::policy::show).await
        }
        Command::Policy(Policy::Explain(asked)) => super::policy::explain(connection, asked, output).await,
        Command::Policy(Policy::Matrix { subject, slot }) => {
            super::policy::matrix(connection, subject, slot, output).await
        }
        Command::Policy(Policy::Reach(asked)) => super::policy::reach(connection, asked, output).await,
        Command::Policy(Policy::Compare { file }) => super::policy::compare(connection, file, output).await,
        Command::Policy(Policy::Accept) => super::policy::accept(connection, &proofs, output).await,
        Command::Providers(command) => super::providers::perform(connection, command, &proofs, output).await,
        Command::Skills(command) => super::skills::perform(connection, command, &proofs, output).await,
        Command::SelfModel(asked) => super::self_model::self_model(connection, &asked, output).await,
        Command::Operator(command) => operator(connection, command, state, &proofs, output).await,
        Command::Doctor { report, ways } => doctor(connection, report, ways, output).await,
        Command::Serve { no_web, no_channels } => serve(connection, no_web, no_channels, output).await,
        Command::Mcp(command) => super::mcp::perform(connection, command, &proofs, output).await,
        Command::Web(Web::Link) => {
            let request = Request::WebLink(proofs.operator().await?);
            show::<Value>(connection, &request, output, render::link).await
        }
        Command::Audit(_)
        | Command::Contract(_)
        | Command::Policy(Policy::Check { .. })
        | Command::Completions { .. } => Ok(0),
    }
}

async fn serve(connection: &Connection<'_>, no_web: bool, no_channels: bool, output: Output) -> Result<u8, Fault> {
    connection.must_own().await?;
    connection.prove_isolation().await?;
    connection.start_providers();
    let place = connection.place().display().to_string();
    let mut said = json!({ "serving": place });
    if !no_web {
        let (address, link) = connection.serve_pages().await?;
        said = json!({ "serving": place, "web": address, "link": link });
    }
    if let (Some(address), Some(said)) = (connection.serve_programs().await?, said.as_object_mut()) {
        said.insert("mcp".to_owned(), json!(address));
    }
    let channels = if no_channels { None } else { connection.serve_channels().await? };
    if let (Some(address), Some(said)) = (&channels, said.as_object_mut()) {
        said.insert("channels".to_owned(), address.as_str().into());
    }
    output.print(&said, |said| {
        let programs = said.get("mcp").and_then(Value::as_str).map(|at| format!("speaking MCP at {at}\n"));
        let pages = if no_web { String::new() } else { render::link(said) };
        let channels = channels.map_or_else(String::new, |address| format!("channels at {address}NAME\n"));
        let programs = programs.unwrap_or_default();
        format!("serving command lines at `{place}`; stop with Ctrl-C\n{programs}{pages}{channels}")
    });
    core::future::pending().await
}

/// Asks, and shows the document that comes back.
pub async fn show<T: DeserializeOwned + serde::Serialize>(
    connection: &Connection<'_>,
    request: &Request,
    output: Output,
    human: impl FnOnce(&T) -> String,
) -> Result<u8, Fault> {
    let shown: T = document(connection.ask(request).await?)?;
    output.print(&shown, human);
    Ok(0)
}

async fn journal(connection: &Connection<'_>, command: Journal, proofs: &Proofs, output: Output) -> Result<u8, Fault> {
    let proof = proofs.operator().await?;
    match command {
        Journal::Show { subject, count } => {
            let request = Request::JournalShow { proof, subject, most: count };
            show::<JournalPart>(connection, &request, output, render::journal).await
        }
        Journal::Erase { subject } => {
            show::<Value>(connection, &Request::JournalErase(proof, subject), output, render::plain).await
        }
    }
}

async fn operator(
    connection: &Connection<'_>,
    command: Operator,
    state: OperatorState,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    match command {
        Operator::Setup { password_stdin } => {
            let source = Passwords::from(password_stdin);
            let old = if state.set_up { Some(source.next("present password").await?) } else { None };
            let password = source.next("new operator password").await?;
            if source == Passwords::Terminal && source.next("the same again").await?.reveal() != password.reveal() {
                return Err(Fault::usage("the two passwords differ", "type the same password twice"));
            }
            show::<Value>(connection, &Request::OperatorSetup { password, old }, output, |_| {
                "the operator password is set\n".into()
            })
            .await
        }
        Operator::Login { password_stdin, token_file } => {
            let password = Passwords::from(password_stdin).next("operator password").await?;
            let request = Request::OperatorLogin { password, bind_terminal: token_file.is_none() };
            let opened: Value = document(connection.ask(&request).await?)?;
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
            let request = Request::OperatorLogout(proofs.operator().await?);
            show::<Value>(connection, &request, output, |_| "every operator session is ended\n".into()).await
        }
    }
}

async fn doctor(connection: &Connection<'_>, report: Option<PathBuf>, ways: bool, output: Output) -> Result<u8, Fault> {
    let probes: Vec<Probe> = document(connection.ask(&Request::Doctor).await?)?;
    examined(probes, report, ways, output)
}

/// The self-check of a host that does not even start.
pub fn unopened(fault: Fault, report: Option<PathBuf>, output: Output) -> Result<u8, Fault> {
    let probe = Probe {
        name: "host".into(),
        state: ProbeState::Failed,
        found: fault.message,
        help: fault.help,
        answers: vec![],
    };
    examined(vec![probe], report, false, output)
}

fn examined(mut probes: Vec<Probe>, report: Option<PathBuf>, ways: bool, output: Output) -> Result<u8, Fault> {
    for help in probes.iter_mut().filter_map(|probe| probe.help.as_mut()) {
        *help = own(help).into_owned();
    }
    let written = report.map(|directory| super::report::write(&directory, &probes)).transpose()?;
    if !ways {
        probes.iter_mut().for_each(|probe| probe.answers.clear());
    }
    output.print(&probes, |probes| render::probes(probes));
    if let Some(path) = written.filter(|_| !output.json) {
        note(&format!("report: {}\n", path.display()));
    }
    let failed = probes.iter().any(|probe| probe.state == ProbeState::Failed);
    Ok(if failed { 6 } else { 0 })
}
