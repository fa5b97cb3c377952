//! Whether rules fit what is registered: names that exist, targets that can match, examples that hold.
//!
//! A rule that looks right and does nothing is worse than none, so whatever can be seen to be in vain is refused when the
//! policy is loaded, and what is merely strange is told.

use core::ops::Bound;
use std::collections::BTreeMap;

use super::judge::{self, Asking, Fate};
use super::mistake::Mistake;
use super::pattern::Token;
use super::rule::{Example, Rule, RuleEffect};
use super::selector::{CapabilityPattern, Selector};
use super::set::{Policy, PolicyMistake, RuleRef};
use super::targets::{TargetFamily, TargetPattern, shown};
use crate::contract::{Capability, DefaultEffect};
use crate::nearest;
use crate::session::{Origin, Subject};
use crate::time::Timestamp;

/// Something strange about a rule that stands in nobody's way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    /// Which rule.
    pub rule: RuleRef,
    /// What is strange, and what would be better.
    pub mistake: Mistake,
}

/// What rules are held against when they are loaded.
#[derive(Debug, Default)]
pub struct Registered<'a> {
    entries: BTreeMap<&'a str, Vec<&'a Capability>>,
    subjects: Option<Vec<&'a Subject>>,
}

impl<'a> Registered<'a> {
    /// These entries.
    #[must_use]
    pub fn of(entries: impl IntoIterator<Item = &'a Capability>) -> Self {
        let mut named: BTreeMap<&str, Vec<&Capability>> = BTreeMap::new();
        for entry in entries {
            named.entry(entry.name().as_str()).or_default().push(entry);
        }
        Self { entries: named, subjects: None }
    }

    /// And these subjects, next to the local one: a rule about another is told.
    #[must_use]
    pub fn with_subjects(self, subjects: impl IntoIterator<Item = &'a Subject>) -> Self {
        Self { subjects: Some(subjects.into_iter().collect()), ..self }
    }

    /// The entries that a pattern is about.
    fn selected(&self, pattern: &CapabilityPattern) -> Vec<&'a Capability> {
        match pattern {
            CapabilityPattern::Any => self.entries.values().flatten().copied().collect(),
            CapabilityPattern::Family(family) => {
                let below = self.entries.range::<str, _>((Bound::Included(&**family), Bound::Unbounded));
                let below = below.take_while(|(name, _)| name.starts_with(&**family));
                below.filter(|(name, _)| pattern.matches(name, None)).flat_map(|(_, held)| held).copied().collect()
            }
            CapabilityPattern::Name(name) | CapabilityPattern::Scoped { name, .. } => {
                self.entries.get(&**name).into_iter().flatten().copied().collect()
            }
        }
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.entries.keys().copied()
    }
}

impl Policy {
    /// Holds every rule against what is registered.
    ///
    /// # Errors
    /// [`PolicyMistake`] for the first rule that is about nothing that exists, cannot match, or breaks one of its examples.
    pub fn fit(&self, registered: &Registered<'_>) -> Result<Vec<Lint>, PolicyMistake> {
        let mut lints = Vec::new();
        for (at, _, rule) in self.rules() {
            let placed =
                |mistake| PolicyMistake { source: at.source.into(), rule: usize::try_from(at.rule).ok(), mistake };
            let mut tell = |what: String, help: &str| {
                lints.push(Lint { rule: at, mistake: Mistake::new(format!("rule `{}` {what}", rule.id), help) });
            };
            let selected = about(rule, &rule.selector, registered).map_err(placed)?;
            for exception in &rule.except {
                about(rule, exception, registered).map_err(placed)?;
            }
            for selector in core::iter::once(&rule.selector).chain(&rule.except) {
                strange(selector, registered, &mut tell);
            }
            if rule.effect == RuleEffect::Allow {
                in_vain(&selected, &mut tell);
            }
            let examples = rule.matching.iter().map(|example| (example, true));
            let examples = examples.chain(rule.not_matching.iter().map(|example| (example, false)));
            for (number, (example, expected)) in examples.enumerate() {
                let number = if expected { number } else { number - rule.matching.len() };
                self.holds(at, rule, example, expected, registered).map_err(|mut mistake| {
                    let list = if expected { "match" } else { "not_match" };
                    mistake.what = format!("example {} of `{list}` in rule `{}` {}", number + 1, rule.id, mistake.what);
                    placed(mistake)
                })?;
            }
        }
        Ok(lints)
    }

