//! One rule, as it is written.

use core::fmt;
use core::num::NonZeroU32;
use core::str::FromStr;
use core::time::Duration;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Verdict;
use super::mistake::Mistake;
use super::selector::{CapabilityPattern, Selector};
use super::targets::{TargetPattern, shown};
use super::window::Window;
use crate::contract::SideEffect;
use crate::session::{Origin, Subject};
use crate::time::Timestamp;

/// A rule's name: `[a-z0-9][a-z0-9._-]{0,63}`. The one text of an operator's that the log holds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RuleId(Arc<str>);

impl RuleId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RuleId {
    type Err = Mistake;

    fn from_str(text: &str) -> Result<Self, Mistake> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let head = text.bytes().next().is_some_and(plain);
        if head && text.len() <= 64 && text.bytes().all(|b| plain(b) || b"._-".contains(&b)) {
            Ok(Self(text.into()))
        } else {
            Err(Mistake::new(
                format!("`{}` is no rule's id", shown(text)),
                "an id is 1 to 64 characters of `a-z 0-9 . _ -` and begins with a letter or a digit",
            ))
        }
    }
}

impl TryFrom<String> for RuleId {
    type Error = Mistake;

    fn try_from(text: String) -> Result<Self, Mistake> {
        text.parse()
    }
}

impl From<RuleId> for String {
    fn from(id: RuleId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a rule says to the calls it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// This narrower case is not raised by a broader rule of the same source. It never lowers a floor.
    Allow,
    /// Ask.
    Ask,
    /// Ask for a fresh answer to this very call.
    AskFresh,
    /// No.
    Deny,
}

impl RuleEffect {
    /// The verdict it contributes when it decides.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::Allow => Verdict::Allow,
            Self::Ask => Verdict::Ask,
            Self::AskFresh => Verdict::AskFresh,
            Self::Deny => Verdict::Deny,
        }
    }

    /// The word in a rule.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.verdict().as_str()
    }
}

/// Why a rule is there, in the operator's words, for whoever is refused or asked: one line of at most 300 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Reason(Arc<str>);

/// The longest reason, in characters.
const MAX_REASON_CHARS: usize = 300;

impl Reason {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Reason {
    type Error = Mistake;

    fn try_from(text: String) -> Result<Self, Mistake> {
        // What turns text around or is invisible would let a reason look like something else.
        let hidden = |c: char| {
            c.is_control()
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        };
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_REASON_CHARS || text.contains(hidden) {
            return Err(Mistake::new(
                "a `reason` is empty, too long, or holds characters that cannot be seen",
                format!("write one plain line of at most {MAX_REASON_CHARS} characters, for whoever meets the rule"),
            ));
        }
        Ok(Self(text.into()))
    }
}

/// How far a standing grant may go where a rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "WrittenLimit")]
pub enum MaxGrant {
    /// No grant answers what this rule matches.
    Never,
    /// At most so long, and so often.
    Within {
        /// How long; as long as anything else allows when absent.
        duration: Option<Duration>,
        /// How often; as often as anything else allows when absent.
        uses: Option<NonZeroU32>,
    },
}

impl MaxGrant {
    /// The stricter of both, part by part.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        fn less<T: Ord>(one: Option<T>, another: Option<T>) -> Option<T> {
            match (one, another) {
                (Some(one), Some(another)) => Some(one.min(another)),
                (one, another) => one.or(another),
            }
        }
        match (self, other) {
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Within { duration, uses }, Self::Within { duration: long, uses: often }) => {
                Self::Within { duration: less(duration, long), uses: less(uses, often) }
            }
        }
    }
}

/// `"never"`, or `{ duration = "30m", uses = 5 }`.
struct WrittenLimit(Option<LimitTable>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitTable {
    duration: Option<String>,
    uses: Option<NonZeroU32>,
}

const LIMIT: &str = "write `\"never\"`, or `{ duration = \"30m\", uses = 5 }` with one or both";

impl<'de> Deserialize<'de> for WrittenLimit {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> serde::de::Visitor<'de> for Either {
            type Value = WrittenLimit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`\"never\"` or a table with `duration` and `uses`")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WrittenLimit, E> {
                if text == "never" {
                    Ok(WrittenLimit(None))
                } else {
                    Err(E::custom(Mistake::new(format!("`max_grant` is `{}`", shown(text)), LIMIT)))
                }
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<WrittenLimit, A::Error> {
                let table = serde::de::value::MapAccessDeserializer::new(map);
                LimitTable::deserialize(table).map(|table| WrittenLimit(Some(table)))
            }
        }
        from.deserialize_any(Either)
    }
}

impl TryFrom<WrittenLimit> for MaxGrant {
    type Error = Mistake;

    fn try_from(WrittenLimit(written): WrittenLimit) -> Result<Self, Mistake> {
        match written {
            None => Ok(Self::Never),
            Some(LimitTable { duration: None, uses: None }) => Err(Mistake::new("`max_grant` says nothing", LIMIT)),
            Some(LimitTable { duration, uses }) => {
                Ok(Self::Within { duration: duration.as_deref().map(duration_of).transpose()?, uses })
            }
        }
    }
}

