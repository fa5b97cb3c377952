//! What goes to a provider's tool, as an argument of the capability that the call goes through.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::contract::schema::PROVIDED;

/// The tool's own arguments: an object that the tool's own schema describes, and that the executor holds against it.
///
/// There is nothing in it for the capability's body: what goes to the provider is what was judged, whatever the body does.
/// Only a capability that holds [`&ProviderTool`](crate::handle::ProviderTool) can have such an argument.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ForeignArguments(());

impl JsonSchema for ForeignArguments {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ForeignArguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", PROVIDED: "arguments" })
    }
}

impl<'de> Deserialize<'de> for ForeignArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Anything;

        impl<'de> Visitor<'de> for Anything {
            type Value = ForeignArguments;

            fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ForeignArguments, A::Error> {
                while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(ForeignArguments(()))
            }
        }

        deserializer.deserialize_map(Anything)
    }
}

/// The schema of what a provider's tool says as data: the tool's own schema describes it, or nothing does.
pub(crate) fn any_json(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ PROVIDED: "answer" })
}
