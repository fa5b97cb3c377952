mod crash;
mod faults;
mod killed;
mod recovery;
mod report;
mod rotation;
mod sim;
mod tamper;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use capability_core::Timestamp;
use capability_core::approval::ApprovalId;
use capability_core::audit::{Asked, Event, OutcomeKind, Receipt, Record, Sink, SinkFault};
use capability_core::executor::{Effect, Guarantees};
use capability_core::session::{Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::{Code, Stage};

use super::anchor::Anchorer;
use super::checkpoint::Checkpoint;
use super::committer::{Committer, Options};
use super::key::LogKey;
use super::line;
use super::recovery::{Refused, begin, open, read_checkpoint};
use super::scan::Scanner;
use super::state::State;
use super::{AuditLog, Opened, segment};
use sim::{Image, Sim};

/// Tomorrow, so that no real clock makes a log with these records begin a new segment.
fn at() -> Timestamp {
    static AT: OnceLock<Timestamp> = OnceLock::new();
    *AT.get_or_init(|| crate::environment::now().after(Duration::from_secs(86_400)))
}

/// Segments of a few records.
const SMALL: Options =
    Options { segment_bytes: 2048, ahead: 8192, low: 1024, checkpoint_every: Duration::from_millis(20) };

fn record(event: Event) -> Record {
    Record { at: at(), event }
}

fn expiry(number: u8) -> Record {
    record(Event::Expiry { approval: ApprovalId::from_bytes([number; 16]) })
}

fn asked(number: u8) -> Asked {
    Asked {
        invocation: format!("{number:032x}").parse().unwrap(),
        capability: None,
        provided: None,
        identity: Arc::new(SessionIdentity {
            id: SessionId::from_bytes([3; 16]),
            subject: Subject::local(),
            mode: Mode::Live,
            origin: Origin::Model,
            turn: TurnId(1),
        }),
    }
}

fn intent(number: u8) -> Record {
    record(Event::Intent { asked: asked(number), approval: None, guarantees: Guarantees::NONE })
}

fn outcome(number: u8, outcome: OutcomeKind, code: Option<Code>, duration_us: u64) -> Record {
    record(Event::Outcome {
        asked: asked(number),
        outcome,
        stage: code.map_or(Stage::Execute, Code::stage),
        code,
        place: None,
        effect: Effect::Completed,
        approval: None,
        result_bytes: None,
        provider_failed: false,
        duration_us,
        guarantees: None,
    })
}

/// An outcome of what ran.
fn ended(number: u8) -> Record {
    let mut record = outcome(number, OutcomeKind::Executed, None, 7);
    if let Event::Outcome { guarantees, .. } = &mut record.event {
        *guarantees = Some(Guarantees::NONE);
    }
    record
}

/// Waits for receipts outside any runtime.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn submit(log: &AuditLog, record: Record) -> Result<Receipt, SinkFault> {
    wait(log.submit(record).durable())
}

/// A log on disk with these records, closed.
fn written(dir: &Path, records: impl IntoIterator<Item = Record>) -> Vec<Receipt> {
    written_with(dir, Options::default(), records)
}

fn written_with(dir: &Path, options: Options, records: impl IntoIterator<Item = Record>) -> Vec<Receipt> {
    let (log, _) = AuditLog::open_with(dir, options).unwrap();
    let waiting: Vec<_> = records.into_iter().map(|record| log.submit(record)).collect();
    waiting.into_iter().map(|waiting| wait(waiting.durable()).unwrap()).collect()
}

/// The file of a log that has one segment.
fn log_path(dir: &Path) -> PathBuf {
    dir.join(segment::name(1))
}

fn checkpoint_path(dir: &Path) -> PathBuf {
    dir.join(segment::CHECKPOINT)
}

/// The segments of a log, oldest first.
fn segments(dir: &Path) -> Vec<PathBuf> {
    let listed = segment::list(&super::Directory::new(dir)).unwrap();
    listed.iter().map(|segment| dir.join(segment.name())).collect()
}

/// One key for all logs in memory.
fn key() -> &'static Arc<LogKey> {
    static KEY: OnceLock<Arc<LogKey>> = OnceLock::new();
    KEY.get_or_init(|| Arc::new(LogKey::generate().unwrap()))
}

/// A log without records, in memory.
fn fresh() -> Sim {
    let sim = Sim::default();
    begin(&Arc::new(sim.clone()), Arc::clone(key())).unwrap();
    sim
}

fn opened(sim: &Sim, options: Options) -> Result<(Committer<Sim>, Opened), Refused> {
    open(&Arc::new(sim.clone()), key(), options, &Arc::new(State::default()), at())
}

/// A log in memory with its threads.
fn started(sim: &Sim, options: Options) -> Result<AuditLog, Refused> {
    let state = Arc::new(State::default());
    let disk = Arc::new(sim.clone());
    let (committer, _) = open(&disk, key(), options, &state, at())?;
    Ok(AuditLog::start(committer, disk, Arc::clone(key()), state)?)
}

fn fields(records: &[Record]) -> Vec<Vec<u8>> {
    records.iter().map(|record| line::fields(record).unwrap()).collect()
}

fn commit(committer: &mut Committer<Sim>, records: &[Record]) -> std::io::Result<Vec<Receipt>> {
    committer.commit(fields(records).iter().map(Vec::as_slice), at())
}

/// Reads a log in memory under its checkpoint.
fn scanned(sim: &Sim) -> Scanner {
    let mut scanner = Scanner::new(checkpoint(sim));
    scanner.advance(sim, &segment::list(sim).unwrap(), None).unwrap();
    scanner
}

fn checkpoint(sim: &Sim) -> Checkpoint {
    read_checkpoint(sim, key().verifier()).unwrap().unwrap()
}

/// Every line of all segments.
fn lines(image: &Image) -> Vec<String> {
    let segments = image.iter().filter(|(name, _)| name.starts_with("seg-"));
    let text: String = segments.map(|(_, bytes)| String::from_utf8(bytes.clone()).unwrap()).collect();
    text.lines().map(str::to_owned).collect()
}
