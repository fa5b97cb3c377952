//! What the log is written on.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::head::Head;

/// The few operations that durability rests on, apart from their implementation so that tests can make each of them fail.
pub(super) trait Medium: Send + 'static {
    /// Writes all bytes at the end of the log.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything appended durable.
    fn sync(&mut self) -> io::Result<()>;
    /// Cuts the log off at this length.
    fn cut(&mut self, len: u64) -> io::Result<()>;
    /// Notes the last record, in place.
    fn point(&mut self, head: Head) -> io::Result<()>;
    /// Makes the note durable.
    fn sync_head(&mut self) -> io::Result<()>;
}

/// The real one: the log, opened to append, and the head file.
pub(super) struct Files {
    log: File,
    head: File,
}

impl Files {
    pub(super) fn new(log: File, head: &Path) -> io::Result<Self> {
        Ok(Self { log, head: OpenOptions::new().write(true).open(head)? })
    }
}

impl Medium for Files {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.log.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.log.sync_data()
    }

    fn cut(&mut self, len: u64) -> io::Result<()> {
        self.log.set_len(len)
    }

    fn point(&mut self, head: Head) -> io::Result<()> {
        self.head.write_all_at(head.to_text().as_bytes(), 0)
    }

    fn sync_head(&mut self) -> io::Result<()> {
        self.head.sync_data()
    }
}
