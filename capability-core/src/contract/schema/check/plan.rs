//! From a schema document to the table that is walked.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::formed::{Combined, Condition, Lists, Node, Not, Objects, Others, Property};
use super::keywords::{Keywords, Unplanned};
use super::text::Form;
use super::{Check, Place};
use crate::contract::schema::{names, pointer};

/// Compiles parts of one document, each once.
pub(crate) struct Planner<'s> {
    document: &'s Value,
    /// None while a schema is being compiled.
    nodes: Vec<Option<Node>>,
    /// Where the schema at a pointer went.
    known: HashMap<String, Place>,
}

impl<'s> Planner<'s> {
    pub(crate) fn of(document: &'s Value) -> Self {
        Self { document, nodes: Vec::new(), known: HashMap::new() }
    }

    /// The place of the schema that a JSON pointer leads to.
    ///
    /// # Errors
    /// [`Unplanned`] for a keyword that is not checked here.
    pub(crate) fn place(&mut self, at: &str) -> Result<Place, Unplanned> {
        match self.document.pointer(at) {
            Some(schema) => self.schema(schema, at),
            None => Err(Unplanned::malformed(at, "$ref")),
        }
    }

    /// Everything that was compiled, as a check whose root is `root`.
    ///
    /// # Errors
    /// [`Unplanned`] for a schema that applies to a value only if it applies to that value.
    pub(crate) fn finish(self, root: Place) -> Result<Check, Unplanned> {
        let nodes: Option<Vec<Node>> = self.nodes.into_iter().collect();
        let nodes = nodes.ok_or_else(|| Unplanned::malformed("", "$ref"))?;
        refuse_circles(&nodes)?;
        Ok(Check { nodes, root })
    }

