//! The two places that stay open: what goes to a provider's tool, and what it says as data.
//!
//! They are described by the tool's own schema, which is known only when it is called. So a document may leave them open, but
//! only in an entry whose calls go through to a provider, at exactly the names where the executor looks for them.

use serde_json::{Map, Value};

use super::fault::SchemaFault;
use super::pointer::Pointer;
use super::{Document, Schemas, walk};
use crate::contract::Capability;

/// Marks an open place.
pub(crate) const PROVIDED: &str = "x-provided";

/// The argument that names the tool of an entry whose calls go through.
pub(crate) const TOOL: &str = "tool";

/// The argument that holds the tool's own arguments.
pub(crate) const ARGUMENTS: &str = "arguments";

/// Whether a schema is an open place.
pub(super) fn is_provided(schema: &Map<String, Value>) -> bool {
    schema.contains_key(PROVIDED)
}

/// Refuses open places of other entries than those whose calls go through, and those at other names.
pub(super) fn settle(capability: &Capability, schemas: &Schemas) -> Result<(), SchemaFault> {
    let through = capability.through().is_some();
    let expected: [(Document, &Value, &[&str]); 2] = [
        (Document::Arguments, schemas.arguments(), if through { &["/properties/arguments"] } else { &[] }),
        (Document::Result, schemas.result(), if through { &["/properties/structured"] } else { &[] }),
    ];
    for (which, document, expected) in expected {
        let mut open = Vec::new();
        walk::every_ref(document, &mut Pointer::default(), &mut |schema, at| {
            if schema.as_object().is_some_and(is_provided) {
                open.push(at.as_str().to_owned());
            }
            Ok(())
        })?;
        if open != expected {
            let at = open.first().map_or("", String::as_str);
            return Err(SchemaFault::new(
                at,
                "only a capability whose calls go through to a provider's tool leaves a place open, and no other than \
                 the tool's `arguments` and the answer of `&ProviderTool`",
                "describe the value, or hold `&ProviderTool<..>` and return its `ToolReply`",
            )
            .of(which));
        }
    }
    if through {
        let properties = schemas.arguments().get("properties").and_then(Value::as_object);
        let text = |name: &str| {
            properties.and_then(|named| named.get(name)?.get("type")?.as_str()).is_some_and(|named| named == "string")
        };
        let named = properties.is_some_and(|named| named.len() == 3 && named.contains_key(ARGUMENTS));
        if !named || !text(TOOL) || !capability.scope().is_some_and(|scope| scope != TOOL && text(scope)) {
            return Err(SchemaFault::new(
                "/properties",
                "a capability whose calls go through to a provider's tool takes three arguments: the provider, which is its \
                 `scope`, `tool` and `arguments`",
                "write `scope = server` and `server: String, tool: String, arguments: ForeignArguments`",
            )
            .of(Document::Arguments));
        }
    }
    Ok(())
}
