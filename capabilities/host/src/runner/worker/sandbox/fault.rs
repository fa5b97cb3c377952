//! What keeps a sandbox from being there.

use core::fmt;

use serde::{Deserialize, Serialize};

/// A step of the way into the sandbox that failed. The process it failed in runs nothing and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxFault {
    /// Which step.
    pub step: Step,
    /// The kernel's error number; 0 when the kernel did what it was asked and the result is not what it must be.
    pub errno: i32,
}

impl SandboxFault {
    pub(super) const fn wrong(step: Step) -> Self {
        Self { step, errno: 0 }
    }
}

/// Steps of the way into the sandbox, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// The zygote has one thread.
    SingleThread,
    /// The zygote has no environment.
    EmptyEnvironment,
    /// A session, a directory and a mask that are nobody else's.
    Session,
    /// Every descriptor that was not handed over is closed.
    Descriptors,
    /// Memory, files and what else is counted has a limit.
    Limits,
    /// No program gives back what was given up.
    NoNewPrivileges,
    /// Capabilities are given up.
    Capabilities,
    /// A user of the worker's own.
    Identity,
    /// The worker is not read by its like, and dies with its zygote.
    ParentDeath,
    /// No file, connection or signal, by Landlock.
    Landlock,
    /// The system calls that are allowed.
    Filter,
    /// Signals have the answers they must have.
    Signals,
    /// The kernel ends the worker at its deadline.
    Timer,
    /// Timer and filters stay as they are.
    Lock,
    /// One more worker.
    Fork,
}

impl Step {
    /// What it was about, to be read behind "cannot".
    const fn words(self) -> &'static str {
        match self {
            Self::SingleThread => "be sure that the zygote has one thread only",
            Self::EmptyEnvironment => "start with an empty environment",
            Self::Session => "leave the host's session and directory",
            Self::Descriptors => "close what it was not handed",
            Self::Limits => "set its limits",
            Self::NoNewPrivileges => "give up new privileges",
            Self::Capabilities => "give up capabilities",
            Self::Identity => "become a user of its own",
            Self::ParentDeath => "tie its life to its zygote's",
            Self::Landlock => "close the file system by Landlock",
            Self::Filter => "install its filter of system calls",
            Self::Signals => "set its answers to signals",
            Self::Timer => "start its kill timer",
            Self::Lock => "lock its timer and filters",
            Self::Fork => "fork one more worker",
        }
    }

    const fn help(self) -> &'static str {
        match self {
            Self::SingleThread | Self::EmptyEnvironment | Self::Session | Self::Descriptors => {
                "start the zygote as a program of its own, from the host, with nothing inherited"
            }
            Self::Landlock => {
                "run a kernel of 5.13 or later with `landlock` among its security modules (`lsm=`), or accept `degraded`"
            }
            Self::Fork | Self::Limits => {
                "look for limits on the host's processes and memory, such as a unit's `TasksMax`"
            }
            Self::NoNewPrivileges
            | Self::Capabilities
            | Self::Identity
            | Self::ParentDeath
            | Self::Filter
            | Self::Signals
            | Self::Timer
            | Self::Lock => {
                "look for a container's own filter around the host; it must allow `seccomp`, `prctl` and `timer_create`"
            }
        }
    }
}

impl fmt::Display for SandboxFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a worker cannot {}", self.step.words())?;
        if self.errno != 0 {
            write!(f, ": {}", std::io::Error::from_raw_os_error(self.errno))?;
        }
        write!(f, "\nhelp: {}", self.step.help())
    }
}

impl std::error::Error for SandboxFault {}

/// Says which step an error belongs to.
pub(super) trait At<T> {
    fn at(self, step: Step) -> Result<T, SandboxFault>;
}

impl<T> At<T> for std::io::Result<T> {
    fn at(self, step: Step) -> Result<T, SandboxFault> {
        self.map_err(|error| SandboxFault { step, errno: error.raw_os_error().unwrap_or(0) })
    }
}

impl<T> At<T> for rustix::io::Result<T> {
    fn at(self, step: Step) -> Result<T, SandboxFault> {
        self.map_err(|error| SandboxFault { step, errno: error.raw_os_error() })
    }
}