    fn schema(&mut self, schema: &'s Value, at: &str) -> Result<Place, Unplanned> {
        if let Some(known) = self.known.get(at) {
            return Ok(*known);
        }
        let place = Place(u32::try_from(self.nodes.len()).map_err(|_| Unplanned::malformed(at, "$ref"))?);
        self.nodes.push(None);
        self.known.insert(at.to_owned(), place);
        let node = match schema {
            Value::Bool(accepts) => Node::plain(at, *accepts),
            Value::Object(keywords) => self.keywords(keywords, at)?,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(Unplanned::malformed(at, "a schema that is no object"));
            }
        };
        if let Some(slot) = self.nodes.get_mut(place.0 as usize) {
            *slot = Some(node);
        }
        Ok(place)
    }

    fn keywords(&mut self, keywords: &'s Map<String, Value>, at: &str) -> Result<Node, Unplanned> {
        let schema = Keywords { keywords, at };
        if let Some(unknown) = keywords.keys().find(|keyword| !schema.knows(keyword)) {
            return Err(Unplanned::new(at, unknown));
        }
        let mut node = Node::plain(at, true);
        node.types = schema.types()?;
        node.values = schema.values()?;
        node.numbers = schema.numbers()?;
        node.texts = schema.texts()?;
        node.lists = self.lists(&schema)?;
        node.objects = self.objects(&schema)?;
        node.combined = self.combined(&schema)?;
        Ok(node)
    }

    /// The schema under a keyword.
    fn one(&mut self, schema: &Keywords<'s, '_>, keyword: &str) -> Result<Option<Place>, Unplanned> {
        let Some(inner) = schema.keywords.get(keyword) else { return Ok(None) };
        self.schema(inner, &step(schema.at, keyword)).map(Some)
    }

    /// The list of schemas under a keyword.
    fn several(&mut self, schema: &Keywords<'s, '_>, keyword: &str) -> Result<Option<Vec<Place>>, Unplanned> {
        let Some(list) = schema.list(keyword)? else { return Ok(None) };
        let at = step(schema.at, keyword);
        list.iter()
            .enumerate()
            .map(|(index, inner)| self.schema(inner, &step(&at, &index.to_string())))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    fn lists(&mut self, schema: &Keywords<'s, '_>) -> Result<Option<Box<Lists>>, Unplanned> {
        if schema.says_none(&["minItems", "maxItems", "uniqueItems", "prefixItems", "items"]) {
            return Ok(None);
        }
        let unique = match schema.keywords.get("uniqueItems") {
            None => false,
            Some(Value::Bool(unique)) => *unique,
            Some(_) => return Err(schema.malformed("uniqueItems")),
        };
        Ok(Some(Box::new(Lists {
            least: schema.count("minItems")?.unwrap_or(0),
            most: schema.count("maxItems")?.unwrap_or(u64::MAX),
            unique,
            prefix: self.several(schema, "prefixItems")?.unwrap_or_default(),
            items: self.one(schema, "items")?,
        })))
    }

    fn objects(&mut self, schema: &Keywords<'s, '_>) -> Result<Option<Box<Objects>>, Unplanned> {
        if schema.says_none(&[
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "minProperties",
            "maxProperties",
        ]) {
            return Ok(None);
        }
        let mut asked: Vec<&str> = Vec::new();
        for name in schema.list("required")?.unwrap_or_default() {
            asked.push(name.as_str().ok_or_else(|| schema.malformed("required"))?);
        }
        asked.sort_unstable();
        asked.dedup();
        let mut properties = Vec::new();
        let at = step(schema.at, "properties");
        for (name, inner) in schema.object("properties")?.into_iter().flatten() {
            let place = self.schema(inner, &step(&at, name))?;
            let required = asked.binary_search(&name.as_str()).is_ok();
            properties.push(Property { name: name.as_str().into(), required, place });
        }
        properties.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let declared = |name: &str| properties.binary_search_by(|property| (*property.name).cmp(name)).is_ok();
        let required_too = asked.into_iter().filter(|name| !declared(name)).map(Into::into).collect();
        let mut forms = Vec::new();
        let at = step(schema.at, "patternProperties");
        for (pattern, inner) in schema.object("patternProperties")?.into_iter().flatten() {
            let form = Form::written(pattern).ok_or_else(|| schema.unknown("patternProperties"))?;
            forms.push((form, self.schema(inner, &step(&at, pattern))?));
        }
        Ok(Some(Box::new(Objects {
            least: schema.count("minProperties")?.unwrap_or(0),
            most: schema.count("maxProperties")?.unwrap_or(u64::MAX),
            required: properties.iter().filter(|property| property.required).count(),
            properties,
            required_too,
            forms,
            others: self.others(schema, "additionalProperties")?.unwrap_or(Others::Unsaid),
            names: self.one(schema, "propertyNames")?,
        })))
    }

    fn others(&mut self, schema: &Keywords<'s, '_>, keyword: &str) -> Result<Option<Others>, Unplanned> {
        if schema.keywords.get(keyword) == Some(&Value::Bool(false)) {
            return Ok(Some(Others::Refused));
        }
        Ok(self.one(schema, keyword)?.map(Others::Are))
    }

    fn combined(&mut self, schema: &Keywords<'s, '_>) -> Result<Option<Box<Combined>>, Unplanned> {
        if schema.says_none(&["allOf", "anyOf", "oneOf", "not", "if", "unevaluatedProperties", "$ref"]) {
            return Ok(None);
        }
        let not = match (self.one(schema, "not")?, schema.keywords.get("not")) {
            (Some(place), Some(written)) => Some(Not { place, written: written.clone() }),
            _ => None,
        };
        let condition = match self.one(schema, "if")? {
            Some(asks) => {
                Some(Condition { asks, then: self.one(schema, "then")?, otherwise: self.one(schema, "else")? })
            }
            None => None,
        };
        let reference = match schema.keywords.get("$ref") {
            None => None,
            Some(Value::String(to)) => {
                let to = to.strip_prefix('#').ok_or_else(|| schema.malformed("$ref"))?;
                Some(self.place(&names::decoded(to))?)
            }
            Some(_) => return Err(schema.malformed("$ref")),
        };
        Ok(Some(Box::new(Combined {
            all: self.several(schema, "allOf")?.unwrap_or_default(),
            any: self.several(schema, "anyOf")?,
            one: self.several(schema, "oneOf")?,
            not,
            condition,
            unevaluated: self.others(schema, "unevaluatedProperties")?,
            reference,
        })))
    }
}

fn step(at: &str, name: &str) -> String {
    let mut at = at.to_owned();
    pointer::push(&mut at, name);
    at
}

/// Refuses schemas that lead back to themselves without going into the value: such a question has no end.
fn refuse_circles(nodes: &[Node]) -> Result<(), Unplanned> {
    /// What is known of a node.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Seen {
        Not,
        /// It is on the way that is followed now.
        Now,
        Ends,
    }
    let mut seen = vec![Seen::Not; nodes.len()];
    for start in 0..nodes.len() {
        // A node is left once everything below it is; one that is come back to before that is a circle.
        let mut way = vec![(start, false)];
        while let Some((at, leaving)) = way.pop() {
            let (Some(node), Some(state)) = (nodes.get(at), seen.get_mut(at)) else { continue };
            if leaving {
                *state = Seen::Ends;
                continue;
            }
            match *state {
                Seen::Ends => continue,
                Seen::Now => return Err(Unplanned::malformed(&node.at, "$ref")),
                Seen::Not => *state = Seen::Now,
            }
            way.push((at, true));
            let next = node.combined.iter().flat_map(|combined| combined.places());
            way.extend(next.map(|place| (place.0 as usize, false)));
        }
    }
    Ok(())
}
