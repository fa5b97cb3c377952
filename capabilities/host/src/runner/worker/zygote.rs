//! The process that workers are forked from.
//!
//! It is this same binary, started once per profile with nothing but one socket, sealed before it does anything else, and
//! never more than one thread. A fork of it is a worker that has the registry in memory and inherits the seal.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::LazyLock;

use super::channel::{receive_with, send_with};
use super::sandbox::{Forked, Profile, Strictness, Terms, Zygote};
use super::work;

/// What a zygote that sealed itself says first, and with every worker.
pub const WELL: u8 = b'+';

/// Serves forks on the socket that stands where standard input would, until its other end is gone.
pub fn serve(profile: Profile, strictness: Strictness) -> ! {
    let control = io::stdin();
    work::note_panics();
    let zygote = match Zygote::seal(Terms { strictness, ..Terms::new(profile) }, &[control.as_fd()]) {
        Ok(zygote) => zygote,
        Err(fault) => {
            let _ = rustix::io::write(&control, format!("-{fault}").as_bytes());
            exit(1);
        }
    };
    if rustix::io::write(&control, &[WELL]).is_err() {
        exit(1);
    }
    // What every worker needs is made once.
    LazyLock::force(&super::FINGERPRINT);
    loop {
        match receive_with(&control, &mut [0]) {
            Ok((1, descriptors)) => match <[OwnedFd; 2]>::try_from(descriptors) {
                Ok([channel, notices]) => answer(&control, &zygote, channel, notices),
                Err(_) => exit(1),
            },
            Err(rustix::io::Errno::INTR) => {}
            _ => exit(0),
        }
    }
}

/// Forks. The child never comes back from here.
fn answer<S: AsFd>(control: S, zygote: &Zygote, channel: OwnedFd, notices: OwnedFd) {
    match zygote.fork() {
        Ok(Forked::Worker(fork)) => work::work(fork, channel, notices),
        Ok(Forked::Zygote(process)) => drop(send_with(control, &[WELL], &[process.as_fd()])),
        Err(fault) => drop(rustix::io::write(control, format!("-{fault}").as_bytes())),
    }
}

/// Ends this process without running anything that was registered for its end.
pub fn exit(status: i32) -> ! {
    #[expect(unsafe_code, reason = "the C library's end of a process, without what runs at a usual one")]
    // SAFETY: ends the process; nothing after it runs.
    unsafe {
        libc::_exit(status)
    }
}
