//! Answers about policies as people write them.

use capability_core::policy::analysis::{
    Asker, FindingKind, Open, Reach, Relation, check, compare, explain, matrix, reach,
};
use capability_core::policy::{self, Verdict};
use capability_core::session::{Declarations, Mode, Subject};
use serde_json::{Value, json};

use super::world::{entries, from, operator, registry};

fn rule(mut written: Value) -> Value {
    written["reason"] = "because".into();
    written
}

/// A household: what a child and an agent may, and when.
fn household() -> Vec<Value> {
    let night = json!({ "from": "20:00", "to": "07:00", "tz": "Europe/Berlin" });
    vec![
        rule(
            json!({ "id": "no-router", "effect": "deny", "capability": "desk.*", "target": { "host": "router.lan" } }),
        ),
        rule(json!({ "id": "kid-sleeps", "effect": "deny", "subject": "kid", "when": night,
            "except": [{ "capability": "desk.read" }] })),
        rule(json!({ "id": "ask-pages", "effect": "ask", "subject": "agent", "capability": "desk.page" })),
        rule(json!({ "id": "docs", "effect": "allow", "subject": "agent", "capability": "desk.page",
            "target": { "host": "**.docs.example" } })),
        rule(json!({ "id": "run-git", "effect": "allow", "capability": "desk.run",
            "target": { "argv": ["git", "status", "**"] } })),
        rule(json!({ "id": "say-hello", "effect": "ask", "capability": "desk.say", "target": { "text": "hello*" } })),
    ]
}

