//! Putting right what a crash left, on record, before anything else is written.

use std::io::{self, Read};
use std::sync::Arc;

use capability_core::audit::{Event, OutcomeKind, Record, RecoveryKind};
use capability_core::executor::Effect;
use capability_core::handle::ProcessEnd;
use capability_core::{Stage, Timestamp};
use serde_json::{Map, Value};

use super::Opened;
use super::anchor::Anchorer;
use super::checkpoint::Checkpoint;
use super::committer::{Committer, Options, Tip};
use super::disk::Disk;
use super::key::{LogKey, VerifierKey};
use super::line;
use super::scan::{Begun, End, Scanner, Unfinished};
use super::segment::{self, CHECKPOINT, Segment};
use super::state::State;

/// Why a log is not opened.
#[derive(Debug)]
pub(super) enum Refused {
    /// A file, its line from 1 or 0 for the whole of it, and what is wrong.
    Tampered {
        file: String,
        line: u64,
        what: &'static str,
    },
    Io(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The checkpoint, or what is wrong with it.
pub(super) fn read_checkpoint(disk: &impl Disk, key: &VerifierKey) -> io::Result<Result<Checkpoint, &'static str>> {
    let mut note = Vec::new();
    match disk.read(CHECKPOINT, 0) {
        Ok(file) => drop(file.take(1 << 16).read_to_end(&mut note)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Err("it is missing, and it says how many records there are"));
        }
        Err(error) => return Err(error),
    }
    Ok(Checkpoint::open(&note, key).ok_or("it is damaged, or another key signed it"))
}

