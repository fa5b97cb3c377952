//! Standing answers: to one narrow question, for a while, so many times, and never to what the floor asks.

use core::num::NonZeroU32;
use core::time::Duration;
use std::sync::Arc;

use capability_core::approval::{ApprovalId, ApprovalStatus, Grant, GrantEnd, GrantLimit, GrantLimits, GrantScope};
use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::{AnswerFault, GrantFault};
use capability_core::session::Mode;
use capability_core::store::{Approvals as _, Grants as _, Moved, Spent};
use capability_core::{Code, Concern, Outcome, Proposal, Raise};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::{identity, only, proposal};
use crate::fixtures::parts::Taking;

const MINUTE: i64 = 60_000_000;

fn limit(minutes: u64, uses: u32) -> GrantLimit {
    GrantLimit { longest: Duration::from_secs(minutes * 60), uses: NonZeroU32::new(uses).expect("above zero") }
}

/// Turned on for everything that asks by default, and for what must never have one.
fn everywhere() -> GrantLimits {
    [
        "lab.repo",
        "lab.command",
        "lab.asks",
        "lab.who",
        "lab.act_write_local",
        "lab.act_read_external",
        "lab.locked",
        "lab.look",
    ]
    .into_iter()
    .fold(GrantLimits::off(), |limits, name| limits.with(name, limit(30, 1000)))
}

fn bench() -> Bench {
    Bench::granting(everywhere())
}

fn repo(name: &str) -> Value {
    json!({ "repository": name, "op": "log" })
}

/// Asks, and has the question answered with a standing answer.
async fn grant(bench: &Bench, name: &str, arguments: &Value, limit: GrantLimit) -> Result<Grant, GrantFault> {
    let id = bench.pending(name, arguments).await;
    bench.executor.grant(&bench.operator(), id, limit).await
}

async fn granted(bench: &Bench, name: &str, arguments: &Value, limit: GrantLimit) -> Grant {
    grant(bench, name, arguments, limit).await.expect("there can be one")
}

fn events(bench: &Bench, name: &str) -> Vec<Value> {
    bench.events().into_iter().filter(|event| event["event"] == name).collect()
}

async fn state(bench: &Bench, grant: &Grant) -> Option<GrantEnd> {
    let all = bench.executor.grants(&bench.operator()).await.expect("memory answers");
    all.into_iter().find(|found| found.id == grant.id).expect("it is listed").ended
}

#[tokio::test]
async fn a_grant_answers_its_like_as_often_as_it_says_and_each_use_is_on_record() {
    let bench = bench();
    let given = granted(&bench, "lab.repo", &repo("a"), limit(10, 2)).await;
    assert_eq!((given.scope, given.used, given.left()), (GrantScope::Target, 0, 2));
    // The call it was given for runs on its own approval.
    assert_eq!(bench.resume(given.approval).await.kind(), Kind::Executed);
    // Other arguments on the same target are its like.
    for op in ["log", "status"] {
        let outcome = bench.invoke("lab.repo", &json!({ "repository": "a", "op": op })).await;
        assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?}");
    }
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Pending);
    assert_eq!(bench.world().ran(), 3);
    assert_eq!(state(&bench, &given).await, Some(GrantEnd::UsedUp));

    let id = given.id.to_string();
    let uses: Vec<_> = events(&bench, "grant_use");
    assert_eq!(
        uses.iter().map(|use_| (&use_["grant"], &use_["left"])).collect::<Vec<_>>(),
        [(&json!(id), &json!(1)), (&json!(id), &json!(0))]
    );
    assert_eq!(
        only(&uses[0], &["capability", "version", "mode"]),
        json!({ "capability": "lab.repo", "version": 1, "mode": "live" })
    );
    let steps = events(&bench, "grant");
    assert_eq!(
        only(&steps[0], &["step", "grant", "operator", "seconds", "uses", "why"]),
        json!({
            "step": "given", "grant": id, "operator": "operator:anna", "seconds": 600, "uses": 2
        })
    );
    assert_eq!(
        only(&steps[1], &["step", "grant", "operator", "why"]),
        json!({ "step": "ended", "grant": id, "why": "used_up" })
    );
    assert_eq!(steps.len(), 2);
    // No word of what it covers.
    assert!(!bench.tape.lines().contains("\"a\""));
}

