//! Who asks.
//!
//! A [`Session`] is minted by the host, after it authenticated somebody, and by nothing else: it cannot be deserialised,
//! and no field of a proposal becomes part of one.

mod declaration;
mod identity;

pub use declaration::{Declaration, DeclarationError, Declarations};
pub use identity::{Mode, Origin, SessionId, SessionIdentity, Subject, SubjectError, TurnId};

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// Somebody who may propose: a stored identity, what its subject's manifest declares, and a way to end it.
///
/// ```compile_fail,E0277
/// // Nothing a caller sends becomes a session.
/// let session: capability_core::Session = serde_json::from_str("{}").unwrap();
/// ```
#[derive(Clone)]
pub struct Session(Arc<Who>);

struct Who {
    identity: Arc<SessionIdentity>,
    declarations: Arc<Declarations>,
    ending: Arc<Ending>,
}

/// An end that comes once and may be waited for. Most are waited for by nobody, and cost nothing to be told to nobody.
#[derive(Default)]
pub(crate) struct Ending {
    state: AtomicU8,
    waker: Notify,
}

/// It has come.
const COME: u8 = 1;
/// Somebody has waited for it, or is about to.
const AWAITED: u8 = 2;

impl Ending {
    pub(crate) fn has_come(&self) -> bool {
        self.state.load(Ordering::Acquire) & COME != 0
    }

    pub(crate) fn end(&self) {
        if self.state.fetch_or(COME, Ordering::AcqRel) & AWAITED != 0 {
            self.waker.notify_waiters();
        }
    }

    pub(crate) async fn comes(&self) {
        // Made before the mark is set: of the two marks one is the first, and either this sees the end or the end, which
        // wakes everything made until then, sees this.
        let notified = self.waker.notified();
        if self.state.fetch_or(AWAITED, Ordering::AcqRel) & COME == 0 {
            notified.await;
        }
    }
}

/// The door through which sessions come: handed out once, with the executor, to whoever builds it.
///
/// Holding it is the host's authority to say who somebody is. Keep it where authentication happens.
pub struct SessionMint(pub(crate) ());

impl SessionMint {
    /// Opens a session for an identity that the host has authenticated.
    #[must_use]
    pub fn open(&self, identity: SessionIdentity, declarations: Declarations) -> Session {
        let (identity, declarations, ending) = (Arc::new(identity), Arc::new(declarations), Arc::default());
        Session(Arc::new(Who { identity, declarations, ending }))
    }
}

impl Session {
    /// Who it speaks for, in which mode and turn.
    #[must_use]
    pub fn identity(&self) -> &SessionIdentity {
        &self.0.identity
    }

    /// What the subject's manifest declares.
    #[must_use]
    pub fn declarations(&self) -> &Declarations {
        &self.0.declarations
    }

    /// Ends the session: what runs is cancelled, what comes later is turned away, and both are audited.
    pub fn end(&self) {
        self.0.ending.end();
    }

    pub(crate) fn shared_identity(&self) -> Arc<SessionIdentity> {
        Arc::clone(&self.0.identity)
    }

    pub(crate) fn ending(&self) -> &Ending {
        &self.0.ending
    }

    /// The same session under a stored identity: for running what was approved.
    pub(crate) fn under(&self, identity: SessionIdentity) -> Self {
        let Who { declarations, ending, .. } = self.0.as_ref();
        let (declarations, ending) = (Arc::clone(declarations), Arc::clone(ending));
        Self(Arc::new(Who { identity: Arc::new(identity), declarations, ending }))
    }
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Session({:?})", self.0.identity)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Ending;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_end_reaches_whoever_waits_however_close_they_meet() {
        for _ in 0..2000 {
            let ending = Arc::new(Ending::default());
            let waiting = [(); 2].map(|()| {
                let ending = Arc::clone(&ending);
                tokio::spawn(async move { ending.comes().await })
            });
            let ender = Arc::clone(&ending);
            tokio::spawn(async move { ender.end() }).await.unwrap();
            assert!(ending.has_come());
            for waited in waiting {
                waited.await.unwrap();
            }
            ending.comes().await;
        }
    }
}
