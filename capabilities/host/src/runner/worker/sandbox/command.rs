//! What holds a command that the host runs: any program, and everything it starts.
//!
//! A [`Keeper`] is a process with one thread that leaves the namespaces it can leave and stays outside of the rest, so that it can
//! end whatever is inside. Its one fork becomes the [`Inside`]: the first process of a namespace where there is one, without
//! capabilities, held to some directories by Landlock and to calls without sockets, mounts and other processes' memory. All of it is
//! inherited by every program, and none of it can be given back.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};
use rustix::fs::Mode;
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Pid, PidfdFlags, Resource, Signal};

use super::fault::At as _;
use super::{SandboxFault, Step, filter, identity, limits, namespaces, sys};

/// The most processes of one command, where the kernel counts them for it: the least that it lets one say.
const MOST_PROCESSES: u32 = 320;
/// Since when a namespace of processes counts them for itself. Before, the number would be the whole machine's.
const COUNTS_SINCE: (u32, u32) = (6, 14);

/// The first version of Landlock that keeps signals inside.
const SCOPES_SIGNALS: u32 = 6;

/// What of the system a command reads and runs.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt"];
/// What it only reads.
const READ: [&str; 14] = [
    "/etc/alternatives",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/ssl/certs",
    "/etc/timezone",
];
/// Devices that hold nothing of this machine's.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// What could be had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Kept {
    /// The processes have a namespace, which ends as one.
    pub processes: bool,
    /// There is no network interface.
    pub network: bool,
    /// There is a view of processes that shows these and no others.
    pub view: bool,
    /// How many processes there can be.
    pub most_processes: Option<u32>,
    /// The version of Landlock that holds.
    pub files: Option<u32>,
}

/// The process that ends the others.
#[derive(Debug)]
pub struct Keeper {
    kept: Kept,
    files: bool,
    pid: Pid,
}

/// What a keeper has forked.
#[derive(Debug)]
pub enum Sides {
    /// The keeper, with a handle on the other.
    Keeper(OwnedFd),
    /// The process that becomes the command's first.
    Inside(Inside),
}

/// The process that everything of a command descends from.
#[derive(Debug)]
pub struct Inside {
    kept: Kept,
    files: bool,
    keeper: Pid,
}

impl Keeper {
    /// Makes this process one. It must be a fresh one, with one thread and no environment.
    ///
    /// # Errors
    /// The step that failed. The process must end then.
    pub fn become_one() -> Result<Self, SandboxFault> {
        if std::env::vars_os().next().is_some() {
            return Err(SandboxFault::wrong(Step::EmptyEnvironment));
        }
        if std::fs::read_dir("/proc/self/task").at(Step::SingleThread)?.count() != 1 {
            return Err(SandboxFault::wrong(Step::SingleThread));
        }
        sys::unblock_signals().at(Step::Signals)?;
        sys::on_signal(libc::SIGCHLD, sys::SignalAnswer::Default).at(Step::Signals)?;
        sys::on_signal(libc::SIGPIPE, sys::SignalAnswer::Default).at(Step::Signals)?;
        sys::close_all_but(3, &[]).at(Step::Descriptors)?;
        rustix::process::setsid().at(Step::Session)?;
        rustix::process::umask(Mode::from_raw_mode(0o022));
        rustix::process::chdir("/").at(Step::Session)?;
        limit().at(Step::Limits)?;
        let pid = rustix::process::getpid();
        // Whatever loses its parent inside becomes this one's child, where there is no namespace to end it.
        rustix::process::set_child_subreaper(Some(pid)).at(Step::ParentDeath)?;
        let privileged = identity::sets_users()?;
        let (mut kept, mut files) = (Kept::default(), false);
        if privileged || namespaces::enter_user_namespace() {
            kept.network = sys::leave_namespaces(libc::CLONE_NEWNET).is_ok();
            let _ = sys::leave_namespaces(libc::CLONE_NEWIPC);
            let _ = sys::leave_namespaces(libc::CLONE_NEWUTS);
            kept.processes = sys::leave_namespaces(libc::CLONE_NEWPID).is_ok();
            files = sys::leave_namespaces(libc::CLONE_NEWNS).is_ok()
                && mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).is_ok();
        }
        rustix::thread::set_no_new_privs(true).at(Step::NoNewPrivileges)?;
        Ok(Self { kept, files, pid })
    }

    /// What it could leave.
    #[must_use]
    pub fn kept(&self) -> Kept {
        self.kept
    }

    /// Forks, once.
    ///
    /// # Errors
    /// The kernel forks no more for now.
    pub fn fork(&self) -> Result<Sides, SandboxFault> {
        match sys::fork_alone(self).at(Step::Fork)? {
            sys::Side::Child => Ok(Sides::Inside(Inside { kept: self.kept, files: self.files, keeper: self.pid })),
            sys::Side::Parent(pid) => {
                rustix::process::pidfd_open(pid, PidfdFlags::empty()).map(Sides::Keeper).at(Step::Fork)
            }
        }
    }
}

