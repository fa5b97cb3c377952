//! `policy check`: a file of rules held against this build, without a host.

use std::path::{Path, PathBuf};

use capability_core::Registry;
use capability_core::policy::Registered;
use serde_json::json;

use super::super::output::{GOOD, Output, WARN, styled};
use super::super::program::own;
use super::super::terminal::visible_lines;
use crate::config::Config;
use crate::data_dir::read_private_up_to;
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
    let (rules, revision) = (policy.rules().count(), policy.revision().to_string());
    let examples: usize = policy.rules().map(|(.., rule)| rule.matching.len() + rule.not_matching.len()).sum();
    let strange: Vec<_> = strange.iter().map(|line| own(line).into_owned()).collect();
    let document = json!({
        "file": path.display().to_string(), "rules": rules, "examples": examples, "revision": revision, "strange": strange,
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
        text
    });
    Ok(0)
}
