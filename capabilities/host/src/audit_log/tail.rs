//! The last lines of a log.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::error::AuditLogError;
use super::log_path;

/// How much is read at a time, from the end.
const STEP: u64 = 64 * 1024;

/// The last `lines` complete lines, oldest of them first, exactly as they stand in the file. Nothing is verified.
///
/// # Errors
/// [`AuditLogError`] when there is no log or it cannot be read.
pub fn tail(dir: &Path, lines: usize) -> Result<Vec<String>, AuditLogError> {
    let path = log_path(dir);
    let file = File::open(&path).map_err(AuditLogError::io(&path))?;
    let mut start = file.metadata().map_err(AuditLogError::io(&path))?.len();
    let mut bytes = Vec::new();
    // One line break more than lines: the one that ends the line before the first.
    while start > 0 && bytes.iter().filter(|byte| **byte == b'\n').count() <= lines {
        let from = start.saturating_sub(STEP);
        let mut chunk = vec![0; usize::try_from(start - from).unwrap_or_default()];
        file.read_exact_at(&mut chunk, from).map_err(AuditLogError::io(&path))?;
        chunk.append(&mut bytes);
        bytes = chunk;
        start = from;
    }
    let text = String::from_utf8_lossy(&bytes);
    // What follows the last line break is a line that is still being written.
    let complete = text.rfind('\n').and_then(|end| text.get(..end)).unwrap_or_default();
    let mut last: Vec<_> = complete.lines().rev().take(lines).map(str::to_owned).collect();
    last.reverse();
    Ok(last)
}