    fn holds(
        &self,
        at: RuleRef,
        rule: &Rule,
        example: &Example,
        expected: bool,
        registered: &Registered<'_>,
    ) -> Result<(), Mistake> {
        let (name, scope) = match (&example.capability, &rule.selector.capability) {
            (Some(CapabilityPattern::Name(name)), _) | (None, CapabilityPattern::Name(name)) => (name, None),
            (Some(CapabilityPattern::Scoped { name, scope }), _)
            | (None, CapabilityPattern::Scoped { name, scope }) => (name, Some(&**scope)),
            _ => return Err(Mistake::new("names no one capability", "write its `capability`, by its whole name")),
        };
        let Some(entry) = registered.entries.get(&**name).and_then(|versions| versions.last()) else {
            return Err(unknown(name, registered));
        };
        let text = example.target.as_ref().map(super::ExampleTarget::as_text);
        let kind = entry.target().kind;
        if text.is_some() && TargetFamily::of(kind).is_none() {
            return Err(Mistake::new(format!("has a target, and `{name}` acts on none"), "leave its `target` out"));
        }
        if example.at.is_none() && (rule.selector.when.is_some() || rule.except.iter().any(|own| own.when.is_some())) {
            let help = "write `at`, as in `at = \"2026-11-30T09:00:00Z\"`";
            return Err(Mistake::new("does not say when, and the rule asks for the time", help));
        }
        let local = Subject::local();
        let asking = Asking {
            name,
            scope,
            subject: example.subject.as_ref().unwrap_or(&local),
            action: entry.class().side_effect,
            origin: example.origin.unwrap_or(Origin::Model),
            target: text.as_deref().map(|text| (kind, text)),
            at: example.at.unwrap_or(Timestamp::from_micros(0)),
        };
        let fate = judge::fate_of(self, at, &asking).map_err(|fault| {
            Mistake::new(format!("cannot be judged: {}", fault.code().message()), fault.code().help())
        })?;
        match fate {
            _ if fate.matches() == expected => Ok(()),
            Fate::Missed { by } => Err(Mistake::new(
                format!("is not matched: its {} does not fit", by.as_str()),
                "correct the rule, or the example",
            )),
            Fate::Excepted { exception } => Err(Mistake::new(
                format!("is not matched: exception {} leaves it out", exception + 1),
                "correct the exception, or the example",
            )),
            _ => Err(Mistake::new("is matched", "make the rule narrower, add an exception, or correct the example")),
        }
    }
}

/// The entries that a selector of a rule is about; a mistake when there are none, or when none can have such a target.
fn about<'a>(rule: &Rule, selector: &Selector, registered: &Registered<'a>) -> Result<Vec<&'a Capability>, Mistake> {
    let pattern = &selector.capability;
    let in_rule = |mut mistake: Mistake| {
        mistake.what = format!("rule `{}`: {}", rule.id, mistake.what);
        mistake
    };
    let mut selected = registered.selected(pattern);
    if selected.is_empty() && *pattern != CapabilityPattern::Any {
        return Err(in_rule(match pattern {
            CapabilityPattern::Name(name) | CapabilityPattern::Scoped { name, .. } => unknown(name, registered),
            _ => unknown_family(pattern, registered),
        }));
    }
    if matches!(pattern, CapabilityPattern::Scoped { .. }) && selected.iter().all(|entry| entry.scope().is_none()) {
        return Err(in_rule(Mistake::new(
            format!("`{pattern}` has a scope, and that capability has none"),
            "leave the `:scope` out; see what a capability has with `capability describe`",
        )));
    }
    if let Some(action) = selector.action {
        selected.retain(|entry| entry.may_be(action));
        if selected.is_empty() && !registered.entries.is_empty() {
            return Err(in_rule(Mistake::new(
                format!("`action` is `{}`, and nothing that `{pattern}` names is", action.as_str()),
                "leave `action` out, or correct it; see classes with `capability list`",
            )));
        }
    }
    if let Some(target) = &selector.target {
        let family = target.family();
        let fits = |entry: &&Capability| TargetFamily::of(entry.target().kind) == Some(family);
        if !selected.is_empty() && !selected.iter().any(fits) {
            let kinds: std::collections::BTreeSet<_> =
                selected.iter().map(|entry| entry.target().kind.as_str()).collect();
            let kinds = kinds.into_iter().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(", ");
            let help = selected
                .iter()
                .find_map(|entry| TargetFamily::of(entry.target().kind))
                .map_or("leave `target` out: such calls have none".to_owned(), |own| {
                    format!("write the target as {}", own.written())
                });
            return Err(in_rule(Mistake::new(
                format!(
                    "the target can never match: it is written as {}, and `{pattern}` acts on {kinds}",
                    family.written()
                ),
                help,
            )));
        }
        selected.retain(fits);
    }
    Ok(selected)
}

