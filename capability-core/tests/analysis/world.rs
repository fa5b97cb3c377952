//! A small world: few words, all of their combinations, and rules made of them.

use std::sync::Arc;

use capability_core::contract::TargetKind;
use capability_core::policy::analysis::{Asker, Entry, Open, Sketch};
use capability_core::policy::{Decision, Policy, Rule, RuleEffect, Source, SourceKind, evaluate};
use capability_core::session::{Declarations, Mode, Origin, Subject};
use capability_core::{Registry, Timestamp};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Noon in Berlin of a Wednesday, and other hours that its windows tell apart.
pub const FROM: &str = "2026-07-01T10:00:00Z";
const HOURS: [&str; 4] = [FROM, "2026-07-01T04:30:00Z", "2026-07-01T06:00:00Z", "2026-07-01T20:00:00Z"];
const ORIGINS: [Origin; 3] = [Origin::Ui, Origin::Model, Origin::Terminal];
pub const SUBJECTS: [&str; 3] = ["agent", "kid", "anybody"];

pub fn registry() -> Registry {
    Registry::collect(&["capability-core"]).unwrap()
}

pub fn entries(registry: &Registry) -> Vec<Entry<'_>> {
    let entries: Vec<_> =
        registry.iter().map(Entry::of).filter(|entry| entry.capability.name().family() == "desk").collect();
    assert_eq!(entries.len(), 9);
    entries
}

pub fn zones(name: &str) -> Option<TimeZone> {
    (name == "Europe/Berlin").then(|| TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap())
}

pub fn policy(sources: Vec<(SourceKind, Vec<Value>)>) -> Arc<Policy> {
    let source = |(kind, rules): (SourceKind, Vec<Value>)| {
        let text = Value::from(rules.clone()).to_string();
        let rules = rules.into_iter().map(|rule| serde_json::from_value::<Rule>(rule).unwrap()).collect();
        Source::new(kind, text.as_bytes(), rules)
    };
    Arc::new(Policy::compile(sources.into_iter().map(source).collect(), &zones).unwrap())
}

pub fn operator(rules: Vec<Value>) -> Arc<Policy> {
    policy(vec![(SourceKind::Operator, rules)])
}

fn words(alphabet: &[&str], lengths: core::ops::RangeInclusive<usize>) -> Vec<Vec<String>> {
    let (mut all, mut last) = (Vec::new(), vec![Vec::new()]);
    for length in 0..=*lengths.end() {
        if lengths.contains(&length) {
            all.extend(last.iter().cloned());
        }
        let longer = |word: &Vec<String>| {
            let word = word.clone();
            alphabet.iter().map(move |letter| [word.clone(), vec![(*letter).to_owned()]].concat())
        };
        last = last.iter().flat_map(longer).collect::<Vec<_>>();
    }
    all
}

/// Targets that tell everything apart that rules of this world do.
fn targets(kind: TargetKind, optional: bool) -> Vec<Option<String>> {
    let paths = || words(&["x", "zz"], 0..=3).into_iter().map(|segments| segments.join("/"));
    let hosts = || words(&["a", "com", "zz"], 1..=2).into_iter().map(|labels| labels.join("."));
    let mut all: Vec<Option<String>> = match kind {
        TargetKind::Url => {
            let urls = hosts().flat_map(|host| {
                let urls = paths().map(move |path| (host.clone(), path));
                urls.flat_map(|(host, path)| ["", ":8080"].map(|port| format!("https://{host}{port}/{path}")))
            });
            let broken = hosts().flat_map(|host| ["", ":8080"].map(|port| format!("https://{host}{port}/x/%")));
            urls.chain(broken).chain(["nothing".to_owned()]).map(Some).collect()
        }
        TargetKind::Path => paths().chain(["..".to_owned()]).map(Some).collect(),
        TargetKind::Argv => {
            let commands = words(&["x", "zz"], 0..=3).into_iter();
            commands.map(|words| Some(Value::from(words).to_string())).collect()
        }
        TargetKind::Text => {
            let texts = words(&["a", "b", "z"], 0..=4).into_iter().map(|letters| letters.concat());
            texts.chain(["z".repeat(70_000)]).map(Some).collect()
        }
        TargetKind::Service | TargetKind::Host => {
            hosts().flat_map(|host| ["", ":8080", ":9", ":0"].map(|port| Some(format!("{host}{port}")))).collect()
        }
        _ => vec![None],
    };
    if optional {
        all.push(None);
    }
    all
}

