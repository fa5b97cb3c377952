//! From what a server lists to definitions: everything bounded, nothing believed.

use capability_core::provider::{Claims, DefinitionFault, MAX_DEFINITION_BYTES, ToolDefinition, ToolId, is_native_id};
use capability_core::redact::Redactor;
use serde_json::{Map, Value};

use super::{mirror, schema};

/// The most bytes that are shown of a name that is not taken.
const MAX_SHOWN: usize = 128;

/// One tool as a server lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// What is known of it. For one that is not taken its name as it can be shown, and nothing else.
    pub definition: ToolDefinition,
    /// Why it is not taken.
    pub fault: Option<DefinitionFault>,
    /// How many bytes it is.
    pub bytes: usize,
}

/// Reads one entry of a list. What its server was given is taken out of all of it: a definition is kept, shown to people and
/// put before models. A name that holds some of it is no name. With `mirrors`, arguments are said in headers where it asks for that, and
/// one that asks for what cannot be is not taken.
pub fn described(provider: &str, entry: &Value, given: &Redactor, mirrors: bool) -> Described {
    let bytes = entry.to_string().len();
    let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
    let refused = |fault| {
        let shown = given.text(name);
        let shown: String = shown.chars().take(MAX_SHOWN).flat_map(char::escape_default).take(MAX_SHOWN).collect();
        let definition = definition(provider, &shown, &Map::new(), Value::Object(Map::new()));
        Described { definition, fault: Some(fault), bytes: bytes.min(MAX_DEFINITION_BYTES) }
    };
    if !is_native_id(name) || given.text(name) != name {
        return refused(DefinitionFault::Name);
    }
    if bytes > MAX_DEFINITION_BYTES {
        return refused(DefinitionFault::TooLarge);
    }
    let entry = given.value(entry.clone());
    let Some(entry) = entry.as_object() else { return refused(DefinitionFault::Schema) };
    let Some(input @ Value::Object(_)) = entry.get("inputSchema") else { return refused(DefinitionFault::Schema) };
    let output = entry.get("outputSchema").filter(|schema| !schema.is_null());
    let is_object = input.get("type").and_then(Value::as_str) == Some("object");
    if !is_object || !schema::is_bounded(input) || !output.is_none_or(schema::is_bounded) {
        return refused(DefinitionFault::Schema);
    }
    if mirrors && !mirror::is_sound(input) {
        return refused(DefinitionFault::Schema);
    }
    Described { definition: definition(provider, name, entry, input.clone()), fault: None, bytes }
}

