//! Edges as an operator configures them: what stands in for whom, who is bound, and the switch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::{BodyEnd, Outcome, Proposal};
use capability_core::handle::{BrokerFault, ToolReply};
use capability_core::provider::{
    Credential, Diagnostic, InMemoryEdge, NoProviders, ProviderDecision, ProviderReach, ProviderState, ProviderType,
    Providers as _, RemoteProvider, RemoteProviders, Whose,
};
use capability_core::{BoxFuture, Call, Code};
use capability_host::{Host, HostOptions};
use serde_json::json;

use crate::fixtures::Bench;
use crate::mcp_lab::Lab;

const READS: &str = "lab.act_read_local";
const CARRIES: &str = "[edges.desk]\ncarries_out = [\"lab.act_read_local\"]\n";

fn edge(id: &str) -> Arc<InMemoryEdge> {
    let edge = InMemoryEdge::new(ProviderType::Edge, id, None, &[READS, "lab.who"]);
    let said = id.to_owned();
    Arc::new(edge.carrying_out(move |_, _| Ok(json!({ "text": said }))))
}

async fn ask(lab: &Lab) -> Outcome {
    let session = lab.session("agent:any", &[READS]);
    lab.host().executor().invoke(&session, Proposal::new(READS, 1, json!({ "behaviour": "answer" }).to_string())).await
}

