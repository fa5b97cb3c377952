//! What is wrong with a value that is refused. Slower than the verdict, and never asked without one.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Place;
use super::formed::{Combined, Lists, Node, Numbers, Objects, Others, Texts, Types};
use super::mistake::{Kind, Mistake};
use super::number::Digits;
use super::valid::{Walk, is_listed};
use super::view::{Shape, View, distinct, equal};
use crate::contract::schema::pointer::{self, Pointer};

/// Every mistake of `value`, at most `limit`.
pub(super) fn all<'a>(walk: Walk<'a>, root: Place, value: &'a Value, limit: usize) -> Vec<Mistake<'a>> {
    let mut telling = Telling { walk, limit, at: Pointer::default(), told: Vec::new() };
    telling.of(root, value);
    telling.told
}

struct Telling<'a> {
    walk: Walk<'a>,
    limit: usize,
    at: Pointer,
    told: Vec<Mistake<'a>>,
}

impl<'a> Telling<'a> {
    fn tell(&mut self, node: &Node, keyword: &str, kind: Kind<'a>, value: &'a Value) {
        if self.told.len() < self.limit {
            let mut schema = node.at.to_string();
            if !keyword.is_empty() {
                pointer::push(&mut schema, keyword);
            }
            self.told.push(Mistake { kind, schema, place: self.at.as_str().to_owned(), value: Cow::Borrowed(value) });
        }
    }

    /// The same under the keyword's own name, unless it is kept.
    fn ask(&mut self, holds: bool, node: &Node, kind: Kind<'a>, value: &'a Value) {
        if !holds {
            self.tell(node, kind.keyword(), kind, value);
        }
    }

    fn inside(&mut self, step: &str, place: Place, value: &'a Value) {
        let length = self.at.descend(step);
        self.of(place, value);
        self.at.ascend(length);
    }

