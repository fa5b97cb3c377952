//! Stage two: the arguments, first against the schema and then by the author's own part.

use super::invocation::{Course, Invocation, Resolved, Stopped, Validated};
use super::outcome::{Ended, Refusal, sentence};
use super::runner::{PrepareFault, Prepared};
use crate::arguments::{ArgumentCode, ArgumentFault, Arguments};
use crate::audit::SchemaPlace;
use crate::call::Call;
use crate::code::{Code, Stage};
use crate::contract::Capability;
use crate::contract::schema::ARGUMENTS;
use crate::future::Soon;
use crate::policy::Verdict;
use crate::provider::AdmissionStatus;

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
            let prepared = match course.preparing(entry, &call) {
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
                        call.lease().show(preview);
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
    /// The author's part on its way. What another provider carries out is prepared where it runs.
    fn preparing(&self, entry: &'static Capability, call: &Call) -> Soon<'_, Result<Prepared, PrepareFault>> {
        if self.decided.as_ref().is_some_and(|decided| decided.runs_elsewhere()) {
            return Soon::Ready(Ok(Prepared::elsewhere(Box::new(()), None)));
        }
        self.ticket.executor.runner.prepare(entry, self.arguments.as_bytes(), call)
    }

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
        self.read_through()?;
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

impl Course {
    /// Holds what goes on to a provider's tool against the tool's own schema.
    fn read_through(&mut self) -> Result<(), Box<Refusal>> {
        let Some(decision) =
            self.decided.as_ref().filter(|_| self.registered().is_some_and(|held| held.through().is_some()))
        else {
            return Ok(());
        };
        if decision.admission_status == AdmissionStatus::Malformed {
            // The envelope's own schema has refused it; this is the fail-closed end of a path that does not exist.
            return Err(Box::new(Code::SchemaViolation.into()));
        }
        // What is not there is refused by policy, and so is what is out of use: their schemas may not be there either.
        let Some(tool) = decision.tool.as_ref().filter(|_| decision.code.is_none()) else { return Ok(()) };
        let checked = self.arguments.text_of(ARGUMENTS).and_then(|text| tool.check_arguments(text));
        match checked {
            Some(Ok(())) => Ok(()),
            Some(Err(fault)) => {
                let keyword = fault.keyword;
                let (refusal, _) = refused_arguments(fault);
                self.place = keyword.map(SchemaPlace::of_foreign);
                Err(Box::new(Refusal {
                    message: sentence(refusal.message.into_owned()).into(),
                    help: sentence(refusal.help.into_owned()).into(),
                    ..refusal
                }))
            }
            None => Err(Box::new(Code::SchemaFault.into())),
        }
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
