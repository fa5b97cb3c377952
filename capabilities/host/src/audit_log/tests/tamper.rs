//! Everything that an interruption does not explain is refused and reported.

use std::fs;

use capability_core::audit::OutcomeKind;

use super::super::scan::{End, Scanner};
use super::super::segment::{self, CHECKPOINT};
use super::super::{AuditLog, AuditLogError, Finding, LogKey, key_path, verify};
use super::sim::Sim;
use super::{checkpoint_path, expiry, intent, log_path, outcome, written};

struct Sample {
    _dir: tempfile::TempDir,
    audit: std::path::PathBuf,
    bytes: Vec<u8>,
    note: Vec<u8>,
    key: LogKey,
}

fn sample() -> Sample {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    written(&audit, [expiry(1), intent(1), outcome(1, OutcomeKind::Executed, None, 9), expiry(2), expiry(3)]);
    let bytes = fs::read(log_path(&audit)).unwrap();
    let note = fs::read(checkpoint_path(&audit)).unwrap();
    let key = LogKey::parse(&fs::read(key_path(&audit)).unwrap()).unwrap();
    Sample { _dir: dir, audit, bytes, note, key }
}

impl Sample {
    fn lines(&self) -> Vec<Vec<u8>> {
        self.bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    /// How a log with these bytes ends under the sample's checkpoint.
    fn end(&self, bytes: &[u8]) -> End {
        let checkpoint = super::Checkpoint::open(&self.note, self.key.verifier()).unwrap();
        assert_eq!(checkpoint.size, 5);
        let sim = Sim::of(&[(segment::name(1), bytes.to_vec())].into());
        let mut scanner = Scanner::new(checkpoint);
        scanner.advance(&sim, &segment::list(&sim).unwrap(), None).unwrap();
        scanner.end
    }

    /// Refused when opened, reported when verified, and the file is left alone.
    fn refused(&self, bytes: &[u8], line: u64, told: &str) {
        fs::write(log_path(&self.audit), bytes).unwrap();
        let report = verify(&self.audit).unwrap();
        assert!(matches!(report.finding, Finding::Tampered { line: found, .. } if found == line), "{told}: {report}");
        assert_eq!(report.exit_code(), 1);
        match AuditLog::open(&self.audit) {
            Err(error @ AuditLogError::Tampered { .. }) => {
                let text = error.to_string();
                assert!(text.contains(&format!("1.jsonl` line {line}: ")) && text.contains("\nhelp: "), "{text}");
            }
            other => panic!("{told}: {other:?}"),
        }
        assert_eq!(fs::read(log_path(&self.audit)).unwrap(), bytes, "{told}");
    }
}

/// Every single bit of everything before the checkpoint, the last line and its line break included.
#[test]
fn every_bit_counts() {
    let sample = sample();
    assert_eq!(sample.end(&sample.bytes), End::Clean);
    for at in 0..sample.bytes.len() {
        for bit in 0..8 {
            let mut bytes = sample.bytes.clone();
            bytes[at] ^= 1 << bit;
            let end = sample.end(&bytes);
            assert!(matches!(end, End::Tampered { .. }), "byte {at} bit {bit}: {end:?}");
            if (at * 8 + bit) % 499 == 0 {
                fs::write(log_path(&sample.audit), &bytes).unwrap();
                assert_eq!(verify(&sample.audit).unwrap().exit_code(), 1, "byte {at} bit {bit}");
                assert!(AuditLog::open(&sample.audit).is_err(), "byte {at} bit {bit}");
            }
        }
    }
}

/// An older checkpoint, put back by somebody who cut the log off, is what a verifier cannot see; receipts and checkpoints
/// that somebody kept can.
#[test]
fn what_a_checkpoint_cannot_tell_a_receipt_can() {
    let sample = sample();
    let receipts = written(&sample.audit, [expiry(6)]);
    fs::write(log_path(&sample.audit), &sample.bytes).unwrap();
    assert_eq!(verify(&sample.audit).unwrap().exit_code(), 1);
    fs::write(sample.audit.join(CHECKPOINT), &sample.note).unwrap();
    assert_eq!(verify(&sample.audit).unwrap().exit_code(), 0);
    let expected = super::super::Expected { receipt: receipts.first().copied(), key: None };
    assert_eq!(super::super::verify_against(&sample.audit, &expected).unwrap().exit_code(), 1);
}

#[test]
fn lines_that_are_moved_removed_or_doubled() {
    let sample = sample();
    let lines = sample.lines();
    let count = lines.len();
    for at in 0..count {
        let number = at as u64 + 1;
        let mut removed = lines.clone();
        removed.remove(at);
        sample.refused(&removed.concat(), number, &format!("removed {number}"));
        let mut doubled = lines.clone();
        doubled.insert(at, lines[at].clone());
        sample.refused(&doubled.concat(), number + 1, &format!("doubled {number}"));
        if at + 1 < count {
            let mut swapped = lines.clone();
            swapped.swap(at, at + 1);
            sample.refused(&swapped.concat(), number, &format!("swapped {number}"));
        }
        let mut foreign = lines.clone();
        foreign[at] = b"{}\n".to_vec();
        sample.refused(&foreign.concat(), number, &format!("foreign {number}"));
        let mut empty = lines.clone();
        empty[at] = b"\n".to_vec();
        sample.refused(&empty.concat(), number, &format!("emptied {number}"));
    }
}

/// Cutting lines off the end is as visible as anything else.
#[test]
fn every_truncation_is_reported() {
    let sample = sample();
    for len in 0..sample.bytes.len() {
        let end = sample.end(&sample.bytes[..len]);
        assert!(matches!(end, End::Tampered { .. }), "{len}: {end:?}");
    }
    let lines = sample.lines();
    sample.refused(&lines[..4].concat(), 5, "last line cut off");
    sample.refused(b"", 1, "emptied");
    sample.refused(&sample.bytes[..sample.bytes.len() - 1], 5, "last line break cut off");
}

#[test]
fn garbage_and_long_lines() {
    let sample = sample();
    let with = |tail: &[u8]| [sample.bytes.as_slice(), tail].concat();
    sample.refused(&with(b"garbage\n"), 6, "garbage");
    sample.refused(&with(b"\x00\n"), 6, "a zero byte that is no lost sector");
    sample.refused(&with(&[b'x'; 300_000]), 6, "a line without end");
    sample.refused(&with(&[0; 300_000]), 6, "more zeros than one write");
    let mut flood = sample.bytes.clone();
    flood.extend_from_slice(&vec![b'\n'; 100_000]);
    sample.refused(&flood, 6, "empty lines");
}

/// A rewritten last line with a right chain is caught by the checkpoint's root.
#[test]
fn a_forged_last_line() {
    let sample = sample();
    let mut lines = sample.lines();
    let last = String::from_utf8(lines[4].clone()).unwrap().replace("03030303", "04040404");
    lines[4] = last.into_bytes();
    sample.refused(&lines.concat(), 5, "forged");
}

/// Bytes that nobody foresaw: a log that was damaged anywhere is read to an end, and never taken for whole.
#[test]
fn random_damage_is_never_taken_for_a_log() {
    let sample = sample();
    let mut random = super::sim::Random(0x1319_8a2e_0370_7344);
    for _ in 0..4000 {
        let mut bytes = sample.bytes.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            let len = random.below(bytes.len() - at) % 900;
            match random.below(4) {
                0 => drop(bytes.drain(at..at + len)),
                1 => bytes[at..at + len].fill(0),
                2 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
                _ => {
                    let piece = bytes[at..at + len].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        let end = sample.end(&bytes);
        if bytes.starts_with(&sample.bytes) {
            // Only what stands behind the checkpoint was added to.
            assert!(bytes == sample.bytes || end != End::Clean, "{end:?}");
        } else {
            assert!(matches!(end, End::Tampered { .. }), "{end:?}");
        }
    }
}
