//! What a call acts on, read once and in one way.
//!
//! A text that two readers could read as two things is not read at all: a rule that asks about it cannot be judged, and what
//! cannot be judged is denied.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{MAX_HOST_BYTES, PlacePattern, TargetFamily, TargetPattern, address_token, is_label};
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

impl Place<'_> {
    /// The host's labels; an address is one.
    fn labels(&self) -> impl Iterator<Item = &str> + Clone {
        let mut rest = Some(&*self.host);
        let whole = self.is_address;
        core::iter::from_fn(move || {
            let text = rest?;
            let (label, after) = match text.split_once('.') {
                Some((label, after)) if !whole => (label, Some(after)),
                _ => (text, None),
            };
            rest = after;
            Some(label)
        })
    }

    fn is_matched_by(&self, pattern: &PlacePattern) -> Result<bool, Unreadable> {
        let port = pattern.port.is_none() || pattern.port == self.port;
        if !port || !pattern.host.matches(self.labels()) {
            return Ok(false);
        }
        match &pattern.path {
            None => Ok(true),
            Some(pattern) => Ok(pattern.matches(&self.segments()?)),
        }
    }

    /// What the host ends in, label by label: the whole first.
    pub(in crate::policy) fn suffixes(&self) -> impl Iterator<Item = &str> {
        let mut rest = Some(&*self.host);
        core::iter::from_fn(move || {
            let suffix = rest?;
            rest = if self.is_address { None } else { suffix.split_once('.').map(|(_, after)| after) };
            Some(suffix)
        })
    }

    /// The path's segments, with escapes resolved.
    pub(in crate::policy) fn segments(&self) -> Result<Vec<Cow<'_, str>>, Unreadable> {
        let mut segments = Vec::new();
        for raw in self.path.split('/').filter(|raw| !raw.is_empty()) {
            let segment = unescaped(raw)?;
            let detour = matches!(&*segment, "." | "..");
            if detour || segment.contains(|c: char| c == '/' || c == '\\' || c.is_control()) {
                return Err(Unreadable);
            }
            segments.push(segment);
        }
        Ok(segments)
    }
}

fn url(text: &str) -> Result<Place<'_>, Unreadable> {
    // What some readers take out and others keep, and the slash that only some take for one.
    let doubtful = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if text.len() > MAX_PLACE_BYTES || text.contains(doubtful) {
        return Err(Unreadable);
    }
    let (scheme, rest) = text.split_once("://").ok_or(Unreadable)?;
    let standard = match scheme {
        _ if scheme.eq_ignore_ascii_case("https") => 443,
        _ if scheme.eq_ignore_ascii_case("http") => 80,
        _ => return Err(Unreadable),
    };
    let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    Ok(Place { path, ..authority(host, Some(standard))? })
}

/// `host`, `host:port`, `[address]` or `[address]:port`, in plain ASCII.
fn authority(text: &str, standard: Option<u16>) -> Result<Place<'_>, Unreadable> {
    let (host, is_address, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']').ok_or(Unreadable)?;
            let address: Ipv6Addr = address.parse().map_err(|_| Unreadable)?;
            (Cow::Owned(address_token(IpAddr::V6(address))), true, port)
        }
        None => {
            let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            let (host, is_address) = name_or_address(host)?;
            (host, is_address, port)
        }
    };
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => standard,
        Some(digits) if (1..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) => {
            Some(digits.parse().ok().filter(|port| *port != 0).ok_or(Unreadable)?)
        }
        _ => return Err(Unreadable),
    };
    Ok(Place { host, is_address, port, path: "" })
}

fn name_or_address(text: &str) -> Result<(Cow<'_, str>, bool), Unreadable> {
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.len() > MAX_HOST_BYTES {
        return Err(Unreadable);
    }
    let name = if name.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    };
    if !name.split('.').all(is_label) {
        return Err(Unreadable);
    }
    // A last part that begins like a number is a number to some readers: then it is an address in its usual spelling.
    if name.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit())) {
        let address: Ipv4Addr = text.parse().map_err(|_| Unreadable)?;
        return Ok((Cow::Owned(address_token(IpAddr::V4(address))), true));
    }
    Ok((name, false))
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
    if text.len() > MAX_PATH_BYTES || text.contains(|c: char| c == '\\' || c.is_control()) {
        return Err(Unreadable);
    }
    let segments: Vec<_> = text.split('/').filter(|segment| !segment.is_empty()).collect();
    if segments.iter().any(|segment| matches!(*segment, "." | "..")) { Err(Unreadable) } else { Ok(segments) }
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