    /// What is wrong with the value where the walk stands now, told apart from the rest.
    fn apart(&mut self, place: Place, value: &'a Value) -> Vec<Mistake<'a>> {
        let limit = core::mem::replace(&mut self.limit, usize::MAX);
        let told = core::mem::take(&mut self.told);
        self.of(place, value);
        self.limit = limit;
        core::mem::replace(&mut self.told, told)
    }

    fn of(&mut self, place: Place, value: &'a Value) {
        if self.told.len() >= self.limit {
            return;
        }
        let Some(node) = self.walk.node(place) else { return };
        if node.never {
            return self.tell(node, "", Kind::Nothing, value);
        }
        let shape = value.shape();
        self.ask(is_of(node.types, &shape), node, Kind::Type, value);
        if let Some(values) = &node.values {
            if let Some(constant) = &values.constant {
                self.ask(equal(value, constant), node, Kind::Constant(Cow::Borrowed(constant)), value);
            }
            if let Some(options) = &values.options {
                self.ask(is_listed(value, options), node, Kind::Enum(Cow::Borrowed(options)), value);
            }
        }
        match shape {
            Shape::Number(number) => {
                if let Some(rules) = &node.numbers {
                    self.number(node, rules, number, value);
                }
            }
            Shape::Text(text) => {
                if let Some(rules) = &node.texts {
                    self.text(node, rules, text, value);
                }
            }
            Shape::List(items) => {
                if let Some(rules) = &node.lists {
                    self.list(node, rules, items, value);
                }
            }
            Shape::Object(object) => {
                if let Some(rules) = &node.objects {
                    self.object(node, rules, object, value);
                }
            }
            Shape::Null | Shape::Bool(_) => {}
        }
        if let Some(combined) = &node.combined {
            self.combined(node, combined, value);
        }
        if let Shape::Number(number) = value.shape()
            && self.walk.exact
            && number.is_double()
            && number.is_whole()
            && node.types.wants_exact()
        {
            self.tell(node, "type", Kind::Inexact, value);
        }
    }

    fn number(&mut self, node: &Node, rules: &Numbers, number: Digits, value: &'a Value) {
        let compared = [
            (rules.minimum.is_none_or(|limit| number.compare(limit.0).is_ge()), Kind::Minimum),
            (rules.maximum.is_none_or(|limit| number.compare(limit.0).is_le()), Kind::Maximum),
            (rules.above.is_none_or(|limit| number.compare(limit.0).is_gt()), Kind::ExclusiveMinimum),
            (rules.below.is_none_or(|limit| number.compare(limit.0).is_lt()), Kind::ExclusiveMaximum),
        ];
        for (holds, kind) in compared {
            self.ask(holds, node, kind, value);
        }
        if let Some(divisor) = rules.divisor {
            self.ask(divisor.divides(number), node, Kind::MultipleOf(divisor.written), value);
        }
    }

    fn text(&mut self, node: &Node, rules: &Texts, text: &str, value: &'a Value) {
        let length = text.chars().count() as u64;
        self.ask(length >= rules.least, node, Kind::MinLength, value);
        self.ask(length <= rules.most, node, Kind::MaxLength, value);
        if let Some(form) = rules.form {
            self.ask(form.accepts(text), node, Kind::Pattern(form.pattern().into()), value);
        }
        if let Some(format) = rules.format {
            self.ask(format.accepts(text), node, Kind::Format(format.name().into()), value);
        }
    }

    fn list(&mut self, node: &Node, rules: &Lists, items: &'a [Value], value: &'a Value) {
        let length = items.len() as u64;
        self.ask(length >= rules.least, node, Kind::MinItems, value);
        self.ask(length <= rules.most, node, Kind::MaxItems, value);
        self.ask(!rules.unique || distinct(items), node, Kind::UniqueItems, value);
        for (at, item) in items.iter().enumerate() {
            if let Some(place) = rules.prefix.get(at).copied().or(rules.items) {
                self.inside(&at.to_string(), place, item);
            }
        }
    }

    fn object(&mut self, node: &'a Node, rules: &'a Objects, object: &'a Map<String, Value>, value: &'a Value) {
        let length = object.len() as u64;
        self.ask(length >= rules.least, node, Kind::MinProperties, value);
        self.ask(length <= rules.most, node, Kind::MaxProperties, value);
        let declared = rules.properties.iter().filter(|property| property.required).map(|property| &property.name);
        for name in declared.chain(&rules.required_too) {
            self.ask(object.contains_key(&**name), node, Kind::Required((&**name).into()), value);
        }
        let mut unexpected = Vec::new();
        for (name, member) in object {
            let declared = rules.property(name, &mut 0).map(|property| property.place);
            let formed = rules.forms.iter().filter(|(form, _)| form.accepts(name)).map(|(_, place)| *place);
            let mut places: Vec<Place> = declared.into_iter().chain(formed).collect();
            match rules.others {
                Others::Refused if places.is_empty() => unexpected.push(name.clone()),
                Others::Are(place) if places.is_empty() => places.push(place),
                Others::Refused | Others::Are(_) | Others::Unsaid => {}
            }
            for place in places {
                self.inside(name, place, member);
            }
        }
        self.ask(unexpected.is_empty(), node, Kind::AdditionalProperties(unexpected), value);
        if let Some(names) = rules.names {
            for name in object.keys() {
                self.key(names, name, value);
            }
        }
    }

    /// A key is a text of its own, which lives no longer than it is looked at.
    fn key(&mut self, names: Place, name: &str, value: &'a Value) {
        let key = Value::String(name.to_owned());
        let mut telling = Telling { walk: self.walk, limit: usize::MAX, at: Pointer::default(), told: Vec::new() };
        telling.of(names, &key);
        for mistake in telling.told {
            let inner = Mistake { place: self.at.as_str().to_owned(), ..mistake.owned() };
            let (schema, place) = (inner.schema.clone(), inner.place.clone());
            let kind = Kind::PropertyNames(Box::new(inner));
            if self.told.len() < self.limit {
                self.told.push(Mistake { kind, schema, place, value: Cow::Borrowed(value) });
            }
        }
    }

    fn combined(&mut self, node: &'a Node, combined: &'a Combined, value: &'a Value) {
        for place in &combined.all {
            self.of(*place, value);
        }
        let walk = self.walk;
        if let Some(any) = &combined.any
            && !any.iter().any(|place| walk.holds(*place, value))
        {
            let branches = any.iter().map(|place| self.apart(*place, value)).collect();
            self.tell(node, "anyOf", Kind::AnyOf(branches), value);
        }
        if let Some(one) = &combined.one {
            match one.iter().filter(|place| walk.holds(**place, value)).take(2).count() {
                0 => {
                    let branches = one.iter().map(|place| self.apart(*place, value)).collect();
                    self.tell(node, "oneOf", Kind::OneOfNone(branches), value);
                }
                1 => {}
                _ => self.tell(node, "oneOf", Kind::OneOfSeveral, value),
            }
        }
        if let Some(not) = &combined.not {
            self.ask(!walk.holds(not.place, value), node, Kind::Not(Cow::Borrowed(&not.written)), value);
        }
        if let Some(condition) = &combined.condition {
            let holds = walk.holds(condition.asks, value);
            if let Some(branch) = if holds { condition.then } else { condition.otherwise } {
                self.of(branch, value);
            }
        }
        if let (Some(others), Value::Object(object)) = (combined.unevaluated, value) {
            let names: Vec<String> = walk.unevaluated(node, others, value, object).map(ToOwned::to_owned).collect();
            self.ask(names.is_empty(), node, Kind::UnevaluatedProperties(names), value);
        }
        if let Some(reference) = combined.reference {
            self.of(reference, value);
        }
    }
}

fn is_of<'a, V: View<'a>>(types: Types, shape: &Shape<'a, V>) -> bool {
    match shape {
        Shape::Null => types.take(Types::NULL),
        Shape::Bool(_) => types.take(Types::BOOLEAN),
        Shape::Number(number) => types.take_number(*number),
        Shape::Text(_) => types.take(Types::STRING),
        Shape::List(_) => types.take(Types::ARRAY),
        Shape::Object(_) => types.take(Types::OBJECT),
    }
}
