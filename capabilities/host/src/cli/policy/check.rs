//! `policy check`: a file of rules held against this build and against what was last in force, without a host.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use capability_core::Registry;
use capability_core::policy::analysis::{self, Entry, Finding, FindingKind, Relation};
use capability_core::policy::{Policy, Registered};
use serde_json::json;

use super::super::output::{GOOD, Output, WARN, styled};
use super::super::program::own;
use super::super::terminal::visible_lines;
use crate::config::Config;
use crate::data_dir::{DataDir, read_private_up_to};
use crate::policy::{Loaded, MAX_FILE_BYTES, load};
use crate::protocol::Fault;
use crate::words::counted;

/// Reads a file, compiles it, runs its examples and tells what is strange. Touches nothing, and owns nothing.
pub fn check(file: Option<PathBuf>, data: &Path, packages: &[&str], output: Output) -> Result<u8, Fault> {
    let registry = Registry::collect_without_lists(packages)
        .map_err(|fault| Fault::broken(fault.to_string(), "put the registry right first"))?;
    let (path, bytes) = match file {
        Some(path) => {
            let bytes = std::fs::read(&path).map_err(|error| {
                Fault::usage(format!("`{}` cannot be read: {error}", path.display()), "name a file of rules")
            })?;
            (path, bytes)
        }
        None => {
            let path = data.join("policy.toml");
            let bytes = read_private_up_to(&path, MAX_FILE_BYTES).map_err(|error| Fault::told(4, &error))?;
            let bytes = bytes.ok_or_else(|| {
                let help = "write it, or name another one: `capability policy check FILE`";
                Fault::usage(format!("there is no `{}`", path.display()), help)
            })?;
            (path, bytes)
        }
    };
    // A configuration that cannot be read is for the host's start and for `doctor` to tell.
    let config = Config::read(&data.join("config.toml")).unwrap_or_default();
    let registered = Registered::of(registry.iter().map(|held| held.entry())).with_subjects(config.subjects.keys());
    let Loaded { policy, strange } = load(&path, &bytes, &registered).map_err(|error| Fault::told(4, &error))?;
    let policy = Arc::new(policy);
    let (entries, now): (Vec<_>, _) = (registry.iter().map(Entry::of).collect(), crate::environment::now());
    let mut findings = analysis::check(&policy, &entries, now);
    // Told already, and better.
    findings.retain(|finding| finding.kind != FindingKind::WithoutEffect || !is_told(finding, &strange));
    let relation = in_force(data, &registered).map(|old| analysis::compare(&old, &policy, &entries, now).relation);
    let (rules, revision) = (policy.rules().count(), policy.revision().to_string());
    let examples: usize = policy.rules().map(|(.., rule)| rule.matching.len() + rule.not_matching.len()).sum();
    let strange: Vec<_> = strange.iter().map(|line| own(line).into_owned()).collect();
    let document = json!({
        "file": path.display().to_string(), "rules": rules, "examples": examples, "revision": revision, "strange": strange,
        "findings": findings, "relation": relation,
    });
    output.print(&document, |_| {
        let held = match examples {
            0 => "no examples".to_owned(),
            _ => format!("{} hold", counted(examples, "example", "examples")),
        };
        let mut text =
            format!("{} {}, {held}; revision {revision}\n", styled(GOOD, "ok"), counted(rules, "rule", "rules"));
        for told in &strange {
            text += &format!("{} {}\n", styled(WARN, "strange:"), visible_lines(told));
        }
        findings.iter().for_each(|finding| text += &found(finding));
        match relation {
            None | Some(Relation::Equal) => {}
            Some(relation) if relation.only_narrows() => text += "lets through less than what is in force\n",
            Some(_) => {
                let told = "it lets through more than what is in force, so an operator accepts it first, with \
                            `capability policy accept`";
                text += &format!("{} {}\n", styled(WARN, "waits:"), own(told));
            }
        }
        text
    });
    Ok(0)
}

/// What a host of this directory would compare a file with; none where that cannot be told from here.
fn in_force(data: &Path, registered: &Registered<'_>) -> Option<Arc<Policy>> {
    let copy = data.join(DataDir::POLICY_IN_FORCE);
    match read_private_up_to(&copy, MAX_FILE_BYTES) {
        Ok(None) => Some(Arc::default()),
        Ok(Some(bytes)) => load(&copy, &bytes, registered).ok().map(|loaded| Arc::new(loaded.policy)),
        Err(_) => None,
    }
}

fn found(finding: &Finding) -> String {
    let mut text = format!("{} {}\n", styled(WARN, "found:"), visible_lines(&finding.sentence));
    if let Some(call) = &finding.witness {
        text += &format!("  such as when {}\n", visible_lines(&call.to_string()));
    }
    text + &format!("  help: {}\n", finding.help)
}

fn is_told(finding: &Finding, strange: &[String]) -> bool {
    let names: Vec<_> = finding.rules.iter().map(|rule| format!("rule `{}`", rule.id)).collect();
    strange.iter().any(|told| names.iter().any(|name| told.contains(name)))
}
