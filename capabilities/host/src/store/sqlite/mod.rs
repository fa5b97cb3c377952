//! Approvals, grants, turn counters, journals, inboxes, state, reviews, schedules, accepted definitions and skills, and tools' health
//! in one SQLite database.
//!
//! One connection on one thread of its own serves everything. SQLite has one writer at a time anyway; a thread keeps its
//! fsyncs off the async threads, needs no runtime (bodies run on runtimes of their own), and makes every statement an
//! atomic step of one sequence.

mod approvals;
mod connection;
mod definitions;
mod denials;
mod grants;
mod health;
mod inbox;
mod journal;
mod retained;
mod reviews;
mod schedules;
mod schema;
mod skills;
mod state;
mod turns;

pub use approvals::SqliteApprovals;
pub use definitions::{Observed, OpenedProvider, SqliteDefinitions};
pub use grants::SqliteGrants;
pub use health::SqliteHealth;
pub use inbox::{Arrived, Held, InboxEntry, SqliteInbox};
pub use journal::{JournalEntry, SqliteJournal};
pub use reviews::{OpenReview, SqliteReviews};
pub use schedules::{OwnedSchedule, SqliteSchedules};
pub use schema::DatabaseError;
pub use skills::{KeptSkill, SqliteSkills};
pub use state::{SqliteState, StateEntry};
pub use turns::SqliteTurns;

use std::path::Path;
use std::sync::Arc;

use connection::ConnectionThread;

/// The host's database. Cheap to clone; its thread ends with the last clone and the last store made from it.
#[derive(Debug, Clone)]
pub struct Database(Arc<ConnectionThread>);

impl Database {
    /// Opens the database file, makes it when it is not there, and brings its schema up to date.
    ///
    /// # Errors
    /// [`DatabaseError`] when it is corrupt, made by a newer version, or not the host's alone. Nothing runs then.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        let connection = schema::open(path)?;
        let thread =
            ConnectionThread::start(connection).map_err(|error| DatabaseError::Io { path: path.to_owned(), error })?;
        Ok(Self(Arc::new(thread)))
    }

    /// The approval store, which keeps nothing of what was used.
    #[must_use]
    pub fn approvals(&self) -> SqliteApprovals {
        SqliteApprovals::new(self.clone(), None)
    }

    /// The approval store, which retains arguments and target of what was used for so long; for no time, without one.
    #[must_use]
    pub fn approvals_retaining(&self, retain: Option<core::time::Duration>) -> SqliteApprovals {
        SqliteApprovals::new(self.clone(), retain)
    }

    /// The grants.
    #[must_use]
    pub fn grants(&self) -> SqliteGrants {
        SqliteGrants::new(self.clone())
    }

    /// How tools have been doing.
    #[must_use]
    pub fn health(&self) -> SqliteHealth {
        SqliteHealth::new(self.clone())
    }

    /// The turn counters.
    #[must_use]
    pub fn turns(&self) -> SqliteTurns {
        SqliteTurns::new(self.clone())
    }

    /// The accepted definitions of others' tools.
    #[must_use]
    pub fn definitions(&self) -> SqliteDefinitions {
        SqliteDefinitions::new(self.clone())
    }

    /// The inboxes, and what channels have seen.
    #[must_use]
    pub fn inbox(&self) -> SqliteInbox {
        SqliteInbox::new(self.clone())
    }

    /// What subjects keep.
    #[must_use]
    pub fn state(&self) -> SqliteState {
        SqliteState::new(self.clone())
    }

    /// What subjects left for people to look at.
    #[must_use]
    pub fn reviews(&self) -> SqliteReviews {
        SqliteReviews::new(self.clone())
    }

    /// The schedules.
    #[must_use]
    pub fn schedules(&self) -> SqliteSchedules {
        SqliteSchedules::new(self.clone())
    }

    /// The accepted skills.
    #[must_use]
    pub fn skills(&self) -> SqliteSkills {
        SqliteSkills::new(self.clone())
    }

    /// The journals.
    #[must_use]
    pub fn journal(&self) -> SqliteJournal {
        SqliteJournal::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
