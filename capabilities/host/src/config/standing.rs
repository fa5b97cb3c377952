//! Which capabilities may have standing answers, and how long approved calls are retained.

use core::num::NonZeroU32;
use core::time::Duration;

use capability_core::approval::{GrantLimit, Grantable, MAX_GRANT_USES};
use capability_core::nearest;
use capability_core::registry::Registry;
use serde::{Deserialize, Deserializer, de};

use super::bindings::Mistake;

/// A span of time as people write it: a whole number and `s`, `m`, `h` or `d`, as in `30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl core::str::FromStr for Span {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const RULE: &str = "a span of time is a whole number and `s`, `m`, `h` or `d`, as in `30m`";
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at_checked(digits).ok_or(RULE)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 60 * 60,
            "d" => 24 * 60 * 60,
            _ => return Err(RULE),
        };
        let number: u64 = number.parse().map_err(|_| RULE)?;
        number.checked_mul(seconds).map(|seconds| Self(Duration::from_secs(seconds))).ok_or(RULE)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// `[grants."NAME"]`: standing answers are possible for this capability, as far as this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantTable {
    /// The longest that one may last; the class's own ceiling is 60 minutes.
    pub max: Span,
    /// The most uses that one may have, 1 to 1000.
    pub uses: NonZeroU32,
}

impl GrantTable {
    /// As the executor takes it.
    #[must_use]
    pub const fn limit(self) -> GrantLimit {
        GrantLimit { longest: self.max.0, uses: self.uses }
    }
}

/// `[approvals]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalsTable {
    /// How long arguments and target of calls that were approved and used are retained, at most 90 days; not at all,
    /// unless it is said.
    pub retain: Option<Span>,
}

/// The longest that anything is retained.
const LONGEST_RETAINED: Duration = Duration::from_secs(90 * 24 * 60 * 60);

impl ApprovalsTable {
    pub(super) fn check(self) -> Result<(), Mistake> {
        match self.retain {
            Some(Span(retain)) if retain.is_zero() || retain > LONGEST_RETAINED => Err(Mistake {
                table: "approvals".to_owned(),
                key: "retain",
                what: "`retain` is no time, or more than 90 days".to_owned(),
                help: "write a span such as `7d`, or leave the key out: nothing is retained then",
            }),
            _ => Ok(()),
        }
    }
}

/// Whether a capability of this build is of that name, may have grants, and for so long.
pub(super) fn check_grant(name: &str, table: GrantTable, registry: &Registry) -> Result<(), Mistake> {
    let wrong = |key, what, help| Err(Mistake { table: format!("grants.{name}"), key, what, help });
    let named = || registry.iter().map(|held| held.entry()).filter(|entry| entry.name().as_str() == name);
    let classes: Vec<_> = named().map(|entry| entry.class()).collect();
    if !classes.is_empty() && named().all(|entry| entry.is_locked()) {
        return wrong(
            "",
            format!("grants are turned on for `{name}`, which is locked: it exists to be named and never runs"),
            "remove the table: nothing unlocks it",
        );
    }
    if classes.is_empty() {
        let near = nearest(name, registry.iter().map(|held| held.entry().name().as_str()));
        let near = near.map_or_else(String::new, |near| format!("; `{near}` is one that it has"));
        return wrong(
            "",
            format!(
                "grants are turned on for `{}`, and this build has no such capability{near}",
                name.escape_default()
            ),
            "write names as `capability list` shows them, without a version",
        );
    }
    let Some(ceiling) = classes.iter().find_map(|class| Grantable::of(*class)) else {
        return wrong(
            "",
            format!("grants are turned on for `{name}`, and its class needs a person each time"),
            "remove the table: only what is read-only and local can have grants",
        );
    };
    if table.max.0.is_zero() || table.max.0 > ceiling.longest() {
        return wrong(
            "max",
            format!("`max` of `{name}` is no time, or more than {} minutes", ceiling.longest().as_secs() / 60),
            "write a span such as `30m`",
        );
    }
    if table.uses.get() > MAX_GRANT_USES {
        return wrong("uses", format!("`uses` of `{name}` is more than {MAX_GRANT_USES}"), "write a smaller number");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn spans_are_a_number_and_a_unit() {
        let seconds = |text: &str| text.parse::<Span>().map(|span| span.0.as_secs()).ok();
        assert_eq!(
            [seconds("90s"), seconds("30m"), seconds("2h"), seconds("7d")],
            [Some(90), Some(1800), Some(7200), Some(604_800)]
        );
        for wrong in [
            "",
            "m",
            "30",
            "30 m",
            "-1m",
            "1.5h",
            "30M",
            "30min",
            "１m",
            "99999999999999999999d",
            "300000000000000000d",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
