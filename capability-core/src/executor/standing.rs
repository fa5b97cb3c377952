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
use crate::provider::ToolTag;
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
    /// The foreign tool that it is about: one capability leads to many.
    pub(super) tool: Option<ToolTag>,
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
    pub(super) tool: Option<ToolTag>,
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
                && given.tool == asking.tool
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

    /// Why a grant that its row says lives does not; `None` when it does. What nobody here gave was given by a host that is
    /// gone, or by nobody.
    pub(super) fn why_not(&self, id: GrantId) -> Option<GrantEnd> {
        let all = self.lock();
        if all.living.iter().any(|given| given.id == id) {
            return None;
        }
        let gone = all.gone.iter().find(|gone| gone.given.id == id);
        Some(gone.map_or(GrantEnd::Restarted, |gone| gone.why))
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

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;
    use core::time::Duration;
    use std::sync::Arc;

    use tokio::time::Instant;

    use super::{Asking, Given, Standing};
    use crate::approval::{ApprovalId, GrantEnd, GrantId, GrantScope, Ground, InvocationDigest};
    use crate::audit::Granted;
    use crate::contract::{Capability, Definition, Network, Options, SideEffect, SourceLocation};
    use crate::private::Code;
    use crate::session::{Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
    use crate::time::Timestamp;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}

    /// Exists to have a name.
    static LOOK: Capability = Capability::define(Definition {
        name: "standing.look",
        version: 1,
        description: "",
        side_effect: SideEffect::ReadOnly,
        network: Network::Local,
        options: Options { locked: true, ..Options::NONE },
        handles: &[],
        package: "p",
        location: SourceLocation { file: "src/lib.rs", line: 1, column: 1 },
        code: Code::locked::<Nothing>(
            |generator| generator.root_schema_for::<Nothing>(),
            |generator| generator.root_schema_for::<()>(),
            drop,
        ),
    });

    const GROUND: Ground = Ground { definition: [1; 32], policy: [2; 32], question: [3; 32] };
    const COVERS: (GrantScope, InvocationDigest) = (GrantScope::Target, InvocationDigest::from_bytes([4; 32]));

    fn given() -> Given {
        let capability = LOOK.name();
        let session = SessionId::from_bytes([5; 16]);
        let terms = Granted {
            capability,
            version: NonZeroU32::MIN,
            subject: Subject::local(),
            session,
            approval: ApprovalId::from_bytes([6; 16]),
            seconds: 60,
            uses: NonZeroU32::MIN,
        };
        let until = Instant::now() + Duration::from_secs(60);
        Given {
            id: GrantId::from_bytes([7; 16]),
            terms,
            tool: None,
            covers: COVERS,
            ground: GROUND,
            expires_at: Timestamp::from_micros(60_000_000),
            until,
        }
    }

    fn asking(given: &Given, ground: Ground) -> Asking {
        let identity = SessionIdentity {
            id: given.terms.session,
            subject: given.terms.subject.clone(),
            mode: Mode::Live,
            origin: Origin::Model,
            turn: TurnId(1),
        };
        let other = (GrantScope::Exact, InvocationDigest::from_bytes([8; 32]));
        Asking {
            identity: Arc::new(identity),
            capability: (given.terms.capability, given.terms.version),
            tool: None,
            covered: [COVERS, other],
            ground,
        }
    }

    /// What a question stands on: another definition or policy ends the grant, and another question is not answered by it.
    #[test]
    fn a_grant_answers_only_the_question_that_it_was_given_to() {
        let now = Timestamp::from_micros(0);
        for (ground, answers, ended) in [
            (GROUND, true, None),
            (Ground { question: [9; 32], ..GROUND }, false, None),
            (Ground { policy: [9; 32], ..GROUND }, false, Some(GrantEnd::PolicyChanged)),
            (Ground { definition: [9; 32], ..GROUND }, false, Some(GrantEnd::DefinitionChanged)),
        ] {
            let standing = Standing::default();
            let given = given();
            standing.give(given.clone());
            assert_eq!(standing.answering(&asking(&given, ground), now).len(), usize::from(answers));
            assert_eq!(standing.next_gone().map(|gone| gone.why), ended);
            // Ended is ended, whatever the next question stands on; and what was another question is none any more later.
            let again = standing.answering(&asking(&given, GROUND), now).len();
            assert_eq!(again, usize::from(ended.is_none()));
        }
    }
}
