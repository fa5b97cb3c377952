//! Trees whose live reference is moved: forward to a candidate, and back to what was live before.
//!
//! A move is planned from the repository as it is, and made only while it is still the move that was shown: the reference is compared
//! and exchanged in one step, under git's own lock, with a line in its reflog. That line is what a way back is found by.

mod difference;
mod history;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use capability_core::Environment;
use capability_core::audit::{ConfiguredName, Event, Record, Sink};
use capability_core::handle::{BrokerFault, Lease, TreeMove, TreeMoved, TreePlan};
use gix::ObjectId;
use gix::refs::Target;
use gix::refs::transaction::{Change, LogChange, PreviousValue, RefEdit, RefLog};
use sha2::{Digest as _, Sha256};

use super::repository;
use history::{Past, commit_of};

/// In whose name lines of a reflog are written.
const WHO: (&str, &str) = ("capability", "capability@localhost");

/// One configured tree, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeSettings {
    /// The repository's folder.
    pub path: PathBuf,
    /// The branch that is moved, in full.
    pub live: String,
    /// References, in full, that lead to candidates.
    pub from: Vec<String>,
    /// Whether a promotion may leave out what is live.
    pub any_direction: bool,
}

/// Every configured tree.
#[derive(Default)]
pub struct Trees(BTreeMap<String, TreeSettings>);

/// A move, with everything that it rests on.
struct Settled {
    repository: gix::Repository,
    from: ObjectId,
    to: ObjectId,
    rests_on: [u8; 32],
}

impl Trees {
    pub const fn new(trees: BTreeMap<String, TreeSettings>) -> Self {
        Self(trees)
    }

    /// Whether there is anything to move.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a move would do. It takes as long as the disk does.
    pub fn plan(&self, name: &str, wanted: &TreeMove) -> Result<TreePlan, BrokerFault> {
        let tree = self.0.get(name).ok_or(BrokerFault::UnknownTree)?;
        let Settled { repository, from, to, rests_on } = tree.settled(name, wanted)?;
        let (newer, older) = match wanted {
            TreeMove::Promote(_) => (to, from),
            TreeMove::Rollback(_) => (from, to),
        };
        let (commit_count, commits) = history::between(&repository, newer, older)?;
        let (file_count, files) = difference::between(&repository, from, to)?;
        let [from, to] = [from, to].map(|id| id.to_string());
        Ok(TreePlan { live: tree.live.clone(), from, to, commits, commit_count, files, file_count, rests_on })
    }

    /// Makes the move, if it is one that the lease's preview rests on.
    pub fn make(
        &self,
        name: &str,
        wanted: &TreeMove,
        lease: &Lease,
        (sink, environment): (&dyn Sink, &dyn Environment),
    ) -> Result<TreeMoved, BrokerFault> {
        let tree = self.0.get(name).ok_or(BrokerFault::UnknownTree)?;
        let settled = tree.settled(name, wanted).map_err(|fault| match fault {
            // It could be planned when it was shown.
            BrokerFault::AlreadyLive | BrokerFault::NotForward | BrokerFault::NotACandidate => BrokerFault::Changed,
            fault => fault,
        })?;
        if !lease.rests_on(&settled.rests_on) {
            return Err(BrokerFault::Changed);
        }
        let now = environment.now();
        tree.exchange(&settled, &format!("{} {}", history::mark(wanted), lease.invocation()), now.as_micros())?;
        if let Some(tree) = ConfiguredName::of(name) {
            let promoted = matches!(wanted, TreeMove::Promote(_));
            let event = Event::TreeMoved { invocation: lease.invocation(), tree, promoted };
            // The call's own records are durable or nothing is told; this one says which tree it was.
            let _ = sink.submit(Record { at: now, event });
        }
        let [from, to] = [settled.from, settled.to].map(|id| id.to_string());
        Ok(TreeMoved { live: tree.live.clone(), from, to })
    }
}

