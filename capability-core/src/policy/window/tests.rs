//! Hours, days, zones, and what clocks do twice a year.

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::{MINUTES_PER_WEEK, Window, minute_of_week};
use crate::time::Timestamp;

fn window(json: &str) -> Window {
    serde_json::from_str(json).unwrap()
}

fn nightly(from: &str, to: &str) -> Window {
    window(&format!(r#"{{"from":"{from}","to":"{to}","tz":"Europe/Berlin"}}"#))
}

/// Berlin's clocks, as the rule of recent years says.
fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

fn holds(window: &Window, at: &str) -> bool {
    let at: Timestamp = at.parse().unwrap();
    window.holds(minute_of_week(at, &berlin()).unwrap())
}

#[test]
fn what_is_no_window_is_refused() {
    for (json, words) in [
        (r#"{"from":"09:00","to":"17:00"}"#, "has no `tz`"),
        (r#"{"tz":"Europe/Berlin"}"#, "nothing but a zone"),
        (r#"{"from":"22:00","to":"22:00","tz":"UTC"}"#, "are the same"),
        (r#"{"from":"00:00","to":"00:00","tz":"UTC"}"#, "are the same"),
        (r#"{"from":"25:99","to":"07:00","tz":"UTC"}"#, "no time of day"),
        (r#"{"from":"9:00","to":"07:00","tz":"UTC"}"#, "no time of day"),
        (r#"{"from":"24:00","to":"07:00","tz":"UTC"}"#, "the end of a day"),
        (r#"{"from":"09:00","tz":"UTC"}"#, "one of `from` and `to`"),
        (r#"{"days":[],"tz":"UTC"}"#, "is empty"),
        (r#"{"days":["monday"],"tz":"UTC"}"#, "no day"),
        (r#"{"days":["mon"],"tz":"Europe Berlin"}"#, "no time zone's name"),
        (r#"{"days":["mon"],"zone":"UTC"}"#, "unknown field"),
    ] {
        let said = serde_json::from_str::<Window>(json).unwrap_err().to_string();
        assert!(said.contains(words), "{json}: {said}");
    }
}

#[test]
fn half_open_and_past_midnight_on_the_day_it_starts() {
    let office = window(r#"{"days":["mon-fri"],"from":"09:00","to":"17:00","tz":"Europe/Berlin"}"#);
    // 2026-11-30 is a Monday; Berlin is one hour ahead.
    for (at, expected) in [
        ("2026-11-30T07:59:59Z", false),
        ("2026-11-30T08:00:00Z", true),
        ("2026-11-30T15:59:59.999999Z", true),
        ("2026-11-30T16:00:00Z", false),
        ("2026-11-29T10:00:00Z", false),
    ] {
        assert_eq!(holds(&office, at), expected, "{at}");
    }
    let friday_night = window(r#"{"days":["fri"],"from":"22:00","to":"06:00","tz":"Europe/Berlin"}"#);
    for (at, expected) in [
        // Friday, just after midnight: Thursday's night, which is not meant.
        ("2026-11-26T23:30:00Z", false),
        ("2026-11-27T21:00:00Z", true),
        // Saturday, before six: still Friday's night.
        ("2026-11-28T04:59:59Z", true),
        ("2026-11-28T05:00:00Z", false),
        ("2026-11-28T21:30:00Z", false),
    ] {
        assert_eq!(holds(&friday_night, at), expected, "{at}");
    }
    // The week has no seam.
    let sunday_night = window(r#"{"days":["sun"],"from":"23:00","to":"01:00","tz":"Europe/Berlin"}"#);
    assert!(holds(&sunday_night, "2026-11-29T23:30:00Z") && !holds(&sunday_night, "2026-11-30T23:30:00Z"));
}

#[test]
fn clocks_put_back_count_twice_and_clocks_put_forward_skip() {
    let early = nightly("02:00", "03:00");
    for (at, expected) in [
        // 2026-10-25: 02:30 summer time, 02:30 again, 03:30.
        ("2026-10-25T00:30:00Z", true),
        ("2026-10-25T01:30:00Z", true),
        ("2026-10-25T02:30:00Z", false),
        // 2026-03-29: from 01:59:59 to 03:00.
        ("2026-03-29T00:59:59Z", false),
        ("2026-03-29T01:00:00Z", false),
        ("2026-03-29T01:30:00Z", false),
    ] {
        assert_eq!(holds(&early, at), expected, "{at}");
    }
    let night = nightly("22:00", "03:00");
    assert!(holds(&night, "2026-03-29T00:59:59Z") && !holds(&night, "2026-03-29T01:00:00Z"));
    assert!(holds(&night, "2026-10-25T01:59:59Z") && !holds(&night, "2026-10-25T02:00:00Z"));
}

#[test]
fn times_that_no_calendar_has_are_no_minute() {
    assert_eq!(minute_of_week(Timestamp::from_micros(i64::MAX), &TimeZone::UTC), None);
    assert_eq!(minute_of_week(Timestamp::from_micros(i64::MIN), &TimeZone::UTC), None);
    // A Thursday.
    assert_eq!(minute_of_week(Timestamp::from_micros(0), &TimeZone::UTC), Some(3 * 24 * 60));
}

#[test]
fn all_week_is_all_week_in_every_zone() {
    let always = window(r#"{"from":"00:00","to":"24:00","tz":"UTC"}"#);
    assert!(always.is_always() && always.includes(&nightly("22:00", "03:00")));
    assert!(window(r#"{"days":["wed-tue"],"tz":"UTC"}"#).is_always());
    assert!(!nightly("22:00", "03:00").includes(&always));
    let elsewhere = window(r#"{"from":"22:00","to":"03:00","tz":"UTC"}"#);
    assert!(!elsewhere.includes(&nightly("23:00", "01:00")) && elsewhere.overlaps(&nightly("05:00", "06:00")));
}

fn any_window() -> impl Strategy<Value = Window> {
    let days = proptest::sample::subsequence(super::NAMES.to_vec(), 1..=7);
    (days, 0_u16..48, 1_u16..=48).prop_filter_map("a window has a length", |(days, from, to)| {
        let time = |half_hours: u16| format!("{:02}:{:02}", half_hours / 2, half_hours % 2 * 30);
        let json = serde_json::json!({ "days": days, "from": time(from), "to": time(to), "tz": "UTC" });
        serde_json::from_value(json).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inclusion_and_overlap_are_those_of_the_minutes(one in any_window(), another in any_window()) {
        let minutes = || 0..MINUTES_PER_WEEK;
        let spans = one.minutes_of_week();
        let listed = |minute: u16| spans.iter().any(|(from, to)| (*from..*to).contains(&minute));
        prop_assert!(minutes().all(|minute| listed(minute) == one.holds(minute)));
        prop_assert_eq!(one.includes(&another), minutes().all(|minute| one.holds(minute) || !another.holds(minute)));
        prop_assert_eq!(one.overlaps(&another), minutes().any(|minute| one.holds(minute) && another.holds(minute)));
    }
}
