//! The texts inside a JSON document.
//!
//! Texts that stand at one place of each element of a list are read one behind the other: the lines of a file, the pieces of an
//! answer, a column. They are one text here. Texts at different places are not: nobody reads a name and a number as one word.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use hashbrown::HashMap;
use serde_json::Value;

use super::finder::Finder;
use super::{Failed, MARK, MIN_REDACTED_BYTES};

/// The document with every form replaced in its texts and numbers.
pub(super) fn document<'t>(finder: &Finder, document: &'t str) -> Result<Cow<'t, str>, Failed> {
    let beside = beside(finder, document)?;
    // Without an escape each text stands there as it is: one look at all of them.
    if beside.is_empty() && !document.contains('\\') && finder.spans(document.as_bytes()).found.is_empty() {
        return Ok(Cow::Borrowed(document));
    }
    let mut redacted = String::with_capacity(document.len());
    let (mut rest, mut changed) = (document, false);
    for number in 0_usize.. {
        let Some((before, token, after)) = next(rest) else { break };
        redacted.push_str(before);
        let other = match beside.get(&number) {
            Some(text) => Some(quoted(text)),
            None => replaced(finder, token)?,
        };
        match other {
            Some(other) => {
                redacted.push_str(&other);
                changed = true;
            }
            None => redacted.push_str(token),
        }
        rest = after;
    }
    redacted.push_str(rest);
    Ok(if changed { Cow::Owned(redacted) } else { Cow::Borrowed(document) })
}

/// What stands in the place of texts in lists, by the number of the token in the document.
fn beside(finder: &Finder, document: &str) -> Result<HashMap<usize, String>, Failed> {
    let mut told = HashMap::new();
    if !document.contains('[') {
        return Ok(told);
    }
    let mut groups: HashMap<Place, (Vec<usize>, Vec<Cow<'_, str>>)> = HashMap::new();
    let (mut place, mut around) = (Place::default(), Vec::new());
    let mut rest = document;
    for number in 0_usize.. {
        let Some((before, token, after)) = next(rest) else { break };
        for bracket in before.bytes() {
            match bracket {
                b'[' => {
                    around.push(place);
                    place = place.element();
                }
                b'{' => around.push(place),
                b']' | b'}' => place = around.pop().unwrap_or_default(),
                _ => {}
            }
        }
        match meant(token) {
            Some(key) if after.trim_ascii_start().starts_with(':') => {
                place = around.last().copied().unwrap_or_default().member(&key);
            }
            Some(text) => {
                let (numbers, texts) = groups.entry(place).or_default();
                numbers.push(number);
                texts.push(text);
            }
            None => {}
        }
        rest = after;
    }
    for (numbers, texts) in groups.into_values().filter(|(numbers, _)| numbers.len() > 1) {
        let redacted = finder.texts(&texts)?.into_iter().zip(numbers);
        told.extend(redacted.filter_map(|(text, number)| match text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some((number, text)),
        }));
    }
    Ok(told)
}

/// The same replacement in a document that was read already; what stands in one text alone is left to others.
pub(super) fn beside_in(finder: &Finder, document: &mut Value) -> Result<(), Failed> {
    let mut groups: HashMap<Place, Vec<&mut String>> = HashMap::new();
    gather(document, Place::default(), &mut groups);
    for texts in groups.into_values().filter(|texts| texts.len() > 1) {
        let told: Vec<String> = finder.texts(&texts)?.into_iter().map(Cow::into_owned).collect();
        texts.into_iter().zip(told).for_each(|(text, told)| *text = told);
    }
    Ok(())
}

fn gather<'v>(value: &'v mut Value, place: Place, groups: &mut HashMap<Place, Vec<&'v mut String>>) {
    match value {
        Value::String(text) => groups.entry(place).or_default().push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| gather(item, place.element(), groups)),
        Value::Object(object) => object.iter_mut().for_each(|(key, item)| gather(item, place.member(key), groups)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A place in a document, whichever element of a list it is in, as a hash: two places that share one are looked through together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Place(u64);

impl Place {
    fn below(self, step: Option<&str>) -> Self {
        let mut hasher = DefaultHasher::new();
        (self.0, step).hash(&mut hasher);
        Self(hasher.finish())
    }

    fn element(self) -> Self {
        self.below(None)
    }

    fn member(self, key: &str) -> Self {
        self.below(Some(key))
    }
}

/// What a text of JSON says; none of what is no text, or none that can be read.
fn meant(token: &str) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { serde_json::from_str(token).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

/// A text as a JSON document.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The next text with its quotes, or the next run of characters of a number or a word, with what is before and after.
fn next(rest: &str) -> Option<(&str, &str, &str)> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
    let start = rest.find(|c: char| c == '"' || is_plain(c))?;
    let (before, from) = rest.split_at_checked(start)?;
    let length =
        if from.starts_with('"') { closed(from) } else { from.find(|c: char| !is_plain(c)).unwrap_or(from.len()) };
    let (token, after) = from.split_at_checked(length)?;
    Some((before, token, after))
}

/// Where the text that begins here ends; all there is when it has no end.
fn closed(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// What stands in the place of a token; none where it holds no form.
fn replaced(finder: &Finder, token: &str) -> Result<Option<String>, Failed> {
    if token.len() < MIN_REDACTED_BYTES {
        return Ok(None);
    }
    let Some(inner) = token.strip_prefix('"') else {
        // A number that is a secret is no number any more.
        return Ok((!finder.spans(token.as_bytes()).found.is_empty()).then(|| quoted(MARK)));
    };
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    if !inner.contains('\\') {
        return Ok(match finder.text(inner)? {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(format!("\"{text}\"")),
        });
    }
    let Ok(meant) = serde_json::from_str::<String>(token) else {
        // It is no text of JSON: it is looked through as it stands.
        return Ok(match finder.text(token)? {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        });
    };
    Ok(match finder.text(&meant)? {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => Some(quoted(&text)),
    })
}
