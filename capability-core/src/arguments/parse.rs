//! Strict parsing: one meaning for each text, or none.

use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::fault::{ArgumentCode, ArgumentFault};
use super::reader::{Reader, Refused};
use super::{MAX_ARGUMENT_BYTES, MAX_ARGUMENT_DEPTH, exact};

/// What an object costs beyond its entries: the map allocates for eleven of them at once.
pub(super) const OBJECT_BYTES: usize = 640;

/// The largest distance from zero at which every integer is a double of its own.
pub(super) const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Parsed arguments.
#[derive(Debug)]
pub(super) struct Parsed {
    /// Their value; whole numbers are integers, however they were written.
    pub(super) value: Value,
    /// Whether a whole number stands in it that is too large to be an exact integer and stayed a double.
    pub(super) inexact: bool,
}

/// Parses `raw`, or says what is wrong with it and where.
pub(super) fn parse(raw: &[u8]) -> Result<Parsed, ArgumentFault> {
    if raw.len() > MAX_ARGUMENT_BYTES {
        return Err(ArgumentFault::new(
            ArgumentCode::TooLarge,
            format!("the arguments are {} bytes: at most {MAX_ARGUMENT_BYTES} are taken", raw.len()),
            "send less, or name where the data is instead of sending it",
        ));
    }
    let reader = Reader::default();
    let mut json = serde_json::Deserializer::from_slice(raw);
    let parsed = Node { reader: &reader, depth: 0 }.deserialize(&mut json).and_then(|value| {
        json.end()?;
        Ok(value)
    });
    let value = parsed.map_err(|error| reader.fault(&error, raw))?;
    if reader.rounded.get() {
        exact::literals(raw)?;
    }
    Ok(Parsed { value, inexact: reader.inexact.get() })
}

/// One value, `depth` levels down.
struct Node<'r> {
    reader: &'r Reader,
    depth: usize,
}

impl Node<'_> {
    fn inside<E: serde::de::Error>(&self) -> Result<Self, E> {
        if self.depth >= MAX_ARGUMENT_DEPTH {
            return Err(self.reader.refuse(Refused::TooDeep));
        }
        Ok(Self { reader: self.reader, depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        if value.fract() == 0.0 {
            if value.abs() <= MAX_EXACT {
                // Within the range in which a double is exactly the integer it looks like, so the cast is exact too.
                self.reader.rounded.set(true);
                return Ok(Value::Number((value as i64).into()));
            }
            self.reader.inexact.set(true);
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        self.reader.text(value)?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, value: String) -> Result<Value, E> {
        self.reader.text(&value)?;
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let inside = self.inside()?;
            match items.next_element_seed(inside) {
                Ok(Some(item)) => {
                    self.reader.charge(size_of::<Value>())?;
                    list.push(item);
                }
                Ok(None) => return Ok(Value::Array(list)),
                Err(error) => {
                    self.reader.step(list.len());
                    return Err(error);
                }
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        let inside = self.inside::<A::Error>()?;
        while let Some(key) = entries.next_key_seed(Key(self.reader))? {
            let value = match entries.next_value_seed(Node { ..inside }) {
                Ok(value) => value,
                Err(error) => {
                    self.reader.step(key);
                    return Err(error);
                }
            };
            if object.is_empty() {
                self.reader.charge(OBJECT_BYTES)?;
            }
            self.reader.charge(size_of::<Value>())?;
            match object.entry(key) {
                serde_json::map::Entry::Vacant(vacant) => {
                    vacant.insert(value);
                }
                serde_json::map::Entry::Occupied(occupied) => {
                    return Err(self.reader.refuse(Refused::Duplicate(occupied.key().clone())));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

/// One key.
struct Key<'r>(&'r Reader);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<String, E> {
        self.0.text(key)?;
        Ok(key.to_owned())
    }

    fn visit_string<E: serde::de::Error>(self, key: String) -> Result<String, E> {
        self.0.text(&key)?;
        Ok(key)
    }
}
