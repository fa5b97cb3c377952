//! An operator's standing answer: for a while, so many times, to one narrow question.
//!
//! A grant answers only an `Ask`, and only where the class's floor is `automatic`. What the floor itself asks is answered
//! by a person each time: [`Grantable`] cannot be made for such a class.

use core::num::NonZeroU32;
use core::time::Duration;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ApprovalId;
use crate::contract::{Class, Network, SideEffect, TargetKind};
use crate::session::{SessionId, Subject};
use crate::time::Timestamp;

/// A grant's random name: 128 bits, 32 hexadecimal digits as text. Knowing it gives nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId(pub(crate) [u8; 16]);

crate::hex::hex_text!(GrantId, 16, "a grant id is 32 hexadecimal digits");

impl GrantId {
    /// From 16 unpredictable bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }
}

/// Proof that a class may have standing answers at all, and the longest that one may last.
///
/// | side effect | network | longest |
/// |---|---|---|
/// | `read_only` | `local` | 60 minutes |
/// | `read_only` | `external` | never: its floor is `required` |
/// | `mutating` | any | never: its floor is `required` |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grantable(Duration);

impl Grantable {
    /// The table. A class whose confirmation is `required` has no row, whatever else changes.
    #[must_use]
    pub const fn of(class: Class) -> Option<Self> {
        if class.confirmation().is_required() {
            return None;
        }
        match (class.side_effect, class.network) {
            (SideEffect::ReadOnly, Network::Local) => Some(Self(Duration::from_secs(60 * 60))),
            (SideEffect::ReadOnly, Network::External)
            | (SideEffect::Mutating, Network::Local)
            | (SideEffect::Mutating, Network::External) => None,
        }
    }

    /// The longest that a grant for this class may last.
    #[must_use]
    pub const fn longest(self) -> Duration {
        self.0
    }
}

/// The most uses that a grant of any kind may have.
pub const MAX_GRANT_USES: u32 = 1000;

/// How far a grant may go: for how long, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantLimit {
    /// The longest it may last, in JSON as whole seconds.
    #[serde(rename = "seconds", with = "whole_seconds")]
    pub longest: Duration,
    /// How often it may be used.
    pub uses: NonZeroU32,
}

impl GrantLimit {
    /// The narrower of two, each way.
    #[must_use]
    pub fn narrowed(self, other: Self) -> Self {
        Self { longest: self.longest.min(other.longest), uses: self.uses.min(other.uses) }
    }

    /// Whether `asked` stays within it.
    #[must_use]
    pub fn covers(self, asked: Self) -> bool {
        asked.longest <= self.longest && asked.uses <= self.uses
    }
}

mod whole_seconds {
    use core::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(duration.as_secs())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_secs)
    }
}

/// The capabilities for which an operator turned grants on, and how far each may go. None, unless it is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrantLimits(BTreeMap<String, GrantLimit>);

impl GrantLimits {
    /// Grants are off, for everything.
    #[must_use]
    pub const fn off() -> Self {
        Self(BTreeMap::new())
    }

    /// Turns them on for one capability, by its exact name, of every version.
    #[must_use]
    pub fn with(mut self, capability: impl Into<String>, limit: GrantLimit) -> Self {
        self.0.insert(capability.into(), limit);
        self
    }

    /// How far a grant for a capability of this class may go; never further than the class's own ceiling.
    #[must_use]
    pub fn of(&self, capability: &str, class: Class) -> Option<GrantLimit> {
        let ceiling = Grantable::of(class)?;
        let limit = self.0.get(capability)?;
        let most = NonZeroU32::new(MAX_GRANT_USES).unwrap_or(NonZeroU32::MIN);
        Some(limit.narrowed(GrantLimit { longest: ceiling.longest(), uses: most }))
    }

    /// Whether grants are off for everything.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.0.is_empty()
    }
}

/// What a grant covers: never more than what was on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantScope {
    /// This capability on exactly this target, whatever its other arguments.
    Target,
    /// Exactly this call again: every argument the same.
    Exact,
}

impl GrantScope {
    /// The word used by stores and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Exact => "exact",
        }
    }

    /// What a grant for a call with this target would cover; nothing for a program that runs whatever it is told.
    #[must_use]
    pub fn of(target: Option<&(TargetKind, String)>) -> Option<Self> {
        match target {
            // Beside the words of a command there are its directory and its surroundings: all of it, or nothing.
            Some((TargetKind::Argv, argv)) => (!super::wrapper::runs_other_programs(argv)).then_some(Self::Exact),
            // A text is matched as a whole, and so is a call that acts on nothing in particular.
            Some((TargetKind::Text | TargetKind::None, _)) | None => Some(Self::Exact),
            Some((
                TargetKind::Url
                | TargetKind::Path
                | TargetKind::Host
                | TargetKind::Service
                | TargetKind::Repository
                | TargetKind::Address,
                _,
            )) => Some(Self::Target),
        }
    }
}

