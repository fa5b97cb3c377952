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
pub struct DeclarationError(Wrong);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    Form,
    NotExact,
}

/// What is declared with its exact scope, and in no other way.
const EXACT_ONLY: &str = "secret.bind";

impl core::fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self.0 {
            Wrong::Form => {
                "a declaration is a capability's name, optionally with `:scope` or `:*`, as in `mcp.call:docs`"
            }
            Wrong::NotExact => "each secret is declared by its own name, as in `secret.bind:DEPLOY_TOKEN`",
        })
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
            // Each secret is declared for itself: a word for all of them, those to come among them, is none.
            Some((name, "*")) if name == EXACT_ONLY => return Err(DeclarationError(Wrong::NotExact)),
            None if text == EXACT_ONLY => return Err(DeclarationError(Wrong::NotExact)),
            None => (text, Scope::None),
            Some((name, "*")) => (name, Scope::Any),
            Some((_, "")) => return Err(DeclarationError(Wrong::Form)),
            Some((name, scope)) => (name, Scope::Exactly(scope.to_owned())),
        };
        if is_valid_name(name) { Ok(Self { name: name.to_owned(), scope }) } else { Err(DeclarationError(Wrong::Form)) }
    }
}

/// What may be declared beside the capabilities of a build: effects that authors ask for with
/// [`Context::require`](crate::Context::require), and those that a capability's own look at a call asks for.
pub const DECLARED_EFFECTS: [&str; 3] = ["provider.call", "secret.bind", "tool.call"];

/// What a manifest itself asks for, of calls that it declares. There is no word that lowers anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Demand {
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// What a manifest says to something that a body goes on only with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Required {
    /// It is declared, and nothing more is asked for.
    Declared,
    /// It is not declared.
    Undeclared,
    /// It is declared, and denied all the same.
    Denied,
    /// It is declared, and a person is to be asked: nobody can be in the middle of a body.
    Asks,
}

/// Everything a subject declares, and what its manifest asks beyond that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declarations {
    listed: Listed,
    /// For these very calls.
    demands: Vec<(Declaration, Demand)>,
    /// For every call.
    of_all: Option<Demand>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Listed {
    Everything,
    Only(Vec<Declaration>),
}

impl Declaration {
    /// The name, without a scope.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it names a scope, or any.
    #[must_use]
    pub fn is_scoped(&self) -> bool {
        self.scope != Scope::None
    }

    /// The scope, when it is an exact one.
    #[must_use]
    pub fn scope(&self) -> Option<&str> {
        match &self.scope {
            Scope::Exactly(scope) => Some(scope),
            Scope::None | Scope::Any => None,
        }
    }

    /// Whether it is about a call of `name` with this scope, as a demand. One without a scope is about every call of its name: it
    /// is how whoever writes "none of these" writes it, and a demand that is taken too widely only asks for more.
    fn is_about(&self, name: &str, scope: Option<&str>) -> bool {
        self.scope == Scope::None && self.name == name || self.covers(name, scope)
    }

    /// Whether it declares a call of `name` with this scope.
    fn covers(&self, name: &str, scope: Option<&str>) -> bool {
        self.name == name
            && match (&self.scope, scope) {
                (Scope::Any, _) | (Scope::None, None) => true,
                (Scope::Exactly(declared), Some(scope)) => declared == scope,
                (Scope::None, Some(_)) | (Scope::Exactly(_), None) => false,
            }
    }
}

impl Declarations {
    /// The local operator's own: everything the registry holds.
    #[must_use]
    pub const fn everything() -> Self {
        Self { listed: Listed::Everything, demands: Vec::new(), of_all: None }
    }

    /// Exactly these; an empty list declares nothing.
    #[must_use]
    pub const fn only(listed: Vec<Declaration>) -> Self {
        Self { listed: Listed::Only(listed), demands: Vec::new(), of_all: None }
    }

    /// The same, of which some need more: `of_all` is asked of every call, and the strictest demand about one holds.
    #[must_use]
    pub fn demanding(self, demands: Vec<(Declaration, Demand)>, of_all: Option<Demand>) -> Self {
        Self { demands, of_all, ..self }
    }

    /// What is declared by name; nothing for whoever declares everything.
    #[must_use]
    pub fn listed(&self) -> &[Declaration] {
        match &self.listed {
            Listed::Everything => &[],
            Listed::Only(listed) => listed,
        }
    }

