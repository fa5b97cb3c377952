//! Stage five: the body, bounded.

use super::invocation::{Confirmed, Course, Executed, Invocation, Settled, Stopped};
use super::outcome::{Effect, Ended, sentence};
use super::runner::{BodyEnd, Guarantees};
use crate::arguments::ResultFault;
use crate::audit::{Event, SchemaPlace, Submission};
use crate::code::{Code, Stage};
use crate::contract::{Capability, Network, SideEffect};
use crate::future::at_once;
use crate::handle::HandleFamily;
use crate::registry::Registered;

impl Invocation<Confirmed> {
    pub(super) async fn into_executed(mut self) -> Result<Invocation<Executed>, Box<Stopped>> {
        self.course.ticket.stage = Stage::Execute;
        let Confirmed { subject, prepared, call } = self.state;
        let mut course = self.course;
        let Some(entry) = course.entry(&subject).map(Registered::entry) else {
            return Err(course.refuse(Code::UnknownCapability));
        };
        if course.session.ending().has_come() {
            return Err(course.stop(Ended::Cancelled));
        }
        let guarantees = course.executor.runner.guarantees(entry);
        course.ticket.guarantees = Some(guarantees);
        if let Some(recorded) = recorded_first(&course, entry, guarantees) {
            if recorded.durable().await.is_err() {
                course.ticket.guarantees = None;
                return Err(course.refuse(Code::AuditUnavailable));
            }
            course.ticket.waited();
            // It may have ended while the intent was on its way: what comes later begins no more.
            if course.session.ending().has_come() {
                course.ticket.guarantees = None;
                return Err(course.stop(Ended::Cancelled));
            }
        }
        // From here on a record that nobody finishes says what may have happened.
        course.ticket.effect = Effect::of_unfinished(entry);
        let call = call.confirmed_until(course.ticket.now() + entry.bounds().timeout());
        let mut running = course.executor.runner.run(prepared, call);
        let end = match at_once(&mut running).await {
            Some(end) => Some(end),
            None => tokio::select! {
                biased;
                end = &mut running => Some(end),
                () = course.session.ending().comes() => None,
            },
        };
        drop(running);
        // Nobody answers for the body from here on: whatever is left of it is served nothing more.
        course.held = None;
        if matches!(end, Some(BodyEnd::Saturated)) {
            // Nothing ran, so nothing was promised of it.
            course.ticket.guarantees = None;
        }
        let state = settle(&course, &subject, entry, end);
        course.ticket.effect = state.effect;
        Ok(Invocation { course, state })
    }
}

/// What must be in the log before the body runs: the intent of a call that leaves a trace, and every secret that is bound to
/// it. The submission of the last one stands for those before it: the log keeps their order.
fn recorded_first(course: &Course, entry: &Capability, guarantees: Guarantees) -> Option<Submission> {
    let class = entry.class();
    let leaves_a_trace = class.side_effect == SideEffect::Mutating || class.network == Network::External;
    let (asked, approval) = (|| course.ticket.asked(), course.ticket.approval);
    let intent = leaves_a_trace.then(|| Event::Intent { asked: asked(), approval, guarantees });
    let secrets = entry.handles().iter().filter(|kind| kind.family() == HandleFamily::Secret);
    let bindings =
        secrets.map(|kind| Event::SecretBinding { asked: asked(), source: kind.family(), name: kind.instance() });
    intent.into_iter().chain(bindings).fold(None, |_, event| Some(course.ticket.submit(event)))
}

/// What the body's end means for the caller and for the world.
fn settle(course: &Course, subject: &Settled, entry: &Capability, end: Option<BodyEnd>) -> Executed {
    let unfinished = Effect::of_unfinished(entry);
    let ended = |ended, effect| Executed { ended, effect, place: None };
    // A result that cannot be given is still a body that ran to its end.
    let completed = match unfinished {
        Effect::NotStarted => Effect::NotStarted,
        Effect::Completed | Effect::Unknown => Effect::Completed,
    };
    match end {
        None => ended(Ended::Cancelled, unfinished),
        Some(BodyEnd::TimedOut) => ended(Ended::TimedOut, unfinished),
        Some(BodyEnd::Panicked) => ended(Ended::Panicked, unfinished),
        Some(BodyEnd::Saturated) => ended(Ended::Rejected(Code::RunnerSaturated.into()), Effect::NotStarted),
        Some(BodyEnd::Failed(failure)) => {
            let effect = if failure.is_before_effect() { Effect::NotStarted } else { unfinished };
            ended(Ended::Failed { message: failure.into_public_message().map(sentence) }, effect)
        }
        Some(BodyEnd::TooLarge) => ended(Ended::ResultTooLarge { max: entry.bounds().max_result() }, completed),
        Some(BodyEnd::Unserialisable) => ended(Ended::ResultInvalid, completed),
        Some(BodyEnd::Result(json)) => match checked(course, subject, json) {
            Ok(result) => ended(Ended::Executed { result }, Effect::Completed),
            Err(place) => Executed { ended: Ended::ResultInvalid, effect: completed, place },
        },
    }
}

/// The result, once it follows its own schema.
fn checked(course: &Course, subject: &Settled, json: Vec<u8>) -> Result<String, Option<SchemaPlace>> {
    let built = course.entry(subject).and_then(|held| held.built().ok()).ok_or(None)?;
    let result = String::from_utf8(json).map_err(|_| None)?;
    built.validators.result_text(&result).map_err(|ResultFault { keyword, schema_path }| {
        keyword.zip(schema_path).map(|(keyword, path)| SchemaPlace::of_schema(keyword, path))
    })?;
    Ok(result)
}