#[tokio::test]
async fn what_it_covers_is_never_wider_than_what_was_shown() {
    let bench = bench();
    let given = granted(&bench, "lab.repo", &repo("a"), limit(10, 100)).await;
    let pending = async |outcome: Outcome| assert_eq!(outcome.kind(), Kind::Pending, "{outcome:?}");
    pending(bench.invoke("lab.repo", &repo("b")).await).await;
    pending(bench.invoke("lab.repo", &repo("a ")).await).await;
    pending(bench.invoke("lab.repo", &repo("A")).await).await;
    // Another version, another session, a session that it started, another subject: none of them was asked about.
    pending(bench.executor.invoke(&bench.session, Proposal::new("lab.repo", 2, repo("a").to_string())).await).await;
    pending(bench.executor.invoke(&bench.session(2, Mode::Live, 1), proposal("lab.repo", &repo("a"))).await).await;
    pending(bench.executor.invoke(&bench.stranger(), proposal("lab.repo", &repo("a"))).await).await;
    let everything = capability_core::session::Declarations::everything();
    let same_id = bench.mint.open(identity(&"lab.other".parse().expect("plain"), 1, Mode::Live, 1), everything);
    pending(bench.executor.invoke(&same_id, proposal("lab.repo", &repo("a"))).await).await;
    // Another turn of the same session is the same session.
    let later = bench.executor.invoke(&bench.session(1, Mode::Live, 2), proposal("lab.repo", &repo("a"))).await;
    assert_eq!(later.kind(), Kind::Executed);

    // Without a target it covers this very call.
    granted(&bench, "lab.asks", &json!({ "text": "x" }), limit(10, 100)).await;
    assert_eq!(bench.invoke("lab.asks", &json!({ "text": "x" })).await.kind(), Kind::Executed);
    pending(bench.invoke("lab.asks", &json!({ "text": "y" })).await).await;
    pending(bench.invoke("lab.asks_too", &json!({ "text": "x" })).await).await;
    assert_eq!(given.target.as_ref().map(|(_, target)| target.as_str()), Some("a"));
}

/// A yes to one command is no yes to another one, nor to the same one elsewhere.
#[tokio::test]
async fn a_command_is_covered_whole_and_a_program_that_runs_others_not_at_all() {
    let bench = bench();
    let touch = json!({ "argv": ["touch", "1.txt"] });
    let given = granted(&bench, "lab.command", &touch, limit(10, 100)).await;
    assert_eq!(given.scope, GrantScope::Exact);
    assert_eq!(bench.invoke("lab.command", &touch).await.kind(), Kind::Executed);
    for other in [
        json!({ "argv": ["rm", "1.txt"] }),
        json!({ "argv": ["touch", "1.txt", "2.txt"] }),
        json!({ "argv": ["touch 1.txt"] }),
        json!({ "argv": ["touch", "1.txt"], "directory": "/" }),
    ] {
        assert_eq!(bench.invoke("lab.command", &other).await.kind(), Kind::Pending, "{other}");
    }
    for program in ["python3", "/usr/bin/python3.12", "bash", "env", "sudo", "xargs", "npm", "cargo", "git"] {
        let id = bench.pending("lab.command", &json!({ "argv": [program, "-c", "1"] })).await;
        let refused = bench.executor.grant(&bench.operator(), id, limit(1, 1)).await;
        assert_eq!(refused, Err(GrantFault::Unselectable), "{program}");
        // Once is still possible.
        bench.approve(id).await;
    }
}

/// "Once" is once.
#[tokio::test]
async fn approved_once_asks_again() {
    let bench = bench();
    assert_eq!(bench.run("lab.repo", &repo("a")).await.kind(), Kind::Executed);
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Pending);
    assert!(bench.executor.grants(&bench.operator()).await.expect("memory answers").is_empty());
}

