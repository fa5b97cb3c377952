//! The two calls that are measured: a small and a large one, and what each is without anything around it.

use capability_core::capability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sum of two integers.
#[capability(crate = ::capability_core, name = "bench.add", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
fn add(
    /// One.
    a: i64,
    /// Another.
    b: i64,
) -> i64 {
    a + b
}

/// A window of time.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// From when on.
    #[schemars(length(max = 40))]
    pub from: String,
    /// Until when.
    #[schemars(length(max = 40))]
    pub until: String,
    /// In which zone.
    #[schemars(length(max = 60))]
    pub zone: String,
}

/// Where to look.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// In which collection.
    #[schemars(length(max = 80))]
    pub collection: String,
    /// Below which folder.
    #[schemars(length(max = 200))]
    pub folder: String,
    /// How deep.
    #[schemars(range(max = 32))]
    pub depth: u8,
}

/// How strictly to filter.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// Not at all.
    Off,
    /// A little.
    Moderate,
    /// As much as there is.
    Strict,
}

/// The arguments of the large call.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchArguments {
    /// What to look for.
    #[schemars(length(min = 1, max = 500))]
    pub query: String,
    /// How many.
    #[schemars(range(min = 1, max = 100))]
    pub limit: u32,
    /// From which on.
    pub offset: u32,
    /// How well it must match.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_score: f64,
    /// In which languages.
    #[schemars(length(max = 8))]
    pub languages: Vec<String>,
    /// In which time.
    pub window: Window,
    /// In which place.
    pub place: Place,
    /// How strictly.
    pub filter: Filter,
    /// Whether to explain.
    pub explain: bool,
    /// From which source.
    pub source: Option<String>,
}

/// One thing that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hit {
    /// What it is called.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// What it says.
    pub snippet: String,
    /// How well it matches.
    pub score: f64,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// How much there is.
    pub total: u64,
    /// The first of it.
    pub hits: Vec<Hit>,
}

/// Looks for something.
#[capability(crate = ::capability_core, name = "bench.search", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
pub fn search(#[args] wanted: SearchArguments) -> Found {
    let hits = (0..wanted.limit.min(8)).map(|at| Hit {
        title: format!("{} number {at}", wanted.query),
        url: format!("https://example.org/{}/{at}", wanted.place.collection),
        snippet: "A sentence about what was found, long enough to look like one that a search gives. ".repeat(2),
        score: f64::from(at).mul_add(-0.05, 1.0),
    });
    Found { total: 1234, hits: hits.collect() }
}

/// The small call's arguments.
pub const ADD: &[u8] = br#"{"a":40,"b":2}"#;
/// The large call's arguments, about 400 bytes.
pub const SEARCH: &[u8] = br#"{"query":"capability based security in operating systems","limit":8,"offset":0,"min_score":0.25,"languages":["en","de"],"window":{"from":"2026-01-01T00:00:00Z","until":"2026-08-09T00:00:00Z","zone":"Europe/Berlin"},"place":{"collection":"papers","folder":"research/systems/security","depth":4},"filter":"moderate","explain":false,"source":"the household's own index of papers, kept at home"}"#;

/// The floor of the small call: parse, call, serialise.
pub fn add_floor(bytes: &[u8]) -> Vec<u8> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Add {
        a: i64,
        b: i64,
    }
    let Add { a, b } = serde_json::from_slice(bytes).unwrap();
    serde_json::to_vec(&add(a, b)).unwrap()
}

/// The floor of the large call.
pub fn search_floor(bytes: &[u8]) -> Vec<u8> {
    serde_json::to_vec(&search(serde_json::from_slice(bytes).unwrap())).unwrap()
}
