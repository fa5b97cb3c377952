//! Ways out of the sandbox, to be tried from inside.
//!
//! A host tries all of them before it serves anybody. Each does as little as shows that it would have worked: where nothing
//! holds it back it reads a byte, asks with signal 0, or names something that is not there, and changes nothing.

mod files;
mod kernel;
mod network;
mod privileges;
mod processes;

use core::fmt;

use serde::{Deserialize, Serialize};

use super::sys;

/// What there is outside, for attempts to reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// The number of a process that is not the worker's: the host.
    pub process: i32,
    /// A port of the machine itself on which somebody listens.
    pub port: u16,
    /// The path of a socket on which somebody listens.
    pub socket: String,
    /// The path of a file with content.
    pub file: String,
}

/// What became of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tried {
    /// It was refused at the gate, with this error number; 0 where a library made it a failure without one.
    Refused(i32),
    /// It did not succeed, but for a reason of its own: nothing held it back.
    Reached(i32),
    /// It succeeded.
    Succeeded,
    /// There is no such thing on this architecture.
    NotApplicable,
}

impl Tried {
    /// Whether the sandbox held.
    #[must_use]
    pub const fn is_held(self) -> bool {
        matches!(self, Self::Refused(_) | Self::NotApplicable)
    }

    /// Reads what the kernel returned for a call that must be refused.
    ///
    /// "Not permitted", "access denied" and "no such call" are the answers of filters and Landlock; with any other one the
    /// kernel has looked at the call itself.
    fn of<T>(result: std::io::Result<T>) -> Self {
        match result.map_err(|error| error.raw_os_error()) {
            Ok(_) => Self::Succeeded,
            Err(Some(errno @ (libc::EPERM | libc::EACCES | libc::ENOSYS))) => Self::Refused(errno),
            Err(errno) => Self::Reached(errno.unwrap_or(0)),
        }
    }
}

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = |errno: i32| std::io::Error::from_raw_os_error(errno);
        match *self {
            Self::Refused(0) => f.write_str("refused"),
            Self::Refused(errno) => write!(f, "refused: {}", error(errno)),
            Self::Reached(errno) => write!(f, "not held back, and failed by itself: {}", error(errno)),
            Self::Succeeded => f.write_str("succeeded"),
            Self::NotApplicable => f.write_str("does not exist on this architecture"),
        }
    }
}

/// One way out.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// Its name, unique.
    pub name: &'static str,
    /// What it tries, to be read behind "a body can".
    pub tries: &'static str,
    run: fn(&Outside) -> Tried,
    ends: bool,
}

impl Attempt {
    const fn new(name: &'static str, tries: &'static str, run: fn(&Outside) -> Tried) -> Self {
        Self { name, tries, run, ends: false }
    }

    /// One that the kernel answers by ending the process.
    const fn ending(name: &'static str, tries: &'static str, run: fn(&Outside) -> Tried) -> Self {
        Self { name, tries, run, ends: true }
    }

    /// Whether being refused ends the process: it is to be run in one of its own, and its survival is the escape.
    #[must_use]
    pub const fn ends(&self) -> bool {
        self.ends
    }

    /// Tries it.
    #[must_use]
    pub fn run(&self, outside: &Outside) -> Tried {
        (self.run)(outside)
    }
}

/// Every attempt there is.
pub fn attempts() -> impl Iterator<Item = &'static Attempt> {
    [network::ALL, files::ALL, processes::ALL, privileges::ALL, kernel::ALL].into_iter().flatten()
}

/// An attempt and what became of it, to be sent to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The attempt's name.
    pub attempt: String,
    /// What became of it.
    pub tried: Tried,
}

/// Runs every attempt that leaves the process alive, in the calling thread.
#[must_use]
pub fn attest(outside: &Outside) -> Vec<Finding> {
    attempts()
        .filter(|attempt| !attempt.ends())
        .map(|attempt| Finding { attempt: attempt.name.to_owned(), tried: attempt.run(outside) })
        .collect()
}

/// Makes a call by its number.
fn call<const N: usize>(number: libc::c_long, arguments: [libc::c_long; N]) -> Tried {
    let mut all = [0; 6];
    for (to, from) in all.iter_mut().zip(arguments) {
        *to = from;
    }
    Tried::of(sys::attempt(number, all))
}

/// A structure that a call only reads, or that it writes no further than its size.
struct Room([u64; 32]);

impl Room {
    const fn new() -> Self {
        Self([0; 32])
    }

    fn at(&mut self) -> libc::c_long {
        self.0.as_mut_ptr() as libc::c_long
    }
}

/// The address of a text.
fn text(text: &'static std::ffi::CStr) -> libc::c_long {
    text.as_ptr() as libc::c_long
}

/// A path that leads nowhere: an attempt that is not held back finds nothing there.
const NOWHERE: &std::ffi::CStr = c"/nowhere/at/all";