/// `90s`, `30m`, `1h`: up to a day.
fn duration_of(text: &str) -> Result<Duration, Mistake> {
    let seconds = |text: &str| -> Option<u64> {
        let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let factor = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            _ => return None,
        };
        let plain = !digits.is_empty() && digits.len() <= 5 && digits.bytes().all(|b| b.is_ascii_digit());
        plain.then_some(())?;
        digits.parse::<u64>().ok()?.checked_mul(factor).filter(|seconds| (1..=86_400).contains(seconds))
    };
    seconds(text).map(Duration::from_secs).ok_or_else(|| {
        Mistake::new(
            format!("`{}` is no duration", shown(text)),
            "write seconds, minutes or hours as `90s`, `30m`, `1h`, up to `24h`",
        )
    })
}

/// A call that a rule's author is sure about, checked when the policy is loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Example {
    /// Who asks; `local` when absent.
    pub subject: Option<Subject>,
    /// What is asked for, by name or by name and scope; the rule's own when absent and the rule names one.
    pub capability: Option<CapabilityPattern>,
    /// What it acts on, as the argument would say it; the words of a command as a list.
    pub target: Option<ExampleTarget>,
    /// What brought the session; `model` when absent.
    pub origin: Option<Origin>,
    /// When; to be written when the rule has a window.
    pub at: Option<Timestamp>,
}

/// A target as an example writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExampleTarget {
    /// One text.
    Text(String),
    /// The words of a command.
    Argv(Vec<String>),
}

impl<'de> Deserialize<'de> for ExampleTarget {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> serde::de::Visitor<'de> for Either {
            type Value = ExampleTarget;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of words for a command")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ExampleTarget, E> {
                Ok(ExampleTarget::Text(text.to_owned()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut words: A) -> Result<ExampleTarget, A::Error> {
                let mut argv = Vec::new();
                while let Some(word) = words.next_element()? {
                    argv.push(word);
                }
                Ok(ExampleTarget::Argv(argv))
            }
        }
        from.deserialize_any(Either)
    }
}

impl ExampleTarget {
    /// As the text that a call's argument would be judged by.
    #[must_use]
    pub fn as_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Argv(words) => serde_json::Value::from(words.clone()).to_string(),
        }
    }
}

/// One rule.
///
/// It matches a call that its selector selects and none of its exceptions does. In TOML:
///
/// ```toml
/// [[rule]]
/// id = "no-admin-pages"
/// effect = "deny"
/// reason = "the router's pages are not for agents"
/// capability = "web.fetch"
/// target = { host = "router.lan", path = "/admin/**" }
/// except = [{ subject = "local" }]
/// match = [{ subject = "agent:web", target = "http://router.lan/admin/users" }]
/// not_match = [{ subject = "agent:web", target = "http://router.lan/" }]
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Rule {
    /// Its name: unique in its source.
    pub id: RuleId,
    /// What it says.
    pub effect: RuleEffect,
    /// Why it is there; a rule that allows or denies has one.
    pub reason: Option<Reason>,
    /// Which calls it is about.
    pub selector: Selector,
    /// Which of those it leaves out; only for rules that raise.
    pub except: Vec<Selector>,
    /// How far a grant may go where it matches.
    pub max_grant: Option<MaxGrant>,
    /// Calls that it must match.
    pub matching: Vec<Example>,
    /// Calls that it must not match.
    pub not_matching: Vec<Example>,
}

/// As it is written: flat.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    id: RuleId,
    effect: RuleEffect,
    reason: Option<Reason>,
    subject: Option<Subject>,
    #[serde(default)]
    capability: CapabilityPattern,
    action: Option<SideEffect>,
    target: Option<TargetPattern>,
    when: Option<Window>,
    origin: Option<Origin>,
    #[serde(default)]
    except: Vec<Selector>,
    max_grant: Option<MaxGrant>,
    #[serde(default, rename = "match")]
    matching: Vec<Example>,
    #[serde(default, rename = "not_match")]
    not_matching: Vec<Example>,
}

/// The most exceptions of one rule.
pub const MAX_EXCEPTIONS: usize = 32;

impl TryFrom<Written> for Rule {
    type Error = Mistake;

    fn try_from(written: Written) -> Result<Self, Mistake> {
        let Written { id, effect, reason, subject, capability, action, target, when, origin, .. } = written;
        let mistake = |what: &str, help: &str| Err(Mistake::new(format!("rule `{id}` {what}"), help));
        if reason.is_none() && matches!(effect, RuleEffect::Allow | RuleEffect::Deny) {
            return mistake(
                "has no `reason`",
                "a rule that allows or denies says why: `reason = \"…\"`, in words for whoever meets it",
            );
        }
        if effect == RuleEffect::Allow && !written.except.is_empty() {
            return mistake(
                "allows and has an `except`",
                "write the exception as a rule of its own: `ask`, `ask_fresh` or `deny`, narrower than this one",
            );
        }
        if written.except.iter().any(Selector::is_everything) {
            return mistake(
                "has an exception that is everything, so it would never match",
                "say in `except` what is left out",
            );
        }
        if written.except.len() > MAX_EXCEPTIONS {
            return mistake("has too many exceptions", "split it, or exclude whole families and hosts");
        }
        if effect == RuleEffect::Deny && written.max_grant.is_some() {
            return mistake("denies and has a `max_grant`", "leave it out: no grant answers a denial");
        }
        let selector = Selector { subject, capability, action, target, when, origin };
        let Written { except, max_grant, matching, not_matching, .. } = written;
        Ok(Self { id, effect, reason, selector, except, max_grant, matching, not_matching })
    }
}

#[cfg(test)]
mod tests;
