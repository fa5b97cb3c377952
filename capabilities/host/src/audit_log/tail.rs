//! The last lines of a log, and what comes after them.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::disk::{Directory, Disk};
use super::error::AuditLogError;
use super::segment::{self, Segment};

/// How much is read at a time, from the end.
const STEP: u64 = 64 * 1024;

/// The last `lines` complete lines, oldest of them first, exactly as they stand in the files. Nothing is verified.
///
/// # Errors
/// [`AuditLogError`] when there is no log or it cannot be read.
pub fn tail(dir: &Path, lines: usize) -> Result<Vec<String>, AuditLogError> {
    Follow::open(dir, lines).map(|(last, _)| last)
}

/// Goes on where [`tail`] ended, through whatever segments come.
#[derive(Debug)]
pub struct Follow {
    dir: PathBuf,
    /// The segment that is being read, and how far.
    at: Segment,
    /// The line that is still being written.
    rest: Vec<u8>,
}

impl Follow {
    /// The last lines, and a reader of what comes after them.
    ///
    /// # Errors
    /// [`AuditLogError`], as [`tail`].
    pub fn open(dir: &Path, lines: usize) -> Result<(Vec<String>, Self), AuditLogError> {
        let disk = Directory::new(dir);
        let segments = segment::list(&disk).map_err(AuditLogError::io(dir))?;
        let at = segments.last().copied().unwrap_or(Segment { first: 1, len: 0 });
        let mut last = Vec::new();
        let mut rest = None;
        for segment in segments.iter().rev() {
            let read = backwards(&disk, *segment, lines.saturating_sub(last.len()));
            let (mut whole, part) = read.map_err(AuditLogError::io(&dir.join(segment.name())))?;
            whole.append(&mut last);
            last = whole;
            rest.get_or_insert(part);
            if last.len() >= lines {
                break;
            }
        }
        Ok((last, Self { dir: dir.to_owned(), at, rest: rest.unwrap_or_default() }))
    }

    /// Every line that was completed since.
    ///
    /// # Errors
    /// [`AuditLogError`] when the log cannot be read any more.
    pub fn more(&mut self) -> Result<Vec<String>, AuditLogError> {
        let dir = self.dir.clone();
        self.read(&Directory::new(&dir)).map_err(AuditLogError::io(&dir))
    }

    fn read(&mut self, disk: &Directory) -> io::Result<Vec<String>> {
        let mut lines = Vec::new();
        for segment in segment::list(disk)? {
            if segment.first < self.at.first {
                continue;
            }
            if segment.first > self.at.first {
                self.at = Segment { first: segment.first, len: 0 };
                self.rest.clear();
            }
            if segment.len < self.at.len {
                // What was torn is cut off when a host starts; the lines before it were read.
                self.at.len = segment.len;
                self.rest.clear();
            }
            let mut bytes = std::mem::take(&mut self.rest);
            let part = disk.read(&segment.name(), self.at.len)?;
            self.at.len += part.take(segment.len - self.at.len).read_to_end(&mut bytes)? as u64;
            let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            self.rest = bytes.split_off(end);
            lines.extend(String::from_utf8_lossy(&bytes).lines().map(str::to_owned));
        }
        Ok(lines)
    }
}

/// At most so many of the last complete lines of a segment, and what stands behind them.
fn backwards(disk: &Directory, segment: Segment, lines: usize) -> io::Result<(Vec<String>, Vec<u8>)> {
    let mut start = segment.len;
    let mut bytes = Vec::new();
    // One line break more than lines: the one that ends the line before the first.
    while start > 0 && bytes.iter().filter(|byte| **byte == b'\n').count() <= lines {
        let from = start.saturating_sub(STEP);
        let mut chunk = Vec::new();
        disk.read(&segment.name(), from)?.take(start - from).read_to_end(&mut chunk)?;
        chunk.append(&mut bytes);
        bytes = chunk;
        start = from;
    }
    // What follows the last line break is a line that is still being written.
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let rest = bytes.split_off(end);
    let text = String::from_utf8_lossy(&bytes);
    let mut last: Vec<_> = text.lines().rev().take(lines).map(str::to_owned).collect();
    last.reverse();
    Ok((last, rest))
}
