//! How an invocation ended, as its caller sees it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::approval::{ApprovalId, DenialReason, Successor};
use crate::audit::{OutcomeKind, Receipt};
use crate::code::{Code, Stage};
use crate::contract::{Capability, Class, Network, SideEffect};
use crate::handle::HandleFamily;
use crate::observation::Observation;
use crate::provider::{Diagnostic, ProviderDecision};
use crate::redact::Redactor;
use crate::time::Timestamp;

/// What became of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing was changed, sent or stored.
    NotStarted,
    /// The body ran to its end.
    Completed,
    /// The body began and its end was not seen: it may have happened, wholly or in part.
    Unknown,
}

impl Effect {
    /// The word used in outcomes and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotStarted => "not_started",
            Self::Completed => "completed",
            Self::Unknown => "unknown",
        }
    }

    /// What is known of an entry's body that began and gave no result. Only what neither changes nor leaves anything can be
    /// called off without a trace; a read-only and local body can still have written into its subject's journal.
    pub(crate) fn of_unfinished(entry: &Capability, class: Class) -> Self {
        match (class.side_effect, class.network) {
            (SideEffect::ReadOnly, Network::Local) if entry.holds(HandleFamily::Journal) => Self::Unknown,
            (SideEffect::ReadOnly, Network::Local) => Self::NotStarted,
            (SideEffect::ReadOnly, Network::External)
            | (SideEffect::Mutating, Network::Local)
            | (SideEffect::Mutating, Network::External) => Self::Unknown,
        }
    }
}

/// The longest message in an author's words that a caller is given, in bytes: a failure is a sentence, and no way around the
/// cap on results. A longer one is cut.
pub const MAX_MESSAGE_BYTES: usize = 4096;

/// What stands where words were cut.
const CUT: &str = "…";

/// An author's words, cut where they are too long.
pub(super) fn sentence(mut words: String) -> String {
    if words.len() > MAX_MESSAGE_BYTES {
        words.truncate(words.floor_char_boundary(MAX_MESSAGE_BYTES - CUT.len()));
        words.push_str(CUT);
    }
    words
}

/// A stage's refusal, in words for the caller. Goes to the caller, never to the audit.
#[derive(Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason.
    pub code: Code,
    /// What was wrong.
    pub message: Cow<'static, str>,
    /// What would be right.
    pub help: Cow<'static, str>,
}

impl core::fmt::Debug for Refusal {
    /// The reason alone: the words may quote what a caller sent.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Refusal({})", self.code)
    }
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        Self { code, message: code.message().into(), help: code.help().into() }
    }
}

/// How it ended.
#[derive(Clone)]
pub enum Ended {
    /// The body ran and its result follows the schema.
    Executed {
        /// The result's JSON text.
        result: String,
    },
    /// It waits for a person. Not an error: resume it once it is answered.
    Pending {
        /// What to resume.
        approval: ApprovalId,
        /// When it expires, answered or not.
        expires_at: Timestamp,
    },
    /// A stage refused it.
    Rejected(Refusal),
    /// A person said no. Final.
    Denied {
        /// Why, as a word.
        reason: Option<DenialReason>,
        /// What the person says to the proposer.
        note: Option<String>,
    },
    /// Nobody answered in time. Final.
    Expired,
    /// A person put another call in its place, or tried to. Final for this one; what came in its place can be resumed.
    Superseded {
        /// What came in its place.
        successor: Successor,
    },
    /// The session ended.
    Cancelled,
    /// The body said that it failed.
    Failed {
        /// What its author marked public, at most [`MAX_MESSAGE_BYTES`] of it.
        message: Option<String>,
    },
    /// The deadline passed.
    TimedOut,
    /// The body panicked.
    Panicked,
    /// The result was above the cap.
    ResultTooLarge {
        /// The cap, in bytes of JSON text.
        max: u64,
    },
    /// The result did not follow its own schema.
    ResultInvalid,
    /// It ran, and its result is not given.
    Withheld {
        /// Why.
        code: Code,
    },
}

