//! Which calls a rule is about.

use core::fmt;
use core::str::FromStr;

use serde::Deserialize;

use super::mistake::Mistake;
use super::targets::{TargetPattern, shown};
use super::window::Window;
use crate::contract::{SideEffect, is_valid_name};
use crate::session::{Origin, Subject};

/// Which capabilities, of whatever version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "String")]
pub enum CapabilityPattern {
    /// `*`: any.
    #[default]
    Any,
    /// `pihole.*`: every name below this one.
    Family(Box<str>),
    /// `web.fetch`: exactly this name, whatever its scope.
    Name(Box<str>),
    /// `mcp.call:docs`: this name, called with exactly this scope.
    Scoped {
        /// The name.
        name: Box<str>,
        /// The value of the argument that the entry names as its `scope`.
        scope: Box<str>,
    },
}

/// The longest scope, in bytes.
const MAX_SCOPE_BYTES: usize = 128;

impl FromStr for CapabilityPattern {
    type Err = Mistake;

    fn from_str(text: &str) -> Result<Self, Mistake> {
        let wrong = || {
            Mistake::new(
                format!("`{}` names no capabilities", shown(text)),
                "write a name (`web.fetch`), one with a scope (`mcp.call:docs`), a family (`pihole.*`), or `*`",
            )
        };
        if text == "*" {
            return Ok(Self::Any);
        }
        if let Some(foreign) = text.chars().find(|c| !c.is_ascii()) {
            return Err(Mistake::new(
                format!(
                    "`{}` is no capability's name: its letter {} is of another alphabet",
                    shown(text),
                    foreign.escape_unicode()
                ),
                "type the name anew, as `capability list` shows it: letters of two alphabets may look the same",
            ));
        }
        if let Some(family) = text.strip_suffix(".*") {
            // A name with one segment more is valid when its family is.
            return if is_valid_name(&format!("{family}.a")) { Ok(Self::Family(family.into())) } else { Err(wrong()) };
        }
        match text.split_once(':') {
            None if is_valid_name(text) => Ok(Self::Name(text.into())),
            Some((name, "*")) if is_valid_name(name) => Err(Mistake::new(
                format!("`{}` has a scope of any text", shown(text)),
                format!("write `{name}`: without a scope a rule is about all of them"),
            )),
            Some((name, scope))
                if is_valid_name(name)
                    && (1..=MAX_SCOPE_BYTES).contains(&scope.len())
                    && !scope.contains('*')
                    && !scope.chars().any(char::is_control) =>
            {
                Ok(Self::Scoped { name: name.into(), scope: scope.into() })
            }
            _ => Err(wrong()),
        }
    }
}

impl TryFrom<String> for CapabilityPattern {
    type Error = Mistake;

    fn try_from(text: String) -> Result<Self, Mistake> {
        text.parse()
    }
}

impl fmt::Display for CapabilityPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Family(family) => write!(f, "{family}.*"),
            Self::Name(name) => f.write_str(name),
            Self::Scoped { name, scope } => write!(f, "{name}:{scope}"),
        }
    }
}

impl CapabilityPattern {
    /// Whether it is about this name, called with this scope.
    #[must_use]
    pub fn matches(&self, name: &str, scope: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Family(family) => is_below(family, name),
            Self::Name(own) => **own == *name,
            Self::Scoped { name: own, scope: called } => **own == *name && Some(&**called) == scope,
        }
    }

    /// Whether everything that `other` is about is included here.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Any, _) => true,
            (Self::Family(wide), Self::Family(narrow)) => wide == narrow || is_below(wide, narrow),
            (Self::Family(wide), Self::Name(name) | Self::Scoped { name, .. }) => is_below(wide, name),
            (Self::Name(wide), Self::Name(name) | Self::Scoped { name, .. }) => wide == name,
            (Self::Scoped { .. }, Self::Scoped { .. }) => self == other,
            _ => false,
        }
    }

    /// Whether something may belong to both.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.includes(other) || other.includes(self)
    }
}

fn is_below(family: &str, name: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.starts_with('.'))
}

