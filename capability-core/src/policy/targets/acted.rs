//! What a call acts on, read once and in one way.
//!
//! A text that two readers could read as two things is not read at all: a rule that asks about it cannot be judged, and what
//! cannot be judged is denied.

use core::cell::OnceCell;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{MAX_HOST_BYTES, MAX_LABEL_BYTES, PlacePattern, TargetFamily, TargetPattern, address_token};
use crate::contract::TargetKind;

/// The longest address that is read, in bytes.
pub const MAX_PLACE_BYTES: usize = 8 * 1024;
/// The longest path that is read, in bytes.
pub const MAX_PATH_BYTES: usize = 4 * 1024;
/// The longest command or text that is read, in bytes.
pub const MAX_READ_BYTES: usize = 64 * 1024;
/// The most words of a command that are read.
pub const MAX_WORDS: usize = 256;

/// A target that a rule asks about and nobody can read in one way only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// A call's target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acted<'a> {
    /// A host, alone or in an address.
    Place(Place<'a>),
    /// Segments.
    Path(Vec<&'a str>),
    /// Words.
    Argv(Vec<String>),
    /// Characters.
    Text(&'a str),
}

/// A host and what follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place<'a> {
    /// In lower case, without a final dot; an address in its one spelling.
    host: Cow<'a, str>,
    is_address: bool,
    port: Option<u16>,
    /// Whatever stands between host and query.
    path: &'a str,
    /// The path read, once somebody asked.
    segments: OnceCell<Result<Vec<Cow<'a, str>>, Unreadable>>,
}

impl<'a> Acted<'a> {
    /// Reads a target.
    ///
    /// # Errors
    /// [`Unreadable`] for what is too long, and for whatever can be read in more than one way.
    pub fn read(kind: TargetKind, text: &'a str) -> Result<Self, Unreadable> {
        match kind {
            TargetKind::Url => url(text).map(Self::Place),
            // A host alone is connected to where TLS is served.
            TargetKind::Host => authority(text, Some(443)).map(Self::Place),
            TargetKind::Service => authority(text, None).map(Self::Place),
            TargetKind::Address => {
                let (_, domain) = text.rsplit_once('@').ok_or(Unreadable)?;
                if domain.contains(':') {
                    return Err(Unreadable);
                }
                authority(domain, None).map(Self::Place)
            }
            TargetKind::Path | TargetKind::Repository => file(text).map(Self::Path),
            TargetKind::Argv => words(text).map(Self::Argv),
            TargetKind::Text if text.len() <= MAX_READ_BYTES => Ok(Self::Text(text)),
            TargetKind::Text | TargetKind::None => Err(Unreadable),
        }
    }

    /// Whether a pattern matches it; one of another family never does.
    ///
    /// # Errors
    /// [`Unreadable`] when the pattern asks about a path that cannot be read in one way only.
    pub fn is_matched_by(&self, pattern: &TargetPattern) -> Result<bool, Unreadable> {
        match (self, pattern) {
            (Self::Place(place), TargetPattern::Place(pattern)) => place.is_matched_by(pattern),
            (Self::Path(segments), TargetPattern::Path(pattern)) => Ok(pattern.matches(segments)),
            (Self::Argv(words), TargetPattern::Argv(pattern)) => Ok(pattern.matches(words)),
            (Self::Text(text), TargetPattern::Text(pattern)) => Ok(pattern.matches(text)),
            _ => Ok(false),
        }
    }

    /// The family it is of.
    #[must_use]
    pub const fn family(&self) -> TargetFamily {
        match self {
            Self::Place(_) => TargetFamily::Place,
            Self::Path(_) => TargetFamily::Path,
            Self::Argv(_) => TargetFamily::Argv,
            Self::Text(_) => TargetFamily::Text,
        }
    }
}

impl<'a> Place<'a> {
    /// The host's labels; an address is one.
    fn labels(&self) -> impl Iterator<Item = &str> + Clone {
        let whole = self.is_address;
        let mut labels = parts(&self.host, b'.');
        let mut left = Some(&*self.host);
        core::iter::from_fn(move || if whole { left.take() } else { labels.next() })
    }

    fn is_matched_by(&self, pattern: &PlacePattern) -> Result<bool, Unreadable> {
        let port = pattern.port.is_none() || pattern.port == self.port;
        if !port || !pattern.host.matches(self.labels()) {
            return Ok(false);
        }
        match &pattern.path {
            None => Ok(true),
            Some(pattern) => Ok(pattern.matches(self.segments()?)),
        }
    }

    /// What the host ends in, label by label: the whole first.
    pub(in crate::policy) fn suffixes(&self) -> impl Iterator<Item = &str> {
        let whole = self.is_address;
        let mut rest = Some(&*self.host);
        core::iter::from_fn(move || {
            let suffix = rest?;
            rest = if whole { None } else { cut(suffix, b'.').1 };
            Some(suffix)
        })
    }

    /// The path's segments, with escapes resolved.
    pub(in crate::policy) fn segments(&self) -> Result<&[Cow<'a, str>], Unreadable> {
        let path = self.path;
        self.segments.get_or_init(|| segments(path)).as_deref().map_err(|unreadable| *unreadable)
    }
}

fn segments(path: &str) -> Result<Vec<Cow<'_, str>>, Unreadable> {
    let mut segments = Vec::new();
    for raw in parts(path, b'/').filter(|raw| !raw.is_empty()) {
        let segment = unescaped(raw)?;
        let detour = matches!(&*segment, "." | "..");
        if detour || segment.contains(|c: char| c == '/' || c == '\\' || c.is_control()) {
            return Err(Unreadable);
        }
        segments.push(segment);
    }
    Ok(segments)
}

