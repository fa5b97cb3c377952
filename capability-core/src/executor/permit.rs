//! Stage three: the verdict, and room in the turn.

use super::invocation::{Course, Invocation, Permitted, Stopped, Validated};
use super::outcome::Refusal;
use crate::audit::{Contributions, Event, Record, RulesAsked};
use crate::code::{Code, Stage};
use crate::contract::{Capability, Network};
use crate::future::Soon;
use crate::policy::{Binding, Decision, OptIn, Question, Rule, RulesSaid, Verdict, evaluate_into};
use crate::provider::ProviderDecision;
use crate::store::{Reservation, TurnCaps};
use crate::time::Timestamp;

impl Invocation<Validated> {
    pub(super) async fn into_permitted(self) -> Result<Invocation<Permitted>, Box<Stopped>> {
        let Self { mut course, state: Validated(()) } = self;
        course.ticket.stage = Stage::Policy;
        let Some(entry) = course.entry() else {
            return Err(course.refuse(Code::UnknownCapability));
        };
        // Policy as it is now, which is what it was when nothing has been waited for since; but a denial that kept the
        // author's part from running stands, whatever changed: nobody is asked about a call that was not prepared.
        if course.judged.is_none() {
            course.judge(entry);
        }
        let Some(decision) = &course.judged else {
            return Err(course.refuse(Code::MissingRuntimeBinding));
        };
        let verdict = decision.verdict();
        let recorded = course.ticket.submit(Record {
            at: course.ticket.at(),
            event: Event::PolicyDecision {
                asked: course.ticket.asked(),
                verdict,
                contributions: Contributions(*decision.contributions()),
                rules: decision.rules().map(|rules| RulesAsked::of(decision, rules)),
            },
        });
        if recorded.is_refused() {
            return Err(course.refuse(Code::AuditUnavailable));
        }
        if verdict == Verdict::Deny {
            let denial = denial(decision, entry, course.provider());
            return Err(course.refuse(denial));
        }
        // A resumed call keeps the reservation that its first attempt made.
        if course.resumed.is_none() {
            let identity = course.ticket.session.identity();
            let executor = &course.ticket.executor;
            let caps = TurnCaps { capability: entry.bounds().per_turn(), total: executor.limits.per_turn };
            let key = (entry.name(), entry.version());
            let (reserved, at_once) = match executor.turns.reserve(identity.id, identity.turn, key, caps) {
                Soon::Ready(reserved) => (reserved, true),
                Soon::Later(reserving) => (reserving.await, false),
            };
            if !at_once {
                course.ticket.waited();
            }
            match reserved {
                Ok(Reservation::Made) => {}
                Ok(Reservation::CapabilityExhausted) => return Err(course.refuse(Code::TurnCap)),
                Ok(Reservation::TurnExhausted) => return Err(course.refuse(Code::TurnTotal)),
                Err(_) => return Err(course.refuse(Code::StoreUnavailable)),
            }
        }
        Ok(Invocation { course, state: Permitted(()) })
    }
}

impl Course {
    /// Puts down what policy says at this moment, and gives the verdict.
    pub(super) fn judge(&mut self, entry: &Capability) -> Verdict {
        let class = self.class(entry);
        let opt_in = match class.network {
            Network::Local => OptIn::Off,
            Network::External => self.ticket.executor.opt_ins.state(entry.name().family()),
        };
        let binding = match self.provider() {
            Some(provider) => Binding::of(provider),
            None => Binding::Missing,
        };
        let session = &self.ticket.session;
        let identity = session.identity();
        let policy = self.ticket.executor.policy.current();
        // What the author's own look found, once there has been one.
        let preview = self.prepared.as_ref().and_then(|(prepared, _)| prepared.preview());
        let secrets = preview.map_or(&[][..], |preview| &preview.secrets);
        let broker = &self.ticket.executor.broker;
        let binding = match binding {
            Binding::Bound if !secrets.iter().all(|one| broker.binds_secret(&one.secret)) => Binding::SecretUnbound,
            binding => binding,
        };
        let question = Question {
            capability: entry,
            class,
            subject: &identity.subject,
            origin: identity.origin,
            declarations: session.declarations(),
            behind: session.behind(),
            scope: self.scope.as_deref(),
            target: self.target.as_ref().map(|(kind, text)| (*kind, text.as_str())),
            acts_on: preview.map_or(&[], |preview| &preview.acts_on),
            secrets,
            mode: identity.mode,
            opt_in,
            binding,
            raised: preview.and_then(|preview| preview.raise),
            faulted: false,
            // The clock is only read for rules that ask for it.
            at: if policy.asks_for_the_time() {
                self.ticket.executor.environment.now()
            } else {
                Timestamp::from_micros(0)
            },
            policy: &policy,
        };
        let decision = self.judged.insert(Decision::UNASKED);
        evaluate_into(decision, &question);
        decision.verdict()
    }
}

/// A denial in words, with the family and handles filled in where that tells an operator what to do.
fn denial(decision: &Decision, entry: &Capability, provider: Option<&ProviderDecision>) -> Refusal {
    let code = decision.code();
    let family = entry.name().family();
    match code {
        Code::OptInOff | Code::OptInDamaged => Refusal {
            message: code.message().replace("this family", &format!("the `{family}` family")).into(),
            help: code.help().replace("FAMILY", family).into(),
            code,
        },
        Code::MissingRuntimeBinding => {
            let handles: Vec<_> = entry.handles().iter().map(|kind| format!("`{kind}`")).collect();
            let message = format!("{}; it needs {}", code.message(), handles.join(", "));
            Refusal { message: message.into(), ..code.into() }
        }
        Code::RuleDeny => denied_by_rule(decision),
        _ => match provider {
            Some(provider) => Refusal { message: provider.sentence(code), ..code.into() },
            None => code.into(),
        },
    }
}

/// Which rule denies, and why, in the words of whoever wrote it.
fn denied_by_rule(decision: &Decision) -> Refusal {
    let policy = decision.rules().map(RulesSaid::policy);
    let rule = policy.and_then(|policy| policy.rule(decision.deciding_rules().next()?));
    match rule {
        Some((_, Rule { id, reason: Some(reason), .. })) => {
            let message = format!("rule `{id}` denies this call: {}", reason.as_str());
            Refusal { message: message.into(), ..Code::RuleDeny.into() }
        }
        _ => Code::RuleDeny.into(),
    }
}
