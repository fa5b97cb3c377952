//! Namespaces, which are an extra: many systems give them to no unprivileged process.

use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_change, unmount};
use serde::{Deserialize, Serialize};

use super::sys;

/// Which namespaces a zygote, and so its workers, left.
///
/// There is none of processes: in one of its own a worker would be the first process, which the kernel's timer cannot kill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces {
    /// There is no network interface.
    pub network: bool,
    /// There is no System V object and no message queue of others'.
    pub ipc: bool,
    /// The machine's name cannot be changed.
    pub names: bool,
    /// Paths begin in a directory that is empty and stays so.
    pub files: bool,
}

/// Leaves what can be left.
pub(super) fn leave(privileged: bool) -> Namespaces {
    // What is left without privileges is left for a user namespace, whose owner has them inside.
    if !privileged && !enter_user_namespace() {
        return Namespaces::default();
    }
    Namespaces {
        network: sys::leave_namespaces(libc::CLONE_NEWNET).is_ok(),
        ipc: sys::leave_namespaces(libc::CLONE_NEWIPC).is_ok(),
        names: sys::leave_namespaces(libc::CLONE_NEWUTS).is_ok(),
        files: sys::leave_namespaces(libc::CLONE_NEWNS).is_ok() && empty_tree().is_ok(),
    }
}

/// Keeps user and group as they are: a worker's own namespace can only be made by a user who has a name in this one.
pub(super) fn enter_user_namespace() -> bool {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    sys::leave_namespaces(libc::CLONE_NEWUSER).is_ok()
        && std::fs::write("/proc/self/setgroups", "deny").is_ok()
        && std::fs::write("/proc/self/gid_map", format!("{group} {group} 1")).is_ok()
        && std::fs::write("/proc/self/uid_map", format!("{user} {user} 1")).is_ok()
}

/// Puts an empty directory that cannot be written in the place of every path.
fn empty_tree() -> rustix::io::Result<()> {
    // A directory that every system has, and that is of no use any more.
    const AT: &str = "/proc";
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::RDONLY | MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("none", AT, "tmpfs", flags, c"size=4k,nr_inodes=1,mode=0555")?;
    rustix::process::chdir(AT)?;
    if rustix::process::pivot_root(".", ".").is_ok() {
        unmount(".", UnmountFlags::DETACH)?;
    } else {
        // The first file system of all cannot be moved away from. Leading back out of here takes a descriptor of a
        // directory or a privilege, and a worker has neither.
        rustix::process::chroot(".")?;
    }
    Ok(())
}
