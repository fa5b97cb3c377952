//! JSON as the check sees it, whatever holds it.

use core::cmp::Ordering;

use serde_json::{Map, Value};

use super::number::Digits;

/// One value.
pub(crate) trait View<'a>: Copy {
    /// A list of such values.
    type List: List<'a, View = Self>;
    /// An object of such values.
    type Object: Object<'a, View = Self>;

    /// What it is.
    fn shape(self) -> Shape<'a, Self>;
}

/// The items of a list.
pub(crate) trait List<'a>: Copy {
    /// One of them.
    type View;

    fn length(self) -> usize;

    fn items(self) -> impl Iterator<Item = Self::View>;
}

/// The members of an object, each name once.
pub(crate) trait Object<'a>: Copy {
    /// One of its values.
    type View;

    fn length(self) -> usize;

    fn members(self) -> impl Iterator<Item = (&'a str, Self::View)>;

    fn member(self, name: &str) -> Option<Self::View>;
}

/// What a value is.
pub(crate) enum Shape<'a, V: View<'a>> {
    Null,
    Bool(bool),
    Number(Digits),
    Text(&'a str),
    List(V::List),
    Object(V::Object),
}

impl<'a> View<'a> for &'a Value {
    type List = &'a [Value];
    type Object = &'a Map<String, Value>;

    fn shape(self) -> Shape<'a, Self> {
        match self {
            Value::Null => Shape::Null,
            Value::Bool(value) => Shape::Bool(*value),
            // A number that is none of the three is beyond every double.
            Value::Number(number) => Shape::Number(Digits::of(number).unwrap_or(Digits::Double(f64::MAX))),
            Value::String(text) => Shape::Text(text),
            Value::Array(items) => Shape::List(items.as_slice()),
            Value::Object(object) => Shape::Object(object),
        }
    }
}

impl<'a> List<'a> for &'a [Value] {
    type View = &'a Value;

    fn length(self) -> usize {
        self.len()
    }

    fn items(self) -> impl Iterator<Item = &'a Value> {
        self.iter()
    }
}

impl<'a> Object<'a> for &'a Map<String, Value> {
    type View = &'a Value;

    fn length(self) -> usize {
        self.len()
    }

    fn members(self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.iter().map(|(name, value)| (name.as_str(), value))
    }

    fn member(self, name: &str) -> Option<&'a Value> {
        self.get(name)
    }
}

/// A text by itself, such as an object's key.
#[derive(Clone, Copy)]
pub(super) struct Key<'a>(pub(super) &'a str);

impl<'a> View<'a> for Key<'a> {
    type List = Nothing<'a>;
    type Object = Nothing<'a>;

    fn shape(self) -> Shape<'a, Self> {
        Shape::Text(self.0)
    }
}

/// The parts that a text does not have.
#[derive(Clone, Copy)]
pub(super) struct Nothing<'a>(core::marker::PhantomData<&'a ()>);

impl<'a> List<'a> for Nothing<'a> {
    type View = Key<'a>;

    fn length(self) -> usize {
        0
    }

    fn items(self) -> impl Iterator<Item = Key<'a>> {
        core::iter::empty()
    }
}

impl<'a> Object<'a> for Nothing<'a> {
    type View = Key<'a>;

    fn length(self) -> usize {
        0
    }

    fn members(self) -> impl Iterator<Item = (&'a str, Key<'a>)> {
        core::iter::empty()
    }

    fn member(self, _: &str) -> Option<Key<'a>> {
        None
    }
}

/// True when both are one JSON value: numbers by what they are worth, objects whatever their order.
pub(crate) fn equal<'a, 'b, V: View<'a>, W: View<'b>>(one: V, other: W) -> bool {
    match (one.shape(), other.shape()) {
        (Shape::Null, Shape::Null) => true,
        (Shape::Bool(one), Shape::Bool(other)) => one == other,
        (Shape::Number(one), Shape::Number(other)) => one.compare(other).is_eq(),
        (Shape::Text(one), Shape::Text(other)) => one == other,
        (Shape::List(one), Shape::List(other)) => {
            one.length() == other.length() && one.items().zip(other.items()).all(|(one, other)| equal(one, other))
        }
        (Shape::Object(one), Shape::Object(other)) => {
            one.length() == other.length()
                && one.members().all(|(name, value)| other.member(name).is_some_and(|expected| equal(value, expected)))
        }
        _ => false,
    }
}

/// Up to how many items each is compared with each.
const FEW: usize = 16;

/// True when no two items are one JSON value. Long lists are sorted, so that the work grows with their length and not with
/// its square.
pub(super) fn distinct<'a, L: List<'a, View: View<'a>>>(list: L) -> bool {
    if list.length() <= FEW {
        let mut seen = 0;
        return list.items().all(|item| {
            let known = list.items().take(seen).any(|earlier| equal(earlier, item));
            seen += 1;
            !known
        });
    }
    let mut sorted: Vec<L::View> = list.items().collect();
    sorted.sort_unstable_by(|one, other| order(*one, *other));
    sorted.windows(2).all(|pair| match pair {
        [one, other] => order(*one, *other).is_ne(),
        _ => true,
    })
}

/// Some total order in which exactly equal values are equal.
fn order<'a, V: View<'a>>(one: V, other: V) -> Ordering {
    match (one.shape(), other.shape()) {
        (Shape::Null, Shape::Null) => Ordering::Equal,
        (Shape::Bool(one), Shape::Bool(other)) => one.cmp(&other),
        (Shape::Number(one), Shape::Number(other)) => one.compare(other),
        (Shape::Text(one), Shape::Text(other)) => one.cmp(other),
        (Shape::List(one), Shape::List(other)) => one.length().cmp(&other.length()).then_with(|| {
            one.items()
                .zip(other.items())
                .map(|(one, other)| order(one, other))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        }),
        (Shape::Object(one), Shape::Object(other)) => one.length().cmp(&other.length()).then_with(|| {
            let (one, other) = (by_name(one), by_name(other));
            one.into_iter()
                .zip(other)
                .map(|((name, value), (other_name, other))| name.cmp(other_name).then_with(|| order(value, other)))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        }),
        (one, other) => rank(&one).cmp(&rank(&other)),
    }
}

fn by_name<'a, O: Object<'a>>(object: O) -> Vec<(&'a str, O::View)> {
    let mut members: Vec<_> = object.members().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

const fn rank<'a, V: View<'a>>(shape: &Shape<'a, V>) -> u8 {
    match shape {
        Shape::Null => 0,
        Shape::Bool(_) => 1,
        Shape::Number(_) => 2,
        Shape::Text(_) => 3,
        Shape::List(_) => 4,
        Shape::Object(_) => 5,
    }
}
