//! Strict functions: every object closed, every property required, and few keywords.
//!
//! A schema is written so without losing anything, or not at all: what stands against it is told by place, and the function is
//! not strict then.

use serde_json::{Map, Value, json};

use super::super::projection::describe;
use super::{Loss, below};
use crate::contract::schema::recursion;
use crate::contract::schema::walk::has_type;

/// How deep objects nest, how many properties there are, and how many values all choices have.
const MAX_NESTING: usize = 10;
const MAX_PROPERTIES: usize = 5_000;
const MAX_VALUES: usize = 1_000;
/// The longest text that is bounded by a pattern: decoders unroll repetition.
const MAX_REPETITION: u64 = 1_024;

const FORMATS: [&str; 9] = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// The strict form of an exported schema.
///
/// # Errors
/// Every place that cannot be written so.
pub(super) fn strict(exported: &Value) -> Result<Value, Vec<Loss>> {
    let mut writing = Writing { document: exported, losses: Vec::new(), properties: 0, values: 0 };
    let root = exported.as_object().filter(|root| has_type(root, "object"));
    if root.is_none_or(|root| ["anyOf", "oneOf"].iter().any(|keyword| root.contains_key(*keyword))) {
        writing.lose("", "oneOf", "not strict-able: the root is one object, without alternatives");
    }
    let strict = writing.place(exported, "", 0);
    if writing.properties > MAX_PROPERTIES {
        writing.lose("", "properties", "not strict-able: there are more than 5000 properties");
    }
    if writing.values > MAX_VALUES {
        writing.lose("", "enum", "not strict-able: all choices together have more than 1000 values");
    }
    if writing.losses.is_empty() { Ok(strict) } else { Err(writing.losses) }
}

struct Writing<'d> {
    document: &'d Value,
    losses: Vec<Loss>,
    properties: usize,
    values: usize,
}

