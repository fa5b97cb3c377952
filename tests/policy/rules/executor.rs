//! What a caller and the log learn of rules.

use core::num::NonZeroU32;

use capability_core::audit::ConfiguredName;
use capability_core::executor::AnswerFault;
use capability_core::policy::Verdict;
use capability_core::session::{Declaration, Declarations, Mode, Session};
use capability_core::store::Moved;
use capability_core::{Code, Outcome, Stage};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::bench::{identity, proposal};

const NO_DOCS: &str = r#"
[[rule]]
id = "no-docs"
effect = "deny"
reason = "docs are being moved"
capability = "lab.scoped:docs"

[[rule]]
id = "others-ask"
effect = "ask"
capability = "lab.scoped"
"#;

/// The last policy decision in the log.
fn decision(bench: &Bench) -> Value {
    let decided = |event: &Value| event["event"] == "policy_decision";
    bench.events().into_iter().rfind(decided).expect("a decision was recorded")
}

async fn scoped(bench: &Bench, server: &str) -> Outcome {
    bench.invoke("lab.scoped", &json!({ "server": server })).await
}

#[tokio::test]
async fn a_denied_caller_learns_which_rule_and_why_and_the_log_which() {
    let bench = Bench::new();
    bench.rules(NO_DOCS);
    let outcome = scoped(&bench, "docs").await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::RuleDeny)));
    assert_eq!(outcome.message().as_deref(), Some("rule `no-docs` denies this call: docs are being moved"));
    let decision = decision(&bench);
    assert_eq!(decision["considered"], json!(["no-docs", "others-ask"]));
    assert_eq!(decision["deciding"], json!(["no-docs"]));
    assert_eq!(decision["policy"], json!(bench.executor.policy().revision().to_string()));
    assert!(!bench.tape.lines().contains("being moved"), "a reason is for people and not for the log");
    assert_eq!(bench.world().ran(), 0);
}

#[tokio::test]
async fn without_rules_about_a_call_its_record_names_none() {
    let bench = Bench::new();
    bench.rules(NO_DOCS);
    let _ = bench.invoke("lab.notes", &json!({})).await;
    let decision = decision(&bench);
    assert!(decision.get("policy").is_none() && decision.get("considered").is_none(), "{decision}");
}

#[tokio::test]
async fn a_rule_that_asks_is_answered_by_a_person_and_judged_again_then() {
    let bench = Bench::new();
    bench.rules(NO_DOCS);
    let outcome = scoped(&bench, "mail").await;
    let id = outcome.approval().expect("it is pending");
    bench.approve(id).await;
    // Meanwhile the operator changed the rules: they count at the moment of use.
    bench.rules(&NO_DOCS.replace(":docs", ":mail"));
    let refused = bench.resume(id).await;
    assert_eq!(refused.code(), Some(Code::RuleDeny));
    bench.rules(NO_DOCS);
    assert!(bench.resume(id).await.result().is_some(), "the approval was not used up");
    assert_eq!(bench.world().ran(), 1);
}

#[tokio::test]
async fn an_allow_lifts_a_default_and_nothing_else() {
    let bench = Bench::new();
    assert_eq!(bench.invoke("lab.denies", &json!({})).await.code(), Some(Code::DefaultDeny));
    bench.rules("[[rule]]\nid = \"lift\"\neffect = \"allow\"\nreason = \"it is fine here\"\ncapability = \"lab.*\"\n");
    assert!(bench.invoke("lab.denies", &json!({})).await.result().is_some());
    assert!(bench.invoke("lab.act_write_local", &json!({ "behaviour": "answer" })).await.approval().is_some());
    assert_eq!(bench.invoke("lab.locked", &json!({})).await.code(), Some(Code::Locked));
}

