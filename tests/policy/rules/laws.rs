//! What holds of every set of rules.

use std::sync::Arc;

use capability_core::policy::{Change, Decision, Policy, SourceKind, Verdict, explain};

use super::naive::Written;
use super::random::Random;
use super::{Asked, ids, with_question};
use crate::fixtures::rules::{compiled, source};

fn calls() -> Vec<Asked> {
    let mut calls = Vec::new();
    for subject in ["local", "agent:a", "agent:b"] {
        calls.extend(
            [
                Asked::of("home.fetch").on("https://a.example.com:8443/x/y"),
                Asked::of("home.fetch").on("https://10.0.0.1/"),
                Asked::of("home.read").on("a/b"),
                Asked::of("home.edit").on("a/q/b").at("2026-11-28T02:30:00Z"),
                Asked::of("home.run").on(r#"["git","push"]"#),
                Asked::of("home.call").to("docs").on("rm all"),
                Asked::of("home.plain").at("2026-11-27T22:30:00Z"),
                Asked::of("home.asks").on("b"),
                Asked::of("home.denies").on("a"),
            ]
            .map(|asked| asked.by(subject)),
        );
    }
    calls
}

fn text<'a>(rules: impl IntoIterator<Item = &'a (usize, Written)>) -> String {
    rules.into_iter().map(|(number, rule)| rule.text(*number)).collect()
}

fn policy(text: &str) -> Arc<Policy> {
    super::operator(text)
}

/// Some rules with their numbers, exceptions among them.
fn some(random: &mut Random, most: usize) -> Vec<(usize, Written)> {
    (0..1 + random.below(most)).map(|number| (number, Written::random(random, true))).collect()
}

/// Verdict, reason, and who decides, in no order.
fn outcome(decision: &Decision, policy: &Policy) -> (Verdict, String, Vec<String>) {
    let mut deciding = ids(policy, decision.rules().into_iter().flat_map(|rules| rules.deciding()));
    deciding.sort();
    (decision.verdict(), decision.code().to_string(), deciding)
}