impl Writing<'_> {
    fn lose(&mut self, path: &str, construct: &'static str, why: &'static str) {
        self.losses.push(Loss::new(path, construct, why));
    }

    fn place(&mut self, schema: &Value, path: &str, nesting: usize) -> Value {
        let Value::Object(schema) = schema else {
            self.lose(path, "boolean schema", "not strict-able: every place has a type");
            return Value::Null;
        };
        if nesting > MAX_NESTING {
            self.lose(path, "depth", "not strict-able: objects nest at most ten levels");
            return Value::Null;
        }
        let mut written = Map::new();
        // First: other keywords add to it.
        if let Some(description) = schema.get("description") {
            written.insert("description".to_owned(), description.clone());
        }
        for (keyword, value) in schema {
            self.keyword(&mut written, schema, keyword, value, path, nesting);
        }
        self.text_bounds(&mut written, schema, path);
        if has_type(schema, "object") && !schema.contains_key("properties") && !is_closed(schema) {
            self.lose(path, "additionalProperties", "not strict-able: an object lists its properties");
        }
        if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
            describe(&mut written, &format!("Default: {default}."));
        }
        Value::Object(written)
    }

    fn keyword(
        &mut self,
        written: &mut Map<String, Value>,
        schema: &Map<String, Value>,
        keyword: &str,
        value: &Value,
        path: &str,
        nesting: usize,
    ) {
        let here = below(path, keyword);
        match keyword {
            "type" | "$ref" | "pattern" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
            | "multipleOf" | "minItems" | "maxItems" => {
                written.insert(keyword.to_owned(), value.clone());
            }
            "enum" => {
                self.values += value.as_array().map_or(0, Vec::len);
                written.insert(keyword.to_owned(), value.clone());
            }
            "const" => {
                self.values += 1;
                written.insert("enum".to_owned(), json!([value]));
            }
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                written.insert(keyword.to_owned(), value.clone());
            }
            "format" => {
                self.lose(path, "format", "not strict-able: this format is not among those that are enforced there")
            }
            "items" => {
                let items = self.place(value, &here, nesting + 1);
                written.insert(keyword.to_owned(), items);
            }
            "anyOf" | "oneOf" => self.alternatives(written, keyword, value, path, nesting),
            "$defs" => {
                let named = value.as_object().into_iter().flatten();
                let defs: Map<String, Value> =
                    named.map(|(name, schema)| (name.clone(), self.place(schema, &below(&here, name), 0))).collect();
                written.insert(keyword.to_owned(), Value::Object(defs));
            }
            "properties" => self.object(written, schema, value, path, nesting),
            // Written with the properties.
            "required" => {}
            "additionalProperties" => {
                if *value == Value::Bool(false) {
                    written.insert(keyword.to_owned(), Value::Bool(false));
                } else {
                    self.lose(path, "additionalProperties", "not strict-able: an object lists its properties");
                }
            }
            // Written as a pattern, and as words.
            "description" | "minLength" | "maxLength" | "default" => {}
            "title" | "examples" | "deprecated" | "readOnly" | "writeOnly" | "$comment" | "$schema" => {}
            other if other.starts_with("x-") => {}
            other => self.lose(path, known(other), "not strict-able: there is no such keyword"),
        }
    }

    /// Every property, all of them required: an optional one is left out by null, or has to be given where it has a default.
    fn object(
        &mut self,
        written: &mut Map<String, Value>,
        schema: &Map<String, Value>,
        properties: &Value,
        path: &str,
        nesting: usize,
    ) {
        if !is_closed(schema) {
            self.lose(path, "additionalProperties", "not strict-able: an object is closed");
        }
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut all = Map::new();
        for (name, property) in properties.as_object().into_iter().flatten() {
            let here = below(&below(path, "properties"), name);
            let optional = !required.iter().any(|required| required.as_str() == Some(name));
            let default = property.get("default").is_some_and(|default| !default.is_null());
            if optional && !default && !self.accepts_null(property, 0) {
                self.lose(&here, "required", "not strict-able: it can be left out, and cannot be null");
            }
            self.properties += 1;
            let place = self.place(property, &here, nesting + 1);
            all.insert(name.clone(), place);
        }
        let names: Vec<Value> = all.keys().map(|name| Value::from(name.as_str())).collect();
        written.insert("properties".to_owned(), Value::Object(all));
        written.insert("required".to_owned(), Value::Array(names));
    }

    fn accepts_null(&self, schema: &Value, depth: usize) -> bool {
        let Some(schema) = schema.as_object() else { return false };
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|to| self.document.pointer(to.strip_prefix('#')?));
        has_type(schema, "null")
            || target.is_some_and(|target| depth < 8 && self.accepts_null(target, depth + 1))
            || ["anyOf", "oneOf"]
                .iter()
                .filter_map(|keyword| schema.get(*keyword)?.as_array())
                .flatten()
                .any(|branch| depth < 8 && self.accepts_null(branch, depth + 1))
    }

    /// Alternatives of which one fits are alternatives of which any fits where no value fits two.
    fn alternatives(
        &mut self,
        written: &mut Map<String, Value>,
        keyword: &str,
        value: &Value,
        path: &str,
        nesting: usize,
    ) {
        let branches = value.as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(values) = constants(branches) {
            self.values += values.len();
            let words: Vec<String> = branches.iter().filter_map(spoken).collect();
            written.insert("enum".to_owned(), Value::Array(values));
            if !words.is_empty() {
                describe(written, &words.join(" "));
            }
            return;
        }
        if keyword == "oneOf" && !recursion::are_disjoint(branches, self.document) {
            self.lose(path, "oneOf", "not strict-able: two alternatives could fit one value");
        }
        let here = below(path, keyword);
        let any: Vec<Value> = branches
            .iter()
            .enumerate()
            .map(|(at, branch)| self.place(branch, &below(&here, &at.to_string()), nesting))
            .collect();
        written.insert("anyOf".to_owned(), Value::Array(any));
    }

    /// Bounds of a text as a pattern, which says the same.
    fn text_bounds(&mut self, written: &mut Map<String, Value>, schema: &Map<String, Value>, path: &str) {
        if written.contains_key("enum") {
            return;
        }
        let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let (least, most) = (bound("minLength").filter(|least| *least > 0), bound("maxLength"));
        if least.is_none() && most.is_none() {
            return;
        }
        if schema.contains_key("pattern") || most.or(least).is_some_and(|bound| bound > MAX_REPETITION) {
            self.lose(path, "maxLength", "not strict-able: the length of this text cannot be written as a pattern");
            return;
        }
        let most = most.map_or_else(String::new, |most| most.to_string());
        written.insert("pattern".to_owned(), Value::from(format!(r"^[\s\S]{{{},{most}}}$", least.unwrap_or(0))));
    }
}

fn is_closed(schema: &Map<String, Value>) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}

/// The values of alternatives that are constants, all of them.
fn constants(branches: &[Value]) -> Option<Vec<Value>> {
    branches.iter().map(|branch| branch.get("const").cloned()).collect()
}

fn spoken(branch: &Value) -> Option<String> {
    let value = branch.get("const")?;
    let said = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    Some(format!("`{said}`: {}", branch.get("description")?.as_str()?))
}

/// A keyword as a word of ours: what a foreign schema writes is not repeated.
fn known(keyword: &str) -> &'static str {
    [
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "dependentRequired",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "unevaluatedItems",
        "contains",
        "uniqueItems",
        "prefixItems",
        "minProperties",
        "maxProperties",
    ]
    .into_iter()
    .find(|known| *known == keyword)
    .unwrap_or("unknown keyword")
}
