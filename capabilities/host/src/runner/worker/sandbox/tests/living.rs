//! What works in a worker, and what ends it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::super::{Fork, Forked, Item, Zygote};
use super::{ARGV0, MOST, played, rehearse, start};

const PROFILES: [&str; 2] = ["sealed", "connected"];

#[test]
fn what_a_body_needs_works_in_both_profiles() {
    for profile in PROFILES {
        assert_eq!(played(profile, "ordinary", ""), [""; 0], "{profile}");
        assert_eq!(played(profile, "metadata", ""), [""; 0], "{profile}");
    }
}

#[test]
fn whatever_is_promised_holds() {
    let told = played("sealed", "achieved", "");
    println!("{}", told.join("\n"));
    for item in Item::ALL.iter().filter(|item| item.is_promised()) {
        assert!(told.contains(&item.to_string()), "{item}: {told:?}");
    }
}

/// From outside, and by the kernel's own word.
#[test]
fn the_kernel_says_of_a_worker_what_it_must() {
    let (mut child, mut ours) = start("sealed", "waits", "");
    ours.read_exact(&mut [0; 5]).expect("it is there");
    let read = |process: &str, file: &str| {
        std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let zygote = child.id().to_string();
    let worker = read(&zygote, &format!("task/{zygote}/children")).trim().to_owned();
    let status = read(&worker, "status");
    let said = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {key} in {status}")).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    for (key, value) in [
        ("NoNewPrivs", "1"),
        ("Seccomp", "2"),
        ("CapEff", "0000000000000000"),
        ("CapPrm", "0000000000000000"),
        ("CapInh", "0000000000000000"),
        ("CapAmb", "0000000000000000"),
        ("Threads", "1"),
    ] {
        assert_eq!(said(key), [value], "{key}");
    }
    let filters: u32 = said("Seccomp_filters").concat().parse().expect("a number");
    let around: u32 = std::fs::read_to_string("/proc/self/status")
        .expect("it is told")
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp_filters:")?.trim().parse().ok())
        .expect("a number");
    assert_eq!(filters, around + 3);
    assert_eq!(read(&worker, "oom_score_adj").trim(), "1000");
    if rustix::process::geteuid().is_root() && said("Uid").first().is_some_and(|user| user != "0") {
        let own = 0x7000_0000_u32 + worker.parse::<u32>().expect("a number");
        assert_eq!(said("Uid"), [own.to_string().as_str(); 4]);
        assert_eq!(said("Gid"), [own.to_string().as_str(); 4]);
        assert_eq!(said("Groups"), [""; 0]);
        assert_eq!(said("CapBnd"), ["0000000000000000"]);
    }
    drop(ours);
    child.wait().expect("it ends");
}

/// A fork that nobody seals ends instead of going on with the zygote's rights.
#[test]
fn a_fork_that_is_dropped_is_no_process_any_more() {
    // Which signal is the C library's choice: musl aborts by a call that is not on the list, and then by force.
    let words = rehearse("sealed", "dropped", "");
    assert!(words.starts_with("ended by signal "), "{words}");
}

/// A zygote that is killed takes its workers along.
#[test]
fn a_worker_does_not_outlive_its_zygote() {
    let (mut child, mut ours) = start("sealed", "waits", "");
    ours.read_exact(&mut [0; 5]).expect("it is there");
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    // The worker held the other end of this, and its own deadline is later than this wait's.
    ours.set_read_timeout(Some(MOST / 2)).expect("it can be set");
    let mut rest = Vec::new();
    assert!(matches!(ours.read_to_end(&mut rest), Ok(0)), "{rest:?}");
}

/// A kernel that lacks what is promised is refused, unless an operator accepted that; then it is told what is lost.
#[test]
fn less_than_what_is_promised_is_refused_or_told() {
    let words = rehearse("older_kernel", "achieved", "");
    assert!(words.starts_with("worker: a worker cannot close the file system by Landlock\nhelp: "), "{words}");
    let told = played("older_kernel_accepted", "achieved", "");
    for item in [Item::Landlock, Item::LandlockScopes, Item::NetworkNamespace, Item::IpcNamespace, Item::EmptyTree] {
        assert!(told.contains(&format!("no {item}: {}", item.lost())), "{item}: {told:?}");
    }
}

/// Standard streams, the channel, and where notices go.
#[test]
fn a_worker_holds_no_descriptor_but_its_own() {
    assert_eq!(played("sealed", "descriptors", ""), ["[0, 1, 2, 3]"]);
}

