//! What holds in a worker, and what is lost where something does not.

use core::fmt;

use serde::{Deserialize, Serialize};

use super::Profile;
pub use super::namespaces::Namespaces;

/// Who a worker is to the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Identity {
    /// A user that no other process is.
    OwnUser,
    /// The host's user, in a namespace of the worker's own.
    UserNamespace,
    /// The host's user.
    Shared,
}

/// What holds in a worker. The filters of system calls, the limits and the tie to its zygote hold in every one, or there is
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Achieved {
    /// Which system calls it has.
    pub profile: Profile,
    /// The version of Landlock's interface that closes it.
    pub landlock: Option<u32>,
    /// Who it is.
    pub identity: Identity,
    /// The most threads it can have.
    pub tasks: Option<u32>,
    /// Whether the kernel ends it at its deadline.
    pub timer: bool,
    /// Which namespaces it is alone in.
    pub namespaces: Namespaces,
}

/// One thing that holds or does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// Files are closed a second time.
    Landlock,
    /// Signals and abstract sockets are closed a second time.
    LandlockScopes,
    /// A user that no other process is.
    OwnUser,
    /// A bound on threads.
    ThreadCap,
    /// The kernel's own timer.
    KernelTimer,
    /// No network interface.
    NetworkNamespace,
    /// No object of others' to talk through.
    IpcNamespace,
    /// An empty tree of files.
    EmptyTree,
}

impl Item {
    /// All there are.
    pub const ALL: [Self; 8] = [
        Self::Landlock,
        Self::LandlockScopes,
        Self::OwnUser,
        Self::ThreadCap,
        Self::KernelTimer,
        Self::NetworkNamespace,
        Self::IpcNamespace,
        Self::EmptyTree,
    ];

    /// Whether the base promise rests on it: a host does not start without, unless an operator accepts `degraded`.
    #[must_use]
    pub const fn is_promised(self) -> bool {
        matches!(self, Self::Landlock | Self::KernelTimer)
    }

    /// What is lost without it.
    #[must_use]
    pub const fn lost(self) -> &'static str {
        match self {
            Self::Landlock => "only the filter of system calls keeps a body from files",
            Self::LandlockScopes => "only the filter of system calls keeps a body from signals to other processes",
            Self::OwnUser => {
                "a body is the host's user: what only asks for the user is kept from it by the filter alone"
            }
            Self::ThreadCap => "a body may start threads until its memory is used up, and dies more slowly then",
            Self::KernelTimer => "a body outlives its deadline when the host stands still",
            Self::NetworkNamespace => "only the filter of system calls keeps a body from the network",
            Self::IpcNamespace => "only the filter of system calls keeps a body from System V objects",
            Self::EmptyTree => "only the filter and Landlock keep a body from the tree of files",
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Landlock => "Landlock on files",
            Self::LandlockScopes => "Landlock on signals and abstract sockets",
            Self::OwnUser => "a user of its own",
            Self::ThreadCap => "a bound on threads",
            Self::KernelTimer => "the kernel's timer",
            Self::NetworkNamespace => "an empty network namespace",
            Self::IpcNamespace => "an IPC namespace of its own",
            Self::EmptyTree => "an empty tree of files",
        })
    }
}

impl Achieved {
    /// Whether this holds.
    #[must_use]
    pub fn has(&self, item: Item) -> bool {
        match item {
            Item::Landlock => self.landlock.is_some(),
            Item::LandlockScopes => self.landlock.is_some_and(|version| version >= 6),
            Item::OwnUser => self.identity == Identity::OwnUser,
            Item::ThreadCap => self.tasks.is_some(),
            Item::KernelTimer => self.timer,
            Item::NetworkNamespace => self.namespaces.network,
            Item::IpcNamespace => self.namespaces.ipc,
            Item::EmptyTree => self.namespaces.files,
        }
    }

    /// What does not hold.
    pub fn missing(&self) -> impl Iterator<Item = Item> + '_ {
        Item::ALL.into_iter().filter(|item| !self.has(*item))
    }
}

impl fmt::Display for Achieved {
    /// A line for each item: what holds, or what is lost.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, item) in Item::ALL.into_iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            if self.has(item) { write!(f, "{item}")? } else { write!(f, "no {item}: {}", item.lost())? }
        }
        Ok(())
    }
}
