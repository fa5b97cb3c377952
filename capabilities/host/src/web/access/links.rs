//! One-time login links.

use core::time::Duration;

use super::{Kept, Moment};

/// How long a link may be used.
pub const LINK_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// The most links at a time; the oldest ends first.
const MOST: usize = 8;

/// The links that nobody has used.
#[derive(Default)]
pub struct Links(Vec<(Kept, Moment)>);

impl Links {
    pub fn add(&mut self, kept: Kept, now: Moment) {
        self.prune(now);
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push((kept, now));
    }

    /// Uses a link up; `false` for one that is none any more.
    pub fn take(&mut self, kept: &Kept, now: Moment) -> bool {
        self.prune(now);
        let before = self.0.len();
        self.0.retain(|(other, _)| other != kept);
        self.0.len() < before
    }

    fn prune(&mut self, now: Moment) {
        self.0.retain(|(_, made)| now.since(*made) < LINK_LIFETIME);
    }
}
