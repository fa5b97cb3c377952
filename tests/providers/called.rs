//! One tool by its name: decided by itself as it is among all of them, and called as the whole surface would call it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use capability_core::approval::GrantLimits;
use capability_core::handle::HandleFamily;
use capability_core::policy::OptIn;
use capability_core::provider::{Decisions, ProviderReach, ProviderState, ProviderType, Standing, Whose};
use capability_core::session::{Declarations, Mode, SessionId};
use capability_core::surface::{
    Called, INVOKE_TOOL, SearchEntry, SearchFault, Surface, SurfaceCall, SurfaceOptions, Surfaces, TOOL_SEARCH,
    ToolIndex, ToolSearch, WireName, WordSearch,
};
use capability_core::{Outcome, Session};
use serde_json::json;

use crate::fixtures::Bench;
use crate::fixtures::bench::identity;
use crate::fixtures::providers::{provider, tool};

/// Providers with every kind of name, some for one session only.
fn bench() -> Bench {
    let bench = Bench::providing(GrantLimits::off());
    let odd = ["find", "find it", "x--y", "-x", "\u{e9}", "a-0123456789ab", "changed"];
    let long = "n".repeat(100);
    let mcp = |id: &str, tools| provider(ProviderType::Mcp, id, tools);
    bench.supplied.set(vec![
        mcp(
            "docs",
            odd.into_iter()
                .chain([long.as_str()])
                .map(|native| {
                    let one = tool("docs", native);
                    if native == "changed" { one.standing_at(Standing::Changed) } else { one }
                })
                .collect(),
        ),
        mcp("docs-2", vec![tool("docs-2", "find")]),
        ProviderState { reach: ProviderReach::Offline("it went away"), ..mcp("gone", vec![tool("gone", "find")]) },
        ProviderState {
            whose: Whose::Session(SessionId::from_bytes([1; 16])),
            ..mcp("own", vec![tool("own", "find")])
        },
        ProviderState {
            whose: Whose::Session(SessionId::from_bytes([9; 16])),
            ..mcp("theirs", vec![tool("theirs", "find")])
        },
        provider(ProviderType::Relay, "docs", vec![tool("docs", "find")]),
    ]);
    bench
}

/// Every name that a tool has, could have, or nearly has.
fn names(bench: &Bench, decisions: &Decisions) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = decisions.iter().map(|decision| decision.tool_name.to_string()).collect();
    for held in bench.executor.registry().iter() {
        let (name, version) = (held.entry().name(), held.entry().version());
        names.insert(WireName::of_capability(name).to_string());
        names.insert(WireName::of_version(name, version).to_string());
        names.insert(name.as_str().to_owned());
    }
    let near = names.clone();
    names.extend(near.iter().map(|name| format!("{name}-v3")));
    names.extend(near.iter().map(|name| name.to_uppercase()));
    names.extend(["", "-", "mcp-docs--", "mcp-docs--nothing", "mcp-theirs--find", "mcp", "tool"].map(str::to_owned));
    names
}

/// The same sessions in one turn or another.
fn sessions(bench: &Bench, turn: u64) -> Vec<Session> {
    let narrow = ["lab.asks", "lab.act_read_local", "lab.scoped:docs", "mcp.call:docs"];
    let only = |listed: &[&str]| Declarations::only(listed.iter().map(|text| text.parse().unwrap()).collect());
    [
        (Mode::Live, Declarations::everything()),
        (Mode::Plan, Declarations::everything()),
        (Mode::Dream, Declarations::everything()),
        (Mode::Live, only(&narrow)),
        (Mode::Live, only(&[])),
    ]
    .into_iter()
    .map(|(mode, declared)| bench.mint.open(identity(&bench.subject, 1, mode, turn), declared))
    .collect()
}

