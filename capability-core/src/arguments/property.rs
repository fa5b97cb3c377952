//! One property out of a canonical text, without building the others.

use core::fmt;
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The property `name` of the object that `text` is.
pub(super) fn of(text: &[u8], name: &str) -> Option<Value> {
    Named(name).deserialize(&mut serde_json::Deserializer::from_slice(text)).ok().flatten()
}

/// The text of the property `name` of the object that `text` is.
pub(super) fn text_of<'t>(text: &'t [u8], name: &str) -> Option<&'t [u8]> {
    let entries: BTreeMap<Cow<'t, str>, &'t RawValue> = serde_json::from_slice(text).ok()?;
    entries.get(name).map(|raw| raw.get().as_bytes())
}

/// Looks for a property.
struct Named<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Named<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Named<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Option<Value>, A::Error> {
        let mut found = None;
        while let Some(wanted) = entries.next_key_seed(Is(self.0))? {
            if wanted {
                found = Some(entries.next_value()?);
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Whether a key is the one that is looked for.
struct Is<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}
