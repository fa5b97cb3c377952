//! The engine against the naive evaluator, over more than a hundred thousand questions.

use capability_core::contract::SideEffect;
use capability_core::policy::{Contributor, Question, Selector, Verdict, evaluate};
use capability_core::session::Declarations;
use capability_core::{Capability, Timestamp};

use super::naive::{Called, NAMES, ORIGINS, SUBJECTS, Selects, TARGETS, Target, Universe, Written};
use super::random::Random;
use super::{entry, ids, operator};
use crate::reference::question;

/// A Monday's midnight, by Coordinated Universal Time.
const MONDAY: i64 = 1_795_996_800_000_000;

/// The target as the argument of a call would say it.
fn text(target: &Target) -> Option<String> {
    match target {
        Target::None => None,
        Target::Place(labels, port, segments) => {
            Some(format!("https://{}:{port}/{}", labels.join("."), segments.join("/")))
        }
        Target::Path(segments) => Some(segments.join("/")),
        Target::Argv(words) => Some(serde_json::json!(words).to_string()),
        Target::Text(text) => Some((*text).to_owned()),
    }
}

/// A call of something that is registered, on a target of its kind.
fn any_call(random: &mut Random) -> (Called, &'static Capability) {
    loop {
        let name = random.below(10);
        let capability = entry(NAMES[name].0);
        let target = random.below(TARGETS.len());
        let fits = matches!(
            (capability.target().kind.as_str(), &TARGETS[target]),
            ("none", Target::None)
                | ("url", Target::Place(..))
                | ("path", Target::Path(_))
                | ("argv", Target::Argv(_))
                | ("text", Target::Text(_))
        );
        if fits {
            let called = Called {
                subject: random.below(SUBJECTS.len()),
                name,
                action: usize::from(capability.class().side_effect == SideEffect::Mutating),
                target,
                minute: u16::try_from(random.below(7 * 48)).expect("small") * 30,
                origin: random.below(ORIGINS.len()),
            };
            return (called, capability);
        }
    }
}

/// Judges `questions` calls by each of `policies` random policies, and tells `each` what the engine and the naive evaluator
/// say: verdict and deciding rules.
fn compare(
    seed: u64,
    (policies, questions): (usize, usize),
    exceptions: bool,
    mut each: impl FnMut((Verdict, &[usize]), (Verdict, &[usize]), &dyn Fn() -> String),
) {
    let (mut random, universe) = (Random(seed), Universe::new());
    for _ in 0..policies {
        let rules: Vec<_> = (0..1 + random.below(7)).map(|_| Written::random(&mut random, exceptions)).collect();
        let written: String = rules.iter().enumerate().map(|(at, rule)| rule.text(at)).collect();
        let policy = operator(&written);
        for _ in 0..questions {
            let (called, capability) = any_call(&mut random);
            let default = match capability.default_effect().as_str() {
                "ask" => Verdict::Ask,
                "deny" => Verdict::Deny,
                _ => Verdict::Allow,
            };
            let expected = universe.verdict(&rules, &called, default);
            let (subject, declarations) = (SUBJECTS[called.subject].parse().expect("one"), Declarations::everything());
            let target = text(&TARGETS[called.target]);
            let decision = evaluate(&Question {
                scope: NAMES[called.name].1,
                origin: serde_json::from_value(ORIGINS[called.origin].into()).expect("an origin"),
                target: target.as_deref().map(|text| (capability.target().kind, text)),
                at: Timestamp::from_micros(MONDAY + i64::from(called.minute) * 60_000_000),
                ..question(capability, &policy, &subject, &declarations)
            });
            let contribution = |contributor| {
                decision.contributions().iter().find(|said| said.contributor == contributor).expect("each has a word")
            };
            assert_eq!(contribution(Contributor::Fault).verdict, Verdict::Allow);
            let decided = decision.rules().into_iter().flat_map(|rules| rules.deciding());
            let decided: Vec<usize> =
                ids(&policy, decided).iter().map(|id| id[1..].parse().expect("a number")).collect();
            let said = contribution(Contributor::OperatorRules).verdict;
            each((said, &decided), (expected.0, &expected.1), &|| format!("{called:?}\n{written}"));
        }
    }
}

#[test]
fn a_hundred_thousand_questions_are_judged_as_the_naive_evaluator_does() {
    let (mut asked, mut by_verdict) = (0, [0_usize; 4]);
    compare(1, (2_200, 50), false, |said, expected, told| {
        assert_eq!(said, expected, "{}", told());
        asked += 1;
        by_verdict[said.0 as usize] += 1;
    });
    assert!(asked >= 100_000 && by_verdict.iter().all(|many| *many > 3_000), "{asked} {by_verdict:?}");
}

/// With exceptions, one rule being narrower than another is not always decided; the verdict may only be stricter then, and
/// nearly never is.
#[test]
fn with_exceptions_nothing_is_judged_less_strictly() {
    let (mut asked, mut stricter) = (0, 0);
    compare(2, (500, 50), true, |said, expected, told| {
        assert!(said.0 >= expected.0, "{said:?} {expected:?} {}", told());
        asked += 1;
        stricter += usize::from(said.0 > expected.0);
        if said.0 == Verdict::Deny {
            assert_eq!(said, expected, "{}", told());
        }
    });
    assert!(asked >= 25_000 && stricter * 100 < asked, "{stricter} of {asked}");
}

/// What is shown of a selector can be written again, and means the same.
#[test]
fn a_selector_in_words_is_that_selector() {
    let mut random = Random(3);
    for _ in 0..500 {
        let written = Selects::random(&mut random);
        let selector: Selector = toml::from_str(&written.keys().join("\n")).expect("a selector");
        let words = selector.to_string();
        let table: toml::Table = format!("it = {{ {words} }}").parse().expect("a table");
        assert_eq!(table["it"].clone().try_into::<Selector>().expect("a selector"), selector, "{words}");
    }
}
