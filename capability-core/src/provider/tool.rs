//! A foreign tool as it is pinned: one definition, where it stands, and what an operator says of it.

use std::sync::Arc;

use serde_json::Value;

use super::{DefinitionFault, MAX_DEFINITION_BYTES, ToolDefinition};
use crate::arguments::ArgumentFault;
use crate::arguments::foreign::ForeignJudge;
use crate::contract::{Class, Network, SideEffect};

/// The longest name of a tool, in bytes.
const MAX_NATIVE_BYTES: usize = 128;

/// Where one foreign tool stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its definition is the one that was seen first, or that an operator accepted.
    Accepted,
    /// Its definition differs from the accepted one: it is out of use until an operator accepts the difference.
    Changed,
    /// Its provider declares it, and gives it no identity that could be called.
    Unbound,
    /// Its definition is not taken.
    Faulty(DefinitionFault),
}

/// One tool that a provider has. Cheap to clone: its schemas are compiled when it is made, and all clones share them, so
/// whoever keeps a snapshot makes one for each definition and keeps it.
#[derive(Debug, Clone)]
pub struct ProvidedTool {
    pinned: Arc<Pinned>,
    standing: Standing,
    classified: Option<Class>,
}

/// A definition with everything that is made of it once.
#[derive(Debug)]
struct Pinned {
    definition: Arc<ToolDefinition>,
    digest: [u8; 32],
    checks: Result<Checks, DefinitionFault>,
}

#[derive(Debug)]
struct Checks {
    input: ForeignJudge,
    output: Option<ForeignJudge>,
}

impl ProvidedTool {
    /// Takes a definition: it is [`Standing::Accepted`], or [`Standing::Faulty`] when it is not one that can be enforced,
    /// whatever else is said of it later. For a tool whose definition has changed, the one that was accepted.
    #[must_use]
    pub fn new(definition: impl Into<Arc<ToolDefinition>>) -> Self {
        let definition = definition.into();
        let checks = Checks::of(&definition);
        let standing = checks.as_ref().map_or_else(|fault| Standing::Faulty(*fault), |_| Standing::Accepted);
        let pinned = Pinned { digest: definition.digest(), definition, checks };
        Self { pinned: Arc::new(pinned), standing, classified: None }
    }

    /// The same tool where it stands now. One that is at fault stays so.
    #[must_use]
    pub fn standing_at(mut self, standing: Standing) -> Self {
        if self.pinned.checks.is_ok() {
            self.standing = standing;
        }
        self
    }

    /// The same tool as an operator's configuration classifies the definition of that digest. What is said of another
    /// definition is not said of this one.
    #[must_use]
    pub fn classified_as(mut self, digest: &[u8; 32], class: Class) -> Self {
        self.classified = (*digest == self.pinned.digest).then_some(class);
        self
    }

    /// The same tool when its provider has another of that name.
    pub(super) fn doubled(mut self) -> Self {
        self.standing = Standing::Faulty(DefinitionFault::Duplicate);
        self
    }

    /// What its provider says about it; for a changed one what was accepted.
    #[must_use]
    pub fn definition(&self) -> &Arc<ToolDefinition> {
        &self.pinned.definition
    }

    /// [`ToolDefinition::digest`] of it.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.pinned.digest
    }

    /// Where it stands.
    #[must_use]
    pub const fn standing(&self) -> Standing {
        self.standing
    }

    /// The class that an operator's configuration gives this very definition.
    #[must_use]
    pub const fn classified(&self) -> Option<Class> {
        self.classified
    }

    /// The class that counts, and whether the provider's own claims made it stricter than an operator's classification.
    /// Without a classification nothing is known, and nothing that the provider claims changes that; with one, a claim that
    /// contradicts it raises it.
    #[must_use]
    pub fn class(&self) -> (Class, bool) {
        let Some(classified) = self.classified else {
            return (Class::new(SideEffect::Mutating, Network::External), false);
        };
        let claims = self.pinned.definition.claims;
        let mut class = classified;
        if claims.read_only == Some(false) || claims.destructive == Some(true) {
            class.side_effect = SideEffect::Mutating;
        }
        if claims.open_world == Some(true) {
            class.network = Network::External;
        }
        (class, class != classified)
    }

    /// Checks the canonical text of the tool's own arguments.
    pub(crate) fn check_arguments(&self, text: &[u8]) -> Option<Result<(), ArgumentFault>> {
        self.pinned.checks.as_ref().ok().map(|checks| checks.input.arguments(text))
    }

    /// Whether a structured answer is what the definition promises; `bytes` is the size of the text it was read from.
    pub(crate) fn keeps_its_promise(&self, structured: Option<&Value>, bytes: usize) -> bool {
        match &self.pinned.checks {
            Ok(Checks { output: Some(output), .. }) => output.accepts(structured.unwrap_or(&Value::Null), bytes),
            Ok(Checks { output: None, .. }) => true,
            Err(_) => false,
        }
    }
}

impl Checks {
    fn of(definition: &ToolDefinition) -> Result<Self, DefinitionFault> {
        if !is_native_id(&definition.id.native) {
            return Err(DefinitionFault::Name);
        }
        if definition.size() > MAX_DEFINITION_BYTES {
            return Err(DefinitionFault::TooLarge);
        }
        let compiled = |schema: &Value| ForeignJudge::of(schema).map_err(|_| DefinitionFault::Schema);
        Ok(Self {
            input: compiled(&definition.input_schema)?,
            output: definition.output_schema.as_ref().map(compiled).transpose()?,
        })
    }
}

/// Whether a text can be what a provider calls a tool: not empty, at most 128 bytes, and nothing in it that cannot be shown
/// as it is.
#[must_use]
pub fn is_native_id(text: &str) -> bool {
    let plain =
        |character: char| character.is_ascii_graphic() || (!character.is_ascii() && character.is_alphanumeric());
    !text.is_empty() && text.len() <= MAX_NATIVE_BYTES && text.chars().all(plain)
}
