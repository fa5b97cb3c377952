//! Which windows are open together, over the next year.

use std::collections::{BTreeMap, HashSet};

use jiff::civil::Time;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Span, ToSpan as _};

use super::bits::Bits;
use crate::policy::{Window, minute_of_week};
use crate::time::Timestamp;

/// How far ahead is looked: a year and a day holds every day of the week under every offset that a zone has in a year, and
/// both changes between them.
pub const DAYS_AHEAD: i64 = 366;

const MINUTES_PER_DAY: u16 = 24 * 60;

/// A set of windows that are open together, and the first moment at which just these are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Which windows are open, by their place in the list.
    pub open: Bits,
    /// A moment at which they and no others are.
    pub at: Timestamp,
}

/// A window with the clocks it goes by.
#[derive(Debug, Clone)]
pub struct Clocked<'w> {
    /// The window.
    pub window: &'w Window,
    /// Its zone; none when this host does not know it, and such a window is never open.
    pub zone: Option<TimeZone>,
}

impl Clocked<'_> {
    fn is_open(&self, at: Timestamp) -> bool {
        let minute = self.zone.as_ref().and_then(|zone| minute_of_week(at, zone));
        minute.is_some_and(|minute| self.window.holds(minute))
    }
}

/// Every set of windows that are open together at some moment of so many days from `from` on, each once, the earliest first.
pub fn moments(windows: &[Clocked<'_>], from: Timestamp, days: i64) -> Vec<Moment> {
    let mut known = HashSet::new();
    let mut found = Vec::new();
    sweep(windows, changes(windows, from, days), |open, at| {
        if known.insert(open.clone()) {
            found.push(Moment { open: open.clone(), at });
        }
        true
    });
    found
}

/// Which windows are open at one moment.
pub fn open_at(windows: &[Clocked<'_>], at: Timestamp) -> Moment {
    let mut open = Bits::none(windows.len());
    windows.iter().enumerate().filter(|(_, clocked)| clocked.is_open(at)).for_each(|(member, _)| open.insert(member));
    Moment { open, at }
}

/// When the next window opens or closes; none when none ever does. A window is of the week, so that a week and the day in
/// which clocks may be changed suffice.
pub fn next_change(windows: &[Clocked<'_>], from: Timestamp) -> Option<Timestamp> {
    let now = open_at(windows, from).open;
    let mut next = None;
    sweep(windows, changes(windows, from, 8), |open, at| {
        next = (*open != now).then_some(at);
        next.is_none()
    });
    next
}

/// Every moment at which a window may open or close, with those that may.
///
/// Membership only changes where clocks show a window's beginning or end, or are changed themselves, so that these moments
/// are all that need looking at.
fn changes(windows: &[Clocked<'_>], from: Timestamp, days: i64) -> BTreeMap<i64, Bits> {
    let mut changes: BTreeMap<i64, Bits> = BTreeMap::new();
    // At the beginning everything is looked at.
    changes.insert(from.as_micros(), Bits::all(windows.len()));
    let end = from.as_micros().saturating_add(days.saturating_mul(86_400_000_000));
    for (zone, members) in by_zone(windows) {
        let every = |members: &[usize]| {
            let mut bits = Bits::none(windows.len());
            members.iter().for_each(|at| bits.insert(*at));
            bits
        };
        let mut note = |instant: jiff::Timestamp, changed: &Bits| {
            let micros = instant.as_microsecond();
            if (from.as_micros()..end).contains(&micros) {
                let known = changes.entry(micros).or_insert_with(|| Bits::none(windows.len()));
                *known = known.or(changed);
            }
        };
        let Ok(start) = jiff::Timestamp::from_microsecond(from.as_micros()) else { continue };
        // Where clocks are changed, anything in that zone may.
        let all = every(&members);
        for transition in zone.following(start) {
            if transition.timestamp().as_microsecond() >= end {
                break;
            }
            note(transition.timestamp(), &all);
        }
        // Which windows may change at which minute of the day.
        let mut minutes: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for member in members {
            let Some(Clocked { window, .. }) = windows.get(member) else { continue };
            for minute in [window.from(), window.to() % MINUTES_PER_DAY] {
                minutes.entry(minute).or_default().push(member);
            }
        }
        let minutes: Vec<_> = minutes.into_iter().map(|(minute, members)| (minute, every(&members))).collect();
        let one_day: Span = 1.day();
        let mut date = zone.to_datetime(start).date();
        for _ in 0..=days {
            for (minute, changed) in &minutes {
                let (hour, minute) = (minute / 60, minute % 60);
                let time = Time::new(hour.try_into().unwrap_or(0), minute.try_into().unwrap_or(0), 0, 0);
                let Ok(time) = time else { continue };
                let shown = date.to_datetime(time);
                let offsets = match zone.to_ambiguous_timestamp(shown).offset() {
                    AmbiguousOffset::Unambiguous { offset } => [Some(offset), None],
                    // Shown twice; or skipped, where one reading too many does no harm.
                    AmbiguousOffset::Fold { before, after } | AmbiguousOffset::Gap { before, after } => {
                        [Some(before), Some(after)]
                    }
                };
                for instant in
                    offsets.into_iter().flatten().filter_map(|offset: jiff::tz::Offset| offset.to_timestamp(shown).ok())
                {
                    note(instant, changed);
                }
            }
            let Ok(tomorrow) = date.checked_add(one_day) else { break };
            date = tomorrow;
        }
    }
    changes
}

fn by_zone<'c>(windows: &'c [Clocked<'_>]) -> Vec<(&'c TimeZone, Vec<usize>)> {
    let mut zones: BTreeMap<&str, (&TimeZone, Vec<usize>)> = BTreeMap::new();
    for (at, Clocked { window, zone }) in windows.iter().enumerate() {
        if let Some(zone) = zone {
            zones.entry(window.zone().as_str()).or_insert_with(|| (zone, Vec::new())).1.push(at);
        }
    }
    zones.into_values().collect()
}

/// Through all changes in their order, until `each` has seen enough.
fn sweep(windows: &[Clocked<'_>], changes: BTreeMap<i64, Bits>, mut each: impl FnMut(&Bits, Timestamp) -> bool) {
    let mut open = Bits::none(windows.len());
    for (micros, changed) in changes {
        let at = Timestamp::from_micros(micros);
        for member in changed.iter() {
            if windows.get(member).is_some_and(|clocked| clocked.is_open(at)) {
                open.insert(member);
            } else {
                open.remove(member);
            }
        }
        if !each(&open, at) {
            break;
        }
    }
}

#[cfg(test)]
mod tests;
