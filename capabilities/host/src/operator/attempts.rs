//! Failures in a row, on disk, and how long the next try waits because of them.

use core::time::Duration;
use std::path::PathBuf;

use capability_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::OperatorError;
use crate::data_dir::{DataDirError, read_private, write_private};

/// The longest wait.
const MOST: Duration = Duration::from_secs(15 * 60);
/// How many failures cost nothing: people mistype.
const FREE: u32 = 2;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failures {
    in_a_row: u32,
    last: Timestamp,
}

/// Counts failures in a row.
pub(super) struct Attempts {
    path: PathBuf,
}

/// 1 s after the third failure, twice as long after each further one.
fn wait_after(in_a_row: u32) -> Duration {
    match in_a_row.checked_sub(FREE + 1) {
        None => Duration::ZERO,
        Some(doubled) => Duration::from_secs(1).saturating_mul(2_u32.saturating_pow(doubled)).min(MOST),
    }
}

impl Attempts {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    fn read(&self) -> Result<Option<Failures>, DataDirError> {
        let Some(bytes) = read_private(&self.path)? else {
            return Ok(None);
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|_| DataDirError::Damaged {
            path: self.path.clone(),
            rule: "it counts wrong passwords in a row",
            help: "remove it",
        })
    }

    fn write(&self, failures: Failures) -> Result<(), DataDirError> {
        let text = serde_json::to_vec(&failures).unwrap_or_default();
        write_private(&self.path, &text)
    }

    /// Begins a try: counts it as a failure until it is told otherwise.
    pub(super) fn begin(&self, now: Timestamp) -> Result<(), OperatorError> {
        let failures = self.read()?;
        if let Some(failures) = failures {
            let wait = wait_after(failures.in_a_row);
            if failures.last > now && !wait.is_zero() {
                // The clock was set back: the wait starts anew, and does not last until the clock is where it was.
                self.write(Failures { last: now, ..failures })?;
                return Err(OperatorError::TooSoon { wait });
            }
            let left = wait.saturating_sub(now.since(failures.last));
            if !left.is_zero() {
                return Err(OperatorError::TooSoon { wait: left });
            }
        }
        let in_a_row = failures.map_or(0, |failures| failures.in_a_row).saturating_add(1);
        Ok(self.write(Failures { in_a_row, last: now })?)
    }

    /// The try was none of a guesser's.
    pub(super) fn succeeded(&self) -> Result<(), DataDirError> {
        self.write(Failures { in_a_row: 0, last: Timestamp::from_micros(0) })
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, wait_after};
    use core::time::Duration;

    #[test]
    fn the_wait_grows_and_ends() {
        let seconds: Vec<_> = (0..8).map(|in_a_row| wait_after(in_a_row).as_secs()).collect();
        assert_eq!(seconds, [0, 0, 0, 1, 2, 4, 8, 16]);
        assert_eq!(wait_after(u32::MAX), MOST);
        assert!(wait_after(20) == MOST && MOST > Duration::from_secs(60));
    }
}
