//! What a crash leaves, and what becomes of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use capability_core::audit::{Event, OutcomeKind};
use capability_core::handle::ProcessEnd;

use super::super::scan::End;
use super::super::segment::{self, CHECKPOINT};
use super::super::{AuditLog, AuditLogError, Finding, Opened, key_path, tail, verify};
use super::sim::Sim;
use super::{
    SMALL, asked, checkpoint_path, commit, expiry, fresh, intent, log_path, opened, outcome, record, scanned, submit,
    wait, written,
};

/// Every prefix of what was ever written, with every checkpoint that can stand beside it: nothing acknowledged is lost, and
/// nothing is refused.
#[test]
fn every_prefix_opens() {
    let sim = fresh();
    let options = super::super::Options { segment_bytes: 1 << 20, ..SMALL };
    let (mut log, _) = opened(&sim, options).unwrap();
    let mut ends = vec![(0, 0, sim.image()[CHECKPOINT].clone())];
    for size in [1, 3, 1, 7, 2] {
        let records: Vec<_> = (0..size).map(|number| outcome(number, OutcomeKind::Pending, None, 1)).collect();
        let last = commit(&mut log, &records).unwrap().pop().unwrap();
        let checkpoint = log.unanchored().unwrap();
        super::Anchorer::new(std::sync::Arc::new(sim.clone()), std::sync::Arc::clone(super::key()))
            .write(checkpoint)
            .unwrap();
        log.anchored(checkpoint);
        let image = sim.image();
        ends.push((image[&segment::name(1)].len(), last.seq, image[CHECKPOINT].clone()));
    }
    let image = sim.image();
    let bytes = &image[&segment::name(1)];
    for cut in 0..=bytes.len() {
        let whole: Vec<_> = ends.iter().filter(|(end, ..)| *end <= cut).collect();
        let acked = whole.last().unwrap().1;
        // The checkpoint is behind by as much as was not yet signed.
        for (_, _, note) in whole.iter().rev().take(2).chain(whole.first()) {
            let mut image = image.clone();
            image.insert(segment::name(1), bytes[..cut].to_vec());
            image.insert(CHECKPOINT.to_owned(), note.clone());
            let sim = Sim::of(&image);
            let found = scanned(&sim);
            assert!(!matches!(found.end, End::Tampered { .. }), "cut at {cut}: {:?}", found.end);
            assert!(found.records() >= acked, "cut at {cut}: {} of {acked}", found.records());
            if cut % 31 == 0 {
                let (mut log, opened) = opened(&sim, options).unwrap();
                assert!(opened.records >= acked);
                let receipt = commit(&mut log, &[expiry(1)]).unwrap()[0];
                assert_eq!((scanned(&sim).end, scanned(&sim).records()), (End::Clean, receipt.seq), "cut at {cut}");
            }
        }
    }
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
    assert!(lines[2].contains(r#""event":"recovery","kind":"torn_tail","count":16"#), "{}", lines[2]);
    // What was cut off lies beside it, for whoever wants to look.
    let aside = audit.join("torn-00000000000000000003.1");
    assert_eq!(fs::read(&aside).unwrap(), br#"{"seq":3,"prev":"#);
    assert_eq!(fs::metadata(&aside).unwrap().permissions().mode() & 0o7777, 0o600);
    assert_eq!(verify(&audit).unwrap().exit_code(), 0);
    // Once it is put right there is nothing to report.
    assert_eq!(AuditLog::open(&audit).unwrap().1, Opened { records: 3, torn_bytes: 0, unfinished_intents: 0 });
}

/// A call that a killed host left open has an outcome from the next start on, and one only.
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
    let lines = tail(&audit, 4).unwrap();
    assert!(lines[0].contains(r#""kind":"unfinished_intents","count":2"#), "{}", lines[0]);
    for (line, number) in lines[1..3].iter().zip([2, 3]) {
        let asked = format!(
            r#""event":"outcome","invocation":"{number:032x}","session":"{}","subject":"local","mode":"live","origin":"model","turn":1"#,
            "03".repeat(16)
        );
        let ended = r#","outcome":"interrupted","stage":"execute","effect":"unknown","isolation":"none","deadline":"cooperative"}"#;
        assert!(line.ends_with(&(asked + ended)), "{line}");
    }
    assert_eq!(AuditLog::open(&audit).unwrap().1.unfinished_intents, 1);
    assert_eq!(AuditLog::open(&audit).unwrap().1.unfinished_intents, 0);
    assert_eq!(verify(&audit).unwrap().exit_code(), 0);
}

/// A command in the background that a killed host took along has an end from the next start on, and one only.
#[test]
fn a_command_that_went_with_its_host_has_an_end_on_record() {
    let begun = |number| record(Event::ProcessBegun { asked: asked(number), timeout_ms: 60_000 });
    let ended = |number| {
        let (asked, why) = (asked(number), ProcessEnd::Exited);
        record(Event::ProcessEnded { asked, why, status: Some(0), ran_ms: 5 })
    };
    let done = |number| outcome(number, OutcomeKind::Executed, None, 5);
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    written(&audit, [intent(1), begun(1), done(1), intent(2), begun(2), done(2), ended(1), intent(3), begun(3)]);
    assert_eq!(AuditLog::open(&audit).unwrap().1.unfinished_intents, 1, "the call that was not answered");
    let lines = tail(&audit, 3).unwrap();
    assert!(lines[0].contains(r#""event":"outcome","invocation":"00000000000000000000000000000003""#), "{}", lines[0]);
    for (line, number) in lines[1..].iter().zip([2, 3]) {
        let asked = format!(
            r#""event":"process_ended","invocation":"{number:032x}","session":"{}","subject":"local","mode":"live","origin":"model","turn":1"#,
            "03".repeat(16)
        );
        assert!(line.ends_with(&(asked + r#","why":"host_died","ran_ms":0}"#)), "{line}");
    }
    let (_, opened) = AuditLog::open(&audit).unwrap();
    assert_eq!((opened.records, opened.unfinished_intents), (13, 0), "nothing is told twice");
    assert_eq!(verify(&audit).unwrap().exit_code(), 0);
}

/// Without an intent no body that could leave anything behind had begun.
#[test]
fn a_call_that_was_only_judged_did_not_start() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let (log, _) = AuditLog::open(&audit).unwrap();
    let text = super::line::fields(&intent(9)).unwrap();
    drop(log);
    // The event of a decision cannot be made outside the core; its line can.
    let text = String::from_utf8(text).unwrap().replace("\"intent\"", "\"policy_decision\"");
    let mut line = Vec::new();
    super::line::compose(&mut line, 1, super::line::GENESIS, text.as_bytes());
    line.push(b'\n');
    fs::write(log_path(&audit), line).unwrap();
    assert_eq!(verify(&audit).unwrap().finding, Finding::Unanchored { records: 1 });
    let (_, opened) = AuditLog::open(&audit).unwrap();
    assert_eq!((opened.records, opened.unfinished_intents), (1, 0));
    let last = tail(&audit, 1).unwrap().pop().unwrap();
    assert!(last.contains(r#""outcome":"interrupted","stage":"policy","effect":"not_started""#), "{last}");
}

#[test]
fn a_log_has_one_writer() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let (log, _) = AuditLog::open(&audit).unwrap();
    let text = AuditLog::open(&audit).unwrap_err().to_string();
    assert!(text.contains("one writer") && text.contains("help: "), "{text}");
    drop(log);
    AuditLog::open(&audit).unwrap();
}

/// What the key lies beside must be there, and the other way round; only a log that never had a record is begun anew.
#[test]
fn a_log_a_checkpoint_and_a_key_belong_together() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    // The first start was interrupted before the key was there.
    drop(AuditLog::open(&audit).unwrap());
    fs::remove_file(key_path(&audit)).unwrap();
    let first = AuditLog::open(&audit).unwrap().0.verifier_key().clone();
    written(&audit, [expiry(1)]);
    assert_eq!(AuditLog::open(&audit).unwrap().0.verifier_key(), &first);
    let refused = |file: &str| {
        let report = verify(&audit).unwrap();
        assert!(report.exit_code() == 1 && report.to_string().contains(file), "{report}");
        let error = AuditLog::open(&audit).unwrap_err();
        assert!(matches!(error, AuditLogError::Tampered { .. }) && error.to_string().contains(file), "{error}");
    };
    let aside = dir.path().join("aside");
    for path in [key_path(&audit), checkpoint_path(&audit)] {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        fs::rename(&path, &aside).unwrap();
        refused(&name);
        let good = fs::read(&aside).unwrap();
        crate::data_dir::write_private(&path, &good[..good.len() / 2]).unwrap();
        refused(&name);
        fs::rename(&aside, &path).unwrap();
        assert_eq!(verify(&audit).unwrap().exit_code(), 0);
    }
    // Without its segments a log is not an empty one.
    fs::rename(log_path(&audit), &aside).unwrap();
    refused("seg-");
    fs::rename(key_path(&audit), dir.path().join("key")).unwrap();
    refused("audit.key");
    // Nor is one that was taken away as a whole, as long as its key is there.
    fs::rename(dir.path().join("key"), key_path(&audit)).unwrap();
    fs::rename(&audit, dir.path().join("gone")).unwrap();
    assert!(AuditLog::open(&audit).unwrap_err().to_string().contains("checkpoint"));
    // Moved away together they make room for another one, under another key.
    fs::rename(key_path(&audit), dir.path().join("key")).unwrap();
    assert_ne!(AuditLog::open(&audit).unwrap().0.verifier_key(), &first);
}

/// Records of a clock that goes backwards are as good as any.
#[test]
fn times_may_go_backwards() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let (log, _) = AuditLog::open(&audit).unwrap();
    for second in [1_000_000, 5, 900, -77, 0] {
        let mut late = expiry(1);
        late.at = capability_core::Timestamp::from_micros(second * 1_000_000);
        submit(&log, late).unwrap();
    }
    drop(log);
    assert_eq!((verify(&audit).unwrap().exit_code(), AuditLog::open(&audit).unwrap().1.records), (0, 5));
}

#[test]
fn everything_is_private() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    written(&audit, [expiry(1)]);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(
        (mode(&audit), mode(&log_path(&audit)), mode(&checkpoint_path(&audit)), mode(&key_path(&audit))),
        (0o700, 0o600, 0o600, 0o600)
    );
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
