//! Sessions of the pages.

use core::time::Duration;
use std::collections::HashMap;

use super::{Kept, Moment};

/// How long a session lives that nobody uses.
pub const IDLE: Duration = Duration::from_secs(30 * 60);
/// How long a session lives at most.
pub const LONGEST: Duration = Duration::from_secs(12 * 60 * 60);
/// The most sessions at a time; the one that was used longest ago ends first.
const MOST: usize = 64;

#[derive(Clone, Copy)]
struct Session {
    opened: Moment,
    used: Moment,
    credential: u64,
}

impl Session {
    fn lives(&self, now: Moment) -> bool {
        now.since(self.opened) < LONGEST && now.since(self.used) < IDLE
    }
}

/// The sessions that are open, by what is kept of their tickets.
#[derive(Default)]
pub struct Sessions(HashMap<Kept, Session>);

impl Sessions {
    pub fn open(&mut self, kept: Kept, credential: u64, now: Moment) {
        self.0.retain(|_, session| session.lives(now));
        if self.0.len() >= MOST {
            let idlest = self.0.iter().max_by_key(|(_, session)| now.since(session.used)).map(|(kept, _)| *kept);
            if let Some(idlest) = idlest {
                self.0.remove(&idlest);
            }
        }
        self.0.insert(kept, Session { opened: now, used: now, credential });
    }

    pub fn alive(&mut self, kept: &Kept, credential: u64, now: Moment, used: bool) -> bool {
        let Some(session) = self.0.get_mut(kept) else { return false };
        if !session.lives(now) || session.credential != credential {
            self.0.remove(kept);
            return false;
        }
        if used {
            session.used = now;
        }
        true
    }

    pub fn close(&mut self, kept: &Kept) {
        self.0.remove(kept);
    }
}
