//! Stage five: the body, bounded.

use super::invocation::{Confirmed, Course, Executed, Invocation, Stopped};
use super::outcome::{Effect, Ended, sentence};
use super::runner::{BodyEnd, Guarantees, Prepared};
use crate::arguments::ResultFault;
use crate::audit::{ConfiguredName, Event, Record, SchemaPlace, Submission};
use crate::call::Call;
use crate::code::{Code, Stage};
use crate::contract::{Capability, Network, SideEffect};
use crate::failure::Failure;
use crate::future::{Soon, at_once};
use crate::handle::{HandleFamily, ToolReply};

impl Invocation<Confirmed> {
    pub(super) async fn into_executed(self) -> Result<Invocation<Executed>, Box<Stopped>> {
        let Self { mut course, state: Confirmed(()) } = self;
        course.ticket.stage = Stage::Execute;
        let Some(entry) = course.entry() else {
            return Err(course.refuse(Code::UnknownCapability));
        };
        if course.ticket.session.ending().has_come() {
            return Err(course.stop(Ended::Cancelled));
        }
        // Of what runs elsewhere nothing is promised here.
        let guarantees = match course.decided.as_ref().filter(|decided| decided.runs_elsewhere()) {
            Some(_) => Guarantees::NONE,
            None => course.ticket.executor.runner.guarantees(entry),
        };
        course.ticket.guarantees = Some(guarantees);
        if let Some(recorded) = recorded_first(&mut course, entry, guarantees) {
            if recorded.durable().await.is_err() {
                course.ticket.guarantees = None;
                return Err(course.refuse(Code::AuditUnavailable));
            }
            course.ticket.waited();
            // It may have ended while the intent was on its way: what comes later begins no more.
            if course.ticket.session.ending().has_come() {
                course.ticket.guarantees = None;
                return Err(course.stop(Ended::Cancelled));
            }
        }
        let Some((prepared, mut call)) = course.prepared.take() else {
            // Nothing is confirmed that was not prepared; this is the fail-closed end of a path that does not exist.
            course.ticket.guarantees = None;
            return Err(course.refuse(Code::MissingRuntimeBinding));
        };
        // From here on a record that nobody finishes says what may have happened.
        course.ticket.effect = Effect::of_unfinished(entry, course.class(entry));
        call.confirm(course.answered);
        let mut cancelled = false;
        let end = match course.running(prepared, call) {
            Soon::Ready(end) => end,
            Soon::Later(mut running) => match at_once(&mut running).await {
                Some(end) => end,
                None => tokio::select! {
                    biased;
                    end = &mut running => end,
                    () = course.ticket.session.ending().comes() => {
                        cancelled = true;
                        BodyEnd::TimedOut
                    }
                },
            },
        };
        // Nobody answers for the body from here on: whatever is left of it is served nothing more.
        course.held = None;
        let end = course.delivered(end);
        course.settle(entry, end);
        if cancelled {
            // The session ended before the deadline came; what is known of the world is the same.
            course.ended = Some(Ended::Cancelled);
        }
        Ok(Invocation { course, state: Executed(()) })
    }
}

/// What must be in the log before the body runs: the intent of a call that leaves a trace, and every secret that is bound to
/// it. The submission of the last one stands for those before it: the log keeps their order.
fn recorded_first(course: &mut Course, entry: &Capability, guarantees: Guarantees) -> Option<Submission> {
    let class = course.class(entry);
    let leaves_a_trace = class.side_effect == SideEffect::Mutating || class.network == Network::External;
    let stands_in = course.decided.as_ref().is_some_and(|decided| decided.fallback_from.is_some());
    if !leaves_a_trace && entry.handles().is_empty() && !stands_in {
        return None;
    }
    // The author's own part may have taken its time.
    course.ticket.waited();
    let (asked, approval) = (|| course.ticket.asked(), course.ticket.approval);
    let intent = leaves_a_trace.then(|| Event::Intent { asked: asked(), approval, guarantees });
    let secrets = entry.handles().iter().filter(|kind| kind.family() == HandleFamily::Secret);
    let broker = &course.ticket.executor.broker;
    let bindings = secrets.filter_map(|kind| {
        let (source, name) = (broker.secret_source(kind.instance()), ConfiguredName::of(kind.instance())?);
        Some(Event::SecretBinding { asked: asked(), handle: kind.family(), source, name })
    });
    let secrets = course.prepared.as_ref().and_then(|(prepared, _)| prepared.preview()).map_or(&[][..], |p| &p.secrets);
    let given = secrets.iter().filter_map(|one| {
        let (source, name) = (broker.secret_source(&one.secret), ConfiguredName::of(&one.secret)?);
        Some(Event::SecretBinding { asked: asked(), handle: HandleFamily::Terminal, source, name })
    });
    let fallback = stands_in.then(|| Event::ProviderFallback { asked: asked() });
    fallback
        .into_iter()
        .chain(intent)
        .chain(bindings)
        .chain(given)
        .fold(None, |_, event| Some(course.ticket.submit(Record { at: course.ticket.at(), event })))
}