#[tokio::test]
async fn there_is_none_unless_an_operator_turned_them_on_and_none_beyond_the_ceiling() {
    let off = Bench::new();
    assert_eq!(grant(&off, "lab.repo", &repo("a"), limit(1, 1)).await, Err(GrantFault::Off));
    let bench = Bench::granting(GrantLimits::off().with("lab.repo", limit(24 * 60, 5)));
    assert_eq!(grant(&bench, "lab.who", &json!({}), limit(1, 1)).await, Err(GrantFault::Off));
    // An operator's setting is held to the class's ceiling.
    let wide = Err(GrantFault::TooWide(limit(60, 5)));
    for too_wide in [limit(61, 1), limit(1, 6), limit(24 * 60, 5)] {
        assert_eq!(grant(&bench, "lab.repo", &repo("a"), too_wide).await, wide);
    }
    let id = bench.pending("lab.repo", &repo("a")).await;
    let content = bench.found(id).await.and_then(|found| found.filed).expect("content");
    assert_eq!(content.approval.grant, Some(limit(60, 5)), "the card says how far one may go");
    let no_time = GrantLimit { longest: Duration::ZERO, ..limit(1, 1) };
    assert_eq!(bench.executor.grant(&bench.operator(), id, no_time).await, Err(GrantFault::TooShort));
    // A refused grant approves nothing.
    let found = bench.found(id).await.expect("it is there");
    assert_eq!((found.summary.status, bench.world().ran()), (ApprovalStatus::Pending, 0));
    assert!(bench.executor.grant(&bench.operator(), id, limit(60, 5)).await.is_ok());
}

/// What the floor asks has no standing answer, whatever is configured, stored or asked for; nor has what is locked.
#[tokio::test]
async fn what_must_be_confirmed_has_no_grant() {
    let bench = bench();
    for name in ["lab.act_write_local", "lab.act_read_external", "lab.act_write_external"] {
        let id = bench.pending(name, &json!({ "behaviour": "answer" })).await;
        let content = bench.found(id).await.and_then(|found| found.filed).expect("content");
        assert_eq!(content.approval.grant, None, "{name}");
        assert_eq!(bench.executor.grant(&bench.operator(), id, limit(1, 1)).await, Err(GrantFault::Floor), "{name}");
    }
    // A row that says otherwise, with everything a row can say, is no grant either.
    let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    let mut filed = bench.found(id).await.and_then(|found| found.filed).expect("content");
    bench.approvals.kept.withdraw(id).await.expect("memory answers");
    filed.approval.grant = Some(limit(60, 1000));
    filed.approval.verdict = capability_core::policy::Verdict::Ask;
    bench.approvals.kept.file(filed).await.expect("memory answers");
    assert_eq!(bench.executor.grant(&bench.operator(), id, limit(1, 1)).await, Err(GrantFault::Floor));
    assert_eq!(bench.invoke("lab.locked", &json!({})).await.code(), Some(Code::Locked));
}

/// A row in the store, however it came there, answers nothing: what counts is what the executor itself gave.
#[tokio::test]
async fn a_forged_row_answers_nothing() {
    let bench = bench();
    let given = granted(&bench, "lab.repo", &repo("a"), limit(10, 1)).await;
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Executed);
    let forged = Grant { id: capability_core::approval::GrantId::from_bytes([9; 16]), ..given.clone() };
    bench.grants.kept.create(forged.clone()).await.expect("memory answers");
    bench.grants.kept.create(Grant { max_uses: NonZeroU32::MAX, ..given }).await.expect("memory answers");
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Pending);
    // It is shown as what it is.
    assert_eq!(state(&bench, &forged).await, Some(GrantEnd::Restarted));
}

#[tokio::test(start_paused = true)]
async fn it_ends_by_whichever_clock_comes_first() {
    // By the wall clock, to the microsecond.
    let bench = bench();
    let given = granted(&bench, "lab.repo", &repo("a"), limit(10, 100)).await;
    bench.time.advance(10 * MINUTE - 1);
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Executed);
    bench.time.advance(1);
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Pending);
    assert_eq!(state(&bench, &given).await, Some(GrantEnd::Expired));
    // A clock that is set back does not bring it back.
    bench.time.advance(-10 * MINUTE);
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Pending);

    // By the clock that nobody sets, when the wall clock stands still or is set back.
    let given = granted(&bench, "lab.repo", &repo("b"), limit(10, 100)).await;
    bench.time.advance(-5 * MINUTE);
    tokio::time::advance(Duration::from_secs(599)).await;
    assert_eq!(bench.invoke("lab.repo", &repo("b")).await.kind(), Kind::Executed);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(bench.invoke("lab.repo", &repo("b")).await.kind(), Kind::Pending);
    assert_eq!(state(&bench, &given).await, Some(GrantEnd::Expired));
    let why: Vec<_> =
        events(&bench, "grant").iter().filter_map(|event| event["why"].as_str().map(str::to_owned)).collect();
    assert_eq!(why, ["expired", "expired"]);
}

