//! A subset of `OpenAPI` 3.0: no references, one type a place, few keywords.

use serde_json::{Map, Value, json};

use super::super::projection::{describe, without_null};
use super::anthropic::plain_root;
use super::{Loss, below};
use crate::contract::schema::simplify::type_name;

/// How many places a written schema may have: references are written out, and a small document can refer to much.
const MAX_PLACES: usize = 4_096;
/// How many references may stand inside one another.
const MAX_REFERENCES: usize = 32;

/// The schema with every reference written out and every place typed.
///
/// # Errors
/// When it is too large written out.
pub(super) fn schema(shown: &Value) -> Result<(Value, Vec<Loss>), Vec<Loss>> {
    let mut losses = Vec::new();
    let root = plain_root(shown, &mut losses);
    let mut writing = Writing { document: shown, losses, places: 0, inside: Vec::new() };
    let written = writing.place(&root, "");
    if writing.places > MAX_PLACES {
        return Err(vec![Loss::new(
            "",
            "$ref",
            "written out the schema has more than 4096 places; the tool is left out",
        )]);
    }
    Ok((written, writing.losses))
}

struct Writing<'d> {
    document: &'d Value,
    losses: Vec<Loss>,
    places: usize,
    /// The references that are being written out.
    inside: Vec<String>,
}

/// What becomes of a keyword that the dialect does not have.
const SAID: &str = "there is no such keyword there: it is said in the description";

