//! That there is no second list of tools, in the source itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// How everything of one kind is walked over, without a space, and who does and what for. Whoever shows tools to a session or runs
/// one asks for its decisions; these ask about contracts, rules and configuration, or make the decisions.
type Walk = (&'static [&'static str], &'static [(&'static str, &'static str)]);

const REGISTERED: Walk = (
    &["registry().iter()", "registry.iter()", "CAPABILITIES.iter()"],
    &[
        ("capability-core/src/executor/listing.rs", "makes the decisions"),
        ("capability-core/src/registry.rs", "defines the walk"),
        ("capability-core/src/self_model.rs", "the self-model, by the policy's own analysis"),
        ("capability-core/src/surface/resident.rs", "which packages mark their tools"),
        ("capabilities/host/src/cli/contract.rs", "contracts"),
        ("capabilities/host/src/cli/policy/check.rs", "questions to the policy"),
        ("capabilities/host/src/config/edges.rs", "names in configuration"),
        ("capabilities/host/src/config/standing.rs", "names in configuration"),
        ("capabilities/host/src/host.rs", "names in configuration"),
        ("capabilities/host/src/service/doctor.rs", "the operator's self-check"),
        ("capabilities/host/src/service/listing.rs", "the operator's view of the contracts"),
        ("capabilities/host/src/service/questions.rs", "questions to the policy"),
        ("capabilities/host/src/service/settings.rs", "families that can be switched on"),
        ("capabilities/host/src/subjects/mod.rs", "names in manifests"),
    ],
);

const PROVIDERS: Walk = (
    &[".providers().iter()", ".providers().into_iter()", ".providers.iter()", ".providers(){", OWN],
    &[
        ("capability-core/src/executor/decide.rs", "what a call that names nobody known might have meant"),
        ("capability-core/src/executor/listing.rs", "makes the decisions"),
        ("capability-core/src/provider/remote.rs", "puts providers together"),
        ("capability-core/src/provider/snapshot.rs", "defines the walk"),
        ("capabilities/host/src/provider/mcp/http.rs", "a subject's own token, which is called so"),
        ("capabilities/host/src/provider/mod.rs", "puts one server's state among the providers"),
        ("capabilities/host/src/service/health.rs", "what tools that were run are called"),
    ],
);

const TOOLS: Walk = (
    &[".tools.iter()", ".tools.into_iter()"],
    &[
        ("capability-core/src/executor/decide.rs", "what a call that names nothing known might have meant"),
        ("capability-core/src/executor/listing.rs", "makes the decisions"),
        ("capability-core/src/provider/health.rs", "tools that were run"),
        ("capability-core/src/provider/memory.rs", "whether the tool that was judged is there"),
        ("capability-core/src/provider/snapshot.rs", "defines the walk"),
        ("capability-core/src/skill/manifest.rs", "what a skill names"),
        ("capability-core/src/skill/mod.rs", "what a skill names, each by its decision"),
        ("capability-core/src/surface/profile/mod.rs", "writes a surface down"),
        ("capabilities/host/src/cli/skills.rs", "what a skill names"),
        ("capabilities/host/src/cli/surface.rs", "what a skill names"),
        ("capabilities/host/src/config/providers.rs", "lines that classify"),
        ("capabilities/host/src/provider/pins.rs", "puts what a server listed beside what was accepted"),
        ("capabilities/host/src/provider/server.rs", "compares what a server listed with what was accepted"),
        ("capabilities/host/src/provider/told.rs", "the operator's view of a server"),
        ("capabilities/host/src/service/health.rs", "what tools that were run are called"),
        ("capabilities/host/src/service/mcp.rs", "a surface that is written down"),
        ("capabilities/host/src/service/skills.rs", "what a skill names"),
        ("capabilities/host/src/service/surface.rs", "a surface that is written down"),
        ("capabilities/host/src/web/pages/skills.rs", "what a skill names"),
    ],
);

const TOLD: Walk = (
    &["providers().told()", "providers().tools("],
    &[
        ("capabilities/host/src/service/listing.rs", "which servers `capability describe` names"),
        ("capabilities/host/src/service/providers.rs", "the operator's view of servers"),
    ],
);

/// The providers of somebody. Without anything in the brackets it is another thing.
const OWN: &str = ".own(";

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

/// A file's own text, without a space. What its tests walk over is nobody's list.
fn text_of(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source");
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().split_whitespace().collect()
}

fn walks(text: &str, walk: &str) -> bool {
    text.match_indices(walk).any(|(at, _)| walk != OWN || !text[at + walk.len()..].starts_with(')'))
}

#[test]
fn nothing_else_lists_tools() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for below in ["capability-core/src", "capabilities/src", "capabilities/host/src"] {
        sources(&root.join(below), &mut found);
    }
    assert!(found.len() > 100, "the sources are there");
    let texts: Vec<_> = found
        .iter()
        .map(|path| (path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned(), text_of(path)))
        .collect();
    for (spellings, known) in [REGISTERED, PROVIDERS, TOOLS, TOLD] {
        let known: BTreeSet<_> = known.iter().map(|(path, _)| (*path).to_owned()).collect();
        let walking = texts.iter().filter(|(_, text)| spellings.iter().any(|walk| walks(text, walk)));
        let walking: BTreeSet<_> = walking.map(|(path, _)| path.clone()).collect();
        let unknown: Vec<_> = walking.difference(&known).collect();
        assert!(
            unknown.is_empty(),
            "{unknown:?} walk over everything by {spellings:?}: what is shown or run comes from `Executor::decisions`"
        );
        let stale: Vec<_> = known.difference(&walking).collect();
        assert!(stale.is_empty(), "{stale:?} do not walk by {spellings:?} any more: take them from the list");
    }
}