#[tokio::test]
async fn taking_back_counts_at_once_whatever_the_log_and_the_store_say() {
    let bench = bench();
    let (one, two) = (
        granted(&bench, "lab.repo", &repo("a"), limit(10, 100)).await,
        granted(&bench, "lab.repo", &repo("b"), limit(10, 100)).await,
    );
    assert_eq!(bench.executor.revoke(&bench.operator(), Some(one.id)).await, Ok(1));
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Pending);
    assert_eq!(bench.invoke("lab.repo", &repo("b")).await.kind(), Kind::Executed);
    let unknown = Err(AnswerFault::Not(Moved::Unknown));
    assert_eq!(bench.executor.revoke(&bench.operator(), Some(one.id)).await, unknown);
    // The log is down: it ends all the same, and is on record as soon as that can be.
    bench.tape.take(Taking::FailsFrom(0));
    assert_eq!(bench.executor.revoke(&bench.operator(), None).await, Err(AnswerFault::Audit));
    bench.tape.take(Taking::All);
    assert_eq!(bench.invoke("lab.repo", &repo("b")).await.kind(), Kind::Pending);
    bench.executor.expire_due().await.expect("memory answers");
    let ends: Vec<_> = events(&bench, "grant").into_iter().filter(|event| event["step"] == "ended").collect();
    assert_eq!(ends.iter().map(|end| &end["grant"]).collect::<Vec<_>>(), [&json!(one.id), &json!(two.id)]);
    assert!(ends.iter().all(|end| end["why"] == "revoked" && end["operator"] == "operator:anna"));
    assert_eq!(bench.executor.revoke(&bench.operator(), None).await, Ok(0));
    // The store is down: it ends all the same.
    let three = granted(&bench, "lab.repo", &repo("c"), limit(10, 100)).await;
    bench.grants.manners.break_down(true);
    assert_eq!(bench.executor.revoke(&bench.operator(), Some(three.id)).await, Err(AnswerFault::Store));
    bench.grants.manners.break_down(false);
    assert_eq!(bench.invoke("lab.repo", &repo("c")).await.kind(), Kind::Pending);
    assert_eq!(state(&bench, &three).await, Some(GrantEnd::Revoked));
    let ends = events(&bench, "grant").into_iter().filter(|event| event["step"] == "ended").count();
    assert_eq!(ends, 3, "each once");
}

#[tokio::test]
async fn a_session_that_ends_or_turns_stricter_takes_its_grants_along() {
    for (mode, why) in [
        (Some(Mode::Plan), GrantEnd::ModeChanged),
        (Some(Mode::Dream), GrantEnd::ModeChanged),
        (Some(Mode::Replay), GrantEnd::ModeChanged),
        (None, GrantEnd::SessionEnded),
    ] {
        let bench = bench();
        let given = granted(&bench, "lab.repo", &repo("a"), limit(10, 100)).await;
        let elsewhere = bench.session(2, Mode::Plan, 1);
        let _ =
            bench.executor.invoke(&elsewhere, proposal("lab.act_read_local", &json!({ "behaviour": "answer" }))).await;
        assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Executed, "another session's mode");
        match mode {
            Some(mode) => {
                // Whatever it asks for, and whatever becomes of that.
                let stricter = bench.session(1, mode, 7);
                let _ = bench.executor.invoke(&stricter, proposal("lab.nothing", &json!({}))).await;
            }
            None => bench.executor.end_session(&bench.session(1, Mode::Live, 7)).await,
        }
        assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Pending, "{mode:?}");
        assert_eq!(state(&bench, &given).await, Some(why), "{mode:?}");
    }
    // What was asked in a stricter mode has none.
    let bench = bench();
    let plan = bench.session(1, Mode::Plan, 1);
    let asked = bench.executor.invoke(&plan, proposal("lab.repo", &repo("a"))).await;
    let id = asked.approval().expect("pending");
    assert_eq!(bench.executor.grant(&bench.operator(), id, limit(1, 1)).await, Err(GrantFault::Mode));
}

#[tokio::test]
async fn what_cannot_be_counted_or_recorded_is_not_run() {
    let bench = bench();
    let given = granted(&bench, "lab.repo", &repo("a"), limit(10, 100)).await;
    bench.grants.manners.break_down(true);
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.code(), Some(Code::StoreUnavailable));
    bench.grants.manners.break_down(false);
    // The policy decision is taken, and the use of the grant is not.
    bench.tape.take(Taking::FailsOnce(1));
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.code(), Some(Code::AuditUnavailable));
    bench.tape.take(Taking::All);
    assert_eq!(bench.world().ran(), 0);
    // A use that could not be recorded is used up: never one too many.
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Executed);
    let all = bench.executor.grants(&bench.operator()).await.expect("memory answers");
    assert_eq!(all.iter().find(|found| found.id == given.id).map(|found| found.used), Some(2));
}