/// Why a grant answers nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GrantEnd {
    /// An operator took it back.
    Revoked,
    /// Its last use was used.
    UsedUp,
    /// Its time ran out.
    Expired,
    /// The policy is another one.
    PolicyChanged,
    /// The capability's definition is another one.
    DefinitionChanged,
    /// Its session went into a stricter mode.
    ModeChanged,
    /// Its session ended.
    SessionEnded,
    /// The host that gave it is gone.
    Restarted,
    /// It could not be given after all.
    Withdrawn,
}

impl GrantEnd {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Revoked,
        Self::UsedUp,
        Self::Expired,
        Self::PolicyChanged,
        Self::DefinitionChanged,
        Self::ModeChanged,
        Self::SessionEnded,
        Self::Restarted,
        Self::Withdrawn,
    ];

    /// The word used by stores, on the command line and in the audit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::UsedUp => "used_up",
            Self::Expired => "expired",
            Self::PolicyChanged => "policy_changed",
            Self::DefinitionChanged => "definition_changed",
            Self::ModeChanged => "mode_changed",
            Self::SessionEnded => "session_ended",
            Self::Restarted => "restarted",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A standing answer as it is stored and shown to operators. Its target is content, and is erased when it ends.
///
/// The row is a count and a description. What makes a grant answer anything is kept by the executor that gave it, in
/// memory: a row that somebody wrote into the store answers nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its random name.
    pub id: GrantId,
    /// Whose calls.
    pub subject: Subject,
    /// In which session; never in one that it started.
    pub session: SessionId,
    /// The capability's name.
    pub capability: String,
    /// Its version.
    pub version: NonZeroU32,
    /// What it covers.
    pub scope: GrantScope,
    /// On what, where the capability names a target; erased when it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<(TargetKind, String)>,
    /// The operator who gave it.
    pub granted_by: Subject,
    /// The question that it was given in answer to.
    pub approval: ApprovalId,
    /// When it was given.
    pub created_at: Timestamp,
    /// When it ends, by the wall clock. By the monotonic clock it lasts as long, and the earlier of the two counts.
    pub expires_at: Timestamp,
    /// How often it may be used in all.
    pub max_uses: NonZeroU32,
    /// How often it was.
    pub used: u32,
    /// The last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
    /// Why it answers nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<GrantEnd>,
}

impl Grant {
    /// How many uses are left.
    #[must_use]
    pub const fn left(&self) -> u32 {
        self.max_uses.get().saturating_sub(self.used)
    }
}

impl core::fmt::Debug for Grant {
    /// Without its target.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { id, capability, version, used, max_uses, ended, .. } = self;
        write!(f, "Grant({id} for {capability}@{version}, {used} of {max_uses} used, {ended:?})")
    }
}

#[cfg(test)]
mod tests {
    use super::{GrantLimit, GrantLimits, GrantScope, Grantable, MAX_GRANT_USES};
    use crate::contract::{Class, TargetKind};
    use core::num::NonZeroU32;
    use core::time::Duration;

    /// Every class, spelled out: what must be confirmed has no grant, at no price.
    #[test]
    fn exactly_what_is_automatic_can_be_granted() {
        for class in Class::ALL {
            assert_eq!(Grantable::of(class).is_none(), class.confirmation().is_required(), "{class}");
        }
    }

    #[test]
    fn an_operator_narrows_the_ceiling_and_never_widens_it() {
        let uses = |uses| NonZeroU32::new(uses).unwrap();
        let limits = GrantLimits::off()
            .with("a.b", GrantLimit { longest: Duration::from_secs(86_400), uses: uses(u32::MAX) })
            .with("a.c", GrantLimit { longest: Duration::from_secs(60), uses: uses(3) });
        for class in Class::ALL {
            let wide = limits.of("a.b", class);
            assert_eq!(wide.is_some(), !class.confirmation().is_required());
            if let Some(wide) = wide {
                assert_eq!(wide, GrantLimit { longest: Duration::from_secs(3600), uses: uses(MAX_GRANT_USES) });
                assert_eq!(
                    limits.of("a.c", class),
                    Some(GrantLimit { longest: Duration::from_secs(60), uses: uses(3) })
                );
            }
            assert_eq!(limits.of("a.d", class), None, "off unless it is said");
        }
    }

    #[test]
    fn a_command_is_granted_whole_and_an_interpreter_not_at_all() {
        let of = |argv: &str| GrantScope::of(Some(&(TargetKind::Argv, argv.to_owned())));
        assert_eq!(of(r#"["ls","-l"]"#), Some(GrantScope::Exact));
        for wrapped in [
            r#"["python3","-c","1"]"#,
            r#"["/usr/bin/env","ls"]"#,
            r#"["sudo","ls"]"#,
            r#"["npm","test"]"#,
            "ls",
            "[]",
            "[1]",
        ] {
            assert_eq!(of(wrapped), None, "{wrapped}");
        }
    }
}
