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
    EachSecret,
    EachTool,
}

/// What is declared with its exact scope, and in no other way.
pub(crate) const SECRET_BIND: &str = "secret.bind";
const TOOL: &str = "tool.call";
/// Capabilities that lead to the tools of providers.
const WAYS: [&str; 3] = ["edge.call", "mcp.call", "relay.call"];
/// What stands for every tool of a provider, of whatever kind it is.
const PROVIDER: &str = "provider.call";

impl core::fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self.0 {
            Wrong::Form => {
                "a declaration is a capability's name, optionally with `:scope` or `:*`, as in `mcp.call:docs`"
            }
            Wrong::EachSecret => "each secret is declared by its own name, as in `secret.bind:DEPLOY_TOKEN`",
            Wrong::EachTool => {
                "each tool is declared by its own name, as in `tool.call:web.search`, or `tool.call:docs/lookup` for a provider's"
            }
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
            Some((SECRET_BIND, "*")) => return Err(DeclarationError(Wrong::EachSecret)),
            None if text == SECRET_BIND => return Err(DeclarationError(Wrong::EachSecret)),
            // The same holds of tools: a provider may list others tomorrow.
            Some((TOOL, "*")) => return Err(DeclarationError(Wrong::EachTool)),
            None if text == TOOL => return Err(DeclarationError(Wrong::EachTool)),
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
///
/// Two of them declare calls, too. `provider.call:docs` declares every tool of the provider that the operator calls `docs`, and
/// `provider.call:*` those of all providers. `tool.call:docs/lookup` declares that one tool of it, and `tool.call:web.search` the
/// one capability of that name; there is no word for every tool.
pub const DECLARED_EFFECTS: [&str; 3] = [PROVIDER, SECRET_BIND, TOOL];

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

    /// Whether it names that tool of that provider, and nothing else.
    fn names_tool(&self, provider: &str, tool: &str) -> bool {
        self.name == TOOL && self.scope().and_then(|scope| scope.split_once('/')) == Some((provider, tool))
    }

    /// The provider that it names as an effect, and the tool where it names one.
    #[cfg(feature = "analysis")]
    fn provided(&self) -> Option<(&str, Option<&str>)> {
        match (self.name.as_str(), self.scope()) {
            (PROVIDER, Some(provider)) => Some((provider, None)),
            (TOOL, Some(scope)) => scope.split_once('/').map(|(provider, tool)| (provider, Some(tool))),
            _ => None,
        }
    }

    /// Whether it is about a call of `name` with this scope, as a demand. One without a scope is about every call of its name: it
    /// is how whoever writes "none of these" writes it, and a demand that is taken too widely only asks for more.
    fn is_about(&self, name: &str, scope: Option<&str>) -> bool {
        self.scope == Scope::None && self.name == name || self.covers(name, scope)
    }

    /// The same of a call of that provider's tool through `name`.
    fn is_about_tool(&self, name: &str, provider: &str, tool: &str) -> bool {
        self.is_about(name, Some(provider))
            || self.is_about(PROVIDER, Some(provider))
            || self.names_tool(provider, tool)
    }

    /// Whether it declares a call of `name` with this scope.
    fn covers(&self, name: &str, scope: Option<&str>) -> bool {
        if self.name != name {
            return scope.is_none() && self.name == TOOL && self.scope() == Some(name);
        }
        match (&self.scope, scope) {
            (Scope::Any, _) | (Scope::None, None) => true,
            (Scope::Exactly(declared), Some(scope)) => declared == scope,
            (Scope::None, Some(_)) | (Scope::Exactly(_), None) => false,
        }
    }

