//! Grants and rules: a rule lowers how far a grant may go, and a grant answers only the question that its rules asked.

use core::num::NonZeroU32;
use core::time::Duration;

use capability_core::Timestamp;
use capability_core::approval::{ApprovalId, Grant, GrantEnd, GrantLimit, GrantLimits};
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::GrantFault;
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::proposal;

fn limit(minutes: u64, uses: u32) -> GrantLimit {
    GrantLimit { longest: Duration::from_secs(minutes * 60), uses: NonZeroU32::new(uses).expect("above zero") }
}

/// At a time of day in Berlin, on a Tuesday of winter.
fn at(bench: &Bench, clock: &str) {
    let time: Timestamp = format!("2026-12-01T{clock}:00+01:00").parse().expect("a time");
    bench.time.set(time);
}

fn bench(rules: &str, clock: &str) -> Bench {
    let bench = Bench::granting(GrantLimits::off().with("lab.repo", limit(60, 100)));
    at(&bench, clock);
    bench.rules(rules);
    bench
}

fn repo() -> Value {
    json!({ "repository": "a" })
}

async fn granted(bench: &Bench, limit: GrantLimit) -> Result<Grant, GrantFault> {
    let id = bench.pending("lab.repo", &repo()).await;
    bench.executor.grant(&bench.operator(), id, limit).await
}

async fn asks(bench: &Bench) -> bool {
    match bench.invoke("lab.repo", &repo()).await.kind() {
        Kind::Pending => true,
        Kind::Executed => false,
        other => panic!("{other:?}"),
    }
}

async fn ended(bench: &Bench, grant: &Grant) -> Option<GrantEnd> {
    let all = bench.executor.grants(&bench.operator()).await.expect("memory answers");
    all.into_iter().find(|found| found.id == grant.id).expect("it is listed").ended
}

async fn most(bench: &Bench, id: ApprovalId) -> Option<GrantLimit> {
    bench.found(id).await.and_then(|found| found.filed).expect("content").approval.grant
}

#[tokio::test]
async fn every_rule_that_matches_lowers_how_far_a_grant_may_go() {
    let asking = |limit: &str| format!("[[rule]]\nid = \"r\"\neffect = \"ask\"\ncapability = \"lab.repo\"\n{limit}\n");
    for (written, allowed) in [
        ("", Some(limit(60, 100))),
        ("max_grant = { duration = \"5m\", uses = 2 }", Some(limit(5, 2))),
        ("max_grant = { duration = \"12h\" }", Some(limit(60, 100))),
        ("max_grant = { uses = 3 }", Some(limit(60, 3))),
        ("max_grant = \"never\"", None),
    ] {
        let bench = bench(&asking(written), "10:00");
        let id = bench.pending("lab.repo", &repo()).await;
        assert_eq!(most(&bench, id).await, allowed, "{written}");
        let asked = bench.executor.grant(&bench.operator(), id, limit(60, 100)).await;
        match allowed {
            None => assert_eq!(asked, Err(GrantFault::Off)),
            Some(most) if most != limit(60, 100) => assert_eq!(asked, Err(GrantFault::TooWide(most))),
            Some(_) => assert!(asked.is_ok(), "{asked:?}"),
        }
    }
    // What a rule asks afresh has none, though the floor is automatic.
    let bench = bench("[[rule]]\nid = \"r\"\neffect = \"ask_fresh\"\ncapability = \"lab.repo\"\n", "10:00");
    assert_eq!(granted(&bench, limit(1, 1)).await, Err(GrantFault::Fresh));
}

/// Any change of the rules ends every grant, also one that does not touch its capability.
#[tokio::test]
async fn a_changed_policy_ends_the_grant() {
    let bench = bench("", "10:00");
    let given = granted(&bench, limit(60, 100)).await.expect("there can be one");
    assert!(!asks(&bench).await);
    bench.rules("[[rule]]\nid = \"r\"\neffect = \"ask\"\ncapability = \"lab.asks\"\n");
    assert!(asks(&bench).await);
    assert_eq!(ended(&bench, &given).await, Some(GrantEnd::PolicyChanged));
    // Also when the old rules come back; and what was asked under the old ones gets none under the new.
    let id = bench.pending("lab.repo", &repo()).await;
    bench.rules("");
    assert!(asks(&bench).await);
    assert_eq!(bench.executor.grant(&bench.operator(), id, limit(1, 1)).await, Err(GrantFault::Changed));
}

