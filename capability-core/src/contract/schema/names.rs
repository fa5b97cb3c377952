//! Names of the definitions that recursive types leave behind, independent of the order in which they were met.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::fault::SchemaFault;
use super::pointer::{self, Pointer};
use super::walk;
use crate::arguments::canonical;

const PREFIX: &str = "#/$defs/";

/// Drops definitions that nothing refers to, joins those that say the same, and names the rest by type name and content.
pub(super) fn settle(document: &mut Value) -> Result<(), SchemaFault> {
    let Some(definitions) = document.as_object_mut().and_then(|root| root.remove("$defs")) else {
        return refuse_unknown(document, &BTreeMap::new());
    };
    let Value::Object(definitions) = definitions else {
        return Err(SchemaFault::new(
            "/$defs",
            "the keyword holds several schemas",
            "write an object of schemas there",
        ));
    };
    let contents = contents(&definitions);
    let mut definitions: BTreeMap<String, Value> = definitions.into_iter().collect();
    refuse_unknown(document, &definitions)?;
    for definition in definitions.values() {
        refuse_unknown(definition, &definitions)?;
    }
    let used = reachable(document, &definitions);
    definitions.retain(|name, _| used.contains(name));
    let names = chosen(&definitions, &contents);
    rename(document, &names)?;
    let mut settled = Map::new();
    for (name, mut definition) in definitions {
        rename(&mut definition, &names)?;
        if let Some(chosen) = names.get(&name) {
            settled.insert(chosen.clone(), definition);
        }
    }
    if let (false, Value::Object(root)) = (settled.is_empty(), document) {
        root.insert("$defs".to_owned(), Value::Object(settled));
    }
    Ok(())
}

/// What each definition says, as a hash in which a reference counts for what it leads to and not for its name.
fn contents(definitions: &Map<String, Value>) -> BTreeMap<String, [u8; 32]> {
    let mut contents: BTreeMap<String, [u8; 32]> = definitions.keys().map(|name| (name.clone(), [0; 32])).collect();
    // Each round looks one reference further; after as many rounds as there are definitions nothing is left to see.
    for _ in 0..definitions.len().min(64) {
        contents = definitions
            .iter()
            .map(|(name, definition)| {
                let mut hashed = definition.clone();
                each_reference(&mut hashed, &mut |reference| {
                    if let Some(target) = contents.get(&named(reference)) {
                        *reference = crate::hex::text(target.as_slice());
                    }
                });
                (name.clone(), Sha256::digest(canonical::text(&hashed)).into())
            })
            .collect();
    }
    contents
}

/// A name for each definition: the type's, followed by a part of its content's hash where two types share it.
fn chosen(definitions: &BTreeMap<String, Value>, contents: &BTreeMap<String, [u8; 32]>) -> BTreeMap<String, String> {
    let mut types: BTreeMap<&str, BTreeSet<[u8; 32]>> = BTreeMap::new();
    let content = |name: &str| contents.get(name).copied().unwrap_or_default();
    for name in definitions.keys() {
        types.entry(base(name)).or_default().insert(content(name));
    }
    definitions
        .keys()
        .map(|name| {
            let sharing = types.get(base(name)).map_or(0, BTreeSet::len);
            let suffix: String = content(name).iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            let chosen = if sharing > 1 { format!("{}_{suffix}", base(name)) } else { base(name).to_owned() };
            (name.clone(), chosen)
        })
        .collect()
}

/// A type's name without the number that tells it from one met before it.
fn base(name: &str) -> &str {
    let base = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    if base.is_empty() { name } else { base }
}

fn rename(schema: &mut Value, names: &BTreeMap<String, String>) -> Result<(), SchemaFault> {
    walk::every(schema, &mut Pointer::default(), &mut |schema, _| {
        if let Some(Value::String(reference)) = schema.as_object_mut().and_then(|object| object.get_mut("$ref"))
            && let Some(chosen) = names.get(&named(reference))
        {
            let mut renamed = "#/$defs".to_owned();
            pointer::push(&mut renamed, &encoded(chosen));
            *reference = renamed;
        }
        Ok(())
    })
}

fn each_reference(schema: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    // Every keyword that holds schemas was checked when the document was simplified; there is no fault left to find.
    let _: Result<(), SchemaFault> = walk::every(schema, &mut Pointer::default(), &mut |schema, _| {
        if let Some(Value::String(reference)) = schema.as_object_mut().and_then(|object| object.get_mut("$ref")) {
            visit(reference);
        }
        Ok(())
    });
}

fn reachable(document: &Value, definitions: &BTreeMap<String, Value>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut waiting = references(document);
    while let Some(name) = waiting.pop() {
        if let Some(definition) = definitions.get(&name)
            && used.insert(name)
        {
            waiting.extend(references(definition));
        }
    }
    used
}

fn references(schema: &Value) -> Vec<String> {
    let mut references = Vec::new();
    let _: Result<(), SchemaFault> = walk::every_ref(schema, &mut Pointer::default(), &mut |schema, _| {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            references.push(named(reference));
        }
        Ok(())
    });
    references
}

fn refuse_unknown(schema: &Value, definitions: &BTreeMap<String, Value>) -> Result<(), SchemaFault> {
    walk::every_ref(schema, &mut Pointer::default(), &mut |schema, at| match schema.get("$ref").map(Value::as_str) {
        Some(reference)
            if reference != Some("#") && !reference.is_some_and(|to| definitions.contains_key(&named(to))) =>
        {
            Err(SchemaFault::new(
                at.as_str(),
                "a `$ref` leads to a definition",
                "refer to `#` or to an entry of `$defs`",
            ))
        }
        _ => Ok(()),
    })
}

/// The definition that a reference names, unescaped from URI and JSON pointer.
fn named(reference: &str) -> String {
    let name = reference.strip_prefix(PREFIX).unwrap_or_default();
    decoded(name).replace("~1", "/").replace("~0", "~")
}

/// Escapes what may not stand in a URI fragment.
fn encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

pub(crate) fn decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let escaped = (*byte == b'%').then(|| after.split_at_checked(2)).flatten().and_then(|(digits, after)| {
            Some((u8::from_str_radix(core::str::from_utf8(digits).ok()?, 16).ok()?, after))
        });
        let (byte, after) = escaped.unwrap_or((*byte, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