    /// Whether it declares a call of that provider's tool through `name`.
    fn covers_tool(&self, name: &str, provider: &str, tool: &str) -> bool {
        self.covers(name, Some(provider)) || self.covers(PROVIDER, Some(provider)) || self.names_tool(provider, tool)
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

    /// Whether some call of `name` is declared, where calls of it can have a scope: by one that names a scope, or by one that
    /// names none, if there are calls without one.
    pub(crate) fn cover_some(&self, name: &str, without_scope: bool) -> bool {
        match &self.listed {
            Listed::Everything => true,
            Listed::Only(listed) => listed.iter().any(|declared| {
                declared.name == name && declared.is_scoped() || without_scope && declared.covers(name, None)
            }),
        }
    }

    /// Whether every call of `name` is denied.
    pub(crate) fn deny_all(&self, name: &str) -> bool {
        let of_every = |declared: &Declaration| declared.name == name && !matches!(declared.scope, Scope::Exactly(_));
        self.demands.iter().any(|(about, demand)| *demand == Demand::Deny && of_every(about))
            || self.of_all == Some(Demand::Deny)
    }

    /// Whether `name`, called with this scope (the value of the argument its entry names as `scope`), is declared.
    #[must_use]
    pub fn cover(&self, name: &str, scope: Option<&str>) -> bool {
        match &self.listed {
            Listed::Everything => true,
            Listed::Only(listed) => listed.iter().any(|declared| declared.covers(name, scope)),
        }
    }

    /// Whether a tool of a provider, called through `name`, is declared: by the way to it, by its provider, or by itself.
    #[must_use]
    pub fn cover_tool(&self, name: &str, provider: &str, tool: &str) -> bool {
        match &self.listed {
            Listed::Everything => true,
            Listed::Only(listed) => listed.iter().any(|declared| declared.covers_tool(name, provider, tool)),
        }
    }

    /// Whether a single tool of that provider is declared by itself.
    pub(crate) fn names_a_tool_of(&self, provider: &str) -> bool {
        let of = |declared: &Declaration| {
            let tool = declared.scope().filter(|_| declared.name() == TOOL).and_then(|scope| scope.split_once('/'));
            tool.is_some_and(|(own, _)| own == provider)
        };
        self.listed().iter().any(of)
    }

    /// What the manifest itself asks for of a call of that tool: the strictest of what it says of the way, the provider and the tool.
    #[must_use]
    pub fn demand_of_tool(&self, name: &str, provider: &str, tool: &str) -> Option<Demand> {
        let about = self.demands.iter().filter(|(declared, _)| declared.is_about_tool(name, provider, tool));
        about.map(|(_, demand)| *demand).max().max(self.of_all)
    }

    /// Whether some provider's tool is declared as an effect.
    #[cfg(feature = "analysis")]
    pub(crate) fn reaches_a_provider(&self) -> bool {
        let any = |declared: &Declaration| declared.name == PROVIDER && declared.scope == Scope::Any;
        self.listed().iter().any(|declared| any(declared) || declared.provided().is_some())
    }

    /// Providers that are declared, or that something is asked for, as effects, each with the tool where one is named.
    #[cfg(feature = "analysis")]
    pub(crate) fn provided(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let demanded = self.demands.iter().map(|(declared, _)| declared);
        self.listed().iter().chain(demanded).filter_map(Declaration::provided)
    }

    /// What the manifest itself asks for of such a call.
    #[must_use]
    pub fn demand(&self, name: &str, scope: Option<&str>) -> Option<Demand> {
        let about = self.demands.iter().filter(|(declared, _)| declared.is_about(name, scope));
        about.map(|(_, demand)| *demand).max().max(self.of_all)
    }
}

impl Declarations {
    /// What is asked for of an effect or a call by any of the names that lead to it.
    fn demanded_of(&self, name: &str, scope: Option<&str>) -> Option<Demand> {
        let by_name = self.demand(name, scope);
        let by_way = match (name, scope.map(|scope| scope.split_once('/').ok_or(scope))) {
            (TOOL, Some(Ok((provider, tool)))) => {
                WAYS.iter().filter_map(|way| self.demand_of_tool(way, provider, tool)).max()
            }
            (TOOL, Some(Err(capability))) => self.demand(capability, None),
            (PROVIDER, Some(Err(provider))) => WAYS.iter().filter_map(|way| self.demand(way, Some(provider))).max(),
            _ => None,
        };
        by_name.max(by_way)
    }

