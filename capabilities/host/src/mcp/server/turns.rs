//! When a turn of a connection ends.
//!
//! The protocol has no turns: a client sends calls one by one and does not say which belong to one answer of its model. A call
//! that were a turn of its own would make every cap a turn mean nothing, and a connection that were one would end after its
//! first calls. So a turn is a span of time that begins with a call: the caps a turn become a rate.

use core::time::Duration;
use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

/// The turns of one connection, numbered from 1.
pub struct Turns {
    lasts: Duration,
    now: Mutex<Option<(u64, Instant)>>,
}

impl Turns {
    /// Turns that last so long.
    pub const fn new(lasts: Duration) -> Self {
        Self { lasts, now: Mutex::new(None) }
    }

    /// The turn of a call that comes now.
    pub fn turn(&self) -> u64 {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let at = Instant::now();
        let (number, began) = match *now {
            None => (1, at),
            Some((number, began)) if at.duration_since(began) < self.lasts => (number, began),
            Some((number, _)) => (number.saturating_add(1), at),
        };
        *now = Some((number, began));
        number
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::Turns;

    #[tokio::test(start_paused = true)]
    async fn a_turn_begins_with_a_call_and_ends_with_its_time() {
        let turns = Turns::new(Duration::from_secs(60));
        assert_eq!((turns.turn(), turns.turn()), (1, 1));
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(turns.turn(), 1);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(turns.turn(), 2);
        // However long nothing came: the next one begins with the next call.
        tokio::time::advance(Duration::from_secs(1000)).await;
        assert_eq!(turns.turn(), 3);
        tokio::time::advance(Duration::from_secs(59)).await;
        assert_eq!(turns.turn(), 3);
    }
}
