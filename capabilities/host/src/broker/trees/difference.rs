//! Files that two commits have otherwise.

use std::collections::VecDeque;
use std::iter::Peekable;

use capability_core::handle::{BrokerFault, MAX_TOLD_FILES, TreeChange, TreeFile};
use gix::objs::tree::EntryMode;
use gix::objs::{Kind, TreeRefIter};
use gix::{ObjectId, Repository};

/// The most entries that are looked at.
const MAX_ENTRIES: usize = 200_000;
/// The largest directory that is looked through, in bytes.
const MAX_TREE_BYTES: u64 = 8 * 1024 * 1024;
/// The longest path, and how much of it is told, in bytes.
const MAX_PATH_BYTES: usize = 4096;

/// One entry of a directory.
struct Entry {
    name: Vec<u8>,
    mode: EntryMode,
    id: ObjectId,
}

/// How many files are otherwise, and the first of them by path. Directories that are the same are not looked into.
pub fn between(repository: &Repository, from: ObjectId, to: ObjectId) -> Result<(u64, Vec<TreeFile>), BrokerFault> {
    let root = |commit: ObjectId| {
        let commit = repository.find_commit(commit).map_err(|_| BrokerFault::Unavailable)?;
        commit.tree_id().map(gix::Id::detach).map_err(|_| BrokerFault::Unavailable)
    };
    let mut looked_at = 0;
    let (mut count, mut files) = (0_u64, Vec::new());
    // Pairs of directories at one path; where there is one on one side alone, all of it is new or gone.
    let mut left = VecDeque::from([(Vec::new(), Some(root(from)?), Some(root(to)?))]);
    while let Some((at, before, after)) = left.pop_front() {
        let (before, after) = (entries(repository, before)?, entries(repository, after)?);
        looked_at += before.len() + after.len();
        if looked_at > MAX_ENTRIES {
            return Err(BrokerFault::CapExceeded);
        }
        let (mut before, mut after) = (before.into_iter().peekable(), after.into_iter().peekable());
        while let Some((was, is)) = pair(&mut before, &mut after) {
            if was.as_ref().map(|was| (was.mode, was.id)) == is.as_ref().map(|is| (is.mode, is.id)) {
                continue;
            }
            let name = was.as_ref().or(is.as_ref()).map(|entry| entry.name.as_slice()).unwrap_or_default();
            let path = if at.is_empty() { name.to_vec() } else { [&at, b"/".as_slice(), name].concat() };
            if path.len() > MAX_PATH_BYTES {
                return Err(BrokerFault::CapExceeded);
            }
            let directory = |entry: &Option<Entry>| entry.as_ref().filter(|entry| entry.mode.is_tree()).map(|e| e.id);
            let is_file = |entry: &Option<Entry>| entry.as_ref().is_some_and(|entry| !entry.mode.is_tree());
            let change = match (is_file(&was), is_file(&is)) {
                (true, true) => Some(TreeChange::Changed),
                (true, false) => Some(TreeChange::Removed),
                (false, true) => Some(TreeChange::Added),
                (false, false) => None,
            };
            if let Some(change) = change {
                count += 1;
                if files.len() < MAX_TOLD_FILES {
                    files.push(TreeFile { path: String::from_utf8_lossy(&path).into_owned(), change });
                }
            }
            let (was, is) = (directory(&was), directory(&is));
            if was.is_some() || is.is_some() {
                left.push_back((path, was, is));
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok((count, files))
}

/// The next name that either side has, with what each has of that name.
fn pair(
    before: &mut Peekable<impl Iterator<Item = Entry>>,
    after: &mut Peekable<impl Iterator<Item = Entry>>,
) -> Option<(Option<Entry>, Option<Entry>)> {
    let order = match (before.peek(), after.peek()) {
        (None, None) => return None,
        (Some(_), None) => core::cmp::Ordering::Less,
        (None, Some(_)) => core::cmp::Ordering::Greater,
        (Some(was), Some(is)) => was.name.cmp(&is.name),
    };
    Some(match order {
        core::cmp::Ordering::Less => (before.next(), None),
        core::cmp::Ordering::Equal => (before.next(), after.next()),
        core::cmp::Ordering::Greater => (None, after.next()),
    })
}

/// What stands in a directory, by name.
fn entries(repository: &Repository, tree: Option<ObjectId>) -> Result<Vec<Entry>, BrokerFault> {
    let Some(tree) = tree else { return Ok(Vec::new()) };
    let header = repository.find_header(tree).map_err(|_| BrokerFault::Unavailable)?;
    if header.kind() != Kind::Tree || header.size() > MAX_TREE_BYTES {
        return Err(BrokerFault::CapExceeded);
    }
    let object = repository.find_object(tree).map_err(|_| BrokerFault::Unavailable)?;
    let mut entries = Vec::new();
    for entry in TreeRefIter::from_bytes(&object.data, tree.kind()) {
        let entry = entry.map_err(|_| BrokerFault::Unavailable)?;
        entries.push(Entry { name: entry.filename.to_vec(), mode: entry.mode, id: entry.oid.to_owned() });
    }
    // git has an order of its own for directories.
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}
