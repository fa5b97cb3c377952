//! Times by pattern, on a clock somewhere.

use core::cmp::Ordering;

use capability_core::Timestamp;
use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use croner::{CivilDateTime, Cron, CronDateTime, Resolution, Weekday};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, ZonedDateTime};

/// A pattern and the clock that it is about. A time that a clock skips is skipped, but for a pattern of one fixed time, which runs when
/// the clock goes on; one that comes twice counts once there.
pub struct Times {
    cron: Cron,
    zone: TimeZone,
}

impl Times {
    /// Five fields, and a zone by its IANA name; `None` for anything else.
    pub fn of(cron: &str, zone: &str) -> Option<Self> {
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        // Nicknames such as `@hourly` are not among the five fields.
        let is_plain = !cron.contains('@') && cron.is_ascii() && cron.split_ascii_whitespace().count() == 5;
        let cron = parser.parse(cron).ok().filter(|_| is_plain)?;
        let zone = TimeZone::get(zone).ok()?;
        Some(Self { cron, zone })
    }

    /// The first such time after a moment, if one comes at all.
    pub fn after(&self, moment: Timestamp) -> Option<Timestamp> {
        let at = jiff::Timestamp::from_microsecond(moment.as_micros()).ok()?;
        let next = self.cron.find_next_occurrence(&Clock::of(at.to_zoned_datetime(self.zone.clone()))?, false).ok()?;
        Some(Timestamp::from_micros(next.at.timestamp().as_microsecond()))
    }

    /// How many there are after one moment and up to another, that one included; no more than `most` are counted.
    pub fn between(&self, after: Timestamp, until: Timestamp, most: u64) -> u64 {
        let mut at = after;
        let mut count = 0;
        while count < most {
            match self.after(at) {
                Some(next) if next <= until => at = next,
                _ => break,
            }
            count += 1;
        }
        count
    }
}

/// A moment on a clock, and what that clock shows then.
#[derive(Clone)]
struct Clock {
    at: ZonedDateTime,
    shows: CivilDateTime,
}

fn number<T: TryInto<u32>>(part: T) -> u32 {
    part.try_into().unwrap_or_default()
}

impl Clock {
    fn of(at: ZonedDateTime) -> Option<Self> {
        let now = at.datetime();
        let shows = CivilDateTime::from_ymd_hms_opt(
            i32::from(now.year()),
            number(now.month()),
            number(now.day()),
            number(now.hour()),
            number(now.minute()),
            number(now.second()),
        )?;
        Some(Self { at, shows })
    }
}

impl CronDateTime for Clock {
    fn to_civil(&self) -> CivilDateTime {
        self.shows
    }

    fn civil_weekday(&self) -> Weekday {
        Weekday::from_days_from_sunday(number(self.at.weekday().to_sunday_zero_offset()))
    }

    fn resolve_civil(&self, civil: CivilDateTime) -> Result<Resolution<Self>, CronError> {
        let part = |value: u32| i8::try_from(value).map_err(|_| CronError::InvalidDate);
        let year = i16::try_from(civil.year()).map_err(|_| CronError::InvalidDate)?;
        let (month, day) = (part(civil.month())?, part(civil.day())?);
        let (hour, minute, second) = (part(civil.hour())?, part(civil.minute())?, part(civil.second())?);
        let at = DateTime::new(year, month, day, hour, minute, second, 0).map_err(|_| CronError::InvalidDate)?;
        let ambiguous = self.at.time_zone().to_ambiguous_zoned_datetime(at);
        let resolved = |zoned: Result<ZonedDateTime, jiff::Error>| {
            zoned.map(|at| Self { at, shows: civil }).map_err(|_| CronError::InvalidTime)
        };
        Ok(match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { .. } => Resolution::Single(resolved(ambiguous.unambiguous())?),
            AmbiguousOffset::Fold { .. } => {
                Resolution::Ambiguous(resolved(ambiguous.clone().earlier())?, resolved(ambiguous.later())?)
            }
            AmbiguousOffset::Gap { .. } => Resolution::Gap,
        })
    }

    fn checked_add_seconds(&self, seconds: i64) -> Option<Self> {
        self.at.checked_add(SignedDuration::from_secs(seconds)).ok().and_then(Self::of)
    }

    fn cmp_instant(&self, other: &Self) -> Ordering {
        self.at.timestamp().cmp(&other.at.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::Times;
    use capability_core::Timestamp;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::from_micros(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
    }

    #[test]
    fn times_are_those_of_the_clock_there() {
        for (cron, zone, after, next) in [
            ("*/15 * * * *", "UTC", "2026-11-30T14:01:00Z", "2026-11-30T14:15:00Z"),
            ("0 7 * * MON-FRI", "Europe/Berlin", "2026-11-27T07:00:00Z", "2026-11-30T06:00:00Z"),
            ("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            // The night that has no half past two, and the one that has two of them.
            ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
            ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
            ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
        ] {
            assert_eq!(Times::of(cron, zone).unwrap().after(at(after)), Some(at(next)), "{cron} {zone}");
        }
        assert_eq!(Times::of("0 0 30 2 *", "UTC").and_then(|times| times.after(at("2026-01-01T00:00:00Z"))), None);
    }

    #[test]
    fn what_went_by_is_counted_and_has_an_end() {
        let times = Times::of("* * * * *", "UTC").unwrap();
        let (from, to) = (at("2026-11-30T14:00:00Z"), at("2026-11-30T14:05:00Z"));
        assert_eq!(times.between(from, to, 1000), 5);
        assert_eq!(times.between(from, to, 3), 3);
        assert_eq!(times.between(to, to, 1000), 0);
    }

    #[test]
    fn what_is_no_pattern_or_no_zone_is_none() {
        for cron in ["", "* * * *", "* * * * * *", "0 * * * * * *", "@hourly", "61 * * * *", "a b c d e", "* * * * é"]
        {
            assert!(Times::of(cron, "UTC").is_none(), "{cron}");
        }
        for zone in ["", "Nowhere/None", "../UTC", "UTC\0"] {
            assert!(Times::of("* * * * *", zone).is_none(), "{zone:?}");
        }
    }

    proptest! {
        /// Whatever is written, it is a pattern whose next time is later, or none.
        #[test]
        fn any_text_is_a_pattern_or_none(cron in "[0-9*/,LW#?A-Z@ -]{0,24}", micros in 0_i64..4_000_000_000_000_000) {
            let moment = Timestamp::from_micros(micros);
            if let Some(next) = Times::of(&cron, "Europe/Berlin").and_then(|times| times.after(moment)) {
                prop_assert!(next > moment);
            }
        }
    }
}
