//! From the bytes of a file to a policy.

use std::path::Path;

use capability_core::policy::{Lint, Policy, PolicyMistake, Registered, Rule, Source, SourceKind};
use jiff::tz::TimeZone;
use serde::Deserialize;
use toml::Spanned;

use super::PolicyError;

/// A policy, and what is strange about it.
pub(crate) struct Loaded {
    pub(crate) policy: Policy,
    /// Each names the line of its rule and says what would be better.
    pub(crate) strange: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Spanned<Rule>>,
}

/// What can be written at all.
const KEYS: &str = "rules are `[[rule]]` tables with `id` and `effect`, and of `reason`, `subject`, `capability`, `action`, `origin`, `target`, `when`, `except`, `max_grant`, `match`, `not_match` what they need";

/// Reads, compiles and holds against what is registered. `path` is only named in errors.
///
/// # Errors
/// [`PolicyError::Wrong`] for the first thing that is not right.
pub(crate) fn load(path: &Path, bytes: &[u8], registered: &Registered<'_>) -> Result<Loaded, PolicyError> {
    let wrong = |line, what, help| PolicyError::Wrong { path: path.to_owned(), line, what, help };
    let text = core::str::from_utf8(bytes)
        .map_err(|_| wrong(None, "it is not UTF-8 text".into(), "save it as UTF-8".into()))?;
    let File { rule } = toml::from_str(text).map_err(|error| {
        let at = error.span().map(|span| span.start);
        let message = error.message().trim_end();
        let (what, help) = message.split_once("\nhelp: ").unwrap_or((message, KEYS));
        let what = what.replace('\n', "; ");
        let named = at.and_then(|at| id_before(text, at)).filter(|id| !what.contains(&format!("`{id}`")));
        let what = named.map_or_else(|| what.clone(), |id| format!("in rule `{id}`: {what}"));
        wrong(at.map(|at| line_of(text, at)), what, help.to_owned())
    })?;
    let lines: Vec<_> = rule.iter().map(|rule| line_of(text, rule.span().start)).collect();
    let rules = rule.into_iter().map(Spanned::into_inner).collect();
    let placed = |PolicyMistake { rule, mistake, .. }: PolicyMistake| {
        wrong(rule.and_then(|rule| lines.get(rule).copied()), mistake.what, mistake.help)
    };
    let source = Source::new(SourceKind::Operator, bytes, rules);
    let policy = Policy::compile(vec![source], &zone).map_err(placed)?;
    let lints = policy.fit(registered).map_err(placed)?;
    let strange = policy
        .rules()
        .zip(&lines)
        .flat_map(|((at, _, _), line)| {
            let own = lints.iter().filter(move |Lint { rule, .. }| *rule == at);
            own.map(move |lint| format!("line {line}: {}", lint.mistake))
        })
        .collect();
    Ok(Loaded { policy, strange })
}

/// A zone of this machine's database, or of the one that is built in.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

/// The line, from 1, of a place in a text.
fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).map_or(1, |before| before.matches('\n').count() + 1)
}

/// The id of the rule in which a place lies, when it is written as ids are.
fn id_before(text: &str, at: usize) -> Option<&str> {
    const HEADER: &str = "[[rule]]";
    let header = match text.get(at..) {
        Some(here) if here.starts_with(HEADER) => at,
        _ => text.get(..at)?.rfind(HEADER)?,
    };
    let own = text.get(header..)?;
    let own = own.get(..own.get(1..)?.find("\n[[").map_or(own.len(), |end| end + 1))?;
    let line = own.lines().find_map(|line| line.trim_start().strip_prefix("id")?.trim_start().strip_prefix('='))?;
    let id = line.trim().strip_prefix('"')?.split('"').next()?;
    id.parse::<capability_core::policy::RuleId>().ok().map(|_| id)
}

#[cfg(test)]
mod tests;
