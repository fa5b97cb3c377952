//! The wall clock and the operating system's randomness.

use std::time::{SystemTime, UNIX_EPOCH};

use capability_core::{Environment, Timestamp};
use jiff::tz::TimeZone;

/// The operating system's clock and randomness.
///
/// Randomness fails closed. [`HostEnvironment::new`] refuses when there is none, so a host without it does not start.
/// Should it fail later, the call that needed it is unwound: no id made of zeros and none from a weaker generator ever
/// exists, and the call's audit ticket records it as `panicked`. Unwinding is not a panic of the guard: nothing but that
/// one call ends.
#[derive(Debug, Clone, Copy)]
pub struct HostEnvironment(());

/// The operating system gives no random bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRandomness;

impl core::fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(
            "the operating system gives no random bytes, so no id or key can be made\n\
             help: allow this process the `getrandom` system call, or give it `/dev/urandom`",
        )
    }
}

impl core::error::Error for NoRandomness {}

impl HostEnvironment {
    /// The environment of this machine, once its randomness has answered.
    ///
    /// # Errors
    /// [`NoRandomness`].
    pub fn new() -> Result<Self, NoRandomness> {
        random::<32>().map(|_| Self(()))
    }
}

/// `N` random bytes.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
    Ok(bytes)
}

/// The wall clock. Before 1970 it is 1970.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

impl Environment for HostEnvironment {
    fn now(&self) -> Timestamp {
        now()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        if getrandom::fill(bytes).is_err() {
            tracing::error!("the operating system gives no random bytes: this call ends here");
            std::panic::resume_unwind(Box::new(NoRandomness));
        }
    }

    fn day_began(&self, now: Timestamp) -> Timestamp {
        // The machine's own zone; where it has none, Coordinated Universal Time.
        day_began(now, TimeZone::system())
    }
}

/// When the day of `now` began in `zone`. Not every day begins at midnight, or 24 hours after the one before.
fn day_began(now: Timestamp, zone: TimeZone) -> Timestamp {
    let began =
        jiff::Timestamp::from_microsecond(now.as_micros()).and_then(|now| now.to_zoned_datetime(zone).start_of_day());
    // Outside the years that calendars are made for there is no day to begin.
    began.map_or(now, |began| Timestamp::from_micros(began.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::{HostEnvironment, day_began};
    use capability_core::{Environment, Timestamp};

    #[test]
    fn the_clock_runs_and_bytes_differ() {
        let environment = HostEnvironment::new().unwrap();
        assert!(environment.now() > Timestamp::from_micros(1_700_000_000_000_000));
        let (mut one, mut two) = ([0; 32], [0; 32]);
        environment.fill_random(&mut one);
        environment.fill_random(&mut two);
        assert!(one != two && one != [0; 32]);
    }

    #[test]
    fn a_day_begins_where_the_machine_is() {
        for (zone, now, began) in [
            ("UTC0", "2026-11-30T07:00:00Z", "2026-11-30T00:00:00Z"),
            ("IST-5:30", "2026-11-30T19:00:00Z", "2026-11-30T18:30:00Z"),
            ("NZST-12", "2026-11-30T13:00:00Z", "2026-11-30T12:00:00Z"),
            ("HST10", "2026-11-30T09:00:00Z", "2026-11-29T10:00:00Z"),
            // The clocks go forward at midnight: the day begins at one.
            ("XXX-1XXY,M3.5.0/0,M10.5.0/0", "2026-03-29T10:00:00Z", "2026-03-28T23:00:00Z"),
            // And back in the night: it has 25 hours.
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T22:30:00Z", "2026-10-24T22:00:00Z"),
        ] {
            let zone = jiff::tz::TimeZone::posix(zone).unwrap();
            let (now, began) = (now.parse().unwrap(), began.parse::<Timestamp>().unwrap());
            assert_eq!(day_began(now, zone.clone()), began, "{zone:?}");
        }
        let (now, environment) = (Timestamp::from_micros(i64::MAX), HostEnvironment::new().unwrap());
        assert_eq!(environment.day_began(now), now);
        let now = environment.now();
        assert!(now.since(environment.day_began(now)).as_secs() < 26 * 3600);
    }
}
