//! Standing answers, as the executor that gave them remembers them.
//!
//! A grant answers something only while it is in here: a row of the store, whoever wrote it, is a count. So a grant ends
//! with the host that gave it, and what ends it takes effect before anything of it is written.

use core::num::NonZeroU32;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::Inner;
use crate::approval::{GrantEnd, GrantId, GrantScope, Ground, InvocationDigest};
use crate::audit::{Event, GrantStep, Granted, Record};
use crate::contract::CapabilityName;
use crate::session::{SessionIdentity, Subject};
use crate::store::{Spent, StoreFault};
use crate::time::Timestamp;

/// What lives, and what has ended and is not yet written down.
#[derive(Default)]
pub(super) struct Standing {
    /// Whether there is anything at all in here: most executors never see a grant.
    any: AtomicBool,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    living: Vec<Given>,
    gone: Vec<Gone>,
}

/// A grant that has ended, until that is written down.
#[derive(Clone)]
struct Gone {
    given: Given,
    why: GrantEnd,
    /// Who took it back.
    operator: Option<Subject>,
    recorded: bool,
}

/// One grant, and what makes it answer a question.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) id: GrantId,
    pub(super) terms: Granted,
    /// What it covers, as a keyed hash.
    pub(super) covers: (GrantScope, InvocationDigest),
    /// What the question stood on that it was given in answer to.
    pub(super) ground: Ground,
    pub(super) expires_at: Timestamp,
    /// The same by the clock that nobody sets; the earlier of the two counts.
    pub(super) until: Instant,
}

/// A question that a grant may answer.
pub(super) struct Asking {
    pub(super) identity: Arc<SessionIdentity>,
    pub(super) capability: (CapabilityName, NonZeroU32),
    /// What a grant of either scope would cover.
    pub(super) covered: [(GrantScope, InvocationDigest); 2],
    pub(super) ground: Ground,
}

/// What has happened when somebody goes through the grants of a session.
#[derive(Clone, Copy)]
pub(super) enum Leaving {
    /// It asks in a stricter mode than the one it was granted in.
    Mode,
    /// It has ended.
    Session,
}