fn unknown(name: &str, registered: &Registered<'_>) -> Mistake {
    let near = nearest(name, registered.names());
    let near = near.map_or_else(String::new, |near| format!("; `{near}` is one that it has"));
    Mistake::new(
        format!("this build has no capability `{}`{near}", shown(name)),
        "write names as `capability list` shows them, without a version",
    )
}

fn unknown_family(pattern: &CapabilityPattern, registered: &Registered<'_>) -> Mistake {
    let families: Vec<_> =
        registered.names().filter_map(|name| name.rsplit_once('.')).map(|(family, _)| family).collect();
    let written = pattern.to_string();
    let near = nearest(written.trim_end_matches(".*"), families.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; it has some below `{near}`"));
    Mistake::new(
        format!("this build has no capability that `{written}` names{near}"),
        "write names as `capability list` shows them",
    )
}

/// What may be meant, and likely is not.
fn strange(selector: &Selector, registered: &Registered<'_>, tell: &mut impl FnMut(String, &str)) {
    if let (Some(subject), Some(known)) = (&selector.subject, &registered.subjects)
        && *subject != Subject::local()
        && !known.contains(&subject)
    {
        let near = nearest(subject.as_str(), known.iter().map(|known| known.as_str()));
        let near = near.map_or_else(String::new, |near| format!("; `{near}` has one"));
        tell(
            format!("is about `{subject}`, which has no manifest{near}"),
            "a subject without a manifest may ask for nothing; see `[subjects]` in `config.toml`",
        );
    }
    if let Some(target) = &selector.target
        && let Some(mixed) = literals(target).into_iter().find(|literal| is_mixed(literal))
    {
        tell(
            format!("has letters of two alphabets in `{}`: one may pass for another", mixed.escape_unicode()),
            "type it anew; text that was copied may hold letters that look alike",
        );
    }
}

fn literals(target: &TargetPattern) -> Vec<&str> {
    match target {
        TargetPattern::Place(place) => place
            .host
            .tokens()
            .iter()
            .chain(place.path.iter().flat_map(|path| path.tokens()))
            .filter_map(literal)
            .collect(),
        TargetPattern::Path(pattern) | TargetPattern::Argv(pattern) => {
            pattern.tokens().iter().filter_map(literal).collect()
        }
        TargetPattern::Text(text) => text.pieces().flat_map(str::split_whitespace).collect(),
    }
}

fn literal(token: &Token) -> Option<&str> {
    match token {
        Token::Literal(literal) => Some(literal),
        Token::One | Token::Many => None,
    }
}

/// Latin letters together with some of an alphabet that has letters which look the same.
fn is_mixed(text: &str) -> bool {
    let alike = |c: char| matches!(c, '\u{370}'..='\u{52f}' | '\u{13a0}'..='\u{13ff}' | '\u{1d400}'..='\u{1d7ff}' | '\u{ff21}'..='\u{ff5a}');
    text.chars().any(|c| c.is_ascii_alphabetic()) && text.chars().any(alike)
}

/// An allow that can change nothing: it never lowers a floor or opens a lock.
fn in_vain(selected: &[&Capability], tell: &mut impl FnMut(String, &str)) {
    let helps = |entry: &&Capability| {
        !entry.is_locked() && (!entry.confirmation().is_required() || entry.default_effect() == DefaultEffect::Deny)
    };
    if selected.is_empty() || selected.iter().any(helps) {
        return;
    }
    if selected.iter().all(|entry| entry.is_locked()) {
        tell("allows what is locked".to_owned(), "take it back: nothing opens a lock");
    } else {
        tell(
            "allows what its class has a person confirm every time, and a rule never lowers that".to_owned(),
            "take it back: without it the same calls ask the same",
        );
    }
}
