//! A directory with everything below it, in one order, within bounds.

use capability_core::Context;
use capability_core::handle::{BrokerFault, EntryKind, Read, Workspace, WorkspaceEntry, is_sensitive_path};
use core::time::Duration;
use schemars::JsonSchema;
use serde::Serialize;

use super::path::below;

/// The most names that are looked at.
const MAX_VISITED: u32 = 20_000;
/// The most directories that stand in one another.
const MAX_DEPTH: usize = 64;
/// What is left of a call's time when looking ends, for the answer.
const RESERVE: Duration = Duration::from_millis(750);
/// What version control systems keep for themselves.
const KEPT: [&str; 5] = [".git", ".hg", ".svn", ".bzr", ".jj"];

/// What was passed over, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// Files that are no text in UTF-8.
    pub binary: u32,
    /// Files that are too large.
    pub too_large: u32,
    /// Files and directories that are called as secrets are; each is read by itself, when a person says yes.
    pub secret: u32,
    /// Files with a second name.
    pub hard_linked: u32,
    /// Links, pipes, sockets and devices.
    pub not_plain: u32,
    /// Directories of a version control system.
    pub version_control: u32,
    /// What a rule keeps from this call, or this machine's permissions.
    pub refused: u32,
    /// Directories of too many names, or too deep.
    pub directories: u32,
}

/// Why looking ended before everything was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// There were as many results as were wanted, or as fit.
    Results,
    /// So many names were looked at.
    Names,
    /// So many bytes were read.
    Bytes,
    /// The time was up: another call may see more, or less.
    Time,
}

/// Something below the directory.
pub struct Found {
    /// From the workspace's root.
    pub path: String,
    pub kind: EntryKind,
    pub bytes: u64,
}

/// A walk: a directory before what stands in it, by name.
pub struct Walk<'w> {
    workspace: &'w Workspace<Read>,
    context: &'w Context,
    /// What is still to come in each directory on the way, the last first.
    stack: Vec<(String, Vec<WorkspaceEntry>)>,
    visited: u32,
    pub skipped: Skipped,
    pub stopped: Option<Stopped>,
}

impl<'w> Walk<'w> {
    /// Of everything below this directory.
    pub async fn of(workspace: &'w Workspace<Read>, context: &'w Context, path: &str) -> Result<Self, BrokerFault> {
        let mut entries = workspace.entries(path).await?.entries;
        entries.reverse();
        let stack = vec![(path.to_owned(), entries)];
        Ok(Self { workspace, context, stack, visited: 0, skipped: Skipped::default(), stopped: None })
    }

    /// The next, until there is no more or a bound is met.
    pub async fn next(&mut self) -> Option<Found> {
        while self.stopped.is_none() {
            let (directory, entries) = self.stack.last_mut()?;
            let Some(entry) = entries.pop() else {
                self.stack.pop();
                continue;
            };
            self.visited += 1;
            if self.visited > MAX_VISITED {
                self.stopped = Some(Stopped::Names);
            } else if self.context.remaining() < RESERVE {
                self.stopped = Some(Stopped::Time);
            } else {
                let path = below(directory, &entry.name);
                if entry.kind == EntryKind::Directory {
                    self.enter(&path, &entry.name).await;
                }
                return Some(Found { path, kind: entry.kind, bytes: entry.bytes });
            }
        }
        None
    }

    async fn enter(&mut self, path: &str, name: &str) {
        if KEPT.iter().any(|kept| kept.eq_ignore_ascii_case(name)) {
            self.skipped.version_control += 1;
        } else if is_sensitive_path(name) {
            self.skipped.secret += 1;
        } else if self.stack.len() >= MAX_DEPTH {
            self.skipped.directories += 1;
        } else {
            match self.workspace.entries(path).await {
                Ok(mut listing) => {
                    listing.entries.reverse();
                    self.stack.push((path.to_owned(), listing.entries));
                }
                // It is gone, or is something else by now.
                Err(BrokerFault::NotFound | BrokerFault::NotAFile | BrokerFault::OutsideWorkspace) => {}
                Err(BrokerFault::CapExceeded) => self.skipped.directories += 1,
                Err(_) => self.skipped.refused += 1,
            }
        }
    }
}