impl Standing {
    fn lock(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is anything in here.
    pub(super) fn any(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    pub(super) fn give(&self, given: Given) {
        self.lock().living.push(given);
        self.any.store(true, Ordering::Release);
    }

    /// Ends what `ends` gives a reason for. It answers nothing from here on; what is left is to write it down.
    fn end(&self, ends: impl Fn(&Given) -> Option<GrantEnd>) {
        let mut all = self.lock();
        let All { living, gone } = &mut *all;
        living.retain(|given| match ends(given) {
            Some(why) => {
                gone.push(Gone { given: given.clone(), why, operator: None, recorded: false });
                false
            }
            None => true,
        });
    }

    fn next_gone(&self) -> Option<Gone> {
        self.lock().gone.first().cloned()
    }

    fn recorded(&self, id: GrantId) {
        self.lock().gone.iter_mut().filter(|gone| gone.given.id == id).for_each(|gone| gone.recorded = true);
    }

    fn settled(&self, id: GrantId) {
        let mut all = self.lock();
        all.gone.retain(|gone| gone.given.id != id);
        if all.living.is_empty() && all.gone.is_empty() {
            self.any.store(false, Ordering::Release);
        }
    }

    /// Takes one back, or every one, and gives those that lived.
    pub(super) fn take_back(&self, id: Option<GrantId>, operator: &Subject) -> Vec<Given> {
        let mut all = self.lock();
        let All { living, gone } = &mut *all;
        let taken: Vec<_> = living.extract_if(.., |given| id.is_none_or(|id| given.id == id)).collect();
        gone.extend(taken.iter().map(|given| Gone {
            given: given.clone(),
            why: GrantEnd::Revoked,
            operator: Some(operator.clone()),
            recorded: false,
        }));
        taken
    }

    /// Whether the end of one of these is still to be written down: whether it is on record at least.
    pub(super) fn unsettled(&self, given: &[Given]) -> Option<bool> {
        let all = self.lock();
        let mut left = all.gone.iter().filter(|gone| given.iter().any(|given| given.id == gone.given.id)).peekable();
        left.peek()?;
        Some(left.all(|gone| gone.recorded))
    }

    /// Ends every grant of a session.
    pub(super) fn leave(&self, identity: &SessionIdentity, leaving: Leaving) {
        if self.any() {
            self.end(|given| {
                let same = given.terms.session == identity.id && given.terms.subject == identity.subject;
                same.then_some(match leaving {
                    Leaving::Mode => GrantEnd::ModeChanged,
                    Leaving::Session => GrantEnd::SessionEnded,
                })
            });
        }
    }

    /// Those that answer `asking`, once everything is gone that does not live any more.
    fn answering(&self, asking: &Asking, now: Timestamp) -> Vec<Given> {
        let about = |given: &Given| {
            (given.terms.capability, given.terms.version) == asking.capability
                && given.terms.session == asking.identity.id
                && given.terms.subject == asking.identity.subject
        };
        let monotonic = Instant::now();
        self.end(|given| {
            if now >= given.expires_at || monotonic >= given.until {
                Some(GrantEnd::Expired)
            } else if about(given) && given.ground.definition != asking.ground.definition {
                Some(GrantEnd::DefinitionChanged)
            } else if about(given) && given.ground.policy != asking.ground.policy {
                Some(GrantEnd::PolicyChanged)
            } else {
                None
            }
        });
        // The same name asked for another reason, by another rule or in another window, is another question.
        let answers =
            |given: &&Given| about(given) && given.ground == asking.ground && asking.covered.contains(&given.covers);
        self.lock().living.iter().filter(answers).cloned().collect()
    }

    /// Whether a grant lives.
    pub(super) fn lives(&self, id: GrantId) -> bool {
        self.lock().living.iter().any(|given| given.id == id)
    }
}

impl Inner {
    /// Takes one use of a grant that answers `asking`, when there is one.
    pub(super) async fn spend(&self, asking: &Asking) -> Result<Option<(GrantId, u32)>, StoreFault> {
        let now = self.environment.now();
        let mut spent = None;
        for given in self.standing.answering(asking, now) {
            match self.grants.spend(given.id, now).await? {
                Spent::Left(left) => {
                    if left == 0 {
                        self.standing.end(|other| (other.id == given.id).then_some(GrantEnd::UsedUp));
                    }
                    spent = Some((given.id, left));
                    break;
                }
                // Of several that race for the last use, all but one come here.
                Spent::Not => self.standing.end(|other| (other.id == given.id).then_some(GrantEnd::UsedUp)),
            }
        }
        Ok(spent)
    }

    /// Writes down what has ended, one after the other: whoever calls it holds the desk. What is on record and does not
    /// reach the store is tried again, and not recorded twice.
    pub(super) async fn settle(&self) {
        if !self.standing.any() {
            return;
        }
        let (now, monotonic) = (self.environment.now(), Instant::now());
        self.standing.end(|given| (now >= given.expires_at || monotonic >= given.until).then_some(GrantEnd::Expired));
        while let Some(Gone { given, why, operator, recorded }) = self.standing.next_gone() {
            if !recorded {
                let event = ended_event(&given, why, operator);
                if self.sink.submit(Record { at: now, event }).durable().await.is_err() {
                    return;
                }
                self.standing.recorded(given.id);
            }
            if self.grants.end(given.id, why, now).await.is_err() {
                return;
            }
            self.standing.settled(given.id);
        }
    }
}

/// The event of a grant's end.
pub(super) fn ended_event(given: &Given, why: GrantEnd, operator: Option<Subject>) -> Event {
    Event::Grant { grant: given.id, step: GrantStep::Ended, granted: given.terms.clone(), operator, why: Some(why) }
}
