//! The calls that no library makes safe: each in a function that cannot be called wrongly.
#![expect(unsafe_code, reason = "the kernel is asked by hand for what has no safe wrapper")]

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

use libc::{c_int, c_long, c_ulong, c_void, sock_filter};

fn checked(returned: c_long) -> io::Result<c_long> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

/// Which side of a fork this is.
pub(super) enum Side {
    /// The new process.
    Child,
    /// The old one, with the new one's number.
    Parent(rustix::process::Pid),
}

/// Copies this process.
///
/// The caller must be the only thread: a copy has none of the others, and locks that they held stay locked in it for good.
/// [`super::Zygote`] is the witness that it is.
pub(super) fn fork(_: &super::Zygote) -> io::Result<Side> {
    // SAFETY: a process with one thread, which the witness stands for, may do in its copy whatever it may do itself.
    let pid = checked(c_long::from(unsafe { libc::fork() }))?;
    let pid = i32::try_from(pid).map_err(io::Error::other)?;
    Ok(rustix::process::Pid::from_raw(pid).map_or(Side::Child, Side::Parent))
}

/// The same for the process that ends a command's, which made sure that it is alone.
pub(super) fn fork_alone(_: &super::command::Keeper) -> io::Result<Side> {
    // SAFETY: as in `fork`, with the keeper as the witness.
    let pid = checked(c_long::from(unsafe { libc::fork() }))?;
    let pid = i32::try_from(pid).map_err(io::Error::other)?;
    Ok(rustix::process::Pid::from_raw(pid).map_or(Side::Child, Side::Parent))
}

/// Makes `fd` the descriptor with the number `at`, whatever that was before. It is closed when a program is started.
pub(super) fn place(fd: OwnedFd, at: RawFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() == at {
        return Ok(fd);
    }
    // SAFETY: numbers are all this call is given. That nobody in this process owns `at` any more is the caller's part: it
    // is called where every descriptor is about to be given away anew.
    checked(c_long::from(unsafe { libc::dup3(fd.as_raw_fd(), at, libc::O_CLOEXEC) }))?;
    // SAFETY: the call above made `at` a new descriptor, and it is owned here for the first time.
    Ok(unsafe { OwnedFd::from_raw_fd(at) })
}

/// Makes `at` a copy of `from` that stays open for as long as the process lives.
pub(super) fn fill(from: RawFd, at: RawFd) -> io::Result<()> {
    if from != at {
        // SAFETY: as in `place`.
        checked(c_long::from(unsafe { libc::dup3(from, at, 0) }))?;
    }
    Ok(())
}

/// Moves a descriptor to a number of at least `least`.
pub(super) fn lift(fd: OwnedFd, least: RawFd) -> io::Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(&fd, least).map_err(io::Error::from)
}

/// Leaves some of the namespaces that this process shares with others (`CLONE_NEW*`).
pub(super) fn leave_namespaces(flags: c_int) -> io::Result<()> {
    // SAFETY: namespaces change what names mean to the kernel and nothing in this process's memory or descriptors; callers
    // pass `CLONE_NEW*` flags only.
    checked(c_long::from(unsafe { libc::unshare(flags) })).map(drop)
}

/// Takes a capability out of the bounding set. `Ok(false)` when there is none with this number.
pub(super) fn drop_bounding(capability: u32) -> io::Result<bool> {
    // SAFETY: numbers are all this call is given.
    let returned = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, c_ulong::from(capability), 0, 0, 0) };
    match checked(c_long::from(returned)) {
        Ok(_) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Closes every descriptor from `first` on that is not one of `kept`, which is sorted.
pub(super) fn close_all_but(first: RawFd, kept: &[RawFd]) -> io::Result<()> {
    let close = |first: RawFd, last: c_long| {
        if c_long::from(first) > last {
            return Ok(());
        }
        // SAFETY: numbers are all this call is given. What owned one of them is gone or never used again, which is what
        // callers ask for: descriptors that were inherited, and the zygote's in its worker.
        checked(unsafe { libc::syscall(libc::SYS_close_range, c_long::from(first), last, 0) }).map(drop)
    };
    let mut next = first;
    for &fd in kept.iter().filter(|fd| **fd >= first) {
        close(next, c_long::from(fd) - 1)?;
        next = fd.saturating_add(1);
    }
    close(next, c_long::from(u32::MAX))
}

/// Installs a filter for this thread, or with `all` for every thread of the process at once.
///
/// `Ok(false)` when another thread has filters of its own, and nothing was installed.
pub(super) fn install(program: &[sock_filter], all: bool) -> io::Result<bool> {
    let len = u16::try_from(program.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len, filter: program.as_ptr().cast_mut() };
    let flags = if all { libc::SECCOMP_FILTER_FLAG_TSYNC } else { 0 };
    let mode = c_ulong::from(libc::SECCOMP_SET_MODE_FILTER);
    // SAFETY: the program outlives the call, which copies it and writes nothing.
    let returned = checked(unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) })?;
    Ok(returned == 0)
}