/// Whether a checkpoint says that there were records, whoever signed it.
pub(super) fn has_counted(disk: &impl Disk) -> io::Result<bool> {
    let mut note = String::new();
    match disk.read(CHECKPOINT, 0) {
        Ok(file) => drop(file.take(1 << 16).read_to_string(&mut note)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    Ok(note.lines().nth(1) != Some("0"))
}

/// Makes a log without records. The first checkpoint stands before its key does, so that a key without a checkpoint
/// always means that one was removed.
pub(super) fn begin<D: Disk>(disk: &Arc<D>, key: Arc<LogKey>) -> io::Result<()> {
    let none = Checkpoint { size: 0, root: super::tree::Frontier::default().root() };
    Anchorer::new(Arc::clone(disk), key).write(none)
}

/// Opens a log on this disk: reads all of it, refuses what no crash explains, and puts the rest right.
pub(super) fn open<D: Disk>(
    disk: &Arc<D>,
    key: &Arc<LogKey>,
    options: Options,
    state: &Arc<State>,
    now: Timestamp,
) -> Result<(Committer<D>, Opened), Refused> {
    let tampered = |file: &str, line, what| Refused::Tampered { file: file.to_owned(), line, what };
    let checkpoint = read_checkpoint(disk.as_ref(), key.verifier())?.map_err(|what| tampered(CHECKPOINT, 0, what))?;
    let mut segments = segment::list(disk.as_ref())?;
    let mut scanner = Scanner::new(checkpoint);
    scanner.unfinished = Some(Unfinished::new());
    scanner.advance(disk.as_ref(), &segments, None)?;
    let torn_bytes = match scanner.end {
        End::Clean => 0,
        End::Torn { bytes } => bytes,
        End::Tampered { line, what } => return Err(tampered(&scanner.segment.name(), line, what)),
    };
    if torn_bytes > 0 {
        set_aside(disk.as_ref(), scanner.segment, scanner.records() + 1)?;
        let mut file = disk.open(&scanner.segment.name())?;
        disk.cut(&mut file, scanner.segment.len)?;
        disk.sync(&mut file)?;
        if let Some(last) = segments.last_mut() {
            last.len = scanner.segment.len;
        }
    }
    // A segment that has no record yet is the beginning of a rotation: it is begun again when it is due.
    let empty = segments.last().filter(|last| last.len == 0 && last.first > 1);
    if let Some(empty) = empty {
        disk.remove(&empty.name())?;
        disk.sync_dir()?;
    }
    let current = match scanner.before {
        Some(before) if scanner.segment.len == 0 => before,
        _ => scanner.segment,
    };
    let mut file = if segments.is_empty() {
        let file = disk.create(&current.name())?;
        disk.sync_dir()?;
        file
    } else {
        disk.open(&current.name())?
    };
    // What a killed process wrote may still be on its way to the disk.
    disk.sync(&mut file)?;
    let unfinished = scanner.unfinished.take().unwrap_or_default();
    let opened = Opened {
        records: scanner.records(),
        torn_bytes,
        unfinished_intents: unfinished.values().filter(|(intent, _)| *intent).count() as u64,
    };
    let tip = Tip {
        next: scanner.records() + 1,
        last: scanner.last,
        tree: scanner.tree,
        segment: current,
        began: scanner.began.unwrap_or(now),
        anchored: checkpoint.size,
    };
    let mut committer = Committer::new(Arc::clone(disk), file, tip, options, Arc::clone(state));
    for batch in told(&opened, unfinished, now).chunks(64) {
        committer.commit(batch.iter().map(Vec::as_slice), now)?;
    }
    committer.make_room(0)?;
    if let Some(checkpoint) = committer.unanchored() {
        Anchorer::new(Arc::clone(disk), Arc::clone(key)).write(checkpoint)?;
        committer.anchored(checkpoint);
    }
    Ok((committer, opened))
}

/// Copies what stands behind the part that holds into a file of its own: nobody acknowledged it, but somebody may want to
/// look at it.
fn set_aside(disk: &impl Disk, segment: Segment, next: u64) -> io::Result<()> {
    let mut bytes = Vec::new();
    disk.read(&segment.name(), segment.len)?.read_to_end(&mut bytes)?;
    let names = disk.names()?;
    let name = (1..=u32::MAX).map(|number| format!("torn-{next:020}.{number}")).find(|name| !names.contains(name));
    let mut file = disk.create(&name.ok_or(io::ErrorKind::AlreadyExists)?)?;
    disk.append(&mut file, &bytes)?;
    disk.sync(&mut file)?;
    disk.sync_dir()
}

/// What the log is told about what was found, as the fields of records.
fn told(opened: &Opened, unfinished: Unfinished, at: Timestamp) -> Vec<Vec<u8>> {
    let events =
        [(RecoveryKind::TornTail, opened.torn_bytes), (RecoveryKind::UnfinishedIntents, opened.unfinished_intents)];
    let mut records: Vec<_> = events
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .filter_map(|(kind, count)| line::fields(&Record { at, event: Event::Recovery { kind, count } }))
        .collect();
    let mut unfinished: Vec<_> = unfinished.into_iter().collect();
    // One order, whatever the map's.
    unfinished.sort_unstable();
    records.extend(unfinished.iter().filter_map(|((begun, _), (intent, last))| match begun {
        Begun::Call => interrupted(last, *intent, at),
        Begun::Process => died(last, at),
    }));
    records
}

/// What an outcome says of who asked for what, in its order.
const ASKED: [&str; 10] =
    ["invocation", "capability", "version", "side_effect", "network", "session", "subject", "mode", "origin", "turn"];

/// The outcome of a call whose host ended before it did, from its last record. Without an intent no body that could leave
/// anything behind had begun.
fn interrupted(last: &[u8], intent: bool, at: Timestamp) -> Option<Vec<u8>> {
    let mut found: Map<String, Value> = serde_json::from_slice(last).ok()?;
    let mut text = again("outcome", &found, at);
    let mut tell = |key: &str, value: &Value| text += &format!(r#","{key}":{value}"#);
    let (stage, effect) = if intent { (Stage::Execute, Effect::Unknown) } else { (Stage::Policy, Effect::NotStarted) };
    tell("outcome", &OutcomeKind::Interrupted.as_str().into());
    tell("stage", &serde_json::to_value(stage).ok()?);
    tell("effect", &serde_json::to_value(effect).ok()?);
    for key in ["approval", "isolation", "deadline"] {
        if let Some(value) = found.remove(key) {
            tell(key, &value);
        }
    }
    Some((text + "}").into_bytes())
}

/// The end of a command in the background whose host was gone before it. Nobody saw it; the host's death was its own.
fn died(begun: &[u8], at: Timestamp) -> Option<Vec<u8>> {
    let found: Map<String, Value> = serde_json::from_slice(begun).ok()?;
    let began: Timestamp = found.get("at")?.as_str()?.parse().ok()?;
    let ran_ms = u64::try_from(at.since(began).as_millis()).unwrap_or(u64::MAX);
    let most = found.get("timeout_ms").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let text = again("process_ended", &found, at);
    // For no longer than until now, and for no longer than it might.
    let why = ProcessEnd::HostDied.as_str();
    Some(format!(r#"{text},"why":"{why}","ran_ms":{}}}"#, ran_ms.min(most)).into_bytes())
}

/// The beginning of an event about a call that another record is about, too.
fn again(event: &str, found: &Map<String, Value>, at: Timestamp) -> String {
    let asked = ASKED.iter().filter_map(|key| Some((key, found.get(*key)?)));
    let asked: String = asked.map(|(key, value)| format!(r#","{key}":{value}"#)).collect();
    format!(r#""at":"{at}","event":"{event}"{asked}"#)
}
