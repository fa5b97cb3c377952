//! What makes a policy, and what does not.

use jiff::tz::TimeZone;

use super::{MAX_BROUGHT_RULES, MAX_RULES, Policy, PolicyMistake, PolicyRevision, Source, SourceKind};
use crate::policy::Rule;

fn rule(number: usize) -> Rule {
    serde_json::from_value(serde_json::json!({ "id": format!("r{number}"), "effect": "ask" })).unwrap()
}

fn compiled(kind: SourceKind, text: &str, rules: Vec<Rule>) -> Result<Policy, PolicyMistake> {
    Policy::compile(vec![Source::new(kind, text.as_bytes(), rules)], &|name| (name == "UTC").then_some(TimeZone::UTC))
}

#[test]
fn a_revision_is_of_kinds_and_texts_and_nothing_else() {
    let of = |kind, text: &str| compiled(kind, text, vec![]).unwrap().revision();
    let (operator, package) = (SourceKind::Operator, SourceKind::Package);
    assert_eq!(of(operator, "a"), of(operator, "a"));
    assert_ne!(of(operator, "a"), of(operator, "b"));
    assert_ne!(of(operator, "a"), of(package, "a"));
    assert_eq!(of(operator, "a"), PolicyRevision::of_operator_text(b"a"));
    assert_ne!(Policy::default().revision(), of(operator, ""));
    let shown = of(operator, "a").to_string();
    assert!(shown.len() == 16 && shown.bytes().all(|b| b.is_ascii_hexdigit()), "{shown}");
}

#[test]
fn sources_have_an_end_and_ids_are_their_own() {
    for (kind, most) in [(SourceKind::Operator, MAX_RULES), (SourceKind::Package, MAX_BROUGHT_RULES)] {
        assert!(compiled(kind, "", (0..most).map(rule).collect()).is_ok());
        let mistake = compiled(kind, "", (0..=most).map(rule).collect()).unwrap_err();
        assert_eq!((mistake.source, mistake.rule), (0, None));
    }
    let mistake = compiled(SourceKind::Operator, "", vec![rule(1), rule(2), rule(1)]).unwrap_err();
    assert_eq!(mistake.rule, Some(2));
    let twice = [SourceKind::Operator, SourceKind::Package].map(|kind| Source::new(kind, b"", vec![rule(1)]));
    assert_eq!(Policy::compile(twice.into(), &|_| None).unwrap().rules().count(), 2, "each source names its own");
}

#[test]
fn zones_are_looked_up_once_and_must_exist() {
    let within = |zone: &str| {
        let json = serde_json::json!({ "id": "r", "effect": "ask", "when": { "days": ["mon"], "tz": zone } });
        compiled(SourceKind::Operator, "", vec![serde_json::from_value(json).unwrap()])
    };
    assert!(within("UTC").unwrap().asks_for_the_time());
    assert!(within("Mars/Olympus").unwrap_err().mistake.what.contains("Mars/Olympus"));
    assert!(!Policy::default().asks_for_the_time());
    // An exception's window is looked up too.
    let json = serde_json::json!({ "id": "r", "effect": "ask", "except": [{ "when": { "days": ["mon"], "tz": "Mars/Olympus" } }] });
    assert!(compiled(SourceKind::Operator, "", vec![serde_json::from_value(json).unwrap()]).is_err());
}
