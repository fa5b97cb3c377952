//! A capability of this build that a provider carries out: by the tool that was judged, with the credential that was judged, and in
//! that provider's words.

use std::sync::{Arc, Mutex};

use capability_core::approval::{ApprovalStatus, GrantLimits};
use capability_core::audit::OutcomeKind as Kind;
use capability_core::contract::Class;
use capability_core::handle::{ToolContent, ToolReply};
use capability_core::observation::Trust;
use capability_core::provider::{
    Carries, Credential, ExplicitBinding, FallbackPolicy, FallbackRules, ProvidedTool, ProviderReach, ProviderSnapshot,
    ProviderState, ProviderType, Standing, ToolDefinition, Whose,
};
use capability_core::store::{Approvals as _, MemoryResults, Results as _};
use capability_core::{Code, Stage, Timestamp};
use serde_json::{Value, json};

use crate::fixtures::Bench;
use crate::fixtures::providers::{definition, provider, tool};

const READS: &str = "lab.act_read_local";

fn call() -> Value {
    json!({ "behaviour": "answer" })
}

/// A server of the bench's session that carries a capability out by its tool `find`.
fn server(bench: &Bench, tools: Vec<ProvidedTool>) -> ProviderState {
    ProviderState {
        whose: Whose::Session(bench.session.identity().id),
        carries_out: vec![Carries { capability: READS.into(), by: Some("find".into()) }],
        ..provider(ProviderType::Mcp, "docs", tools)
    }
}

/// What was sent to whom: the tool, and its definition.
type Sent = Arc<Mutex<Vec<(String, [u8; 32])>>>;

fn bench() -> (Bench, Sent) {
    let (bench, sent) = (Bench::providing(GrantLimits::off()), Sent::default());
    let noted = Arc::clone(&sent);
    bench.supplied.carry_out(move |decision, _| {
        let (native, digest) = decision.carried_by().expect("it is carried out by a tool");
        noted.lock().unwrap().push((native.to_owned(), *digest));
        Ok(json!({ "text": "found" }))
    });
    bench.supplied.set(vec![server(&bench, vec![tool("docs", "find"), tool("docs", "drop")])]);
    (bench, sent)
}

/// The same tool in other words.
fn other() -> ToolDefinition {
    ToolDefinition { description: "Sends it all away.".to_owned(), ..definition("docs", "find") }
}

/// Nothing that an operator accepts afterwards runs on what was answered before: not another definition, not the same one accepted
/// anew, and not another tool.
#[tokio::test]
async fn an_answer_is_for_the_very_tool_that_carries_a_capability_out() {
    let (bench, sent) = bench();
    let id = bench.pending(READS, &call()).await;
    let shown = bench.found(id).await.expect("it is filed").filed.expect("it has its content").approval;
    assert_eq!(shown.provider.map(|own| own.to_string()).as_deref(), Some("mcp `docs`, by its tool `find`"));
    bench.approve(id).await;
    let accepted = ProvidedTool::new(other());
    let anew = tool("docs", "find").accepted_at(Timestamp::from_micros(7));
    let mut by_another = server(&bench, vec![tool("docs", "find"), tool("docs", "drop")]);
    by_another.carries_out = vec![Carries { capability: READS.into(), by: Some("drop".into()) }];
    for state in [server(&bench, vec![accepted]), server(&bench, vec![anew]), by_another] {
        bench.supplied.set(vec![state]);
        let outcome = bench.resume(id).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Confirm, Some(Code::ApprovalMismatch)), "{outcome:?}");
        let last = bench.last_outcome();
        assert_eq!((&last["code"], &last["effect"]), (&json!("approval_mismatch"), &json!("not_started")));
    }
    assert_eq!(*sent.lock().unwrap(), []);
    // None of that used it up, and for what it was given it counts.
    assert_eq!(bench.approvals.kept.find(id).await.unwrap().unwrap().summary.status, ApprovalStatus::Approved);
    bench.supplied.set(vec![server(&bench, vec![tool("docs", "find")])]);
    assert_eq!(bench.resume(id).await.kind(), Kind::Executed);
    assert_eq!(*sent.lock().unwrap(), [("find".to_owned(), definition("docs", "find").digest())]);
}

/// A tool that is out of use carries nothing out, nobody is asked about it, and what was answered for it waits.
#[tokio::test]
async fn a_tool_that_is_out_of_use_carries_nothing_out() {
    let (bench, sent) = bench();
    let id = bench.pending(READS, &call()).await;
    bench.approve(id).await;
    for (tools, code) in [
        (vec![tool("docs", "find").standing_at(Standing::Changed)], Code::ToolQuarantined),
        (vec![tool("docs", "find"), tool("docs", "find")], Code::ToolNotTaken),
        (vec![tool("docs", "drop")], Code::ProviderOffline),
    ] {
        bench.supplied.set(vec![server(&bench, tools.clone())]);
        for outcome in [bench.invoke(READS, &call()).await, bench.resume(id).await] {
            assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(code)), "{outcome:?}");
            assert_eq!(outcome.approval(), None);
        }
        // Who stands in for it is told why.
        bench.supplied.put(|revision| {
            ProviderSnapshot::new(revision, vec![server(&bench, tools)])
                .with_fallback(FallbackRules::default().with(READS, FallbackPolicy::Approved))
        });
        let outcome = bench.invoke(READS, &call()).await;
        assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?}");
        assert!(outcome.notice().is_some_and(|told| told.starts_with("`docs` cannot carry it out (")), "{outcome:?}");
    }
    assert_eq!(*sent.lock().unwrap(), []);
}

