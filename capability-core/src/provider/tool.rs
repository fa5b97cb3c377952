//! A foreign tool as it is pinned: one definition, where it stands, and what an operator says of it.

use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{DefinitionFault, MAX_DEFINITION_BYTES, ToolDefinition};
use crate::arguments::ArgumentFault;
use crate::arguments::foreign::ForeignJudge;
use crate::contract::{Class, Network, SideEffect};
use crate::time::Timestamp;

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
    /// What answers to a call of it are bound to.
    binding: [u8; 32],
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

/// The same tool in the same definition, standing and classified alike: what is compiled of a definition follows from it.
impl PartialEq for ProvidedTool {
    fn eq(&self, other: &Self) -> bool {
        let Self { pinned, standing, classified, binding } = self;
        (pinned.digest, *standing, *classified, *binding)
            == (other.pinned.digest, other.standing, other.classified, other.binding)
    }
}

impl ProvidedTool {
    /// Takes a definition: it is [`Standing::Accepted`], or [`Standing::Faulty`] when it is not one that can be enforced,
    /// whatever else is said of it later. For a tool whose definition has changed, the one that was accepted.
    #[must_use]
    pub fn new(definition: impl Into<Arc<ToolDefinition>>) -> Self {
        let definition = definition.into();
        let checks = Checks::of(&definition);
        let standing = checks.as_ref().map_or_else(|fault| Standing::Faulty(*fault), |_| Standing::Accepted);
        let digest = definition.digest();
        let pinned = Pinned { digest, definition, checks };
        Self { pinned: Arc::new(pinned), standing, classified: None, binding: digest }
    }

    /// The same tool as it was accepted at that moment. What was approved of it before is void: a definition that changed, and
    /// changed back, is one that an operator accepted anew.
    #[must_use]
    pub fn accepted_at(mut self, at: Timestamp) -> Self {
        let mut hash = Sha256::new_with_prefix(b"capability acceptance, version 1");
        hash.update(self.pinned.digest);
        hash.update(at.as_micros().to_be_bytes());
        self.binding = hash.finalize().into();
        self
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

    /// What an approval or a standing answer for a call of it is bound to: its definition, and when that was accepted.
    #[must_use]
    pub(crate) const fn binding(&self) -> &[u8; 32] {
        &self.binding
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

/// Whether a text can be what a provider calls a tool: 1 to 128 bytes of ASCII that can be shown, without a space. A name is an
/// identity: none may look like another, and none begins or ends where it cannot be seen.
#[must_use]
pub fn is_native_id(text: &str) -> bool {
    (1..=MAX_NATIVE_BYTES).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
