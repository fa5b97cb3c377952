//! The signal that some refused calls raise, so that an author learns what is wrong.
#![expect(unsafe_code, reason = "a signal handler is given the interrupted thread's registers by pointer")]

use std::io;
use std::os::fd::{IntoRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use libc::{c_int, c_long, c_void};

use super::{calls, sys};

/// The size of a notice on its pipe.
pub const NOTICE_BYTES: usize = 8;

/// The most notices that a worker writes.
const MOST: u32 = 4;

/// First half of a notice.
const MARK: [u8; 4] = *b"call";

/// Where notices go; -1 is nowhere.
static NOTICES: AtomicI32 = AtomicI32::new(-1);
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// A call that a body made and was refused, of those that say what its author must change.
///
/// It comes from the worker, which may write what it likes: it is words for an author and decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The body wanted a socket of its own.
    Socket,
    /// It wanted to connect one.
    Connect,
}

impl Notice {
    /// Reads a notice; `None` for anything that is none.
    #[must_use]
    pub fn read(bytes: [u8; NOTICE_BYTES]) -> Option<Self> {
        let [a, b, c, d, number @ ..] = bytes;
        if [a, b, c, d] != MARK {
            return None;
        }
        match i64::from(u32::from_le_bytes(number)) {
            libc::SYS_socket => Some(Self::Socket),
            libc::SYS_connect => Some(Self::Connect),
            _ => None,
        }
    }

    /// The call's name.
    #[must_use]
    pub const fn call(self) -> &'static str {
        match self {
            Self::Socket => "socket",
            Self::Connect => "connect",
        }
    }
}

/// Where notices go from now on.
pub(super) fn notices_at(pipe: OwnedFd) {
    NOTICES.store(pipe.into_raw_fd(), Ordering::Relaxed);
}

pub(super) fn install() -> io::Result<()> {
    sys::on_signal(libc::SIGSYS, sys::SignalAnswer::Call(refused))
}

/// Runs in whichever thread made the call, between any two of its instructions: it takes no lock, allocates nothing, calls
/// nothing but the kernel and leaves `errno` as it was. A thread that blocks the signal is ended by the kernel instead.
extern "C" fn refused(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands a handler with `SA_SIGINFO` the context of the thread that it interrupted.
    let Some(context) = (unsafe { context.cast::<libc::ucontext_t>().as_mut() }) else { return };
    // SAFETY: the C library's `errno` of this thread is valid for as long as the thread is.
    let before = unsafe { *libc::__errno_location() };
    let number = registers::number(context);
    let answer = if number == calls::STAT_AT {
        stat(context)
    } else {
        note(number);
        -c_long::from(libc::EPERM)
    };
    registers::answer(context, answer);
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = before };
}

/// Asking for a path is refused; asking about a descriptor, which is how the C library spells `fstat`, is answered.
fn stat(context: &libc::ucontext_t) -> c_long {
    let [descriptor, path, into, flags] = registers::arguments(context);
    let empty = c_long::from(libc::AT_EMPTY_PATH);
    // SAFETY: the caller gave this pointer to be read as a path; if it is none, its own call is what ends it.
    if flags & empty == 0 || path == 0 || unsafe { *(path as *const u8) } != 0 {
        return -c_long::from(libc::EACCES);
    }
    // SAFETY: the caller gave this pointer to be written; the kernel checks it.
    let returned = unsafe { libc::syscall(libc::SYS_fstat, descriptor, into) };
    if returned < 0 {
        // SAFETY: as in `refused`.
        return -c_long::from(unsafe { *libc::__errno_location() });
    }
    returned
}

fn note(number: c_long) {
    let pipe = NOTICES.load(Ordering::Relaxed);
    if pipe < 0 || WRITTEN.fetch_add(1, Ordering::Relaxed) >= MOST {
        return;
    }
    let [e, f, g, h] = u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    let [a, b, c, d] = MARK;
    let notice: [u8; NOTICE_BYTES] = [a, b, c, d, e, f, g, h];
    // SAFETY: the bytes are valid for the call. What does not fit into the pipe is lost, and may be.
    let _ = unsafe { libc::write(pipe, notice.as_ptr().cast(), notice.len()) };
}

#[cfg(target_arch = "x86_64")]
mod registers {
    use libc::{REG_R10, REG_RAX, REG_RDI, REG_RDX, REG_RSI, c_int, c_long, ucontext_t};

    fn at(context: &ucontext_t, register: c_int) -> c_long {
        usize::try_from(register).ok().and_then(|at| context.uc_mcontext.gregs.get(at)).copied().unwrap_or(-1)
    }

    /// The kernel puts the number back where the caller had it.
    pub(super) fn number(context: &ucontext_t) -> c_long {
        at(context, REG_RAX)
    }

    pub(super) fn arguments(context: &ucontext_t) -> [c_long; 4] {
        [REG_RDI, REG_RSI, REG_RDX, REG_R10].map(|register| at(context, register))
    }

    pub(super) fn answer(context: &mut ucontext_t, answer: c_long) {
        let at = usize::try_from(REG_RAX).ok();
        if let Some(register) = at.and_then(|at| context.uc_mcontext.gregs.get_mut(at)) {
            *register = answer;
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod registers {
    use libc::{c_long, ucontext_t};

    fn at(context: &ucontext_t, register: usize) -> c_long {
        context.uc_mcontext.regs.get(register).map_or(-1, |value| value.cast_signed())
    }

    /// The kernel leaves the number where the caller had it.
    pub(super) fn number(context: &ucontext_t) -> c_long {
        at(context, 8)
    }

    pub(super) fn arguments(context: &ucontext_t) -> [c_long; 4] {
        [0, 1, 2, 3].map(|register| at(context, register))
    }

    pub(super) fn answer(context: &mut ucontext_t, answer: c_long) {
        if let Some(register) = context.uc_mcontext.regs.first_mut() {
            *register = answer.cast_unsigned();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn only_two_calls_are_told_and_anything_else_is_no_notice(bytes in any::<[u8; NOTICE_BYTES]>(), number in 0..600_u32) {
            prop_assert!(Notice::read(bytes).is_none() || bytes.starts_with(&MARK));
            let mut notice = bytes;
            notice[..4].copy_from_slice(&MARK);
            notice[4..].copy_from_slice(&number.to_le_bytes());
            let told = match i64::from(number) {
                libc::SYS_socket => Some("socket"),
                libc::SYS_connect => Some("connect"),
                _ => None,
            };
            prop_assert_eq!(Notice::read(notice).map(Notice::call), told);
        }
    }
}
