//! Whether a value is accepted.

use super::Place;
use super::formed::{Combined, Lists, Node, Objects, Others, Types};
use super::view::{Key, List, Object, Shape, View, distinct, equal};

/// A walk through the nodes of a document, along a value.
#[derive(Clone, Copy)]
pub(super) struct Walk<'c> {
    pub(super) nodes: &'c [Node],
    /// Whether a double is no integer.
    pub(super) exact: bool,
}

impl<'c> Walk<'c> {
    #[inline]
    pub(super) fn node(self, place: Place) -> Option<&'c Node> {
        // Indices of 32 bits fit wherever this runs.
        self.nodes.get(place.0 as usize)
    }

    pub(super) fn holds<'a, V: View<'a>>(self, place: Place, value: V) -> bool {
        let Some(node) = self.node(place) else { return false };
        let itself = match value.shape() {
            Shape::Null => node.types.take(Types::NULL),
            Shape::Bool(_) => node.types.take(Types::BOOLEAN),
            Shape::Number(number) => {
                node.types.take_number(number)
                    && node.numbers.as_ref().is_none_or(|numbers| numbers.hold(number))
                    && !(self.exact && number.is_double() && node.types.wants_exact())
            }
            Shape::Text(text) => {
                node.types.take(Types::STRING) && node.texts.as_ref().is_none_or(|texts| texts.hold(text))
            }
            Shape::List(list) => {
                node.types.take(Types::ARRAY) && node.lists.as_ref().is_none_or(|lists| self.list(lists, list))
            }
            Shape::Object(object) => {
                node.types.take(Types::OBJECT)
                    && node.objects.as_ref().is_none_or(|objects| self.object(objects, object))
            }
        };
        itself
            && node.values.as_ref().is_none_or(|values| {
                values.constant.as_ref().is_none_or(|constant| equal(value, constant))
                    && values.options.as_ref().is_none_or(|options| is_listed(value, options))
            })
            && node.combined.as_ref().is_none_or(|combined| self.combined(node, combined, value))
    }

    fn list<'a, L: List<'a, View: View<'a>>>(self, rules: &Lists, list: L) -> bool {
        let length = list.length() as u64;
        if length < rules.least || length > rules.most {
            return false;
        }
        let mut prefix = rules.prefix.iter();
        for item in list.items() {
            let Some(place) = prefix.next().copied().or(rules.items) else { break };
            if !self.holds(place, item) {
                return false;
            }
        }
        !rules.unique || distinct(list)
    }

    fn object<'a, O: Object<'a, View: View<'a>>>(self, rules: &Objects, object: O) -> bool {
        let length = object.length() as u64;
        if length < rules.least || length > rules.most {
            return false;
        }
        let (mut next, mut required) = (0, 0);
        for (name, value) in object.members() {
            let property = rules.property(name, &mut next);
            if let Some(property) = property {
                required += usize::from(property.required);
                if !self.holds(property.place, value) {
                    return false;
                }
            }
            let mut described = property.is_some();
            for (form, place) in &rules.forms {
                if form.accepts(name) {
                    described = true;
                    if !self.holds(*place, value) {
                        return false;
                    }
                }
            }
            if !described && !self.other(rules.others, value) {
                return false;
            }
        }
        // Each name stands in an object once, so as many as are required are those that are.
        required == rules.required
            && rules.required_too.iter().all(|name| object.member(name).is_some())
            && rules.names.is_none_or(|names| object.members().all(|(name, _)| self.holds(names, Key(name))))
    }

    pub(super) fn other<'a, V: View<'a>>(self, others: Others, value: V) -> bool {
        match others {
            Others::Unsaid => true,
            Others::Refused => false,
            Others::Are(place) => self.holds(place, value),
        }
    }

    fn combined<'a, V: View<'a>>(self, node: &Node, combined: &Combined, value: V) -> bool {
        let holds = |place: &Place| self.holds(*place, value);
        combined.all.iter().all(holds)
            && combined.any.as_ref().is_none_or(|any| any.iter().any(holds))
            && combined.one.as_ref().is_none_or(|one| self.one_of(one, value).is_some())
            && combined.not.as_ref().is_none_or(|not| !self.holds(not.place, value))
            && combined.condition.as_ref().is_none_or(|condition| {
                let branch = if self.holds(condition.asks, value) { condition.then } else { condition.otherwise };
                branch.is_none_or(|branch| self.holds(branch, value))
            })
            && combined.unevaluated.is_none_or(|others| match value.shape() {
                Shape::Object(object) => self.unevaluated(node, others, value, object).next().is_none(),
                _ => true,
            })
            && combined.reference.is_none_or(|reference| self.holds(reference, value))
    }

    /// The one schema of several that holds. None where there are two, or none.
    fn one_of<'a, V: View<'a>>(self, places: &[Place], value: V) -> Option<Place> {
        let mut holding = places.iter().copied().filter(|place| self.holds(*place, value));
        let first = holding.next()?;
        holding.next().is_none().then_some(first)
    }

    /// The names of the members that no schema around `node` describes and that are not as `others` wants them.
    pub(super) fn unevaluated<'a, V: View<'a>>(
        self,
        node: &Node,
        others: Others,
        value: V,
        object: V::Object,
    ) -> impl Iterator<Item = &'a str> {
        let mut marks = Marks::of(object.length());
        self.mark(node, value, object, &mut marks, false);
        object
            .members()
            .enumerate()
            .filter(move |(at, (_, value))| !marks.is_set(*at) && !self.other(others, *value))
            .map(|(_, (name, _))| name)
    }

    /// Marks the members that `node`, or what holds of what it combines, describes.
    fn mark<'a, V: View<'a>>(self, node: &Node, value: V, object: V::Object, marks: &mut Marks, unevaluated: bool) {
        if let Some(rules) = &node.objects {
            if rules.others != Others::Unsaid {
                return marks.set_all();
            }
            for (at, (name, _)) in object.members().enumerate() {
                if rules.describes(name) {
                    marks.set(at);
                }
            }
        }
        let Some(combined) = &node.combined else { return };
        let mut follow = |place: Place| {
            if let Some(node) = self.node(place) {
                self.mark(node, value, object, marks, true);
            }
        };
        combined.reference.into_iter().for_each(&mut follow);
        if let Some(condition) = &combined.condition {
            if self.holds(condition.asks, value) {
                follow(condition.asks);
                condition.then.into_iter().for_each(&mut follow);
            } else {
                condition.otherwise.into_iter().for_each(&mut follow);
            }
        }
        let holding = combined.all.iter().chain(combined.any.iter().flatten()).copied();
        holding.filter(|place| self.holds(*place, value)).for_each(&mut follow);
        combined.one.as_ref().and_then(|one| self.one_of(one, value)).into_iter().for_each(&mut follow);
        if let (true, Some(others)) = (unevaluated, combined.unevaluated) {
            for (at, (_, value)) in object.members().enumerate() {
                if !marks.is_set(at) && self.other(others, value) {
                    marks.set(at);
                }
            }
        }
    }
}

pub(super) fn is_listed<'a, V: View<'a>>(value: V, options: &serde_json::Value) -> bool {
    options.as_array().into_iter().flatten().any(|option| equal(value, option))
}

/// Which members of an object are described.
struct Marks {
    first: u64,
    rest: Vec<u64>,
}

impl Marks {
    fn of(members: usize) -> Self {
        Self { first: 0, rest: vec![0; members.saturating_sub(1) / 64] }
    }

    fn word(&mut self, at: usize) -> Option<&mut u64> {
        match (at / 64).checked_sub(1) {
            None => Some(&mut self.first),
            Some(word) => self.rest.get_mut(word),
        }
    }

    fn is_set(&self, at: usize) -> bool {
        let word = match (at / 64).checked_sub(1) {
            None => Some(&self.first),
            Some(word) => self.rest.get(word),
        };
        word.is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    fn set(&mut self, at: usize) {
        if let Some(word) = self.word(at) {
            *word |= 1 << (at % 64);
        }
    }

    fn set_all(&mut self) {
        self.first = u64::MAX;
        self.rest.fill(u64::MAX);
    }
}
