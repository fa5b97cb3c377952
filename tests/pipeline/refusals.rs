//! Every code of the closed list, provoked by a real call.

use std::sync::atomic::Ordering;

use capability_core::approval::{ApprovalId, GrantLimits};
use capability_core::executor::{Effect, Limits};
use capability_core::policy::OptIn;
use capability_core::provider::{
    FallbackPolicy, FallbackRules, ProviderReach, ProviderSnapshot, ProviderState, ProviderType, Standing,
};
use capability_core::session::{Declarations, Demand, Mode};
use capability_core::store::{Answer, Approvals as _};
use capability_core::surface::{Surface, SurfaceCall, SurfaceOptions};
use capability_core::{Code, Concern, Outcome, Proposal, Raise, Stage, Timestamp};
use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::bench::{only, proposal, refusal};
use crate::fixtures::parts::Taking;
use crate::fixtures::providers::{provider, tool};

/// A call on a surface that shows nothing but its two operations.
async fn called(bench: &Bench, name: &str, arguments: &str) -> Outcome {
    let options = SurfaceOptions { budget: 0, ..SurfaceOptions::default() };
    match Surface::called(&bench.executor, &bench.session, &options, name, arguments.as_bytes()).call {
        SurfaceCall::Proposal(proposal) => bench.executor.invoke(&bench.session, proposal).await,
        other => panic!("{name}: {other:?}"),
    }
}

/// A refused call, and what had run before it.
struct Case {
    bench: Bench,
    outcome: Outcome,
    ran: usize,
    effects: usize,
}

impl Case {
    fn fresh(bench: Bench, outcome: Outcome) -> Self {
        Self { bench, outcome, ran: 0, effects: 0 }
    }
}

