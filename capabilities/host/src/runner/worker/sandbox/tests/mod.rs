//! The whole way into the sandbox, in real processes.
//!
//! A test starts this very binary again. Before `main`, and so with one thread, it becomes a zygote, forks a worker, and the
//! worker acts a scene whose words come back over its channel.
#![expect(unsafe_code, reason = "what runs before main has to be put there by hand")]

mod escapes;
mod living;
mod scenes;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::WaitOptions;

use super::bpf::{Answer, Table};
use super::{Forked, NOTICE_BYTES, Notice, Profile, Strictness, Terms, Unsealed, Zygote, sys};

const ARGV0: &str = "capability-rehearsal";

#[used]
#[unsafe(link_section = ".init_array")]
static ENTRY: extern "C" fn() = {
    extern "C" fn entry() {
        let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        if words.next().as_deref() == Some(ARGV0) {
            let mut word = || words.next().unwrap_or_default();
            std::process::exit(zygote(&word(), &word(), &word()));
        }
    }
    entry
};

/// How long a scene may take.
const MOST: Duration = Duration::from_secs(60);

/// A profile, and what this kernel is made to lack.
fn terms(words: &str) -> Terms {
    match words {
        "sealed" => Terms::new(Profile::Sealed),
        "connected" => Terms::new(Profile::Connected),
        "older_kernel" => {
            pretend_an_older_kernel();
            Terms::new(Profile::Sealed)
        }
        "older_kernel_accepted" => {
            pretend_an_older_kernel();
            Terms { strictness: Strictness::Degraded, ..Terms::new(Profile::Sealed) }
        }
        other => panic!("there is no profile {other}"),
    }
}

/// Without Landlock and without namespaces.
fn pretend_an_older_kernel() {
    let mut table = Table::new(Answer::Allow, 0, Answer::Allow);
    table.always(&[libc::SYS_landlock_create_ruleset, libc::SYS_unshare], Answer::Fail(libc::ENOSYS));
    rustix::thread::set_no_new_privs(true).expect("it always can");
    sys::install(&table.program(), false).expect("it may");
}

fn say(channel: &File, words: &str) {
    (&*channel).write_all(words.as_bytes()).expect("the test listens");
}

/// Panics of a scene go where its words go.
fn panic_to(channel: &File) {
    let heard = channel.try_clone().expect("there are descriptors");
    // In a worker, what the one before wrote to is gone, and its number is somebody else's.
    std::mem::forget(std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| say(&heard, &format!("{panic}\n"))));
}

fn zygote(profile: &str, scene: &str, with: &str) -> i32 {
    let stdin = std::io::stdin();
    let control = File::from(stdin.as_fd().try_clone_to_owned().expect("stdin is open"));
    panic_to(&control);
    if profile == "open" {
        // The same scene where nothing holds it.
        scenes::act_in_the_open(scene, with, &control);
        say(&control, &format!("{scene}: done\nthe end"));
        return 0;
    }
    let zygote = match Zygote::seal(terms(profile), &[stdin.as_fd(), control.as_fd()]) {
        Ok(zygote) => zygote,
        Err(fault) => {
            say(&control, &format!("zygote: {fault}"));
            return 1;
        }
    };
    if scene == "paces" {
        say(&control, &living::paces(&zygote));
    }
    let (notices, noticed) = std::io::pipe().expect("a pipe");
    match zygote.fork() {
        Err(fault) => say(&control, &format!("fork: {fault}")),
        Ok(Forked::Worker(fork)) if scene == "dropped" => drop(fork),
        Ok(Forked::Worker(fork)) => {
            let channel: OwnedFd = control.try_clone().expect("there are descriptors").into();
            match fork.seal(channel, Some(noticed.into())) {
                Err(Unsealed { fault, channel }) => {
                    say(&File::from(channel.expect("its descriptors are in place")), &format!("worker: {fault}\n"));
                }
                Ok((worker, channel)) => {
                    let channel = File::from(channel);
                    panic_to(&channel);
                    scenes::act(scene, with, worker, &channel);
                    say(&channel, &format!("{scene}: done\n"));
                }
            }
            // Nothing of the test harness is to run here.
            std::process::exit(0);
        }
        Ok(Forked::Zygote(_pidfd)) => {
            let (_, ended) = rustix::process::wait(WaitOptions::empty()).expect("it was forked").expect("it ended");
            drop(noticed);
            let mut bytes = Vec::new();
            { notices }.read_to_end(&mut bytes).expect("notices");
            for notice in bytes.as_chunks::<NOTICE_BYTES>().0 {
                say(&control, &format!("called {}\n", Notice::read(*notice).expect("a notice").call()));
            }
            let words = match (ended.exit_status(), ended.terminating_signal()) {
                (Some(0), _) => "the end".to_owned(),
                (Some(code), _) => format!("ended with {code}"),
                (_, signal) => format!("ended by signal {}", signal.unwrap_or(0)),
            };
            say(&control, &words);
        }
    }
    0
}

/// Starts a scene; what is said in it comes from the socket.
fn start(profile: &str, scene: &str, with: &str) -> (Child, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let child = Command::new("/proc/self/exe")
        .arg0(ARGV0)
        .args([profile, scene, with])
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .spawn()
        .expect("this binary starts again");
    (child, ours)
}

/// Everything that was said while the scene was acted.
fn rehearse(profile: &str, scene: &str, with: &str) -> String {
    let (mut child, mut ours) = start(profile, scene, with);
    let mut words = String::new();
    ours.read_to_string(&mut words).expect("words");
    child.wait().expect("it ends");
    words
}

/// What was said when a scene was acted to its end.
fn played(profile: &str, scene: &str, with: &str) -> Vec<String> {
    let words = rehearse(profile, scene, with);
    let (told, end) =
        words.split_once(&format!("{scene}: done\n")).unwrap_or_else(|| panic!("{profile} {scene}: {words}"));
    assert!(end.ends_with("the end"), "{profile} {scene}: {words}");
    told.lines().chain(end.lines()).filter(|line| *line != "the end").map(str::to_owned).collect()
}