/// A window that ends takes what was granted in it along, whatever the rule in it says: the call is judged anew, and a
/// grant is for what was asked inside.
#[tokio::test]
async fn a_grant_does_not_outlive_the_window_of_a_rule() {
    let window = "when = { days = [\"mon\", \"tue\", \"wed\", \"thu\", \"fri\"], from = \"09:00\", to = \"17:00\", tz = \"Europe/Berlin\" }";
    // Asked inside the hours by a rule of its own.
    let inside = format!("[[rule]]\nid = \"hours\"\neffect = \"ask\"\ncapability = \"lab.repo\"\n{window}\n");
    // Allowed inside the hours, but for a rule that asks, neither of which is narrower than the other.
    let between = format!(
        "[[rule]]\nid = \"hours\"\neffect = \"allow\"\nreason = \"office hours\"\ncapability = \"lab.repo\"\n{window}\n\
         [[rule]]\nid = \"models\"\neffect = \"ask\"\ncapability = \"lab.repo\"\norigin = \"model\"\n"
    );
    for rules in [&inside, &between] {
        let bench = bench(rules, "16:55");
        let given = granted(&bench, limit(30, 100)).await.expect("there can be one");
        assert!(!asks(&bench).await, "{rules}");
        at(&bench, "16:59");
        assert!(!asks(&bench).await, "{rules}");
        at(&bench, "17:05");
        assert!(asks(&bench).await, "{rules}");
        // It is for the hours that it was given in, and lives for as long as it was given for.
        assert_eq!(ended(&bench, &given).await, None);
        at(&bench, "17:26");
        assert!(asks(&bench).await);
        assert_eq!(ended(&bench, &given).await, Some(GrantEnd::Expired));
    }
    // Allowed inside and asked outside: what was granted before the hours is for before and after them, and inside nobody
    // needs it.
    let allow = format!(
        "[[rule]]\nid = \"hours\"\neffect = \"allow\"\nreason = \"office hours\"\ncapability = \"lab.repo\"\n{window}\n"
    );
    let bench = bench(&allow, "08:50");
    let given = granted(&bench, limit(30, 1)).await.expect("there can be one");
    at(&bench, "09:05");
    assert!(!asks(&bench).await);
    let all = bench.executor.grants(&bench.operator()).await.expect("memory answers");
    assert_eq!(
        all.iter().find(|found| found.id == given.id).map(|found| found.used),
        Some(0),
        "not used where allowed"
    );
    at(&bench, "17:05");
    assert!(asks(&bench).await, "its time is over as well");
}

/// A verdict that is raised above `ask` suspends a grant and uses nothing of it up.
#[tokio::test]
async fn a_fresh_question_passes_a_grant_by() {
    let lunch = "[[rule]]\nid = \"lunch\"\neffect = \"ask_fresh\"\ncapability = \"lab.repo\"\n\
                 when = { days = [\"tue\"], from = \"12:00\", to = \"12:10\", tz = \"Europe/Berlin\" }\n";
    let bench = bench(lunch, "11:55");
    let given = granted(&bench, limit(60, 5)).await.expect("there can be one");
    at(&bench, "12:05");
    assert!(asks(&bench).await);
    at(&bench, "12:11");
    assert!(!asks(&bench).await);
    let all = bench.executor.grants(&bench.operator()).await.expect("memory answers");
    assert_eq!(all.iter().find(|found| found.id == given.id).map(|found| found.used), Some(1));
}

/// A session that acts for another one has none of its grants.
#[tokio::test]
async fn a_child_inherits_no_grant() {
    let bench = bench("", "10:00");
    granted(&bench, limit(60, 100)).await.expect("there can be one");
    assert!(!asks(&bench).await);
    let child = bench.acting_for(&bench.session);
    assert_eq!(bench.executor.invoke(&child, proposal("lab.repo", &repo())).await.kind(), Kind::Pending);
}