/// A child is never above whoever it acts for: mode, manifest and rules of its parents bind it, and it ends with them.
#[tokio::test]
async fn whoever_acts_for_another_is_bound_by_the_other() {
    let bench = Bench::new();
    let write = || proposal("lab.act_write_local", &json!({ "behaviour": "answer" }));
    let read = || proposal("lab.act_read_local", &json!({ "behaviour": "answer" }));

    let planning = bench.acting_for(&bench.session(7, Mode::Plan, 1));
    assert_eq!(planning.identity().mode, Mode::Plan);
    assert_eq!(bench.executor.invoke(&planning, write()).await.code(), Some(Code::PlanMode));
    assert!(bench.executor.invoke(&planning, read()).await.result().is_some());

    // Two generations further, the manifest still counts.
    let narrow = bench.declaring(&["lab.asks"]);
    let grandchild = bench.acting_for(&bench.acting_for(&narrow));
    let refused = bench.executor.invoke(&grandchild, read()).await;
    assert_eq!(refused.code(), Some(Code::Delegation));

    // Rules about the parent's subject.
    let parent = bench.stranger();
    let child = bench.acting_for(&parent);
    let name = parent.identity().subject.clone();
    bench.rules(&format!("[[rule]]\nid = \"no\"\neffect = \"deny\"\nreason = \"x\"\nsubject = \"{name}\"\n"));
    assert_eq!(bench.executor.invoke(&child, read()).await.code(), Some(Code::Delegation));
    assert!(bench.executor.invoke(&bench.session, read()).await.result().is_some());
    bench.rules(&format!("[[rule]]\nid = \"ask\"\neffect = \"ask\"\nsubject = \"{name}\"\n"));
    assert!(bench.executor.invoke(&child, read()).await.approval().is_some());

    parent.end();
    assert_eq!(bench.executor.invoke(&child, read()).await.code(), Some(Code::SessionEnded));
    let late = bench.mint.open_for(&parent, identity(&bench.subject, 9, Mode::Live, 1), Declarations::everything());
    assert_eq!(bench.executor.invoke(&late, read()).await.code(), Some(Code::SessionEnded));
    assert!(bench.executor.invoke(&bench.session, read()).await.code().is_none(), "a child's end is not its parent's");
}

/// A session that declares this, for one that declares that, and so on to the first.
fn chain(bench: &Bench, turn: u64, declared: &[Vec<Declaration>]) -> Session {
    let mut last: Option<Session> = None;
    for (at, listed) in (1..).zip(declared) {
        let (identity, listed) = (identity(&bench.subject, at, Mode::Live, turn), Declarations::only(listed.clone()));
        last = Some(match &last {
            None => bench.mint.open(identity, listed),
            Some(parent) => bench.mint.open_for(parent, identity, listed),
        });
    }
    last.expect("somebody")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Whoever acts for others is shown what all of them declare, and nothing else: each tool that is listed has a call that is not
    /// refused for what a manifest says, and each that is not listed has none.
    #[test]
    fn what_is_listed_for_somebody_is_what_everybody_behind_it_declares(
        declared in prop::collection::vec(
            prop::collection::vec(
                prop::sample::select(&["lab.scoped:a", "lab.scoped:b", "lab.scoped:*", "lab.asks", "lab.act_read_local", "tool.call:lab.asks"][..])
                    .prop_map(|name| name.parse::<Declaration>().unwrap()),
                0..5,
            ),
            1..4,
        )
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let bench = Bench::new();
            let decisions = bench.executor.decisions(&chain(&bench, 1, &declared));
            let behaved = json!({ "behaviour": "answer" });
            let scoped = ["a", "b", "c"].map(|server| json!({ "server": server }));
            for (name, calls) in [
                ("lab.scoped", &scoped[..]),
                ("lab.asks", &[json!({ "text": "t" })][..]),
                ("lab.act_read_local", &[behaved][..]),
            ] {
                let listed = decisions.compiled(name, NonZeroU32::MIN).expect("decided").is_visible();
                let mut runs = false;
                for (turn, arguments) in (2..).zip(calls) {
                    let session = chain(&bench, turn, &declared);
                    let outcome = bench.executor.invoke(&session, proposal(name, arguments)).await;
                    runs |= !matches!(outcome.code(), Some(Code::Undeclared | Code::Delegation));
                    let called = bench.executor.decisions_called(&session, &name.replace('.', "-"));
                    let named = called.compiled(name, NonZeroU32::MIN).is_some_and(|one| one.is_visible());
                    assert_eq!(named, listed, "{name}: {declared:?}");
                }
                assert_eq!(listed, runs, "{name}: {declared:?}");
            }
        });
    }
}

