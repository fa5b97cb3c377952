//! Many calls, in every way that one can end, leave nothing behind.

use std::time::Duration;

use serde_json::json;

use crate::lab::{Lab, eventually};

/// How many rounds of eight calls; `CAPABILITY_SOAK_ROUNDS` says otherwise.
const ROUNDS: usize = 40;

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Resident memory, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Processes below this one, zygotes and workers alike. What has ended and waits to be taken note of, which a zygote does
/// with its next fork, is none any more.
fn processes() -> usize {
    let parent = |stat: &str| -> Option<u32> {
        let mut words = stat.rsplit_once(')')?.1.split_whitespace();
        words.next().filter(|state| !matches!(*state, "Z" | "X"))?;
        words.next()?.parse().ok()
    };
    let mut all = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        all.extend(parent(&stat).map(|parent| (pid, parent)));
    }
    let children = |of: u32| all.iter().filter(move |(_, parent)| *parent == of).map(|(pid, _)| *pid);
    children(std::process::id()).map(|child| 1 + children(child).count()).sum()
}

async fn round(lab: &Lab) {
    let one = async |name: &str, arguments: serde_json::Value| drop(lab.invoke(name, &arguments).await);
    let given_up = async |micros: u64| {
        let _ = tokio::time::timeout(Duration::from_micros(micros), one("cell.look", json!({}))).await;
    };
    tokio::join!(
        one("cell.add", json!({ "a": 1, "b": 2 })),
        one("cell.look", json!({})),
        one("cell.checked", json!({ "deed": "large" })),
        one("cell.checked", json!({ "deed": "panic" })),
        one("cell.write", json!({ "text": "asked and never answered" })),
        one("cell.parent", json!({})),
        given_up(300),
        given_up(3000),
    );
}

#[test]
fn nothing_is_left_of_many_calls() {
    const NAME: &str = "soak::nothing_is_left_of_many_calls";
    const CHILD: &str = "CAPABILITY_TEST_SOAK";
    if std::env::var_os(CHILD).is_none() {
        // In a process of its own: what others hold is not counted.
        let own = std::env::current_exe().expect("this program");
        let run = std::process::Command::new(own).args(["--exact", NAME, "--nocapture"]).env(CHILD, "1").output();
        let run = run.expect("this program again");
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
        said.lines().filter(|line| line.contains("KiB")).for_each(|line| println!("{line}"));
        return;
    }
    let rounds = std::env::var("CAPABILITY_SOAK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let lab = Lab::open();
        for _ in 0..10 {
            round(&lab).await;
        }
        let (open, grown) = (descriptors(), memory());
        for _ in 0..rounds {
            round(&lab).await;
        }
        // Two zygotes, and the workers that wait: some warm, and some kept for one capability each.
        eventually("processes end", || processes() <= 2 + 2 + 4 + 8).await;
        eventually("descriptors are closed", || descriptors() <= open + 16).await;
        println!("{} processes, {open} to {} descriptors, {grown} to {} KiB", processes(), descriptors(), memory());
        assert!(memory() < grown + (64 << 10), "{grown} to {} KiB", memory());
    });
    drop(runtime);
    assert_eq!(processes(), 0, "a host takes everything along");
}
