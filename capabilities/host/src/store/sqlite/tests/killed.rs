//! A process that is killed at any moment loses nothing that it was told was done.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use capability_core::approval::ApprovalStatus;
use capability_core::session::Subject;
use capability_core::store::{Answer, Approvals, Moved};

use super::{at, digest, filed, id};
use crate::store::sqlite::Database;

const DIR: &str = "CAPABILITY_TEST_KILLED_STORE";

/// The child: files, answers and consumes for ever, and says what is done once it is. Does nothing as a test.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = Database::open(&std::path::Path::new(&dir).join("state.db")).unwrap().approvals();
        let first: u64 = std::env::var("CAPABILITY_TEST_FIRST").unwrap().parse().unwrap();
        for number in first.. {
            store.file(filed(number, "alice", 100)).await.unwrap();
            println!("\nacked pending {number}");
            store.answer(id(number), Answer::Approve, &Subject::local(), at(1)).await.unwrap();
            println!("\nacked approved {number}");
            assert_eq!(store.consume(id(number), digest(1), at(2)).await.unwrap(), Moved::Yes);
            println!("\nacked consumed {number}");
        }
    });
}

#[test]
fn nothing_acknowledged_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut acked_in_all = 0;
    for round in 0..15_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::sqlite::tests::killed::child", "--nocapture", "--test-threads=1"])
            .env(DIR, dir.path())
            .env("CAPABILITY_TEST_FIRST", (round * 100_000).to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut last = lines.find_map(|line| line.strip_prefix("acked ").map(str::to_owned)).unwrap();
        std::thread::sleep(Duration::from_millis(3 + round * 7));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines {
            if let Some(acked) = line.strip_prefix("acked ") {
                last = acked.to_owned();
                acked_in_all += 1;
            }
        }
        let (status, number) = last.split_once(' ').unwrap();
        let number: u64 = number.parse().unwrap();
        let store = Database::open(&dir.path().join("state.db")).unwrap().approvals();
        runtime.block_on(async {
            let found = store.find(id(number)).await.unwrap().unwrap().summary.status;
            // The next move may have happened without having been told.
            let allowed: &[_] = match status {
                "pending" => &[ApprovalStatus::Pending, ApprovalStatus::Approved],
                "approved" => &[ApprovalStatus::Approved, ApprovalStatus::Consumed],
                _ => &[ApprovalStatus::Consumed],
            };
            assert!(allowed.contains(&found), "{last}, found {found}");
            for earlier in round * 100_000..number {
                let found = store.find(id(earlier)).await.unwrap().unwrap();
                assert!(found.summary.status == ApprovalStatus::Consumed && found.filed.is_none());
            }
        });
    }
    assert!(acked_in_all > 15, "{acked_in_all}");
}
