//! What a subject's manifest declares that it may ask for.

use crate::contract::is_valid_name;

/// One declared capability: a name, exactly, and optionally a scope, exactly or any.
///
/// `fs.read`, `mcp.call:docs`, `mcp.call:*`. A declaration is necessary, never sufficient: policy still decides.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Declaration {
    name: String,
    scope: Scope,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Scope {
    None,
    Any,
    Exactly(String),
}

/// Why a text is no declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeclarationError(());

impl core::fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a declaration is a capability's name, optionally with `:scope` or `:*`, as in `mcp.call:docs`")
    }
}

impl core::error::Error for DeclarationError {}

impl core::fmt::Display for Declaration {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match &self.scope {
            Scope::None => f.write_str(&self.name),
            Scope::Any => write!(f, "{}:*", self.name),
            Scope::Exactly(scope) => write!(f, "{}:{scope}", self.name),
        }
    }
}

impl TryFrom<String> for Declaration {
    type Error = DeclarationError;

    fn try_from(text: String) -> Result<Self, DeclarationError> {
        text.parse()
    }
}

impl core::str::FromStr for Declaration {
    type Err = DeclarationError;

    fn from_str(text: &str) -> Result<Self, DeclarationError> {
        let (name, scope) = match text.split_once(':') {
            None => (text, Scope::None),
            Some((name, "*")) => (name, Scope::Any),
            Some((_, "")) => return Err(DeclarationError(())),
            Some((name, scope)) => (name, Scope::Exactly(scope.to_owned())),
        };
        if is_valid_name(name) { Ok(Self { name: name.to_owned(), scope }) } else { Err(DeclarationError(())) }
    }
}

/// Everything a subject declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declarations(Listed);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Listed {
    Everything,
    Only(Vec<Declaration>),
}

impl Declarations {
    /// The local operator's own: everything the registry holds.
    #[must_use]
    pub const fn everything() -> Self {
        Self(Listed::Everything)
    }

    /// Exactly these; an empty list declares nothing.
    #[must_use]
    pub const fn only(listed: Vec<Declaration>) -> Self {
        Self(Listed::Only(listed))
    }

    /// The scopes that are declared by name for `name`.
    #[cfg(feature = "analysis")]
    pub(crate) fn scopes(&self, name: &str) -> impl Iterator<Item = &str> {
        let listed = match &self.0 {
            Listed::Everything => &[],
            Listed::Only(listed) => listed.as_slice(),
        };
        listed.iter().filter(move |declared| declared.name == name).filter_map(|declared| match &declared.scope {
            Scope::Exactly(scope) => Some(scope.as_str()),
            Scope::None | Scope::Any => None,
        })
    }

    /// Whether `name` is declared with whatever scope: a call that names the right one is.
    pub(crate) fn mention(&self, name: &str) -> bool {
        match &self.0 {
            Listed::Everything => true,
            Listed::Only(listed) => listed.iter().any(|declared| declared.name == name),
        }
    }

    /// Whether `name`, called with this scope (the value of the argument its entry names as `scope`), is declared.
    #[must_use]
    pub fn cover(&self, name: &str, scope: Option<&str>) -> bool {
        match &self.0 {
            Listed::Everything => true,
            Listed::Only(listed) => listed.iter().any(|declared| {
                declared.name == name
                    && match (&declared.scope, scope) {
                        (Scope::Any, _) | (Scope::None, None) => true,
                        (Scope::Exactly(declared), Some(scope)) => declared == scope,
                        (Scope::None, Some(_)) | (Scope::Exactly(_), None) => false,
                    }
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Declaration, Declarations};

    fn only(listed: &[&str]) -> Declarations {
        Declarations::only(listed.iter().map(|text| text.parse().unwrap()).collect())
    }

    #[test]
    fn exact_scoped_and_any() {
        let declared = only(&["fs.read", "mcp.call:docs", "edge.call:*"]);
        for (name, scope, covered) in [
            ("fs.read", None, true),
            ("fs.reads", None, false),
            ("fs.read", Some("x"), false),
            ("mcp.call", Some("docs"), true),
            ("mcp.call", Some("doc"), false),
            ("mcp.call", None, false),
            ("edge.call", Some("anything"), true),
            ("edge.call", None, true),
        ] {
            assert_eq!(declared.cover(name, scope), covered, "{name} {scope:?}");
        }
        assert!(!only(&[]).cover("fs.read", None));
        assert!(Declarations::everything().cover("fs.read", Some("x")));
    }

    #[test]
    fn malformed_ones_are_refused() {
        for wrong in ["", "*", "fs", "fs.*", "fs.read:", "Fs.read", "fs.read *"] {
            assert!(wrong.parse::<Declaration>().is_err(), "{wrong:?}");
        }
    }
}
