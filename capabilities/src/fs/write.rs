//! One file, whole.

use base64ct::{Base64, Encoding as _};
use capability_core::handle::{FileChange, Workspace, Write, is_sensitive_path};
use capability_core::{Failure, Preview, capability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::edit::{self, Edit, Standing};
use super::path;

/// How the content is written in the arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WrittenAs {
    /// As the text itself: what stands in the file is that text in UTF-8, to the byte.
    #[default]
    Text,
    /// As base64.
    Base64,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileWritten {
    /// The file.
    pub path: String,
    /// Whether it was not there before.
    pub created: bool,
    /// How many bytes it holds.
    pub bytes: u64,
}

/// Writes one file of the workspace, whole: a new one, or another content for one that is there.
///
/// The approver sees the difference to what is there. If the file is another one by the time it is written, nothing is written.
/// After a crash there is the old content or the new, never a part of it. What a file is to hold is written to the byte: no
/// line ending, byte order mark or final line break is added. Directories that are missing are made. `.git`, `.ssh` and
/// whatever else is run or believed by others are not written to.
#[capability(
    name = "fs.write",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "Write a file",
    bounds(per_turn = 16),
    target = path(path),
    check = can_be_written,
    preview = what_is_written,
    idempotent
)]
pub async fn fs_write(
    workspace: &Workspace<Write>,
    /// The file, as in `notes/today.md`.
    #[schemars(length(min = 1, max = 1025))]
    path: String,
    /// All that it is to hold.
    #[schemars(length(max = 1000000))]
    content: String,
    /// How `content` is written.
    #[serde(default)]
    written_as: WrittenAs,
) -> Result<FileWritten, Failure> {
    let content = bytes(&content, written_as).map_err(Failure::public)?;
    let (before, bytes) = (workspace.fingerprint(&path).await.map_err(edit::failed)?, content.len() as u64);
    let before = before.map(|found| found.sha256);
    let change = FileChange { path: path.clone(), before, content: Some(content) };
    workspace.change(vec![change]).await.map_err(edit::failed)?;
    Ok(FileWritten { path, created: before.is_none(), bytes })
}

fn can_be_written(path: &str, content: &str, written_as: &WrittenAs) -> Result<(), String> {
    path::of_a_file(path)?;
    bytes(content, *written_as).map(drop).map_err(str::to_owned)
}

async fn what_is_written(
    workspace: &Workspace<Write>,
    path: &str,
    content: &str,
    written_as: &WrittenAs,
) -> Result<Preview, Failure> {
    let content = bytes(content, *written_as).map_err(Failure::public)?;
    if let Some(raise) = edit::denied(path) {
        return Ok(Preview { raise: Some(raise), ..Preview::default() });
    }
    let standing = match Standing::of(workspace, path).await? {
        Ok(standing) => standing,
        Err(raise) => return Ok(Preview { raise: Some(raise), ..Preview::default() }),
    };
    let rests_on = vec![standing.shown(path)];
    let text = edit::shown(&[Edit { path, before: standing, after: Some(&content) }]);
    let raise = is_sensitive_path(path).then(|| path::looking_at(path)).flatten();
    Ok(Preview { text, rests_on, raise, ..Preview::default() })
}

fn bytes(content: &str, written_as: WrittenAs) -> Result<Vec<u8>, &'static str> {
    match written_as {
        WrittenAs::Text => Ok(content.as_bytes().to_vec()),
        WrittenAs::Base64 => Base64::decode_vec(content).map_err(|_| {
            "the content is no base64\nhelp: write it with `+`, `/` and `=` at its end, on one line, or leave `written_as` out for text"
        }),
    }
}
