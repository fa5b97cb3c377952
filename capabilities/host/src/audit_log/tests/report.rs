use capability_core::Code;
use capability_core::audit::OutcomeKind;

use super::super::{AuditLog, Durations, Expected, Finding, stats, tail, verify, verify_against};
use super::{SMALL, at, expiry, intent, log_path, outcome, segments, submit, written};

#[test]
fn tail_gives_whole_lines() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    assert!(tail(&audit, 1).unwrap_err().to_string().contains("help: a host makes it"));
    written(&audit, []);
    assert!(tail(&audit, 3).unwrap().is_empty());
    // More than is read at a time.
    let receipts = written(&audit, (0..=u8::MAX).cycle().take(800).map(expiry));
    assert!(std::fs::metadata(log_path(&audit)).unwrap().len() > 2 * 64 * 1024);
    for count in [0, 1, 2, 300, 500, 799, 800, 900] {
        let lines = tail(&audit, count).unwrap();
        assert_eq!(lines.len(), count.min(800));
        assert!(lines.first().is_none_or(|line| line.starts_with(&format!("{{\"seq\":{},", 801 - lines.len()))));
    }
    assert_eq!(receipts.last().unwrap().seq, 800);
    std::fs::OpenOptions::new()
        .append(true)
        .open(log_path(&audit))
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"{\"seq\":801"))
        .unwrap();
    assert!(tail(&audit, 1).unwrap()[0].starts_with("{\"seq\":800,"));
}

#[test]
fn stats_count_what_happened() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let mut records = vec![expiry(1), intent(1)];
    records.extend((1..=100).map(|number| outcome(number, OutcomeKind::Executed, None, u64::from(number))));
    records.push(outcome(101, OutcomeKind::Rejected, Some(Code::UnknownCapability), 1000));
    records.push(outcome(102, OutcomeKind::Rejected, Some(Code::ModeRefused), 1000));
    written(&audit, records);
    let stats = stats(&audit).unwrap();
    assert_eq!((stats.records, stats.events["outcome"], stats.events["expiry"]), (104, 102, 1));
    assert_eq!((stats.outcomes["executed"], stats.outcomes["rejected"]), (100, 2));
    assert_eq!((stats.rejected["resolve"], stats.rejected["entry"]), (1, 1));
    assert_eq!((stats.codes["unknown_capability"], stats.codes["mode_refused"]), (1, 1));
    assert_eq!(stats.durations, Durations { p50_us: Some(51), p95_us: Some(97) });
    assert_eq!(stats.capabilities["unknown"].outcomes["rejected"], 1);
    assert_eq!((stats.capabilities["unknown"].asked, stats.capabilities["unknown"].rejected["resolve"]), (1, 1));
    assert_eq!(stats.capabilities["not resolved"].outcomes["rejected"], 1);
}

/// A log that is being written, through rotations, is never called torn, tampered or unanchored.
#[test]
fn verifying_while_writing_raises_no_alarm() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let (log, _) = AuditLog::open_with(&audit, super::super::Options { segment_bytes: 16 * 1024, ..SMALL }).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in (0..=u8::MAX).cycle().take(600) {
                submit(&log, expiry(number)).unwrap();
            }
        });
        let mut looks = 0;
        while !writer.is_finished() {
            let report = verify(&audit).unwrap();
            assert_eq!(report.exit_code(), 0, "{report}");
            assert_eq!(report.anchored.0, report.records);
            looks += 1;
        }
        assert!(looks > 1);
    });
    assert!(segments(&audit).len() > 4);
}

#[test]
fn a_report_says_how_far_it_is_anchored_and_by_which_key() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let receipts = written(&audit, (1..=3).map(expiry));
    let key = AuditLog::open(&audit).unwrap().0.verifier_key().clone();
    let report = verify(&audit).unwrap();
    let text = report.to_string();
    assert!(text.contains(&format!("anchored to record 3 of {}, 0 records unanchored", at())), "{text}");
    assert!(text.ends_with(&format!("verifier key: {key}")), "{text}");
    // Records that a killed host left without a checkpoint hold by their chain alone.
    let note = std::fs::read(super::checkpoint_path(&audit)).unwrap();
    written(&audit, [expiry(4), expiry(5)]);
    std::fs::write(super::checkpoint_path(&audit), &note).unwrap();
    let report = verify(&audit).unwrap();
    assert_eq!((report.exit_code(), report.finding.clone()), (3, Finding::Unanchored { records: 2 }));
    let text = report.to_string();
    assert!(text.contains(&format!("anchored to record 3 of {}, 2 records unanchored", at())), "{text}");
    assert!(text.contains("\nhelp: start the host"), "{text}");
    drop(AuditLog::open(&audit).unwrap());
    assert_eq!(verify(&audit).unwrap().exit_code(), 0);
    // The key that somebody kept decides, not the one that lies there.
    let other = tempfile::tempdir().unwrap();
    let stranger = AuditLog::open(&other.path().join("audit")).unwrap().0.verifier_key().clone();
    let against = |key, receipt| verify_against(&audit, &Expected { key, receipt }).unwrap();
    assert_eq!(against(Some(key), None).exit_code(), 0);
    assert_eq!(against(Some(stranger), None).exit_code(), 1);
    // Receipts tell whether a record is in this log.
    for receipt in &receipts {
        let report = against(None, Some(*receipt));
        assert_eq!((report.receipt, report.exit_code()), (Some(true), 0));
        let elsewhere = capability_core::audit::Receipt { seq: receipt.seq % 3 + 1, ..*receipt };
        let report = against(None, Some(elsewhere));
        assert_eq!((report.receipt, report.exit_code(), report.finding.clone()), (Some(false), 1, Finding::Clean));
        assert!(report.to_string().contains("not in the log"), "{report}");
    }
    let late = capability_core::audit::Receipt { seq: 99, ..receipts[0] };
    assert_eq!(against(None, Some(late)).exit_code(), 1);
}