#[test]
fn the_kernel_ends_a_worker_at_its_deadline_whatever_it_does() {
    for how in ["busy", "asleep", "deaf", "many"] {
        assert_eq!(rehearse("sealed", "late", how), "ended by signal 9", "{how}");
    }
}

#[test]
fn a_later_deadline_replaces_an_earlier_one() {
    assert_eq!(played("sealed", "rearmed", ""), [""; 0]);
}

#[test]
fn threads_and_memory_have_an_end() {
    let told = played("sealed", "achieved", "");
    if told.contains(&Item::ThreadCap.to_string()) {
        // The first thread counts, and so do those of the scene itself.
        assert_eq!(played("sealed", "threads", ""), ["31"]);
    }
    let pieces: usize = played("sealed", "memory", "").concat().parse().expect("a number");
    assert!((20..=32).contains(&pieces), "512 MiB, less what there was already: {pieces} pieces of 16 MiB");
}

/// Only so many notices are written, however often it is called.
#[test]
fn a_body_that_wants_the_network_is_told_apart() {
    assert_eq!(played("connected", "socket", ""), ["called socket"; 4]);
}

/// The kernel ends a thread that blocks what it is told by.
#[test]
fn a_body_that_blocks_every_signal_gets_no_socket_either() {
    assert_eq!(rehearse("sealed", "socket_blocked", ""), format!("ended by signal {}", libc::SIGSYS));
}

#[test]
fn no_worker_is_locked_without_its_timer_or_with_a_thread_that_differs() {
    for (scene, words) in [
        ("unarmed", "a worker cannot start its kill timer"),
        ("disarmed", "a worker cannot lock its timer and filters"),
        ("filtered", "a worker cannot lock its timer and filters"),
    ] {
        let told = played("sealed", scene, "");
        assert_eq!(told.first().map(String::as_str), Some(words), "{scene}: {told:?}");
        assert!(told[1].starts_with("help: "), "{told:?}");
    }
}

/// A connection that was made outside works inside, by tokio.
#[test]
fn a_connection_that_was_handed_over_can_be_talked_over() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let theirs = TcpStream::connect(listener.local_addr().expect("an address")).expect("a connection");
    let (mut ours, _) = listener.accept().expect("a connection");
    let mut child = Command::new("/proc/self/exe")
        .arg0(ARGV0)
        .args(["connected", "connection", ""])
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .expect("this binary starts again");
    ours.write_all(b"answer\n").expect("written");
    let mut words = String::new();
    ours.read_to_string(&mut words).expect("heard");
    child.wait().expect("it ends");
    assert_eq!(words, "question\nconnection: done\nthe end");
}

/// What has an environment, or more than one thread, becomes no zygote.
#[test]
fn a_process_that_is_not_fresh_becomes_no_zygote() {
    let words = {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a pair");
        let mut child = Command::new("/proc/self/exe")
            .arg0(ARGV0)
            .args(["sealed", "ordinary", ""])
            .env_clear()
            .env("SECRET", "of the host")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .expect("this binary starts again");
        let mut words = String::new();
        (&ours).read_to_string(&mut words).expect("words");
        child.wait().expect("it ends");
        words
    };
    assert!(words.starts_with("zygote: a worker cannot start with an empty environment\nhelp: "), "{words}");
}

/// How long a fork takes to be ready, for whoever looks at the output.
#[test]
fn forks_become_workers_one_after_the_other() {
    println!("{}", played("sealed", "paces", "").concat());
}

/// Forks a row of workers and says how long they took.
pub(super) fn paces(zygote: &Zygote) -> String {
    let mut times: Vec<_> =
        (0..200).map(|_| pace(zygote, |fork, theirs| fork.seal(theirs, None).expect("it is sealed").1)).collect();
    let mut bare: Vec<_> = (0..200)
        .map(|_| {
            pace(zygote, |fork, theirs| {
                std::mem::forget(fork);
                theirs
            })
        })
        .collect();
    times.sort_unstable();
    bare.sort_unstable();
    format!("fork to ready: {} us, of which forking {} us (medians of 200)\n", times[100], bare[100])
}

fn pace(zygote: &Zygote, become_worker: impl FnOnce(Fork<'_>, OwnedFd) -> OwnedFd) -> u128 {
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a pair");
    let before = Instant::now();
    match zygote.fork().expect("it forks") {
        Forked::Worker(fork) => {
            let channel = become_worker(fork, theirs.into());
            std::os::unix::net::UnixStream::from(channel).write_all(b"!").expect("heard");
            std::process::exit(0);
        }
        Forked::Zygote(_pidfd) => {
            drop(theirs);
            ours.read_exact(&mut [0]).expect("it is ready");
            before.elapsed().as_micros()
        }
    }
}
