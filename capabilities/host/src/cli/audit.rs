//! `audit`: read from the files themselves, so that a log which keeps the host from starting can be looked at.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::arguments::Audit as Command;
use super::output::Output;
use super::render;
use crate::audit_log::{self, AuditLogError, Expected, Finding, Follow, VerifyReport};
use crate::connection::interrupted;
use crate::data_dir::DataDir;
use crate::protocol::Fault;

/// How often a log that is followed is looked at.
const EVERY: Duration = Duration::from_millis(100);

/// Reads or verifies the log of a data directory, whether or not a host is writing to it.
pub fn perform(command: Command, output: Output, path: &Path) -> Result<u8, Fault> {
    if !path.exists() {
        return Err(Fault::broken(
            format!("there is no data directory at `{}`", path.display()),
            "name one with `--data-dir DIR`",
        ));
    }
    let log = DataDir::open(path).map_err(|error| Fault::told(6, &error))?.audit();
    match command {
        Command::Tail { count, follow } => {
            let (lines, more) = Follow::open(&log, usize::try_from(count).unwrap_or(usize::MAX)).map_err(unread)?;
            let records = read(&lines);
            if !follow {
                output.print(&records, |records| render::records(records));
                return Ok(0);
            }
            output.lines(&records, render::records);
            self::follow(more, output)
        }
        Command::Stats => {
            let stats = audit_log::stats(&log).map_err(unread)?;
            output.print(&json!(stats), render::stats);
            Ok(0)
        }
        Command::Verify { receipt, key } => {
            let report = audit_log::verify_against(&log, &Expected { receipt, key }).map_err(unread)?;
            let text = report.to_string();
            output.print(&document(&report, &text), |_| text.clone() + "\n");
            Ok(report.exit_code())
        }
    }
}

fn unread(error: AuditLogError) -> Fault {
    Fault::told(6, &error)
}

/// What is no record keeps its place: a reader sees that something stands there.
fn read(lines: &[String]) -> Vec<Value> {
    let damaged = |line: &String| json!({ "event": "unreadable", "count": line.len() });
    lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| damaged(line))).collect()
}

/// Prints what is recorded until somebody interrupts, which is how following ends well, or nobody reads any more.
fn follow(mut more: Follow, output: Output) -> Result<u8, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|_| Fault::broken("the host cannot start its threads", "free some memory and try again"))?;
    runtime.block_on(async {
        let mut interrupted = core::pin::pin!(interrupted());
        loop {
            let lines = more.more().map_err(unread)?;
            if !lines.is_empty() && !output.lines(&read(&lines), render::more) {
                return Ok(0);
            }
            tokio::select! {
                biased;
                () = &mut interrupted => return Ok(0),
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    })
}

fn document(report: &VerifyReport, text: &str) -> Value {
    let state = match &report.finding {
        Finding::Clean => "clean",
        Finding::Unanchored { .. } => "unanchored",
        Finding::Torn { .. } => "torn",
        Finding::Tampered { .. } => "tampered",
    };
    let (seq, at) = report.anchored;
    let mut document = json!({
        "state": state,
        "records": report.records,
        "last": report.last,
        "anchored": { "seq": seq, "at": at },
        "unanchored": report.records.saturating_sub(seq),
        "verifier_key": report.key.as_ref().map(ToString::to_string),
        "message": text,
    });
    if let (Some(found), Value::Object(fields)) = (report.receipt, &mut document) {
        fields.insert("receipt".into(), if found { "present" } else { "absent" }.into());
    }
    document
}