/// A call that is refused with this code; none for the five that are reasons to ask or to pass, not to refuse.
async fn provoke(code: Code) -> Option<Case> {
    let bench = Bench::new();
    let raw = async |text: &[u8]| bench.invoke_raw("lab.act_read_local", text).await;
    let outcome = match code {
        Code::Clear
        | Code::DefaultAsk
        | Code::ManifestAsk
        | Code::RuleAsk
        | Code::RuleAskFresh
        | Code::FloorRequired
        | Code::SecretBound
        // Of what ran and is withheld: see `endings`.
        | Code::Unrecorded
        | Code::RedactorFailed
        | Code::ResultRedacted => return None,
        Code::ModeRefused => {
            let dream = bench.session(1, Mode::Dream, 1);
            bench.executor.invoke(&dream, proposal("lab.act_read_local", &json!({ "behaviour": "answer" }))).await
        }
        Code::SessionEnded => {
            bench.session.end();
            bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await
        }
        Code::UnknownCapability => bench.invoke("lab.act_read_locals", &json!({ "behaviour": "answer" })).await,
        Code::SelectionMissing => called(&bench, "lab-act_read_local", r#"{"behaviour":"answer"}"#).await,
        Code::OperationMalformed => called(&bench, "tool_search", "{}").await,
        Code::SelectionStale => {
            let digest = "00000000000000000000000000000000".parse().expect("32 digits");
            let stale = proposal("lab.act_read_local", &json!({ "behaviour": "answer" })).selected(digest);
            bench.executor.invoke(&bench.session, stale).await
        }
        Code::ArgumentsTooLarge => raw(&vec![b' '; 10 << 20]).await,
        Code::ArgumentsMalformed => raw(b"{\"behaviour\":").await,
        Code::DuplicateKey => raw(br#"{"behaviour":"answer","behaviour":"answer"}"#).await,
        Code::TooDeep => raw(format!("{}{}", "[".repeat(200), "]".repeat(200)).as_bytes()).await,
        Code::ControlCharacter => raw(br#"{"behaviour":"answer","text":"a\u0000b"}"#).await,
        Code::NotAnObject => raw(b"[1]").await,
        Code::SchemaViolation => raw(br#"{"behaviour":"answer","confirmed":true}"#).await,
        Code::ArgumentRefused => bench.invoke("lab.typed", &json!({ "text": "odd" })).await,
        Code::CheckRefused => bench.invoke("lab.checked", &json!({ "from": 2, "to": 1 })).await,
        Code::ClaimsTooLarge => {
            let large = crate::fixtures::bench::claims(&"x".repeat(1025), "");
            let proposal = proposal("lab.act_read_local", &json!({ "behaviour": "answer" })).with_claims(large);
            bench.executor.invoke(&bench.session, proposal).await
        }
        Code::SchemaFault => bench.invoke("lab.faulty_schema", &json!({ "text": "ab" })).await,
        Code::IsolationUnavailable => {
            bench.runner.unisolated.store(true, Ordering::SeqCst);
            bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await
        }
        Code::PrepareFailed => bench.invoke("lab.edit", &json!({ "preview": "fail" })).await,
        Code::PrepareTimedOut => bench.invoke("lab.edit", &json!({ "preview": "hang" })).await,
        Code::PreparePanicked => bench.invoke("lab.edit", &json!({ "preview": "panic" })).await,
        Code::Locked => bench.invoke("lab.locked", &json!({})).await,
        Code::Undeclared => {
            let session = bench.declaring(&["lab.asks"]);
            bench.executor.invoke(&session, proposal("lab.act_read_local", &json!({ "behaviour": "answer" }))).await
        }
        Code::ManifestDeny => {
            let session = bench.with_manifest(Declarations::everything().demanding(Vec::new(), Some(Demand::Deny)));
            bench.executor.invoke(&session, proposal("lab.act_read_local", &json!({ "behaviour": "answer" }))).await
        }
        Code::PlanMode => {
            let plan = bench.session(1, Mode::Plan, 1);
            bench.executor.invoke(&plan, proposal("lab.act_write_local", &json!({ "behaviour": "answer" }))).await
        }
        Code::OptInOff | Code::OptInDamaged => {
            bench.switch.set(if code == Code::OptInOff { OptIn::Off } else { OptIn::Damaged });
            bench.invoke("lab.act_read_external", &json!({ "behaviour": "answer" })).await
        }
        Code::RuleDeny => {
            bench.rules("[[rule]]\nid = \"no\"\neffect = \"deny\"\nreason = \"not here\"\n");
            bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await
        }
        Code::Delegation => {
            let child = bench.acting_for(&bench.declaring(&["lab.asks"]));
            bench.executor.invoke(&child, proposal("lab.act_read_local", &json!({ "behaviour": "answer" }))).await
        }
        Code::TargetUnjudged => {
            bench.rules("[[rule]]\nid = \"ask\"\neffect = \"ask\"\ntarget = { host = \"example.com\" }\n");
            bench.invoke("lab.order", &json!({ "to": "somebody", "count": 1 })).await
        }
        Code::ClockUnjudged => {
            bench.rules("[[rule]]\nid = \"ask\"\neffect = \"ask\"\nwhen = { days = [\"mon\"], tz = \"UTC\" }\n");
            bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await
        }
        Code::GuardHigh | Code::GuardBlock | Code::OutsideWorkspace | Code::SensitivePath | Code::ProtectedPath => {
            let concern = Concern::ALL.into_iter().find(|concern| concern.code() == code).expect("one has it");
            bench.world().set_raise(Some(Raise::deny(concern)));
            bench.invoke("lab.look", &json!({})).await
        }
        Code::SecretUnbound => {
            bench.world().set_secrets(&[("DEPLOY_TOKEN", "absent")]);
            bench.invoke("lab.look", &json!({})).await
        }
        Code::DefaultDeny => bench.invoke("lab.denies", &json!({})).await,
        Code::MissingRuntimeBinding => bench.invoke("lab.needs_service", &json!({})).await,
        Code::UnknownTool
        | Code::UnsupportedCapability
        | Code::ProviderOffline
        | Code::ToolQuarantined
        | Code::ToolNotTaken
        | Code::FallbackDisabled => {
            let (bench, outcome) = of_a_provider(code).await;
            return Some(Case::fresh(bench, outcome));
        }
        Code::TurnCap => {
            bench.pending("lab.once", &json!({})).await;
            bench.invoke("lab.once", &json!({})).await
        }
        Code::TurnTotal => {
            let bench = Bench::within(Limits { per_turn: 1, ..Limits::default() });
            let answer = json!({ "behaviour": "answer" });
            bench.pending("lab.act_write_local", &answer).await;
            let outcome = bench.invoke("lab.act_read_local", &answer).await;
            return Some(Case::fresh(bench, outcome));
        }
        Code::StoreUnavailable => {
            bench.turns.manners.break_down(true);
            bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await
        }
        Code::ApprovalUnknown => bench.resume(ApprovalId::from_bytes([9; 16])).await,
        Code::ApprovalMismatch => {
            bench.world().set_preview("as shown");
            let id = bench.pending("lab.edit", &json!({})).await;
            bench.approve(id).await;
            bench.world().set_preview("as it became");
            bench.resume(id).await
        }
        Code::ApprovalConsumed => {
            let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
            bench.approve(id).await;
            let _ = bench.resume(id).await;
            let outcome = bench.resume(id).await;
            return Some(Case { bench, outcome, ran: 1, effects: 1 });
        }
        Code::ApprovalAnswered => {
            let id = bench.pending("lab.edit", &json!({ "text": "a" })).await;
            // Somebody answers while the changed call is looked at.
            let (approvals, operator) = (std::sync::Arc::clone(&bench.approvals), bench.operator());
            bench.world().on_preview(move || {
                let (now, answer) = (Timestamp::from_micros(0), Answer::Deny { reason: None, note: None });
                drop(approvals.kept.answer(id, answer, operator.name(), now));
            });
            let changed = bench.executor.edit(&bench.operator(), &bench.session, id, r#"{"text":"b"}"#).await;
            changed.expect("it waited when it was looked for").outcome
        }
        Code::DenialLoop => {
            for _ in 0..3 {
                let id = bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
                bench.deny(id, None).await;
            }
            bench.invoke("lab.act_write_local", &json!({ "behaviour": "answer" })).await
        }
        Code::TooManyPending => {
            for _ in 0..capability_core::store::MAX_PENDING_PER_SUBJECT {
                bench.pending("lab.act_write_local", &json!({ "behaviour": "answer" })).await;
            }
            bench.invoke("lab.act_write_local", &json!({ "behaviour": "answer" })).await
        }
        Code::RunnerSaturated => {
            bench.runner.at_run.store(true, Ordering::SeqCst);
            bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await
        }
        Code::AuditUnavailable => {
            bench.tape.take(Taking::FailsOnce(0));
            bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await
        }
    };
    Some(Case::fresh(bench, outcome))
}

/// A call that some provider would carry out.
async fn of_a_provider(code: Code) -> (Bench, Outcome) {
    let bench = Bench::providing(GrantLimits::off());
    let reach = ProviderReach::Offline("it went away");
    let edge = ProviderState {
        reach,
        carries_out: vec!["lab.act_read_local".into()],
        ..provider(ProviderType::Edge, "desk", Vec::new())
    };
    let server = |tool| provider(ProviderType::Mcp, "docs", vec![tool]);
    let found = tool("docs", "find");
    bench.supplied.put(|revision| match code {
        Code::UnsupportedCapability => ProviderSnapshot::new(revision, vec![edge]),
        Code::ProviderOffline => ProviderSnapshot::new(revision, vec![ProviderState { reach, ..server(found) }]),
        Code::ToolQuarantined => ProviderSnapshot::new(revision, vec![server(found.standing_at(Standing::Changed))]),
        // Two of one name.
        Code::ToolNotTaken => {
            ProviderSnapshot::new(revision, vec![provider(ProviderType::Mcp, "docs", vec![found.clone(), found])])
        }
        Code::FallbackDisabled => ProviderSnapshot::new(revision, vec![edge])
            .with_fallback(FallbackRules::default().with("lab.act_read_local", FallbackPolicy::Disabled)),
        _ => ProviderSnapshot::new(revision, vec![server(found)]),
    });
    let native = if code == Code::UnknownTool { "finds" } else { "find" };
    let outcome = if code == Code::FallbackDisabled {
        bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await
    } else {
        bench.invoke("lab.through", &json!({ "server": "docs", "tool": native, "arguments": { "q": "a" } })).await
    };
    (bench, outcome)
}

/// Complete by construction: `provoke` matches every code, and whatever it gives is really refused with that code.
#[tokio::test(start_paused = true)]
async fn every_code_is_given_by_a_real_call_at_its_stage_with_one_record_and_nothing_executed() {
    let mut provoked = Vec::new();
    for code in Code::ALL.iter().copied() {
        let Some(Case { bench, outcome, ran, effects }) = provoke(code).await else { continue };
        assert_eq!(outcome.code(), Some(code), "{outcome:?}");
        assert_eq!((outcome.stage(), outcome.effect()), (code.stage(), Effect::NotStarted), "{code}");
        assert!(outcome.receipt().is_some(), "{code} is recorded");
        assert!(outcome.message().is_some() && outcome.help().is_some(), "{code} is explained");
        let record = bench.last_outcome();
        assert_eq!(only(&record, &["outcome", "stage", "code", "effect"]), refusal(code), "{code}");
        assert_eq!(only(&record, &["isolation", "deadline", "result_bytes"]), json!({}), "{code}: nothing ran");
        let with_code = bench.outcomes().iter().filter(|event| event["code"] == code.as_str()).count();
        assert_eq!(with_code, 1, "{code}: one record");
        assert!(bench.outcomes_per_invocation().iter().all(|outcomes| *outcomes == 1), "{code}");
        assert_eq!(bench.world().ran(), ran, "{code}: nothing executed");
        assert_eq!(bench.world().effects().len(), effects, "{code}: nothing was changed");
        provoked.push(code);
    }
    let reasons = [
        Code::Clear,
        Code::DefaultAsk,
        Code::ManifestAsk,
        Code::RuleAsk,
        Code::RuleAskFresh,
        Code::FloorRequired,
        Code::SecretBound,
    ];
    let withheld = [Code::Unrecorded, Code::RedactorFailed, Code::ResultRedacted];
    let is_refusal = |code: &Code| !reasons.contains(code) && !withheld.contains(code);
    let expected: Vec<_> = Code::ALL.iter().copied().filter(is_refusal).collect();
    assert_eq!(provoked, expected);
}

/// Reasons that refuse nothing stand where they belong: in the decision.
#[tokio::test]
async fn reasons_to_ask_and_to_pass_stand_in_the_policy_decision() {
    let bench = Bench::new();
    bench.pending("lab.asks", &json!({})).await;
    let decision = &bench.events()[0];
    let said = decision["contributions"].as_array().expect("a list");
    let of = |who: &str| said.iter().find(|one| one["contributor"] == who).expect("it contributes")["code"].clone();
    assert_eq!((of("operator_rules"), of("floor")), (json!("default_ask"), json!("clear")));
    bench.pending("lab.act_read_external", &json!({ "behaviour": "answer" })).await;
    let said = bench.events()[2]["contributions"].clone();
    assert_eq!(said[5], json!({ "contributor": "floor", "verdict": "ask_fresh", "code": "floor_required" }));
}

/// Two mistakes in one call: the earlier stage answers, so a later one is never a side channel.
#[tokio::test]
async fn an_earlier_stage_refuses_before_a_later_one() {
    let bench = Bench::new();
    bench.switch.set(OptIn::Off);
    let nobody = bench.declaring(&[]);
    let ask = async |session, name: &str, arguments: &str| {
        bench.executor.invoke(session, Proposal::new(name, 1, arguments)).await.code()
    };
    let dream = bench.session(1, Mode::Dream, 1);
    let cases = [
        (&dream, "lab.nothing", "[", Code::ModeRefused),
        (&nobody, "lab.nothing", "[", Code::UnknownCapability),
        (&nobody, "lab.act_write_external", "[", Code::ArgumentsMalformed),
        (&nobody, "lab.locked", "{\"x\":1}", Code::SchemaViolation),
        (&nobody, "lab.locked", "{}", Code::Locked),
        (&nobody, "lab.act_write_external", r#"{"behaviour":"answer"}"#, Code::Undeclared),
        (&bench.session, "lab.needs_service", "{}", Code::OptInOff),
    ];
    for (session, name, arguments, code) in cases {
        assert_eq!(ask(session, name, arguments).await, Some(code), "{name} {arguments}");
    }
    assert_eq!(bench.world().ran(), 0);
}

/// `runner_saturated` can come from either half of a runner, and means the same; the record says how far the call had come.
#[tokio::test]
async fn a_runner_without_room_starts_nothing_at_either_half() {
    for at_prepare in [true, false] {
        let bench = Bench::new();
        if at_prepare { &bench.runner.at_prepare } else { &bench.runner.at_run }.store(true, Ordering::SeqCst);
        let outcome = bench.invoke("lab.act_read_local", &json!({ "behaviour": "answer" })).await;
        assert_eq!((outcome.code(), outcome.effect()), (Some(Code::RunnerSaturated), Effect::NotStarted));
        let stage = if at_prepare { Stage::Validate } else { Stage::Execute };
        assert_eq!((outcome.stage(), &bench.last_outcome()["stage"]), (stage, &json!(stage)));
        assert_eq!(bench.world().ran(), 0);
    }
}

/// What is refused for good names what would help.
#[tokio::test]
async fn refusals_name_the_family_and_the_handles() {
    let bench = Bench::new();
    let unbound = bench.invoke("lab.needs_service", &json!({})).await;
    let message = unbound.message().expect("a sentence").into_owned();
    assert!(message.contains("`endpoint<nowhere>`"), "{message}");
    bench.bindings.bind_endpoints(true);
    bench.switch.set(OptIn::Off);
    let off = bench.invoke("lab.needs_service", &json!({})).await;
    assert_eq!(off.message().as_deref(), Some("the `lab` family reaches outside the device and is off"));
    assert_eq!(off.help().as_deref(), Some("an operator turns it on with `capability optin set lab on`"));
}
