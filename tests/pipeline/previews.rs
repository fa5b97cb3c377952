//! The author's part of validate, before anybody is asked.

use capability_core::executor::Effect;
use capability_core::policy::OptIn;
use capability_core::session::Mode;
use capability_core::{Code, Concern, Preview, Raise, RaisedTo};
use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::bench::proposal;

#[tokio::test]
async fn the_approver_is_shown_the_arguments_that_would_run_and_the_preview() {
    let bench = Bench::new();
    bench.world().set_preview("- old\n+ new");
    bench.world().set_hash(3);
    let id = bench.pending("lab.edit", &json!({ "text": "b" })).await;
    let filed = bench.found(id).await.and_then(|found| found.filed).expect("it has content");
    let shown = Preview { text: "- old\n+ new".to_owned(), rests_on: vec![[3; 32]], ..Preview::default() };
    assert_eq!(filed.approval.preview, Some(shown));
    let arguments: serde_json::Value = serde_json::from_slice(&filed.approval.arguments).expect("JSON");
    assert_eq!(arguments["text"], "b");
    assert_eq!((bench.world().previewed(), bench.world().ran()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_preview_that_fails_panics_hangs_or_runs_on_refuses_at_validate() {
    for (preview, code, message) in [
        ("fail", Code::PrepareFailed, Code::PrepareFailed.message()),
        ("fail_public", Code::PrepareFailed, "sesame"),
        ("panic", Code::PreparePanicked, Code::PreparePanicked.message()),
        ("panic_late", Code::PreparePanicked, Code::PreparePanicked.message()),
        ("hang", Code::PrepareTimedOut, Code::PrepareTimedOut.message()),
        ("too_long", Code::PrepareFailed, "the preview is too long to be read by a person"),
    ] {
        let bench = Bench::new();
        let outcome = bench.invoke("lab.edit", &json!({ "preview": preview, "text": "sesame" })).await;
        assert_eq!((outcome.code(), outcome.effect()), (Some(code), Effect::NotStarted), "{preview}");
        assert_eq!(outcome.message().as_deref(), Some(message), "{preview}");
        assert_eq!(bench.world().ran(), 0, "{preview}");
        assert!(!bench.tape.lines().contains("sesame"), "{preview}");
    }
}

/// What is shown before anybody answers leaves no trace, whether the answer is yes, no, or none: the handles that a preview
/// is lent only read.
#[tokio::test(start_paused = true)]
async fn a_preview_stores_nothing_before_the_answer() {
    let bench = Bench::new();
    let denied = bench.pending("lab.edit", &json!({})).await;
    bench.deny(denied, None).await;
    let failed = bench.invoke("lab.edit", &json!({ "preview": "fail" })).await;
    assert_eq!((failed.code(), failed.effect()), (Some(Code::PrepareFailed), Effect::NotStarted));
    let approved = bench.pending("lab.edit", &json!({})).await;
    assert_eq!(bench.bindings.journal_of(&bench.subject), Vec::<String>::new(), "nobody has said yes");
    bench.approve(approved).await;
    assert!(bench.resume(approved).await.result().is_some());
    assert_eq!(bench.bindings.journal_of(&bench.subject), ["edited"], "the body's own entry and no other");
}

/// A family that is turned on between the look that spared the author's part and the verdict: nobody is asked about a call
/// whose preview and check have not run.
#[tokio::test]
async fn nobody_is_asked_about_what_was_not_prepared() {
    let bench = Bench::new();
    bench.switch.set(OptIn::Off);
    bench.switch.set_after_a_look(OptIn::On);
    let outcome = bench.invoke("lab.publish", &json!({})).await;
    assert_eq!((outcome.code(), bench.world().previewed()), (Some(Code::OptInOff), 0), "{outcome:?}");
    let decision = bench.events().into_iter().find(|event| event["event"] == "policy_decision").expect("one");
    assert_eq!(decision["verdict"], "deny");
    let waiting = bench.executor.waiting(&bench.operator()).await.expect("memory answers");
    assert!(waiting.is_empty(), "{waiting:?}");
    assert!(bench.invoke("lab.publish", &json!({})).await.approval().is_some(), "the next call finds it on");
}

/// A preview is the author's code, with the capability's handles in its hands: what policy would deny does not get there.
#[tokio::test]
async fn no_preview_is_made_for_a_call_that_policy_denies() {
    let bench = Bench::new();
    let undeclared = bench.declaring(&["lab.asks"]);
    let plan = bench.session(1, Mode::Plan, 1);
    let edit = || proposal("lab.edit", &json!({}));
    assert_eq!(bench.executor.invoke(&undeclared, edit()).await.code(), Some(Code::Undeclared));
    assert_eq!(bench.executor.invoke(&plan, edit()).await.code(), Some(Code::PlanMode));
    for (state, code) in [(OptIn::Off, Code::OptInOff), (OptIn::Damaged, Code::OptInDamaged)] {
        bench.switch.set(state);
        assert_eq!(bench.invoke("lab.publish", &json!({})).await.code(), Some(code));
    }
    assert_eq!(bench.world().previewed(), 0, "no author's code ran");
    assert_eq!(bench.bindings.journal_of(&bench.subject), Vec::<String>::new(), "and no handle was used");
}

/// What stands in the newest decision of policy: the verdict, and what the capability's own look contributed.
fn guarded(bench: &Bench) -> (serde_json::Value, serde_json::Value) {
    let events = bench.events();
    let decision = events.iter().rfind(|event| event["event"] == "policy_decision").expect("one");
    let said = decision["contributions"].as_array().expect("a list");
    let guard = said.iter().find(|one| one["contributor"] == "guard").expect("it contributes");
    (decision["verdict"].clone(), json!([guard["verdict"], guard["code"]]))
}

#[tokio::test]
async fn a_look_at_the_call_raises_what_its_class_would_let_pass() {
    let bench = Bench::new();
    assert!(bench.invoke("lab.look", &json!({})).await.result().is_some(), "nothing stands against it");
    assert_eq!(guarded(&bench), (json!("allow"), json!(["allow", "clear"])));
    for concern in Concern::ALL {
        let code = concern.code();
        for raise in [Raise::ask(concern), Raise::ask_fresh(concern)] {
            let before = bench.world().ran();
            bench.world().set_raise(Some(raise));
            let id = bench.pending("lab.look", &json!({})).await;
            let verdict = json!(raise.verdict);
            assert_eq!(guarded(&bench), (verdict.clone(), json!([verdict, code])), "{raise:?}");
            let filed = bench.found(id).await.and_then(|found| found.filed).expect("it has content");
            assert_eq!((filed.approval.because, json!(filed.approval.verdict)), (vec![code], verdict));
            assert_eq!(bench.world().ran(), before, "nobody has answered");
            bench.approve(id).await;
            assert!(bench.resume(id).await.result().is_some(), "{raise:?}: the answer is enough");
        }
        bench.world().set_raise(Some(Raise::deny(concern)));
        let before = bench.world().ran();
        let outcome = bench.invoke("lab.look", &json!({})).await;
        assert_eq!((outcome.code(), outcome.stage(), outcome.effect()), (Some(code), code.stage(), Effect::NotStarted));
        assert_eq!(guarded(&bench), (json!("deny"), json!(["deny", code])));
        assert_eq!(bench.world().ran(), before);
    }
}

/// It is one voice among others: what the class, a rule or the manifest asks for stays.
#[tokio::test]
async fn a_look_at_the_call_lowers_nothing() {
    let bench = Bench::new();
    bench.world().set_raise(Some(Raise::ask(Concern::GuardHigh)));
    bench.pending("lab.edit", &json!({})).await;
    assert_eq!(guarded(&bench), (json!("ask_fresh"), json!(["ask", "guard_high"])), "the floor stands");
    bench.rules("[[rule]]\nid = \"no\"\neffect = \"deny\"\nreason = \"no\"\ncapability = \"lab.look\"\n");
    assert_eq!(bench.invoke("lab.look", &json!({})).await.code(), Some(Code::RuleDeny));
    bench.rules("[[rule]]\nid = \"yes\"\neffect = \"allow\"\nreason = \"yes\"\ncapability = \"lab.look\"\n");
    bench.world().set_raise(Some(Raise::deny(Concern::GuardBlock)));
    assert_eq!(bench.invoke("lab.look", &json!({})).await.code(), Some(Code::GuardBlock), "no rule lifts it");
    for raised in [RaisedTo::Ask, RaisedTo::AskFresh, RaisedTo::Deny] {
        assert!(raised.verdict() > capability_core::policy::Verdict::Allow);
    }
}

/// A secret goes to a command by an answer to that very call, whatever the capability's class, and only where the subject
/// declares the variable by its name.
#[tokio::test]
async fn a_call_that_binds_a_secret_needs_a_fresh_answer_and_an_exact_declaration() {
    let bench = Bench::new();
    assert!(bench.invoke("lab.look", &json!({})).await.result().is_some(), "it only looks");
    bench.world().set_secrets(&[("DEPLOY_TOKEN", "deploy_token")]);
    let id = bench.pending("lab.look", &json!({})).await;
    assert_eq!(guarded(&bench), (json!("ask_fresh"), json!(["ask_fresh", "secret_bound"])));
    bench.approve(id).await;
    bench.world().set_secrets(&[("DEPLOY_TOKEN", "another")]);
    assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalMismatch), "it was another secret");
    bench.world().set_secrets(&[("OTHER", "deploy_token")]);
    assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalMismatch), "it was another variable");
    bench.world().set_secrets(&[("DEPLOY_TOKEN", "deploy_token")]);
    assert!(bench.resume(id).await.result().is_some());
    for (declared, code) in [
        (&["lab.look"][..], Some(Code::Undeclared)),
        (&["lab.look", "secret.bind:OTHER"], Some(Code::Undeclared)),
        (&["lab.look", "secret.bind:DEPLOY_TOKEN"], None),
    ] {
        let session = bench.declaring(declared);
        let outcome = bench.executor.invoke(&session, capability_core::Proposal::new("lab.look", 1, "{}")).await;
        assert_eq!((outcome.code(), outcome.approval().is_some()), (code, code.is_none()), "{declared:?}: {outcome:?}");
    }
    // Names that no command could be given are no preview at all.
    for variable in ["PATH", "LD_PRELOAD", "1", ""] {
        bench.world().set_secrets(&[(variable, "deploy_token")]);
        let outcome = bench.invoke("lab.look", &json!({})).await;
        assert_eq!((outcome.stage(), outcome.result()), (capability_core::Stage::Validate, None), "{variable}");
    }
}

