//! Schemas that somebody else wrote: of one self-contained document, bounded in what they cost, and enforced or not taken.
//!
//! References are unfolded where they end, so that what is left of them is what the type itself is made of; such a document
//! is then held to the rules that keep checking it in time that grows with the value.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::fault::{ArgumentCode, ArgumentFault};
use super::judge::Judge;
use super::{parse, refusal};
use crate::contract::schema::names::decoded;
use crate::contract::schema::walk;

/// How deep a foreign schema nests.
const MAX_DEPTH: usize = 64;

/// How many schemas a foreign document may hold once its references are unfolded.
const MAX_SCHEMAS: usize = 20_000;

/// How many places a foreign document may refer to.
const MAX_REFERENCES: usize = 512;

/// The most that checking one value may cost: the bytes of the value times the schemas of the document.
const MAX_COST: usize = 1 << 28;

/// The document says nothing that can be enforced here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unenforceable;

/// One foreign schema, ready to judge.
pub(crate) struct ForeignJudge {
    judge: Judge,
    schemas: usize,
}

impl ForeignJudge {
    /// Compiles a document.
    ///
    /// # Errors
    /// [`Unenforceable`] for one that is no object, nests too deep, refers to something outside it or to nothing but itself,
    /// unfolds to too much, or has a keyword that nothing here enforces.
    pub(crate) fn of(document: &Value) -> Result<Self, Unenforceable> {
        if !document.is_object() || !is_shallow(document) {
            return Err(Unenforceable);
        }
        let (document, schemas) = unfolded(document)?;
        let judge = Judge::of(&document).map_err(|_| Unenforceable)?;
        Ok(Self { judge, schemas })
    }

    /// Checks the canonical text of a tool's own arguments.
    ///
    /// # Errors
    /// [`ArgumentFault`] with words for the caller. Its schema path is foreign text, and none of it is recorded.
    pub(crate) fn arguments(&self, text: &[u8]) -> Result<(), ArgumentFault> {
        if !self.affords(text.len()) {
            return Err(ArgumentFault::new(
                ArgumentCode::TooLarge,
                "the tool's own arguments are too large for what its schema asks of them",
                "send less",
            ));
        }
        let parsed = parse::parse(text)?;
        let exact = parsed.inexact && !self.judge.accepts_exactly(&parsed.value);
        if !exact && self.judge.accepts_tree(&parsed.value) {
            return Ok(());
        }
        let fault = refusal::refusal(&self.judge, &parsed.value, exact, text.len());
        Err(ArgumentFault {
            message: format!("the tool's own arguments: {}", fault.message),
            schema_path: None,
            ..fault
        })
    }

    /// Whether a value of that many bytes of text follows the schema.
    pub(crate) fn accepts(&self, value: &Value, bytes: usize) -> bool {
        self.affords(bytes) && self.judge.accepts_tree(value)
    }

    const fn affords(&self, bytes: usize) -> bool {
        self.schemas.saturating_mul(bytes) <= MAX_COST
    }
}

impl core::fmt::Debug for ForeignJudge {
    /// Its size: all of it is foreign text.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "ForeignJudge({} schemas)", self.schemas)
    }
}

fn is_shallow(document: &Value) -> bool {
    let mut level: Vec<&Value> = vec![document];
    for _ in 0..=MAX_DEPTH {
        level = level
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(items) => items.iter().collect::<Vec<_>>(),
                Value::Object(object) => object.values().collect(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
            })
            .collect();
        if level.is_empty() {
            return true;
        }
    }
    false
}

/// The document with every reference unfolded that does not lead back to itself, and how many schemas that is.
fn unfolded(document: &Value) -> Result<(Value, usize), Unenforceable> {
    let known = references(document)?;
    let looping = looping(&known);
    let mut unfolding = Unfolding { document, looping: &looping, schemas: 0, depth: 0 };
    let mut root = unfolding.schema(document)?;
    let mut definitions = Map::new();
    for reference in &looping {
        let target = target(document, reference).ok_or(Unenforceable)?;
        definitions.insert(unfolding.name(reference)?, unfolding.schema(target)?);
    }
    if let Value::Object(root) = &mut root
        && !definitions.is_empty()
    {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Ok((root, unfolding.schemas))
}

/// Every reference that the document follows, with those that its target follows.
fn references(document: &Value) -> Result<BTreeMap<&str, BTreeSet<&str>>, Unenforceable> {
    let mut waiting: Vec<&str> = followed(document)?.into_iter().collect();
    let mut known = BTreeMap::new();
    while let Some(reference) = waiting.pop() {
        if known.contains_key(reference) {
            continue;
        }
        if known.len() >= MAX_REFERENCES {
            return Err(Unenforceable);
        }
        let next = followed(target(document, reference).ok_or(Unenforceable)?)?;
        waiting.extend(&next);
        known.insert(reference, next);
    }
    Ok(known)
}

/// The references inside one schema, at any depth. What refers outside the document, or is found by another document's name
/// for it, is not followed anywhere.
fn followed(schema: &Value) -> Result<BTreeSet<&str>, Unenforceable> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![(schema, true)];
    while let Some((schema, root)) = waiting.pop() {
        let object = match schema {
            Value::Bool(_) => continue,
            Value::Object(object) => object,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => return Err(Unenforceable),
        };
        for (keyword, value) in object {
            match keyword.as_str() {
                "$ref" => {
                    let reference = value.as_str().filter(|to| *to == "#" || to.starts_with("#/"));
                    found.insert(reference.ok_or(Unenforceable)?);
                }
                "$dynamicRef" | "$recursiveRef" | "$vocabulary" => return Err(Unenforceable),
                "$id" if !root => return Err(Unenforceable),
                _ => waiting.extend(inner(keyword, value)?.into_iter().map(|inner| (inner, false))),
            }
        }
    }
    Ok(found)
}