fn served(outcome: &Outcome) -> String {
    match outcome.code() {
        Some(code) => code.to_string(),
        None => outcome.provider().map_or("compiled", |decision| &*decision.provider_id).to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edge_is_known_before_it_is_there_and_serves_while_it_is_on() {
    let mut lab = Lab::new(CARRIES);
    let operator = lab.operator().await;
    assert_eq!(served(&ask(&lab).await), "provider_offline", "nothing is attached to it");
    // Only a configured name has a way in.
    assert!(!lab.host().attach_edge(edge("other")) && lab.host().attach_edge(edge("desk")));
    assert_eq!(served(&ask(&lab).await), "desk");
    let state = lab.host().edges().providers().snapshot();
    let desk = state.providers().iter().find(|state| &*state.id == "desk").unwrap();
    assert_eq!(desk.carries_out, [READS.into()], "what it offers beyond what it may is not taken");

    lab.host().switch_edge(&operator, "desk", false).await.unwrap();
    let outcome = ask(&lab).await;
    assert_eq!(
        (served(&outcome).as_str(), outcome.diagnostic()),
        ("provider_offline", Some(Diagnostic::ProviderOffline))
    );
    assert!(outcome.message().unwrap().contains("an operator has switched it off"), "{:?}", outcome.message());
    assert!(lab.host().switch_edge(&operator, "other", false).await.is_err());
    assert!(
        lab.log().contains(r#""setting":"edge","provided":{"kind":"edge","id":"desk"},"on":false"#),
        "{}",
        lab.log()
    );

    // The next host knows, and a switch that cannot be read is off.
    lab.open(CARRIES);
    assert!(lab.host().attach_edge(edge("desk")));
    assert_eq!(served(&ask(&lab).await), "provider_offline");
    lab.drop_host();
    std::fs::write(lab.data().join("edges/desk"), "perhaps\n").unwrap();
    lab.open(CARRIES);
    assert!(lab.host().attach_edge(edge("desk")));
    assert_eq!(served(&ask(&lab).await), "provider_offline");
    let operator = lab.host().operators().login("four plain words here", None).await.unwrap().0;
    lab.host().switch_edge(&operator, "desk", true).await.unwrap();
    assert_eq!(served(&ask(&lab).await), "desk");
    lab.host().edges().detach("desk");
    assert_eq!(served(&ask(&lab).await), "provider_offline");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_stands_in_is_what_the_configuration_says() {
    let with = |more: &str| Lab::new(&format!("{CARRIES}{more}"));
    let disabled = with("[fallback]\n\"lab.act_read_local\" = \"disabled\"\n");
    let outcome = ask(&disabled).await;
    assert_eq!((outcome.code(), outcome.diagnostic()), (Some(Code::FallbackDisabled), Some(Diagnostic::PolicyBlocked)));
    assert!(outcome.message().is_some() && outcome.help().is_some());

    let approved = with("[fallback]\n\"lab.act_read_local\" = \"approved\"\n");
    let outcome = ask(&approved).await;
    assert_eq!((served(&outcome).as_str(), outcome.diagnostic()), ("compiled", Some(Diagnostic::FallbackSelected)));
    assert_eq!(
        outcome.notice(),
        Some("`desk` cannot carry it out (it is not connected), so this host served in its place")
    );
    assert!(approved.log().contains("provider_fallback"), "{}", approved.log());

    // Who is bound goes before everybody else, and is replaced by nobody in silence.
    let both = format!("{CARRIES}[edges.attic]\ncarries_out = [\"lab.act_read_local\"]\n");
    for (to, by) in [("edge:desk", "desk"), ("edge:attic", "attic"), ("compiled", "compiled")] {
        let lab = Lab::new(&format!("{both}[bind]\n\"lab.act_read_local\" = \"{to}\"\n"));
        assert!(lab.host().attach_edge(edge("desk")) && lab.host().attach_edge(edge("attic")));
        assert_eq!(served(&ask(&lab).await), by, "{to}");
        if to == "edge:desk" {
            lab.host().edges().detach("desk");
            assert_eq!(served(&ask(&lab).await), "provider_offline", "{to}");
        }
    }
}

/// A provider that says whether another call was under way.
struct Meeting {
    state: ProviderState,
    under_way: Arc<AtomicUsize>,
}

impl RemoteProvider for Meeting {
    fn state(&self) -> ProviderState {
        self.state.clone()
    }

    fn revision(&self) -> u64 {
        1
    }

    fn carry_out(&self, _: &Arc<ProviderDecision>, _: &[u8], _: Call) -> BoxFuture<'static, BodyEnd> {
        let under_way = Arc::clone(&self.under_way);
        Box::pin(async move {
            let before = under_way.fetch_add(1, Ordering::SeqCst);
            // Whoever may come meanwhile comes.
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            under_way.fetch_sub(1, Ordering::SeqCst);
            BodyEnd::Result(
                json!({ "text": if before == 0 { "alone" } else { "met another" } }).to_string().into_bytes(),
            )
        })
    }

    fn call_tool(&self, _: &Arc<ProviderDecision>, _: &[u8]) -> BoxFuture<'static, Result<ToolReply, BrokerFault>> {
        Box::pin(core::future::ready(Err(BrokerFault::Unavailable)))
    }
}

#[tokio::test]
async fn what_may_change_something_is_carried_out_one_after_the_other() {
    const WRITES: &str = "lab.act_write_local";
    let state = |id: &str| ProviderState {
        id: id.into(),
        kind: ProviderType::Edge,
        reach: ProviderReach::Ready,
        whose: Whose::Everybody,
        tools: vec![],
        credential: Credential::Everybodys,
        carries_out: vec![WRITES.into(), READS.into()],
    };
    let bench = Bench::providing(capability_core::approval::GrantLimits::off());
    let remotes = Arc::new(RemoteProviders::beside(Arc::new(NoProviders)));
    assert!(!remotes.any(), "there is nobody to look for");
    remotes.add(Arc::new(Meeting { state: state("desk"), under_way: Arc::default() }));
    assert!(remotes.any());
    bench.supplied.stand_before(Arc::clone(&remotes) as _);
    let call = json!({ "behaviour": "answer" });
    let together = async |capability: &'static str| {
        let (one, other) = tokio::join!(bench.run(capability, &call), bench.run(capability, &call));
        let mut said: Vec<_> = [one, other]
            .iter()
            .map(|outcome| {
                assert_eq!(outcome.kind(), Kind::Executed, "{outcome:?}");
                serde_json::from_str::<serde_json::Value>(outcome.result().unwrap()).unwrap()["text"].clone()
            })
            .collect();
        said.sort_by_key(ToString::to_string);
        said
    };
    assert_eq!(together(WRITES).await, ["alone", "alone"]);
    assert_eq!(together(READS).await, ["alone", "met another"], "what only reads waits for nobody");
}

#[test]
fn a_line_that_can_never_count_is_a_mistake() {
    for (config, line, words) in [
        ("[edges.Desk]\n", 1, "`Desk` is no edge's name"),
        ("[edges.desk]\nurl = \"x\"\n", 2, "unknown field `url`"),
        ("[edges.desk]\nkind = \"server\"\n", 2, "unknown variant `server`"),
        ("[edges.desk]\ncarries_out = [\"lab.act_read_locl\"]\n", 2, "`lab.act_read_local` is one that it has"),
        ("[edges.desk]\ncarries_out = [\"lab.edit\"]\n", 2, "`lab.edit` is never carried out elsewhere"),
        ("[edges.desk]\ncarries_out = [\"mcp.call\"]\n", 2, "`mcp.call` is never carried out elsewhere"),
        ("[fallback]\n\"lab.who\" = \"maybe\"\n", 2, "unknown variant `maybe`"),
        ("[fallback]\n\"lab.who\" = \"approved\"\n", 2, "nobody but this host carries out `lab.who`"),
        ("[bind]\n\"lab.who\" = \"edge:desk\"\n", 2, "`edge:desk`, which is nobody here"),
        (
            "[edges.desk]\ncarries_out = [\"lab.who\"]\n[bind]\n\"lab.who\" = \"relay:desk\"\n",
            4,
            "which is nobody here",
        ),
        (
            "[edges.desk]\ncarries_out = [\"lab.who\"]\n[edges.attic]\n[bind]\n\"lab.who\" = \"edge:attic\"\n",
            5,
            "which does not carry it out",
        ),
        ("[skills]\nfolder = \"skills\"\n", 2, "`folder` does not begin at the root"),
    ] {
        let top = tempfile::tempdir().unwrap();
        let data = top.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let file = data.join("config.toml");
        std::fs::write(&file, config).unwrap();
        for (path, mode) in [(&data, 0o700), (&file, 0o600)] {
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
        let packages = &["capabilities", env!("CARGO_PKG_NAME")];
        let opened = Host::open(HostOptions { data_dir: data, packages, accept_degraded: true });
        let error = opened.err().unwrap_or_else(|| panic!("{config}")).to_string();
        assert!(error.contains(&format!("config.toml` line {line}: ")), "{config}: {error}");
        assert!(error.contains(words) && error.contains("\nhelp: "), "{config}: {error}");
    }
    // A model may write into the workspace, and no skill lies there.
    let workspace = tempfile::tempdir().unwrap();
    let config = format!(
        "[workspace]\nroot = {:?}\n[skills]\nfolder = {:?}\n",
        workspace.path(),
        workspace.path().join("skills")
    );
    std::fs::create_dir(workspace.path().join("skills")).unwrap();
    let opened = std::panic::catch_unwind(|| Lab::new(&config));
    assert!(opened.is_err(), "skills lie in the workspace");
}