fn permutations(of: usize) -> Vec<Vec<usize>> {
    if of == 0 {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for shorter in permutations(of - 1) {
        for at in 0..of {
            let mut longer = shorter.clone();
            longer.insert(at, of - 1);
            all.push(longer);
        }
    }
    all
}

#[test]
fn the_order_of_rules_decides_nothing() {
    let mut random = Random(11);
    for _ in 0..25 {
        let rules: Vec<_> = (0..4).map(|number| (number, Written::random(&mut random, true))).collect();
        let first = policy(&text(&rules));
        let expected: Vec<_> = calls().iter().map(|asked| outcome(&asked.judged_by(&first), &first)).collect();
        for order in permutations(rules.len()) {
            let policy = policy(&text(order.iter().map(|at| &rules[*at])));
            for (asked, expected) in calls().iter().zip(&expected) {
                assert_eq!(&outcome(&asked.judged_by(&policy), &policy), expected, "{order:?} {rules:?}");
            }
        }
    }
}

#[test]
fn a_denial_added_denies_what_it_matches_and_lowers_nothing() {
    let mut random = Random(12);
    for _ in 0..200 {
        let mut rules = some(&mut random, 5);
        let before = policy(&text(&rules));
        let deny = Written { effect: Verdict::Deny, ..Written::random(&mut random, true) };
        let alone = policy(&deny.text(99));
        rules.push((99, deny));
        let after = policy(&text(&rules));
        for asked in calls() {
            let (before, after) = (asked.judged_by(&before).verdict(), asked.judged_by(&after).verdict());
            assert!(after >= before);
            let matched = asked.judged_by(&alone).deciding_rules().count() > 0;
            assert_eq!(after, if matched { Verdict::Deny } else { before });
        }
    }
}

#[test]
fn an_allowance_added_changes_no_denial_and_no_floor() {
    let mut random = Random(13);
    for _ in 0..200 {
        let mut rules = some(&mut random, 5);
        let before = policy(&text(&rules));
        rules.push((99, Written { effect: Verdict::Allow, except: vec![], ..Written::random(&mut random, false) }));
        let after = policy(&text(&rules));
        for asked in calls() {
            let (before, after) = (asked.judged_by(&before), asked.judged_by(&after));
            let by_default = before.code() == capability_core::Code::DefaultDeny;
            assert!(before.verdict() != Verdict::Deny || by_default || after.verdict() == Verdict::Deny);
            if asked.name == "home.edit" {
                assert!(after.verdict() >= Verdict::AskFresh, "its floor");
            }
            assert!(after.verdict() <= before.verdict(), "it raises nothing either");
        }
    }
}

#[test]
fn a_source_added_lowers_nothing() {
    let mut random = Random(14);
    for _ in 0..200 {
        let own = text(&some(&mut random, 4));
        let mut sources = vec![source(SourceKind::Operator, &own)];
        let mut last = Arc::new(compiled(sources.clone()).expect("rules"));
        for kind in [SourceKind::Workspace, SourceKind::Package, SourceKind::Package] {
            let mut brought = some(&mut random, 4);
            brought.retain(|(_, rule)| rule.effect != Verdict::Allow);
            sources.push(source(kind, &text(&brought)));
            let next = Arc::new(compiled(sources.clone()).expect("rules that raise"));
            for asked in calls() {
                assert!(asked.judged_by(&next).verdict() >= asked.judged_by(&last).verdict());
            }
            last = next;
        }
        sources.reverse();
        let reversed = Arc::new(compiled(sources).expect("the same"));
        for asked in calls() {
            assert_eq!(asked.judged_by(&reversed).verdict(), asked.judged_by(&last).verdict());
        }
    }
}

/// What a decision says would lower it does, to what it says, and nothing less of it does.
#[test]
fn the_smallest_change_is_one_and_is_the_smallest() {
    let mut random = Random(15);
    let mut flipped = 0;
    for _ in 0..300 {
        let rules = some(&mut random, 5);
        let own = policy(&text(&rules));
        for asked in calls() {
            let decision = asked.judged_by(&own);
            let Some(flip) = decision.flip() else {
                assert!(decision.verdict() == Verdict::Allow || asked.name == "home.edit", "only a floor stays");
                continue;
            };
            let without: Vec<_> = flip
                .changes
                .iter()
                .filter_map(|change| match change {
                    Change::WithoutRule { rule } => Some(own.rule(*rule).expect("one").1.id.to_string()),
                    _ => None,
                })
                .collect();
            let lifted = flip.changes.contains(&Change::NarrowerRule);
            assert_eq!(flip.changes.len(), without.len() + usize::from(lifted), "{flip:?}");
            let judged = |spared: Option<&String>| {
                let gone = |number: usize| {
                    let id = format!("r{number}");
                    without.contains(&id) && spared != Some(&id)
                };
                let kept: Vec<_> = rules.iter().filter(|(number, _)| !gone(*number)).cloned().collect();
                let mut left = text(&kept);
                if lifted {
                    // As narrow as can be, by its hours too.
                    let (name, subject, path) = (asked.name, &asked.subject, asked.target.clone().unwrap_or_default());
                    let head = "[[rule]]\nid = \"lift\"\neffect = \"allow\"\nreason = \"x\"\norigin = \"model\"";
                    let when = r#"{ days = ["mon"], from = "10:59", to = "11:01", tz = "UTC" }"#;
                    left += &format!("{head}\ncapability = \"{name}\"\nsubject = \"{subject}\"\n");
                    left += &format!("action = \"read_only\"\ntarget = {{ path = \"{path}\" }}\nwhen = {when}\n");
                }
                asked.judged_by(&policy(&left)).verdict()
            };
            assert_eq!(judged(None), flip.to, "{flip:?}\n{}", text(&rules));
            for spared in &without {
                assert!(judged(Some(spared)) >= decision.verdict(), "{spared} is in vain: {flip:?}\n{}", text(&rules));
            }
            flipped += 1;
        }
    }
    assert!(flipped > 1000, "{flipped}");
}

/// Many rules about one capability are entered through an index, which leaves out nothing that matches.
#[test]
fn an_index_decides_nothing() {
    let mut random = Random(16);
    for many in [30, 40, 300] {
        for _ in 0..10 {
            let rules: Vec<_> = (0..many).map(|number| (number, Written::random(&mut random, true))).collect();
            let policy = policy(&text(&rules));
            for asked in calls() {
                let (quick, whole) = with_question(&asked, &policy, |question| {
                    (capability_core::policy::evaluate(question), explain(question))
                });
                assert_eq!(outcome(&quick, &policy), outcome(&whole, &policy));
                let matching = |decision: &Decision| {
                    let rules = decision.rules().into_iter().flat_map(|rules| rules.considered().to_vec());
                    rules.filter(|own| own.fate.matches()).collect::<Vec<_>>()
                };
                assert_eq!(matching(&quick), matching(&whole));
                assert_eq!(whole.rules().map_or(0, |rules| rules.considered().len()), many);
            }
        }
    }
}
