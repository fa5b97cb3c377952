//! What a thousand tools of providers cost: finding one, resolving a call of one, and deciding about all of them.
//!
//! `cargo bench -p capability-core --bench decisions` prints a table, all of it measured in one run. With
//! `-- --count VARIANT N` it runs one variant N times and nothing else, for an instruction counter.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that goes wrong stops, and what it prints is its result"
)]

#[expect(dead_code, reason = "this benchmark uses some of it")]
mod support;

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use capability_core::handle::{BrokerFault, McpServers, ProviderTool, ToolReply};
use capability_core::provider::{
    Claims, ForeignArguments, ProvidedTool, ProviderReach, ProviderSnapshot, ProviderState, ProviderType, Providers,
    ToolDefinition, ToolId, Whose,
};
use capability_core::surface::{Surface, SurfaceOptions};
use capability_core::{Failure, Proposal, Session, capability};
use serde_json::json;
use support::Bench;
use support::calls::ADD;

/// Leads to a provider's tool.
#[capability(
    crate = ::capability_core,
    name = "mcp.call",
    version = 1,
    side_effect = mutating,
    network = external,
    scope = server,
    target = text(tool)
)]
async fn through(
    provider: &ProviderTool<McpServers>,
    server: String,
    tool: String,
    arguments: ForeignArguments,
) -> Result<ToolReply, Failure> {
    let _ = (server, tool, arguments);
    provider.call().await.map_err(BrokerFault::into_public)
}

const SERVERS: usize = 10;
const TOOLS: usize = 100;

struct Fixed(Arc<ProviderSnapshot>);

impl Providers for Fixed {
    fn snapshot(&self) -> Arc<ProviderSnapshot> {
        Arc::clone(&self.0)
    }
}

fn snapshot() -> Arc<ProviderSnapshot> {
    let tool = |server: &str, at: usize| {
        ProvidedTool::new(ToolDefinition {
            id: ToolId { provider: server.to_owned(), native: format!("tool_{at}") },
            title: None,
            description: "Looks something up.".to_owned(),
            input_schema: json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": ["q"] }),
            output_schema: None,
            claims: Claims::default(),
        })
    };
    let states = (0..SERVERS).map(|at| {
        let id = format!("server{at}");
        ProviderState {
            tools: (0..TOOLS).map(|at| tool(&id, at)).collect(),
            id: id.into(),
            kind: ProviderType::Mcp,
            reach: ProviderReach::Ready,
            whose: Whose::Everybody,
            credential: capability_core::provider::Credential::Everybodys,
            carries_out: Vec::new(),
        }
    });
    Arc::new(ProviderSnapshot::new(1, states.collect()))
}

struct Lab {
    without: Bench,
    with: Bench,
    snapshot: Arc<ProviderSnapshot>,
    floor: HashMap<(String, String), usize>,
}

impl Lab {
    fn new() -> Self {
        let snapshot = snapshot();
        let floor = HashMap::from([(("server7".to_owned(), "tool_42".to_owned()), 1)]);
        Self { without: Bench::new(), with: Bench::with(Arc::new(Fixed(Arc::clone(&snapshot)))), snapshot, floor }
    }

    fn run(&self, variant: &str, session: &Session) {
        match variant {
            "look-up in a map of one" => {
                // A map of pairs of texts is asked by a pair of texts.
                let key = (black_box("server7").to_owned(), black_box("tool_42").to_owned());
                black_box(self.floor.get(&key)).unwrap();
            }
            "find one of 1000 tools" => {
                let found = self.snapshot.tool(
                    ProviderType::Mcp,
                    black_box("server7"),
                    black_box("tool_42"),
                    session.identity(),
                );
                black_box(found).unwrap();
            }
            "resolve, no providers" => resolve(&self.without, session, Proposal::new("bench.add", 1, ADD)),
            "resolve, 1000 tools beside it" => resolve(&self.with, session, Proposal::new("bench.add", 1, ADD)),
            "resolve one of 1000 tools" => resolve(
                &self.with,
                session,
                Proposal::new("mcp.call", 1, r#"{"arguments":{"q":"a"},"server":"server7","tool":"tool_42"}"#),
            ),
            "decide about 1000 tools" => {
                let decisions = self.with.executor.decisions(session);
                assert!(black_box(decisions).iter().len() >= SERVERS * TOOLS);
            }
            "decide about one of them by its name" => {
                let name = black_box("mcp-server7--tool_42");
                let decisions = self.with.executor.decisions_called(session, name);
                assert!(black_box(&decisions).by_tool_name(name).is_some());
            }
            "a call by a name, through a surface" => {
                let options = SurfaceOptions { every_compiled: true, ..SurfaceOptions::default() };
                let called = Surface::called(&self.with.executor, session, &options, black_box("bench-add"), ADD);
                assert!(black_box(called).tool.is_some());
            }
            other => panic!("no variant `{other}`"),
        }
    }
}

fn resolve(bench: &Bench, session: &Session, proposal: Proposal) {
    let Some(proposed) = bench.executor.enter_for_measurement(session, proposal) else { panic!("it enters") };
    let Ok(resolved) = proposed.resolve() else { panic!("it resolves") };
    drop(black_box(resolved));
}

const VARIANTS: [(&str, usize, usize); 8] = [
    ("look-up in a map of one", 200, 1000),
    ("find one of 1000 tools", 200, 1000),
    ("resolve, no providers", 200, 100),
    ("resolve, 1000 tools beside it", 200, 100),
    ("resolve one of 1000 tools", 200, 100),
    ("decide about 1000 tools", 30, 1),
    ("decide about one of them by its name", 200, 100),
    ("a call by a name, through a surface", 200, 100),
];

fn main() {
    let lab = Lab::new();
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == "--count") {
        let session = lab.with.session();
        for _ in 0..words[at + 2].parse::<usize>().unwrap() {
            lab.run(&words[at + 1], &session);
        }
        return;
    }
    let test = words.iter().any(|word| word == "--test");
    let mut floor = 0.0;
    for (variant, rounds, each) in VARIANTS {
        let (rounds, each) = if test { (1, 1) } else { (rounds, each) };
        let mut times: Vec<f64> = (0..rounds)
            .map(|_| {
                let session = lab.with.session();
                let begun = Instant::now();
                for _ in 0..each {
                    lab.run(variant, &session);
                }
                let taken = begun.elapsed().as_nanos() as f64 / each as f64;
                lab.with.sink.clear();
                lab.without.sink.clear();
                taken
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        if floor == 0.0 {
            floor = median;
        }
        println!("{variant:<40} {median:>12.1} ns  {:>9.2} of the floor", median / floor);
    }
}
