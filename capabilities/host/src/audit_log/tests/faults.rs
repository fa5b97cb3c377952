//! Every operation fails once, in every way.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use capability_core::audit::{Receipt, Sink, SinkFault};

use super::super::committer::Options;
use super::super::disk::Disk;
use super::super::recovery::open;
use super::super::scan::End;
use super::super::state::State;
use super::super::{AuditLog, verify};
use super::sim::{Fails, Sim};
use super::{SMALL, at, ended, expiry, fresh, intent, key, lines, opened, scanned, started, submit, wait};

/// Checkpoints when the log is closed and never before, so that every run has the same operations in the same order.
const QUIET: Options = Options { checkpoint_every: Duration::from_secs(3600), ..SMALL };

#[test]
fn the_first_fault_is_the_last_write() {
    // One run without a fault shows how many operations there are.
    let calm = run(None);
    assert!(calm > 40, "{calm}");
    for kind in [ErrorKind::StorageFull, ErrorKind::Other, ErrorKind::WriteZero] {
        for stays in [true, false] {
            for part in [0, 100, usize::MAX] {
                for at in 0..calm {
                    run(Some(Fails { at, kind, part, stays }));
                }
            }
        }
    }
}

/// Writes records one by one until one is refused, through rotations, and tells how many operations that took.
fn run(fails: Option<Fails>) -> usize {
    let sim = fresh();
    let told = format!("{fails:?}");
    let before = sim.operations();
    sim.fail(fails.map(|fails| Fails { at: fails.at + before, ..fails }));
    let Ok(log) = started(&sim, QUIET) else {
        assert!(fails.is_some_and(|fails| fails.at < 4), "{told}");
        return 0;
    };
    // Outcomes of what runs, which are taken even when room is short.
    let answers: Vec<Result<Receipt, SinkFault>> = (0..16).map(|number| submit(&log, ended(number))).collect();
    let acked = answers.iter().take_while(|answer| answer.is_ok()).count();
    // After the first refusal there is nothing but refusals, at once.
    assert!(answers[acked..].iter().all(Result::is_err), "{told}");
    if acked < answers.len() {
        assert!(log.is_poisoned() && log.submit(ended(9)).is_refused(), "{told}");
    }
    drop(log);
    let operations = sim.operations() - before;
    if let Some(Fails { at, .. }) = fails
        && sim.done().get(before + at) == Some(&"sync")
    {
        // What the disk holds after a failed sync is unknown: nothing more is done to it.
        assert_eq!(operations, at + 1, "{told}");
    }
    sim.fail(None);
    let found = scanned(&sim);
    assert!(matches!(found.end, End::Clean | End::Torn { .. }), "{told}: {:?}", found.end);
    let records = lines(&sim.image()).iter().filter(|line| line.contains("outcome")).count();
    assert!(records >= acked && records <= acked + 1, "{told}: {records}, {acked}");
    if fails.is_some_and(|fails| !fails.stays) {
        // The part that was written is taken back where that is possible.
        assert_eq!(found.end, End::Clean, "{told}");
    }
    // The next start finds everything, and goes on.
    let (_, reopened) = opened(&sim, QUIET).unwrap();
    assert!(reopened.records >= acked as u64, "{told}");
    assert_eq!(scanned(&sim).end, End::Clean, "{told}");
    operations
}

#[test]
fn a_checkpoint_that_cannot_be_written_shuts_the_log() {
    for at in 0..5 {
        for kind in [ErrorKind::Other, ErrorKind::StorageFull] {
            let sim = fresh();
            let log = started(&sim, Options { checkpoint_every: Duration::from_millis(5), ..SMALL }).unwrap();
            // The record's own operations first: room was reserved when the log was opened.
            sim.fail(Some(Fails { at: sim.operations() + 2 + at, kind, part: 0, stays: true }));
            assert!(submit(&log, expiry(1)).is_ok());
            let shut = || if kind == ErrorKind::Other { log.is_poisoned() } else { log.is_short() };
            let begun = Instant::now();
            while !shut() {
                assert!(begun.elapsed() < Duration::from_secs(30), "{kind:?} at {at}");
                std::thread::sleep(Duration::from_millis(1));
            }
            // Without room for a checkpoint nothing begins, and nothing is broken.
            assert!(log.submit(intent(1)).is_refused());
            assert_eq!(log.is_poisoned(), kind == ErrorKind::Other);
            sim.fail(None);
            if kind == ErrorKind::StorageFull {
                while log.is_short() {
                    assert!(begun.elapsed() < Duration::from_secs(60));
                    std::thread::sleep(Duration::from_millis(5));
                }
                assert!(submit(&log, intent(1)).is_ok());
            }
        }
    }
}

