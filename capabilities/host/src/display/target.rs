//! What a call acts on: the part that counts emphasised, and foreign alphabets in host names readable.

use capability_core::contract::TargetKind;

use super::text::Reading;

/// A target in its parts. Before, heart and after are the whole of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<'t> {
    /// What stands before.
    pub before: &'t str,
    /// What decides where the call goes: a host, the last part of a path, a program.
    pub heart: &'t str,
    /// What stands behind.
    pub after: &'t str,
    /// What an encoded host name says.
    pub decoded: Decoded,
    /// How to read it.
    pub reading: Reading,
}

/// What the `xn--` labels of a host say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    /// There are none.
    None,
    /// This, to be shown beside the encoded form.
    Text(String),
    /// Nothing that is a name.
    Malformed,
}

/// Takes a target apart.
#[must_use]
pub fn target(kind: TargetKind, text: &str) -> Target<'_> {
    let whole = (0, text.len());
    let (from, to) = match kind {
        TargetKind::Url => host_in_url(text).unwrap_or(whole),
        TargetKind::Path => last_after(text, &['/']),
        TargetKind::Address => last_after(text, &['@']),
        TargetKind::Argv => (0, text.find(' ').unwrap_or(text.len())),
        TargetKind::Host | TargetKind::Service | TargetKind::Repository | TargetKind::Text | TargetKind::None => whole,
    };
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let heart = part(from, to);
    let decoded = match kind {
        TargetKind::Url | TargetKind::Host | TargetKind::Address => decode(heart),
        _ => Decoded::None,
    };
    let reading = if kind == TargetKind::Text { Reading::Prose } else { Reading::Name };
    Target { before: part(0, from), heart, after: part(to, text.len()), decoded, reading }
}

impl Target<'_> {
    /// What somebody types to show that they have read it: the end of the heart. Of a host these are the two last labels, of
    /// anything else the last word.
    #[must_use]
    pub fn last_label(&self) -> &str {
        let host = self.heart.trim_end_matches('.');
        let mut dots = host.rmatch_indices('.').map(|(at, _)| at + 1);
        match (self.heart.contains([' ', '/']), dots.nth(1)) {
            (false, Some(from)) => host.get(from..).unwrap_or(host),
            _ => self.heart.trim_end_matches('/').rsplit([' ', '/']).next().unwrap_or(self.heart),
        }
    }

    /// Whether somebody could be deceived by it, or by what an encoded name in it says.
    #[must_use]
    pub fn is_deceptive(&self) -> bool {
        let deceptive = |text: &str| super::text::is_deceptive(text, self.reading);
        let decoded = match &self.decoded {
            Decoded::None => false,
            Decoded::Text(text) => deceptive(text),
            Decoded::Malformed => true,
        };
        decoded || [self.before, self.heart, self.after].into_iter().any(deceptive)
    }
}

/// Where the host stands in an address: behind whoever logs in, before a port.
fn host_in_url(text: &str) -> Option<(usize, usize)> {
    let from = text.find("://")? + 3;
    let rest = text.get(from..)?;
    let authority = rest.get(..rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()))?;
    let from = from + authority.rfind('@').map_or(0, |at| at + 1);
    let host = authority.get(authority.rfind('@').map_or(0, |at| at + 1)..)?;
    let length = match host.strip_prefix('[') {
        Some(address) => address.find(']').map_or(host.len(), |at| at + 2),
        None => host.find(':').unwrap_or(host.len()),
    };
    Some((from, from + length))
}

/// The part behind the last separator, one at the very end not counted.
fn last_after(text: &str, separators: &[char]) -> (usize, usize) {
    let end = text.trim_end_matches(separators).len();
    let from = text.get(..end).and_then(|text| text.rfind(separators)).map_or(0, |at| at + 1);
    (from, end)
}

fn decode(host: &str) -> Decoded {
    let encoded = |label: &str| label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("xn--"));
    if !host.split('.').any(encoded) {
        return Decoded::None;
    }
    match idna::domain_to_unicode(host) {
        (text, Ok(())) => Decoded::Text(text),
        (_, Err(_)) => Decoded::Malformed,
    }
}