/// Nothing is given when the answer, the grant or its record fails; and the log says what became of it.
#[tokio::test]
async fn a_grant_that_cannot_be_recorded_or_stored_is_none() {
    let bench = bench();
    for lost in [0, 1] {
        let id = bench.pending("lab.repo", &repo("a")).await;
        bench.tape.take(Taking::FailsOnce(lost));
        let refused = bench.executor.grant(&bench.operator(), id, limit(1, 1)).await;
        assert_eq!(refused, Err(GrantFault::Answer(AnswerFault::Audit)), "{lost}");
        bench.tape.take(Taking::All);
        assert_eq!(bench.resume(id).await.kind(), Kind::Pending, "{lost}");
    }
    let id = bench.pending("lab.repo", &repo("a")).await;
    bench.grants.manners.break_down(true);
    assert_eq!(bench.executor.grant(&bench.operator(), id, limit(1, 1)).await, Err(GrantFault::Half));
    bench.grants.manners.break_down(false);
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed, "it is approved, once");
    assert_eq!(bench.invoke("lab.repo", &repo("a")).await.kind(), Kind::Pending);
    let last = events(&bench, "grant").pop().expect("it is told");
    assert_eq!(only(&last, &["step", "why"]), json!({ "step": "ended", "why": "withdrawn" }));
    // One that was answered meanwhile.
    let id = bench.pending("lab.repo", &repo("a")).await;
    bench.deny(id, None).await;
    let not = Err(GrantFault::Answer(AnswerFault::Not(Moved::Not(ApprovalStatus::Denied))));
    assert_eq!(bench.executor.grant(&bench.operator(), id, limit(1, 1)).await, not);
}

/// Calls that race for what is left, an operator who takes it back, and a session that turns stricter: a thousand times,
/// and never one run more than there are uses.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_race_gets_one_use_too_many_a_thousand_times() {
    let bench = Arc::new(Bench::granting(everywhere()));
    let mut executed_in_all = 0;
    for round in 0..250_u32 {
        let name = format!("r{round}");
        let uses = 1 + round % 3;
        let given = granted(&bench, "lab.repo", &repo(&name), limit(10, uses)).await;
        let racers: Vec<_> = (0..4)
            .map(|racer| {
                let (bench, name, id) = (Arc::clone(&bench), name.clone(), given.id);
                tokio::spawn(async move {
                    if racer == 3 && round % 5 == 0 {
                        let _ = bench.executor.revoke(&bench.operator(), Some(id)).await;
                        return 0;
                    }
                    let turn = bench.session(1, Mode::Live, u64::from(round));
                    let outcome = bench.executor.invoke(&turn, proposal("lab.repo", &repo(&name))).await;
                    if let Some(asked) = outcome.approval() {
                        bench.approvals.kept.withdraw(asked).await.expect("memory answers");
                    }
                    u32::from(outcome.kind() == Kind::Executed)
                })
            })
            .collect();
        let mut executed = 0;
        for racer in racers {
            executed += racer.await.expect("no panic");
        }
        assert!(executed <= uses, "round {round}: {executed} of {uses}");
        if round % 5 != 0 {
            assert_eq!(executed, uses, "round {round}");
        }
        executed_in_all += executed;
        assert_eq!(bench.grants.kept.spend(given.id, capability_core::Timestamp::from_micros(0)).await, Ok(Spent::Not));
    }
    assert_eq!(events(&bench, "grant_use").len(), usize::try_from(executed_in_all).expect("few"));
    assert_eq!(bench.world().ran(), usize::try_from(executed_in_all).expect("few"));
}

#[tokio::test]
async fn a_preview_says_what_it_would_have_covered() {
    let bench = bench();
    let id = bench.pending("lab.repo", &repo("a")).await;
    let preview = bench.executor.grant_preview(&bench.operator(), id).await.expect("memory answers").expect("one");
    assert_eq!((preview.limit, preview.scope), (limit(30, 1000), GrantScope::Target));
    assert!(preview.covered.is_empty() && preview.not_covered.is_empty(), "nothing is retained");
    let floor = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
    assert_eq!(bench.executor.grant_preview(&bench.operator(), floor).await, Ok(None));
    let none = ApprovalId::from_bytes([9; 16]);
    assert_eq!(bench.executor.grant_preview(&bench.operator(), none).await, Ok(None));
}

