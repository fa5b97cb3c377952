//! When something was signed.

use core::time::Duration;

use capability_core::Timestamp;
use capability_core::audit::ChannelRule;

use super::super::Refused;

/// How far the sender's clock may be ahead. It is not the window once more: what is signed for later could be replayed for
/// twice as long.
pub const AHEAD: Duration = Duration::from_secs(60);

/// How long platforms try again at the most.
pub const TRIED_AGAIN: Duration = Duration::from_secs(60 * 60);

/// How long a message counts, and how long it is known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remembered {
    /// How old what is signed with its time may be.
    pub window: Duration,
    /// How long what has no signed time, and what a sender may repeat, is known again.
    pub keep: Duration,
}

impl Remembered {
    /// How long a message has to be known that is refused as stale afterwards: it may be signed ahead of time.
    #[must_use]
    pub fn while_fresh(self) -> Duration {
        self.window.saturating_add(AHEAD).saturating_add(Duration::from_secs(1))
    }

    /// How long a message has to be known, and how long it is where there is room, whose sender proves itself anew with every
    /// message: nobody else can send it once more. A platform that tries again does so within the first of them.
    #[must_use]
    pub fn proven_anew(self) -> (Duration, Duration) {
        (self.keep.min(TRIED_AGAIN), self.keep)
    }
}

/// A time in whole seconds since 1970, as a sender writes it: digits and nothing else, so that one time has one spelling.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let plain = (1..=11).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    let canonical = text.len() == 1 || !text.starts_with('0');
    (plain && canonical).then(|| text.parse().ok())?
}

/// Whether it is now, or so long ago; the last second of the window counts.
pub(super) fn fresh(signed: i64, now: Timestamp, window: Duration) -> Result<(), Refused> {
    let now = now.as_micros().div_euclid(1_000_000);
    let within = |seconds: i64, most: Duration| u64::try_from(seconds).is_ok_and(|seconds| seconds <= most.as_secs());
    let age = now.saturating_sub(signed);
    if age > 0 && !within(age, window) {
        return Err(Refused::new(ChannelRule::Stale, "it was signed too long ago"));
    }
    if age < 0 && !within(age.saturating_neg(), AHEAD) {
        return Err(Refused::new(ChannelRule::Stale, "it is signed for later"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use capability_core::Timestamp;
    use proptest::prelude::*;

    use super::{fresh, seconds};

    const WINDOW: Duration = Duration::from_secs(300);

    #[test]
    fn the_window_is_five_minutes_back_and_one_ahead() {
        let now = Timestamp::from_micros(1_531_420_618_999_999);
        for (signed, is) in [(0, true), (-300, true), (-301, false), (60, true), (61, false), (240, false)] {
            assert_eq!(fresh(1_531_420_618 + signed, now, WINDOW).is_ok(), is, "{signed}");
        }
        for signed in [i64::MIN, i64::MAX, 0, -1] {
            assert!(fresh(signed, now, WINDOW).is_err());
        }
    }

    #[test]
    fn a_time_has_one_spelling() {
        assert_eq!(seconds("1531420618"), Some(1_531_420_618));
        assert_eq!(seconds("0"), Some(0));
        for odd in ["", "01", "+1", "-1", " 1", "1 ", "1.0", "1e3", "0x1", "١", "999999999999"] {
            assert_eq!(seconds(odd), None, "{odd}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is fresh is forgotten only after it is stale.
        #[test]
        fn what_is_known_long_enough_is_stale_when_it_is_forgotten(ahead in -301_i64..=61, window in 0_u64..1000) {
            let remembered = super::Remembered { window: Duration::from_secs(window), keep: Duration::ZERO };
            let now = Timestamp::from_micros(1_600_000_000_000_000);
            let signed = 1_600_000_000 + ahead;
            if fresh(signed, now, remembered.window).is_ok() {
                prop_assert!(fresh(signed, now.after(remembered.while_fresh()), remembered.window).is_err());
            }
        }
    }
}
