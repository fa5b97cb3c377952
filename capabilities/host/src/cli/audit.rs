//! `audit`: read from the files themselves, so that a log which keeps the host from starting can be looked at.

use std::path::Path;

use serde_json::{Value, json};

use super::arguments::Audit as Command;
use super::output::Output;
use super::render;
use crate::audit_log::{self, AuditLogError, Finding};
use crate::data_dir::DataDir;
use crate::protocol::Fault;

/// Reads or verifies the log of a data directory, whether or not a host is writing to it.
pub fn perform(command: Command, output: Output, path: &Path) -> Result<u8, Fault> {
    if !path.exists() {
        return Err(Fault::broken(
            format!("there is no data directory at `{}`", path.display()),
            "name one with `--data-dir DIR`",
        ));
    }
    let log = DataDir::open(path).map_err(|error| Fault::told(6, &error))?.audit();
    let unread = |error: AuditLogError| Fault::told(6, &error);
    match command {
        Command::Tail { count } => {
            let lines = audit_log::tail(&log, usize::try_from(count).unwrap_or(usize::MAX)).map_err(unread)?;
            // What is no record keeps its place: a reader sees that something stands there.
            let damaged = |line: &String| json!({ "event": "unreadable", "count": line.len() });
            let read = |line: &String| serde_json::from_str(line).unwrap_or_else(|_| damaged(line));
            let records: Vec<Value> = lines.iter().map(read).collect();
            output.print(&records, |records| render::records(records));
            Ok(0)
        }
        Command::Stats => {
            let stats = audit_log::stats(&log).map_err(unread)?;
            output.print(&json!(stats), render::stats);
            Ok(0)
        }
        Command::Verify => {
            let report = audit_log::verify(&log).map_err(unread)?;
            let state = match &report.finding {
                Finding::Clean => "clean",
                Finding::Torn { .. } => "torn",
                Finding::Tampered { .. } => "tampered",
            };
            let text = report.to_string();
            let document = json!({ "state": state, "records": report.records, "last": report.last, "message": text });
            output.print(&document, |_| text + "\n");
            Ok(report.exit_code())
        }
    }
}
