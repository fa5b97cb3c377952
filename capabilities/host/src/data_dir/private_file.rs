//! Files that only the host's user reads: 0600, never through a link, replaced whole or not at all.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::{DataDirError, check_owner};
use crate::environment::random;
use crate::hex;

/// The most that is read of a private file; all of ours are far smaller.
const MAX_BYTES: u64 = 1024 * 1024;

fn flags() -> i32 {
    // NONBLOCK: opening a pipe that somebody put there must not wait for its other end.
    (OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits().cast_signed()
}

/// Makes a directory, and those above it, closed to everybody else; durable when this returns.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    sync_dir(path)?;
    path.parent().map_or(Ok(()), sync_dir)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    File::open(path)?.sync_all()
}

/// A file that is already open is ours, regular and closed to everybody else.
fn checked(file: File, path: &Path) -> Result<File, DataDirError> {
    let found = file.metadata().map_err(DataDirError::io("look at", path))?;
    if !found.is_file() {
        return Err(DataDirError::NotAFile { path: path.to_owned() });
    }
    check_owner(&found, path.to_owned(), 0o600)?;
    Ok(file)
}

fn opened(options: &mut OpenOptions, path: &Path) -> Result<Option<File>, DataDirError> {
    match options.custom_flags(flags()).open(path) {
        Ok(file) => checked(file, path).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            Err(DataDirError::NotAFile { path: path.to_owned() })
        }
        Err(error) => Err(DataDirError::io("open", path)(error)),
    }
}

/// The file itself, made when it is not there. A missing directory above it is an error.
fn made(options: &mut OpenOptions, path: &Path) -> Result<File, DataDirError> {
    opened(options.create(true).mode(0o600), path)?
        .ok_or_else(|| DataDirError::io("make", path)(io::ErrorKind::NotFound.into()))
}

pub(super) fn open_lock(path: &Path) -> Result<File, DataDirError> {
    made(OpenOptions::new().read(true).write(true), path)
}

/// A file to append to and to cut.
pub(crate) fn open_append(path: &Path) -> Result<File, DataDirError> {
    made(OpenOptions::new().read(true).append(true), path)
}

/// Holds a file to the rule: ours, regular, no link, closed to everybody else. One that is not there breaks no rule.
pub(crate) fn check_file(path: &Path) -> Result<(), DataDirError> {
    opened(OpenOptions::new().read(true), path).map(drop)
}

/// What a private file holds, whole; `None` when there is none.
pub(crate) fn read_private(path: &Path) -> Result<Option<Vec<u8>>, DataDirError> {
    read_private_up_to(path, MAX_BYTES)
}

/// [`read_private`] for files that may be larger or must be smaller than most.
pub(crate) fn read_private_up_to(path: &Path, most: u64) -> Result<Option<Vec<u8>>, DataDirError> {
    let Some(file) = opened(OpenOptions::new().read(true), path)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(DataDirError::io("read", path))?;
    if bytes.len() as u64 > most {
        return Err(DataDirError::Damaged {
            path: path.to_owned(),
            rule: "a file of the host has at most 1 MiB, and one of rules 8 MiB",
            help: "move it away, or write less into it",
        });
    }
    Ok(Some(bytes))
}

/// Puts `bytes` in a file's place: after a crash there is the old content or the new, never a part.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), DataDirError> {
    let suffix = random::<8>().map_err(DataDirError::Randomness)?;
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.new", hex::encode(&suffix)));
    let fresh = PathBuf::from(name);
    let written = replace(&fresh, path, bytes);
    if written.is_err() {
        // Best effort: what is left behind is private and is never read.
        let _ = std::fs::remove_file(&fresh);
    }
    written.map_err(DataDirError::io("write", path))
}

fn replace(fresh: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).custom_flags(flags()).open(fresh)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(fresh, path)?;
    path.parent().map_or(Ok(()), sync_dir)
}
