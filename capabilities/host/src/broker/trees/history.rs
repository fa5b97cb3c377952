//! Commits, and which of them were live.

use std::collections::BTreeSet;
use std::fs;

use capability_core::handle::{BrokerFault, MAX_TOLD_COMMITS, TreeCommit, TreeMove, is_revision};
use gix::objs::Kind;
use gix::{ObjectId, Repository};

/// The most commits that are looked through for one question.
const MAX_WALKED: usize = 50_000;
/// The longest reflog that is read, in bytes.
const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;
/// The largest commit whose title is told, in bytes.
const MAX_COMMIT_BYTES: u64 = 64 * 1024;
/// How much of a title is kept, in bytes.
const MAX_TITLE_BYTES: usize = 256;

const PROMOTED: &str = "capability promote";
const WENT_BACK: &str = "capability rollback";

/// How the line of a move begins in the reflog.
pub const fn mark(wanted: &TreeMove) -> &'static str {
    match wanted {
        TreeMove::Promote(_) => PROMOTED,
        TreeMove::Rollback(_) => WENT_BACK,
    }
}

/// The commit that a plainly written revision is.
pub fn commit_of(repository: &Repository, revision: &str) -> Result<ObjectId, BrokerFault> {
    if !is_revision(revision) {
        return Err(BrokerFault::MalformedRevision);
    }
    let named = repository.rev_parse_single(revision).map_err(|_| BrokerFault::UnknownRevision)?;
    let named = named.object().map_err(|_| BrokerFault::UnknownRevision)?;
    named.peel_to_kind(Kind::Commit).map(|commit| commit.id).map_err(|_| BrokerFault::UnknownRevision)
}

/// Whether a commit is one of some others, or one that they came from.
pub fn leads_to(repository: &Repository, tips: &[ObjectId], wanted: ObjectId) -> Result<bool, BrokerFault> {
    if tips.is_empty() {
        return Ok(false);
    }
    let walk = repository.rev_walk(tips.iter().copied()).all().map_err(|_| BrokerFault::Unavailable)?;
    for (count, found) in walk.enumerate() {
        if count >= MAX_WALKED {
            return Err(BrokerFault::CapExceeded);
        }
        if found.map_err(|_| BrokerFault::Unavailable)?.id == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How many commits the newer one has and the older one has not, and the first of them.
pub fn between(
    repository: &Repository,
    newer: ObjectId,
    older: ObjectId,
) -> Result<(u64, Vec<TreeCommit>), BrokerFault> {
    let walk = repository.rev_walk([newer]).with_hidden([older]).all().map_err(|_| BrokerFault::Unavailable)?;
    let (mut count, mut told) = (0, Vec::new());
    for found in walk {
        let id = found.map_err(|_| BrokerFault::Unavailable)?.id;
        count += 1;
        if count > MAX_WALKED {
            return Err(BrokerFault::CapExceeded);
        }
        if told.len() < MAX_TOLD_COMMITS {
            told.push(TreeCommit { commit: id.to_string(), title: title(repository, id) });
        }
    }
    Ok((count as u64, told))
}

/// The beginning of a message's first line: foreign text.
fn title(repository: &Repository, id: ObjectId) -> String {
    let header = repository.find_header(id).ok().filter(|header| header.size() <= MAX_COMMIT_BYTES);
    let commit = header.and_then(|_| repository.find_commit(id).ok());
    let message = commit.as_ref().and_then(|commit| commit.message_raw().ok());
    let mut title = message.map(|text| String::from_utf8_lossy(text).lines().next().unwrap_or_default().to_owned());
    if let Some(title) = &mut title {
        let mut end = title.len().min(MAX_TITLE_BYTES);
        while !title.is_char_boundary(end) {
            end -= 1;
        }
        title.truncate(end);
    }
    title.unwrap_or_default()
}

/// What was live, as far as moves of this host are in the reflog.
pub struct Past {
    /// What was live at one time or another.
    all: BTreeSet<ObjectId>,
    /// What is and was live, each on top of what it came after; a way back takes off what is above.
    pile: Vec<ObjectId>,
}

impl Past {
    /// By the log of the reference of that name.
    pub fn of(live: &gix::Reference<'_>, name: &str) -> Result<Self, BrokerFault> {
        let mut past = Self { all: BTreeSet::new(), pile: Vec::new() };
        let file = live.repo.git_dir().join("logs").join(name);
        if fs::symlink_metadata(file).is_ok_and(|found| found.len() > MAX_LOG_BYTES) {
            return Err(BrokerFault::CapExceeded);
        }
        let mut log = live.log_iter();
        let lines = log.all().map_err(|_| BrokerFault::Unavailable)?;
        for line in lines.into_iter().flatten() {
            let line = line.map_err(|_| BrokerFault::Unavailable)?;
            let message = line.message.to_owned();
            let (before, after) = (line.previous_oid(), line.new_oid());
            if message.starts_with(PROMOTED.as_bytes()) {
                past.promoted(before, after);
            } else if message.starts_with(WENT_BACK.as_bytes()) {
                past.went_back(before, after);
            }
        }
        Ok(past)
    }

    fn promoted(&mut self, before: ObjectId, after: ObjectId) {
        self.all.extend([before, after]);
        // Somebody else may have moved it meanwhile.
        if self.pile.last() != Some(&before) {
            self.pile.push(before);
        }
        self.pile.push(after);
    }

    fn went_back(&mut self, before: ObjectId, after: ObjectId) {
        self.all.extend([before, after]);
        match self.pile.iter().rposition(|live| *live == after) {
            Some(at) => self.pile.truncate(at + 1),
            None => self.pile.push(after),
        }
    }

    /// Whether a commit was live at one time or another.
    pub fn has(&self, commit: ObjectId) -> bool {
        self.all.contains(&commit)
    }

    /// What was live before what is live now.
    pub fn before(&self, now: ObjectId) -> Option<ObjectId> {
        let mut downwards = self.pile.iter().rev();
        let top = downwards.next()?;
        if *top == now { downwards.next().copied() } else { Some(*top) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gix::ObjectId;

    use super::Past;

    fn id(number: u8) -> ObjectId {
        ObjectId::from_bytes_or_panic(&[number; 20])
    }

    #[test]
    fn ways_back_go_further_back_and_not_to_and_fro() {
        let mut past = Past { all: BTreeSet::new(), pile: Vec::new() };
        assert_eq!(past.before(id(1)), None);
        for after in 2..=4 {
            past.promoted(id(after - 1), id(after));
        }
        assert_eq!(past.before(id(4)), Some(id(3)));
        past.went_back(id(4), id(3));
        assert_eq!(past.before(id(3)), Some(id(2)));
        past.went_back(id(3), id(1));
        assert_eq!(past.before(id(1)), None);
        assert!(past.has(id(4)) && past.has(id(1)) && !past.has(id(9)));
        // Forward again, and moved by somebody else since.
        past.promoted(id(1), id(5));
        assert_eq!((past.before(id(5)), past.before(id(9))), (Some(id(1)), Some(id(5))));
        past.promoted(id(9), id(10));
        assert_eq!(past.before(id(10)), Some(id(9)));
    }
}