/// What is answered by another tool than was judged, or with another credential, is not given.
#[tokio::test]
async fn what_changes_while_it_answers_delivers_nothing() {
    type Change = fn(&mut ProviderState);
    let changes: [Change; 4] = [
        |state| state.tools = vec![ProvidedTool::new(other())],
        |state| state.tools = vec![tool("docs", "find").standing_at(Standing::Changed)],
        |state| state.credential = Credential::Own,
        |_| {},
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let (bench, _) = bench();
        let (supplied, state) = (Arc::clone(&bench.supplied), server(&bench, vec![tool("docs", "find")]));
        bench.supplied.carry_out(move |_, _| {
            let mut state = state.clone();
            change(&mut state);
            supplied.set(vec![state]);
            Ok(json!({ "text": "found" }))
        });
        let outcome = bench.run(READS, &call()).await;
        assert_eq!(outcome.kind() == Kind::Executed, at == 3, "{at}: {outcome:?}");
    }
}

/// One's own credential and everybody's are two, for a provider's own tool and for what it carries out: an answer is for one.
#[tokio::test]
async fn an_answer_is_for_the_credential_that_was_judged() {
    let through = json!({ "server": "docs", "tool": "find", "arguments": { "q": "a" } });
    for (name, arguments) in [(READS, call()), ("mcp.call", through)] {
        for (before, after) in [(Credential::Own, Credential::Everybodys), (Credential::Everybodys, Credential::Own)] {
            let (bench, sent) = bench();
            bench.bindings.answer_tools(|_| {
                Ok(ToolReply { content: Vec::<ToolContent>::new(), structured: None, is_error: false })
            });
            let with = |credential| {
                let state = server(&bench, vec![tool("docs", "find")]);
                bench.supplied.set(vec![ProviderState { credential, ..state }]);
            };
            with(before);
            let id = bench.pending(name, &arguments).await;
            let shown = bench.found(id).await.expect("it is filed").filed.expect("it has its content").approval;
            let told = shown.provider.expect("a provider would").to_string();
            assert_eq!(told.contains("with the subject's own credential"), before == Credential::Own, "{told}");
            bench.approve(id).await;
            with(after);
            let outcome = bench.resume(id).await;
            assert_eq!(outcome.code(), Some(Code::ApprovalMismatch), "{name} {before:?}: {outcome:?}");
            assert_eq!(*sent.lock().unwrap(), []);
            with(before);
            assert_eq!(bench.resume(id).await.kind(), Kind::Executed, "{name} {before:?}");
        }
    }
}

/// Whoever carries a capability out has written what comes back: here, and in what is kept for later.
#[tokio::test]
async fn what_others_carry_out_is_in_their_words() {
    for (kind, trust) in [
        (None, Trust::OwnDevice),
        (Some(ProviderType::Edge), Trust::OperatorEndpoint),
        (Some(ProviderType::Mcp), Trust::PublicNetwork),
        (Some(ProviderType::Relay), Trust::PublicNetwork),
    ] {
        let bench = Bench::providing(GrantLimits::off());
        let kept = Arc::new(MemoryResults::new(core::time::Duration::from_secs(60)));
        bench.executor.keep_results(Arc::clone(&kept) as _);
        bench.supplied.carry_out(|_, _| Ok(json!({ "text": "found" })));
        if let Some(kind) = kind {
            let state = ProviderState { carries_out: vec![READS.into()], ..provider(kind, "desk", vec![]) };
            let session = Some(bench.session.identity().id);
            let binding = ExplicitBinding { session, capability: READS.into(), kind, provider: "desk".into() };
            bench.supplied.put(|revision| ProviderSnapshot::new(revision, vec![state]).with_bindings([binding]));
        }
        let outcome = bench.run(READS, &call()).await;
        assert_eq!((outcome.kind(), outcome.observation().trust), (Kind::Executed, trust), "{kind:?}");
        let receipt = outcome.receipt().expect("it is on record");
        let identity = bench.session.identity();
        let again = kept.find(identity.id, &identity.subject, receipt, Timestamp::from_micros(0)).await;
        assert_eq!(again.expect("memory answers").expect("it is kept").trust, trust, "{kind:?}");
        // A failure in words of theirs is theirs as well.
        if kind.is_some() {
            bench.supplied.carry_out(|_, _| Err(capability_core::Failure::public("do as I say")));
            assert_eq!(bench.run(READS, &call()).await.observation().trust, trust, "{kind:?}");
        }
    }
}

/// What counts where a provider carries out is told with its reach: a call is judged by it.
#[tokio::test]
async fn the_class_that_counts_stands_in_the_decision_and_on_the_card() {
    let (bench, _) = bench();
    let id = bench.pending(READS, &call()).await;
    let shown = bench.found(id).await.expect("it is filed").filed.expect("it has its content").approval;
    assert_eq!(shown.class, Class::STRICTEST);
    bench.supplied.set(vec![ProviderState {
        reach: ProviderReach::Offline("it went away"),
        ..server(&bench, vec![tool("docs", "find")])
    }]);
    assert_eq!(bench.invoke(READS, &call()).await.code(), Some(Code::ProviderOffline));
}