/// A disk that fills up is noticed while what runs can still be recorded: calls are refused first.
#[test]
fn a_disk_that_fills_up_refuses_the_next_call_and_records_what_runs() {
    let sim = fresh();
    let log = started(&sim, Options { checkpoint_every: Duration::from_millis(50), ..SMALL }).unwrap();
    let mut begun = vec![];
    for number in 0..4 {
        submit(&log, intent(number)).unwrap();
        begun.push(number);
    }
    sim.set_room(Some(0));
    // What is reserved is used up until little is left; then nothing begins.
    let refused = (4..200).find(|number| {
        let answer = submit(&log, intent(*number));
        answer.is_ok().then(|| begun.push(*number));
        answer.is_err()
    });
    assert!(refused.is_some() && log.is_short() && !log.is_poisoned());
    assert!(log.submit(expiry(1)).is_refused());
    for number in begun.iter().take(3) {
        submit(&log, ended(*number)).unwrap();
    }
    assert!(log.is_short() && log.submit(intent(201)).is_refused());
    // Room that comes back is noticed without a restart.
    sim.set_room(None);
    let since = Instant::now();
    while log.is_short() {
        assert!(since.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    submit(&log, intent(201)).unwrap();
    drop(log);
    assert_eq!(scanned(&sim).end, End::Clean);
}

#[test]
fn submissions_are_answered_in_their_order() {
    let sim = fresh();
    let log = started(&sim, Options { segment_bytes: 1 << 20, ..QUIET }).unwrap();
    let waiting: Vec<_> = (0..200).map(|number| log.submit(expiry(number))).collect();
    let seqs: Vec<_> = waiting.into_iter().map(|waiting| wait(waiting.durable()).unwrap().seq).collect();
    assert_eq!(seqs, (1..=200).collect::<Vec<_>>());
    drop(log);
    let found = scanned(&sim);
    assert_eq!((found.records(), found.proved.0), (200, 200));
    // What queued up went out together.
    let batches = sim.done().iter().filter(|done| **done == "append").count();
    assert!(batches < 150, "{batches} batches");
}

/// A disk that stands still: submitting neither blocks nor fills the memory, and what was taken is written once it moves.
#[test]
fn a_disk_that_stands_still() {
    struct Gated(Sim, Arc<Mutex<()>>);
    impl Disk for Gated {
        type File = usize;
        fn names(&self) -> std::io::Result<Vec<String>> {
            self.0.names()
        }
        fn read(&self, name: &str, from: u64) -> std::io::Result<Box<dyn std::io::Read + Send>> {
            self.0.read(name, from)
        }
        fn len(&self, name: &str) -> std::io::Result<u64> {
            Disk::len(&self.0, name)
        }
        fn open(&self, name: &str) -> std::io::Result<usize> {
            self.0.open(name)
        }
        fn create(&self, name: &str) -> std::io::Result<usize> {
            self.0.create(name)
        }
        fn append(&self, file: &mut usize, bytes: &[u8]) -> std::io::Result<()> {
            drop(self.1.lock().unwrap());
            self.0.append(file, bytes)
        }
        fn sync(&self, file: &mut usize) -> std::io::Result<()> {
            self.0.sync(file)
        }
        fn cut(&self, file: &mut usize, len: u64) -> std::io::Result<()> {
            self.0.cut(file, len)
        }
        fn reserve(&self, file: &mut usize, len: u64, more: u64) -> std::io::Result<()> {
            self.0.reserve(file, len, more)
        }
        fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
            self.0.rename(from, to)
        }
        fn remove(&self, name: &str) -> std::io::Result<()> {
            self.0.remove(name)
        }
        fn sync_dir(&self) -> std::io::Result<()> {
            self.0.sync_dir()
        }
    }

    let (sim, gate) = (fresh(), Arc::new(Mutex::new(())));
    let disk = Arc::new(Gated(sim, Arc::clone(&gate)));
    let state = Arc::new(State::default());
    let options = Options { segment_bytes: 1 << 30, ..QUIET };
    let (committer, _) = open(&disk, key(), options, &state, at()).unwrap();
    let closed = gate.lock().unwrap();
    let log = AuditLog::start(committer, disk, Arc::clone(key()), state).unwrap();
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

/// A real disk that is full: a small file system in memory, where one can be had.
#[test]
fn a_file_system_without_room_refuses_calls_and_breaks_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=256k,mode=0700", "none"])
        .arg(dir.path())
        .stderr(std::process::Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        // Without the right to mount, `what_ran_without_a_record_is_withheld_and_nothing_runs_after_it` shows a real limit.
        return;
    }
    struct Unmount<'a>(&'a std::path::Path);
    impl Drop for Unmount<'_> {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg(self.0).status();
        }
    }
    let _unmount = Unmount(dir.path());
    let audit = dir.path().join("audit");
    let options = Options { ahead: 48 * 1024, low: 16 * 1024, segment_bytes: 64 * 1024, ..SMALL };
    let (log, _) = AuditLog::open_with(&audit, options).unwrap();
    let mut begun = Vec::new();
    let refused = (0..4000_u32).find(|number| {
        let call = (number % 250) as u8;
        let answer = submit(&log, intent(call));
        answer.is_ok().then(|| begun.push(call));
        answer.is_err()
    });
    assert!(refused.is_some() && log.is_short() && !log.is_poisoned(), "{refused:?}");
    for call in begun.iter().rev().take(8) {
        submit(&log, ended(*call)).unwrap();
    }
    assert!(!log.is_poisoned() && log.submit(intent(1)).is_refused());
    drop(log);
    let report = verify(&audit).unwrap();
    assert!(matches!(report.exit_code(), 0 | 3), "{report}");
}
