//! Stage two: the arguments, first against the schema and then by the author's own part.

use super::invocation::{Course, Invocation, Resolved, Stopped, Validated};
use super::outcome::{Ended, Refusal, sentence};
use super::runner::PrepareFault;
use crate::arguments::{ArgumentCode, ArgumentFault, Arguments};
use crate::audit::SchemaPlace;
use crate::code::{Code, Stage};
use crate::contract::Capability;
use crate::future::Soon;
use crate::policy::Verdict;

impl Invocation<Resolved> {
    pub(super) async fn into_validated(self) -> Result<Invocation<Validated>, Box<Stopped>> {
        let Self { mut course, state: Resolved(()) } = self;
        course.ticket.stage = Stage::Validate;
        let entry = match course.read() {
            Ok(entry) => entry,
            Err(refusal) => return Err(course.refuse(*refusal)),
        };
        // What policy denies does not run, and its author's part is not asked either: it is code with handles.
        if course.judge(entry) != Verdict::Deny {
            let call = course.call(entry);
            let (mut waited, mut cancelled) = (false, false);
            let prepared = match course.ticket.executor.runner.prepare(entry, course.arguments.as_bytes(), &call) {
                Soon::Ready(prepared) => prepared,
                Soon::Later(preparing) => {
                    waited = true;
                    tokio::select! {
                        biased;
                        prepared = preparing => prepared,
                        () = course.ticket.session.ending().comes() => {
                            cancelled = true;
                            Err(PrepareFault::TimedOut)
                        }
                    }
                }
            };
            if waited {
                // Policy may have changed meanwhile: the stage of its own asks again.
                course.judged = None;
                course.ticket.waited();
            }
            match prepared {
                Ok(prepared) => {
                    if let Some(preview) = prepared.preview() {
                        call.lease().show(&preview.rests_on);
                        // What the author's look at the call raises is policy's to hear, however soon it came.
                        if preview.is_for_policy() {
                            course.judged = None;
                        }
                    }
                    course.prepared = Some((prepared, call));
                }
                Err(_) if cancelled => return Err(course.stop(Ended::Cancelled)),
                Err(fault) => return Err(course.refuse(unprepared(fault))),
            }
        }
        Ok(Invocation { course, state: Validated(()) })
    }
}

impl Course {
    /// Puts the arguments in their canonical form in the place of the bytes that were sent, with what they name as target
    /// and scope.
    fn read(&mut self) -> Result<&'static Capability, Box<Refusal>> {
        let raw = core::mem::take(&mut self.proposal.arguments);
        let refused = |refusal| Err(Box::new(refusal));
        let Some(held) = self.registered() else {
            return refused(Code::UnknownCapability.into());
        };
        let entry = held.entry();
        if !self.proposal.claims.fit() {
            return refused(Code::ClaimsTooLarge.into());
        }
        let arguments = match held.built() {
            Err(fault) => return refused(Refusal { message: fault.to_string().into(), ..Code::SchemaFault.into() }),
            Ok(built) => built.validators.arguments_of(raw),
        };
        self.arguments = match arguments {
            Ok(arguments) => arguments,
            Err(fault) => {
                let (refusal, place) = refused_arguments(fault);
                self.place = place;
                return refused(refusal);
            }
        };
        let target = entry.target();
        if let Some(name) = target.argument {
            self.target = named(&self.arguments, name).map(|text| (target.kind, text));
        }
        if let Some(name) = entry.scope() {
            self.scope = named(&self.arguments, name);
        }
        Ok(entry)
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

fn refused_arguments(fault: ArgumentFault) -> (Refusal, Option<SchemaPlace>) {
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
    (Refusal { code, message: fault.message.into(), help: fault.help.into() }, place)
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
