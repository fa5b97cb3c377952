//! What the same things cost without us.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The word that makes this binary the other end.
const ECHO: &str = "--echo";

/// Another process that sends back what it is sent.
pub struct Echo {
    socket: UnixStream,
    child: Child,
}

impl Echo {
    pub fn start() -> Self {
        let (socket, theirs) = UnixStream::pair().expect("a socket pair");
        let child = Command::new("/proc/self/exe")
            .arg(ECHO)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .expect("another process");
        let mut echo = Self { socket, child };
        for _ in 0..100 {
            echo.ping();
        }
        echo
    }

    /// Serves the other end, if that is what this process was started for.
    pub fn turn_off() {
        if !std::env::args().any(|word| word == ECHO) {
            return;
        }
        let socket = std::io::stdin();
        let mut byte = [0];
        while let Ok(1) = rustix::io::read(&socket, &mut byte) {
            rustix::io::write(&socket, &byte).expect("sent back");
        }
        std::process::exit(0);
    }

    /// There and back.
    pub fn ping(&mut self) -> Duration {
        let mut byte = [7];
        let begun = Instant::now();
        self.socket.write_all(&byte).expect("sent");
        self.socket.read_exact(&mut byte).expect("sent back");
        begun.elapsed()
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A file that lines are appended to.
pub struct Plain(File);

impl Plain {
    pub fn create(path: &Path) -> Self {
        Self(OpenOptions::new().append(true).create(true).open(path).expect("a file"))
    }

    /// Two lines, each made durable by itself, as an intent and an outcome have to be.
    pub fn two_lines(&mut self) -> Duration {
        let line = [b'x'; 512];
        let begun = Instant::now();
        for _ in 0..2 {
            self.0.write_all(&line).expect("written");
            self.0.sync_data().expect("synced");
        }
        begun.elapsed()
    }
}
