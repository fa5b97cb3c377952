//! Forms of texts that are told without an engine for patterns.

use core::net::{Ipv4Addr, Ipv6Addr};

/// A format of draft 2020-12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Date,
    DateTime,
    Duration,
    Ipv4,
    Ipv6,
    Time,
    Uuid,
}

impl Format {
    /// None for a format that is left to a general validator.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            "duration" => Self::Duration,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "time" => Self::Time,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::DateTime => "date-time",
            Self::Duration => "duration",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
            Self::Time => "time",
            Self::Uuid => "uuid",
        }
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Date => is_date(text.as_bytes()),
            Self::DateTime => text
                .split_once(['T', 't'])
                .is_some_and(|(date, time)| is_date(date.as_bytes()) && is_time(time.as_bytes())),
            Self::Duration => is_duration(text),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Time => is_time(text.as_bytes()),
            Self::Uuid => is_uuid(text.as_bytes()),
        }
    }
}

/// A pattern that the export writes itself: the keys of maps by integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A natural number in digits.
    Natural,
    /// An integer in digits.
    Integer,
}

impl Form {
    pub(super) const NATURAL: &str = "^(0|[1-9][0-9]{0,19})$";
    pub(super) const INTEGER: &str = "^(0|-?[1-9][0-9]{0,18})$";

    /// None for a pattern that needs an engine.
    pub(super) fn written(pattern: &str) -> Option<Self> {
        match pattern {
            Self::NATURAL => Some(Self::Natural),
            Self::INTEGER => Some(Self::Integer),
            _ => None,
        }
    }

    pub(super) const fn pattern(self) -> &'static str {
        match self {
            Self::Natural => Self::NATURAL,
            Self::Integer => Self::INTEGER,
        }
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        let (digits, most) = match self {
            Self::Natural => (text, 20),
            Self::Integer => match text.strip_prefix('-') {
                Some("0") => return false,
                stripped => (stripped.unwrap_or(text), 19),
            },
        };
        match digits.as_bytes() {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.len() < most && rest.iter().all(u8::is_ascii_digit),
            _ => false,
        }
    }
}

/// Two digits as the number that they are.
fn two(tens: u8, ones: u8) -> Option<u8> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

fn is_date(text: &[u8]) -> bool {
    let &[c0, c1, y0, y1, b'-', m0, m1, b'-', d0, d1] = text else { return false };
    let (Some(century), Some(year), Some(month), Some(day)) = (two(c0, c1), two(y0, y1), two(m0, m1), two(d0, d1))
    else {
        return false;
    };
    // A century's own year is a leap year when the century divides by four.
    let leap = if year == 0 { century % 4 == 0 } else { year % 4 == 0 };
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u8::from(leap),
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// A time of day with its distance from UTC. A leap second ends a day of UTC.
fn is_time(text: &[u8]) -> bool {
    let &[h0, h1, b':', m0, m1, b':', s0, s1, ref rest @ ..] = text else { return false };
    let (Some(hour @ 0..=23), Some(minute @ 0..=59), Some(second @ 0..=60)) = (two(h0, h1), two(m0, m1), two(s0, s1))
    else {
        return false;
    };
    let zone = match rest {
        [b'.', fraction @ ..] => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            fraction.get(digits..).unwrap_or_default()
        }
        zone => zone,
    };
    let offset = match zone {
        [b'Z' | b'z'] => 0,
        &[sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            let (Some(hours @ 0..=23), Some(minutes @ 0..=59)) = (two(h0, h1), two(m0, m1)) else { return false };
            let offset = i16::from(hours) * 60 + i16::from(minutes);
            if sign == b'+' { offset } else { -offset }
        }
        _ => return false,
    };
    second < 60 || (i16::from(hour) * 60 + i16::from(minute) - offset).rem_euclid(24 * 60) == 24 * 60 - 1
}

/// `P`, then weeks, or a run of neighbouring units of the date, of the time after a `T`, or of both.
fn is_duration(text: &str) -> bool {
    let Some(parts) = text.strip_prefix('P') else { return false };
    let (date, time) = match parts.split_once('T') {
        Some((date, time)) => (date, Some(time)),
        None => (parts, None),
    };
    if let Some(weeks) = date.strip_suffix('W') {
        return time.is_none() && is_count(weeks);
    }
    let date_holds = date.is_empty() || units(date, b"YMD");
    match time {
        Some(time) => date_holds && units(time, b"HMS"),
        None => !date.is_empty() && date_holds,
    }
}

fn is_count(digits: &str) -> bool {
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// At least one counted unit, each the one that follows the last in `order`.
fn units(mut text: &str, order: &[u8; 3]) -> bool {
    let mut last: Option<usize> = None;
    while !text.is_empty() {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (count, rest) = text.split_at(digits);
        let Some(unit) = rest.bytes().next() else { return false };
        let Some(at) = order.iter().position(|known| *known == unit) else { return false };
        if !is_count(count) || last.is_some_and(|last| at != last + 1) {
            return false;
        }
        last = Some(at);
        text = rest.get(1..).unwrap_or_default();
    }
    last.is_some()
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
