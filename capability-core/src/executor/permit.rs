//! Stage three: the verdict, and room in the turn.

use super::invocation::{Course, Invocation, Permitted, Settled, Stopped, Validated};
use super::outcome::Refusal;
use crate::audit::{Contributions, Event, RulesAsked};
use crate::code::{Code, Stage};
use crate::contract::{Capability, Network, TargetKind};
use crate::future::Soon;
use crate::policy::{Decision, OptIn, Question, Rule, RulesSaid, Verdict, evaluate};
use crate::provider::AdmissionStatus;
use crate::store::{Reservation, TurnCaps};
use crate::time::Timestamp;

impl Invocation<Validated> {
    pub(super) async fn into_permitted(mut self) -> Result<Invocation<Permitted>, Box<Stopped>> {
        self.course.ticket.stage = Stage::Policy;
        let Validated { mut valid } = self.state;
        let mut course = self.course;
        let Some(entry) = course.entry(&valid.subject).map(crate::registry::Registered::entry) else {
            return Err(course.refuse(Code::UnknownCapability));
        };
        // Policy as it is now; but a denial that kept the author's part from running stands, whatever changed since: nobody is
        // asked about a call that was not prepared.
        let decision = match (&valid.prepared, valid.judged.take()) {
            (Err(denied), _) => denied.clone(),
            (Ok(_), Some(judged)) => judged,
            (Ok(_), None) => course.judge(entry, &valid.subject, valid.scope.as_deref(), valid.target.as_ref()),
        };
        let recorded = course.ticket.submit(Event::PolicyDecision {
            asked: course.ticket.asked(),
            verdict: decision.verdict(),
            contributions: Contributions(*decision.contributions()),
            rules: decision.rules().map(|rules| RulesAsked::of(&decision, rules)),
        });
        if recorded.is_refused() {
            return Err(course.refuse(Code::AuditUnavailable));
        }
        if decision.verdict() == Verdict::Deny {
            return Err(course.refuse(denial(&decision, entry)));
        }
        // A resumed call keeps the reservation that its first attempt made.
        if course.resumed.is_none() {
            let identity = course.session.identity();
            let caps = TurnCaps { capability: entry.bounds().per_turn(), total: course.executor.limits.per_turn };
            let key = (entry.name(), entry.version());
            let reserved = match course.executor.turns.reserve(identity.id, identity.turn, key, caps) {
                Soon::Ready(reserved) => reserved,
                Soon::Later(reserving) => {
                    let reserved = reserving.await;
                    course.ticket.waited();
                    reserved
                }
            };
            match reserved {
                Ok(Reservation::Made) => {}
                Ok(Reservation::CapabilityExhausted) => return Err(course.refuse(Code::TurnCap)),
                Ok(Reservation::TurnExhausted) => return Err(course.refuse(Code::TurnTotal)),
                Err(_) => return Err(course.refuse(Code::StoreUnavailable)),
            }
        }
        Ok(Invocation { course, state: Permitted { valid, decision } })
    }
}

impl Course {
    /// What policy says at this moment.
    pub(super) fn judge(
        &self,
        entry: &Capability,
        subject: &Settled,
        scope: Option<&str>,
        target: Option<&(TargetKind, String)>,
    ) -> Decision {
        let policy = self.executor.policy.current();
        let identity = self.session.identity();
        let opt_in = match entry.class().network {
            Network::Local => OptIn::Off,
            Network::External => self.executor.opt_ins.state(entry.name().family()),
        };
        evaluate(&Question {
            capability: entry,
            class: entry.class(),
            subject: &identity.subject,
            origin: identity.origin,
            declarations: self.session.declarations(),
            behind: self.session.behind(),
            scope,
            target: target.map(|(kind, text)| (*kind, text.as_str())),
            mode: identity.mode,
            opt_in,
            bound: subject.decision.admission_status == AdmissionStatus::Ready,
            faulted: false,
            // The clock is only read for rules that ask for it.
            at: if policy.asks_for_the_time() { self.executor.environment.now() } else { Timestamp::from_micros(0) },
            policy: &policy,
        })
    }
}

/// A denial in words, with the family and handles filled in where that tells an operator what to do.
fn denial(decision: &Decision, entry: &Capability) -> Refusal {
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
        _ => code.into(),
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
