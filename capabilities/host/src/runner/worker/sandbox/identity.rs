//! Who a worker is to the kernel.

use rustix::io::Errno;
use rustix::process::{Gid, Pid, Uid};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::fault::At as _;
use super::{Identity, SandboxFault, Step, sys};

/// Users from here on are workers': far from those that a system or its containers give out, and below what is negative.
/// The process number is added, so no two workers that live at a time are the same user.
const FIRST: u32 = 0x7000_0000;

/// `KILL` is for the last thing a zygote does: the kernel sends its workers the signal of its death in its name, and
/// without it may not, since they are other users.
const NEEDED: CapabilitySet =
    CapabilitySet::SETUID.union(CapabilitySet::SETGID).union(CapabilitySet::SETPCAP).union(CapabilitySet::KILL);

/// Whether this process may choose who it is.
pub(super) fn sets_users() -> Result<bool, SandboxFault> {
    Ok(capabilities(None).at(Step::Capabilities)?.effective.contains(NEEDED))
}

/// In the zygote: keeps the capabilities that make workers users of their own, and gives up the others.
pub(super) fn keep_only_what_workers_need(sets_users: bool) -> Result<(), SandboxFault> {
    let kept = if sets_users { NEEDED } else { CapabilitySet::empty() };
    if sets_users {
        for number in 0..u64::BITS {
            if kept.bits() >> number & 1 == 0 && !sys::drop_bounding(number).at(Step::Capabilities)? {
                break;
            }
        }
    }
    give_up_all_but(kept)
}

/// In the worker: becomes a user that no other process is, where this can be had, and gives up every capability.
pub(super) fn become_own(sets_users: bool, pid: Pid) -> Result<Identity, SandboxFault> {
    let mut identity = Identity::Shared;
    if sets_users {
        // The zygote's bounding set has no others any more.
        for number in (0..u64::BITS).filter(|number| NEEDED.bits() >> number & 1 == 1) {
            sys::drop_bounding(number).at(Step::Capabilities)?;
        }
        let number = FIRST.saturating_add(pid.as_raw_nonzero().get().cast_unsigned());
        if become_user(number).at(Step::Identity)? {
            identity = Identity::OwnUser;
        }
    }
    // A user namespace of its own counts its tasks apart as well.
    if identity == Identity::Shared && sys::leave_namespaces(libc::CLONE_NEWUSER).is_ok() {
        identity = Identity::UserNamespace;
    }
    give_up_all_but(CapabilitySet::empty())?;
    Ok(identity)
}

/// `Ok(false)` in a container that lets nobody leave their groups, or whose users do not reach that far.
fn become_user(number: u32) -> rustix::io::Result<bool> {
    let (user, group) = (Uid::from_raw(number), Gid::from_raw(number));
    let changed = rustix::thread::set_thread_groups(&[])
        .and_then(|()| rustix::thread::set_thread_res_gid(group, group, group))
        .and_then(|()| rustix::thread::set_thread_res_uid(user, user, user));
    match changed {
        Ok(()) => Ok(true),
        Err(Errno::PERM | Errno::INVAL) => Ok(false),
        Err(error) => Err(error),
    }
}

/// In what runs commands: no capability, and none that a program could get.
pub(super) fn give_up_everything() -> Result<(), SandboxFault> {
    if capabilities(None).at(Step::Capabilities)?.effective.contains(CapabilitySet::SETPCAP) {
        for number in 0..u64::BITS {
            if !sys::drop_bounding(number).at(Step::Capabilities)? {
                break;
            }
        }
    }
    give_up_all_but(CapabilitySet::empty())
}

fn give_up_all_but(kept: CapabilitySet) -> Result<(), SandboxFault> {
    let wanted = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    if capabilities(None).at(Step::Capabilities)? != wanted {
        set_capabilities(None, wanted).at(Step::Capabilities)?;
        if capabilities(None).at(Step::Capabilities)? != wanted {
            return Err(SandboxFault::wrong(Step::Capabilities));
        }
    }
    Ok(())
}