/// The schemas that a keyword holds; definitions are looked at where they are referred to.
fn inner<'s>(keyword: &str, value: &'s Value) -> Result<Vec<&'s Value>, Unenforceable> {
    let Some((holds, applies)) = walk::keyword(keyword) else { return Ok(Vec::new()) };
    if applies == walk::AppliesTo::Definition {
        return Ok(Vec::new());
    }
    match (holds, value) {
        (walk::Holds::One, one) => Ok(vec![one]),
        (walk::Holds::List, Value::Array(several)) => Ok(several.iter().collect()),
        (walk::Holds::Named, Value::Object(named)) => Ok(named.values().collect()),
        (walk::Holds::List | walk::Holds::Named, _) => Err(Unenforceable),
    }
}

/// The references from which following references leads back to them.
fn looping<'s>(known: &BTreeMap<&'s str, BTreeSet<&'s str>>) -> BTreeSet<&'s str> {
    let leads_back = |start: &&str| {
        let mut waiting: Vec<&str> = known.get(*start).into_iter().flatten().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(reference) = waiting.pop() {
            if reference == *start {
                return true;
            }
            if seen.insert(reference) {
                waiting.extend(known.get(reference).into_iter().flatten());
            }
        }
        false
    };
    known.keys().copied().filter(leads_back).collect()
}

fn target<'s>(document: &'s Value, reference: &str) -> Option<&'s Value> {
    document.pointer(&decoded(reference.strip_prefix('#')?))
}

struct Unfolding<'s> {
    document: &'s Value,
    looping: &'s BTreeSet<&'s str>,
    schemas: usize,
    depth: usize,
}

impl Unfolding<'_> {
    fn schema(&mut self, schema: &Value) -> Result<Value, Unenforceable> {
        self.schemas += 1;
        if self.schemas > MAX_SCHEMAS || self.depth > MAX_DEPTH {
            return Err(Unenforceable);
        }
        let Value::Object(object) = schema else { return Ok(schema.clone()) };
        self.depth += 1;
        let mut unfolded = Map::new();
        let mut referred = None;
        for (keyword, value) in object {
            match keyword.as_str() {
                "$ref" => referred = value.as_str(),
                "$schema" | "$id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$defs" | "definitions" => {}
                _ => {
                    unfolded.insert(keyword.clone(), self.keyword(keyword, value)?);
                }
            }
        }
        if let Some(reference) = referred {
            self.reference(reference, &mut unfolded)?;
        }
        self.depth -= 1;
        Ok(Value::Object(unfolded))
    }

    fn keyword(&mut self, keyword: &str, value: &Value) -> Result<Value, Unenforceable> {
        let Some((holds, _)) = walk::keyword(keyword) else { return Ok(value.clone()) };
        match (holds, value) {
            (walk::Holds::One, one) => self.schema(one),
            (walk::Holds::List, Value::Array(several)) => {
                several.iter().map(|one| self.schema(one)).collect::<Result<_, _>>().map(Value::Array)
            }
            (walk::Holds::Named, Value::Object(named)) => {
                let named = named.iter().map(|(name, one)| Ok((name.clone(), self.schema(one)?)));
                named.collect::<Result<_, _>>().map(Value::Object)
            }
            (walk::Holds::List | walk::Holds::Named, _) => Err(Unenforceable),
        }
    }

    /// What a reference stands for, beside whatever else is said there.
    fn reference(&mut self, reference: &str, beside: &mut Map<String, Value>) -> Result<(), Unenforceable> {
        let meant = if self.looping.contains(reference) {
            json!({ "$ref": format!("#/$defs/{}", self.name(reference)?) })
        } else {
            self.schema(target(self.document, reference).ok_or(Unenforceable)?)?
        };
        match (beside.is_empty(), meant) {
            (true, Value::Object(meant)) => *beside = meant,
            (_, meant) => match beside.entry("allOf").or_insert_with(|| json!([])) {
                Value::Array(parts) => parts.push(meant),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    return Err(Unenforceable);
                }
            },
        }
        Ok(())
    }

    /// The name of a definition that is left.
    fn name(&self, reference: &str) -> Result<String, Unenforceable> {
        let at = self.looping.iter().position(|looping| *looping == reference).ok_or(Unenforceable)?;
        Ok(format!("looping{at}"))
    }
}
