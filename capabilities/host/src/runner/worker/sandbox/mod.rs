//! What holds a worker to what it was handed.
//!
//! A [`Zygote`] is a process that closed itself off before it had a second thread: no environment, no descriptor but its
//! socket, no privileges to gain, limits, and a list of the system calls that it and everything forked from it may make.
//! A [`Fork`] of it becomes a [`Worker`] before any code of an author's: a user of its own, no file and no signal by Landlock,
//! no way to make another process. With [`Worker::arm`] the kernel ends it at its deadline whatever the host does, and
//! [`Worker::lock`] takes away the means to change that.
//!
//! ```text
//! Zygote::seal ─ fork ─┬─ pidfd, to the host
//!                      └─ Fork::seal ─ Worker::arm ─ Worker::lock ─ body
//! ```
//!
//! Everything that the base promise rests on needs no privilege: filters of system calls and Landlock. A user of its own,
//! and namespaces, come on top where they can be had; [`Achieved`] says which.

mod achieved;
pub mod attempts;
mod bpf;
mod calls;
pub mod command;
mod fault;
mod filter;
mod identity;
pub mod keeper;
mod landlock;
mod limits;
mod namespaces;
mod sys;
mod trap;

pub use achieved::{Achieved, Identity, Item, Namespaces};
pub use fault::{SandboxFault, Step};
pub use limits::Limits;
pub use trap::{NOTICE_BYTES, Notice};

use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::process::{DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions};
use serde::{Deserialize, Serialize};

use fault::At as _;

/// Where a worker's channel to the host is.
pub const CHANNEL: RawFd = 3;
/// Where notices of refused calls go, when there is somewhere: in the place of standard input, which a body is not given.
const NOTICES: RawFd = 0;

/// What a worker's system calls are cut to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Profile {
    /// For bodies whose handles are served by messages alone.
    Sealed,
    /// For bodies that are handed connected sockets, as `Http` is: their options besides.
    Connected,
}

/// Whether a worker may do without something that is promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strictness {
    /// What the promise rests on is there, or there is no worker.
    Promised,
    /// An operator accepted less: what the kernel lacks is left out and told by [`Achieved`].
    Degraded,
}

/// How a zygote and its workers are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Which system calls there are.
    pub profile: Profile,
    /// Whether less than what is promised is enough.
    pub strictness: Strictness,
    /// How much of what is counted a worker may have.
    pub limits: Limits,
}

impl Terms {
    /// Everything that is promised, with the default limits.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self { profile, strictness: Strictness::Promised, limits: Limits::default() }
    }
}

/// A process that is closed off and forks workers.
///
/// It stays a process with one thread: it must start none.
#[derive(Debug)]
pub struct Zygote {
    terms: Terms,
    pid: Pid,
    /// Whether workers can be given users of their own.
    sets_users: bool,
    achieved: Achieved,
    programs: filter::Prepared,
    /// Bound to the thread that sealed it.
    _one_thread: std::marker::PhantomData<*const ()>,
}

/// Which process one is in after a fork.
#[derive(Debug)]
pub enum Forked<'a> {
    /// The zygote, with a handle on the new process. It was made before the process could be waited for, so it is that one.
    Zygote(OwnedFd),
    /// The new process, which must be sealed and must never return to what the zygote was doing.
    Worker(Fork<'a>),
}

/// A fork of a zygote that is not a worker yet.
#[derive(Debug)]
#[must_use = "a fork that is not sealed has the zygote's rights, and ends the process when it is dropped"]
pub struct Fork<'a> {
    zygote: &'a Zygote,
}