/// `cargo test` with `UPDATE_EXPECT=1` writes the table anew; what changed is for a person to judge.
#[test]
fn what_a_household_may_is_this_table() {
    let (registry, policy) = (registry(), operator(household()));
    let subjects: Vec<Subject> = ["agent", "kid", "local"].map(|name| name.parse().unwrap()).into();
    let manifest = ["desk.page", "desk.read", "desk.run", "desk.call:docs"].map(|name| name.parse().unwrap());
    let (everything, some) = (Declarations::everything(), Declarations::only(manifest.into()));
    let askers: Vec<_> = subjects
        .iter()
        .map(|subject| {
            let declarations = if subject.as_str() == "agent" { &some } else { &everything };
            Asker { subject, declarations, mode: Mode::Live, behind: &[] }
        })
        .collect();
    let table = matrix(&policy, &askers, &entries(&registry), &Open, from()).to_string();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/analysis/household.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &table).unwrap();
    }
    assert_eq!(table, std::fs::read_to_string(path).unwrap());
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[test]
fn whether_somebody_can_ever_do_it_unasked() {
    let (registry, policy) = (registry(), operator(household()));
    let entries = entries(&registry);
    let everything = Declarations::everything();
    let ask = |subject: &str, name: &str, unasked| {
        let subject: Subject = subject.parse().unwrap();
        let asker = Asker { subject: &subject, declarations: &everything, mode: Mode::Live, behind: &[] };
        let entry = entries.iter().find(|entry| entry.capability.name().as_str() == name).unwrap();
        reach(&policy, &asker, entry, unasked, &Open, from())
    };
    let Reach::Yes { first } = ask("agent", "desk.page", true) else { panic!("the documentation is allowed") };
    assert_eq!(first.witness.target.as_deref(), Some("https://other.docs.example/"));
    assert_eq!(first.rules[0].id.as_str(), "docs");
    let Reach::Never { because } = ask("agent", "desk.fetch", true) else { panic!("its class asks every time") };
    assert!(because.iter().any(|possible| possible.verdict == Verdict::AskFresh));
    assert!(matches!(ask("agent", "desk.fetch", false), Reach::Yes { .. }));
    assert!(matches!(ask("kid", "desk.sealed", false), Reach::Never { .. }));
    let Reach::Yes { first } = ask("kid", "desk.run", true) else { panic!("by day") };
    assert_eq!(first.witness.target.as_deref(), Some(r#"["git","status"]"#));
    assert!(
        matches!(ask("local", "desk.say", true), Reach::Never { .. }),
        "what is denied by default is asked at best"
    );
}

#[test]
fn rules_that_do_nothing_are_named_with_a_call() {
    let mut rules = household();
    rules.push(rule(json!({ "id": "no-admin", "effect": "deny", "capability": "desk.page",
        "target": { "host": "router.lan", "path": "admin/**" } })));
    rules.push(rule(json!({ "id": "never", "effect": "deny", "capability": "desk.read", "target": { "path": "a/**" },
        "except": [{ "target": { "path": "a/**" } }] })));
    rules.push(rule(json!({ "id": "fetch-docs", "effect": "allow", "capability": "desk.fetch" })));
    rules
        .push(rule(json!({ "id": "pages-fresh", "effect": "ask_fresh", "subject": "agent", "capability": "desk.page",
        "target": { "host": "**.docs.example" } })));
    let policy = operator(rules);
    let registry = registry();
    let findings = check(&policy, &entries(&registry), from());
    let told: Vec<_> = findings.iter().map(|finding| (finding.kind, finding.rules[0].id.as_str())).collect();
    assert_eq!(
        told,
        [
            (FindingKind::Shadowed, "docs"),
            (FindingKind::Covered, "no-admin"),
            (FindingKind::Dead, "never"),
            (FindingKind::WithoutEffect, "fetch-docs"),
            (FindingKind::Conflict, "pages-fresh"),
        ]
    );
    let conflict = findings.last().unwrap();
    assert_eq!(conflict.rules[1].id.as_str(), "docs");
    assert_eq!(conflict.witness.as_ref().unwrap().target.as_deref(), Some("https://other.docs.example/"));
}

#[test]
fn a_policy_is_taken_apart_from_the_one_before() {
    let registry = registry();
    let entries = entries(&registry);
    let (old, none) = (operator(household()), operator(vec![]));
    let changed = |change: fn(&mut Vec<Value>)| {
        let mut rules = household();
        change(&mut rules);
        compare(&old, &operator(rules), &entries, from())
    };
    assert_eq!(compare(&old, &old, &entries, from()).relation, Relation::Equal);
    assert_eq!(changed(|rules| rules.reverse()).relation, Relation::Equal);
    // One minute more of sleep.
    let narrower = changed(|rules| rules[1]["when"]["from"] = "19:59".into());
    assert_eq!((narrower.relation, narrower.wider.len()), (Relation::Narrower, 0));
    assert!(narrower.narrower.iter().all(|difference| difference.call.subject.as_str() == "kid"));
    // One minute less.
    let wider = changed(|rules| rules[1]["when"]["to"] = "06:59".into());
    assert_eq!(wider.relation, Relation::Wider);
    assert!(wider.wider.iter().any(|difference| difference.rules_before[0].id.as_str() == "kid-sleeps"));
    // What a rule allows under a floor that asks every time lets nothing through.
    let fetch = |rules: &mut Vec<Value>| {
        rules.push(rule(json!({ "id": "fetch", "effect": "allow", "capability": "desk.fetch",
            "target": { "host": "**" } })));
    };
    let under_the_floor = changed(fetch);
    assert!(under_the_floor.wider.is_empty(), "{under_the_floor:?}");
    // Another hour for a grant.
    let grant = changed(|rules| rules[2]["max_grant"] = json!({ "uses": 3 }));
    assert_eq!(grant.relation, Relation::Narrower);
    // From nothing: what a default denies is asked now.
    assert_eq!(compare(&none, &old, &entries, from()).relation, Relation::Incomparable);
}

#[test]
fn too_many_cases_are_no_answer() {
    // Thirty words of which any may occur, each of which asks in its own way: more cases than can be looked at.
    let asks = |number: usize| {
        let effect = ["ask", "ask_fresh"][number % 2];
        json!({ "id": format!("w{number}"), "effect": effect, "capability": "desk.say",
            "target": { "text": format!("*word {number}.*") } })
    };
    let policy = operator((0..30).map(asks).collect());
    let registry = registry();
    let entries = entries(&registry);
    let (subject, everything) = ("kid".parse().unwrap(), Declarations::everything());
    let asker = Asker { subject: &subject, declarations: &everything, mode: Mode::Live, behind: &[] };
    let say = entries.iter().find(|entry| entry.capability.name().as_str() == "desk.say").unwrap();
    assert_eq!(reach(&policy, &asker, say, true, &Open, from()), Reach::NotDecided);
    assert!(check(&policy, &entries, from()).iter().all(|finding| finding.kind == FindingKind::NotDecided));
    // Where nothing is changed nothing need be looked at.
    assert_eq!(compare(&policy, &policy, &entries, from()).relation, Relation::Equal);
    let other = operator((0..30).map(|number| asks(number + usize::from(number == 29))).collect());
    let comparison = compare(&policy, &other, &entries, from());
    assert!(!comparison.relation.only_narrows());
    assert_eq!(comparison.undecided, ["desk.say"]);

    // The same words denied are one question.
    let denies = |number: usize| {
        rule(json!({ "id": format!("w{number}"), "effect": "deny", "capability": "desk.say",
            "target": { "text": format!("*word {number}.*") } }))
    };
    let policy = operator((0..200).map(denies).collect());
    assert!(matches!(reach(&policy, &asker, say, true, &Open, from()), Reach::Never { .. }));
    assert_eq!(check(&policy, &entries, from()), []);
    assert_eq!(compare(&policy, &policy, &entries, from()).relation, Relation::Equal);
}

#[test]
fn one_call_in_words() {
    let (registry, policy) = (registry(), operator(household()));
    let entries = entries(&registry);
    let page = entries.iter().find(|entry| entry.capability.name().as_str() == "desk.page").unwrap();
    let (agent, everything): (Subject, _) = ("agent".parse().unwrap(), Declarations::everything());
    let asker = Asker { subject: &agent, declarations: &everything, mode: Mode::Live, behind: &[] };
    let Reach::Yes { first } = reach(&policy, &asker, page, false, &Open, from()) else { panic!("it is asked") };
    let mut call = first.witness;
    call.target = Some("https://example.com/".to_owned());
    let decision = policy::explain(&call.question(page.capability, &asker, &Open, &policy));
    let told = explain(call, &decision).to_string();
    let expected = "\
agent asks desk.page for https://example.com/ (terminal, 2026-07-01T10:00:00Z)

ask
* ask       a rule asks

rules of the operator
* ask       ask-pages: matches, and is its source's word
            \u{201c}because\u{201d}
  deny      no-router: does not match: it is about another target
  deny      kid-sleeps: does not match: it is about another subject
  allow     docs: does not match: it is about another target
  allow     run-git: does not match: it is about another capability or scope
  ask       say-hello: does not match: it is about another capability or scope

a standing grant may answer it, where an operator gave one

allow if rule `ask-pages` does not apply
";
    assert_eq!(told, expected);
}
