//! Trees whose live revision is moved: promotion and the way back.

use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Changes, Handle, HandleFamily, HandleKind, MAX_REVISION_BYTES, OnDevice,
    Targetless, is_configured_name, is_revision, sealed,
};
use crate::call::Call;

/// The most commits and files that a plan tells by name; it counts the rest.
pub const MAX_TOLD_COMMITS: usize = 50;
/// See [`MAX_TOLD_COMMITS`].
pub const MAX_TOLD_FILES: usize = 200;

/// Moves the reference that an operator configured as a tree's live one, under `[trees]`: forward to a candidate, or back to a revision
/// that was live before.
///
/// A move is planned in a `preview`, which resolves every name to a commit; what the body does is that very move, or nothing. The
/// reference is compared and exchanged in one step, with a line in its reflog. No hook and no other program runs, nothing is checked
/// out, and no request leaves the device.
///
/// A host without a configured tree does not serve it.
#[derive(Debug)]
pub struct Trees(Call);

impl Trees {
    /// What a move would do. A `preview` may ask.
    ///
    /// # Errors
    /// [`BrokerFault::UnknownTree`]; [`BrokerFault::MalformedRevision`] and [`BrokerFault::UnknownRevision`];
    /// [`BrokerFault::NotACandidate`], [`BrokerFault::NotForward`], [`BrokerFault::NotLiveBefore`], [`BrokerFault::AlreadyLive`] and
    /// [`BrokerFault::CheckedOut`]; [`BrokerFault::CapExceeded`] for a history that is too long to be looked through;
    /// [`BrokerFault::Unavailable`] for a repository that cannot be read.
    pub async fn plan(&self, tree: &str, wanted: TreeMove) -> Result<TreePlan, BrokerFault> {
        let tree = wanted.check(tree)?;
        match self.0.ask(BrokerRequest::PlanTree { tree, wanted }).await? {
            BrokerReply::TreePlan(plan) => Ok(*plan),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Makes a move that the call's preview rests on.
    ///
    /// # Errors
    /// Those of [`plan`](Self::plan); [`BrokerFault::Changed`] when it is not the move that was shown any more.
    pub async fn make(&self, tree: &str, wanted: TreeMove) -> Result<TreeMoved, BrokerFault> {
        let tree = wanted.check(tree)?;
        match self.0.ask(BrokerRequest::MoveTree { tree, wanted }).await? {
            BrokerReply::TreeMoved(moved) => Ok(moved),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Trees {}
impl Handle for Trees {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Trees, "");
    type Reach = OnDevice;
    type Power = Changes;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

/// Which move.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeMove {
    /// To this revision, which one of the tree's candidates leads to.
    Promote(String),
    /// To this revision, which was live before; to the one that was live last when none is named.
    Rollback(Option<String>),
}

impl TreeMove {
    /// The revision, where one is named.
    #[must_use]
    pub fn revision(&self) -> Option<&str> {
        match self {
            Self::Promote(revision) => Some(revision),
            Self::Rollback(revision) => revision.as_deref(),
        }
    }

    /// The word it is recorded as.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Promote(_) => "promote",
            Self::Rollback(_) => "rollback",
        }
    }

    pub(crate) fn fits(&self) -> bool {
        self.revision().is_none_or(|revision| revision.len() <= MAX_REVISION_BYTES)
    }

    fn check(&self, tree: &str) -> Result<String, BrokerFault> {
        if self.revision().is_some_and(|revision| !is_revision(revision)) {
            return Err(BrokerFault::MalformedRevision);
        }
        if is_configured_name(tree) { Ok(tree.to_owned()) } else { Err(BrokerFault::UnknownTree) }
    }
}

impl core::fmt::Debug for TreeMove {
    /// Without the revision.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a move would do.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreePlan {
    /// The reference that would move, in full.
    pub live: String,
    /// The commit that it names now, as hexadecimal digits.
    pub from: String,
    /// The commit that it would name, as hexadecimal digits.
    pub to: String,
    /// Commits that the one has and the other has not, the newest first, at most [`MAX_TOLD_COMMITS`]: those that would come in
    /// by a promotion, those that would go out by a rollback.
    pub commits: Vec<TreeCommit>,
    /// How many those are in all.
    pub commit_count: u64,
    /// Files that would be other ones, by path, at most [`MAX_TOLD_FILES`].
    pub files: Vec<TreeFile>,
    /// How many those are in all, as far as they were counted.
    pub file_count: u64,
    /// What an approval of it rests on: tree, reference, both commits, and which way.
    pub rests_on: [u8; 32],
}

impl core::fmt::Debug for TreePlan {
    /// Without what the repository holds.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "TreePlan({} commits, {} files)", self.commit_count, self.file_count)
    }
}

/// One commit: what somebody wrote into a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeCommit {
    /// Its id, as hexadecimal digits.
    pub commit: String,
    /// The beginning of its message's first line.
    pub title: String,
}

/// One file that would be another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeFile {
    /// Its path; foreign text.
    pub path: String,
    /// How.
    pub change: TreeChange,
}

/// How a file would be another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeChange {
    /// It would be there.
    Added,
    /// It would hold something else, or be something else.
    Changed,
    /// It would not be there.
    Removed,
}

/// A move that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeMoved {
    /// The reference that moved, in full.
    pub live: String,
    /// The commit that it named before, as hexadecimal digits.
    pub from: String,
    /// The commit that it names now, as hexadecimal digits.
    pub to: String,
}
