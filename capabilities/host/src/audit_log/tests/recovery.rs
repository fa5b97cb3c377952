//! What a crash leaves, and what becomes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use capability_core::audit::OutcomeKind;

use super::super::committer::Committer;
use super::super::head::Head;
use super::super::scan::{End, Scan, scan};
use super::super::{AuditLog, Finding, Opened, head_path, log_path, tail, verify};
use super::{Memory, expiry, intent, outcome, put, submit, wait, written};

/// A log in memory that was written in batches of several sizes: its bytes, and the length and head after each batch.
fn batches() -> (Vec<u8>, Vec<(usize, Head)>) {
    let memory = Memory::default();
    let mut committer = Committer::new(memory.clone(), Head::EMPTY, 0);
    let mut ends = vec![(0, Head::EMPTY)];
    for size in [1, 3, 1, 7, 2, 12] {
        let fields: Vec<_> = (0..size).map(|number| super::super::line::fields(&intent(number)).unwrap()).collect();
        use super::super::medium::Medium;
        committer.commit(fields.iter().map(Vec::as_slice)).unwrap();
        committer.point().unwrap();
        let disk = memory.0.lock().unwrap();
        ends.push((disk.bytes.len(), *disk.heads.last().unwrap()));
        drop(disk);
        let _ = memory.clone().sync_head();
    }
    let bytes = memory.0.lock().unwrap().bytes.clone();
    (bytes, ends)
}

fn holds(bytes: &[u8], head: Head, acked: u64, told: &str) -> Scan {
    let found = scan(bytes, head).unwrap();
    assert!(!matches!(found.end, End::Tampered { .. }), "{told}: {:?}", found.end);
    assert!(found.records >= acked, "{told}: {} of {acked}", found.records);
    found
}

/// Every prefix of what was ever written, with every head that can stand beside it: nothing acknowledged is lost, and
/// nothing is refused.
#[test]
fn every_prefix_opens() {
    let (bytes, ends) = batches();
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    drop(AuditLog::open(&audit).unwrap());
    for cut in 0..=bytes.len() {
        let whole: Vec<_> = ends.iter().filter(|(end, _)| *end <= cut).collect();
        let acked = whole.last().unwrap().1;
        // The head is behind by as much as was not yet written back.
        for (_, head) in whole.iter().rev().take(2).chain(whole.first()) {
            holds(&bytes[..cut], *head, acked.seq, &format!("cut at {cut}"));
        }
        if cut % 97 == 0 {
            put(&audit, &bytes[..cut], acked);
            let (log, opened) = AuditLog::open(&audit).unwrap();
            assert!(opened.records >= acked.seq);
            let receipt = submit(&log, expiry(1)).unwrap();
            drop(log);
            let report = verify(&audit).unwrap();
            assert_eq!(
                (report.finding.clone(), report.last),
                (Finding::Clean, Some(receipt)),
                "cut at {cut}: {report}"
            );
        }
    }
}

/// Sectors of the last batch that were never written, in any combination, with any length of the file.
#[test]
fn lost_sectors_open() {
    let (bytes, ends) = batches();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 8).unwrap_or(0)
    };
    let mut torn = 0;
    for run in 0..5000 {
        let last = 1 + next() % (ends.len() - 1);
        let ((begin, head), (end, _)) = (ends[last - 1], ends[last]);
        let mut image = bytes[..end].to_vec();
        let lost = next();
        for (at, sector) in (begin / 512..=end / 512).enumerate() {
            if lost >> (at % 48) & 1 == 1 {
                let from = (sector * 512).max(begin);
                let to = ((sector + 1) * 512).min(end);
                image[from..to].fill(0);
            }
        }
        // The length is what was reached, at a sector's end or at the batch's.
        let len = (begin / 512 + 1 + next() % (end / 512 - begin / 512 + 1)) * 512;
        image.truncate(len.clamp(begin, end));
        let found = holds(&image, head, head.seq, &format!("run {run}, batch {last}"));
        torn += u32::from(found.end != End::Clean);
    }
    assert!(torn > 1000, "{torn}");
}

#[test]
fn a_torn_tail_is_cut_off_and_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let receipts = written(&audit, [expiry(1), expiry(2)]);
    let mut bytes = fs::read(log_path(&audit)).unwrap();
    bytes.extend_from_slice(br#"{"seq":3,"prev":"#);
    fs::write(log_path(&audit), &bytes).unwrap();
    let report = verify(&audit).unwrap();
    assert_eq!((report.exit_code(), report.last), (2, receipts.last().copied()));
    let (log, opened) = AuditLog::open(&audit).unwrap();
    assert_eq!(opened, Opened { records: 2, torn_bytes: 16, unfinished_intents: 0 });
    drop(log);
    let lines = tail(&audit, 9).unwrap();
    assert_eq!(lines.len(), 3);
    assert!(lines[2].contains(r#""event":"recovery","kind":"torn_tail","count":1"#), "{}", lines[2]);
    assert_eq!(verify(&audit).unwrap().exit_code(), 0);
    // Once it is put right there is nothing to report.
    assert_eq!(AuditLog::open(&audit).unwrap().1, Opened { records: 3, torn_bytes: 0, unfinished_intents: 0 });
}

#[test]
fn intents_without_an_outcome_are_reported_once() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let done = |number| outcome(number, OutcomeKind::Executed, None, 5);
    written(&audit, [intent(1), intent(2), done(1), intent(3), done(4)]);
    let (log, opened) = AuditLog::open(&audit).unwrap();
    assert_eq!(opened.unfinished_intents, 2);
    submit(&log, intent(5)).unwrap();
    drop(log);
    assert!(tail(&audit, 2).unwrap()[0].contains(r#""kind":"unfinished_intents","count":2"#));
    assert_eq!(AuditLog::open(&audit).unwrap().1.unfinished_intents, 1);
    assert_eq!(AuditLog::open(&audit).unwrap().1.unfinished_intents, 0);
    assert_eq!(verify(&audit).unwrap().exit_code(), 0);
}

#[test]
fn everything_is_private() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    written(&audit, [expiry(1)]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&audit), mode(&log_path(&audit)), mode(&head_path(&audit))), (0o700, 0o600, 0o600));
    fs::set_permissions(&audit, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(AuditLog::open(&audit).unwrap_err().to_string().contains("chmod 0700"));
}

/// Dropping the log writes what was submitted, waited for or not.
#[test]
fn closing_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let (log, _) = AuditLog::open(&audit).unwrap();
    use capability_core::audit::Sink;
    let mut submitted: Vec<_> = (0..100).map(|number| log.submit(expiry(number))).collect();
    let last = submitted.pop().unwrap();
    drop(log);
    assert_eq!(wait(last.durable()).unwrap().seq, 100);
    assert_eq!(verify(&audit).unwrap().records, 100);
}
