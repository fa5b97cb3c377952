//! Surfaces that are kept for as long as they are what would be made again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Called, Surface, SurfaceCall, SurfaceOptions};
use crate::executor::Executor;
use crate::provider::Decisions;
use crate::session::Session;

/// The most that are kept; the one that was asked for least lately goes first.
const MOST: usize = 8;

/// The surfaces of one executor, made in one way: what a search has built, the next one finds.
///
/// What decides is decided each time it is asked for. A surface is used again where all of its decisions are what they were,
/// one by one, so that there is nothing that could change and be forgotten; a session's own number is no part of them.
pub struct Surfaces {
    executor: Executor,
    options: SurfaceOptions,
    kept: Mutex<VecDeque<Kept>>,
}

struct Kept {
    decisions: Arc<Decisions>,
    surface: Arc<Surface>,
}

impl Surfaces {
    /// Of this executor, made so.
    #[must_use]
    pub fn new(executor: Executor, options: SurfaceOptions) -> Self {
        Self { executor, options, kept: Mutex::default() }
    }

    /// The surface of one session at this moment, as [`Surface::of_session`] makes it.
    #[must_use]
    pub fn of(&self, session: &Session) -> Arc<Surface> {
        let decisions = self.executor.decisions(session);
        if let Some(surface) = self.found(&decisions) {
            return surface;
        }
        let made = Surface::of(&self.executor, decisions.iter().map(Arc::as_ref), &self.options).beside(&decisions);
        let surface = Arc::new(made);
        let mut kept = self.kept();
        kept.truncate(MOST - 1);
        kept.push_front(Kept { decisions, surface: Arc::clone(&surface) });
        surface
    }

    /// What comes of one call, as [`Surface::called`] tells it.
    #[must_use]
    pub fn called(&self, session: &Session, name: &str, arguments: &[u8]) -> Called {
        let whole = || self.of(session);
        let called = Surface::called_on(&self.executor, session, &self.options, name, arguments, whole);
        // An index that could not be made is made anew by whoever asks next.
        if matches!(called.call, SurfaceCall::Faulted(_)) {
            self.kept().clear();
        }
        called
    }

    /// The one that these decisions make, if it is kept; it goes last from now on.
    fn found(&self, decisions: &Decisions) -> Option<Arc<Surface>> {
        let mut kept = self.kept();
        let at = kept.iter().position(|kept| kept.decisions.make_the_same(decisions))?;
        let found = kept.remove(at)?;
        let surface = Arc::clone(&found.surface);
        kept.push_front(found);
        Some(surface)
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl core::fmt::Debug for Surfaces {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Surfaces({} kept)", self.kept().len())
    }
}
