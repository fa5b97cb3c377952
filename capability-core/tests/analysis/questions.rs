//! The answers, against every single call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use capability_core::policy::analysis::{
    Asker, Entry, FindingKind, ORIGINS, Open, Reach, Relation, check, compare, possible, reach,
};
use capability_core::policy::{Fate, Policy, RuleEffect, RuleRef, SourceKind, Verdict};
use capability_core::session::{Declarations, Mode, Subject};
use proptest::prelude::*;
use serde_json::Value;

use super::world::{SUBJECTS, decide, entries, every_call, from, operator, policy, registry, rules};

fn each_corner(entries: &[Entry<'_>], mut each: impl FnMut(&Subject, &Entry<'_>)) {
    for name in SUBJECTS {
        let subject: Subject = name.parse().unwrap();
        entries.iter().for_each(|entry| each(&subject, entry));
    }
}

/// What comes out, by trying everything.
fn outcomes(policy: &Arc<Policy>, subject: &Subject, entry: &Entry<'_>) -> BTreeSet<(Verdict, &'static str)> {
    let calls = every_call(subject, entry);
    let decisions = calls.iter().map(|call| decide(policy, entry, call));
    decisions.map(|decision| (decision.verdict(), decision.code().as_str())).collect()
}

fn without(rules: &[Value], at: usize) -> Arc<Policy> {
    let others = rules.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, rule)| rule.clone());
    operator(others.collect())
}

/// What is true of each rule and each pair, by trying everything.
#[derive(Default, Debug)]
struct Truth {
    dead: BTreeSet<usize>,
    shadowed: BTreeSet<usize>,
    in_vain: BTreeSet<usize>,
    covered: BTreeSet<usize>,
}

