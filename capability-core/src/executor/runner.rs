//! Who runs a body, and what can be promised of it.

use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::any::Any;

use serde::Serialize;

use crate::call::Call;
use crate::code::Code;
use crate::contract::Capability;
use crate::failure::Failure;
use crate::future::{BoxFuture, Soon, at_once};
use crate::preview::Preview;
use crate::private::{ArgumentRefusal, BodyFault, PreparedBody, Ran};

/// What keeps a body away from everything it was not lent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Isolation {
    /// Nothing but the review of its source: it runs in the host's process.
    None,
    /// A sandboxed process of its own.
    Process,
}

/// What ends a body at its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Deadline {
    /// Only its own next await: a body that never awaits goes on after it was reported as timed out.
    Cooperative,
    /// The kernel: it has ended when it is reported.
    Enforced,
}

/// A runner's promise, shown wherever its work is: in every event, in listings, in the self-check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Guarantees {
    /// What it is kept away from.
    pub isolation: Isolation,
    /// What ends it.
    pub deadline: Deadline,
    /// Whether an operator accepted that the sandbox does not hold everywhere on this machine.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub degraded: bool,
}

impl Guarantees {
    /// What any runner inside the host's own process can promise: nothing.
    pub const NONE: Self = Self { isolation: Isolation::None, deadline: Deadline::Cooperative, degraded: false };
}

/// A body that was prepared for one invocation: its arguments are parsed, its author's `check` and `preview` have run. A
/// prepared body that is not confirmed is dropped.
pub struct Prepared {
    body: Held,
    preview: Option<Box<Preview>>,
}

/// What the author's types do when they are dropped is caught: letting go of a call takes no executor along.
struct Held(Option<Body>);

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(body) = self.0.take() {
            let _ = caught(move || drop(body));
        }
    }
}

enum Body {
    /// Waits in this process.
    Here(Box<dyn PreparedBody>),
    /// Waits where only its runner knows.
    Elsewhere(Box<dyn Any + Send>),
}

impl Prepared {
    /// What a runner keeps for itself until [`Runner::run`], and the author's preview.
    #[must_use]
    pub fn elsewhere(body: Box<dyn Any + Send>, preview: Option<Preview>) -> Self {
        Self { body: Held(Some(Body::Elsewhere(body))), preview: preview.map(Box::new) }
    }

    const fn here(body: Box<dyn PreparedBody>) -> Self {
        Self { body: Held(Some(Body::Here(body))), preview: None }
    }

    /// The author's preview.
    #[must_use]
    pub fn preview(&self) -> Option<&Preview> {
        self.preview.as_deref()
    }

    /// What [`Prepared::elsewhere`] was given; `None` for a body that waits in this process.
    #[must_use]
    pub fn into_elsewhere(mut self) -> Option<Box<dyn Any + Send>> {
        match self.body.0.take()? {
            here @ Body::Here(_) => {
                self.body.0 = Some(here);
                None
            }
            Body::Elsewhere(body) => Some(body),
        }
    }
}

/// Why a body could not be prepared.
pub enum PrepareFault {
    /// Typed parsing or `check` refuses the arguments, in words for the caller.
    Refused(Code, String),
    /// The author's `preview` failed.
    Failed(Failure),
    /// It took longer than [`PREPARE_TIMEOUT`].
    TimedOut,
    /// It panicked.
    Panicked,
    /// The runner has no room.
    Saturated,
    /// The runner cannot isolate what it would run, so it runs nothing.
    Unisolated,
}

impl core::fmt::Debug for PrepareFault {
    /// Without words.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Refused(code, _) => write!(f, "Refused({code})"),
            Self::Failed(failure) => write!(f, "Failed({failure:?})"),
            Self::TimedOut => f.write_str("TimedOut"),
            Self::Panicked => f.write_str("Panicked"),
            Self::Saturated => f.write_str("Saturated"),
            Self::Unisolated => f.write_str("Unisolated"),
        }
    }
}

/// How a body ended.
pub enum BodyEnd {
    /// With a result: its JSON text, within the cap.
    Result(Vec<u8>),
    /// Its author says that it failed.
    Failed(Failure),
    /// Its result is above the cap.
    TooLarge,
    /// Its result does not serialise.
    Unserialisable,
    /// The deadline passed.
    TimedOut,
    /// It panicked.
    Panicked,
    /// The runner has no room; nothing was started.
    Saturated,
}

impl core::fmt::Debug for BodyEnd {
    /// Without the result.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Result(json) => write!(f, "Result({} bytes)", json.len()),
            Self::Failed(failure) => write!(f, "Failed({failure:?})"),
            Self::TooLarge => f.write_str("TooLarge"),
            Self::Unserialisable => f.write_str("Unserialisable"),
            Self::TimedOut => f.write_str("TimedOut"),
            Self::Panicked => f.write_str("Panicked"),
            Self::Saturated => f.write_str("Saturated"),
        }
    }
}

/// How long the author's part of validate may take.
pub const PREPARE_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs bodies. `prepare` happens at validate, before anybody is asked; `run` after confirm.
pub trait Runner: Send + Sync + 'static {
    /// What it can promise for this entry.
    fn guarantees(&self, entry: &'static Capability) -> Guarantees;

    /// Parses the arguments where the body will run, and runs the author's `check` and `preview`.
    fn prepare<'a>(
        &'a self,
        entry: &'static Capability,
        arguments: &'a [u8],
        call: &Call,
    ) -> Soon<'a, Result<Prepared, PrepareFault>>;

    /// Runs a prepared body until its call's deadline.
    fn run(&self, prepared: Prepared, call: Call) -> Soon<'_, BodyEnd>;
}

