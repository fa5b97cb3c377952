use capability_core::Code;
use capability_core::audit::OutcomeKind;

use super::super::{AuditLog, Durations, log_path, stats, tail, verify};
use super::{expiry, intent, outcome, submit, written};

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
    assert_eq!(stats.capabilities["not resolved"].outcomes["rejected"], 1);
}

/// A log that is being written is never called torn or tampered.
#[test]
fn verifying_while_writing_raises_no_alarm() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let (log, _) = AuditLog::open(&audit).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in (0..=u8::MAX).cycle().take(600) {
                submit(&log, expiry(number)).unwrap();
            }
        });
        while !writer.is_finished() {
            let report = verify(&audit).unwrap();
            assert_eq!(report.exit_code(), 0, "{report}");
        }
    });
}
