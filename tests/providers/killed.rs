//! A host that is killed with SIGKILL takes along what it started: nothing of its own runs on that could end it.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use capability_core::Proposal;
use capability_core::provider::ProviderReach;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::mcp_lab::{Lab, PATIENCE, lab, server};

const DIR: &str = "CAPABILITY_TEST_KILLED_HOST";

/// What a command is told to wait, so that it can be told from others.
const SECONDS: &str = "3611";

/// The host, in a process of its own, with a server that has children of every kind and a command that runs. Does nothing as a
/// test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let dir = Path::new(&dir);
    let workspace = format!("[workspace]\nroot = {:?}\n", dir.join("workspace"));
    let lab = Lab::new(&(workspace + &server("lab", &lab("family", Some(&dir.join("notes"))))));
    lab.connect("lab").await.unwrap();
    assert_eq!(lab.reach("lab"), ProviderReach::Ready);
    let operator = lab.operator().await;
    let session = lab.session("agent:any", &["terminal.exec"]);
    let command = json!({ "argv": ["sleep", SECONDS] }).to_string();
    let asked = lab.host().executor().invoke(&session, Proposal::new("terminal.exec", 1, command)).await;
    let id = asked.approval().unwrap_or_else(|| panic!("{asked:?}"));
    lab.approve(&operator, id).await;
    println!("\nit runs");
    panic!("{:?}", lab.host().executor().resume(&session, id).await);
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
    std::fs::create_dir(dir.path().join("workspace")).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::host", "--nocapture", "--test-threads=1"])
        .env(DIR, dir.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut host = Killed(child);
    let output = BufReader::new(host.0.stdout.take().unwrap());
    assert!(output.lines().map_while(Result::ok).any(|line| line == "it runs"), "the host came up");
    let has = |started: &[(u32, String)], word: &str| {
        started.iter().any(|(pid, _)| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            line.split(|byte| *byte == 0).any(|own| own == word.as_bytes())
        })
    };
    let mut started = Vec::new();
    until("everything that the host starts", || {
        started = below(host.0.id());
        ["capability-lab-orphan", "capability-lab-child", SECONDS].into_iter().all(|word| has(&started, word))
    });
    // Those, the server itself, what keeps it and the command, and a zygote with its worker.
    assert!(started.len() >= 8, "{started:?}");
    let pid = Pid::from_raw(i32::try_from(host.0.id()).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    assert!(!host.0.wait().unwrap().success());
    until("their end", || {
        let left = processes();
        !started.iter().any(|(pid, began)| left.iter().any(|(other, _, when)| (other, when) == (pid, began)))
    });
}