/// What a signal is answered with.
pub(super) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Sets how this process answers a signal.
pub(super) fn on_signal(signal: c_int, answer: SignalAnswer) -> io::Result<()> {
    let (handler, flags) = match answer {
        SignalAnswer::Ignore => (libc::SIG_IGN, 0),
        SignalAnswer::Default => (libc::SIG_DFL, 0),
        SignalAnswer::Call(handler) => (handler as usize, libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART),
    };
    // SAFETY: all zeros is a valid value of this structure: no flags, an empty mask, the default answer.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: the structure is valid, and a handler has the form that `SA_SIGINFO` asks for by its type. Handlers keep to
    // what may be done in a signal handler; there is one, in `trap`.
    checked(c_long::from(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })).map(drop)
}

/// See [`on_signal`].
pub(super) enum SignalAnswer {
    Ignore,
    Default,
    Call(Handler),
}

/// Unblocks every signal for this thread.
pub(super) fn unblock_signals() -> io::Result<()> {
    // SAFETY: the set is written by `sigemptyset` before it is read, and nothing is written back.
    let returned = unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut())
    };
    if returned == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(returned)) }
}

/// A timer of the kernel's that ends this process.
#[derive(Debug)]
pub(super) struct KillTimer(c_int);

impl KillTimer {
    /// A timer that does not run yet.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: all zeros is a valid value of this structure.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGKILL;
        let mut id: c_int = -1;
        let clock = c_long::from(libc::CLOCK_MONOTONIC);
        // SAFETY: both pointers are valid for the call; the kernel's own timer number is an `int`.
        checked(unsafe { libc::syscall(libc::SYS_timer_create, clock, &raw const event, &raw mut id) })?;
        Ok(Self(id))
    }

    /// Lets it fire once, this long from now. Zero would stop it, and counts as a nanosecond.
    pub(super) fn start(&self, after: Duration) -> io::Result<()> {
        let after = after.max(Duration::from_nanos(1));
        let times = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: libc::timespec {
                tv_sec: i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: c_long::from(after.subsec_nanos()),
            },
        };
        let none: *mut libc::itimerspec = std::ptr::null_mut();
        let id = c_long::from(self.0);
        // SAFETY: the new times are valid for the call, and no old ones are asked for.
        checked(unsafe { libc::syscall(libc::SYS_timer_settime, id, 0 as c_long, &raw const times, none) }).map(drop)
    }

    /// Whether it will fire.
    pub(super) fn runs(&self) -> io::Result<bool> {
        // SAFETY: all zeros is a valid value of this structure.
        let mut left: libc::itimerspec = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is valid for the call.
        checked(unsafe { libc::syscall(libc::SYS_timer_gettime, c_long::from(self.0), &raw mut left) })?;
        Ok(left.it_value.tv_sec > 0 || left.it_value.tv_nsec > 0)
    }

    /// Takes it away; one that somebody took away already is no fault.
    pub(super) fn delete(self) {
        // SAFETY: a number is all this call is given.
        let _ = unsafe { libc::syscall(libc::SYS_timer_delete, c_long::from(self.0)) };
    }
}

/// Makes a call that a sandbox must refuse.
///
/// For [`super::attempts`] alone, whose attempts hand the kernel numbers, null, texts that live forever, and room for 256
/// bytes that lives for the call, which is more than any of them writes.
pub(super) fn attempt(number: c_long, arguments: [c_long; 6]) -> io::Result<c_long> {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: what the kernel may read and write is named above. An attempt that succeeds has shown that the sandbox does
    // not hold, and the process ends.
    checked(unsafe { libc::syscall(number, a, b, c, d, e, f) })
}

/// Forks in a process that must not be able to, with a copy of its memory. A child that there is all the same ends at once.
pub(super) fn attempt_fork(flags: c_int, handle: c_long) -> io::Result<()> {
    let none: c_long = 0;
    // SAFETY: without `CLONE_VM` the child has memory of its own, and does nothing with it but end.
    match checked(unsafe { libc::syscall(libc::SYS_clone, c_long::from(flags), none, handle, none, none) })? {
        // SAFETY: ends this process, without anything of it running any more.
        0 => unsafe { libc::_exit(0) },
        _ => Ok(()),
    }
}

/// Asks for its own number through the entry that 32-bit programs use, whose numbers mean other calls.
#[cfg(target_arch = "x86_64")]
pub(super) fn attempt_by_interrupt() -> io::Result<()> {
    let mut returned: c_long = 20;
    // SAFETY: number 20 is `getpid` there: it takes nothing and writes nothing but its result. The entry clobbers what is
    // named.
    unsafe {
        std::arch::asm!(
            "int 0x80",
            inout("rax") returned,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            options(nostack)
        );
    }
    // Results of that entry have 32 bits.
    match c_long::from((returned & 0xffff_ffff) as c_int) {
        failed @ ..0 => Err(io::Error::from_raw_os_error(c_int::try_from(-failed).unwrap_or(0))),
        _ => Ok(()),
    }
}
