//! What holds of every verdict, whoever contributes.

use std::sync::Arc;

use capability_core::contract::TargetKind;
use capability_core::policy::{Contribution, Contributor, Question, Verdict, evaluate};
use capability_core::session::{Declarations, Subject};
use proptest::prelude::*;

use super::reference::{every_question, question};
use super::rules::entry;

const WORDS: [&str; 3] = ["git", "ls", "sudo"];

const VERDICTS: [Verdict; 4] = [Verdict::Allow, Verdict::Ask, Verdict::AskFresh, Verdict::Deny];

fn join(said: &[Contribution]) -> Verdict {
    said.iter().map(|said| said.verdict).max().unwrap_or(Verdict::Allow)
}

#[test]
fn the_verdict_is_the_maximum_whatever_the_order_and_adding_a_contributor_never_lowers_it() {
    every_question(|question| {
        let decision = evaluate(question);
        let mut said = Contributor::ALL.map(|contributor| contributor.answer(question));
        assert_eq!(&said, decision.contributions(), "contributors are pure");
        for turn in 0..said.len() {
            said.rotate_left(1);
            assert_eq!(join(&said), decision.verdict());
            for many in 0..said.len() {
                assert!(join(&said[..many]) <= join(&said[..=many]), "{turn} {many}");
            }
        }
        said.reverse();
        assert_eq!(join(&said), decision.verdict());
    });
}

#[test]
fn the_floor_is_never_lowered_and_a_denial_is_terminal() {
    every_question(|question| {
        let decision = evaluate(question);
        if question.class.confirmation().is_required() {
            assert!(decision.verdict() >= Verdict::AskFresh);
        }
        if decision.contributions().iter().any(|said| said.verdict == Verdict::Deny) {
            assert_eq!(decision.verdict(), Verdict::Deny);
        }
    });
}

#[test]
fn those_who_decide_said_the_verdict_and_an_allowed_call_has_none() {
    every_question(|question| {
        let decision = evaluate(question);
        let deciding: Vec<_> = decision.deciding().collect();
        assert!(deciding.iter().all(|said| said.verdict == decision.verdict()));
        assert_eq!(deciding.is_empty(), decision.verdict() == Verdict::Allow);
    });
}

#[test]
fn every_contributor_is_listed_once_in_its_order() {
    every_question(|question| {
        let listed = evaluate(question).contributions().map(|said| said.contributor);
        assert_eq!(listed, Contributor::ALL);
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A call that acts on several things takes what the strictest of them takes alone: nothing is lowered by what stands
    /// beside it, and their order does not matter.
    #[test]
    fn several_targets_take_what_the_strictest_takes(
        rules in prop::collection::vec((0_usize..4, 0_usize..WORDS.len(), 0_usize..=WORDS.len()), 0..6),
        acted in prop::collection::vec((0_usize..WORDS.len(), 0_usize..WORDS.len()), 1..5),
        first in any::<bool>(),
    ) {
        let effects = ["allow", "ask", "ask_fresh", "deny"];
        let mut text = String::new();
        for (at, (effect, program, word)) in rules.iter().enumerate() {
            let (effect, program) = (effects[*effect], WORDS[*program]);
            let rest = WORDS.get(*word).copied().unwrap_or("**");
            text += &format!("[[rule]]\nid = \"r{at}\"\neffect = \"{effect}\"\nreason = \"r\"\ntarget = {{ argv = [\"{program}\", \"{rest}\"] }}\n");
        }
        let policy = Arc::new(crate::fixtures::rules::operator(&text));
        let (subject, declarations) = (Subject::local(), Declarations::everything());
        let plain = question(entry("lab.look"), &policy, &subject, &declarations);
        let mut texts: Vec<String> = acted.iter().map(|(program, word)| format!(r#"["{}","{}"]"#, WORDS[*program], WORDS[*word])).collect();
        let alone = |text: &str| evaluate(&Question { target: Some((TargetKind::Argv, text)), ..plain }).verdict();
        let strictest = texts.iter().map(|text| alone(text)).max().expect("one");
        for _ in 0..texts.len() {
            texts.rotate_left(1);
            let own = texts[0].clone();
            let (target, acts_on) = if first { (Some((TargetKind::Argv, own.as_str())), &texts[1..]) } else { (None, &texts[..]) };
            let decision = evaluate(&Question { target, acts_on, ..plain });
            prop_assert_eq!(decision.verdict(), strictest, "{}", text);
            prop_assert!(acts_on.is_empty() || decision.flip().is_none() || policy.is_empty());
        }
    }

    /// The lattice itself: joining is associative, commutative and idempotent, and `deny` absorbs.
    #[test]
    fn joining_verdicts_is_a_lattice(a in 0_usize..4, b in 0_usize..4, c in 0_usize..4) {
        let (a, b, c) = (VERDICTS[a], VERDICTS[b], VERDICTS[c]);
        prop_assert_eq!(a.max(b), b.max(a));
        prop_assert_eq!(a.max(b).max(c), a.max(b.max(c)));
        prop_assert_eq!(a.max(a), a);
        prop_assert_eq!(a.max(Verdict::Deny), Verdict::Deny);
        prop_assert_eq!(a.max(Verdict::Allow), a);
    }
}
