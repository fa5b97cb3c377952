//! A process that is killed at any moment loses no record whose receipt it has given.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::super::{AuditLog, Options, line, verify};
use super::{SMALL, intent, segments, submit};

const DIR: &str = "CAPABILITY_TEST_KILLED_LOG";

/// Several rotations and checkpoints in each of the child's lives.
const ROTATING: Options = Options { segment_bytes: 4096, ..SMALL };

/// The child: writes for ever and prints each receipt. Does nothing as a test.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let (log, _) = AuditLog::open_with(std::path::Path::new(&dir), ROTATING).unwrap();
    for number in (0..=u8::MAX).cycle() {
        let receipt = submit(&log, intent(number)).unwrap();
        println!("\nreceipt {} {}", receipt.seq, receipt.hash.unwrap());
    }
}

#[test]
fn receipts_outlive_the_process() {
    let dir = tempfile::tempdir().unwrap();
    let audit = dir.path().join("audit");
    let mut receipts = Vec::new();
    for round in 0..15 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "audit_log::tests::killed::child", "--nocapture", "--test-threads=1"])
            .env(DIR, &audit)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let receipt = |line: String| line.strip_prefix("receipt ").map(str::to_owned);
        receipts.push(lines.find_map(receipt).unwrap());
        std::thread::sleep(Duration::from_millis(2 + round * 5));
        child.kill().unwrap();
        child.wait().unwrap();
        receipts.extend(lines.filter_map(receipt));
        // A receipt that was cut off in the pipe says nothing.
        if receipts.last().is_some_and(|last| last.split(' ').nth(1).is_none_or(|hash| hash.len() < 64)) {
            receipts.pop();
        }
        let report = verify(&audit).unwrap();
        assert_ne!(report.exit_code(), 1, "{report}");
    }
    drop(AuditLog::open(&audit).unwrap());
    assert_eq!(verify(&audit).unwrap().exit_code(), 0);
    assert!(segments(&audit).len() > 3);
    let bytes: Vec<u8> = segments(&audit).iter().flat_map(|path| std::fs::read(path).unwrap()).collect();
    let hashes: Vec<_> = bytes.split(|byte| *byte == b'\n').map(|whole| line::hash(whole).to_string()).collect();
    assert!(receipts.len() > 30, "{}", receipts.len());
    for receipt in receipts {
        let (seq, hash) = receipt.split_once(' ').unwrap();
        assert_eq!(hashes[seq.parse::<usize>().unwrap() - 1], hash);
    }
}