fn truth(rules: &[Value], policy: &Arc<Policy>, entries: &[Entry<'_>]) -> Truth {
    let listed: Vec<(RuleRef, RuleEffect)> = policy.rules().map(|(at, _, rule)| (at, rule.effect)).collect();
    let lesser: Vec<_> = (0..rules.len()).map(|at| without(rules, at)).collect();
    let mut matched = vec![false; rules.len()];
    let mut decided = vec![false; rules.len()];
    let mut counted = vec![false; rules.len()];
    let mut instead: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    each_corner(entries, |subject, entry| {
        for call in every_call(subject, entry) {
            let decision = decide(policy, entry, &call);
            let fates: Vec<_> = decision.rules().map(|said| said.considered().to_vec()).unwrap_or_default();
            let number = |at: RuleRef| listed.iter().position(|(known, _)| *known == at).unwrap();
            let denying: BTreeSet<_> = fates
                .iter()
                .filter(|own| own.fate == Fate::Decides && listed[number(own.rule)].1 == RuleEffect::Deny)
                .map(|own| number(own.rule))
                .collect();
            for own in fates.iter().filter(|own| own.fate.matches()) {
                let at = number(own.rule);
                matched[at] = true;
                decided[at] |= own.fate == Fate::Decides;
                if listed[at].1 == RuleEffect::Deny {
                    let others: BTreeSet<_> = denying.iter().copied().filter(|other| *other != at).collect();
                    let known = instead.remove(&at);
                    instead.insert(at, known.map_or(others.clone(), |known| &known & &others));
                } else if !counted[at] {
                    counted[at] = decide(&lesser[at], entry, &call).verdict() != decision.verdict();
                }
            }
        }
    });
    let mut truth = Truth::default();
    for at in 0..rules.len() {
        match listed[at].1 {
            _ if !matched[at] => drop(truth.dead.insert(at)),
            RuleEffect::Deny => {
                let covers = |other: &usize| !instead[other].contains(&at) || *other < at;
                if instead[&at].iter().any(covers) {
                    truth.covered.insert(at);
                }
            }
            _ if !decided[at] && !counted[at] => drop(truth.shadowed.insert(at)),
            RuleEffect::Allow if !counted[at] => drop(truth.in_vain.insert(at)),
            _ => {}
        }
    }
    truth
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 12, ..ProptestConfig::default() })]

    /// No end of a call is missed and none invented, and every call that is named ends as it is said to.
    #[test]
    fn what_can_come_out_is_what_does(written in rules(6), raising in rules(3)) {
        let raising = raising.into_iter().filter(|rule| rule["effect"] != "allow").collect();
        let policy = policy(vec![(SourceKind::Operator, written), (SourceKind::Workspace, raising)]);
        let (registry, everything) = (registry(), Declarations::everything());
        each_corner(&entries(&registry), |subject, entry| {
            let asker = Asker { subject, declarations: &everything, mode: Mode::Live, behind: &[] };
            let found = possible(&policy, &asker, entry, &ORIGINS, &Open, from()).unwrap();
            let there = outcomes(&policy, subject, entry);
            let said: BTreeSet<_> = found.iter().map(|possible| (possible.verdict, possible.code.as_str())).collect();
            assert_eq!(said, there, "{subject} {}", entry.capability);
            for possible in &found {
                let decision = decide(&policy, entry, &possible.witness);
                assert_eq!((decision.verdict(), decision.code()), (possible.verdict, possible.code));
            }
            for (unasked, most) in [(true, Verdict::Allow), (false, Verdict::AskFresh)] {
                let can = there.iter().any(|(verdict, _)| *verdict <= most);
                match reach(&policy, &asker, entry, unasked, &Open, from()) {
                    Reach::Yes { first } => {
                        assert!(can && decide(&policy, entry, &first.witness).verdict() <= most);
                    }
                    Reach::Never { .. } => assert!(!can, "{subject} {}", entry.capability),
                    Reach::NotDecided => panic!("a small world is decided"),
                }
            }
        });
    }

    /// A policy is narrower exactly when no call takes less, and each difference is one.
    #[test]
    fn which_policy_lets_through_more(before in rules(5), changed in rules(3), keep in any::<u8>()) {
        // Most rules stay, so that there are policies of every relation.
        let kept = before.iter().enumerate().filter(|(at, _)| keep & (1 << at) != 0).map(|(_, rule)| rule.clone());
        let renamed = changed.into_iter().take(1).map(|mut rule| {
            rule["id"] = "new".into();
            rule
        });
        let (old, new) = (operator(before.clone()), operator(kept.chain(renamed).collect()));
        let registry = registry();
        let entries = entries(&registry);
        let (mut less, mut more, mut grants) = (false, false, false);
        each_corner(&entries, |subject, entry| {
            for call in every_call(subject, entry) {
                let (was, is) = (decide(&old, entry, &call), decide(&new, entry, &call));
                less |= is.verdict() < was.verdict();
                more |= is.verdict() > was.verdict();
                grants |= is.verdict() == Verdict::Ask && was.verdict() == Verdict::Ask && is.grant_limit() != was.grant_limit();
            }
        });
        let found = compare(&old, &new, &entries, from());
        prop_assert!(found.undecided.is_empty());
        if grants {
            prop_assert!(found.relation != Relation::Equal);
        } else {
            let relation = match (less, more) {
                (false, false) => Relation::Equal,
                (false, true) => Relation::Narrower,
                (true, false) => Relation::Wider,
                (true, true) => Relation::Incomparable,
            };
            prop_assert_eq!(found.relation, relation);
        }
        let entry = |name: &str| entries.iter().find(|entry| entry.capability.name().as_str() == name).unwrap();
        for (list, wider) in [(&found.wider, true), (&found.narrower, false)] {
            for difference in list {
                let entry = entry(&difference.call.capability);
                let (was, is) = (decide(&old, entry, &difference.call), decide(&new, entry, &difference.call));
                prop_assert_eq!((was.verdict(), is.verdict()), (difference.before, difference.after));
                let right = if wider { is.verdict() <= was.verdict() } else { is.verdict() >= was.verdict() };
                prop_assert!(right);
            }
        }
    }

    /// What is said to do nothing does nothing, and nothing else does.
    #[test]
    fn rules_that_do_nothing(written in rules(6)) {
        let policy = operator(written.clone());
        let registry = registry();
        let entries = entries(&registry);
        let truth = truth(&written, &policy, &entries);
        let findings = check(&policy, &entries, from());
        let of = |kind| -> BTreeSet<usize> {
            let found = findings.iter().filter(|finding| finding.kind == kind);
            found.map(|finding| finding.rules[0].id.as_str()[1..].parse().unwrap()).collect()
        };
        prop_assert_eq!(of(FindingKind::Dead), truth.dead);
        prop_assert_eq!(of(FindingKind::Shadowed), truth.shadowed);
        prop_assert_eq!(of(FindingKind::Covered), truth.covered);
        prop_assert_eq!(of(FindingKind::WithoutEffect), truth.in_vain);
        for finding in findings.iter().filter(|finding| finding.kind == FindingKind::Conflict) {
            let call = finding.witness.as_ref().unwrap();
            let entry = entries.iter().find(|entry| entry.capability.name().as_str() == call.capability).unwrap();
            let decision = decide(&policy, entry, call);
            let matching = decision.rules().unwrap().considered().iter().filter(|own| own.fate.matches());
            let ids: BTreeSet<_> = matching.map(|own| policy.rule(own.rule).unwrap().1.id.clone()).collect();
            prop_assert!(finding.rules.iter().all(|rule| ids.contains(&rule.id)), "{:?}", finding);
        }
    }
}