/// What stands before the first of these ASCII characters, and what stands after it. For texts as short as labels a walk is
/// faster than a search.
fn cut(text: &str, at: u8) -> (&str, Option<&str>) {
    match text.bytes().position(|byte| byte == at) {
        Some(position) => (text.get(..position).unwrap_or_default(), text.get(position + 1..)),
        None => (text, None),
    }
}

/// What stands between these ASCII characters.
fn parts(text: &str, between: u8) -> impl Iterator<Item = &str> + Clone {
    let mut rest = Some(text);
    core::iter::from_fn(move || {
        let (part, after) = cut(rest?, between);
        rest = after;
        Some(part)
    })
}

/// Whether every character is visible and ASCII, and none is a backslash; anything else is looked at one by one.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

fn url(text: &str) -> Result<Place<'_>, Unreadable> {
    // What some readers take out and others keep, and the slash that only some take for one.
    let doubtful = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if text.len() > MAX_PLACE_BYTES || (!is_plain(text) && text.contains(doubtful)) {
        return Err(Unreadable);
    }
    let after = |scheme: &str| {
        text.get(..scheme.len()).filter(|head| head.eq_ignore_ascii_case(scheme)).and_then(|_| text.get(scheme.len()..))
    };
    let (standard, rest) = match (after("https://"), after("http://")) {
        (Some(rest), _) => (443, rest),
        (None, Some(rest)) => (80, rest),
        (None, None) => return Err(Unreadable),
    };
    let end = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let (host, rest) = rest.split_at_checked(end).ok_or(Unreadable)?;
    let path =
        rest.bytes().position(|byte| matches!(byte, b'?' | b'#')).and_then(|end| rest.get(..end)).unwrap_or(rest);
    Ok(Place { path, ..authority(host, Some(standard))? })
}

/// `host`, `host:port`, `[address]` or `[address]:port`, in plain ASCII.
fn authority(text: &str, standard: Option<u16>) -> Result<Place<'_>, Unreadable> {
    let (host, is_address, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').ok_or(Unreadable)?;
            let address: Ipv6Addr = address.parse().map_err(|_| Unreadable)?;
            let port = match port.strip_prefix(':') {
                None if port.is_empty() => None,
                None => return Err(Unreadable),
                digits => digits,
            };
            (Cow::Owned(address_token(IpAddr::V6(address))), true, port)
        }
        None => {
            let (host, port) = cut(text, b':');
            let (host, is_address) = name_or_address(host)?;
            (host, is_address, port)
        }
    };
    let port = match port {
        None => standard,
        Some(digits) if (1..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) => {
            Some(digits.parse().ok().filter(|port| *port != 0).ok_or(Unreadable)?)
        }
        Some(_) => return Err(Unreadable),
    };
    Ok(Place { host, is_address, port, path: "", segments: OnceCell::new() })
}

fn name_or_address(text: &str) -> Result<(Cow<'_, str>, bool), Unreadable> {
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.len() > MAX_HOST_BYTES {
        return Err(Unreadable);
    }
    let (mut upper, mut numeric, mut length) = (false, false, 0_usize);
    for byte in name.bytes() {
        match byte {
            b'.' if length > 0 => length = 0,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' if length < MAX_LABEL_BYTES => {
                upper |= byte.is_ascii_uppercase();
                if length == 0 {
                    numeric = byte.is_ascii_digit();
                }
                length += 1;
            }
            _ => return Err(Unreadable),
        }
    }
    if length == 0 {
        return Err(Unreadable);
    }
    // A last part that begins like a number is a number to some readers: then it is an address in its usual spelling.
    if numeric {
        let address: Ipv4Addr = text.parse().map_err(|_| Unreadable)?;
        return Ok((Cow::Owned(address_token(IpAddr::V4(address))), true));
    }
    Ok((if upper { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) }, false))
}

fn unescaped(raw: &str) -> Result<Cow<'_, str>, Unreadable> {
    if !raw.contains('%') {
        return Ok(Cow::Borrowed(raw));
    }
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.bytes();
    let hex = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16)).and_then(|digit| u8::try_from(digit).ok());
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()).ok_or(Unreadable)? * 16 + hex(rest.next()).ok_or(Unreadable)?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Unreadable)
}

fn file(text: &str) -> Result<Vec<&str>, Unreadable> {
    let doubtful = |c: char| c == '\\' || c.is_control();
    if text.len() > MAX_PATH_BYTES || (!is_plain(text) && text.contains(doubtful)) {
        return Err(Unreadable);
    }
    // The root itself, which has no other name.
    if text == "." {
        return Ok(Vec::new());
    }
    let mut segments = Vec::with_capacity(8);
    for segment in parts(text, b'/').filter(|segment| !segment.is_empty()) {
        if matches!(segment, "." | "..") {
            return Err(Unreadable);
        }
        segments.push(segment);
    }
    Ok(segments)
}

fn words(text: &str) -> Result<Vec<String>, Unreadable> {
    if text.len() > MAX_READ_BYTES {
        return Err(Unreadable);
    }
    let words: Vec<String> = serde_json::from_str(text).map_err(|_| Unreadable)?;
    if words.is_empty() || words.len() > MAX_WORDS { Err(Unreadable) } else { Ok(words) }
}

#[cfg(test)]
mod tests;
