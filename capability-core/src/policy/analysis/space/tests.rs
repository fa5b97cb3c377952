use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Callable, Corner, Space, Span};
use crate::contract::{SideEffect, TargetKind};
use crate::policy::analysis::automaton::Budget;
use crate::policy::{Acted, Selector, TargetFamily, TargetPattern, minute_of_week};
use crate::session::Origin;
use crate::time::Timestamp;

const FROM: i64 = 1_767_225_600_000_000;

fn berlin() -> TimeZone {
    TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap()
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

/// Targets enough to tell small patterns apart, some of which nobody can read.
fn universe(kind: TargetKind) -> Vec<String> {
    let paths = || words(&["x", "y", "zz"], 0..=4).into_iter().map(|segments| segments.join("/"));
    match kind {
        TargetKind::Url => {
            let mut all = vec!["https://other:0/".to_owned(), "mailto:a.com".to_owned()];
            for host in words(&["a", "com", "zz"], 1..=3) {
                for port in ["", ":8080", ":9999"] {
                    let host = host.join(".");
                    all.extend(paths().map(|path| format!("https://{host}{port}/{path}")));
                    all.push(format!("https://{host}{port}/x/%"));
                }
            }
            all
        }
        TargetKind::Host | TargetKind::Service | TargetKind::Address => {
            let hosts = words(&["a", "com", "zz"], 1..=3).into_iter().map(|labels| labels.join("."));
            let hosts = hosts.flat_map(|host| ["", ":443", ":8080", ":9999", ":0"].map(|port| format!("{host}{port}")));
            hosts.map(|host| if kind == TargetKind::Address { format!("me@{host}") } else { host }).collect()
        }
        TargetKind::Text => {
            let texts = words(&["a", "b", "z"], 0..=5).into_iter().map(|letters| letters.concat());
            texts.chain(["a".repeat(70_000)]).collect()
        }
        TargetKind::Argv => {
            let commands = words(&["x", "y", "zz"], 0..=4).into_iter();
            commands.map(|command| Value::from(command).to_string()).chain(["x".to_owned()]).collect()
        }
        _ => paths().chain(["x/../y".to_owned()]).collect(),
    }
}

fn pattern(kind: TargetKind) -> BoxedStrategy<Value> {
    let path = || prop::sample::select(vec!["x", "x/y", "x/**", "**", "**/y", "*/y", "*/**", "x/**/y"]);
    match kind {
        TargetKind::Url | TargetKind::Host | TargetKind::Service | TargetKind::Address => (
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

const KINDS: [TargetKind; 8] = [
    TargetKind::Url,
    TargetKind::Url,
    TargetKind::Host,
    TargetKind::Service,
    TargetKind::Address,
    TargetKind::Path,
    TargetKind::Argv,
    TargetKind::Text,
];

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

/// What each selector's target says to one: yes, no, or that it cannot tell.
fn by_target(selectors: &[Selector], kind: TargetKind, target: Option<&str>) -> Vec<Option<bool>> {
    let acted = target.map(|text| Acted::read(kind, text));
    let says = |pattern: &TargetPattern| match &acted {
        _ if TargetFamily::of(kind) != Some(pattern.family()) => Some(false),
        None => Some(false),
        Some(Err(_)) => None,
        Some(Ok(acted)) => acted.is_matched_by(pattern).ok(),
    };
    selectors.iter().map(|selector| selector.target.as_ref().map_or(Some(true), says)).collect()
}

fn by_clock(selectors: &[Selector], at: Timestamp) -> Vec<bool> {
    let now = minute_of_week(at, &berlin()).unwrap();
    selectors.iter().map(|selector| selector.when.as_ref().is_none_or(|window| window.holds(now))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]

    /// Against every call of a small world: no combination of selectors is missed, none is invented, and each sketch is one
    /// of its cell.
    #[test]
    fn the_cells_are_what_calls_there_are((kind, selectors) in some_selectors(), optional in any::<bool>()) {
        let from = Span::YearFrom(Timestamp::from_micros(FROM));
        let listed: Vec<_> = selectors.iter().collect();
        let mut space = Space::of(listed, vec![None; selectors.len()], |_| Some(berlin()), from, Budget::ORDINARY);
        let mut by_targets: BTreeSet<_> =
            universe(kind).iter().map(|target| by_target(&selectors, kind, Some(target.as_str()))).collect();
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
            let corner = Corner { subject: &subject, callable, scope, origin, behind: &[] };
            let cells = space.cells(&corner).unwrap();
            let left = left(&selectors, &corner);
            let facts = |target: &[Option<bool>], clock: &[bool]| -> (Vec<usize>, Vec<usize>) {
                let matching = left.iter().copied().filter(|at| target[*at] == Some(true) && clock[*at]);
                (matching.collect(), left.iter().copied().filter(|at| target[*at].is_none()).collect())
            };
            let mut found = BTreeSet::new();
            for cell in cells.iter() {
                let known = (cell.matching.iter().collect(), cell.asking.iter().collect());
                let target = by_target(&selectors, kind, cell.target.as_deref());
                let clock = by_clock(&selectors, cell.at);
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
