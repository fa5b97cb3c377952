//! Calls that wait for a person, by what was asked: the same call again is about the same question.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use capability_core::Session;
use capability_core::Timestamp;
use capability_core::approval::ApprovalId;
use capability_core::session::{SlotPath, Subject};
use capability_core::surface::Tool;
use sha2::{Digest, Sha256};

use crate::words::acting_for;

/// The most that are remembered; what waits longest is forgotten first.
const MOST: usize = 1024;

/// What makes two calls one: who asks, for whom, for which tool by which name, with which arguments, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Same {
    subject: Subject,
    slot: Option<SlotPath>,
    behind: String,
    tool: String,
    arguments: [u8; 32],
}

impl Same {
    pub fn of(session: &Session, tool: &Tool, called: &str, arguments: &str) -> Self {
        let (decision, subject) = (tool.decision(), session.identity().subject.clone());
        let named = [decision.capability.as_str(), &decision.version.to_string(), called];
        let behind = acting_for(&session.principals());
        Self { slot: session.slot().cloned(), behind, ..Self::named(subject, &named, arguments) }
    }

    /// None of the names holds a line break: they are names of capabilities and of tools that there are.
    pub fn named(subject: Subject, tool: &[&str], arguments: &str) -> Self {
        Self {
            subject,
            slot: None,
            behind: String::new(),
            tool: tool.join("\n"),
            arguments: Sha256::digest(arguments).into(),
        }
    }

    /// All of it in bytes, no two of them alike.
    pub fn bytes(&self) -> Vec<u8> {
        // Neither a subject nor a slot holds one, and neither does an agent's name.
        let slot = self.slot.as_ref().map(|slot| format!("/{slot}")).unwrap_or_default();
        let head = format!("{}{slot}{}\n{}\n", self.subject, self.behind, self.tool);
        [head.as_bytes(), &self.arguments].concat()
    }
}

/// What waits, in memory: after a restart the same call is a new question, and what was answered before can still be resumed
/// by its id.
#[derive(Default)]
pub struct Repeats(Mutex<HashMap<Same, (ApprovalId, Timestamp)>>);

impl Repeats {
    fn held(&self) -> MutexGuard<'_, HashMap<Same, (ApprovalId, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What such a call waits for, while it can still be answered.
    pub fn of(&self, same: &Same, now: Timestamp) -> Option<ApprovalId> {
        self.held().get(same).filter(|(_, expires)| now < *expires).map(|(id, _)| *id)
    }

    /// Such a call waits for this one from now on.
    pub fn remember(&self, same: Same, id: ApprovalId, expires: Timestamp, now: Timestamp) {
        let mut held = self.held();
        if held.len() >= MOST {
            held.retain(|_, (_, expires)| now < *expires);
        }
        if held.len() >= MOST {
            let first = held.iter().min_by_key(|(_, (_, expires))| *expires).map(|(same, _)| same.clone());
            first.and_then(|first| held.remove(&first));
        }
        held.insert(same, (id, expires));
    }

    /// Such a call waits for nothing any more.
    pub fn forget(&self, same: &Same) {
        self.held().remove(same);
    }
}
