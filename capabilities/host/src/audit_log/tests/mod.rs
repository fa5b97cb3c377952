mod faults;
mod killed;
mod recovery;
mod report;
mod tamper;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use capability_core::Timestamp;
use capability_core::approval::ApprovalId;
use capability_core::audit::{Asked, Event, OutcomeKind, Receipt, Record, Sink, SinkFault};
use capability_core::executor::{Effect, Guarantees};
use capability_core::session::{Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
use capability_core::{Code, Stage};

use super::head::Head;
use super::medium::Medium;
use super::{AuditLog, head_path, log_path};

fn record(event: Event) -> Record {
    Record { at: Timestamp::from_micros(1_786_276_800_250_000), event }
}

fn expiry(number: u8) -> Record {
    record(Event::Expiry { approval: ApprovalId::from_bytes([number; 16]) })
}

fn asked(number: u8) -> Asked {
    Asked {
        invocation: format!("{number:032x}").parse().unwrap(),
        capability: None,
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
        duration_us,
        guarantees: None,
    })
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
    let (log, _) = AuditLog::open(dir).unwrap();
    let waiting: Vec<_> = records.into_iter().map(|record| log.submit(record)).collect();
    waiting.into_iter().map(|waiting| wait(waiting.durable()).unwrap()).collect()
}

fn put(dir: &Path, log: &[u8], head: Head) {
    std::fs::write(log_path(dir), log).unwrap();
    std::fs::write(head_path(dir), head.to_text()).unwrap();
}

/// A medium in memory that remembers every operation and fails at one of them.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Disk>>);

#[derive(Default)]
struct Disk {
    bytes: Vec<u8>,
    /// The length that was made durable last.
    synced: usize,
    /// Lengths at which a batch began.
    batches: Vec<usize>,
    heads: Vec<Head>,
    operations: usize,
    fails: Option<Fails>,
}

#[derive(Clone, Copy)]
struct Fails {
    /// Which operation, counted from 0.
    at: usize,
    kind: io::ErrorKind,
    /// How much of an append is written all the same.
    part: usize,
    /// Whether everything after it fails too.
    stays: bool,
}

impl Disk {
    fn step(&mut self) -> Option<Fails> {
        let now = self.operations;
        self.operations += 1;
        self.fails.filter(|fails| now == fails.at || (fails.stays && now > fails.at))
    }
}

impl Medium for Memory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        let begin = disk.bytes.len();
        if let Some(fails) = disk.step() {
            disk.bytes.extend_from_slice(&bytes[..fails.part.min(bytes.len())]);
            return Err(fails.kind.into());
        }
        disk.batches.push(begin);
        disk.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        match disk.step() {
            Some(fails) => Err(fails.kind.into()),
            None => {
                disk.synced = disk.bytes.len();
                Ok(())
            }
        }
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        match disk.step() {
            Some(fails) => Err(fails.kind.into()),
            None => {
                disk.bytes.truncate(usize::try_from(len).unwrap());
                Ok(())
            }
        }
    }

    fn point(&mut self, head: Head) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        match disk.step() {
            Some(fails) => Err(fails.kind.into()),
            None => {
                assert_eq!(disk.synced, disk.bytes.len(), "the head is never ahead of the log");
                disk.heads.push(head);
                Ok(())
            }
        }
    }

    fn sync_head(&mut self) -> io::Result<()> {
        match self.0.lock().unwrap().step() {
            Some(fails) => Err(fails.kind.into()),
            None => Ok(()),
        }
    }
}
