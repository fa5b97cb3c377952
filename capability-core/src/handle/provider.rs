//! One tool of one provider, and the way to a provider.

use core::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Changes, Handle, HandleFamily, HandleKind, OffDevice, Targetless, sealed,
};
use crate::call::Call;
use crate::provider::ProviderType;

/// A kind of provider that a call can go through. Sealed: what there is stands in this module.
pub trait ProviderKind: sealed::Sealed + Send + Sync + 'static {
    /// Which.
    const TYPE: ProviderType;
}

/// Servers that speak the Model Context Protocol.
pub struct McpServers;
/// People's own machines.
pub struct Edges;
/// Workspaces and agents elsewhere.
pub struct Relays;

impl sealed::Sealed for McpServers {}
impl ProviderKind for McpServers {
    const TYPE: ProviderType = ProviderType::Mcp;
}
impl sealed::Sealed for Edges {}
impl ProviderKind for Edges {
    const TYPE: ProviderType = ProviderType::Edge;
}
impl sealed::Sealed for Relays {}
impl ProviderKind for Relays {
    const TYPE: ProviderType = ProviderType::Relay;
}

/// The one tool that this call was judged and approved for, with the very arguments that were: there is nothing to name.
///
/// What is behind it changes things and sends data away for all that is known, so only a `mutating` and `external` capability
/// may hold it. An operator's classification of one tool's very definition narrows what a call of that tool *needs*, not what
/// the handle is.
#[derive(Debug)]
pub struct ProviderTool<K>(Call, PhantomData<K>);

impl<K: ProviderKind> ProviderTool<K> {
    /// Calls it.
    ///
    /// # Errors
    /// [`BrokerFault::Unavailable`] when the provider is not connected or went away, [`BrokerFault::DefinitionChanged`] when
    /// its tool is not the one that was judged any more, [`BrokerFault::TimedOut`], [`BrokerFault::ReplyTooLarge`],
    /// [`BrokerFault::MalformedReply`].
    pub async fn call(&self) -> Result<ToolReply, BrokerFault> {
        match self.0.ask(BrokerRequest::CallTool { kind: K::TYPE.as_str().to_owned() }).await? {
            BrokerReply::Called(reply) => Ok(*reply),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

/// The way to the provider that the call's target names: there is nothing else to name.
#[derive(Debug)]
pub struct ProviderLink<K>(Call, PhantomData<K>);

impl<K: ProviderKind> ProviderLink<K> {
    /// Starts or contacts the provider, and asks it what tools it has. A provider that is connected stays so.
    ///
    /// # Errors
    /// [`BrokerFault::NotFound`] when no provider of that name is configured, [`BrokerFault::Unavailable`],
    /// [`BrokerFault::TimedOut`], [`BrokerFault::MalformedReply`].
    pub async fn connect(&self) -> Result<ProviderConnected, BrokerFault> {
        match self.0.ask(BrokerRequest::ConnectProvider { kind: K::TYPE.as_str().to_owned() }).await? {
            BrokerReply::Connected(connected) => Ok(connected),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

/// What a provider's tool answered. Foreign text throughout. A capability whose calls go through returns it as it is: the
/// executor holds its structured part against the tool's own schema.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolReply {
    /// What it says, piece by piece.
    pub content: Vec<ToolContent>,
    /// What it says as data; null when it says nothing so.
    #[schemars(schema_with = "crate::provider::any_json")]
    pub structured: Option<Value>,
    /// Whether it says that it failed.
    pub is_error: bool,
}

impl core::fmt::Debug for ToolReply {
    /// Without a word of it.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ToolReply({} pieces, is_error: {})", self.content.len(), self.is_error)
    }
}

/// One piece of what a tool says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ToolContent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Something that is no text: told, not passed on.
    Omitted {
        /// What it calls itself, as one of our own words: `image`, `audio`, `resource`, `other`.
        what: OmittedContent,
        /// How large it was, in bytes.
        bytes: u64,
    },
}

/// Content that is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OmittedContent {
    /// A picture.
    Image,
    /// Sound.
    Audio,
    /// A resource, or a link to one.
    Resource,
    /// Anything else.
    Other,
}

/// What became of connecting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderConnected {
    /// How many tools it has.
    pub tools: u32,
    /// How many of them are out of use: changed since they were accepted, or not taken at all.
    pub unusable: u32,
}

impl<K> sealed::Sealed for ProviderTool<K> {}
impl<K: ProviderKind> Handle for ProviderTool<K> {
    const KIND: HandleKind = HandleKind::new(HandleFamily::ProviderTool, K::TYPE.as_str());
    type Reach = OffDevice;
    type Power = Changes;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

impl<K> sealed::Sealed for ProviderLink<K> {}
impl<K: ProviderKind> Handle for ProviderLink<K> {
    const KIND: HandleKind = HandleKind::new(HandleFamily::ProviderLink, K::TYPE.as_str());
    type Reach = OffDevice;
    type Power = Changes;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}
