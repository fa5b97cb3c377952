//! Keeps a program of somebody else's and whatever it starts together, so that all of it ends at once.
//!
//! This same binary stands twice between a host and such a program. The outer process holds the other end of the host's
//! socket: when that closes, by the host's word or by its death however sudden, everything is killed. The inner one is the
//! first process of a namespace of processes where there can be one: with it the kernel kills all the others, wherever they
//! hid. Where there can be none, the outer one adopts what is orphaned and kills until nothing is left.
//!
//! What is kept here is no sandbox: the program can reach what its user can reach, but for the host's own directory, whose
//! place an empty one takes where that can be done.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, pidfd_open, pidfd_send_signal, setrlimit};

use super::namespaces::enter_user_namespace;
use super::{sys, tree};
use crate::runner::worker::channel::receive_with;
use crate::runner::worker::zygote::exit;

/// What the outer process is called, in place of the program's name.
pub const NAME: &str = "capability-keeper";
/// What the inner one is.
pub const INNER: &str = "capability-kept";

/// The keeper has started the inner process. A byte follows that says what holds: [`TOGETHER`] and [`HIDDEN`].
pub const STARTED: u8 = b'+';
/// The keeper could not.
pub const FAILED: u8 = b'-';
/// The program has ended. Its exit status follows, or 255.
pub const ENDED: u8 = b'.';
/// The kernel keeps the program and all that it starts together.
pub const TOGETHER: u8 = 1;
/// The host's directory is hidden from them.
pub const HIDDEN: u8 = 2;
/// What the inner process ends with when it could not start the program.
pub const NO_PROGRAM: u8 = 127;

/// What tells the inner process that mounting concerns nobody else.
const OWN_MOUNTS: &str = "own-mounts";

/// The outer process. Its words: the directory that is hidden, the program and its arguments. Its standard input is the
/// host's socket, standard output and error are the program's, and so are environment and working directory.
pub fn keep(words: impl Iterator<Item = OsString>) -> ! {
    let words: Vec<OsString> = words.collect();
    let socket = std::io::stdin();
    let Some((hidden, program)) = words.split_first() else { exit(2) };
    let Ok(inner) = started(&socket, hidden, program) else {
        tell(&socket, &[FAILED, 0]);
        exit(1);
    };
    tell(&socket, &[STARTED, inner.holds]);
    // Whatever comes over the socket is the end of it, and its end is too.
    let mut either = [PollFd::new(&socket, PollFlags::IN), PollFd::new(&inner.process, PollFlags::IN)];
    while poll(&mut either, None).is_err() {}
    tell(&socket, &[ENDED, inner.ended()]);
    exit(0);
}

/// The inner process: starts the program, waits for whatever ends, and ends with the program.
pub fn be_kept(mut words: impl Iterator<Item = OsString>) -> ! {
    let (Some(mounts), Some(program)) = (words.next(), words.next()) else { exit(2) };
    // The outer process is one thread, so that the end of its thread is its own.
    if rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_err() {
        exit(1);
    }
    if rustix::process::getpid() != Pid::INIT {
        // What is orphaned comes here first, to be waited for.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    } else if mounts == OWN_MOUNTS {
        // What it is shown of processes are its own. Many systems do not let it.
        let flags = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
        let _ = mount("proc", "/proc", "proc", flags, None);
    }
    let Ok(child) = Command::new(program).args(words).spawn() else { exit(NO_PROGRAM.into()) };
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let ended = leader.and_then(tree::wait_for);
    exit(ended.map_or(1, |status| status.exit_status().unwrap_or(255)))
}

/// The inner process as the outer one has it.
struct Inner {
    pid: Pid,
    process: OwnedFd,
    holds: u8,
}

fn started(socket: &impl AsFd, hidden: &OsStr, program: &[OsString]) -> Result<Inner, ()> {
    tree::take_in().map_err(drop)?;
    let (_, received) = receive_with(socket, &mut [0]).map_err(drop)?;
    let [input] = <[OwnedFd; 1]>::try_from(received).map_err(drop)?;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).map_err(drop)?;
    rustix::thread::set_no_new_privs(true).map_err(drop)?;
    let leave = || sys::leave_namespaces(libc::CLONE_NEWPID).is_ok();
    let together = leave() || (enter_user_namespace() && leave());
    // INVARIANT: nothing is mounted where somebody else would see it.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    let own_mounts = sys::leave_namespaces(libc::CLONE_NEWNS).is_ok() && mount_change("/", private).is_ok();
    let is_hidden = own_mounts && hide(hidden).is_ok();
    let mounts = if own_mounts { OWN_MOUNTS } else { "" };
    let inner = Command::new("/proc/self/exe").arg0(INNER).arg(mounts).args(program).stdin(Stdio::from(input)).spawn();
    let pid = i32::try_from(inner.map_err(drop)?.id()).ok().and_then(Pid::from_raw).ok_or(())?;
    let process = pidfd_open(pid, PidfdFlags::empty()).map_err(drop)?;
    let holds = if together { TOGETHER } else { 0 } | if is_hidden { HIDDEN } else { 0 };
    Ok(Inner { pid, process, holds })
}

/// Puts an empty directory that cannot be written in the place of one.
fn hide(directory: &OsStr) -> rustix::io::Result<()> {
    let flags = MountFlags::RDONLY | MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("none", directory, "tmpfs", flags, c"size=4k,nr_inodes=1,mode=0500")
}

impl Inner {
    /// Kills it and everything else, waits until it is gone, and says what it ended with.
    fn ended(&self) -> u8 {
        let mut status = 255;
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
        tree::end_all(|pid, ended| {
            if pid == self.pid {
                status = ended.exit_status().and_then(|code| u8::try_from(code).ok()).unwrap_or(255);
            }
        });
        status
    }
}

fn tell(socket: &impl AsFd, word: &[u8]) {
    // The host may be gone.
    let _ = rustix::net::send(socket, word, rustix::net::SendFlags::NOSIGNAL);
}
