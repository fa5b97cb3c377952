//! Several files by a unified difference, all or none.

mod apply;
mod parse;
#[cfg(test)]
mod tests;

use capability_core::handle::{
    BrokerFault, FileChange, Fingerprint, MAX_READ_BYTES, MAX_WRITE_BYTES, Workspace, Write, is_sensitive_path,
};
use capability_core::{Failure, Preview, Raise, capability};
use schemars::JsonSchema;
use serde::Serialize;

use super::edit::{self, Edit, Standing};
use super::path::{self, ROOT, below};
use super::read::text_of;
use parse::{FilePatch, PatchFault, Rule, What, parse};

/// What became of the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Patched {
    /// Each file that the patch is about, in its order.
    pub files: Vec<PatchedFile>,
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PatchedFile {
    /// From the workspace's root.
    pub path: String,
    /// What became of it.
    pub change: FileChanged,
    /// How many bytes it holds now.
    pub bytes: u64,
}

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChanged {
    /// It was not there.
    Created,
    /// It holds something else.
    Changed,
    /// It is gone.
    Removed,
}

/// Applies a unified diff to files of the workspace: to all of them, or to none.
///
/// Each part goes where its line number says, or into the one other place where its old lines stand; where there is none, or
/// more than one, nothing is changed. The approver sees the difference as it will be. If a file is another one by the time it
/// is written, nothing is changed. Line endings and byte order marks stay as they are. Files are made with `--- /dev/null` and
/// removed with `+++ /dev/null`; modes, renames and files that are no text are refused.
#[capability(
    name = "fs.patch",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "Change files by a patch",
    bounds(per_turn = 16),
    target = path(path),
    check = can_be_patched,
    preview = what_is_patched
)]
pub async fn fs_patch(
    workspace: &Workspace<Write>,
    /// The unified diff: `--- a/notes/today.md`, `+++ b/notes/today.md`, `@@ -1,2 +1,2 @@` and its lines.
    #[schemars(length(min = 1, max = 500000))]
    patch: String,
    /// The directory that its paths are written from; `.` is the workspace's root.
    #[serde(default = "root")]
    #[schemars(length(min = 1, max = 1024))]
    path: String,
) -> Result<Patched, Failure> {
    let mut done = Patched { files: Vec::new() };
    let mut changes = Vec::new();
    for patch in parse(&patch).map_err(refused)? {
        let (path, before) = (below(&path, patch.path), before(workspace, &below(&path, patch.path)).await);
        let before = before.map_err(edit::failed)?;
        let content = after(&patch, before.as_deref()).map_err(refused)?;
        let change = match (&before, &content) {
            (None, _) => FileChanged::Created,
            (Some(_), None) => FileChanged::Removed,
            (Some(_), Some(_)) => FileChanged::Changed,
        };
        let bytes = content.as_ref().map_or(0, |content| content.len() as u64);
        done.files.push(PatchedFile { path: path.clone(), change, bytes });
        let before = before.map(|before| Fingerprint::of(&before).sha256);
        changes.push(FileChange { path, before, content });
    }
    workspace.change(changes).await.map_err(edit::failed)?;
    Ok(done)
}

fn root() -> String {
    ROOT.to_owned()
}

fn can_be_patched(patch: &str, path: &str) -> Result<(), String> {
    path::in_workspace(path)?;
    parse(patch).map(drop).map_err(|fault| fault.to_string())
}

async fn what_is_patched(workspace: &Workspace<Write>, patch: &str, path: &str) -> Result<Preview, Failure> {
    let patches = parse(patch).map_err(refused)?;
    let paths: Vec<_> = patches.iter().map(|patch| below(path, patch.path)).collect();
    let raised = |raise: Raise| Preview { raise: Some(raise), acts_on: paths.clone(), ..Preview::default() };
    if let Some(raise) = paths.iter().find_map(|path| edit::denied(path)) {
        return Ok(raised(raise));
    }
    if paths.iter().any(|path| is_sensitive_path(path)) {
        return Err(Failure::public(
            "the patch is about a file that is called as secrets are\nhelp: write that file with `fs.write`, which asks for that very path",
        ));
    }
    let (mut planned, mut rests_on, mut bytes) = (Vec::new(), Vec::new(), 0);
    for (patch, path) in patches.iter().zip(&paths) {
        let standing = match Standing::of(workspace, path).await? {
            Ok(standing) => standing,
            Err(raise) => return Ok(raised(raise)),
        };
        let content = after(patch, standing.content.as_deref()).map_err(refused)?;
        bytes += content.as_ref().map_or(0, Vec::len);
        rests_on.push(standing.shown(path));
        planned.push((path, standing, content));
    }
    if bytes > MAX_WRITE_BYTES {
        return Err(edit::failed(BrokerFault::CapExceeded));
    }
    let edits: Vec<_> = (planned.iter_mut())
        .map(|(path, standing, after)| Edit { path, before: core::mem::take(standing), after: after.as_deref() })
        .collect();
    Ok(Preview { text: edit::shown(&edits), rests_on, acts_on: paths.clone(), ..Preview::default() })
}

/// What stands at a path; none when nothing does.
async fn before(workspace: &Workspace<Write>, path: &str) -> Result<Option<Vec<u8>>, BrokerFault> {
    match workspace.read(path, MAX_READ_BYTES).await {
        Ok(content) => Ok(Some(content)),
        Err(BrokerFault::NotFound) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// What a file is to hold.
fn after(patch: &FilePatch<'_>, before: Option<&[u8]>) -> Result<Option<Vec<u8>>, PatchFault> {
    let at = patch.hunks.first().map_or(1, |hunk| hunk.at);
    let no_text = PatchFault::new(at, Rule::NoText);
    let before = before.map(|before| text_of(before.to_vec()).ok_or(no_text)).transpose()?;
    apply::apply(patch, before.as_deref()).map(|after| after.map(String::into_bytes))
}

/// Nothing has been changed by then.
fn refused(fault: PatchFault) -> Failure {
    Failure::public(fault.to_string()).and_before_effect()
}

/// What every text must hold to that is read as a patch, and every file that one is applied to: for the fuzzers.
#[doc(hidden)]
pub fn hold(patch: &str, before: &str) {
    for patch in parse(patch).unwrap_or_default() {
        let before = (patch.what != What::Create).then_some(before);
        let _ = apply::apply(&patch, before);
    }
}
