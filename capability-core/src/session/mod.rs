//! Who asks.
//!
//! A [`Session`] is minted by the host, after it authenticated somebody, and by nothing else: it cannot be deserialised,
//! and no field of a proposal becomes part of one.

mod declaration;
mod identity;

pub(crate) use declaration::SECRET_BIND;
pub use declaration::{DECLARED_EFFECTS, Declaration, DeclarationError, Declarations, Demand};
pub use identity::{Mode, Origin, SessionId, SessionIdentity, Subject, SubjectError, TurnId};

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

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
    behind: Arc<[Ancestor]>,
    children: Arc<Children>,
}

/// Somebody for whom a session acts: who it is, and what it may ask for itself.
#[derive(Debug, Clone)]
pub struct Ancestor {
    /// Who, in which mode.
    pub identity: Arc<SessionIdentity>,
    /// What its subject's manifest declares.
    pub declarations: Arc<Declarations>,
}

/// The sessions that act for one, which end when it does.
#[derive(Default)]
struct Children(Mutex<Vec<(Weak<Ending>, Weak<Children>)>>);

impl Children {
    fn end(&self) {
        let below = core::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for (ending, children) in below {
            if let Some(ending) = ending.upgrade() {
                ending.end();
            }
            if let Some(children) = children.upgrade() {
                children.end();
            }
        }
    }

    fn add(&self, ending: &Arc<Ending>, children: &Arc<Children>) {
        let mut below = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        below.retain(|(ending, _)| ending.strong_count() > 0);
        below.push((Arc::downgrade(ending), Arc::downgrade(children)));
    }
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
        Session(Arc::new(Who {
            identity: Arc::new(identity),
            declarations: Arc::new(declarations),
            ending: Arc::default(),
            behind: Arc::default(),
            children: Arc::default(),
        }))
    }

    /// Opens a session that acts for another one: its mode is the stricter of both, whatever its parent may not do it may
    /// not do either, and it ends when its parent ends.
    #[must_use]
    pub fn open_for(&self, parent: &Session, mut identity: SessionIdentity, declarations: Declarations) -> Session {
        let above = parent.0.as_ref();
        identity.mode = identity.mode.max(above.identity.mode);
        let nearest = Ancestor { identity: Arc::clone(&above.identity), declarations: Arc::clone(&above.declarations) };
        let child = Who {
            identity: Arc::new(identity),
            declarations: Arc::new(declarations),
            ending: Arc::default(),
            behind: core::iter::once(nearest).chain(above.behind.iter().cloned()).collect(),
            children: Arc::default(),
        };
        above.children.add(&child.ending, &child.children);
        // A parent that ended meanwhile did not see its child.
        if above.ending.has_come() {
            child.ending.end();
        }
        Session(Arc::new(child))
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

    /// Whoever it acts for, the nearest first; empty for a session of its own.
    #[must_use]
    pub fn behind(&self) -> &[Ancestor] {
        &self.0.behind
    }

    /// Ends the session and every session that acts for it: what runs is cancelled, what comes later is turned away, and
    /// both are audited.
    pub fn end(&self) {
        self.0.ending.end();
        self.0.children.end();
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.0.ending.has_come()
    }

    /// Waits for its end.
    pub async fn ended(&self) {
        self.0.ending.comes().await;
    }

    /// Whether its subject declares this, and whoever it acts for does. A declaration is necessary, never sufficient.
    #[must_use]
    pub fn declares(&self, name: &str, scope: Option<&str>) -> bool {
        self.declarations().cover(name, scope)
            && self.behind().iter().all(|ancestor| ancestor.declarations.cover(name, scope))
    }

    /// The same of a provider's tool, called through `name`.
    #[must_use]
    pub fn declares_tool(&self, name: &str, provider: &str, tool: &str) -> bool {
        let covers = |declared: &Declarations| declared.cover_tool(name, provider, tool);
        covers(self.declarations()) && self.behind().iter().all(|ancestor| covers(&ancestor.declarations))
    }

    pub(crate) fn shared_identity(&self) -> Arc<SessionIdentity> {
        Arc::clone(&self.0.identity)
    }

    pub(crate) fn ending(&self) -> &Ending {
        &self.0.ending
    }

    /// The same session under a stored identity: for running what was approved.
    pub(crate) fn under(&self, identity: SessionIdentity) -> Self {
        let Who { declarations, ending, behind, children, .. } = self.0.as_ref();
        Self(Arc::new(Who {
            identity: Arc::new(identity),
            declarations: Arc::clone(declarations),
            ending: Arc::clone(ending),
            behind: Arc::clone(behind),
            children: Arc::clone(children),
        }))
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