fn definition(provider: &str, name: &str, entry: &Map<String, Value>, input_schema: Value) -> ToolDefinition {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::to_owned);
    let claims = entry.get("annotations").and_then(Value::as_object);
    let claim = |key: &str| claims.and_then(|claims| claims.get(key)).and_then(Value::as_bool);
    ToolDefinition {
        id: ToolId { provider: provider.to_owned(), native: name.to_owned() },
        title: text("title").or_else(|| claims.and_then(|claims| claims.get("title")?.as_str().map(str::to_owned))),
        description: text("description").unwrap_or_default(),
        input_schema,
        output_schema: entry.get("outputSchema").filter(|schema| !schema.is_null()).cloned(),
        claims: Claims {
            read_only: claim("readOnlyHint"),
            destructive: claim("destructiveHint"),
            idempotent: claim("idempotentHint"),
            open_world: claim("openWorldHint"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::Described;
    use capability_core::provider::{Claims, DefinitionFault};
    use capability_core::redact::{MARK, Redactor};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn described(provider: &str, entry: &Value) -> Described {
        super::described(provider, entry, &Redactor::new([]), true)
    }

    fn fault(entry: &Value) -> Option<DefinitionFault> {
        described("lab", entry).fault
    }

    fn named(name: &str) -> Value {
        json!({"name": name, "inputSchema": {"type": "object"}})
    }

    #[test]
    fn a_name_is_plain_text_or_refused() {
        for name in ["alpha", "fs.read", "../etc", "Alpha", "get-env", &"x".repeat(128)] {
            assert_eq!(fault(&named(name)), None, "{name}");
        }
        for name in
            ["", "a b", " a", "a ", &"x".repeat(129), "nul\0", "rtl\u{202e}gpj.exe", "\u{430}lpha", "a\nb", "tab\t"]
        {
            assert_eq!(fault(&named(name)), Some(DefinitionFault::Name), "{name:?}");
            assert!(described("lab", &named(name)).definition.id.native.is_ascii());
        }
        assert_eq!(fault(&json!({"inputSchema": {"type": "object"}})), Some(DefinitionFault::Name));
    }

    #[test]
    fn a_definition_is_within_its_caps() {
        let long = json!({"name": "a", "description": "d".repeat(300 << 10), "inputSchema": {"type": "object"}});
        assert_eq!(fault(&long), Some(DefinitionFault::TooLarge));
        for schema in [json!({"type": "string"}), json!(true), json!(null), json!({}), json!({"type": ["object"]})] {
            assert_eq!(fault(&json!({"name": "a", "inputSchema": schema})), Some(DefinitionFault::Schema), "{schema}");
        }
        assert_eq!(fault(&json!({"name": "a"})), Some(DefinitionFault::Schema));
        let mirrored = json!({"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}});
        let mirrored = json!({"name": "a", "inputSchema": mirrored});
        assert_eq!(fault(&mirrored), Some(DefinitionFault::Schema));
        // Where nothing is mirrored, it is a word like any other.
        assert_eq!(super::described("lab", &mirrored, &Redactor::new([]), false).fault, None);
        let output = json!({"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": "#"}});
        assert_eq!(fault(&output), Some(DefinitionFault::Schema));
    }

    /// What is absent may be written as null: some servers write every field.
    #[test]
    fn null_is_absent() {
        let plain = json!({"name": "a", "inputSchema": {"type": "object"}});
        let mut nulls = plain.clone();
        for key in ["title", "description", "outputSchema", "annotations", "icons", "execution", "_meta"] {
            nulls[key] = Value::Null;
        }
        assert_eq!((fault(&nulls), described("lab", &nulls).definition), (None, described("lab", &plain).definition));
        let hints = json!({"title": null, "readOnlyHint": null, "openWorldHint": null});
        nulls["annotations"] = hints;
        assert_eq!(described("lab", &nulls).definition, described("lab", &plain).definition);
    }

    /// Whatever a server writes into a definition of what it was given is in no definition: those are kept and shown.
    #[test]
    fn what_a_server_was_given_is_in_no_definition() {
        let given = Redactor::new(["hunter2-hunter2"]);
        let entry = json!({
            "name": "a", "title": "hunter2-hunter2", "description": "token hunter2-hunter2, aHVudGVyMi1odW50ZXIy",
            "inputSchema": {"type": "object", "properties": {"hunter2-hunter2": {"const": "hunter2-hunter2"}}},
            "outputSchema": {"type": "object", "description": "hunter2-hunter2"},
            "annotations": {"title": "hunter2-hunter2"},
        });
        let one = super::described("lab", &entry, &given, true);
        let text = serde_json::to_string(&one.definition).unwrap();
        assert!(one.fault.is_none() && !text.contains("hunter2") && !text.contains("aHVudGVyMi"), "{text}");
        assert_eq!(one.definition.description, format!("token {MARK}, {MARK}"));
        let named = super::described("lab", &named("hunter2-hunter2"), &given, true);
        assert_eq!((named.fault, named.definition.id.native.as_str()), (Some(DefinitionFault::Name), MARK));
    }

    #[test]
    fn claims_are_kept_as_claims() {
        let hints = json!({"readOnlyHint": true, "openWorldHint": false, "destructiveHint": "no"});
        let entry = json!({"name": "get-env", "inputSchema": {"type": "object"}, "annotations": hints});
        let claims = described("lab", &entry).definition.claims;
        assert_eq!(claims, Claims { read_only: Some(true), open_world: Some(false), ..Claims::default() });
    }

    /// Whatever a person would call another tool has another digest.
    #[test]
    fn whatever_changes_changes_the_digest() {
        let base = json!({"name": "a", "title": "A", "description": "d", "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
        let digest = |entry: &Value| described("lab", entry).definition.digest();
        for (at, value) in [
            ("/name", json!("b")),
            ("/title", json!("B")),
            ("/description", json!("d ")),
            ("/inputSchema", json!({"type": "object", "properties": {}})),
            ("/outputSchema", json!({"type": "object", "title": ""})),
            ("/annotations", json!({})),
        ] {
            let mut other = base.clone();
            *other.pointer_mut(at).unwrap() = value;
            assert_ne!(digest(&base), digest(&other), "{at}");
        }
        assert_ne!(described("lab", &base).definition.digest(), described("lab2", &base).definition.digest());
    }

    proptest! {
        #[test]
        fn whatever_is_listed_is_described_or_refused(name in ".{0,20}", text in ".{0,20}", depth in 0_usize..200) {
            let mut schema = json!({"type": "object"});
            for _ in 0..depth {
                schema = json!({"type": "object", "properties": {text.clone(): schema}});
            }
            let entry = json!({"name": name, "title": text, "description": text, "inputSchema": schema});
            let one = described("lab", &entry);
            // A level of objects may count once or twice; what is shallow is taken, and what is deep is not.
            match (super::is_native_id(&name), depth) {
                (true, 0..=30) => prop_assert_eq!(one.fault, None),
                (true, 31..=63) => {}
                _ => prop_assert!(one.fault.is_some()),
            }
        }
    }
}