/// Every call that there is, of one subject and capability.
pub fn every_call(subject: &Subject, entry: &Entry<'_>) -> Vec<Sketch> {
    let capability = entry.capability;
    let scoped = capability.scope().is_some();
    let one_argument = scoped && capability.scope() == capability.target().argument;
    let mut calls = Vec::new();
    for target in targets(capability.target().kind, entry.target_optional) {
        let scopes = match (scoped, one_argument) {
            (false, _) => vec![None],
            (true, true) => vec![target.clone()],
            (true, false) => vec![Some("a".to_owned()), Some("zz".to_owned())],
        };
        for scope in scopes {
            for origin in ORIGINS {
                for at in HOURS {
                    calls.push(Sketch {
                        subject: subject.clone(),
                        capability: capability.name().to_string(),
                        version: capability.version(),
                        scope: scope.clone(),
                        origin,
                        target: target.clone(),
                        at: at.parse().unwrap(),
                        class: None,
                    });
                }
            }
        }
    }
    calls
}

/// What the engine says to a call of somebody who may ask for everything.
pub fn decide(policy: &Arc<Policy>, entry: &Entry<'_>, call: &Sketch) -> Decision {
    let declarations = Declarations::everything();
    let asker = Asker { subject: &call.subject, declarations: &declarations, mode: Mode::Live, behind: &[] };
    evaluate(&call.question(entry.capability, &asker, &Open, policy))
}

pub fn from() -> Timestamp {
    FROM.parse().unwrap()
}

fn target() -> impl Strategy<Value = Value> {
    let path = || prop::sample::select(vec!["x", "x/**", "**", "*", "**/x", "*/x"]);
    let host = prop::sample::select(vec!["a.com", "a", "*.com", "**.com", "**"]);
    prop_oneof![
        3 => (host, prop::option::weighted(0.3, Just(8080)), prop::option::weighted(0.5, path())).prop_map(
            |(host, port, path)| {
                let mut target = json!({ "host": host });
                if let Some(port) = port {
                    target["port"] = port.into();
                }
                if let Some(path) = path {
                    target["path"] = path.into();
                }
                target
            }
        ),
        1 => path().prop_map(|path| json!({ "path": path })),
        1 => prop::sample::select(vec![json!(["x"]), json!(["x", "**"]), json!(["**"]), json!(["*", "x"])])
            .prop_map(|argv| json!({ "argv": argv })),
        1 => prop::sample::select(vec!["a*", "*b", "*ab*", "*a*b*", "a", "*"]).prop_map(|text| json!({ "text": text })),
    ]
}

fn selector() -> impl Strategy<Value = Value> {
    let capabilities = vec![
        "*",
        "desk.*",
        "desk.page",
        "desk.fetch",
        "desk.read",
        "desk.run",
        "desk.say",
        "desk.call",
        "desk.call:a",
        "desk.ask:a",
    ];
    let windows = vec![("20:00", "07:00"), ("06:00", "09:00")];
    (
        prop::option::weighted(0.3, prop::sample::select(vec!["kid", "agent"])),
        prop::option::weighted(0.8, prop::sample::select(capabilities)),
        prop::option::weighted(0.1, prop::sample::select(vec!["read_only", "mutating"])),
        prop::option::weighted(0.6, target()),
        prop::option::weighted(0.2, prop::sample::select(windows)),
        prop::option::weighted(0.2, prop::sample::select(vec!["ui", "model"])),
    )
        .prop_map(|(subject, capability, action, target, when, origin)| {
            let when = when.map(|(from, to)| json!({ "from": from, "to": to, "tz": "Europe/Berlin" }));
            let mut selector = json!({});
            let parts = [
                ("subject", subject.map(Value::from)),
                ("capability", capability.map(Value::from)),
                ("action", action.map(Value::from)),
                ("target", target),
                ("when", when),
                ("origin", origin.map(Value::from)),
            ];
            for (key, value) in parts.into_iter().filter_map(|(key, value)| Some((key, value?))) {
                selector[key] = value;
            }
            selector
        })
}

/// Rules of this world, with ids.
pub fn rules(most: usize) -> impl Strategy<Value = Vec<Value>> {
    let effect = prop::sample::select(vec![RuleEffect::Allow, RuleEffect::Ask, RuleEffect::AskFresh, RuleEffect::Deny]);
    let limit = prop::option::weighted(0.2, prop::sample::select(vec![json!("never"), json!({ "uses": 3 })]));
    let rule = (effect, selector(), prop::collection::vec(selector(), 0..3), limit);
    prop::collection::vec(rule, 0..most).prop_map(|rules| {
        let numbered = rules.into_iter().enumerate();
        let written = numbered.map(|(number, (effect, mut rule, mut except, limit))| {
            except.retain(|exception| {
                exception.as_object().is_some_and(|keys| !keys.is_empty() && *exception != json!({ "capability": "*" }))
            });
            rule["id"] = format!("r{number}").into();
            rule["effect"] = effect.as_str().into();
            rule["reason"] = "because".into();
            if effect != RuleEffect::Allow {
                rule["except"] = except.into();
            }
            if let Some(limit) = limit.filter(|_| effect != RuleEffect::Deny) {
                rule["max_grant"] = limit;
            }
            rule
        });
        written.collect()
    })
}