/// One step of a game that tries to get something run that a person must confirm each time.
#[derive(Debug, Clone, Copy)]
enum Step {
    Grant(usize),
    Ask(usize),
    Deny(usize),
    Revoke,
    Plan,
    Wait,
}

const MUST_BE_CONFIRMED: [&str; 3] = ["lab.act_write_local", "lab.act_read_external", "lab.act_write_external"];
const MAY_BE_GRANTED: [&str; 2] = ["lab.asks", "lab.who"];

fn called(which: usize) -> (&'static str, Value) {
    let names: Vec<_> = MUST_BE_CONFIRMED.into_iter().chain(MAY_BE_GRANTED).collect();
    let name = names[which % names.len()];
    (name, if MUST_BE_CONFIRMED.contains(&name) { json!({ "behaviour": "answer" }) } else { json!({}) })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..5_usize).prop_map(Step::Grant),
        4 => (0..5_usize).prop_map(Step::Ask),
        1 => (0..5_usize).prop_map(Step::Deny),
        1 => Just(Step::Revoke),
        1 => Just(Step::Plan),
        1 => Just(Step::Wait),
    ];
    proptest::collection::vec(step, 1..30)
}

async fn play(steps: Vec<Step>) -> usize {
    let bench = bench();
    let mut by_grant = 0;
    for (turn, step) in steps.into_iter().enumerate() {
        let (Step::Grant(which) | Step::Ask(which) | Step::Deny(which)) = step else {
            match step {
                Step::Revoke => drop(bench.executor.revoke(&bench.operator(), None).await),
                Step::Plan => {
                    let plan = bench.session(1, Mode::Plan, 1);
                    let _ = bench.executor.invoke(&plan, proposal("lab.nothing", &json!({}))).await;
                }
                _ => bench.time.advance(MINUTE),
            }
            continue;
        };
        let (name, arguments) = called(which);
        let ran = bench.world().ran();
        let session = bench.session(1, Mode::Live, turn as u64);
        let outcome = bench.executor.invoke(&session, proposal(name, &arguments)).await;
        if MUST_BE_CONFIRMED.contains(&name) {
            // Whatever grants there are: it asks, or is refused, and nothing ran.
            assert_ne!(outcome.kind(), Kind::Executed, "{name}");
            assert_eq!(bench.world().ran(), ran, "{name}");
        }
        by_grant += usize::from(outcome.kind() == Kind::Executed);
        match (step, outcome.approval()) {
            (Step::Grant(_), Some(id)) => {
                let given = bench.executor.grant(&bench.operator(), id, limit(5, 3)).await;
                assert_eq!(given.is_ok(), MAY_BE_GRANTED.contains(&name), "{name}: {given:?}");
            }
            (Step::Deny(_), Some(id)) => bench.deny(id, None).await,
            _ => {}
        }
    }
    assert_eq!(events(&bench, "grant_use").len(), by_grant);
    by_grant
}

#[test]
fn whatever_grants_exist_a_required_floor_needs_a_fresh_answer() {
    let by_grant = core::cell::Cell::new(0);
    let config = ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() };
    proptest::test_runner::TestRunner::new(config)
        .run(&steps(), |steps| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            by_grant.set(by_grant.get() + runtime.block_on(play(steps)));
            Ok(())
        })
        .expect("it holds");
    assert!(by_grant.get() > 50, "grants were used: {}", by_grant.get());
}

/// A rule's question has one; with a raise on top, which is the same verdict, it has none.
#[tokio::test]
async fn no_standing_answer_covers_what_a_look_at_the_call_raises() {
    let bench = bench();
    bench.rules("[[rule]]\nid = \"ask\"\neffect = \"ask\"\ncapability = \"lab.look\"\n");
    let asked = json!({});
    granted(&bench, "lab.look", &asked, limit(10, 5)).await;
    assert!(bench.invoke("lab.look", &asked).await.result().is_some(), "it answers the rule");
    bench.world().set_raise(Some(Raise::ask(Concern::SensitivePath)));
    let id = bench.pending("lab.look", &asked).await;
    assert_eq!(bench.executor.grant(&bench.operator(), id, limit(10, 5)).await, Err(GrantFault::Off));
    bench.world().set_raise(Some(Raise::ask_fresh(Concern::SensitivePath)));
    bench.pending("lab.look", &asked).await;
}