impl Writing<'_> {
    fn lose(&mut self, path: &str, construct: &'static str, why: &'static str) {
        self.losses.push(Loss::new(path, construct, why));
    }

    fn place(&mut self, schema: &Value, path: &str) -> Value {
        self.places += 1;
        if self.places > MAX_PLACES {
            return json!({ "type": "string" });
        }
        let Value::Object(schema) = schema else {
            self.lose(path, "boolean schema", "every place has a type there");
            return json!({ "type": "string" });
        };
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.reference(schema, reference, path);
        }
        let mut schema = schema.clone();
        let nullable = without_null(&mut schema);
        let mut written = Map::new();
        if let Some(description) = schema.get("description") {
            written.insert("description".to_owned(), description.clone());
        }
        self.kind(&mut written, &schema, path);
        for (keyword, value) in &schema {
            self.keyword(&mut written, keyword, value, path);
        }
        if written.get("type").and_then(Value::as_str) == Some("array") && !written.contains_key("items") {
            written.insert("items".to_owned(), json!({ "type": "string" }));
            self.lose(path, "items", "every list says what is in it there; this one does not");
        }
        if nullable {
            written.insert("nullable".to_owned(), Value::Bool(true));
        }
        self.alone(&mut written, path);
        if !written.contains_key("type") && !written.contains_key("anyOf") {
            self.lose(path, "type", "every place has a type there, and this one says none: it is shown as a text");
            written.insert("type".to_owned(), json!("string"));
        }
        Value::Object(written)
    }

    /// Alternatives stand alone: what is said around them is said of each.
    fn alone(&mut self, written: &mut Map<String, Value>, path: &str) {
        let Some(Value::Array(mut branches)) = written.remove("anyOf") else { return };
        let around = core::mem::take(written);
        for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(description) = around.get("description").and_then(Value::as_str) {
                let own = branch.remove("description");
                branch.insert("description".to_owned(), Value::from(description));
                if let Some(own) = own.as_ref().and_then(Value::as_str).filter(|own| *own != description) {
                    describe(branch, own);
                }
            }
            if let Some(nullable) = around.get("nullable") {
                branch.insert("nullable".to_owned(), nullable.clone());
            }
        }
        if around.keys().any(|key| !matches!(key.as_str(), "description" | "nullable" | "type")) {
            self.lose(path, "anyOf", "alternatives stand alone there: what is declared beside them is left out");
        }
        written.insert("anyOf".to_owned(), Value::Array(branches));
    }

    /// Writes out what a reference refers to, once inside itself.
    fn reference(&mut self, schema: &Map<String, Value>, reference: &str, path: &str) -> Value {
        let target = reference.strip_prefix('#').and_then(|to| self.document.pointer(to)).cloned();
        let again = self.inside.iter().any(|outer| outer == reference) || self.inside.len() >= MAX_REFERENCES;
        let Some(Value::Object(mut target)) = target.filter(|_| !again) else {
            let why = "a type that holds itself has no end there: further levels are any object, and the executor checks them";
            self.lose(path, "$ref", why);
            return json!({ "type": "object" });
        };
        for (keyword, value) in schema.iter().filter(|(keyword, _)| *keyword != "$ref" && *keyword != "$defs") {
            target.insert(keyword.clone(), value.clone());
        }
        target.remove("$defs");
        self.inside.push(reference.to_owned());
        let written = self.place(&Value::Object(target), path);
        self.inside.pop();
        written
    }

    /// The one type of a place.
    fn kind(&mut self, written: &mut Map<String, Value>, schema: &Map<String, Value>, path: &str) {
        let one = match schema.get("type") {
            Some(Value::String(one)) => Some(one.clone()),
            Some(Value::Array(several)) => {
                let kinds: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
                match kinds.as_slice() {
                    [one] => Some((*one).to_owned()),
                    several => {
                        let any: Vec<Value> = several.iter().map(|kind| json!({ "type": kind })).collect();
                        written.insert("anyOf".to_owned(), Value::Array(any));
                        self.lose(
                            path,
                            "type",
                            "a place has one type there: the others are alternatives without bounds",
                        );
                        None
                    }
                }
            }
            _ => of_values(schema).map(ToOwned::to_owned),
        };
        match one {
            Some(one) if one == "null" => {
                written.insert("type".to_owned(), json!("string"));
                written.insert("nullable".to_owned(), Value::Bool(true));
                self.lose(path, "type", "null alone is no type there");
            }
            Some(one) => {
                written.insert("type".to_owned(), Value::String(one));
            }
            None => {}
        }
    }

    fn keyword(&mut self, written: &mut Map<String, Value>, keyword: &str, value: &Value, path: &str) {
        let here = below(path, keyword);
        match keyword {
            "minItems" | "maxItems" | "minProperties" | "maxProperties" | "minLength" | "maxLength" | "pattern"
            | "minimum" | "maximum" | "required" => {
                written.insert(keyword.to_owned(), value.clone());
            }
            "properties" => {
                let named = value.as_object().into_iter().flatten();
                let all: Map<String, Value> =
                    named.map(|(name, schema)| (name.clone(), self.place(schema, &below(&here, name)))).collect();
                written.insert("properties".to_owned(), Value::Object(all));
            }
            // Beside a tuple it says that nothing comes after it.
            "items" if value.is_boolean() => {}
            "items" => {
                let items = self.place(value, &here);
                written.insert("items".to_owned(), items);
            }
            "anyOf" | "oneOf" => {
                let branches = value.as_array().into_iter().flatten().enumerate();
                let any: Vec<Value> =
                    branches.map(|(at, branch)| self.place(branch, &below(&here, &at.to_string()))).collect();
                written.insert("anyOf".to_owned(), Value::Array(any));
            }
            "const" => self.values(written, core::slice::from_ref(value), path),
            "enum" => self.values(written, value.as_array().map(Vec::as_slice).unwrap_or_default(), path),
            "format" => self.format(written, value, path),
            "additionalProperties" | "unevaluatedProperties" => {
                let why = if *value == Value::Bool(false) {
                    "an object cannot be closed there; further properties are refused when it is called"
                } else {
                    "an object lists its properties there: entries of a map are not described"
                };
                self.lose(
                    path,
                    if keyword == "additionalProperties" { "additionalProperties" } else { "unevaluatedProperties" },
                    why,
                );
            }
            "default" if value.is_null() => {}
            "default" => describe(written, &format!("Default: {value}.")),
            "exclusiveMinimum" => self.say(written, path, "exclusiveMinimum", &format!("Above {value}.")),
            "exclusiveMaximum" => self.say(written, path, "exclusiveMaximum", &format!("Below {value}.")),
            "multipleOf" => self.say(written, path, "multipleOf", &format!("A multiple of {value}.")),
            "uniqueItems" => self.say(written, path, "uniqueItems", "No entry twice."),
            "prefixItems" => self.tuple(written, value, path, &here),
            "allOf" => self.lose(path, "allOf", "parts of one object cannot be put together there"),
            "patternProperties" | "propertyNames" => {
                self.lose(
                    path,
                    if keyword == "propertyNames" { "propertyNames" } else { "patternProperties" },
                    "an object lists its properties there: entries of a map are not described",
                );
            }
            "type" | "description" | "title" | "$defs" | "examples" | "deprecated" | "readOnly" | "writeOnly"
            | "$comment" | "$schema" => {}
            other if other.starts_with("x-") => {}
            _ => self.lose(path, "unknown keyword", "there is no such keyword there"),
        }
    }

    fn say(&mut self, written: &mut Map<String, Value>, path: &str, construct: &'static str, words: &str) {
        describe(written, words);
        self.lose(path, construct, SAID);
    }

    /// A choice between values, which are texts there.
    fn values(&mut self, written: &mut Map<String, Value>, values: &[Value], path: &str) {
        if values.iter().all(Value::is_string) {
            written.insert("enum".to_owned(), Value::Array(values.to_vec()));
        } else {
            let listed: Vec<String> = values.iter().map(ToString::to_string).collect();
            self.say(written, path, "enum", &format!("One of {}.", listed.join(", ")));
        }
    }

    fn format(&mut self, written: &mut Map<String, Value>, value: &Value, path: &str) {
        let known = ["date-time", "enum", "int32", "int64", "float", "double"];
        match value.as_str() {
            Some(format) if known.contains(&format) => {
                written.insert("format".to_owned(), value.clone());
            }
            Some(format) => self.say(written, path, "format", &format!("Format: {format}.")),
            None => {}
        }
    }

    /// A tuple as a list of that length, of whatever its places are.
    fn tuple(&mut self, written: &mut Map<String, Value>, value: &Value, path: &str, here: &str) {
        let places = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut any: Vec<Value> = Vec::new();
        for (at, place) in places.iter().enumerate() {
            let place = self.place(place, &below(here, &at.to_string()));
            if !any.contains(&place) {
                any.push(place);
            }
        }
        let items = if let [one] = any.as_slice() { one.clone() } else { json!({ "anyOf": any }) };
        written.insert("items".to_owned(), items);
        self.lose(path, "prefixItems", "a list has one kind of entry there: which kind stands where is not described");
    }
}

/// The type that all values of a choice have.
fn of_values(schema: &Map<String, Value>) -> Option<&'static str> {
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => core::slice::from_ref(value),
        (None, Some(Value::Array(values))) => values.as_slice(),
        _ => return None,
    };
    let first = type_name(values.first()?);
    values.iter().all(|value| type_name(value) == first).then_some(first)
}
