//! Who asks.
//!
//! A [`Session`] is minted by the host, after it authenticated somebody, and by nothing else: it cannot be deserialised,
//! and no field of a proposal becomes part of one.

mod declaration;
mod identity;
mod principal;
mod slot;

pub(crate) use declaration::SECRET_BIND;
pub use declaration::{DECLARED_EFFECTS, Declaration, DeclarationError, Declarations, Demand, Required};
pub use identity::{Mode, Origin, SessionId, SessionIdentity, Subject, SubjectError, TurnId};
pub use principal::Principal;
pub use slot::SlotPath;

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Notify;

use crate::audit::ConfiguredName;

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
    slot: Option<SlotPath>,
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
    /// The slot of its subject's agent.
    pub slot: Option<SlotPath>,
    /// What its subject's manifest declares.
    pub declarations: Arc<Declarations>,
    /// The configured agent that acts for it; none where no agent does, but a schedule.
    pub agent: Option<ConfiguredName>,
}

impl Ancestor {
    /// As it is kept with what is asked for.
    fn kept(&self) -> Principal {
        Principal { identity: (*self.identity).clone(), slot: self.slot.clone(), agent: self.agent.clone() }
    }
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
        self.open_in(None, identity, declarations)
    }

    /// The same for one slot of the subject's agent: `declarations` are what that slot declares. What is asked for there is
    /// resumed there, and in no other one.
    #[must_use]
    pub fn open_in(&self, slot: Option<SlotPath>, identity: SessionIdentity, declarations: Declarations) -> Session {
        Session(Arc::new(Who {
            identity: Arc::new(identity),
            slot,
            declarations: Arc::new(declarations),
            ending: Arc::default(),
            behind: Arc::default(),
            children: Arc::default(),
        }))
    }

    /// Opens a session that acts for another one: its mode is the stricter of both, whatever its parent may not do it may
    /// not do either, and it ends when its parent ends.
    #[must_use]
    pub fn open_for(&self, parent: &Session, identity: SessionIdentity, declarations: Declarations) -> Session {
        self.open_for_in(parent, (None, None), identity, declarations)
    }

    /// The same for one slot of the child's own agent, and by a configured agent where one acts.
    #[must_use]
    pub fn open_for_in(
        &self,
        parent: &Session,
        (agent, slot): (Option<ConfiguredName>, Option<SlotPath>),
        mut identity: SessionIdentity,
        declarations: Declarations,
    ) -> Session {
        let above = parent.0.as_ref();
        identity.mode = identity.mode.max(above.identity.mode);
        let nearest = Ancestor {
            identity: Arc::clone(&above.identity),
            slot: above.slot.clone(),
            declarations: Arc::clone(&above.declarations),
            agent,
        };
        let child = Who {
            identity: Arc::new(identity),
            slot,
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

    /// The slot of the subject's agent that it speaks for; `None` when it speaks for none.
    #[must_use]
    pub fn slot(&self) -> Option<&SlotPath> {
        self.0.slot.as_ref()
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

    /// Whoever it acts for, as that is kept with what it asks for.
    #[must_use]
    pub fn principals(&self) -> Vec<Principal> {
        self.behind().iter().map(Ancestor::kept).collect()
    }

    /// Whether it acts for exactly these, in this order: what was asked for them is gone on with by no other one.
    pub(crate) fn acts_for(&self, principals: &[Principal]) -> bool {
        let own = self.behind();
        own.len() == principals.len()
            && own.iter().zip(principals).all(|(ancestor, other)| ancestor.kept().is_the_same(other))
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

    /// Whether its subject declares this, and whoever it acts for does, and none of their manifests asks for more. A declaration is
    /// necessary, never sufficient.
    #[must_use]
    pub fn declares(&self, name: &str, scope: Option<&str>) -> bool {
        self.required(name, scope) == Required::Declared
    }

    /// What its subject's manifest says to something that a body goes on only with; where that is nothing, what the manifests
    /// of those say for whom it acts.
    #[must_use]
    pub fn required(&self, name: &str, scope: Option<&str>) -> Required {
        let above = self.behind().iter().map(|ancestor| ancestor.declarations.as_ref());
        let mut said = core::iter::once(self.declarations()).chain(above).map(|one| one.required(name, scope));
        said.find(|said| *said != Required::Declared).unwrap_or(Required::Declared)
    }

    /// The same of a provider's tool, called through `name`.
    #[must_use]
    pub fn declares_tool(&self, name: &str, provider: &str, tool: &str) -> bool {
        let covers = |declared: &Declarations| declared.cover_tool(name, provider, tool);
        covers(self.declarations()) && self.behind().iter().all(|ancestor| covers(&ancestor.declarations))
    }

    /// Whether some call of `name`, with whatever scope, or without one if there are such calls, is declared by its subject and by
    /// everybody for whom it acts, and denied by none of their manifests.
    pub(crate) fn may_declare(&self, name: &str, without_scope: bool) -> bool {
        let above = self.behind().iter().map(|ancestor| ancestor.declarations.as_ref());
        Declarations::may_all_cover(core::iter::once(self.declarations()).chain(above), name, without_scope)
    }

    pub(crate) fn shared_identity(&self) -> Arc<SessionIdentity> {
        Arc::clone(&self.0.identity)
    }

    pub(crate) fn ending(&self) -> &Ending {
        &self.0.ending
    }

    /// The same session under a stored identity: for running what was approved.
    pub(crate) fn under(&self, identity: SessionIdentity) -> Self {
        let Who { slot, declarations, ending, behind, children, .. } = self.0.as_ref();
        Self(Arc::new(Who {
            identity: Arc::new(identity),
            slot: slot.clone(),
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