    /// What the manifest says to something that a body goes on only with.
    pub(crate) fn required(&self, name: &str, scope: Option<&str>) -> Required {
        match self.demanded_of(name, scope) {
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
        // Without a scope it covers calls that have none, and nothing where there are no such calls.
        for (declared, without, covered) in [
            ("mcp.call", false, false),
            ("mcp.call", true, true),
            ("mcp.call:docs", false, true),
            ("mcp.call:*", false, true),
            ("tool.call:mcp.call", false, false),
            ("tool.call:mcp.call", true, true),
            ("mcp.connect:*", true, false),
        ] {
            assert_eq!(only(&[declared]).cover_some("mcp.call", without), covered, "{declared} {without}");
        }
        assert!(!only(&[]).cover("fs.read", None));
        assert!(Declarations::everything().cover("fs.read", Some("x")));
    }

    #[test]
    fn malformed_ones_are_refused() {
        for wrong in ["", "*", "fs", "fs.*", "fs.read:", "Fs.read", "fs.read *"] {
            assert!(wrong.parse::<Declaration>().is_err(), "{wrong:?}");
        }
        for (wrong, each) in [
            ("secret.bind", "each secret"),
            ("secret.bind:*", "each secret"),
            ("tool.call", "each tool"),
            ("tool.call:*", "each tool"),
        ] {
            let said = wrong.parse::<Declaration>().unwrap_err().to_string();
            assert!(said.contains(each), "{wrong}: {said}");
        }
        assert!("secret.bind:DEPLOY_TOKEN".parse::<Declaration>().is_ok());
    }

    #[test]
    fn a_tool_is_declared_by_its_way_its_provider_or_itself_and_by_nothing_near_it() {
        for (declared, covered) in [
            ("mcp.call:docs", true),
            ("mcp.call:*", true),
            ("provider.call:docs", true),
            ("provider.call:*", true),
            ("tool.call:docs/lookup", true),
            ("tool.call:docs/lookups", false),
            ("tool.call:doc/lookup", false),
            ("tool.call:docs/lookup/", false),
            ("tool.call:lookup", false),
            ("tool.call:mcp.call", false),
            ("provider.call", false),
            ("provider.call:doc", false),
            ("edge.call:docs", false),
            ("mcp.call", false),
            ("mcp.connect:docs", false),
        ] {
            let declared = only(&[declared]);
            assert_eq!(declared.cover_tool("mcp.call", "docs", "lookup"), covered, "{declared:?}");
            assert!(!declared.cover_tool("mcp.call", "other", "lookup") || covered, "{declared:?}");
        }
        // A compiled one is a tool, too, and is declared without a scope by it.
        let named = only(&["tool.call:web.search"]);
        assert!(named.cover("web.search", None) && !named.cover("web.search", Some("x")));
        assert!(!named.cover("web.fetch", None) && !named.cover("web", None));

        let demands = |listed: &[(&str, Demand)]| listed.iter().map(|(text, d)| (text.parse().unwrap(), *d)).collect();
        let asked = only(&["provider.call:docs"])
            .demanding(demands(&[("provider.call:docs", Demand::Ask), ("tool.call:docs/erase", Demand::Deny)]), None);
        let of = |tool| asked.demand_of_tool("mcp.call", "docs", tool);
        assert_eq!((of("lookup"), of("erase")), (Some(Demand::Ask), Some(Demand::Deny)));
        assert_eq!(asked.demand_of_tool("mcp.call", "other", "erase"), None);
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
        assert!(all.deny_all("mcp.call") && !declared.deny_all("mcp.call"));
        let all = Declarations::everything().demanding(demands(&[("fs.read", Demand::Deny)]), Some(Demand::Ask));
        assert_eq!((all.demand("fs.read", None), all.demand("x.y", None)), (Some(Demand::Deny), Some(Demand::Ask)));
    }
}