/// What another provider gives back, if it keeps to the entry's cap.
fn within(end: BodyEnd, most: u64) -> BodyEnd {
    match end {
        BodyEnd::Result(json) if json.len() as u64 > most => BodyEnd::TooLarge,
        end => end,
    }
}

impl Course {
    /// The body on its way: with whoever the decision says carries it out.
    fn running(&self, prepared: Prepared, call: Call) -> Soon<'_, BodyEnd> {
        let executor = &self.ticket.executor;
        match self.decided.as_ref().filter(|decided| decided.runs_elsewhere()) {
            Some(decided) => {
                let (deadline, most) = (call.deadline(), call.max_result());
                match executor.providers.run(decided, self.arguments.as_bytes(), call) {
                    Soon::Ready(end) => Soon::Ready(within(end, most)),
                    Soon::Later(running) => Soon::Later(Box::pin(async move {
                        let ended = tokio::time::timeout_at(deadline, running).await;
                        ended.map_or(BodyEnd::TimedOut, |end| within(end, most))
                    })),
                }
            }
            None => executor.runner.run(prepared, call),
        }
    }

    /// The end as it is delivered: what a provider says that is not the one any more under which the call was admitted is not.
    fn delivered(&self, end: BodyEnd) -> BodyEnd {
        let Some(decided) = &self.decided else { return end };
        let provided = decided.tool.is_some() || decided.runs_elsewhere();
        let who = self.ticket.session.identity();
        if provided && matches!(end, BodyEnd::Result(_)) && !self.ticket.executor.may_deliver(decided, who) {
            return BodyEnd::Failed(Failure::public(
                "the provider went away, or its tool changed, before the answer was there: it is not given",
            ));
        }
        end
    }

    /// What the body's end means for the caller and for the world.
    fn settle(&mut self, entry: &Capability, end: BodyEnd) {
        let unfinished = Effect::of_unfinished(entry, self.class(entry));
        // A result that cannot be given is still a body that ran to its end.
        let completed = match unfinished {
            Effect::NotStarted => Effect::NotStarted,
            Effect::Completed | Effect::Unknown => Effect::Completed,
        };
        let (ended, effect) = match end {
            BodyEnd::TimedOut => (Ended::TimedOut, unfinished),
            BodyEnd::Panicked => (Ended::Panicked, unfinished),
            BodyEnd::Saturated => {
                // Nothing ran, so nothing was promised of it.
                self.ticket.guarantees = None;
                (Ended::Rejected(Code::RunnerSaturated.into()), Effect::NotStarted)
            }
            BodyEnd::Failed(failure) => {
                let effect = if failure.is_before_effect() { Effect::NotStarted } else { unfinished };
                (Ended::Failed { message: failure.into_public_message().map(sentence) }, effect)
            }
            BodyEnd::TooLarge => (Ended::ResultTooLarge { max: entry.bounds().max_result() }, completed),
            BodyEnd::Unserialisable => (Ended::ResultInvalid, completed),
            BodyEnd::Result(json) => match self.checked(json) {
                Ok((result, provider_failed)) => {
                    self.provider_failed = provider_failed;
                    (Ended::Executed { result }, Effect::Completed)
                }
                Err(place) => {
                    self.place = place;
                    (Ended::ResultInvalid, completed)
                }
            },
        };
        self.ticket.effect = effect;
        self.ended = Some(ended);
    }

    /// The result, once it follows its own schema, and whether a provider's tool says in it that it failed.
    pub(super) fn checked(&self, json: Vec<u8>) -> Result<(String, bool), Option<SchemaPlace>> {
        let built = self.registered().and_then(|held| held.built().ok()).ok_or(None)?;
        let result = String::from_utf8(json).map_err(|_| None)?;
        built.validators.result_text(&result).map_err(|ResultFault { keyword, schema_path }| {
            keyword.zip(schema_path).map(|(keyword, path)| SchemaPlace::of_schema(keyword, path))
        })?;
        if let Some(tool) = self.decided.as_ref().and_then(|decided| decided.tool.as_ref()) {
            let reply: ToolReply = serde_json::from_str(&result).map_err(|_| None)?;
            // Whatever says that it failed promises nothing.
            if !reply.is_error && !tool.keeps_its_promise(reply.structured.as_ref(), result.len()) {
                return Err(None);
            }
            return Ok((result, reply.is_error));
        }
        Ok((result, false))
    }
}
