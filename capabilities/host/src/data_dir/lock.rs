//! One owner per data directory.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use super::DataDirError;
use super::private_file::open_lock;

/// Says that this process owns the data directory. Dropping it, or the process's end, gives the directory free.
#[derive(Debug)]
#[must_use = "the directory is free again as soon as the lock is dropped"]
pub struct OwnerLock(#[expect(dead_code, reason = "held for the lock that the open file carries")] File);

impl OwnerLock {
    pub(super) fn take(path: &Path) -> Result<Self, DataDirError> {
        let mut file = open_lock(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                return Err(DataDirError::Owned { path: path.to_owned(), pid: text.trim().parse().ok() });
            }
            Err(error) => return Err(DataDirError::io("lock", path)(error.into())),
        }
        // The number only makes the refusal of a second owner more helpful; the lock itself is the kernel's.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
        Ok(Self(file))
    }
}
