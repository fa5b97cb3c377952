//! When a rule applies: hours of the week, by the clocks of a place.

use core::fmt;

use jiff::tz::TimeZone;
use serde::Deserialize;

use super::mistake::Mistake;
use crate::time::Timestamp;

const MINUTES_PER_DAY: u16 = 24 * 60;
const MINUTES_PER_WEEK: u16 = 7 * MINUTES_PER_DAY;

/// Days of the week.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Days(u8);

const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

impl Days {
    /// Monday to Sunday.
    pub const ALL: Self = Self(0b111_1111);

    /// Whether the day is among them, counted from Monday, which is 0.
    #[must_use]
    pub const fn holds(self, day: u8) -> bool {
        day < 7 && self.0 & (1 << day) != 0
    }

    /// `mon`, `tue` and so on, from Monday.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        (0_u8..).zip(NAMES).filter(move |(day, _)| self.holds(*day)).map(|(_, name)| name)
    }

    fn written(listed: &[String]) -> Result<Self, Mistake> {
        let day = |name: &str| NAMES.iter().position(|known| *known == name);
        let mut days = 0_u8;
        for entry in listed {
            let (first, last) = entry.split_once('-').unwrap_or((entry, entry));
            let (Some(mut at), Some(last)) = (day(first), day(last)) else {
                return Err(Mistake::new(
                    format!("`{}` is no day and no range of days", super::targets::shown(entry)),
                    "write days as `mon`, `tue`, `wed`, `thu`, `fri`, `sat`, `sun`, or a range such as `mon-fri`",
                ));
            };
            loop {
                days |= 1 << at;
                if at == last {
                    break;
                }
                at = (at + 1) % 7;
            }
        }
        if days == 0 {
            return Err(Mistake::new("`days` is empty", "list the days, or leave `days` out for every day"));
        }
        Ok(Self(days))
    }
}

impl fmt::Debug for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().collect::<Vec<_>>().join(","))
    }
}

/// A time zone's name as the IANA database lists it, such as `Europe/Berlin`. Whether it exists is settled when a policy is
/// compiled.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ZoneName(Box<str>);

impl ZoneName {
    fn written(text: &str) -> Result<Self, Mistake> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"_+-/".contains(&b);
        if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
            Ok(Self(text.into()))
        } else {
            Err(Mistake::new(
                format!("`{}` is no time zone's name", super::targets::shown(text)),
                "write a zone of the IANA database, such as `Europe/Berlin`",
            ))
        }
    }

    /// The name.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ZoneName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Hours of the week in one time zone.
///
/// Half-open: `from` belongs to it and `to` does not. One that ends before it begins runs past midnight and belongs to the
/// day it starts on. Clocks that are put back pass through its hours twice, and both times count; hours that are skipped
/// when clocks are put forward never come.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "Written")]
pub struct Window {
    days: Days,
    /// Minutes since midnight, 0 to 1439.
    from: u16,
    /// Minutes since midnight, 1 to 1440; not above `from` when it runs past midnight.
    to: u16,
    zone: ZoneName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    days: Option<Vec<String>>,
    from: Option<String>,
    to: Option<String>,
    tz: Option<String>,
}

impl TryFrom<Written> for Window {
    type Error = Mistake;

    fn try_from(written: Written) -> Result<Self, Mistake> {
        let Written { days, from, to, tz } = written;
        let Some(tz) = tz else {
            return Err(Mistake::new("`when` has no `tz`", "say by whose clocks: `tz = \"Europe/Berlin\"`"));
        };
        let zone = ZoneName::written(&tz)?;
        if days.is_none() && from.is_none() && to.is_none() {
            return Err(Mistake::new("`when` says nothing but a zone", "write `days`, or `from` and `to`, or both"));
        }
        let days = days.as_deref().map_or(Ok(Days::ALL), Days::written)?;
        let (from, to) = match (from, to) {
            (None, None) => (0, MINUTES_PER_DAY),
            (Some(from), Some(to)) => (minutes(&from)?, minutes(&to)?),
            _ => {
                return Err(Mistake::new(
                    "`when` has one of `from` and `to`",
                    "write both; `00:00` and `24:00` are the ends of a day",
                ));
            }
        };
        if from == MINUTES_PER_DAY {
            return Err(Mistake::new("`from` is `24:00`, the end of a day", "write `00:00` for its beginning"));
        }
        if from == to || (from, to) == (0, 0) {
            return Err(Mistake::new(
                "`from` and `to` are the same, which is no time at all or all of it",
                "write `from = \"00:00\", to = \"24:00\"` for whole days",
            ));
        }
        // Midnight as an end is the end of the day before.
        let to = if to == 0 { MINUTES_PER_DAY } else { to };
        Ok(Self { days, from, to, zone })
    }
}

