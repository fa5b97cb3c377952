//! Files and directories by their paths.

use capability_core::handle::{BrokerFault, EntryKind, Read, Workspace};
use capability_core::{Context, Failure, Preview, capability};
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::Serialize;

use super::list::Kind;
use super::path::{self, ROOT};
use super::read::cost;
use super::walk::{Found, Skipped, Stopped, Walk};

/// What a pattern matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GlobResult {
    /// The directory.
    pub path: String,
    /// What matches, in the order of a walk: each directory before what stands in it, by name.
    pub matches: Vec<GlobMatch>,
    /// What was passed over.
    pub skipped: Skipped,
    /// Why there may be more; null when everything was looked at.
    pub stopped: Option<Stopped>,
}

/// One match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GlobMatch {
    /// From the workspace's root.
    pub path: String,
    /// What it is.
    pub kind: Kind,
    /// A file's size in bytes; null for everything else.
    pub bytes: Option<u64>,
}

/// How much is given, in bytes of JSON.
const MAX_MATCHED_BYTES: usize = 52 * 1024;
/// What one match takes beside its path.
const MATCH_BYTES: usize = 80;
/// The most matches, and how many there are without a word on it.
const MAX_MATCHES: u32 = 1000;

/// Finds files and directories of the workspace by their paths: `**/*.rs`, `notes/2026-*/{a,b}.md`.
///
/// `*` and `?` stand for characters of one part, `**` for any number of parts, `{a,b}` for either, `[a-z]` for one of a range.
/// The pattern is held against the path below `path`. Links are not followed; directories of version control systems and those
/// that are called as secrets are, are not entered.
#[capability(
    name = "fs.glob",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "Find files by name",
    bounds(timeout = "10s"),
    target = path(path),
    check = can_be_globbed,
    preview = what_is_globbed,
    idempotent
)]
pub async fn fs_glob(
    workspace: &Workspace<Read>,
    context: &Context,
    /// What the paths are to be like.
    #[schemars(length(min = 1, max = 256))]
    pattern: String,
    /// The directory to look below; `.` is the workspace's root.
    #[serde(default = "root")]
    #[schemars(length(min = 1, max = 1024))]
    path: String,
    /// How many matches at most.
    #[serde(default = "plenty")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
) -> Result<GlobResult, Failure> {
    let glob = matcher(&pattern).map_err(Failure::public)?;
    let mut walk = Walk::of(workspace, context, &path).await.map_err(BrokerFault::into_public)?;
    let (mut matches, mut left) = (Vec::new(), MAX_MATCHED_BYTES);
    while let Some(Found { path: found, kind, bytes }) = walk.next().await {
        if !glob.is_match(relative(&path, &found)) {
            continue;
        }
        let room = left.checked_sub(MATCH_BYTES + found.chars().map(cost).sum::<usize>());
        let Some(room) = room.filter(|_| matches.len() < limit as usize) else {
            walk.stopped = Some(Stopped::Results);
            break;
        };
        left = room;
        let bytes = (kind == EntryKind::File).then_some(bytes);
        matches.push(GlobMatch { path: found, kind: kind.into(), bytes });
    }
    Ok(GlobResult { path, matches, skipped: walk.skipped, stopped: walk.stopped })
}

fn root() -> String {
    ROOT.to_owned()
}

const fn plenty() -> u32 {
    MAX_MATCHES
}

fn can_be_globbed(pattern: &str, path: &str, _: &u32) -> Result<(), String> {
    matcher(pattern)?;
    path::in_workspace(path)
}

async fn what_is_globbed(_: &Workspace<Read>, _: &Context, _: &str, path: &str, _: &u32) -> Result<Preview, Failure> {
    let text = format!("tells paths below `{path}`, in the workspace");
    Ok(Preview { text, raise: path::looking_at(path), ..Preview::default() })
}

/// What a pattern is matched with: `*` never stands for a `/`.
pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let built = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
    let glob = built.map_err(|error| {
        format!("the pattern is none: {}\nhelp: write it as in `**/*.md` or `notes/{{a,b}}-[0-9].txt`", error.kind())
    })?;
    Ok(glob.compile_matcher())
}

/// What of a path is below a directory that it was found in.
pub(super) fn relative<'p>(directory: &str, found: &'p str) -> &'p str {
    if directory == ROOT {
        return found;
    }
    found.get(directory.len() + 1..).unwrap_or(found)
}

#[cfg(test)]
mod tests {
    use super::{matcher, relative};

    #[test]
    fn a_pattern_is_held_against_parts() {
        for (pattern, path, matched) in [
            ("**/.env", ".env", true),
            ("**/.env", "src/.env", true),
            ("**/.env", "src/x.env", false),
            ("*.rs", "main.rs", true),
            ("*.rs", "src/main.rs", false),
            ("src/**", "src/a/b", true),
            ("{a,b}/?.md", "b/x.md", true),
            ("[a-c]", "d", false),
            ("\\*", "*", true),
        ] {
            assert_eq!(matcher(pattern).unwrap().is_match(path), matched, "{pattern} {path}");
        }
        for pattern in ["[", "{a", "a\\", "[z-a]"] {
            assert!(matcher(pattern).unwrap_err().contains("\nhelp: "), "{pattern}");
        }
        assert_eq!((relative(".", "a/b"), relative("a", "a/b")), ("a/b", "b"));
    }
}