    /// The scopes that are declared, or that something is asked for, by name for `name`.
    #[cfg(feature = "analysis")]
    pub(crate) fn scopes(&self, name: &str) -> impl Iterator<Item = &str> {
        let demanded = self.demands.iter().map(|(declared, _)| declared);
        self.listed().iter().chain(demanded).filter(move |declared| declared.name == name).filter_map(|declared| {
            match &declared.scope {
                Scope::Exactly(scope) => Some(scope.as_str()),
                Scope::None | Scope::Any => None,
            }
        })
    }

    /// Whether some call of `name` may be declared: with the right scope, and without a denial of every call.
    pub(crate) fn may_cover(&self, name: &str) -> bool {
        let mentions = match &self.listed {
            Listed::Everything => true,
            Listed::Only(listed) => listed.iter().any(|declared| declared.name == name),
        };
        let of_every = |declared: &Declaration| declared.name == name && !matches!(declared.scope, Scope::Exactly(_));
        let denied = self.demands.iter().any(|(about, demand)| *demand == Demand::Deny && of_every(about));
        mentions && !denied && self.of_all != Some(Demand::Deny)
    }

    /// Whether `name`, called with this scope (the value of the argument its entry names as `scope`), is declared.
    #[must_use]
    pub fn cover(&self, name: &str, scope: Option<&str>) -> bool {
        match &self.listed {
            Listed::Everything => true,
            Listed::Only(listed) => listed.iter().any(|declared| declared.covers(name, scope)),
        }
    }

    /// What the manifest itself asks for of such a call.
    #[must_use]
    pub fn demand(&self, name: &str, scope: Option<&str>) -> Option<Demand> {
        let about = self.demands.iter().filter(|(declared, _)| declared.is_about(name, scope));
        about.map(|(_, demand)| *demand).max().max(self.of_all)
    }
}

impl Declarations {
    /// What the manifest says to something that a body goes on only with.
    pub(crate) fn required(&self, name: &str, scope: Option<&str>) -> Required {
        match self.demand(name, scope) {
            _ if !self.cover(name, scope) => Required::Undeclared,
            None => Required::Declared,
            Some(Demand::Ask) => Required::Asks,
            Some(Demand::Deny) => Required::Denied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Declaration, Declarations, Demand};

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
        for wrong in ["", "*", "fs", "fs.*", "fs.read:", "Fs.read", "fs.read *", "secret.bind", "secret.bind:*"] {
            assert!(wrong.parse::<Declaration>().is_err(), "{wrong:?}");
        }
        assert!("secret.bind:DEPLOY_TOKEN".parse::<Declaration>().is_ok());
    }

    #[test]
    fn the_strictest_demand_about_a_call_holds_and_a_demand_declares_nothing() {
        let demands = |listed: &[(&str, Demand)]| listed.iter().map(|(text, d)| (text.parse().unwrap(), *d)).collect();
        let declared = only(&["fs.read", "mcp.call:*"]).demanding(
            demands(&[("mcp.call:docs", Demand::Deny), ("mcp.call:*", Demand::Ask), ("web.fetch", Demand::Ask)]),
            None,
        );
        assert_eq!(declared.demand("mcp.call", Some("docs")), Some(Demand::Deny));
        assert_eq!(declared.demand("mcp.call", Some("other")), Some(Demand::Ask));
        assert_eq!(declared.demand("fs.read", None), None);
        assert!(!declared.cover("web.fetch", None));
        // Without a scope it is about every call of that name, and of no other.
        let all = only(&["mcp.call:*"]).demanding(demands(&[("mcp.call", Demand::Deny)]), None);
        for scope in [None, Some("docs"), Some("*")] {
            assert_eq!(all.demand("mcp.call", scope), Some(Demand::Deny), "{scope:?}");
        }
        assert_eq!(all.demand("mcp.connect", Some("docs")), None);
        assert!(!all.may_cover("mcp.call") && declared.may_cover("mcp.call"));
        let all = Declarations::everything().demanding(demands(&[("fs.read", Demand::Deny)]), Some(Demand::Ask));
        assert_eq!((all.demand("fs.read", None), all.demand("x.y", None)), (Some(Demand::Deny), Some(Demand::Ask)));
    }
}
