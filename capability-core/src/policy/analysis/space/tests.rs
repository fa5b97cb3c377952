use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Callable, Corner, Space};
use crate::contract::{SideEffect, TargetKind};
use crate::policy::analysis::automaton::Budget;
use crate::policy::{Selector, TargetPattern, minute_of_week};
use crate::session::Origin;
use crate::time::Timestamp;

const FROM: i64 = 1_767_225_600_000_000;

fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
}

/// A target taken apart by hand.
#[derive(Debug, Clone)]
struct Target {
    host: Vec<String>,
    port: u16,
    segments: Vec<String>,
    text: String,
}

fn matches(pattern: &TargetPattern, kind: TargetKind, target: &Target) -> bool {
    match (pattern, kind) {
        (TargetPattern::Place(place), TargetKind::Url) => {
            place.host.matches(&target.host)
                && place.port.is_none_or(|port| port == target.port)
                && place.path.as_ref().is_none_or(|path| path.matches(&target.segments))
        }
        (TargetPattern::Path(path), TargetKind::Path) => path.matches(&target.segments),
        (TargetPattern::Argv(argv), TargetKind::Argv) => argv.matches(&target.segments),
        (TargetPattern::Text(text), TargetKind::Text) => text.matches(&target.text),
        _ => false,
    }
}

fn words(alphabet: &[&str], lengths: core::ops::RangeInclusive<usize>) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut last = vec![Vec::new()];
    for length in 0..=*lengths.end() {
        if lengths.contains(&length) {
            all.extend(last.iter().cloned());
        }
        last = last
            .iter()
            .flat_map(|word: &Vec<String>| {
                alphabet.iter().map(move |letter| [word.clone(), vec![(*letter).to_owned()]].concat())
            })
            .collect();
    }
    all
}

/// Targets enough to tell small patterns apart.
fn universe(kind: TargetKind) -> Vec<Target> {
    let plain = |segments: Vec<String>| Target { host: vec![], port: 0, text: segments.concat(), segments };
    match kind {
        TargetKind::Url => {
            let mut all = Vec::new();
            for host in words(&["a", "com", "zz"], 1..=3) {
                for port in [443, 8080, 9999] {
                    for segments in words(&["x", "y", "zz"], 0..=3) {
                        all.push(Target { host: host.clone(), port, segments, text: String::new() });
                    }
                }
            }
            all
        }
        TargetKind::Text => words(&["a", "b", "z"], 0..=5).into_iter().map(plain).collect(),
        _ => words(&["x", "y", "zz"], 1..=4).into_iter().map(plain).collect(),
    }
}

/// The witness, taken apart again.
fn read(kind: TargetKind, text: &str) -> Target {
    let list = |text: &str| text.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect();
    let mut target = Target { host: vec![], port: 0, segments: vec![], text: text.to_owned() };
    match kind {
        TargetKind::Url => {
            let (scheme, rest) = text.split_once("://").unwrap();
            let (authority, path) = rest.split_once('/').unwrap();
            let (host, port) = match authority.split_once(':') {
                Some((host, port)) => (host, port.parse().unwrap()),
                None => (authority, if scheme == "https" { 443 } else { 80 }),
            };
            target.host = host.split('.').map(str::to_owned).collect();
            (target.port, target.segments) = (port, list(path));
        }
        TargetKind::Argv => target.segments = serde_json::from_str(text).unwrap(),
        _ => target.segments = list(text),
    }
    target
}

fn pattern(kind: TargetKind) -> BoxedStrategy<Value> {
    let path = || prop::sample::select(vec!["x", "x/y", "x/**", "**", "**/y", "*/y", "*/**", "x/**/y"]);
    match kind {
        TargetKind::Url => (
            prop::sample::select(vec!["a.com", "com", "*.com", "**.com", "**", "**.a.com"]),
            prop::option::of(prop::sample::select(vec![443, 8080])),
            prop::option::of(path()),
        )
            .prop_map(|(host, port, path)| {
                let mut target = json!({ "host": host });
                if let Some(port) = port {
                    target["port"] = port.into();
                }
                if let Some(path) = path {
                    target["path"] = path.into();
                }
                target
            })
            .boxed(),
        TargetKind::Path => path().prop_map(|path| json!({ "path": path })).boxed(),
        TargetKind::Argv => {
            prop::sample::select(vec![json!(["x"]), json!(["x", "**"]), json!(["*", "y"]), json!(["**"])])
                .prop_map(|argv| json!({ "argv": argv }))
                .boxed()
        }
        _ => prop::sample::select(vec!["a*", "*b", "*ab*", "*a*b*", "a", "*"])
            .prop_map(|text| json!({ "text": text }))
            .boxed(),
    }
}

