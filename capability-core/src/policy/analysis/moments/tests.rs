use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::json;

use super::{Clocked, DAYS_AHEAD, moments, next_change, open_at};
use crate::policy::{Window, minute_of_week};
use crate::time::Timestamp;

/// Central Europe, as the rule that it has followed since 1996.
fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

fn new_york() -> TimeZone {
    TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap()
}

fn window(value: serde_json::Value) -> Window {
    serde_json::from_value(value).unwrap()
}

/// Every set of open windows in a year, looked at every few minutes, with its first moment.
fn looked_at(windows: &[Clocked<'_>], from: Timestamp, every: usize) -> BTreeMap<Vec<usize>, Timestamp> {
    let mut found = BTreeMap::new();
    for minute in (0..366 * 24 * 60).step_by(every) {
        let at = Timestamp::from_micros(from.as_micros() + minute * 60_000_000);
        let holds = |clocked: &Clocked<'_>| {
            let zone = clocked.zone.as_ref()?;
            Some(clocked.window.holds(minute_of_week(at, zone)?))
        };
        let open = (0..windows.len()).filter(|member| holds(&windows[*member]) == Some(true)).collect();
        found.entry(open).or_insert(at);
    }
    found
}

fn agrees(windows: &[Clocked<'_>], from: Timestamp, every: usize) {
    let found = moments(windows, from, DAYS_AHEAD);
    let by_set: BTreeMap<Vec<usize>, Timestamp> =
        found.iter().map(|moment| (moment.open.iter().collect(), moment.at)).collect();
    assert_eq!(by_set.len(), found.len());
    assert_eq!(by_set, looked_at(windows, from, every));
}

#[test]
fn hours_that_are_skipped_and_hours_that_come_twice() {
    let skipped = window(json!({ "days": ["sun"], "from": "02:15", "to": "02:45", "tz": "Europe/Berlin" }));
    let later = window(json!({ "days": ["sun"], "from": "02:30", "to": "03:10", "tz": "Europe/Berlin" }));
    let there = window(json!({ "from": "20:40", "to": "21:20", "tz": "America/New_York" }));
    let unknown = window(json!({ "from": "00:00", "to": "24:00", "tz": "Nowhere/AtAll" }));
    let windows = [
        Clocked { window: &skipped, zone: Some(berlin()) },
        Clocked { window: &later, zone: Some(berlin()) },
        Clocked { window: &there, zone: Some(new_york()) },
        Clocked { window: &unknown, zone: None },
    ];
    for from in ["2026-01-01T00:00:00Z", "2026-03-29T00:00:00Z", "2026-10-25T00:30:00Z"] {
        agrees(&windows, from.parse().unwrap(), 5);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn no_set_of_open_windows_is_missed(
        written in prop::collection::vec((0_u8..7, 0_u8..7, 0_u16..96, 0_u16..96, any::<bool>()), 1..5),
        quarter in 0_i64..40_000,
    ) {
        const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
        let listed: Vec<(Window, bool)> = written.into_iter().filter(|(_, _, from, to, _)| from != to).map(|(first, last, from, to, here)| {
            let time = |quarter: u16| format!("{:02}:{:02}", quarter / 4, quarter % 4 * 15);
            let days = format!("{}-{}", NAMES[usize::from(first)], NAMES[usize::from(last)]);
            let tz = if here { "Europe/Berlin" } else { "America/New_York" };
            (window(json!({ "days": [days], "from": time(from), "to": time(to), "tz": tz })), here)
        }).collect();
        let windows: Vec<_> = listed
            .iter()
            .map(|(window, here)| Clocked { window, zone: Some(if *here { berlin() } else { new_york() }) })
            .collect();
        agrees(&windows, Timestamp::from_micros(1_767_225_600_000_000 + quarter * 900_000_000), 15);
    }
}

#[test]
fn the_next_change_is_when_the_first_window_opens_or_closes() {
    let night = window(json!({ "from": "22:00", "to": "07:00", "tz": "Europe/Berlin" }));
    let always = window(json!({ "days": ["mon-sun"], "from": "00:00", "to": "24:00", "tz": "Europe/Berlin" }));
    let windows = [Clocked { window: &night, zone: Some(berlin()) }, Clocked { window: &always, zone: Some(berlin()) }];
    let next = |from: &str| next_change(&windows, from.parse().unwrap()).unwrap().to_string();
    assert_eq!(next("2026-07-01T12:00:00Z"), "2026-07-01T20:00:00Z");
    assert_eq!(next("2026-07-01T20:00:00Z"), "2026-07-02T05:00:00Z");
    assert_eq!(next("2026-10-24T22:00:00Z"), "2026-10-25T06:00:00Z");
    assert_eq!(next_change(&windows[1..], "2026-07-01T12:00:00Z".parse().unwrap()), None);
    assert_eq!(open_at(&windows, "2026-07-01T23:00:00Z".parse().unwrap()).open.iter().count(), 2);
}