impl TreeSettings {
    fn settled(&self, name: &str, wanted: &TreeMove) -> Result<Settled, BrokerFault> {
        let repository = self.open()?;
        let live = repository.find_reference(self.live.as_str()).map_err(|_| BrokerFault::UnknownRevision)?;
        // A name for another name is moved by whoever moves that one.
        let from = live.try_id().ok_or(BrokerFault::NotPermitted)?.detach();
        let to = match wanted {
            TreeMove::Promote(revision) => {
                let to = commit_of(&repository, revision)?;
                self.may_be_promoted(&repository, from, to)?;
                to
            }
            TreeMove::Rollback(revision) => {
                let past = Past::of(&live, &self.live)?;
                match revision {
                    None => past.before(from).ok_or(BrokerFault::NotLiveBefore)?,
                    Some(revision) => {
                        let to = commit_of(&repository, revision)?;
                        if !past.has(to) {
                            return Err(BrokerFault::NotLiveBefore);
                        }
                        to
                    }
                }
            }
        };
        if to == from {
            return Err(BrokerFault::AlreadyLive);
        }
        let mut hash = Sha256::new_with_prefix("tree move\0");
        for part in [name, &self.live, wanted.as_str(), &from.to_string(), &to.to_string()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part.as_bytes());
        }
        Ok(Settled { repository, from, to, rests_on: hash.finalize().into() })
    }

    fn may_be_promoted(&self, repository: &gix::Repository, from: ObjectId, to: ObjectId) -> Result<(), BrokerFault> {
        if to == from {
            return Ok(());
        }
        let mut tips = Vec::new();
        for candidate in &self.from {
            // One that is not there leads nowhere.
            let Ok(mut found) = repository.find_reference(candidate.as_str()) else { continue };
            let commit = found.peel_to_commit().map_err(|_| BrokerFault::Unavailable)?;
            tips.push(commit.id);
        }
        if !history::leads_to(repository, &tips, to)? {
            return Err(BrokerFault::NotACandidate);
        }
        if !self.any_direction && !history::leads_to(repository, &[to], from)? {
            return Err(BrokerFault::NotForward);
        }
        Ok(())
    }

    /// Opens the repository, in which what would be written leads nowhere else.
    fn open(&self) -> Result<gix::Repository, BrokerFault> {
        // Whatever the repository says, what is live has a history.
        let repository = repository::open_with(&self.path, &["core.logAllRefUpdates=always"])?;
        let folder = repository.git_dir();
        for written in [Path::new(&self.live).to_owned(), Path::new("logs").join(&self.live)] {
            let parts: Vec<_> = written.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
            for part in parts {
                let found = fs::symlink_metadata(folder.join(part));
                if found.is_ok_and(|found| found.is_symlink()) {
                    return Err(BrokerFault::NotPermitted);
                }
            }
        }
        if self.is_checked_out(&repository) { Err(BrokerFault::CheckedOut) } else { Ok(repository) }
    }

    /// Whether somebody works on the live branch: what lies there would be another revision than it says.
    fn is_checked_out(&self, repository: &gix::Repository) -> bool {
        let names_it = |head: &Path| {
            let text = fs::read_to_string(head).unwrap_or_default();
            text.strip_prefix("ref:").is_some_and(|name| name.trim() == self.live)
        };
        let folder = repository.git_dir();
        let worktrees = fs::read_dir(folder.join("worktrees")).into_iter().flatten().flatten();
        let mut heads = worktrees.map(|entry| entry.path().join("HEAD"));
        (!repository.is_bare() && names_it(&folder.join("HEAD"))) || heads.any(|head| names_it(&head))
    }

    /// Compares and exchanges.
    fn exchange(&self, settled: &Settled, message: &str, micros: i64) -> Result<(), BrokerFault> {
        let edit = RefEdit {
            change: Change::Update {
                log: LogChange { mode: RefLog::AndReference, force_create_reflog: true, message: message.into() },
                expected: PreviousValue::MustExistAndMatch(Target::Object(settled.from)),
                new: Target::Object(settled.to),
            },
            name: self.live.as_str().try_into().map_err(|_| BrokerFault::UnknownTree)?,
            deref: false,
        };
        let time = format!("{} +0000", micros.div_euclid(1_000_000));
        let who = gix::actor::SignatureRef { name: WHO.0.into(), email: WHO.1.into(), time: &time };
        settled.repository.edit_references_as([edit], Some(who)).map(drop).map_err(|_| {
            let live = settled.repository.find_reference(self.live.as_str());
            match live.ok().and_then(|live| live.try_id().map(gix::Id::detach)) {
                Some(now) if now == settled.from => BrokerFault::Unavailable,
                _ => BrokerFault::Changed,
            }
        })
    }
}
