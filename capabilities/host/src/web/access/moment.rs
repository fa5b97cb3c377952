//! A point in time by two clocks.

use core::time::Duration;

use capability_core::Timestamp;
use tokio::time::Instant;

/// The wall clock, which counts while a machine sleeps, and the monotonic one, which nobody sets back.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    wall: Timestamp,
    steady: Instant,
}

impl Moment {
    /// Now, by this wall clock.
    pub fn at(wall: Timestamp) -> Self {
        Self { wall, steady: Instant::now() }
    }

    /// How long after `earlier` this is: by the clock that says longer.
    pub fn since(self, earlier: Self) -> Duration {
        self.wall.since(earlier.wall).max(self.steady.saturating_duration_since(earlier.steady))
    }
}
