//! The processes that descend from one, taken in and ended together.

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::fault::At as _;
use super::{SandboxFault, Step, sys};

/// Makes this process one that holds nothing but its first three descriptors and to which whatever loses its parent below it
/// comes. It must be a fresh one.
///
/// # Errors
/// The step that failed.
pub fn take_in() -> Result<(), SandboxFault> {
    sys::unblock_signals().at(Step::Signals)?;
    sys::on_signal(libc::SIGCHLD, sys::SignalAnswer::Default).at(Step::Signals)?;
    sys::on_signal(libc::SIGPIPE, sys::SignalAnswer::Default).at(Step::Signals)?;
    sys::close_all_but(3, &[]).at(Step::Descriptors)?;
    rustix::process::setsid().at(Step::Session)?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).at(Step::ParentDeath)
}

/// Waits until this child has ended, and lets go of whoever else does meanwhile.
pub fn wait_for(leader: Pid) -> Option<WaitStatus> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == leader => return Some(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Ends every child, those that were adopted among them, until there is none, and tells how each ended.
pub fn end_all(mut ended: impl FnMut(Pid, WaitStatus)) {
    loop {
        // With each that is gone its own children come here.
        let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
        for child in children.split_ascii_whitespace().filter_map(|number| Pid::from_raw(number.parse().ok()?)) {
            let _ = rustix::process::kill_process(child, Signal::KILL);
        }
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => ended(pid, status),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