/// A resumed call is looked at again: a raise that was not there when a person answered is part of what was not approved, and
/// a denial ends it before its answer is used.
#[tokio::test]
async fn a_raise_that_comes_later_is_not_what_was_approved() {
    let bench = Bench::new();
    let id = bench.pending("lab.edit", &json!({})).await;
    bench.approve(id).await;
    bench.world().set_raise(Some(Raise::ask_fresh(Concern::ProtectedPath)));
    assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalMismatch));
    bench.world().set_raise(Some(Raise::deny(Concern::ProtectedPath)));
    assert_eq!(bench.resume(id).await.code(), Some(Code::ProtectedPath));
    assert_eq!(bench.world().ran(), 0);
    bench.world().set_raise(None);
    assert!(bench.resume(id).await.result().is_some(), "the answer was not used up");
}

/// Rules are held against everything that a call acts on, its target and what its own look found: a denial or a question of
/// any counts, and a rule that lets one of them pass says nothing about the others.
#[tokio::test]
async fn rules_are_held_against_everything_that_a_call_acts_on() {
    let bench = Bench::new();
    bench.rules(
        r#"
        [[rule]]
        id = "commands"
        effect = "ask"
        capability = "lab.look"
        [[rule]]
        id = "status"
        effect = "allow"
        reason = "it only looks"
        capability = "lab.look"
        target = { argv = ["git", "status", "**"] }
        [[rule]]
        id = "root"
        effect = "deny"
        reason = "never here"
        capability = "lab.look"
        target = { argv = ["sudo", "**"] }
        "#,
    );
    let (status, other, sudo) = (r#"["git","status"]"#, r#"["ls"]"#, r#"["sudo","id"]"#);
    for (argv, acts_on, verdict, rule) in [
        (Some(["git", "status"]), vec![], "allow", "status"),
        (Some(["git", "status"]), vec![status, r#"["git","status","-s"]"#], "allow", "status"),
        (Some(["git", "status"]), vec![status, other], "ask", "commands"),
        (Some(["git", "log"]), vec![status], "ask", "commands"),
        (Some(["git", "status"]), vec![other, sudo, status], "deny", "root"),
        (None, vec![], "ask", "commands"),
        (None, vec![status], "allow", "status"),
        (None, vec![status, other], "ask", "commands"),
        (None, vec![sudo, status], "deny", "root"),
        (None, vec![status, "git status"], "deny", ""),
    ] {
        bench.world().set_acts_on(&acts_on);
        let outcome = bench.invoke("lab.look", &json!({ "argv": argv })).await;
        let events = bench.events();
        let decision = events.iter().rfind(|event| event["event"] == "policy_decision").expect("one");
        assert_eq!(decision["verdict"], verdict, "{argv:?} {acts_on:?}: {outcome:?}");
        let decided = decision["deciding"].as_array().cloned().unwrap_or_default();
        let decided: Vec<_> = decided.iter().filter_map(|one| one.as_str()).collect();
        assert_eq!(decided, if rule.is_empty() { vec![] } else { vec![rule] }, "{decision}");
        let id = outcome.approval();
        assert_eq!(id.is_some(), verdict == "ask");
        if rule.is_empty() {
            assert_eq!(outcome.code(), Some(Code::TargetUnjudged), "what cannot be read is denied where a rule asks");
        }
    }
}

/// What it acts on is part of what a person approves.
#[tokio::test]
async fn an_approval_is_for_everything_that_a_call_acts_on() {
    let bench = Bench::new();
    bench.world().set_raise(Some(Raise::ask(Concern::GuardHigh)));
    bench.world().set_acts_on(&[r#"["ls"]"#]);
    let id = bench.pending("lab.look", &json!({})).await;
    bench.approve(id).await;
    bench.world().set_acts_on(&[r#"["ls"]"#, r#"["rm"]"#]);
    assert_eq!(bench.resume(id).await.code(), Some(Code::ApprovalMismatch));
    bench.world().set_acts_on(&[r#"["ls"]"#]);
    assert!(bench.resume(id).await.result().is_some());
}
