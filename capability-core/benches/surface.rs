//! What a surface costs at a thousand tools, as ratios to writing the same tools down.
//!
//! `cargo bench -p capability-core --bench surface` prints one line for each: the median of nine runs. The floor is
//! `serde_json` writing name, description and schema of every tool. All but a few come from providers, as it is where there are
//! so many; the search is the core's own.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    dead_code,
    reason = "a benchmark that goes wrong stops, what it prints is its result, and it needs a part of what is shared"
)]

mod support;

use std::hint::black_box;
use std::time::{Duration, Instant};

use capability_core::provider::{
    Claims, ProvidedTool, ProviderDecision, ProviderReach, ProviderState, ProviderType, ToolDefinition, ToolId, Whose,
};
use capability_core::surface::{
    Profile, SearchEntry, Surface, SurfaceCall, SurfaceOptions, ToolSearch as _, WordSearch,
};
use serde_json::json;
use support::Bench;

const RUNS: usize = 9;

fn main() {
    let tools = if std::env::args().any(|word| word == "--test") { 10 } else { 1_000 };
    let bench = Bench::new();
    let decisions = decisions(&bench, tools);
    let options = SurfaceOptions::default();
    let definitions: Vec<&ToolDefinition> = decisions.iter().filter_map(|d| d.definition.as_deref()).collect();

    let floor = median(1, || {
        let written: Vec<_> = definitions
            .iter()
            .map(|d| json!({ "name": d.id.native, "description": d.description, "inputSchema": d.input_schema }))
            .collect();
        drop(black_box(serde_json::to_string(&written).unwrap()));
    });
    let build = median(1, || drop(black_box(Surface::of(&bench.executor, &decisions, &options))));
    let made = Surface::of(&bench.executor, &decisions, &options);
    let array = median(1, || drop(black_box(made.array())));
    let facts = median(1, || drop(black_box(serde_json::to_string(&made.facts()).unwrap())));
    let openai = median(1, || drop(black_box(made.rendered(Profile::OpenAi))));
    let entries: Vec<SearchEntry<'_>> = made
        .deferred()
        .map(|tool| SearchEntry { name: tool.name().as_str(), title: "", description: tool.description() })
        .collect();
    let index = median(1, || drop(black_box(WordSearch.index(&entries).unwrap())));
    let asked = br#"{"query":"finds files by a pattern"}"#;
    assert!(matches!(made.call("tool_search", asked), SurfaceCall::Found(found) if !found.tools.is_empty()));
    let search = median(1, || drop(black_box(made.call("tool_search", asked))));
    let name = made.deferred().last().unwrap().name().to_string();
    let lookup = median(1_000, || {
        black_box(made.find(black_box(&name)));
    });

    println!("{tools} tools, {} shown in {} bytes", made.shown().count(), made.bytes());
    println!("{:<26} {:>12} {:>10}", "", "us", "x floor");
    for (what, took) in [
        ("floor: write them all", floor),
        ("build", build),
        ("array of the shown", array),
        ("facts", facts),
        ("shown, for OpenAI", openai),
        ("index for the search", index),
        ("one search", search),
        ("one name", lookup),
    ] {
        let us = took.as_secs_f64() * 1e6;
        println!("{what:<26} {us:>12.2} {:>10.4}", us / (floor.as_secs_f64() * 1e6));
    }
}

/// The compiled capabilities, and so many tools of ten servers.
fn decisions(bench: &Bench, tools: usize) -> Vec<ProviderDecision> {
    let entries = || bench.executor.registry().iter().map(|held| held.entry());
    let compiled: Vec<ProviderDecision> = entries().map(|entry| ProviderDecision::compiled(entry, true)).collect();
    let through = entries().next().unwrap();
    let foreign = (0..tools).map(|at| {
        let definition = ToolDefinition {
            id: ToolId { provider: format!("server{}", at % 10), native: format!("tool_{at}") },
            title: None,
            description: format!(
                "Finds files by a pattern, number {at}. It looks below one folder and follows no link."
            ),
            input_schema: json!({
                "type": "object", "required": ["pattern"], "additionalProperties": false,
                "properties": {
                    "pattern": { "type": "string", "description": "What their names are like.", "maxLength": 200 },
                    "folder": { "type": "string", "description": "Below which folder." },
                    "limit": { "type": "integer", "minimum": 1, "maximum": 1000 },
                },
            }),
            output_schema: None,
            claims: Claims::default(),
        };
        let state = ProviderState {
            id: definition.id.provider.as_str().into(),
            kind: ProviderType::Mcp,
            reach: ProviderReach::Ready,
            whose: Whose::Everybody,
            tools: Vec::new(),
            credential: capability_core::provider::Credential::Everybodys,
            carries_out: Vec::new(),
        };
        ProviderDecision::of_provided(through, &state, &ProvidedTool::new(definition))
    });
    let foreign: Vec<ProviderDecision> = foreign.collect();
    compiled.into_iter().chain(foreign).collect()
}

/// The median of some runs of so many times each, for once.
fn median(times: u32, mut once: impl FnMut()) -> Duration {
    let mut took: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let from = Instant::now();
            for _ in 0..times {
                once();
            }
            from.elapsed() / times
        })
        .collect();
    took.sort_unstable();
    took.get(RUNS / 2).copied().unwrap_or_default()
}