impl Ended {
    /// The word for it.
    #[must_use]
    pub const fn kind(&self) -> OutcomeKind {
        match self {
            Self::Executed { .. } => OutcomeKind::Executed,
            Self::Pending { .. } => OutcomeKind::Pending,
            Self::Rejected(_) => OutcomeKind::Rejected,
            Self::Denied { .. } => OutcomeKind::Denied,
            Self::Expired => OutcomeKind::Expired,
            Self::Superseded { .. } => OutcomeKind::Superseded,
            Self::Cancelled => OutcomeKind::Cancelled,
            Self::Failed { .. } => OutcomeKind::Failed,
            Self::TimedOut => OutcomeKind::TimedOut,
            Self::Panicked => OutcomeKind::Panicked,
            Self::ResultTooLarge { .. } => OutcomeKind::ResultTooLarge,
            Self::ResultInvalid => OutcomeKind::ResultInvalid,
            Self::Withheld { .. } => OutcomeKind::Withheld,
        }
    }
}

impl Ended {
    /// It without secrets in anybody's words. A result that they are taken out of is given if `fits` gives it back.
    pub(super) fn redacted(self, redactor: &Arc<Redactor>, fits: impl FnOnce(String) -> Option<String>) -> Self {
        let text = |text: String| without(redactor, &text);
        match self {
            Self::Executed { result } => match redactor.looked_through(&result) {
                Ok(Cow::Borrowed(_)) => Self::Executed { result },
                Ok(Cow::Owned(redacted)) => match fits(redacted) {
                    Some(result) => Self::Executed { result },
                    None => Self::Withheld { code: Code::ResultRedacted },
                },
                Err(_) => Self::Withheld { code: Code::RedactorFailed },
            },
            Self::Rejected(Refusal { code, message, help }) => {
                let words = |words: Cow<'static, str>| match words {
                    // Ours, and the same for everybody.
                    Cow::Borrowed(words) => Cow::Borrowed(words),
                    Cow::Owned(words) => text(words).into(),
                };
                Self::Rejected(Refusal { code, message: words(message), help: words(help) })
            }
            Self::Denied { reason, note } => Self::Denied { reason, note: note.map(text) },
            Self::Failed { message } => Self::Failed { message: message.map(text) },
            plain @ (Self::Pending { .. }
            | Self::Expired
            | Self::Superseded { .. }
            | Self::Cancelled
            | Self::TimedOut
            | Self::Panicked
            | Self::ResultTooLarge { .. }
            | Self::ResultInvalid
            | Self::Withheld { .. }) => plain,
        }
    }
}

/// Words without secrets. Where they were cut, the beginning of one goes, too.
fn without(redactor: &Arc<Redactor>, words: &str) -> String {
    // A cut leaves no more than one character less than there is room.
    let cut = words.strip_suffix(CUT).filter(|_| words.len() + 4 > MAX_MESSAGE_BYTES);
    let Some(begun) = cut else { return redactor.text(words).into_owned() };
    let (mut stream, mut told) = (redactor.stream(), Vec::with_capacity(words.len()));
    stream.push(begun.as_bytes(), &mut told);
    stream.cut(&mut told);
    String::from_utf8_lossy(&told).into_owned() + CUT
}

impl core::fmt::Debug for Ended {
    /// Without result, note and message: they go to the caller and nowhere else.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.kind().as_str())?;
        match self {
            Self::Executed { result } => write!(f, "({} bytes)", result.len()),
            Self::Pending { approval, expires_at } => write!(f, "({approval}, {expires_at})"),
            Self::Rejected(refusal) => write!(f, "({})", refusal.code),
            Self::Withheld { code } => write!(f, "({code})"),
            Self::ResultTooLarge { max } => write!(f, "({max} bytes at most)"),
            Self::Denied { .. }
            | Self::Expired
            | Self::Superseded { .. }
            | Self::Cancelled
            | Self::Failed { .. }
            | Self::TimedOut
            | Self::Panicked
            | Self::ResultInvalid => Ok(()),
        }
    }
}

