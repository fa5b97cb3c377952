//! Stage two: the arguments, first against the schema and then by the author's own part.

use super::invocation::{Course, Invocation, Resolved, Stopped, Valid, Validated};
use super::outcome::{Ended, Refusal, sentence};
use super::runner::PrepareFault;
use crate::arguments::{ArgumentCode, ArgumentFault, Arguments};
use crate::audit::SchemaPlace;
use crate::code::{Code, Stage};
use crate::future::Soon;
use crate::policy::Verdict;

impl Invocation<Resolved> {
    pub(super) async fn into_validated(mut self) -> Result<Invocation<Validated>, Box<Stopped>> {
        self.course.ticket.stage = Stage::Validate;
        let Resolved { subject } = self.state;
        let mut course = self.course;
        let (arguments, claims) =
            (core::mem::take(&mut course.proposal.arguments), core::mem::take(&mut course.proposal.claims));
        let Some(held) = course.entry(&subject) else {
            return Err(course.refuse(Code::UnknownCapability));
        };
        let entry = held.entry();
        if !claims.fit() {
            return Err(course.refuse(Code::ClaimsTooLarge));
        }
        let arguments = match held.built() {
            Err(fault) => {
                let refusal = Refusal { message: fault.to_string().into(), ..Code::SchemaFault.into() };
                return Err(course.refuse(refusal));
            }
            Ok(built) => built.validators.arguments_of(arguments),
        };
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(fault) => return Err(refused(course, fault)),
        };
        let target = entry.target();
        let target = target.argument.and_then(|name| named(&arguments, name)).map(|text| (target.kind, text));
        let scope = entry.scope().and_then(|name| named(&arguments, name));
        // What policy denies does not run, and its author's part is not asked either: it is code with handles.
        let decision = course.judge(entry, &subject, scope.as_deref(), target.as_ref());
        let mut judged = None;
        let prepared = if decision.verdict() == Verdict::Deny {
            Err(decision)
        } else {
            judged = Some(decision);
            let call = course.call(entry, target.as_ref());
            let prepared = match course.executor.runner.prepare(entry, arguments.as_bytes(), &call) {
                Soon::Ready(prepared) => Some(prepared),
                Soon::Later(preparing) => {
                    // Policy may change while it is waited for: the stage of its own asks again.
                    judged = None;
                    tokio::select! {
                        biased;
                        prepared = preparing => Some(prepared),
                        () = course.session.ending().comes() => None,
                    }
                }
            };
            match prepared {
                Some(Ok(prepared)) => Ok((prepared, call)),
                Some(Err(fault)) => return Err(course.refuse(unprepared(fault))),
                None => return Err(course.stop(Ended::Cancelled)),
            }
        };
        course.ticket.stage = Stage::Validate;
        course.ticket.waited();
        let valid = Box::new(Valid { subject, arguments, claims, target, scope, judged, prepared });
        Ok(Invocation { course, state: Validated { valid } })
    }
}

/// The text of a named argument: a string as it is, anything else as its JSON.
fn named(arguments: &Arguments, name: &str) -> Option<String> {
    arguments.property(name).and_then(|value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text),
        other => Some(other.to_string()),
    })
}

fn refused(course: Box<Course>, fault: ArgumentFault) -> Box<Stopped> {
    let code = match fault.code {
        ArgumentCode::TooLarge => Code::ArgumentsTooLarge,
        ArgumentCode::Malformed => Code::ArgumentsMalformed,
        ArgumentCode::DuplicateKey => Code::DuplicateKey,
        ArgumentCode::TooDeep => Code::TooDeep,
        ArgumentCode::ControlCharacter => Code::ControlCharacter,
        ArgumentCode::NotAnObject => Code::NotAnObject,
        ArgumentCode::Schema => Code::SchemaViolation,
    };
    let place = fault.keyword.zip(fault.schema_path).map(|(keyword, path)| SchemaPlace::of_schema(keyword, path));
    let refusal = Refusal { code, message: fault.message.into(), help: fault.help.into() };
    let mut stopped = course.stop(Ended::Rejected(refusal));
    stopped.place = place;
    stopped
}

fn unprepared(fault: PrepareFault) -> Refusal {
    match fault {
        PrepareFault::Refused(code, words) => Refusal { message: sentence(words).into(), ..code.into() },
        PrepareFault::Failed(failure) => match failure.into_public_message() {
            Some(words) => Refusal { message: sentence(words).into(), ..Code::PrepareFailed.into() },
            None => Code::PrepareFailed.into(),
        },
        PrepareFault::TimedOut => Code::PrepareTimedOut.into(),
        PrepareFault::Panicked => Code::PreparePanicked.into(),
        PrepareFault::Saturated => Code::RunnerSaturated.into(),
        PrepareFault::Unisolated => Code::IsolationUnavailable.into(),
    }
}
