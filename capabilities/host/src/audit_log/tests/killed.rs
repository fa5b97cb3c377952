//! A process that is killed at any moment loses no record whose receipt it has given.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::super::{AuditLog, Options, line, verify};
use super::{SMALL, intent, segments, submit};

/// How many records the child writes at most.
const MOST: &str = "CAPABILITY_TEST_KILLED_MOST";
const DIR: &str = "CAPABILITY_TEST_KILLED_LOG";

/// Several rotations and checkpoints in each of the child's lives.
const ROTATING: Options = Options { segment_bytes: 4096, ..SMALL };

/// The child: writes until it is refused and prints each receipt. Does nothing as a test.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let Ok((log, _)) = AuditLog::open_with(std::path::Path::new(&dir), ROTATING) else { return };
    let most = std::env::var(MOST).ok().and_then(|most| most.parse().ok()).unwrap_or(usize::MAX);
    for number in (0..=u8::MAX).cycle().take(most) {
        let Ok(receipt) = submit(&log, intent(number)) else {
            println!("\nrefused {}", if log.is_poisoned() { "for good" } else { "for now" });
            break;
        };
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

/// The kernel fails one of the log's system calls, in each of the ways that a disk has: nothing acknowledged is lost, and
/// the next start goes on.
#[test]
fn system_calls_that_fail() {
    let strace = || {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null"]);
        command
    };
    if !strace().arg("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        // It is not on this machine, or nobody may trace here; `the_first_fault_is_the_last_write` shows the same in memory.
        return;
    }
    for (call, from, fault, ends) in [
        ("fdatasync", 9, "EIO", "for good"),
        ("fdatasync", 10, "EIO", "for good"),
        ("fsync", 9, "EIO", "for good"),
        ("fallocate", 3, "ENOSPC", "for now"),
        ("fallocate", 3, "EIO", "for good"),
        ("rename", 3, "EIO", "for good"),
        // What only costs something ends nothing.
        ("ftruncate", 1, "EIO", ""),
    ] {
        let told = format!("{call} {from} {fault}");
        let dir = tempfile::tempdir().unwrap();
        let audit = dir.path().join("audit");
        let mut child = strace()
            .args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:error={fault}:when={from}+")])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "audit_log::tests::killed::child", "--nocapture", "--test-threads=1"])
            .env(DIR, &audit)
            .env(MOST, if ends.is_empty() { "100" } else { "20000" })
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut receipts = Vec::new();
        let mut refused = None;
        for line in lines {
            if let Some(receipt) = line.strip_prefix("receipt ") {
                receipts.push(receipt.to_owned());
            }
            refused = refused.or_else(|| line.strip_prefix("refused ").map(str::to_owned));
        }
        child.wait().unwrap();
        assert_eq!(refused.as_deref().unwrap_or_default(), ends, "{told}");
        assert!(receipts.len() > 1, "{told}: {receipts:?}");
        let (_, opened) = AuditLog::open(&audit).unwrap_or_else(|error| panic!("{told}: {error}"));
        let last = receipts.last().and_then(|last| last.split(' ').next()?.parse::<u64>().ok()).unwrap();
        assert!(opened.records >= last, "{told}: {} of {last}", opened.records);
        assert_eq!(verify(&audit).unwrap().exit_code(), 0, "{told}");
    }
}