/// The answer to one invocation.
///
/// As JSON: `outcome`, `effect`, and where there are such, `stage`, `code`, `message`, `help`, `result`, `provider_failed`, `approval` with
/// `id` and `expires_at`, `reason` of a denial, `successor` of a superseded call, `diagnostic` with `kind` and `message` where it is one of the seven ways, `notice`, `trace`, `receipt` with `seq` and `hash`.
#[derive(Debug, Clone)]
#[must_use = "an outcome says whether anything happened"]
pub struct Outcome {
    /// What was asked for, when that is a capability.
    pub(crate) entry: Option<&'static Capability>,
    pub(crate) ended: Ended,
    pub(crate) effect: Effect,
    pub(crate) stage: Stage,
    pub(crate) receipt: Option<Receipt>,
    /// The decision that it went under, where that is not the registry's own.
    pub(crate) decided: Option<Arc<ProviderDecision>>,
    /// Whether the provider's tool ran to its end and says that it failed.
    pub(crate) provider_failed: bool,
}

impl Outcome {
    /// It as data: with where its content comes from, and in a frame that the content cannot leave.
    #[must_use]
    pub fn observation(&self) -> Observation {
        Observation::of(self.entry, self)
    }

    /// How it ended, with whatever belongs to that.
    #[must_use]
    pub const fn ended(&self) -> &Ended {
        &self.ended
    }

    /// The word for it.
    #[must_use]
    pub const fn kind(&self) -> OutcomeKind {
        self.ended.kind()
    }

    /// Whether the provider's tool ran to its end and says that it failed: the result is what it says of that.
    #[must_use]
    pub const fn provider_failed(&self) -> bool {
        self.provider_failed
    }

    /// What became of the world.
    #[must_use]
    pub const fn effect(&self) -> Effect {
        self.effect
    }

    /// The stage it reached, or that refused it.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        self.stage
    }

    /// Proof of its record; absent only while the log itself is down.
    #[must_use]
    pub const fn receipt(&self) -> Option<Receipt> {
        self.receipt
    }

    /// The decision that it went under; none for what this host carries out by itself, as for what got no further than
    /// resolve.
    #[must_use]
    pub fn provider(&self) -> Option<&ProviderDecision> {
        self.decided.as_deref()
    }

    /// Which of the seven ways it went, other than the caller thought; none where there is nothing to say.
    #[must_use]
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        match self.code() {
            Some(code) => Diagnostic::of(code),
            None => self.decided.as_ref().and_then(|decided| decided.diagnostic()),
        }
    }

    /// What a person is told beside the outcome: that another provider served, or that one works less well than it could.
    #[must_use]
    pub fn notice(&self) -> Option<&str> {
        let decided = self.decided.as_ref().filter(|decided| decided.code.is_none())?;
        decided.user_visible_message.as_deref()
    }

    /// The result's JSON text, when there is one.
    #[must_use]
    pub fn result(&self) -> Option<&str> {
        match &self.ended {
            Ended::Executed { result } => Some(result),
            _ => None,
        }
    }

    /// The reason, when a stage refused it or its result is withheld.
    #[must_use]
    pub const fn code(&self) -> Option<Code> {
        match &self.ended {
            Ended::Rejected(refusal) => Some(refusal.code),
            Ended::Withheld { code } => Some(*code),
            _ => None,
        }
    }

    /// What to resume, when it waits for a person.
    #[must_use]
    pub const fn approval(&self) -> Option<ApprovalId> {
        match &self.ended {
            Ended::Pending { approval, .. } => Some(*approval),
            _ => None,
        }
    }

    /// One sentence for people; absent when the result speaks for itself.
    #[must_use]
    pub fn message(&self) -> Option<Cow<'_, str>> {
        Some(match &self.ended {
            Ended::Executed { .. } => return None,
            Ended::Pending { .. } => "a person must answer before this runs".into(),
            Ended::Rejected(refusal) => refusal.message.as_ref().into(),
            Ended::Denied { reason, note } => {
                let reason = reason.map(|reason| format!(": {}", reason.sentence()));
                let note = note.as_ref().map(|note| format!(": {note}"));
                ["a person said no".to_owned(), reason.unwrap_or_default(), note.unwrap_or_default()].concat().into()
            }
            Ended::Expired => "nobody answered in time".into(),
            Ended::Superseded { successor: Successor::By(_) } => "a person put another call in its place".into(),
            Ended::Superseded { successor: Successor::Refused(code) } => {
                format!("a person changed this call, and the changed one was refused: {}", code.message()).into()
            }
            Ended::Cancelled => "the session ended before this did".into(),
            Ended::Failed { message: Some(message) } => message.into(),
            Ended::Failed { message: None } => "the capability failed; its reason is private".into(),
            Ended::TimedOut => "the capability did not end in time".into(),
            Ended::Panicked => "the capability stopped unexpectedly".into(),
            Ended::ResultTooLarge { max } => format!("the result is larger than {max} bytes").into(),
            Ended::ResultInvalid => "the result does not follow the capability's own schema".into(),
            Ended::Withheld { code } => code.message().into(),
        })
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<Cow<'_, str>> {
        Some(match &self.ended {
            Ended::Executed { .. } => return None,
            Ended::Pending { approval, .. } => {
                format!("an operator runs `capability approvals approve {approval}`, then `capability resume {approval}` finishes it")
                    .into()
            }
            Ended::Rejected(refusal) => refusal.help.as_ref().into(),
            Ended::Denied { .. } => "this answer is final for this proposal; do not repeat it unchanged".into(),
            Ended::Expired => "propose the call again when somebody can answer".into(),
            Ended::Superseded { successor: Successor::By(by) } => {
                format!("`capability resume {by}` finishes the call that came in its place").into()
            }
            Ended::Superseded { successor: Successor::Refused(_) } => {
                "nothing has happened; propose a call that says what is meant".into()
            }
            Ended::Cancelled => "open a new session".into(),
            Ended::ResultTooLarge { .. } => match self.effect {
                Effect::NotStarted => "ask for less".into(),
                Effect::Completed | Effect::Unknown => {
                    "it has happened; look at its effect before asking again, and ask for less".into()
                }
            },
            Ended::ResultInvalid => match self.effect {
                Effect::NotStarted => "report it to the capability's author".into(),
                Effect::Completed | Effect::Unknown => {
                    "it has happened; report the result to the capability's author".into()
                }
            },
            Ended::Failed { .. } | Ended::TimedOut | Ended::Panicked => match self.effect {
                Effect::NotStarted => "nothing has happened; it may be tried again".into(),
                Effect::Completed | Effect::Unknown => {
                    "it may have happened, wholly or in part; look at its effect before trying again".into()
                }
            },
            Ended::Withheld { code } => code.help().into(),
        })
    }
}

