//! A log of many segments is one log.

use std::fs;

use super::super::{AuditLog, AuditLogError, Finding, Follow, Stats, stats, tail, verify};
use super::{SMALL, expiry, segments, submit, written_with};

fn many(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    written_with(dir, SMALL, (0..8).map(expiry));
    for number in 8..40 {
        let (log, _) = AuditLog::open_with(dir, SMALL).unwrap();
        submit(&log, expiry(number)).unwrap();
    }
    let segments = segments(dir);
    assert!(segments.len() > 3, "{segments:?}");
    segments
}

#[test]
fn a_full_segment_is_followed_by_one_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let segments = many(&audit);
    let mut seq = 0;
    for (at, path) in segments.iter().enumerate() {
        let text = fs::read_to_string(path).unwrap();
        let first = text.lines().next().unwrap();
        assert!(path.to_str().unwrap().ends_with(&format!("seg-{:020}.jsonl", seq + 1)));
        if at > 0 {
            let before = fs::metadata(&segments[at - 1]).unwrap().len();
            assert!((SMALL.segment_bytes..SMALL.segment_bytes + 4096).contains(&before), "{before}");
            let named = segments[at - 1].file_stem().unwrap().to_str().unwrap().trim_start_matches("seg-");
            let named: u64 = named.parse().unwrap();
            let told = format!(r#""event":"rotation","first":{named},"bytes":{before}}}"#);
            assert!(first.ends_with(&told), "{first}");
        }
        seq += text.lines().count() as u64;
    }
    let report = verify(&audit).unwrap();
    assert_eq!((&report.finding, report.records, report.anchored.0), (&Finding::Clean, seq, seq), "{report}");
    assert_eq!(tail(&audit, 1000).unwrap().len() as u64, seq);
    let Stats { records, events, .. } = stats(&audit).unwrap();
    assert_eq!((records, events["rotation"], events["expiry"]), (seq, segments.len() as u64 - 1, 40));
}

/// Whatever happens to a segment that is not the last is tampering, however much it looks like an interrupted write.
#[test]
fn segments_that_are_removed_shortened_swapped_or_doubled() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let segments = many(&audit);
    let aside = dir.path().join("aside");
    let clean: Vec<_> = segments.iter().map(|path| fs::read(path).unwrap()).collect();
    let refused = |told: &str| {
        let report = verify(&audit).unwrap();
        assert!(report.exit_code() == 1 && matches!(report.finding, Finding::Tampered { .. }), "{told}: {report}");
        let error = AuditLog::open_with(&audit, SMALL).unwrap_err();
        assert!(matches!(error, AuditLogError::Tampered { .. }), "{told}: {error}");
        for (path, bytes) in segments.iter().zip(&clean) {
            fs::write(path, bytes).unwrap();
        }
        assert_eq!(verify(&audit).unwrap().exit_code(), 0);
    };
    for (at, path) in segments.iter().enumerate() {
        fs::rename(path, &aside).unwrap();
        let report = verify(&audit).unwrap();
        assert_eq!(report.exit_code(), 1, "removed {at}: {report}");
        assert!(AuditLog::open_with(&audit, SMALL).is_err(), "removed {at}");
        fs::rename(&aside, path).unwrap();
        fs::write(path, "").unwrap();
        refused(&format!("emptied {at}"));
        fs::write(path, &clean[at][..clean[at].len() - 1]).unwrap();
        refused(&format!("without its end {at}"));
        let line = clean[at].iter().position(|byte| *byte == b'\n').unwrap();
        fs::write(path, &clean[at][..=line]).unwrap();
        refused(&format!("cut to one line {at}"));
        fs::write(path, [clean[at].as_slice(), &clean[at][..=line]].concat()).unwrap();
        refused(&format!("longer {at}"));
        fs::write(path, [clean[at].as_slice(), &[0; 700]].concat()).unwrap();
        if at + 1 < segments.len() {
            refused(&format!("zeros behind {at}"));
            fs::write(path, &clean[at + 1]).unwrap();
            refused(&format!("the next one's content {at}"));
        } else {
            // Behind the last one this is what a power cut leaves.
            assert_eq!(verify(&audit).unwrap().exit_code(), 2);
            fs::write(path, &clean[at]).unwrap();
        }
    }
    let more = audit.join("seg-00000000000000009999.jsonl");
    crate::data_dir::write_private(&more, &clean[0]).unwrap();
    assert_eq!(verify(&audit).unwrap().exit_code(), 1);
    // Without a record it says nothing and is taken away.
    fs::write(&more, "").unwrap();
    assert_eq!(verify(&audit).unwrap().exit_code(), 0);
}

/// A rotation that was interrupted before its first record is begun again.
#[test]
fn an_interrupted_rotation_is_begun_again() {
    use std::os::unix::fs::OpenOptionsExt;
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let count = many(&audit).len();
    let next = verify(&audit).unwrap().records + 1;
    let path = audit.join(format!("seg-{next:020}.jsonl"));
    for left in ["", r#"{"seq":"#] {
        let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
        std::io::Write::write_all(&mut file, left.as_bytes()).unwrap();
        let report = verify(&audit).unwrap();
        assert_eq!(report.exit_code(), if left.is_empty() { 0 } else { 2 }, "{report}");
        let (log, opened) = AuditLog::open_with(&audit, super::super::Options::default()).unwrap();
        assert_eq!(opened.torn_bytes, left.len() as u64);
        drop(log);
        assert!(!path.exists());
        assert_eq!((segments(&audit).len(), verify(&audit).unwrap().exit_code()), (count, 0));
    }
    assert!(tail(&audit, 1).unwrap()[0].contains("torn_tail"));
    assert_eq!(
        fs::read_dir(&audit)
            .unwrap()
            .flatten()
            .filter(|file| { file.file_name().to_str().unwrap().starts_with("torn-") })
            .count(),
        1
    );
}

#[test]
fn whoever_follows_sees_every_record_once_across_segments() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    written_with(&audit, SMALL, (0..3).map(expiry));
    let (first, mut more) = Follow::open(&audit, 2).unwrap();
    assert_eq!(first.len(), 2);
    let mut seen = Vec::new();
    let (log, _) = AuditLog::open_with(&audit, SMALL).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (3..60).for_each(|number| assert!(submit(&log, expiry(number)).is_ok())));
        while !writer.is_finished() {
            seen.extend(more.more().unwrap());
        }
    });
    seen.extend(more.more().unwrap());
    let all = tail(&audit, 1000).unwrap();
    assert_eq!(seen, all[3..]);
    assert!(segments(&audit).len() > 3);
    // The end of a torn line is cut off when a host starts, and its place is taken by another one.
    drop(log);
    let last = segments(&audit).pop().unwrap();
    std::io::Write::write_all(&mut fs::OpenOptions::new().append(true).open(&last).unwrap(), b"{\"seq\":").unwrap();
    assert!(more.more().unwrap().is_empty());
    drop(AuditLog::open_with(&audit, super::super::Options::default()).unwrap());
    let after = more.more().unwrap();
    assert!(after.len() == 1 && after[0].contains("torn_tail"), "{after:?}");
}
