//! Connections for which an operator vouched when they were opened.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use capability_core::session::{SessionId, Subject};

/// The most that are remembered; the oldest has to be vouched for again.
const MOST: usize = 64;

/// For whom they speak, by the connection's random name, which nobody but the process at its other end knows.
#[derive(Default)]
pub struct Passes(Mutex<VecDeque<(SessionId, Subject)>>);

impl Passes {
    pub fn remember(&self, connection: SessionId, subject: Subject) {
        let mut passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if passes.len() >= MOST {
            passes.pop_front();
        }
        passes.push_back((connection, subject));
    }

    /// The connection has ended.
    pub fn forget(&self, connection: SessionId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| *known != connection);
    }

    /// Whether this connection may speak for this subject.
    pub fn admit(&self, connection: SessionId, subject: &Subject) -> bool {
        let passes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        passes.iter().any(|(known, of)| *known == connection && of == subject)
    }
}
