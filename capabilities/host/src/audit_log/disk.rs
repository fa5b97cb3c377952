//! What the log is written on.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::data_dir::sync_dir;

/// The few operations on one directory that durability rests on, apart from their implementation so that tests can make
/// each of them fail, and cut the power after each.
pub(super) trait Disk: Send + Sync + 'static {
    /// A file that is open to append.
    type File: Send + 'static;

    /// The names in the directory.
    fn names(&self) -> io::Result<Vec<String>>;
    /// A file's content from this byte on.
    fn read(&self, name: &str, from: u64) -> io::Result<Box<dyn Read + Send>>;
    /// How long a file is.
    fn len(&self, name: &str) -> io::Result<u64>;
    /// Opens a file that is there.
    fn open(&self, name: &str) -> io::Result<Self::File>;
    /// Makes an empty file, in the place of one of that name.
    fn create(&self, name: &str) -> io::Result<Self::File>;
    /// Writes all bytes at the end.
    fn append(&self, file: &mut Self::File, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything that was appended durable.
    fn sync(&self, file: &mut Self::File) -> io::Result<()>;
    /// Cuts a file off at this length, and gives back what was reserved behind it.
    fn cut(&self, file: &mut Self::File, len: u64) -> io::Result<()>;
    /// Sees to it that this many bytes can still be appended behind `len`, without making the file longer.
    fn reserve(&self, file: &mut Self::File, len: u64, more: u64) -> io::Result<()>;
    /// Puts one file in another's place, whole.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes the names in the directory durable.
    fn sync_dir(&self) -> io::Result<()>;
}

/// The real one. Every file is closed to everybody else and never reached through a link.
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    fn with(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed()).open(self.0.join(name))
    }
}

impl Disk for Directory {
    type File = File;

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(&self.0)?;
        // A name that is no text is none of ours.
        entries.filter_map(|entry| entry.map(|entry| entry.file_name().into_string().ok()).transpose()).collect()
    }

    fn read(&self, name: &str, from: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = self.with(name, OpenOptions::new().read(true))?;
        file.seek(SeekFrom::Start(from))?;
        Ok(Box::new(file))
    }

    fn len(&self, name: &str) -> io::Result<u64> {
        Ok(self.with(name, OpenOptions::new().read(true))?.metadata()?.len())
    }

    fn open(&self, name: &str) -> io::Result<File> {
        self.with(name, OpenOptions::new().append(true))
    }

    fn create(&self, name: &str) -> io::Result<File> {
        match std::fs::remove_file(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.with(name, OpenOptions::new().append(true).create_new(true))
    }

    fn append(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync(&self, file: &mut File) -> io::Result<()> {
        file.sync_data()
    }

    fn cut(&self, file: &mut File, len: u64) -> io::Result<()> {
        file.set_len(len)
    }

    #[cfg(target_os = "linux")]
    fn reserve(&self, file: &mut File, len: u64, more: u64) -> io::Result<()> {
        match rustix::fs::fallocate(&*file, rustix::fs::FallocateFlags::KEEP_SIZE, len, more) {
            // A file system that cannot reserve is asked for its free space instead.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => room(file, more),
            reserved => Ok(reserved?),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn reserve(&self, file: &mut File, _: u64, more: u64) -> io::Result<()> {
        room(file, more)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(from), self.0.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    fn sync_dir(&self) -> io::Result<()> {
        sync_dir(&self.0)
    }
}

/// Refuses when the file system has less room than this.
fn room(file: &File, more: u64) -> io::Result<()> {
    let system = rustix::fs::fstatvfs(file)?;
    if system.f_bavail.saturating_mul(system.f_frsize) < more {
        return Err(io::ErrorKind::StorageFull.into());
    }
    Ok(())
}

/// Whether an error says that there is no room, which may pass, and not that something broke.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}