impl Serialize for Outcome {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Waiting {
            id: ApprovalId,
            expires_at: Timestamp,
        }
        #[derive(Serialize)]
        struct Way {
            kind: Diagnostic,
            message: &'static str,
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("outcome", &self.kind())?;
        map.serialize_entry("effect", &self.effect)?;
        if let Ended::Rejected(refusal) = &self.ended {
            map.serialize_entry("stage", &self.stage)?;
            map.serialize_entry("code", &refusal.code)?;
        }
        if let Ended::Withheld { code } = &self.ended {
            map.serialize_entry("code", code)?;
        }
        if let Some(message) = self.message() {
            map.serialize_entry("message", &message)?;
        }
        if let Some(help) = self.help() {
            map.serialize_entry("help", &help)?;
        }
        if let Ended::Executed { result } = &self.ended {
            map.serialize_entry("result", &RawValue::from_string(result.clone()).map_err(serde::ser::Error::custom)?)?;
        }
        if self.provider_failed {
            map.serialize_entry("provider_failed", &true)?;
        }
        if let Ended::Pending { approval, expires_at } = &self.ended {
            map.serialize_entry("approval", &Waiting { id: *approval, expires_at: *expires_at })?;
        }
        if let Ended::Denied { reason: Some(reason), .. } = &self.ended {
            map.serialize_entry("reason", reason)?;
        }
        if let Ended::Superseded { successor: Successor::By(by) } = &self.ended {
            map.serialize_entry("successor", by)?;
        }
        if let Some(diagnostic) = self.diagnostic() {
            map.serialize_entry("diagnostic", &Way { kind: diagnostic, message: diagnostic.message() })?;
        }
        if let Some(notice) = self.notice() {
            map.serialize_entry("notice", notice)?;
        }
        if let Some(trace) = self.decided.as_ref().map(|decided| &decided.trace_fields).filter(|own| !own.is_empty()) {
            map.serialize_entry("trace", &trace.iter().copied().collect::<BTreeMap<_, _>>())?;
        }
        if let Some(receipt) = self.receipt {
            map.serialize_entry("receipt", &receipt)?;
        }
        map.end()
    }
}
