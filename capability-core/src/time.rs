//! Points in time, as the host tells them.

use core::time::Duration;

use serde::{Deserialize, Serialize};

/// A point in time: microseconds since the Unix epoch, UTC. In JSON an RFC 3339 text such as `2026-08-09T12:00:00.25Z`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From microseconds since the Unix epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// This time and a duration more; saturates at the far end.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)))
    }

    /// This time and so many microseconds more.
    pub(crate) const fn after_micros(self, micros: u64) -> Self {
        Self(self.0.saturating_add_unsigned(micros))
    }

    /// How long after `earlier` this is; zero when it is not later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    fn clamped(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
}

impl core::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.clamped().fmt(f)
    }
}

impl core::fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.clamped().fmt(f)
    }
}

impl core::str::FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<jiff::Timestamp>().map(|parsed| Self(parsed.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|_| serde::de::Error::custom("not an RFC 3339 time"))
    }
}

impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// What the crate needs of the world around it and does not take by itself: the wall clock and randomness.
pub trait Environment: Send + Sync + 'static {
    /// The wall clock.
    fn now(&self) -> Timestamp;
    /// Fills `bytes` with unpredictable ones.
    fn fill_random(&self, bytes: &mut [u8]);
    /// When the day began that `now` is in, by the clocks where this machine is; by Coordinated Universal Time unless an
    /// implementation knows better.
    fn day_began(&self, now: Timestamp) -> Timestamp {
        const MICROS_PER_DAY: i64 = 86_400_000_000;
        Timestamp::from_micros(now.as_micros().saturating_sub(now.as_micros().rem_euclid(MICROS_PER_DAY)))
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn text_and_back() {
        let time = Timestamp::from_micros(1_786_276_800_250_000);
        assert_eq!(time.to_string(), "2026-08-09T12:00:00.25Z");
        assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
        assert_eq!(serde_json::from_str::<Timestamp>(&serde_json::to_string(&time).unwrap()).unwrap(), time);
    }

    #[test]
    fn the_far_ends_do_not_panic() {
        for micros in [i64::MIN, i64::MAX] {
            assert!(!Timestamp::from_micros(micros).to_string().is_empty());
        }
        assert_eq!(Timestamp::from_micros(5).since(Timestamp::from_micros(9)), core::time::Duration::ZERO);
    }
}