#[tokio::test]
async fn one_is_decided_as_among_all_of_them() {
    let mut seen = BTreeSet::new();
    for opt_in in [OptIn::On, OptIn::Off] {
        let bench = bench();
        bench.switch.set(opt_in);
        bench.bindings.unbind(HandleFamily::Secret);
        for session in sessions(&bench, 1) {
            let all = bench.executor.decisions(&session);
            for name in names(&bench, &all) {
                let some = bench.executor.decisions_called(&session, &name);
                let (found, among) = (some.by_tool_name(&name), all.by_tool_name(&name));
                assert_eq!(found.is_some(), among.is_some(), "{name}");
                let Some((found, among)) = found.zip(among) else { continue };
                assert!(found.is_of_the_same(among), "{name}");
                let told = |one: &capability_core::provider::ProviderDecision| {
                    (one.tool_name.clone(), one.admission_status, one.code(), one.class, one.route)
                };
                assert_eq!(told(found), told(among));
                // Nothing else was decided on the way but other versions of it.
                assert!(some.iter().len() <= 2, "{name}: {some:?}");
                seen.insert((found.definition.is_some(), format!("{:?}", found.admission_status)));
            }
        }
    }
    assert!(seen.len() >= 5, "{seen:?}");
}

/// What became of it: the refusal, the search's answer, or what the executor made of the proposal.
async fn became(bench: &Bench, session: &Session, call: SurfaceCall) -> String {
    match call {
        SurfaceCall::Proposal(proposal) => {
            let outcome: Outcome = bench.executor.invoke(session, proposal).await;
            let ran = outcome.provider().map(|ran| (ran.provider_id.to_string(), ran.native_id.to_string()));
            format!("{:?}", (outcome.kind(), outcome.stage(), outcome.code(), ran))
        }
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn a_call_by_name_is_the_one_that_the_whole_surface_would_make() {
    let bench = bench();
    let pinned: BTreeSet<String> = ["mcp-docs--find", "lab.who"].map(str::to_owned).into();
    let mut kinds = std::collections::HashSet::new();
    for every_compiled in [true, false] {
        let options = SurfaceOptions { pinned: pinned.clone(), every_compiled, ..SurfaceOptions::default() };
        for which in 0..sessions(&bench, 1).len() {
            // A turn for each call: what one used up stands in nobody's way.
            let mut turn = 0;
            let mut next = || {
                turn += 1;
                sessions(&bench, turn).swap_remove(which)
            };
            let session = next();
            let whole = Surface::of_session(&bench.executor, &session, &options);
            let mut calls: Vec<(String, String)> = vec![
                (TOOL_SEARCH.into(), json!({ "query": "find" }).to_string()),
                (TOOL_SEARCH.into(), "{}".into()),
                (INVOKE_TOOL.into(), "{}".into()),
            ];
            // Where not all that want to be shown fit, such a call takes the whole surface: every seventh name is enough for that.
            let step = if every_compiled { 1 } else { 7 };
            for name in names(&bench, &bench.executor.decisions(&session)).into_iter().step_by(step) {
                let digest = whole.find(&name).and_then(|tool| tool.selection(bench.executor.registry()));
                let digest = digest.map_or_else(|| "0".repeat(32), |digest| digest.to_string());
                let through = json!({ "tool": name, "digest": digest, "arguments": {} });
                calls.push((INVOKE_TOOL.into(), through.to_string()));
                calls.push((name, "{}".into()));
            }
            for (name, arguments) in calls {
                let Called { call, tool } =
                    Surface::called(&bench.executor, &session, &options, &name, arguments.as_bytes());
                kinds.insert(core::mem::discriminant(&call));
                let own = became(&bench, &next(), call).await;
                let other = became(&bench, &next(), whole.call(&name, arguments.as_bytes())).await;
                assert_eq!(own, other, "{name} {arguments}");
                let meant = serde_json::from_str::<serde_json::Value>(&arguments).unwrap();
                let meant = if name == INVOKE_TOOL { meant["tool"].as_str().unwrap_or_default() } else { &name };
                let (found, among) = (tool.map(|tool| tool.key().clone()), whole.find(meant).map(|tool| tool.key()));
                assert_eq!(found.as_ref(), among, "{name} {arguments}");
            }
        }
    }
    assert_eq!(kinds.len(), 2);
}

/// Counts how often something is made to be searched in, and says that it cannot be where that is asked for.
#[derive(Default)]
struct Counting {
    made: AtomicUsize,
    fails: AtomicBool,
}

impl ToolSearch for &'static Counting {
    fn index(&self, entries: &[SearchEntry<'_>]) -> Result<Box<dyn ToolIndex>, SearchFault> {
        self.made.fetch_add(1, SeqCst);
        if self.fails.load(SeqCst) {
            return Err(SearchFault);
        }
        WordSearch.index(entries)
    }
}

/// One search builds what the next one searches in, until anything is decided differently: what is gone is not found, and
/// nobody finds what is another one's.
#[tokio::test]
async fn what_a_search_builds_is_kept_until_a_decision_changes() {
    let counting: &'static Counting = Box::leak(Box::default());
    let bench = Bench::providing(GrantLimits::off());
    let options = SurfaceOptions { search: Arc::new(counting), ..SurfaceOptions::default() };
    let surfaces = Surfaces::new(bench.executor.clone(), options);
    let docs = |reach, tools| ProviderState { reach, ..provider(ProviderType::Mcp, "docs", tools) };
    let tool = |native: &str| tool("docs", native);
    let found = |session: &Session| match surfaces
        .called(session, TOOL_SEARCH, br#"{"query":"looks something up","limit":10}"#)
        .call
    {
        SurfaceCall::Found(answer) => {
            answer.tools.iter().filter(|tool| tool.provider.is_some()).map(|tool| tool.name.clone()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let made = || counting.made.load(SeqCst);
    let (find, list) = ("mcp-docs--find".to_owned(), "mcp-docs--list".to_owned());

    bench.supplied.set(vec![docs(ProviderReach::Ready, vec![tool("find"), tool("list")])]);
    assert_eq!(found(&bench.session), [find.clone(), list.clone()]);
    // The same again is the same, whoever asks and however often the same is put in place of itself.
    let other = bench.session(2, Mode::Live, 1);
    assert_eq!((found(&other), found(&bench.session).len(), made()), (vec![find.clone(), list.clone()], 2, 1));

    // One tool went away: the next search does not find it.
    bench.supplied.set(vec![docs(ProviderReach::Ready, vec![tool("find")])]);
    assert_eq!((found(&bench.session), made()), (vec![find.clone()], 2));
    // One is out of use, or its provider is: it is found, and what stands against it is said.
    let available = || match surfaces.called(&bench.session, TOOL_SEARCH, br#"{"query":"mcp-docs--find"}"#).call {
        SurfaceCall::Found(answer) => answer.tools[0].availability.is_none(),
        other => panic!("{other:?}"),
    };
    assert!(available());
    bench.supplied.set(vec![docs(ProviderReach::Ready, vec![tool("find").standing_at(Standing::Changed)])]);
    assert!(!available());
    bench.supplied.set(vec![docs(ProviderReach::Offline("it went away"), vec![tool("find")])]);
    assert!(!available());
    // Who does not declare it finds nothing of it, and what is one session's is found by no other one.
    assert_eq!(found(&bench.declaring(&["lab.asks"])), [] as [String; 0]);
    let own = ProviderState {
        whose: Whose::Session(other.identity().id),
        ..docs(ProviderReach::Ready, vec![tool("find"), tool("list")])
    };
    bench.supplied.set(vec![own]);
    assert_eq!((found(&other).len(), found(&bench.session).len()), (2, 0));
    // In another mode other things stand against the same tools.
    let before = made();
    let planning = bench.session(3, Mode::Plan, 1);
    assert_eq!((found(&planning).len(), made()), (0, before + 1));

    // What could not be made is made by whoever asks next.
    counting.fails.store(true, SeqCst);
    bench.supplied.set(vec![docs(ProviderReach::Ready, vec![tool("list")])]);
    let search = || surfaces.called(&bench.session, TOOL_SEARCH, br#"{"query":"list"}"#).call;
    assert!(matches!(search(), SurfaceCall::Faulted(_)));
    counting.fails.store(false, SeqCst);
    assert!(matches!(search(), SurfaceCall::Found(_)));
}
