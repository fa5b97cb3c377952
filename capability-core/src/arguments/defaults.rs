//! Defaults of the schema, written into arguments that leave them out.
//!
//! Only where it is certain which schema a value is read by: through properties, list items, map values and references,
//! and through a choice between one thing and `null`. Never into a real choice.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{MAX_ARGUMENT_DEPTH, canonical};
use crate::contract::{MAX_SCHEMA_BYTES, SchemaFault};

/// How many bytes of defaults one call is given: a long list of empty objects may ask for a default each.
pub(super) const MAX_FILLED_BYTES: usize = 16 * 1024 * 1024;

/// What to fill in, compiled from a schema.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    pub(super) places: Vec<Place>,
    /// The arguments themselves; none when the schema has no defaults.
    pub(super) root: Option<usize>,
}

/// What to do at one place of the schema. All names are sorted bytewise.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub(super) missing: Vec<Missing>,
    properties: Vec<(String, usize)>,
    /// Map values: properties that are not declared.
    others: Option<usize>,
    declared: Vec<String>,
    prefix: Vec<Option<usize>>,
    items: Option<usize>,
}

impl Place {
    /// The place of a property.
    pub(super) fn property(&self, name: &str) -> Option<usize> {
        match self.properties.binary_search_by(|(known, _)| known.as_str().cmp(name)) {
            Ok(at) => self.properties.get(at).map(|(_, to)| *to),
            Err(_) => {
                let declared = || self.declared.binary_search_by(|known| known.as_str().cmp(name)).is_ok();
                self.others.filter(|_| !declared())
            }
        }
    }

    /// The place of an item of a list.
    pub(super) fn item(&self, index: usize) -> Option<usize> {
        self.prefix.get(index).copied().unwrap_or(self.items)
    }
}

/// A property that is given its default when it is left out.
#[derive(Debug, Clone)]
pub(super) struct Missing {
    pub(super) name: String,
    /// Completed itself, so that filling in twice changes nothing.
    default: Value,
    /// The same in canonical form.
    pub(super) text: Vec<u8>,
    pub(super) bytes: usize,
}

/// More defaults than one call, or one default, is given.
#[derive(Debug)]
pub(super) struct TooMany;

impl Defaults {
    /// Finds every default of `schema`.
    ///
    /// # Errors
    /// [`SchemaFault`] for a default that holds itself without end.
    pub(super) fn of(schema: &Value) -> Result<Self, SchemaFault> {
        let mut plan = Plan { document: schema, places: Vec::new(), known: HashMap::new() };
        let root = plan.place(schema, 0);
        let useful = plan.useful();
        let mut defaults = Self { root, places: plan.places };
        let keep = |to: &usize| useful.get(*to).copied().unwrap_or(false);
        for place in &mut defaults.places {
            place.declared.sort_unstable();
            place.properties.sort_unstable();
            place.missing.sort_unstable_by(|one, other| one.name.cmp(&other.name));
            place.properties.retain(|(_, to)| keep(to));
            place.others = place.others.filter(keep);
            place.items = place.items.filter(keep);
            place.prefix.iter_mut().for_each(|to| *to = to.filter(keep));
        }
        defaults.root = defaults.root.filter(keep);
        defaults.complete()?;
        Ok(defaults)
    }

    /// True when nothing is ever filled in.
    pub(super) const fn are_none(&self) -> bool {
        self.root.is_none()
    }

    /// Completes the defaults themselves by the defaults inside them.
    fn complete(&mut self) -> Result<(), SchemaFault> {
        let endless = |_: TooMany| {
            SchemaFault::new("", "a default ends", "give a recursive type a default that holds no further one of it")
        };
        let mut completed = Vec::with_capacity(self.places.len());
        for place in &self.places {
            let mut missing = place.missing.clone();
            for entry in &mut missing {
                if let Some((_, to)) = place.properties.iter().find(|(name, _)| *name == entry.name) {
                    let filling = Filling { places: &self.places, deep: true };
                    filling.value(*to, &mut entry.default, &mut MAX_SCHEMA_BYTES.clone(), 0).map_err(endless)?;
                }
                entry.bytes = weight(&entry.default) + entry.name.len();
                entry.text = canonical::text(&entry.default);
            }
            completed.push(missing);
        }
        for (place, missing) in self.places.iter_mut().zip(completed) {
            place.missing = missing;
        }
        Ok(())
    }

    /// Fills in what `arguments` leave out.
    pub(super) fn fill(&self, arguments: &mut Map<String, Value>) -> Result<(), TooMany> {
        let Some(place) = self.root.and_then(|root| self.places.get(root)) else { return Ok(()) };
        let filling = Filling { places: &self.places, deep: false };
        filling.object(place, arguments, &mut MAX_FILLED_BYTES.clone(), 0)
    }
}

/// How much memory a default takes, roughly.
fn weight(value: &Value) -> usize {
    match value {
        Value::Array(items) => 32 + items.iter().map(weight).sum::<usize>(),
        Value::Object(object) => 640 + object.iter().map(|(key, value)| key.len() + weight(value)).sum::<usize>(),
        Value::String(text) => 32 + text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 32,
    }
}

/// One pass over a value.
struct Filling<'p> {
    places: &'p [Place],
    /// Whether to look into what was just filled in. Defaults are completed so once, and are complete from then on.
    deep: bool,
}