impl Inside {
    /// Holds this process, and every program that it starts, to these directories and to what the system has.
    ///
    /// # Errors
    /// The step that failed. The process must end then.
    pub fn hold(mut self, workspace: BorrowedFd<'_>, home: &Path) -> Result<Kept, SandboxFault> {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).at(Step::ParentDeath)?;
        // In a namespace of its own it does not see its parent; elsewhere that one must still be there.
        if !self.kept.processes && rustix::process::getppid() != Some(self.keeper) {
            return Err(SandboxFault::wrong(Step::ParentDeath));
        }
        if self.kept.processes && self.files {
            let flags = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
            self.kept.view = mount("proc", "/proc", "proc", flags, None::<&std::ffi::CStr>).is_ok();
            if self.kept.view && counts_for_itself() {
                let said = std::fs::write("/proc/sys/kernel/pid_max", MOST_PROCESSES.to_string()).is_ok();
                self.kept.most_processes = said.then_some(MOST_PROCESSES);
            }
        }
        identity::give_up_everything()?;
        let landlock = self.confine(workspace, home)?;
        // Signals: a namespace hides whom they could be sent to, and so does Landlock from this version on. With neither, a command
        // could end the host that holds it.
        if !self.kept.processes && landlock < SCOPES_SIGNALS {
            return Err(SandboxFault::wrong(Step::Landlock));
        }
        self.kept.files = Some(landlock);
        sys::install(&filter::commands().program(), false).at(Step::Filter)?;
        Ok(self.kept)
    }

    fn confine(&self, workspace: BorrowedFd<'_>, home: &Path) -> Result<u32, SandboxFault> {
        let wrong = |_: RulesetError| SandboxFault::wrong(Step::Landlock);
        let status = self.ruleset(workspace, home).and_then(RulesetCreated::restrict_self).map_err(wrong)?;
        match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => Ok(effective_abi as u32),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => Err(SandboxFault::wrong(Step::Landlock)),
        }
    }

    fn ruleset(&self, workspace: BorrowedFd<'_>, home: &Path) -> Result<RulesetCreated, RulesetError> {
        let (all, read) = (AccessFs::from_all(ABI::V10), AccessFs::ReadFile | AccessFs::ReadDir);
        let file = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(ABI::V1))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)?
            .handle_access(AccessNet::from_all(ABI::V10))?
            .scope(Scope::from_all(ABI::V10))?
            .create()?;
        ruleset = ruleset.add_rule(PathBeneath::new(workspace, all))?;
        ruleset = below(ruleset, &home.to_string_lossy(), all)?;
        for path in SYSTEM {
            ruleset = below(ruleset, path, read | AccessFs::Execute)?;
        }
        for path in READ {
            ruleset = below(ruleset, path, if Path::new(path).is_dir() { read } else { AccessFs::ReadFile.into() })?;
        }
        for path in DEVICES {
            ruleset = below(ruleset, path, file)?;
        }
        if self.kept.view {
            ruleset = below(ruleset, "/proc", read)?;
        }
        Ok(ruleset)
    }
}

/// What is not there needs no rule.
fn below(ruleset: RulesetCreated, path: &str, access: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(found) => ruleset.add_rule(PathBeneath::new(found, access)),
        Err(_) => Ok(ruleset),
    }
}

/// What each process of a command may have at most.
fn limit() -> rustix::io::Result<()> {
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Memlock, 1 << 20),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
        (Resource::Nofile, 1024),
        (Resource::Fsize, 4 << 30),
        (Resource::Data, 4 << 30),
    ] {
        limits::set(resource, most)?;
    }
    Ok(())
}

fn counts_for_itself() -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= COUNTS_SINCE
}
