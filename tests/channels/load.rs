//! Many at once: every message once, replayed ones refused, and memory that does not grow with them.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::lab::{Lab, hook};

const MESSAGES: usize = 600;
const SENDERS: usize = 24;
/// What the host may have taken at its peak beyond what it had before, in KiB: far less than all messages in flight would.
const MORE: u64 = 96 * 1024;

fn memory(process: u32, key: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Each message comes twice, in any order, from many senders.
#[test]
fn many_at_once_are_taken_in_once_each() {
    let channels = "[channels.hook]\nkind = \"webhook\"\nsubject = \"agent:home\"\nsecret = \"shared\"\nid_header = \"X-Id\"\nper_minute = 1000000\n";
    let lab = Lab::of(crate::lab::home(), channels);
    let before = memory(lab.process(), "VmRSS:");
    let next = AtomicUsize::new(0);
    let text = "x".repeat(4096);
    std::thread::scope(|scope| {
        for _ in 0..SENDERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= 2 * MESSAGES {
                        return;
                    }
                    let request = hook(&(number / 2).to_string(), &text);
                    // One that comes while its like is being written is to come again.
                    while lab.send(&request).status == 503 {}
                }
            });
        }
    });
    let (_, part) = lab.home.operate_json(&["inbox", "--subject", "agent:home", "-n", "1"]);
    assert_eq!(part["total"], MESSAGES);
    assert_eq!(lab.home.records_of("channel_entry").len(), MESSAGES);
    let peak = memory(lab.process(), "VmHWM:");
    assert!(peak < before + MORE, "{before} KiB before, {peak} KiB at most");
    let mut lab = lab;
    lab.end("TERM").exits(0);
    let replayed: u64 = lab.home.records_of("channel_refusal").iter().map(|one| one["count"].as_u64().unwrap()).sum();
    assert!(replayed >= MESSAGES as u64, "{replayed}");
}