impl Filling<'_> {
    fn value(&self, at: usize, value: &mut Value, left: &mut usize, depth: usize) -> Result<(), TooMany> {
        let Some(place) = self.places.get(at) else { return Ok(()) };
        if depth > MAX_ARGUMENT_DEPTH {
            return Err(TooMany);
        }
        match value {
            Value::Object(object) => self.object(place, object, left, depth),
            Value::Array(items) => items.iter_mut().enumerate().try_for_each(|(index, item)| {
                place.item(index).map_or(Ok(()), |to| self.value(to, item, left, depth + 1))
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn object(
        &self,
        place: &Place,
        object: &mut Map<String, Value>,
        left: &mut usize,
        depth: usize,
    ) -> Result<(), TooMany> {
        if self.deep {
            self.missing(place, object, left)?;
        }
        for (name, to) in &place.properties {
            if let Some(value) = object.get_mut(name) {
                self.value(*to, value, left, depth + 1)?;
            }
        }
        if let Some(to) = place.others {
            for (_, value) in object.iter_mut().filter(|(name, _)| !place.declared.contains(name)) {
                self.value(to, value, left, depth + 1)?;
            }
        }
        if self.deep { Ok(()) } else { self.missing(place, object, left) }
    }

    fn missing(&self, place: &Place, object: &mut Map<String, Value>, left: &mut usize) -> Result<(), TooMany> {
        for entry in &place.missing {
            if !object.contains_key(&entry.name) {
                *left = left.checked_sub(entry.bytes).ok_or(TooMany)?;
                object.insert(entry.name.clone(), entry.default.clone());
            }
        }
        Ok(())
    }
}

struct Plan<'s> {
    document: &'s Value,
    places: Vec<Place>,
    /// Places of referenced schemas, by reference: a recursive type leads back to itself.
    known: HashMap<&'s str, usize>,
}

impl<'s> Plan<'s> {
    /// The place of `schema`. None where there is nothing certain to fill.
    fn place(&mut self, schema: &'s Value, hops: usize) -> Option<usize> {
        let object = schema.as_object()?;
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            if let Some(known) = self.known.get(reference) {
                return Some(*known);
            }
            if hops > 8 || object.contains_key("properties") {
                return None;
            }
            let target = self.document.pointer(reference.strip_prefix('#')?)?;
            return self.object(target.as_object()?, Some(reference), hops);
        }
        self.object(object, None, hops)
    }

    fn object(&mut self, schema: &'s Map<String, Value>, reference: Option<&'s str>, hops: usize) -> Option<usize> {
        if let Some(certain) = certain(schema) {
            return self.place(certain, hops + 1);
        }
        // Filling could break what these ask.
        let asks = ["maxProperties", "dependentRequired", "dependentSchemas", "if", "not", "propertyNames"];
        if asks.iter().any(|keyword| schema.contains_key(*keyword)) {
            return None;
        }
        let index = self.places.len();
        self.places.push(Place::default());
        if let Some(reference) = reference {
            self.known.insert(reference, index);
        }
        let mut place = Place::default();
        if let Some(Value::Object(properties)) = schema.get("properties") {
            for (name, property) in properties {
                if let Some(default) = property.get("default") {
                    let bytes = weight(default) + name.len();
                    place.missing.push(Missing {
                        name: name.clone(),
                        default: default.clone(),
                        text: Vec::new(),
                        bytes,
                    });
                }
                if let Some(to) = self.place(property, 0) {
                    place.properties.push((name.clone(), to));
                }
                place.declared.push(name.clone());
            }
        }
        let combined = ["allOf", "anyOf", "oneOf", "patternProperties"].iter().any(|word| schema.contains_key(*word));
        if !combined && let Some(values) = schema.get("additionalProperties") {
            place.others = self.place(values, 0);
        }
        if let Some(Value::Array(prefix)) = schema.get("prefixItems") {
            place.prefix = prefix.iter().map(|item| self.place(item, 0)).collect();
        }
        place.items = schema.get("items").and_then(|items| self.place(items, 0));
        if let Some(slot) = self.places.get_mut(index) {
            *slot = place;
        }
        Some(index)
    }

    /// Which places lead to a default at all. Grows until nothing changes, since places lead back to one another.
    fn useful(&self) -> Vec<bool> {
        let mut useful: Vec<bool> = self.places.iter().map(|place| !place.missing.is_empty()).collect();
        loop {
            let leads = |to: &usize| useful.get(*to).copied().unwrap_or(false);
            let next: Vec<bool> = self
                .places
                .iter()
                .map(|place| {
                    !place.missing.is_empty()
                        || place.properties.iter().any(|(_, to)| leads(to))
                        || place.prefix.iter().flatten().chain(&place.items).chain(&place.others).any(leads)
                })
                .collect();
            if next == useful {
                return useful;
            }
            useful = next;
        }
    }
}

/// The one thing that a choice is between, when the other is `null`.
fn certain(schema: &Map<String, Value>) -> Option<&Value> {
    if schema.contains_key("properties") || schema.contains_key("allOf") {
        return None;
    }
    let branches = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array())?;
    let is_null = |branch: &Value| branch.get("type").and_then(Value::as_str) == Some("null");
    match branches.as_slice() {
        [thing, null] | [null, thing] if is_null(null) && !is_null(thing) => Some(thing),
        _ => None,
    }
}
