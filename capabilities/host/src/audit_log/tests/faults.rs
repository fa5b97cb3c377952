//! Every operation fails once, in every way.

use std::io::ErrorKind;

use capability_core::audit::{Receipt, Sink, SinkFault};

use super::super::committer::Committer;
use super::super::head::Head;
use super::super::scan::{End, scan};
use super::super::{AuditLog, Opened};
use super::{Fails, Memory, expiry, submit, wait};

const FRESH: Opened = Opened { records: 0, torn_bytes: 0, unfinished_intents: 0 };

#[test]
fn the_first_fault_is_the_last_write() {
    for kind in [ErrorKind::StorageFull, ErrorKind::Other, ErrorKind::WriteZero] {
        for stays in [true, false] {
            for part in [0, 1, 100, usize::MAX] {
                for at in 0..24 {
                    one(Fails { at, kind, part, stays });
                }
            }
        }
    }
}

fn one(fails: Fails) {
    let memory = Memory::default();
    memory.0.lock().unwrap().fails = Some(fails);
    let told = format!("{:?} at {} part {} stays {}", fails.kind, fails.at, fails.part, fails.stays);
    let Ok(log) = AuditLog::recover(memory.clone(), Head::EMPTY, 0, &FRESH) else {
        assert!(fails.at < 3, "{told}");
        return;
    };
    let answers: Vec<Result<Receipt, SinkFault>> = (0..8).map(|number| submit(&log, expiry(number))).collect();
    let acked = answers.iter().take_while(|answer| answer.is_ok()).count();
    // After the first refusal there is nothing but refusals, at once.
    assert!(answers[acked..].iter().all(Result::is_err), "{told}");
    if acked < answers.len() {
        assert!(log.is_poisoned() && log.submit(expiry(9)).is_refused(), "{told}");
    }
    drop(log);
    let disk = memory.0.lock().unwrap();
    let head = disk.heads.last().copied().unwrap_or(Head::EMPTY);
    let found = scan(disk.bytes.as_slice(), head).unwrap();
    assert!(matches!(found.end, End::Clean | End::Torn { .. }), "{told}: {:?}", found.end);
    let acked = acked as u64;
    assert!(found.records >= acked && found.records <= acked + 1, "{told}");
    if !fails.stays {
        // The part that was written is taken back where that is possible.
        assert_eq!(found.end, End::Clean, "{told}");
    }
    if let Some(Ok(last)) = answers.iter().take_while(|answer| answer.is_ok()).last()
        && found.records == acked
    {
        assert_eq!(last.hash, Some(found.last), "{told}");
    }
}

#[test]
fn submissions_are_answered_in_their_order() {
    let memory = Memory::default();
    let log = AuditLog::start(Committer::new(memory.clone(), Head::EMPTY, 0)).unwrap();
    let waiting: Vec<_> = (0..200).map(|number| log.submit(expiry(number))).collect();
    let seqs: Vec<_> = waiting.into_iter().map(|waiting| wait(waiting.durable()).unwrap().seq).collect();
    assert_eq!(seqs, (1..=200).collect::<Vec<_>>());
    drop(log);
    let disk = memory.0.lock().unwrap();
    assert_eq!(scan(disk.bytes.as_slice(), *disk.heads.last().unwrap()).unwrap().records, 200);
    // What queued up went out together.
    assert!(disk.batches.len() < 150, "{} batches", disk.batches.len());
}

/// A disk that stands still: submitting neither blocks nor fills the memory, and what was taken is written once it moves.
#[test]
fn a_disk_that_stands_still() {
    use super::super::medium::Medium;
    use std::sync::{Arc, Mutex};

    struct Gated(Memory, Arc<Mutex<()>>);
    impl Medium for Gated {
        fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
            drop(self.1.lock().unwrap());
            self.0.append(bytes)
        }
        fn sync(&mut self) -> std::io::Result<()> {
            self.0.sync()
        }
        fn cut(&mut self, len: u64) -> std::io::Result<()> {
            self.0.cut(len)
        }
        fn point(&mut self, head: Head) -> std::io::Result<()> {
            self.0.point(head)
        }
        fn sync_head(&mut self) -> std::io::Result<()> {
            self.0.sync_head()
        }
    }

    let (memory, gate) = (Memory::default(), Arc::new(Mutex::new(())));
    let closed = gate.lock().unwrap();
    let medium = Gated(memory.clone(), Arc::clone(&gate));
    let log = AuditLog::start(Committer::new(medium, Head::EMPTY, 0)).unwrap();
    let waiting: Vec<_> = (0..20_000).map(|_| log.submit(expiry(1))).collect();
    let refused = waiting.iter().filter(|waiting| waiting.is_refused()).count();
    assert!(refused > 1000 && refused < 4000, "{refused}");
    drop(closed);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let written = waiting.into_iter().filter(|waiting| !waiting.is_refused());
    let last = written.map(|waiting| runtime.block_on(waiting.durable()).unwrap().seq).max();
    assert_eq!(last, Some(20_000 - refused as u64));
    assert!(!log.is_poisoned());
    assert!(submit(&log, expiry(2)).is_ok());
}