/// `HH:MM`, 00:00 to 24:00.
fn minutes(text: &str) -> Result<u16, Mistake> {
    let number = |digits: &str| match digits.as_bytes() {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => Some(u16::from(tens - b'0') * 10 + u16::from(ones - b'0')),
        _ => None,
    };
    text.split_once(':')
        .and_then(|(hours, minutes)| Some((number(hours)?, number(minutes)?)))
        .filter(|(hours, minutes)| (*hours < 24 && *minutes < 60) || (*hours, *minutes) == (24, 0))
        .map(|(hours, minutes)| hours * 60 + minutes)
        .ok_or_else(|| {
            Mistake::new(
                format!("`{}` is no time of day", super::targets::shown(text)),
                "write hours and minutes as `22:00`; `24:00` is the end of a day",
            )
        })
}

impl Window {
    /// The days it starts on.
    #[must_use]
    pub const fn days(&self) -> Days {
        self.days
    }

    /// From this minute of the day, 0 to 1439.
    #[must_use]
    pub const fn from(&self) -> u16 {
        self.from
    }

    /// To this minute of the day, 1 to 1440, which does not belong to it; when it is not above [`from`](Self::from), to that
    /// minute of the next day.
    #[must_use]
    pub const fn to(&self) -> u16 {
        self.to
    }

    /// By whose clocks.
    #[must_use]
    pub const fn zone(&self) -> &ZoneName {
        &self.zone
    }

    /// The minutes of the week that belong to it, from Monday's midnight: ascending, half-open, apart from one another.
    #[must_use]
    pub fn minutes_of_week(&self) -> Vec<(u16, u16)> {
        let length = if self.to > self.from { self.to - self.from } else { MINUTES_PER_DAY - self.from + self.to };
        let mut spans = Vec::new();
        for day in (0..7).filter(|day| self.days.holds(*day)) {
            let start = u16::from(day) * MINUTES_PER_DAY + self.from;
            let end = start + length;
            spans.push((start, end.min(MINUTES_PER_WEEK)));
            if end > MINUTES_PER_WEEK {
                spans.push((0, end - MINUTES_PER_WEEK));
            }
        }
        spans.sort_unstable();
        let mut merged: Vec<(u16, u16)> = Vec::new();
        for (start, end) in spans {
            match merged.last_mut() {
                Some((_, last)) if *last >= start => *last = end.max(*last),
                _ => merged.push((start, end)),
            }
        }
        merged
    }

    /// Whether it holds at this minute of the week by the clocks of its zone.
    #[must_use]
    pub fn holds(&self, minute_of_week: u16) -> bool {
        let (day, minute) = (minute_of_week / MINUTES_PER_DAY, minute_of_week % MINUTES_PER_DAY);
        let day = u8::try_from(day).unwrap_or(u8::MAX);
        if self.to > self.from {
            return self.days.holds(day) && (self.from..self.to).contains(&minute);
        }
        let day_before = (day + 6) % 7;
        (self.days.holds(day) && minute >= self.from) || (self.days.holds(day_before) && minute < self.to)
    }

    /// Whether it holds all week.
    #[must_use]
    pub fn is_always(&self) -> bool {
        self.minutes_of_week() == [(0, MINUTES_PER_WEEK)]
    }

    /// Whether every moment of `other` is one of this. Windows in two zones are only comparable when this one is always.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        if self.is_always() {
            return true;
        }
        let own = self.minutes_of_week();
        let within = |(start, end): &(u16, u16)| own.iter().any(|(from, to)| from <= start && end <= to);
        self.zone == other.zone && other.minutes_of_week().iter().all(within)
    }

    /// Whether some moment may belong to both. Never a false no.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let own = self.minutes_of_week();
        let meets = |(start, end): &(u16, u16)| own.iter().any(|(from, to)| from < end && start < to);
        self.zone != other.zone || other.minutes_of_week().iter().any(meets)
    }
}

/// The minute of the week that clocks show in a zone, from Monday's midnight; none for a time that no calendar has.
#[must_use]
pub fn minute_of_week(at: Timestamp, zone: &TimeZone) -> Option<u16> {
    let instant = jiff::Timestamp::from_microsecond(at.as_micros()).ok()?;
    let shown = zone.to_datetime(instant);
    let day = u16::try_from(shown.date().weekday().to_monday_zero_offset()).ok()?;
    let (hour, minute) = (u16::try_from(shown.hour()).ok()?, u16::try_from(shown.minute()).ok()?);
    Some(day * MINUTES_PER_DAY + hour * 60 + minute)
}

#[cfg(test)]
mod tests;
