//! One schema of a document, compiled.

use serde_json::{Number, Value};

use super::Place;
use super::number::{Digits, Divisor};
use super::text::{Form, Format};

/// A set of JSON types. Integers are a kind of their own: a number without a fraction is one, however it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    /// Integers too.
    pub(super) const NUMBER: Self = Self(4 | 8);
    const FRACTION: Self = Self(8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True when one of `others` is among them.
    #[inline]
    pub(super) const fn take(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    #[inline]
    pub(super) fn take_number(self, number: Digits) -> bool {
        match number {
            Digits::Natural(_) | Digits::Negative(_) => self.take(Self::INTEGER),
            Digits::Double(_) => self.take(if number.is_whole() { Self::INTEGER } else { Self::FRACTION }),
        }
    }

    /// True for integers without the other numbers: those must be exact.
    #[inline]
    pub(super) const fn wants_exact(self) -> bool {
        self.take(Self::INTEGER) && !self.take(Self::FRACTION)
    }
}

/// A schema. Absent rules hold for every value; each holds for every value that it is not about.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) types: Types,
    /// The schema `false`.
    pub(super) never: bool,
    /// Its place in the document, as a JSON pointer.
    pub(super) at: Box<str>,
    pub(super) values: Option<Box<Values>>,
    pub(super) numbers: Option<Box<Numbers>>,
    pub(super) texts: Option<Box<Texts>>,
    pub(super) lists: Option<Box<Lists>>,
    pub(super) objects: Option<Box<Objects>>,
    pub(super) combined: Option<Box<Combined>>,
}

impl Node {
    /// The schema `true`, or `false`.
    pub(super) fn plain(at: &str, accepts: bool) -> Self {
        Self {
            types: if accepts { Types::ALL } else { Types::NONE },
            never: !accepts,
            at: at.into(),
            values: None,
            numbers: None,
            texts: None,
            lists: None,
            objects: None,
            combined: None,
        }
    }
}

/// Values that are listed.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) constant: Option<Value>,
    /// A list of values.
    pub(super) options: Option<Value>,
}

/// What is asked of numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub(super) minimum: Option<Limit>,
    pub(super) maximum: Option<Limit>,
    pub(super) above: Option<Limit>,
    pub(super) below: Option<Limit>,
    pub(super) divisor: Option<Divisor>,
}

/// A number of the schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit(pub(super) Digits);

impl Limit {
    pub(super) fn of(number: &Number) -> Option<Self> {
        Digits::of(number).map(Self)
    }
}

impl Numbers {
    #[inline]
    pub(super) fn hold(&self, number: Digits) -> bool {
        self.minimum.is_none_or(|Limit(limit)| number.compare(limit).is_ge())
            && self.maximum.is_none_or(|Limit(limit)| number.compare(limit).is_le())
            && self.above.is_none_or(|Limit(limit)| number.compare(limit).is_gt())
            && self.below.is_none_or(|Limit(limit)| number.compare(limit).is_lt())
            && self.divisor.is_none_or(|divisor| divisor.divides(number))
    }
}

/// What is asked of texts.
#[derive(Debug)]
pub(super) struct Texts {
    /// In characters.
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) format: Option<Format>,
    pub(super) form: Option<Form>,
}

impl Texts {
    /// Whether the length fits.
    #[inline]
    pub(super) fn fits(&self, text: &str) -> bool {
        // A character takes one to four bytes: most lengths are decided without counting.
        let (fewest, most) = (text.len().div_ceil(4) as u64, text.len() as u64);
        if most < self.least || fewest > self.most {
            return false;
        }
        (self.least <= fewest && most <= self.most) || (self.least..=self.most).contains(&(text.chars().count() as u64))
    }

    #[inline]
    pub(super) fn hold(&self, text: &str) -> bool {
        self.fits(text)
            && self.format.is_none_or(|format| format.accepts(text))
            && self.form.is_none_or(|form| form.accepts(text))
    }
}

/// What is asked of lists.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) unique: bool,
    pub(super) prefix: Vec<Place>,
    pub(super) items: Option<Place>,
}

/// What is asked of objects.
#[derive(Debug)]
pub(super) struct Objects {
    pub(super) least: u64,
    pub(super) most: u64,
    /// Sorted by name.
    pub(super) properties: Vec<Property>,
    /// How many of the properties are required.
    pub(super) required: usize,
    /// Required names that are no declared property.
    pub(super) required_too: Vec<Box<str>>,
    pub(super) forms: Vec<(Form, Place)>,
    pub(super) others: Others,
    pub(super) names: Option<Place>,
}

/// A declared property.
#[derive(Debug)]
pub(super) struct Property {
    pub(super) name: Box<str>,
    pub(super) required: bool,
    pub(super) place: Place,
}

/// Members that are neither declared nor of a given form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// Nothing is said of them.
    Unsaid,
    Refused,
    Are(Place),
}

impl Objects {
    /// The declared property `name`; `from` is where the search begins and is moved on behind what it found. Members come
    /// sorted, or in the order in which a type declares them: mostly the next is the one.
    #[inline]
    pub(super) fn property(&self, name: &str, from: &mut usize) -> Option<&Property> {
        if let Some(next) = self.properties.get(*from)
            && *next.name == *name
        {
            *from += 1;
            return Some(next);
        }
        let at = self.find(name)?;
        *from = at + 1;
        self.properties.get(at)
    }

    fn find(&self, name: &str) -> Option<usize> {
        /// Up to how many names are compared one by one.
        const FEW: usize = 12;
        if self.properties.len() <= FEW {
            self.properties.iter().position(|property| *property.name == *name)
        } else {
            self.properties.binary_search_by(|property| (*property.name).cmp(name)).ok()
        }
    }

    /// True for a name that is declared or has one of the forms.
    pub(super) fn describes(&self, name: &str) -> bool {
        self.find(name).is_some() || self.forms.iter().any(|(form, _)| form.accepts(name))
    }
}

/// Schemas that apply to the same value.
#[derive(Debug, Default)]
pub(super) struct Combined {
    pub(super) all: Vec<Place>,
    pub(super) any: Option<Vec<Place>>,
    pub(super) one: Option<Vec<Place>>,
    pub(super) not: Option<Not>,
    pub(super) condition: Option<Condition>,
    pub(super) unevaluated: Option<Others>,
    pub(super) reference: Option<Place>,
}

/// A schema that must not hold, and its text for the refusal.
#[derive(Debug)]
pub(super) struct Not {
    pub(super) place: Place,
    pub(super) written: Value,
}

/// `if`, `then` and `else`.
#[derive(Debug)]
pub(super) struct Condition {
    pub(super) asks: Place,
    pub(super) then: Option<Place>,
    pub(super) otherwise: Option<Place>,
}

impl Combined {
    /// Every schema that applies to the same value.
    pub(super) fn places(&self) -> impl Iterator<Item = Place> {
        let condition =
            self.condition.iter().flat_map(|condition| [Some(condition.asks), condition.then, condition.otherwise]);
        self.all
            .iter()
            .chain(self.any.iter().flatten())
            .chain(self.one.iter().flatten())
            .copied()
            .chain(self.not.iter().map(|not| not.place))
            .chain(condition.flatten())
            .chain(self.reference)
    }
}
