//! Standing answers where rules ask.

use core::num::NonZeroU32;
use core::time::Duration;

use capability_core::approval::{Grant, GrantEnd, GrantLimit, GrantLimits};
use capability_core::executor::GrantFault;
use capability_core::{Outcome, Timestamp};
use serde_json::json;

use crate::fixtures::Bench;

fn limit(minutes: u64, uses: u32) -> GrantLimit {
    GrantLimit { longest: Duration::from_secs(minutes * 60), uses: NonZeroU32::new(uses).expect("above zero") }
}

/// Grants are on for one capability, which asks by default, with these rules in force.
fn bench(rules: &str) -> Bench {
    let bench = Bench::granting(GrantLimits::off().with("lab.repo", limit(30, 100)));
    bench.rules(rules);
    bench
}

async fn ask(bench: &Bench) -> Outcome {
    bench.invoke("lab.repo", &json!({ "repository": "notes" })).await
}

async fn grant(bench: &Bench, limit: GrantLimit) -> Result<Grant, GrantFault> {
    let id = ask(bench).await.approval().expect("it is pending");
    bench.executor.grant(&bench.operator(), id, limit).await
}

fn rule(id: &str, more: &str) -> String {
    format!("[[rule]]\nid = \"{id}\"\neffect = \"ask\"\ncapability = \"lab.repo\"\n{more}\n")
}

#[tokio::test]
async fn a_rule_bounds_a_standing_answer_or_forbids_it() {
    for (rules, asked, expected) in [
        (rule("a", "max_grant = { duration = \"10m\", uses = 3 }"), limit(10, 3), None),
        (rule("a", "max_grant = { duration = \"10m\" }"), limit(11, 1), Some(GrantFault::TooWide(limit(10, 100)))),
        (rule("a", "max_grant = { uses = 3 }"), limit(1, 4), Some(GrantFault::TooWide(limit(30, 3)))),
        (rule("a", "max_grant = \"never\""), limit(1, 1), Some(GrantFault::Off)),
        // Every rule that matches counts, and not only the one that decides.
        (rule("a", "") + &rule("b", "max_grant = \"never\"\nsubject = \"somebody.else\""), limit(30, 100), None),
        (
            "[[rule]]\nid = \"wide\"\neffect = \"ask\"\nmax_grant = \"never\"\n".to_owned() + &rule("a", ""),
            limit(1, 1),
            Some(GrantFault::Off),
        ),
    ] {
        let bench = bench(&rules);
        assert_eq!(grant(&bench, asked).await.err(), expected, "{rules}");
    }
}

#[tokio::test]
async fn a_standing_answer_is_to_the_rule_that_asked_and_ends_with_the_policy() {
    let hours = |id: &str, from: &str, to: &str| {
        rule(id, &format!("when = {{ from = \"{from}\", to = \"{to}\", tz = \"Europe/Berlin\" }}"))
    };
    let bench = bench(&(hours("morning", "06:00", "12:00") + &hours("noon", "12:00", "18:00")));
    let at = |text: &str| bench.time.set(text.parse::<Timestamp>().expect("a time"));
    at("2026-11-30T10:55:00Z");
    let given = grant(&bench, limit(30, 10)).await.expect("there can be one");
    assert!(ask(&bench).await.result().is_some());
    // Ten minutes later another rule asks: the answer was not to that.
    at("2026-11-30T11:05:00Z");
    assert!(ask(&bench).await.approval().is_some());
    at("2026-11-30T10:56:00Z");
    assert!(ask(&bench).await.result().is_some());
    bench.rules(&hours("morning", "06:00", "12:00"));
    assert!(ask(&bench).await.approval().is_some(), "the same rule in another policy is another question");
    let listed = bench.executor.grants(&bench.operator()).await.expect("memory answers");
    let ended = listed.into_iter().find(|found| found.id == given.id).expect("it is listed").ended;
    assert_eq!(ended, Some(GrantEnd::PolicyChanged));
}
