//! Every way out that was thought of, tried from inside.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use rustix::thread::CapabilitySet;

use super::super::attempts::{Finding, Outside, Tried, attempts};
use super::{played, rehearse};

/// What there is outside, kept there for as long as this lives.
struct World {
    outside: Outside,
    _held: (TcpListener, UnixListener, tempfile::TempDir),
}

fn world() -> World {
    let dir = tempfile::tempdir().expect("a directory");
    let (socket, file) = (dir.path().join("socket"), dir.path().join("file"));
    let port = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let unix = UnixListener::bind(&socket).expect("a socket");
    std::fs::write(&file, "of the host").expect("a file");
    let outside = Outside {
        process: i32::try_from(std::process::id()).expect("a number"),
        port: port.local_addr().expect("an address").port(),
        socket: socket.display().to_string(),
        file: file.display().to_string(),
    };
    World { outside, _held: (port, unix, dir) }
}

fn findings(profile: &str, scene: &str) -> Vec<Finding> {
    let world = world();
    let told = played(profile, scene, &serde_json::to_string(&world.outside).expect("it is told"));
    told.iter()
        .filter(|line| !line.starts_with("called "))
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect()
}

#[test]
fn every_attempt_has_a_name_of_its_own() {
    let names: BTreeSet<_> = attempts().map(|attempt| attempt.name).collect();
    assert_eq!(names.len(), attempts().count());
    assert!(names.len() >= 200, "{}", names.len());
}

#[test]
fn no_way_out_of_a_worker_leads_anywhere() {
    // The last has neither Landlock nor namespaces: the filters hold alone.
    for profile in ["sealed", "connected", "older_kernel_accepted"] {
        for (scene, times) in [("attempts", 1), ("attempts_elsewhere", 2)] {
            let found = findings(profile, scene);
            assert_eq!(found.len(), times * attempts().filter(|attempt| !attempt.ends()).count());
            let out: Vec<_> = found.iter().filter(|finding| !finding.tried.is_held()).collect();
            assert!(out.is_empty(), "{profile} {scene}: {out:#?}");
        }
    }
}

#[test]
fn what_ends_the_process_ends_it() {
    let world = world();
    let outside = serde_json::to_string(&world.outside).expect("it is told");
    for attempt in attempts().filter(|attempt| attempt.ends()) {
        let words = rehearse("sealed", "attempt", &format!("{} {outside}", attempt.name));
        let held = words.starts_with("ended by signal ") || words.starts_with(&Tried::NotApplicable.to_string());
        assert!(held, "{}: {words}", attempt.name);
    }
}

/// What a container's root does not have, and a machine's does.
const ALMIGHTY: CapabilitySet = CapabilitySet::SYS_ADMIN
    .union(CapabilitySet::SYS_MODULE)
    .union(CapabilitySet::SYS_BOOT)
    .union(CapabilitySet::SYS_TIME)
    .union(CapabilitySet::SYS_RAWIO)
    .union(CapabilitySet::SYS_PTRACE);

/// An attempt that fails everywhere shows nothing.
#[test]
fn every_attempt_gets_through_where_nothing_holds_it() {
    // No kernel that we know has a call of these numbers.
    const NOWHERE_THERE: [&str; 4] = ["number_unknown", "number_negative", "number_x32", "number_x32_socket"];
    // Needs no privilege in the open.
    const NEEDS_NONE: [&str; 12] = [
        "tcp_connect",
        "udp",
        "unix_connect",
        "open",
        "stat",
        "list",
        "own_program",
        "fork",
        "spawn",
        "signal",
        "limits_of_host",
        "socket_inet",
    ];
    let found = findings("open", "attempts");
    let held = |finding: &&Finding| match finding.tried {
        // What a kernel was built without is missing and not held back.
        Tried::Refused(libc::ENOSYS) | Tried::NotApplicable => false,
        Tried::Refused(_) => true,
        Tried::Reached(_) | Tried::Succeeded => false,
    };
    let held: Vec<_> = found.iter().filter(held).map(|finding| finding.attempt.as_str()).collect();
    let mine = rustix::thread::capabilities(None).expect("they are told").effective;
    // Root of a user namespace only looks the same.
    let users = std::fs::read_to_string("/proc/self/uid_map").expect("it is told");
    if mine.contains(ALMIGHTY) && users.trim_end().ends_with("4294967295") {
        // Its capability is one that virtual machines do not give away.
        let held: Vec<_> = held.into_iter().filter(|name| *name != "memory_map").collect();
        assert_eq!(held, [""; 0]);
    } else {
        assert!(!held.iter().any(|name| NEEDS_NONE.contains(name)), "{held:?}");
    }
    let absent: Vec<_> = found
        .iter()
        .filter(|finding| matches!(finding.tried, Tried::Refused(_)) && !NOWHERE_THERE.contains(&&*finding.attempt))
        .collect();
    println!("this kernel has none of these: {absent:#?}");
}
