//! That there is no second list of tools, in the source itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Who walks over every registered capability or every provider, and what for. Whoever shows tools to a session or runs one
/// asks for its decisions; these ask about contracts, rules and configuration, or make the decisions.
const WALKERS: [(&str, &str); 20] = [
    ("capability-core/src/executor/listing.rs", "makes the decisions"),
    ("capability-core/src/provider/remote.rs", "puts providers together"),
    ("capability-core/src/surface/resident.rs", "which packages mark their tools"),
    ("capabilities/host/src/subjects/mod.rs", "names in manifests"),
    ("capability-core/src/self_model.rs", "the self-model, by the policy's own analysis"),
    ("capabilities/host/src/broker/parts.rs", "names in configuration"),
    ("capabilities/host/src/cli/contract.rs", "contracts"),
    ("capabilities/host/src/cli/policy/check.rs", "questions to the policy"),
    ("capabilities/host/src/config/edges.rs", "names in configuration"),
    ("capabilities/host/src/config/standing.rs", "names in configuration"),
    ("capabilities/host/src/host.rs", "names in configuration"),
    ("capabilities/host/src/provider/mod.rs", "puts one server's state among the providers"),
    ("capabilities/host/src/service/doctor.rs", "the operator's self-check"),
    ("capabilities/host/src/service/health.rs", "what tools that were run are called"),
    ("capabilities/host/src/service/listing.rs", "the operator's view of the contracts"),
    ("capabilities/host/src/service/questions.rs", "questions to the policy"),
    ("capabilities/host/src/service/settings.rs", "families that can be switched on"),
    ("capability-core/src/provider/snapshot.rs", "defines the walk"),
    ("capability-core/src/registry.rs", "defines the walk"),
    ("capability-core/src/policy/fit.rs", "names in rules"),
];

fn sources(below: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(below).expect("a folder of the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|own| own == "rs") && !path.to_string_lossy().contains("/tests") {
            found.push(path);
        }
    }
}

fn walks(text: &str) -> bool {
    // What a file's own tests walk over is nobody's list.
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let text: String = text.split_whitespace().collect();
    ["registry().iter()", "registry.iter()", "CAPABILITIES.iter()", ".providers().iter()", ".providers.iter()"]
        .iter()
        .any(|walk| text.contains(walk))
}

#[test]
fn nothing_else_lists_tools() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for below in ["capability-core/src", "capabilities/src", "capabilities/host/src"] {
        sources(&root.join(below), &mut found);
    }
    assert!(found.len() > 100, "the sources are there");
    let known: BTreeSet<_> = WALKERS.iter().map(|(path, _)| *path).collect();
    let unknown: Vec<_> = found
        .iter()
        .filter(|path| walks(&fs::read_to_string(path).expect("a source")))
        .map(|path| path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned())
        .filter(|path| !known.contains(path.as_str()))
        .collect();
    assert!(
        unknown.is_empty(),
        "{unknown:?} walk over everything that is registered: what is shown or run comes from `Executor::decisions`"
    );
}
