//! Secrets that the operator stored.

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use capability_core::handle::{BrokerFault, MAX_SECRET_BYTES, is_configured_name};

use crate::data_dir::{check_dir, read_private};

/// One file for each secret, named as it is, in a directory that is the host's alone.
#[derive(Debug, Clone)]
pub struct Secrets(PathBuf);

impl Secrets {
    pub fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Whether there is a secret of that name.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_ok()
    }

    /// A pipe that holds the value, and nothing to write to it.
    pub fn reveal(&self, name: &str) -> Result<OwnedFd, BrokerFault> {
        let mut value = self.value(name)?;
        let piped = || {
            let (read, mut write) = std::io::pipe()?;
            // A pipe takes a page without waiting for its reader, and no secret is longer.
            write.write_all(&value)?;
            Ok::<_, std::io::Error>(OwnedFd::from(read))
        };
        let piped = piped().map_err(|_| BrokerFault::Unavailable);
        wipe(&mut value);
        piped
    }

    /// The value itself, for the host's own use.
    pub fn text(&self, name: &str) -> Result<Vec<u8>, BrokerFault> {
        self.value(name)
    }

    fn value(&self, name: &str) -> Result<Vec<u8>, BrokerFault> {
        if !is_configured_name(name) || check_dir(&self.0).is_err() {
            return Err(BrokerFault::CredentialUnreadable);
        }
        private_text(&self.0.join(name))
    }
}

/// The text of a file that is the host's alone, without the line break that editors put at its end.
pub fn private_text(path: &Path) -> Result<Vec<u8>, BrokerFault> {
    let mut text = read_private(path).ok().flatten().ok_or(BrokerFault::CredentialUnreadable)?;
    if text.ends_with(b"\n") {
        text.pop();
        if text.ends_with(b"\r") {
            text.pop();
        }
    }
    let within = (1..=MAX_SECRET_BYTES).contains(&text.len());
    if within && core::str::from_utf8(&text).is_ok() && !text.contains(&0) {
        Ok(text)
    } else {
        wipe(&mut text);
        Err(BrokerFault::CredentialUnreadable)
    }
}

/// Overwrites what is no longer needed.
pub fn wipe(bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.resize(bytes.capacity(), 0);
    core::hint::black_box(bytes);
}
