//! The live revision of a tree, moved forward and back.

use capability_core::handle::{BrokerFault, TreeChange, TreeMove, TreeMoved, TreePlan, Trees, is_revision};
use capability_core::{Failure, Preview, capability};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plain;

/// The longest line of what is shown, in bytes of its JSON.
const MAX_LINE_BYTES: usize = 200;

/// A move that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Moved {
    /// The tree.
    pub tree: String,
    /// The reference that moved.
    pub live: String,
    /// The commit that was live.
    pub from: String,
    /// The commit that is live now.
    pub to: String,
}

/// Makes a revision of a configured tree the live one: its live reference moves forward to it.
///
/// Nothing is checked out, fetched or run.
#[capability(
    name = "git.promote",
    version = 1,
    side_effect = mutating,
    network = local,
    bounds(timeout = "30s", per_turn = 4),
    title = "Make a revision live",
    target = repository(tree),
    scope = tree,
    risk = high,
    check = is_plain,
    preview = what_comes_in
)]
pub async fn git_promote(
    trees: &Trees,
    /// The tree, by the name that the operator gave it.
    #[schemars(length(min = 1, max = 32))]
    tree: String,
    /// A branch, tag or commit, as in `main`, `v1.2` or `main~2`.
    #[schemars(length(min = 1, max = 256))]
    revision: String,
) -> Result<Moved, Failure> {
    made(trees, tree, TreeMove::Promote(revision)).await
}

/// Makes an earlier revision of a configured tree the live one again: one that was live before, by a promotion or a way back.
///
/// Nothing is checked out, fetched or run.
#[capability(
    name = "git.rollback",
    version = 1,
    side_effect = mutating,
    network = local,
    bounds(timeout = "30s", per_turn = 4),
    title = "Go back to an earlier live revision",
    target = repository(tree),
    scope = tree,
    risk = high,
    check = is_plain_if_any,
    preview = what_goes_out
)]
pub async fn git_rollback(
    trees: &Trees,
    /// The tree, by the name that the operator gave it.
    #[schemars(length(min = 1, max = 32))]
    tree: String,
    /// The revision to go back to. The one that was live last when it is left out.
    #[schemars(length(min = 1, max = 256))]
    revision: Option<String>,
) -> Result<Moved, Failure> {
    made(trees, tree, TreeMove::Rollback(revision)).await
}

async fn made(trees: &Trees, tree: String, wanted: TreeMove) -> Result<Moved, Failure> {
    let TreeMoved { live, from, to } = trees.make(&tree, wanted).await.map_err(|fault| match fault {
        // The reference was compared and not exchanged, or not come to.
        BrokerFault::Changed
        | BrokerFault::UnknownTree
        | BrokerFault::UnknownRevision
        | BrokerFault::NotACandidate
        | BrokerFault::NotForward
        | BrokerFault::NotLiveBefore
        | BrokerFault::AlreadyLive
        | BrokerFault::CheckedOut
        | BrokerFault::CapExceeded => fault.into_public().and_before_effect(),
        _ => fault.into_public(),
    })?;
    Ok(Moved { tree, live, from, to })
}

fn is_plain(_: &str, revision: &str) -> Result<(), BrokerFault> {
    if is_revision(revision) { Ok(()) } else { Err(BrokerFault::MalformedRevision) }
}

fn is_plain_if_any(_: &str, revision: &Option<String>) -> Result<(), BrokerFault> {
    revision.as_deref().map_or(Ok(()), |revision| is_plain("", revision))
}

async fn what_comes_in(trees: &Trees, tree: &str, revision: &str) -> Result<Preview, Failure> {
    let plan = trees.plan(tree, TreeMove::Promote(revision.to_owned())).await.map_err(BrokerFault::into_public)?;
    Ok(shown(&plan, "come in"))
}

async fn what_goes_out(trees: &Trees, tree: &str, revision: &Option<String>) -> Result<Preview, Failure> {
    let plan = trees.plan(tree, TreeMove::Rollback(revision.clone())).await.map_err(BrokerFault::into_public)?;
    Ok(shown(&plan, "go out"))
}

/// Both commits, what lies between them, and which files are others then.
fn shown(plan: &TreePlan, moves: &str) -> Preview {
    let mut text = format!("{} from {} to {}\n", plan.live, plan.from, plan.to);
    let told = |all: u64, some: usize| if all > some as u64 { ", the first of them here" } else { "" };
    text.push_str(&format!(
        "{} {moves}{}\n",
        counted(plan.commit_count, "commit"),
        told(plan.commit_count, plan.commits.len())
    ));
    for commit in &plan.commits {
        let title = plain::of_line(&commit.title, MAX_LINE_BYTES).text;
        text.push_str(&format!("  {} {title}\n", commit.commit.get(..12).unwrap_or(&commit.commit)));
    }
    text.push_str(&format!(
        "{} changed{}\n",
        counted(plan.file_count, "file"),
        told(plan.file_count, plan.files.len())
    ));
    for file in &plan.files {
        let mark = match file.change {
            TreeChange::Added => '+',
            TreeChange::Changed => '~',
            TreeChange::Removed => '-',
        };
        text.push_str(&format!("  {mark} {}\n", plain::of_line(&file.path, MAX_LINE_BYTES).text));
    }
    Preview { text, rests_on: vec![plan.rests_on], ..Preview::default() }
}

/// A count and its noun; both moves of it are told of one commit, too.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
