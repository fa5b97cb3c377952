//! One object of a repository on this disk.
//!
//! Objects are looked up and read, and that is all that is done with a repository. There is no work tree here, no index, no
//! attribute and no difference, so there is nothing whose configuration could name a program.

use std::fs;
use std::path::{Path, PathBuf};

use capability_core::handle::{BrokerFault, MAX_REVISED_BYTES, Revised, RevisedKind, is_plain_path, is_revision};
use gix::objs::{Kind, TreeRefIter};
use gix::{ObjectId, Repository};

/// No object above this is taken into memory, whatever it is a part of.
const MAX_OBJECT_BYTES: u64 = 32 * 1024 * 1024;
/// The largest directory that is looked through, in bytes.
const MAX_TREE_BYTES: u64 = 8 * 1024 * 1024;

/// What stands at a path of a revision.
pub fn read(place: &Path, revision: &str, path: &str) -> Result<Revised, BrokerFault> {
    if !is_plain_path(path) {
        return Err(BrokerFault::MalformedPath);
    }
    if !is_revision(revision) {
        return Err(BrokerFault::MalformedRevision);
    }
    let repository = open(place, &[])?;
    let named = repository.rev_parse_single(revision).map_err(|_| BrokerFault::UnknownRevision)?;
    let named = named.object().map_err(|_| BrokerFault::UnknownRevision)?;
    let commit = named.peel_to_kind(Kind::Commit).map_err(|_| BrokerFault::UnknownRevision)?;
    let commit_id = commit.id.to_string();
    let root = commit.try_into_commit().and_then(|commit| commit.tree_id().map(gix::Id::detach));
    let (found, kind) = find(&repository, root.map_err(|_| BrokerFault::UnknownRevision)?, path)?;
    let revised = |size, content| Revised {
        commit: commit_id.clone(),
        object: found.to_string(),
        kind,
        size,
        content,
        fetched_at: None,
    };
    if kind == RevisedKind::Submodule {
        return Ok(revised(0, None));
    }
    let header = repository.find_header(found).map_err(|_| BrokerFault::Unavailable)?;
    let wanted = match kind {
        RevisedKind::Directory => header.kind() == Kind::Tree,
        _ => header.kind() == Kind::Blob,
    };
    if !wanted {
        return Err(BrokerFault::Unavailable);
    }
    // The size is known before the content is.
    let content = match kind {
        RevisedKind::File | RevisedKind::Link if header.size() <= MAX_REVISED_BYTES => {
            let object = repository.find_object(found).map_err(|_| BrokerFault::Unavailable)?;
            Some(object.detach().data)
        }
        _ => None,
    };
    Ok(revised(header.size(), content))
}

/// What stands at the path, and what it is. A link on the way is not followed: nothing stands behind it.
fn find(repository: &Repository, root: ObjectId, path: &str) -> Result<(ObjectId, RevisedKind), BrokerFault> {
    let mut tree = root;
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        let header = repository.find_header(tree).map_err(|_| BrokerFault::Unavailable)?;
        if header.kind() != Kind::Tree || header.size() > MAX_TREE_BYTES {
            return Err(BrokerFault::Unavailable);
        }
        let object = repository.find_object(tree).map_err(|_| BrokerFault::Unavailable)?;
        let mut entry = None;
        for candidate in TreeRefIter::from_bytes(&object.data, tree.kind()) {
            let candidate = candidate.map_err(|_| BrokerFault::Unavailable)?;
            if candidate.filename == part.as_bytes() {
                entry = Some((candidate.oid.to_owned(), candidate.mode));
                break;
            }
        }
        let (id, mode) = entry.ok_or(BrokerFault::NotInRevision)?;
        match (parts.peek().is_some(), mode) {
            (true, mode) if mode.is_tree() => tree = id,
            (true, _) => return Err(BrokerFault::NotInRevision),
            (false, mode) if mode.is_tree() => return Ok((id, RevisedKind::Directory)),
            (false, mode) if mode.is_commit() => return Ok((id, RevisedKind::Submodule)),
            (false, mode) if mode.is_link() => return Ok((id, RevisedKind::Link)),
            (false, _) => return Ok((id, RevisedKind::File)),
        }
    }
    Err(BrokerFault::MalformedPath)
}

/// Opens what lies there and leads nowhere else: no folder that is a link, no objects of another repository, no work tree of one.
pub fn open(place: &Path, ours: &[&str]) -> Result<Repository, BrokerFault> {
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let is_repository = |path: &Path| is_folder(&path.join("objects")) && is_folder(&path.join("refs"));
    let inner = place.join(".git");
    let folder: PathBuf = if is_repository(place) {
        place.to_owned()
    } else if is_folder(&inner) && is_repository(&inner) {
        inner
    } else {
        return Err(BrokerFault::Unavailable);
    };
    for elsewhere in ["commondir", "objects/info/alternates", "objects/info/http-alternates"] {
        if fs::symlink_metadata(folder.join(elsewhere)).is_ok() {
            return Err(BrokerFault::NotPermitted);
        }
    }
    let limit = format!("gitoxide.objects.allocLimit={MAX_OBJECT_BYTES}");
    let options = super::isolated(MAX_OBJECT_BYTES);
    let ours = core::iter::once(limit).chain(ours.iter().map(|line| (*line).to_owned()));
    gix::open_opts(folder, options.config_overrides(ours)).map_err(|_| BrokerFault::Unavailable)
}
