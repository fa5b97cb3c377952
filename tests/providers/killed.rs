//! A host that is killed with SIGKILL takes along what it started: nothing of its own runs on that could end it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use capability_core::Proposal;
use capability_core::audit::OutcomeKind;
use capability_core::provider::ProviderReach;
use rustix::process::{Pid, Signal, kill_process};

use crate::mcp_lab::{Lab, PATIENCE, lab, server};

const FILE: &str = "CAPABILITY_TEST_KILLED_HOST";

/// The host, in a process of its own, with a server that has children of every kind. Does nothing as a test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let lab = Lab::new(&server("lab", &lab("family", Some(Path::new(&file)))));
    lab.connect("lab").await.unwrap();
    let session = lab.session("agent:any", &["system.health"]);
    let outcome = lab.host().executor().invoke(&session, Proposal::new("system.health", 1, "{}")).await;
    assert_eq!((lab.reach("lab"), outcome.kind()), (ProviderReach::Ready, OutcomeKind::Executed));
    println!("\nit runs");
    core::future::pending().await
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(core::time::Duration::from_millis(20));
    }
}

/// Number, parent and beginning of every process; numbers alone are used again.
fn processes() -> Vec<(u32, u32, String)> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter_map(|pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        // What has ended and waits to be looked at runs no more.
        (*words.first()? != "Z").then_some(())?;
        Some((pid, words.get(1)?.parse().ok()?, (*words.get(19)?).to_owned()))
    })
    .collect()
}

/// Everything that was started by `host`, or by something that was.
fn below(host: u32) -> Vec<(u32, String)> {
    let all = processes();
    let mut found = vec![(host, String::new())];
    let mut at = 0;
    while let Some((parent, _)) = found.get(at).cloned() {
        found.extend(all.iter().filter(|(_, of, _)| *of == parent).map(|(pid, _, began)| (*pid, began.clone())));
        at += 1;
    }
    found.remove(0);
    found
}

#[test]
fn nothing_that_a_host_started_outlives_its_being_killed() {
    let dir = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::host", "--nocapture", "--test-threads=1"])
        .env(FILE, dir.path().join("notes"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut host = Killed(child);
    let output = BufReader::new(host.0.stdout.take().unwrap());
    assert!(output.lines().map_while(Result::ok).any(|line| line == "it runs"), "the host came up");
    // The keeper, what it keeps, the program and its two children; a zygote and its workers.
    let mut started = Vec::new();
    until("everything that the host starts", || {
        started = below(host.0.id());
        started.len() >= 7
    });
    let pid = Pid::from_raw(i32::try_from(host.0.id()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    assert!(!host.0.wait().unwrap().success());
    until("their end", || {
        let left = processes();
        !started.iter().any(|(pid, began)| left.iter().any(|(other, _, when)| (other, when) == (pid, began)))
    });
}