fn selector(kind: TargetKind) -> impl Strategy<Value = Selector> {
    (
        prop::option::of(prop::sample::select(vec!["kid", "agent"])),
        prop::sample::select(vec!["*", "lab.*", "lab.one", "lab.two", "lab.one:docs"]),
        prop::option::weighted(0.2, prop::sample::select(vec!["read_only", "mutating"])),
        prop::option::weighted(0.7, pattern(kind)),
        prop::option::weighted(
            0.4,
            prop::sample::select(vec![("20:00", "07:00"), ("06:00", "09:00"), ("00:00", "24:00")]),
        ),
        prop::option::weighted(0.2, prop::sample::select(vec!["ui", "model"])),
    )
        .prop_map(|(subject, capability, action, target, when, origin)| {
            let mut written = json!({ "capability": capability });
            let when = when.map(|(from, to)| json!({ "from": from, "to": to, "tz": "Europe/Berlin" }));
            let parts = [
                ("subject", subject.map(Value::from)),
                ("action", action.map(Value::from)),
                ("target", target),
                ("when", when),
                ("origin", origin.map(Value::from)),
            ];
            for (key, value) in parts {
                if let Some(value) = value {
                    written[key] = value;
                }
            }
            serde_json::from_value(written).unwrap()
        })
}

const KINDS: [TargetKind; 4] = [TargetKind::Url, TargetKind::Path, TargetKind::Argv, TargetKind::Text];

fn some_selectors() -> impl Strategy<Value = (TargetKind, Vec<Selector>)> {
    prop::sample::select(KINDS.to_vec())
        .prop_flat_map(|kind| prop::collection::vec(selector(kind), 0..7).prop_map(move |selectors| (kind, selectors)))
}

/// Which selectors a call's subject, capability, scope and origin leave.
fn left(selectors: &[Selector], corner: &Corner<'_>) -> Vec<usize> {
    let takes = |selector: &Selector| {
        selector.subject.as_ref().is_none_or(|own| own == corner.subject)
            && selector.capability.matches(corner.callable.name, corner.scope)
            && selector.action.is_none_or(|own| own == corner.callable.side_effect)
            && selector.origin.is_none_or(|own| own == corner.origin)
    };
    (0..selectors.len()).filter(|at| takes(&selectors[*at])).collect()
}

fn by_target(selectors: &[Selector], kind: TargetKind, target: Option<&Target>) -> Vec<bool> {
    let takes = |pattern: &TargetPattern| target.is_some_and(|target| matches(pattern, kind, target));
    selectors.iter().map(|selector| selector.target.as_ref().is_none_or(takes)).collect()
}

fn by_clock(selectors: &[Selector], at: Timestamp) -> Vec<bool> {
    let now = minute_of_week(at, &berlin()).unwrap();
    selectors.iter().map(|selector| selector.when.as_ref().is_none_or(|window| window.holds(now))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 120, ..ProptestConfig::default() })]

    /// Against every call of a small world: no combination of selectors is missed, none is invented, and each sketch is one
    /// of its cell.
    #[test]
    fn the_cells_are_what_calls_there_are((kind, selectors) in some_selectors(), optional in any::<bool>()) {
        let from = Timestamp::from_micros(FROM);
        let listed: Vec<_> = selectors.iter().collect();
        let mut space = Space::of(listed, vec![None; selectors.len()], |_| Some(berlin()), from, Budget::ORDINARY);
        let mut by_targets: BTreeSet<_> =
            universe(kind).iter().map(|target| by_target(&selectors, kind, Some(target))).collect();
        if optional {
            by_targets.insert(by_target(&selectors, kind, None));
        }
        let hours = (0..48).map(|hour| Timestamp::from_micros(FROM + hour * 3_600_000_000));
        let by_clocks: BTreeSet<_> = hours.map(|at| by_clock(&selectors, at)).collect();
        for (subject, name, scope, side_effect, origin) in [
            ("kid", "lab.one", Some("docs"), SideEffect::ReadOnly, Origin::Model),
            ("agent", "lab.two", None, SideEffect::Mutating, Origin::Ui),
            ("nobody", "else.one", None, SideEffect::ReadOnly, Origin::Terminal),
        ] {
            let subject = subject.parse().unwrap();
            let callable = Callable { name, side_effect, target: kind, target_optional: optional };
            let corner = Corner { subject: &subject, callable, scope, origin };
            let cells = space.cells(&corner).unwrap();
            let left = left(&selectors, &corner);
            let facts = |target: &[bool], clock: &[bool]| -> Vec<usize> {
                left.iter().copied().filter(|at| target[*at] && clock[*at]).collect()
            };
            let mut found = BTreeSet::new();
            for cell in cells.iter() {
                let target = cell.target.as_deref().map(|text| read(kind, text));
                let known: Vec<usize> = cell.matching.iter().collect();
                let (target, clock) = (by_target(&selectors, kind, target.as_ref()), by_clock(&selectors, cell.at));
                prop_assert_eq!(&facts(&target, &clock), &known, "{:?}", cell);
                prop_assert!(found.insert(known), "one cell for each combination");
            }
            let there: BTreeSet<_> = by_targets
                .iter()
                .flat_map(|target| by_clocks.iter().map(|clock| facts(target, clock)))
                .collect();
            prop_assert_eq!(found, there);
        }
    }
}