/// Runs bodies on the caller's own task. A body that blocks stalls its caller, and a deadline binds only where the body
/// awaits; both are said wherever it is used.
#[derive(Debug, Clone, Copy, Default)]
pub struct InlineRunner;

/// Typed parsing, `check` and `preview`, bounded and with panics caught: the whole of an in-process runner's `prepare`.
/// Without a preview it is done at once.
pub fn prepare_in_process(
    entry: &'static Capability,
    arguments: &[u8],
    call: &Call,
) -> Soon<'static, Result<Prepared, PrepareFault>> {
    let Some(prepare) = entry.code().prepare else {
        return Soon::Ready(Err(PrepareFault::Refused(Code::Locked, Code::Locked.message().to_owned())));
    };
    Soon::Ready(match caught(|| prepare(arguments)) {
        None => Err(PrepareFault::Panicked),
        Some(Err(ArgumentRefusal::Typed(words))) => Err(PrepareFault::Refused(Code::ArgumentRefused, words)),
        Some(Err(ArgumentRefusal::Check(words))) => Err(PrepareFault::Refused(Code::CheckRefused, words)),
        Some(Ok(body)) if body.previews() => return Soon::Later(Box::pin(preview_in_process(body, call.clone()))),
        Some(Ok(body)) => Ok(Prepared::here(body)),
    })
}

async fn preview_in_process(body: Box<dyn PreparedBody>, call: Call) -> Result<Prepared, PrepareFault> {
    let (body, preview) = match tokio::time::timeout(PREPARE_TIMEOUT, CatchUnwind(Some(body.preview(call)))).await {
        Err(_) => return Err(PrepareFault::TimedOut),
        Ok(None) => return Err(PrepareFault::Panicked),
        Ok(Some(both)) => both,
    };
    // Held before the preview is looked at: a body that is let go must not take its caller along.
    let mut prepared = Prepared::here(body);
    let preview = preview.map_err(PrepareFault::Failed)?;
    if !preview.is_within_bounds() {
        return Err(PrepareFault::Failed(Failure::public("the preview is too long to be read by a person")));
    }
    prepared.preview = Some(Box::new(preview));
    Ok(prepared)
}

/// The body under its deadline, with panics caught: the whole of an in-process runner's `run`. A body that is no future runs
/// here and now.
#[must_use = "futures do nothing unless they are awaited"]
pub fn run_in_process(mut prepared: Prepared, call: Call) -> Soon<'static, BodyEnd> {
    let Some(Body::Here(body)) = prepared.body.0.take() else {
        return Soon::Ready(BodyEnd::Panicked);
    };
    // What never waits has no use for a deadline.
    let deadline = body.waits().then(|| call.deadline());
    // The first step of a body may be written outside its future: making it can panic too.
    match caught(|| body.run(call)) {
        None => Soon::Ready(BodyEnd::Panicked),
        Some(Soon::Ready(ran)) => Soon::Ready(ran.into()),
        Some(Soon::Later(running)) => {
            let deadline = deadline.unwrap_or_else(tokio::time::Instant::now);
            Soon::Later(Box::pin(until(deadline, CatchUnwind(Some(running)))))
        }
    }
}

async fn until(deadline: tokio::time::Instant, mut running: CatchUnwind<Ran>) -> BodyEnd {
    let ended = match at_once(&mut running).await {
        Some(ended) => ended,
        None => match tokio::time::timeout_at(deadline, running).await {
            Ok(ended) => ended,
            Err(_) => return BodyEnd::TimedOut,
        },
    };
    ended.map_or(BodyEnd::Panicked, BodyEnd::from)
}

impl From<Ran> for BodyEnd {
    fn from(ran: Ran) -> Self {
        match ran {
            Ok(result) => Self::Result(result),
            Err(BodyFault::Failed(failure)) => Self::Failed(failure),
            Err(BodyFault::TooLarge) => Self::TooLarge,
            Err(BodyFault::Unserialisable) => Self::Unserialisable,
        }
    }
}

impl Runner for InlineRunner {
    fn guarantees(&self, _: &'static Capability) -> Guarantees {
        Guarantees::NONE
    }

    fn prepare<'a>(
        &'a self,
        entry: &'static Capability,
        arguments: &'a [u8],
        call: &Call,
    ) -> Soon<'a, Result<Prepared, PrepareFault>> {
        prepare_in_process(entry, arguments, call)
    }

    fn run(&self, prepared: Prepared, call: Call) -> Soon<'_, BodyEnd> {
        run_in_process(prepared, call)
    }
}

/// What `act` returns, or none when it panics. A panic's own value may panic once more when it is dropped; the next one is
/// leaked, not chased.
pub(crate) fn caught<T>(act: impl FnOnce() -> T) -> Option<T> {
    match std::panic::catch_unwind(AssertUnwindSafe(act)) {
        Ok(value) => Some(value),
        Err(payload) => {
            if let Err(again) = std::panic::catch_unwind(AssertUnwindSafe(move || drop(payload))) {
                core::mem::forget(again);
            }
            None
        }
    }
}

/// A boxed future whose panics become `None`. It is not polled again after one.
struct CatchUnwind<T>(Option<BoxFuture<'static, T>>);

impl<T> Future for CatchUnwind<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(running) = self.0.as_mut() else {
            return Poll::Ready(None);
        };
        match caught(|| running.as_mut().poll(context)) {
            Some(Poll::Pending) => Poll::Pending,
            Some(Poll::Ready(value)) => Poll::Ready(Some(value)),
            None => Poll::Ready(None),
        }
    }
}

impl<T> Drop for CatchUnwind<T> {
    /// What a body leaves behind may panic when it is dropped, after a timeout for instance; that must not take the
    /// executor along.
    fn drop(&mut self) {
        let left = self.0.take();
        let _ = caught(move || drop(left));
    }
}
