//! The command line: words in, a request to the host, and its reply for people or programs.

mod approvals;
mod arguments;
mod audit;
mod card;
mod channel;
mod commands;
mod contract;
mod invoke;
mod log;
mod mcp;
mod output;
mod policy;
mod program;
mod providers;
mod render;
mod report;
mod repositories;
mod reviews;
mod running;
mod schedules;
mod secrets;
mod self_model;
mod skills;
mod surface;
mod table;
mod terminal;

use core::task::Poll;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

use crate::connection::{Connection, interrupted};
use crate::data_dir::DataDir;
use crate::protocol::Fault;
use arguments::{Command, CommandLine, Policy};
use output::Output;

pub(crate) use program::own as in_own_words;

/// What this program is called.
pub(crate) fn program_name() -> &'static str {
    program::name()
}

/// The card of what would run, as plain text.
pub(crate) fn plain_card(pending: &capability_core::approval::PendingApproval) -> String {
    anstream::adapter::strip_str(&card::card(pending, None)).to_string()
}

/// What a shell says of a command that was ended by an interrupt.
const INTERRUPTED: u8 = 130;

/// Runs the command line of a binary that lists these packages. What `main!` expands to.
#[must_use]
pub fn run(packages: &'static [&'static str]) -> ExitCode {
    crate::panic_hook::install();
    let packages = [packages, crate::LINKED].concat();
    let line = match parse() {
        Ok(line) => line,
        Err(error) if error.use_stderr() && std::env::args_os().any(|word| word == "--json") => {
            return ExitCode::from(Output { json: true }.fault(&mistaken(&error)));
        }
        Err(error) => error.exit(),
    };
    let output = Output { json: line.everywhere.json };
    let exit = match log::install().and_then(|()| perform(line, output, &packages)) {
        Ok(exit) => exit,
        Err(fault) => output.fault(&fault),
    };
    ExitCode::from(exit)
}

/// The command line, called as this program is.
fn parse() -> Result<CommandLine, clap::Error> {
    let matches = command().try_get_matches()?;
    CommandLine::from_arg_matches(&matches)
}

/// The grammar, under the name of the author's own program.
fn command() -> clap::Command {
    CommandLine::command().name(program::name()).bin_name(program::name())
}

/// What a person reads about a wrong command line, for a program.
fn mistaken(error: &clap::Error) -> Fault {
    let text = error.to_string();
    let (message, help) = text.trim_end().split_once("\n\n").unwrap_or((text.trim_end(), "see `--help`"));
    Fault::usage(message.trim_start_matches("error: "), help)
}

fn perform(line: CommandLine, output: Output, packages: &[&str]) -> Result<u8, Fault> {
    match line.command {
        Command::Completions { shell } => {
            let mut command = command();
            let name = command.get_name().to_owned();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, name, &mut script);
            let script = String::from_utf8_lossy(&script);
            output.print(&json!({ "shell": shell.to_string(), "script": script }), |_| script.clone().into_owned());
            return Ok(0);
        }
        Command::Contract(command) => return contract::perform(command, output, packages),
        Command::Mcp(ref mcp) if mcp.turn => return mcp::of_turn(),
        _ => {}
    }
    let path = match &line.everywhere.data_dir {
        Some(path) => path.clone(),
        None => DataDir::default_path().ok_or_else(|| {
            Fault::usage("there is no state directory on this system", "name one with `--data-dir DIR`")
        })?,
    };
    if let Command::Audit(command) = line.command {
        return audit::perform(command, output, &path);
    }
    if let Command::Policy(Policy::Check { file }) = line.command {
        return policy::check(file, &path, packages, output);
    }
    take_descriptors();
    leave_no_core();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|_| Fault::broken("the host cannot start its threads", "free some memory and try again"))?;
    let exit = runtime.block_on(async {
        // INVARIANT: listened for before the directory is owned and anybody is let in, so that no call is without a record.
        let mut interrupt = core::pin::pin!(interrupted());
        let came = core::future::poll_fn(|context| Poll::Ready(interrupt.as_mut().poll(context).is_ready())).await;
        if came {
            return Ok(INTERRUPTED);
        }
        let stays = match &line.command {
            Command::Serve { .. } => true,
            Command::Mcp(mcp) => mcp.serves(),
            _ => false,
        };
        let opened = Connection::open(&path, packages, line.everywhere.accept_degraded, stays);
        let connection = match (opened, &line.command) {
            (Ok(connection), _) => connection,
            (Err(fault), Command::Doctor { report, .. }) => return commands::unopened(fault, report.clone(), output),
            (Err(fault), _) => return Err(fault),
        };
        let stopped = if matches!(line.command, Command::Serve { .. }) { 0 } else { INTERRUPTED };
        // An interrupt drops what runs, and whatever is dropped leaves its record; only then does the process end.
        let exit = tokio::select! {
            biased;
            () = &mut interrupt => Ok(stopped),
            exit = commands::perform(&connection, line, output) => exit,
        };
        connection.close().await;
        exit
    });
    terminal::restore();
    // Nobody waits for a thread that waits for a person.
    runtime.shutdown_background();
    exit
}

/// A process that breaks leaves nothing of its memory in a file: there are secrets in it. What it starts leaves none either.
fn leave_no_core() {
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
}

/// Takes as many descriptors as this process may have: each call in a worker holds three, and each of its connections one
/// more. Where they cannot be had, what needs one is refused when it does.
fn take_descriptors() {
    let may = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: may.maximum, ..may });
}