/// Which calls: what is absent is any.
///
/// In TOML the keys `subject`, `capability`, `action`, `target`, `when` and `origin`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Selector {
    /// Who asks, exactly.
    pub subject: Option<Subject>,
    /// What is asked for.
    pub capability: CapabilityPattern,
    /// `read_only` or `mutating`, by the class that counts for the call.
    pub action: Option<SideEffect>,
    /// What it acts on. A call whose target is of another family, or that has none, is not matched.
    pub target: Option<TargetPattern>,
    /// When.
    pub when: Option<Window>,
    /// What brought the session.
    pub origin: Option<Origin>,
}

/// One part of a selector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Who asks.
    Subject,
    /// What is asked for.
    Capability,
    /// Whether it changes something.
    Action,
    /// What it acts on.
    Target,
    /// When.
    When,
    /// What brought the session.
    Origin,
}

impl Dimension {
    /// All of them, in the order in which a rule is held against a call.
    pub const ALL: [Self; 6] = [Self::Subject, Self::Capability, Self::Action, Self::Origin, Self::Target, Self::When];

    /// The key in a rule.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Capability => "capability",
            Self::Action => "action",
            Self::Target => "target",
            Self::When => "when",
            Self::Origin => "origin",
        }
    }
}

impl Selector {
    /// Whether it selects every call there is.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether every call that `other` selects is selected here too. Set inclusion, dimension by dimension; what cannot be
    /// decided is answered with `false`.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        Dimension::ALL.into_iter().all(|dimension| self.includes_in(other, dimension))
    }

    /// [`includes`](Self::includes) in one dimension.
    pub(super) fn includes_in(&self, other: &Self, dimension: Dimension) -> bool {
        fn covers<T>(wide: Option<&T>, narrow: Option<&T>, includes: impl FnOnce(&T, &T) -> bool) -> bool {
            match (wide, narrow) {
                (None, _) => true,
                (Some(wide), Some(narrow)) => includes(wide, narrow),
                (Some(_), None) => false,
            }
        }
        match dimension {
            Dimension::Subject => covers(self.subject.as_ref(), other.subject.as_ref(), PartialEq::eq),
            Dimension::Capability => self.capability.includes(&other.capability),
            Dimension::Action => covers(self.action.as_ref(), other.action.as_ref(), PartialEq::eq),
            Dimension::Origin => covers(self.origin.as_ref(), other.origin.as_ref(), PartialEq::eq),
            Dimension::Target => covers(self.target.as_ref(), other.target.as_ref(), TargetPattern::includes),
            // A window of the whole week is no window.
            Dimension::When => match (&self.when, &other.when) {
                (Some(wide), None) => wide.is_always(),
                (wide, narrow) => covers(wide.as_ref(), narrow.as_ref(), Window::includes),
            },
        }
    }

    /// Whether some call may be selected by both. Never a false no.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        Dimension::ALL.into_iter().all(|dimension| self.overlaps_in(other, dimension))
    }

    /// [`overlaps`](Self::overlaps) in one dimension.
    pub(super) fn overlaps_in(&self, other: &Self, dimension: Dimension) -> bool {
        fn meets<T>(one: Option<&T>, another: Option<&T>, overlaps: impl FnOnce(&T, &T) -> bool) -> bool {
            match (one, another) {
                (Some(one), Some(another)) => overlaps(one, another),
                _ => true,
            }
        }
        match dimension {
            Dimension::Subject => meets(self.subject.as_ref(), other.subject.as_ref(), PartialEq::eq),
            Dimension::Capability => self.capability.overlaps(&other.capability),
            Dimension::Action => meets(self.action.as_ref(), other.action.as_ref(), PartialEq::eq),
            Dimension::Origin => meets(self.origin.as_ref(), other.origin.as_ref(), PartialEq::eq),
            Dimension::Target => meets(self.target.as_ref(), other.target.as_ref(), TargetPattern::overlaps),
            Dimension::When => meets(self.when.as_ref(), other.when.as_ref(), Window::overlaps),
        }
    }
}

#[cfg(test)]
mod tests;
