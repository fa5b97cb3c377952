//! The whole way into the sandbox, in real processes.
//!
//! A test starts this very binary again. Before `main`, and so with one thread, it becomes a zygote, forks a worker, and the
//! worker acts a scene whose words come back over its channel.
#![expect(unsafe_code, reason = "what runs before main has to be put there by hand")]

mod scenes;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::WaitOptions;

use super::{Forked, Item, Profile, Strictness, Terms, Zygote};

const ARGV0: &str = "capability-rehearsal";

#[used]
#[unsafe(link_section = ".init_array")]
static ENTRY: extern "C" fn() = {
    extern "C" fn entry() {
        let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        if words.next().as_deref() == Some(ARGV0) {
            let (profile, scene) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            std::process::exit(zygote(&profile, &scene));
        }
    }
    entry
};

/// How long a scene may take.
const MOST: Duration = Duration::from_secs(60);

fn zygote(profile: &str, scene: &str) -> i32 {
    let profile = if profile == "connected" { Profile::Connected } else { Profile::Sealed };
    let terms = Terms { strictness: Strictness::Promised, ..Terms::new(profile) };
    let stdin = std::io::stdin();
    let mut control = File::from(stdin.as_fd().try_clone_to_owned().expect("stdin is open"));
    let say = |control: &mut File, words: String| control.write_all(words.as_bytes()).expect("the test listens");
    let zygote = match Zygote::seal(terms, &[stdin.as_fd(), control.as_fd()]) {
        Ok(zygote) => zygote,
        Err(fault) => {
            say(&mut control, format!("zygote: {fault}"));
            return 1;
        }
    };
    match zygote.fork() {
        Err(fault) => say(&mut control, format!("fork: {fault}")),
        Ok(Forked::Worker(fork)) => {
            let channel: OwnedFd = control.try_clone().expect("there are descriptors").into();
            std::mem::forget(control);
            match fork.seal(channel, None) {
                Err(fault) => eprintln!("{fault}"),
                Ok((mut worker, channel)) => {
                    let mut channel = File::from(channel);
                    let heard = channel.try_clone().expect("there are descriptors");
                    std::panic::set_hook(Box::new(move |panic| {
                        let _ = writeln!(&heard, "{panic}");
                    }));
                    worker.arm(MOST).expect("there is a timer");
                    let achieved = worker.lock().expect("it locks");
                    scenes::act(scene, &mut channel, &achieved);
                    writeln!(channel, "{scene}: done").expect("it is heard");
                }
            }
            // Nothing of the test harness is to run here.
            std::process::exit(0);
        }
        Ok(Forked::Zygote(_pidfd)) => {
            let (_, ended) = rustix::process::wait(WaitOptions::empty()).expect("it was forked").expect("it ended");
            let words = match (ended.exit_status(), ended.terminating_signal()) {
                (Some(0), _) => "the end".to_owned(),
                (code, signal) => format!("ended with {code:?}, by signal {signal:?}"),
            };
            say(&mut control, words);
        }
    }
    0
}

/// Everything that was said while the scene was acted.
fn rehearse(profile: &str, scene: &str) -> String {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let mut child = Command::new("/proc/self/exe")
        .arg0(ARGV0)
        .args([profile, scene])
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .expect("this binary starts again");
    let mut words = String::new();
    (&ours).read_to_string(&mut words).expect("words");
    child.wait().expect("it ends");
    words
}

/// What was said when a scene was acted to its end, without the words of its panics.
fn played(profile: &str, scene: &str) -> Vec<String> {
    let words = rehearse(profile, scene);
    let (told, end) =
        words.split_once(&format!("{scene}: done\nthe end")).unwrap_or_else(|| panic!("{profile}: {words}"));
    assert_eq!(end, "", "nothing comes after the end");
    told.lines().map(str::to_owned).collect()
}

#[test]
fn what_a_body_needs_works_in_both_profiles() {
    for profile in ["sealed", "connected"] {
        played(profile, "ordinary");
    }
}

#[test]
fn whatever_is_promised_holds() {
    let told = played("sealed", "achieved");
    println!("{}", told.join("\n"));
    for item in Item::ALL.iter().filter(|item| item.is_promised()) {
        assert!(told.contains(&item.to_string()), "{item}: {told:?}");
    }
}
