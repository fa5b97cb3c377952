//! One tool of a surface.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::projection;
use super::wire_name::{ToolKey, WireName};
use crate::contract::{Capability, Class};
use crate::hex;
use crate::provider::{AdmissionStatus, ProviderDecision, ProviderType};
use crate::registry::{Registered, Registry};

/// One tool: the decision about it, and what it is called.
#[derive(Debug, Clone)]
pub struct Tool {
    key: ToolKey,
    name: WireName,
    decision: ProviderDecision,
    entry: &'static Capability,
}

/// Which very definition of a tool was selected. A call that carries it runs that definition or none.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SelectionDigest([u8; 16]);

hex::hex_text!(SelectionDigest, 16, "a selection digest is 32 hexadecimal digits");

impl SelectionDigest {
    /// What it is for the tool that `decision` is about; none for a capability whose own schema is at fault. Of a compiled
    /// capability it says nothing about who carries it out now: that is decided at the call, and no part of what was found.
    #[must_use]
    pub(crate) fn of(decision: &ProviderDecision, held: &Registered) -> Option<Self> {
        let (kind, provider, native, class, definition) = match &decision.definition {
            None => {
                let name = decision.capability.as_str();
                (ProviderType::Compiled, "", name, held.entry().class(), held.built().ok()?.digest)
            }
            Some(definition) => {
                let (kind, provider, native) = (decision.provider_type, &*decision.provider_id, &*decision.native_id);
                (kind, provider, native, decision.class, definition.digest())
            }
        };
        let version = decision.version.get().to_string();
        let mut hash = Sha256::new();
        for part in [
            decision.capability.as_str().as_bytes(),
            version.as_bytes(),
            kind.as_str().as_bytes(),
            provider.as_bytes(),
            native.as_bytes(),
            class.side_effect.as_str().as_bytes(),
            class.network.as_str().as_bytes(),
            &definition,
        ] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().first_chunk().copied().map(Self)
    }
}

impl Tool {
    pub(super) fn new(key: ToolKey, name: WireName, decision: ProviderDecision, entry: &'static Capability) -> Self {
        Self { key, name, decision, entry }
    }

    /// The tool that a decision gave this name.
    pub(super) fn named(name: &str, decision: ProviderDecision, entry: &'static Capability) -> Self {
        Self::new(ToolKey::of(&decision), WireName::assigned(name), decision, entry)
    }

    /// Which tool it is.
    #[must_use]
    pub const fn key(&self) -> &ToolKey {
        &self.key
    }

    /// What a model calls it.
    #[must_use]
    pub const fn name(&self) -> &WireName {
        &self.name
    }

    /// The decision that it is a projection of.
    pub const fn decision(&self) -> &ProviderDecision {
        &self.decision
    }

    /// The registry entry that a call of it goes through.
    #[must_use]
    pub const fn entry(&self) -> &'static Capability {
        self.entry
    }

    /// Whether a provider describes it: name, title, description and schemas are foreign text then.
    #[must_use]
    pub const fn is_foreign(&self) -> bool {
        self.decision.definition.is_some()
    }

    /// Its class as it is listed: of a foreign tool, the one that holds for that very definition; of a compiled capability its own,
    /// whoever carries it out. Where another one counts now, [`Tool::fact`] says so.
    #[must_use]
    pub const fn class(&self) -> Class {
        if self.is_foreign() { self.decision.class } else { self.entry.class() }
    }

    /// Whether it promises that doing it twice is doing it once. What a provider claims is no promise.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        !self.is_foreign() && self.entry.is_idempotent()
    }

    /// A short name for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        match &self.decision.definition {
            None => self.entry.title(),
            Some(definition) => definition.title.as_deref(),
        }
    }

    /// Everything it says about itself.
    #[must_use]
    pub fn description(&self) -> &str {
        match &self.decision.definition {
            None => self.entry.description(),
            Some(definition) => &definition.description,
        }
    }

    /// The first paragraph of it, at most 240 characters.
    #[must_use]
    pub fn summary(&self) -> &str {
        let paragraph = self.description().split("\n\n").next().unwrap_or_default();
        match paragraph.char_indices().nth(240) {
            None => paragraph,
            Some((end, _)) => paragraph.get(..end).unwrap_or(paragraph),
        }
    }

    /// The schema that its arguments are checked by.
    pub(super) fn exported<'r>(&'r self, registry: &'r Registry) -> Option<&'r Value> {
        match &self.decision.definition {
            None => self.registered(registry)?.schemas().ok().map(crate::contract::Schemas::arguments),
            Some(definition) => Some(&definition.input_schema),
        }
    }

    /// The schema of its arguments, where it can be shown.
    fn showable<'r>(&'r self, registry: &'r Registry) -> Option<&'r Value> {
        // Copied, a document deeper than a stack would end the process.
        self.exported(registry).filter(|exported| projection::depth_of(exported) <= projection::MAX_DEPTH)
    }

    /// Whether [`Tool::arguments`] gives a schema.
    pub(super) fn has_arguments(&self, registry: &Registry) -> bool {
        self.showable(registry).is_some()
    }

    /// The schema of its arguments as it is shown; none for a capability whose own schema is at fault.
    #[must_use]
    pub fn arguments(&self, registry: &Registry) -> Option<Value> {
        let exported = self.showable(registry)?;
        Some(if self.is_foreign() { exported.clone() } else { projection::shown(exported).into_owned() })
    }

    /// The schema of its result, when it has one.
    #[must_use]
    pub fn result<'r>(&'r self, registry: &'r Registry) -> Option<&'r Value> {
        match &self.decision.definition {
            None => self.registered(registry)?.schemas().ok().map(crate::contract::Schemas::result),
            Some(definition) => definition.output_schema.as_ref(),
        }
    }

    /// Which definition of it this is.
    #[must_use]
    pub fn selection(&self, registry: &Registry) -> Option<SelectionDigest> {
        SelectionDigest::of(&self.decision, self.registered(registry)?)
    }

    fn registered<'r>(&self, registry: &'r Registry) -> Option<&'r Registered> {
        registry.resolve(self.decision.capability.as_str(), self.decision.version.get())
    }

    /// What stands against calling it now, if anything does, that it works less well than it could, or that another class counts
    /// than the one that is listed.
    #[must_use]
    pub fn fact(&self) -> Option<Fact<'_>> {
        let message = self.decision.user_visible_message.as_deref();
        let ready = self.decision.admission_status == AdmissionStatus::Ready;
        let class = Some(self.decision.class).filter(|class| *class != self.class());
        let tells = !ready || message.is_some() || class.is_some();
        tells.then_some(Fact { admission: self.decision.admission_status, class, message })
    }

    /// Which provider it comes from, for a foreign one: its kind and name.
    #[must_use]
    pub fn provider(&self) -> Option<(&'static str, &str)> {
        self.is_foreign().then(|| (self.decision.provider_type.as_str(), self.decision.provider_id.as_ref()))
    }
}

/// Whether a tool can be called now, and what a person is told about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fact<'a> {
    /// Whether it can.
    pub admission: AdmissionStatus,
    /// The class that counts now, where it is another one than is listed: whoever carries it out makes it stricter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'a str>,
}

/// The JSON text of one tool in an array of tools.
pub(super) fn text_of(name: &str, description: &str, arguments: &Value) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let schema: Cow<'_, str> =
        String::from_utf8(crate::arguments::canonical::text(arguments)).unwrap_or_default().into();
    format!(r#"{{"name":{},"description":{},"inputSchema":{schema}}}"#, quoted(name), quoted(description))
}