/// What was asked for somebody is gone on with for that one alone, and by what that one may do then.
#[tokio::test]
async fn what_a_child_asked_for_is_resumed_below_whoever_it_acts_for() {
    let bench = Bench::new();
    let parent = |listed: &[&str], slot: Option<&str>| {
        let (identity, slot) = (identity(&bench.subject, 7, Mode::Live, 1), slot.map(|slot| slot.parse().unwrap()));
        let listed = listed.iter().map(|text| text.parse().unwrap()).collect();
        bench.mint.open_in(slot, identity, Declarations::only(listed))
    };
    let child = |parent: &Session, agent: Option<&str>| {
        let by = (agent.and_then(ConfiguredName::of), None);
        bench.mint.open_for_in(parent, by, identity(&bench.subject, 8, Mode::Live, 1), Declarations::everything())
    };
    let (may, agent) = (&["lab.asks"][..], Some("critic"));
    let asked =
        bench.executor.invoke(&child(&parent(may, None), agent), proposal("lab.asks", &json!({ "text": "t" }))).await;
    let id = asked.approval().expect("it is pending");
    let filed = bench.found(id).await.and_then(|found| found.filed).expect("content").approval;
    assert_eq!(
        filed.behind.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [format!("{} (agent critic)", bench.subject)]
    );

    // An edit is no way around it either.
    let alone = bench.executor.edit(&bench.operator(), &bench.session, id, r#"{"text":"u"}"#).await;
    assert!(matches!(alone, Err(AnswerFault::Not(Moved::Unknown))), "{alone:?}");
    bench.approve(id).await;
    let resumed = async |session: &Session| bench.executor.resume(session, id).await;
    for other in [
        bench.session.clone(),
        child(&parent(may, Some("planner")), agent),
        child(&parent(may, None), Some("writer")),
        child(&parent(may, None), None),
        child(&child(&parent(may, None), agent), agent),
    ] {
        assert_eq!(resumed(&other).await.code(), Some(Code::ApprovalUnknown));
    }
    for narrower in [&[][..], &["lab.order"]] {
        let outcome = resumed(&child(&parent(narrower, None), agent)).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::Delegation)));
    }
    assert_eq!(bench.world().ran(), 0);
    assert!(resumed(&child(&parent(may, None), agent)).await.result().is_some());
    assert_eq!(resumed(&child(&parent(may, None), agent)).await.code(), Some(Code::ApprovalConsumed));
}

/// Many rules: the record has an end, and says how many it does not name.
#[tokio::test]
async fn a_record_names_at_most_so_many_rules() {
    let bench = Bench::new();
    let rules: String = (0..100)
        .map(|at| format!("[[rule]]\nid = \"r{at}\"\neffect = \"ask\"\ncapability = \"lab.scoped:s{}\"\n", at % 90))
        .collect();
    bench.rules(&rules);
    let _ = scoped(&bench, "s80").await;
    let decision = decision(&bench);
    assert_eq!(decision["considered"].as_array().map(Vec::len), Some(64));
    assert_eq!(
        (&decision["considered"][0], &decision["deciding"], &decision["more"]),
        (&json!("r80"), &json!(["r80"]), &json!(36))
    );
    assert_eq!(decision["verdict"], json!(Verdict::Ask));
}
