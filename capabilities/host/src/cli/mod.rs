//! The command line: words in, a request to the host, and its reply for people or programs.

mod arguments;
mod commands;
mod contract;
mod invoke;
mod output;
mod render;
mod report;
mod table;
mod terminal;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::connection::Connection;
use crate::data_dir::DataDir;
use crate::protocol::Fault;
use arguments::{Command, CommandLine};
use output::Output;

/// What a shell says of a command that was ended by an interrupt.
const INTERRUPTED: u8 = 130;

/// Runs the command line of a binary that lists these packages. What `main!` expands to.
#[must_use]
pub fn run(packages: &'static [&'static str]) -> ExitCode {
    crate::panic_hook::install();
    let packages = [packages, crate::LINKED].concat();
    let line = CommandLine::parse();
    let output = Output { json: line.everywhere.json };
    let exit = match perform(line, output, &packages) {
        Ok(exit) => exit,
        Err(fault) => output.fault(&fault),
    };
    ExitCode::from(exit)
}

fn perform(line: CommandLine, output: Output, packages: &[&str]) -> Result<u8, Fault> {
    match line.command {
        Command::Completions { shell } => {
            let mut command = CommandLine::command();
            let name = command.get_name().to_owned();
            clap_complete::generate(shell, &mut command, name, &mut std::io::stdout());
            return Ok(0);
        }
        Command::Contract(command) => return contract::perform(command, output, packages),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime =
        runtime.map_err(|_| Fault::broken("the host cannot start its threads", "free some memory and try again"))?;
    runtime.block_on(async {
        let path = match &line.everywhere.data_dir {
            Some(path) => path.clone(),
            None => DataDir::default_path().ok_or_else(|| {
                Fault::usage("there is no state directory on this system", "name one with `--data-dir DIR`")
            })?,
        };
        let connection = Connection::open(&path, packages).await?;
        // An interrupt drops what runs, and whatever is dropped leaves its record; only then does the process end.
        let exit = tokio::select! {
            exit = commands::perform(&connection, line, output) => exit,
            () = connection.interrupted() => Ok(INTERRUPTED),
        };
        connection.close().await;
        exit
    })
}
