//! Which terminal somebody sits at.

use serde::{Deserialize, Serialize};

/// A controlling terminal and the session on it, as the kernel knows them: the terminal's device, the session leader's
/// process id, and when that process started, so that neither a reused process id nor a reused terminal is mistaken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalBinding {
    device: i32,
    leader: i32,
    leader_started: u64,
}

impl TerminalBinding {
    /// The terminal of this process; `None` when it has none or the system does not tell.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        Self::of(i32::try_from(std::process::id()).ok()?)
    }

    /// The terminal of another process, such as the peer of a socket.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        let stat = |pid| procfs::process::Process::new(pid).and_then(|process| process.stat()).ok();
        let own = stat(pid)?;
        let leader = stat(own.session)?;
        // A leader that gave its terminal up, or a process that was moved to another one, binds nothing.
        (own.tty_nr != 0 && own.session > 0 && leader.tty_nr == own.tty_nr && leader.session == own.session)
            .then_some(Self { device: own.tty_nr, leader: own.session, leader_started: leader.starttime })
    }

    /// The terminal of another process: not told on this system.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn of(_: i32) -> Option<Self> {
        None
    }

    #[cfg(test)]
    pub(crate) const fn fake(device: i32, leader: i32, leader_started: u64) -> Self {
        Self { device, leader, leader_started }
    }
}

/// What tells one start of the machine from the next. Where the system has no such id, it is one of this process: sessions
/// end with it then.
pub(super) fn boot_id() -> String {
    use std::sync::OnceLock;
    static OWN: OnceLock<String> = OnceLock::new();
    #[cfg(target_os = "linux")]
    if let Ok(text) = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        && !text.trim().is_empty()
    {
        return text.trim().to_owned();
    }
    OWN.get_or_init(|| match crate::environment::random::<16>() {
        Ok(bytes) => crate::hex::encode(&bytes),
        Err(_) => format!("process {}", std::process::id()),
    })
    .clone()
}
