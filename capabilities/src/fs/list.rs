//! One directory.

use capability_core::handle::{BrokerFault, EntryKind, Read, Workspace};
use capability_core::{Failure, Preview, capability};
use schemars::JsonSchema;
use serde::Serialize;

use super::path::{self, ROOT};
use super::read::cost;

/// What stands in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirectoryListing {
    /// The directory.
    pub path: String,
    /// What stands in it, by name.
    pub entries: Vec<DirectoryEntry>,
    /// How many names there are in all.
    pub total: u32,
    /// How many names there are besides that are no plain text; they cannot be asked for.
    pub unnamed: u32,
    /// Where this part begins.
    pub offset: u32,
    /// Where the next part begins; null when this is the last.
    pub next_offset: Option<u32>,
    /// Whether there are more.
    pub truncated: bool,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirectoryEntry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// A file's size in bytes; null for everything else.
    pub bytes: Option<u64>,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A link, a pipe, a socket or a device, which nothing here opens.
    Other,
}

impl From<EntryKind> for Kind {
    fn from(kind: EntryKind) -> Self {
        match kind {
            EntryKind::File => Self::File,
            EntryKind::Directory => Self::Directory,
            EntryKind::Other => Self::Other,
        }
    }
}

/// How much is given, in bytes of JSON: with what stands beside it, it fits in the result's 64 KiB.
const MAX_LISTED_BYTES: usize = 56 * 1024;
/// What one entry takes beside its name.
const ENTRY_BYTES: usize = 80;

/// Lists a directory of the workspace by name: names, kinds and sizes, never what stands in files.
///
/// Links are told and not followed. A directory of more than 4096 names is refused.
#[capability(
    name = "fs.list",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "List a directory",
    bounds(per_turn = 32),
    target = path(path),
    check = can_be_listed,
    preview = what_is_listed,
    resident,
    idempotent
)]
pub async fn fs_list(
    workspace: &Workspace<Read>,
    /// The directory, as in `notes`; `.` is the workspace's root.
    #[serde(default = "root")]
    #[schemars(length(min = 1, max = 1024))]
    path: String,
    /// The first name, counted from 0.
    #[serde(default)]
    offset: u32,
    /// How many names at most; without it as many as fit.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
) -> Result<DirectoryListing, Failure> {
    let listing = workspace.entries(&path).await.map_err(BrokerFault::into_public)?;
    let total = u32::try_from(listing.entries.len()).unwrap_or(u32::MAX);
    let mut left = MAX_LISTED_BYTES;
    let entries: Vec<_> = (listing.entries.into_iter().skip(offset as usize))
        .take(limit.map_or(usize::MAX, |limit| limit as usize))
        .take_while(|entry| {
            let cost = ENTRY_BYTES + entry.name.chars().map(cost).sum::<usize>();
            left.checked_sub(cost).inspect(|rest| left = *rest).is_some()
        })
        .map(|entry| DirectoryEntry {
            name: entry.name,
            kind: entry.kind.into(),
            bytes: (entry.kind == EntryKind::File).then_some(entry.bytes),
        })
        .collect();
    let end = offset.saturating_add(u32::try_from(entries.len()).unwrap_or(u32::MAX));
    let next_offset = (end < total).then_some(end);
    Ok(DirectoryListing {
        path,
        entries,
        total,
        unnamed: listing.unnamed,
        offset,
        next_offset,
        truncated: next_offset.is_some(),
    })
}

fn root() -> String {
    ROOT.to_owned()
}

fn can_be_listed(path: &str, _: &u32, _: &Option<u32>) -> Result<(), String> {
    path::in_workspace(path)
}

async fn what_is_listed(_: &Workspace<Read>, path: &str, _: &u32, _: &Option<u32>) -> Result<Preview, Failure> {
    let text = format!("tells the names in `{path}`, in the workspace");
    Ok(Preview { text, raise: path::looking_at(path), ..Preview::default() })
}
