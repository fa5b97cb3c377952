//! Who answered what, for whoever comes second.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use capability_core::Timestamp;
use capability_core::approval::ApprovalId;
use capability_core::session::Subject;

/// How many answers are remembered for whoever comes second.
const REMEMBERED: usize = 1024;

/// Who answered what, and when.
#[derive(Debug, Clone)]
pub struct AnsweredBy {
    /// The operator, and the way.
    pub operator: Subject,
    /// `approved`, `denied` or `edited`.
    pub answer: &'static str,
    /// When.
    pub at: Timestamp,
}

/// The newest answers. They are on record in the audit log; here they are at hand.
#[derive(Default)]
pub struct Answered(Mutex<VecDeque<(ApprovalId, AnsweredBy)>>);

impl Answered {
    pub(super) fn remember(&self, id: ApprovalId, by: AnsweredBy) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= REMEMBERED {
            answers.pop_front();
        }
        answers.push_back((id, by));
    }

    /// Who answered this one since the host started.
    pub fn of(&self, id: ApprovalId) -> Option<AnsweredBy> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().rev().find(|(other, _)| *other == id).map(|(_, by)| by.clone())
    }
}