impl Zygote {
    /// Closes this process off. `kept` are the descriptors it keeps; `/dev/null` takes the place of standard streams that
    /// are not among them.
    ///
    /// The process must be a fresh one: one thread, an empty environment, not the leader of a process group.
    ///
    /// # Errors
    ///
    /// The step that failed. The process is then neither open nor closed and must end.
    pub fn seal(terms: Terms, kept: &[BorrowedFd<'_>]) -> Result<Self, SandboxFault> {
        if std::env::vars_os().next().is_some() {
            return Err(SandboxFault::wrong(Step::EmptyEnvironment));
        }
        let tasks = std::fs::read_dir("/proc/self/task").at(Step::SingleThread)?;
        if tasks.count() != 1 {
            return Err(SandboxFault::wrong(Step::SingleThread));
        }
        sys::unblock_signals().at(Step::Signals)?;
        // Children are waited for before the next fork, so that a number is not used again while it is still meant.
        sys::on_signal(libc::SIGCHLD, sys::SignalAnswer::Default).at(Step::Signals)?;
        descriptors_of_zygote(kept)?;
        rustix::process::setsid().at(Step::Session)?;
        // When memory runs out, a worker goes before the host does. Where this cannot be said, the limit on data holds still.
        let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let sets_users = identity::sets_users()?;
        let namespaces = namespaces::leave(sets_users);
        rustix::process::chdir("/").at(Step::Session)?;
        terms.limits.set().at(Step::Limits)?;
        rustix::thread::set_no_new_privs(true).at(Step::NoNewPrivileges)?;
        identity::keep_only_what_workers_need(sets_users)?;
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::ParentDeath)?;
        sys::install(&filter::inherited(terms.profile).program(), false).at(Step::Filter)?;
        let achieved = Achieved {
            profile: terms.profile,
            landlock: None,
            identity: Identity::Shared,
            tasks: None,
            timer: false,
            namespaces,
        };
        let pid = rustix::process::getpid();
        let programs = filter::Prepared::new();
        Ok(Self { terms, pid, sets_users, achieved, programs, _one_thread: std::marker::PhantomData })
    }

    /// Forks.
    ///
    /// # Errors
    ///
    /// The kernel forks no more for now; in the zygote only.
    pub fn fork(&self) -> Result<Forked<'_>, SandboxFault> {
        while let Ok(Some(_)) = rustix::process::wait(WaitOptions::NOHANG) {}
        match sys::fork(self).at(Step::Fork)? {
            sys::Side::Child => Ok(Forked::Worker(Fork { zygote: self })),
            sys::Side::Parent(pid) => {
                rustix::process::pidfd_open(pid, PidfdFlags::empty()).map(Forked::Zygote).at(Step::Fork)
            }
        }
    }
}

impl Fork<'_> {
    /// Makes this process a worker. Open in it are four descriptors: `channel`, given back as [`CHANNEL`], `/dev/null` as
    /// standard output and error, and in the place of standard input `notices`, the writing end of a pipe that takes
    /// [`Notice`]s and does not block; without it, `/dev/null` once more.
    ///
    /// Whatever owned a descriptor in the zygote owns nothing in this process any more, and must not be dropped in it.
    ///
    /// # Errors
    ///
    /// The step that failed, and the channel to say so. The process must end then: it is neither the zygote nor a worker.
    pub fn seal(self, channel: OwnedFd, notices: Option<OwnedFd>) -> Result<(Worker, OwnedFd), Unsealed> {
        // From here on the process is what this returns.
        let fork = std::mem::ManuallyDrop::new(self);
        let channel = descriptors_of_worker(channel, notices).map_err(|fault| Unsealed { fault, channel: None })?;
        match fork.close() {
            Ok(worker) => Ok((worker, channel)),
            Err(fault) => Err(Unsealed { fault, channel: Some(channel) }),
        }
    }

    fn close(&self) -> Result<Worker, SandboxFault> {
        let zygote = self.zygote;
        let pid = rustix::process::getpid();
        let mut achieved = zygote.achieved;
        achieved.identity = identity::become_own(zygote.sets_users, pid)?;
        if achieved.identity != Identity::Shared {
            zygote.terms.limits.set_tasks().at(Step::Limits)?;
            achieved.tasks = Some(zygote.terms.limits.tasks);
        }
        // Changing the user resets both.
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).at(Step::ParentDeath)?;
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).at(Step::ParentDeath)?;
        // A zygote that died before the line above sends nothing any more.
        if rustix::process::getppid() != Some(zygote.pid) {
            return Err(SandboxFault::wrong(Step::ParentDeath));
        }
        achieved.landlock = landlock::close(zygote.terms.strictness)?;
        sys::on_signal(libc::SIGPIPE, sys::SignalAnswer::Ignore).at(Step::Signals)?;
        sys::on_signal(libc::SIGXFSZ, sys::SignalAnswer::Ignore).at(Step::Signals)?;
        trap::install().at(Step::Signals)?;
        let mut programs = zygote.programs.clone();
        sys::install(programs.settled(pid.as_raw_nonzero().get().cast_unsigned()), false).at(Step::Filter)?;
        Ok(Worker { timer: None, achieved, programs })
    }
}

