//! The keeper and the one inside, as processes.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command as Program, Stdio};
use std::time::{Duration, Instant};

use capability_core::handle::HowEnded;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, pidfd_send_signal};

use super::super::channel::{receive_with, send_with};
use super::super::sandbox::command::{Inside, Keeper, Sides};
use super::super::zygote::exit;
use super::{MAX_SAID, Said, Told, written};

/// In the byte that a keeper answers with: the command's processes have a namespace.
pub const HAS_PROCESSES: u8 = 1;
/// There is no network interface.
pub const HAS_NETWORK: u8 = 2;

/// Keeps one command, whose terms come from the socket that stands where standard input would.
pub fn serve() -> ! {
    let _ = keep();
    exit(0)
}

fn keep() -> Option<()> {
    let control = io::stdin();
    let keeper = Keeper::become_one().ok()?;
    let (workdir, workspace, told) = terms(&control)?;
    let home = told.home.clone();
    let until = Instant::now() + Duration::from_millis(u64::from(told.timeout_ms));
    match keeper.fork().ok()? {
        Sides::Inside(inside) => run(inside, &told, &workdir, &workspace),
        Sides::Keeper(process) => {
            drop((workdir, workspace));
            // Only the command holds its outputs open.
            silence();
            let flags =
                (u8::from(keeper.kept().processes) * HAS_PROCESSES) | (u8::from(keeper.kept().network) * HAS_NETWORK);
            if send_with(&control, &[flags], &[process.as_fd()]).is_err() {
                let _ = pidfd_send_signal(&process, Signal::KILL);
            }
            wait(&control, &process, until);
            let _ = pidfd_send_signal(&process, Signal::KILL);
            end_all();
            let _ = std::fs::remove_dir_all(home);
            Some(())
        }
    }
}

/// The two directories and what to run.
fn terms(control: &io::Stdin) -> Option<(OwnedFd, OwnedFd, Told)> {
    let (_, descriptors) = receive_with(control, &mut [0]).ok()?;
    let [workdir, workspace] = <[OwnedFd; 2]>::try_from(descriptors).ok()?;
    let mut control = control.lock();
    let mut length = [0; 4];
    control.read_exact(&mut length).ok()?;
    let length = usize::try_from(u32::from_le_bytes(length)).ok().filter(|length| *length <= MAX_SAID)?;
    let mut text = vec![0; length];
    control.read_exact(&mut text).ok()?;
    Some((workdir, workspace, serde_json::from_slice(&text).ok()?))
}

/// Until the process has ended, its time is over, or nobody is left on the other side.
fn wait(control: &io::Stdin, process: &OwnedFd, until: Instant) {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let left =
            Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(0), tv_nsec: i64::from(left.subsec_nanos()) };
        let mut watched = [PollFd::new(process, PollFlags::IN), PollFd::new(control, PollFlags::IN)];
        match poll(&mut watched, Some(&left)) {
            // Nothing is said any more: what can be read is the end.
            Ok(_) => return,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Ends whatever is left, until nothing is.
fn end_all() {
    loop {
        // Whoever lost its parent is this process's child by now, and so are its children once it is gone.
        if let Ok(children) = std::fs::read_to_string("/proc/thread-self/children") {
            for child in children.split_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)) {
                let _ = rustix::process::kill_process(child, Signal::KILL);
            }
        }
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Nothing is written from here on.
fn silence() {
    if let Ok(null) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Becomes what the command descends from.
fn run(inside: Inside, told: &Told, workdir: &OwnedFd, workspace: &OwnedFd) -> ! {
    let control = io::stdin();
    let said = match inside.hold(workspace.as_fd(), &told.home) {
        Err(fault) => Said::Unheld(fault.to_string()),
        Ok(kept) => Said::Ended(ended(told, workdir), kept),
    };
    if let Ok(said) = written(&said) {
        let _ = rustix::io::write(&control, &said);
    }
    exit(0)
}

/// Goes to a directory. Opened outside, it has no path in this namespace: the same one is opened anew here, and it must be that
/// very directory.
fn enter(workdir: &OwnedFd) -> rustix::io::Result<()> {
    let path = rustix::fs::readlink(format!("/proc/self/fd/{}", workdir.as_raw_fd()), Vec::new())?;
    let here =
        rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let (meant, found) = (rustix::fs::fstat(workdir)?, rustix::fs::fstat(&here)?);
    if (meant.st_dev, meant.st_ino) != (found.st_dev, found.st_ino) {
        return Err(rustix::io::Errno::XDEV);
    }
    rustix::process::fchdir(&here)
}

/// Runs it, and takes in whoever else ends meanwhile.
fn ended(told: &Told, workdir: &OwnedFd) -> HowEnded {
    let Some((program, arguments)) = told.argv.split_first() else { return HowEnded::NotStarted };
    if enter(workdir).is_err() {
        return HowEnded::NotStarted;
    }
    let spawned = Program::new(program)
        .args(arguments)
        .env_clear()
        .envs(told.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .spawn();
    let Ok(child) = spawned else { return HowEnded::NotStarted };
    silence();
    let leader = i32::try_from(child.id()).ok();
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid.as_raw_nonzero().get()) == leader => return how(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return HowEnded::NotStarted,
        }
    }
}

fn how(status: WaitStatus) -> HowEnded {
    let status = std::process::ExitStatus::from_raw(status.as_raw());
    match (status.code(), status.signal()) {
        (Some(code), _) => HowEnded::Exited(code),
        (None, Some(signal)) => HowEnded::Signalled(signal),
        (None, None) => HowEnded::NotStarted,
    }
}