impl Drop for Fork<'_> {
    /// A process with the zygote's rights that nobody seals must not go on.
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// A fork that could not be made a worker.
#[derive(Debug)]
pub struct Unsealed {
    /// The step that failed.
    pub fault: SandboxFault,
    /// The channel, once it is where it belongs: to tell the host.
    pub channel: Option<OwnedFd>,
}

/// A process that can reach nothing but what comes through its channel.
#[derive(Debug)]
pub struct Worker {
    timer: Option<sys::KillTimer>,
    achieved: Achieved,
    programs: filter::Prepared,
}

impl Worker {
    /// What holds in it.
    #[must_use]
    pub fn achieved(&self) -> &Achieved {
        &self.achieved
    }

    /// The kernel ends this process when `after` has passed, by a signal that nothing can hold up. A later call replaces
    /// an earlier one.
    ///
    /// # Errors
    ///
    /// The kernel has no timer to give.
    pub fn arm(&mut self, after: Duration) -> Result<(), SandboxFault> {
        let timer = sys::KillTimer::new().at(Step::Timer)?;
        timer.start(after).at(Step::Timer)?;
        if let Some(earlier) = self.timer.replace(timer) {
            earlier.delete();
        }
        self.achieved.timer = true;
        Ok(())
    }

    /// Takes away the means to change timers and filters, in every thread at once. What is left holds for good.
    ///
    /// It holds against what runs after it. Code of an author's that ran before could have put filters of its own in front,
    /// which answer this that all is well.
    ///
    /// # Errors
    ///
    /// No timer is armed or left, or another thread has filters of its own. The process must end then.
    pub fn lock(self) -> Result<Achieved, SandboxFault> {
        let Some(timer) = self.timer else { return Err(SandboxFault::wrong(Step::Timer)) };
        let is_same_everywhere = sys::install(self.programs.locked(), true).at(Step::Lock)?;
        // A timer that was taken away is one that there is not.
        if !is_same_everywhere || !timer.runs().unwrap_or(false) {
            return Err(SandboxFault::wrong(Step::Lock));
        }
        Ok(self.achieved)
    }
}

fn descriptors_of_zygote(kept: &[BorrowedFd<'_>]) -> Result<(), SandboxFault> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null").at(Step::Descriptors)?;
    let mut kept: Vec<RawFd> = kept.iter().map(|fd| fd.as_raw_fd()).collect();
    kept.sort_unstable();
    // 1 is where workers take theirs from.
    for stream in 0..=2 {
        if stream == 1 || !kept.contains(&stream) {
            sys::fill(null.as_raw_fd(), stream).at(Step::Descriptors)?;
        }
    }
    drop(null);
    sys::close_all_but(3, &kept).at(Step::Descriptors)
}

fn descriptors_of_worker(channel: OwnedFd, notices: Option<OwnedFd>) -> Result<OwnedFd, SandboxFault> {
    // Both out of the way of where either goes.
    let channel = sys::lift(channel, CHANNEL + 1).at(Step::Descriptors)?;
    let notices = notices.map(|notices| sys::lift(notices, CHANNEL + 1)).transpose().at(Step::Descriptors)?;
    let channel = sys::place(channel, CHANNEL).at(Step::Descriptors)?;
    match notices {
        None => sys::fill(1, NOTICES).at(Step::Descriptors)?,
        Some(notices) => trap::notices_at(sys::place(notices, NOTICES).at(Step::Descriptors)?),
    }
    sys::fill(1, 2).at(Step::Descriptors)?;
    sys::close_all_but(CHANNEL, &[CHANNEL]).at(Step::Descriptors)?;
    Ok(channel)
}

#[cfg(test)]
mod tests;
