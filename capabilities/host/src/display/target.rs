//! What a call acts on: the part that counts emphasised, and foreign alphabets in host names readable.

use capability_core::contract::TargetKind;

use super::text::Reading;

/// How much of a target's parts is told in few words, in characters.
const MOST_BEFORE: usize = 80;
const MOST_HEART: usize = 260;
const MOST_AFTER: usize = 160;
/// No host's name is longer, in bytes.
const MOST_HOST: usize = 254;
/// The most characters that anybody is asked to type.
const MOST_TYPED: usize = 64;

/// A target in its parts. Before, heart and after are the whole of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<'t> {
    /// Of which kind.
    pub kind: TargetKind,
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
        TargetKind::Argv => program_in(text),
        TargetKind::Host | TargetKind::Service | TargetKind::Repository | TargetKind::Text | TargetKind::None => whole,
    };
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let heart = part(from, to);
    let decoded = match kind {
        TargetKind::Url | TargetKind::Host | TargetKind::Address => decode(heart),
        _ => Decoded::None,
    };
    let reading = if kind == TargetKind::Text { Reading::Prose } else { Reading::Name };
    Target { kind, before: part(0, from), heart, after: part(to, text.len()), decoded, reading }
}

impl Target<'_> {
    /// What somebody types to show that it was read: a host, an address, a file's own name, the last word. Written as it is shown; `None`
    /// when there is none, or none that anybody would type.
    #[must_use]
    pub fn last_label(&self) -> Option<String> {
        let whole = [self.before, self.heart, self.after].concat();
        let arguments = (self.kind == TargetKind::Argv).then(|| words_of(&whole)).flatten();
        let label = match (self.kind, &arguments) {
            (TargetKind::Argv, Some(words)) => words.last().map_or("", String::as_str),
            (TargetKind::Address | TargetKind::Argv | TargetKind::Text | TargetKind::None, _) => whole.as_str(),
            _ => self.heart,
        };
        let label = label.trim_end_matches(|c: char| c == '/' || c == '.' || c.is_whitespace());
        let label = match self.kind {
            TargetKind::Url | TargetKind::Host | TargetKind::Service | TargetKind::Address => label,
            _ => label.rsplit(|c: char| c == '/' || c.is_whitespace()).next().unwrap_or_default(),
        };
        let shown: String = super::text::pieces(label, self.reading).iter().map(ToString::to_string).collect();
        Some(shown).filter(|label| (1..=MOST_TYPED).contains(&label.chars().count()))
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

/// A command line as a list of texts, which is how arguments have it.
fn words_of(text: &str) -> Option<Vec<String>> {
    serde_json::from_str(text).ok()
}

/// The first word of a command line, in quotes where it is a list of texts.
fn program_in(text: &str) -> (usize, usize) {
    let first = words_of(text).and_then(|words| {
        let first = serde_json::to_string(words.first()?).ok()?;
        text.find(&first).map(|from| (from, from + first.len()))
    });
    first.unwrap_or_else(|| (0, text.find(' ').unwrap_or(text.len())))
}

/// A target in few words, for where many stand one below the other: what decides, its surroundings, and how much is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brief {
    kind: TargetKind,
    before: String,
    heart: String,
    after: String,
    decoded: Decoded,
    reading: Reading,
    /// How many characters are not in it.
    pub left_out: usize,
}

impl Brief {
    /// Of a target, whatever its length.
    #[must_use]
    pub fn of(kind: TargetKind, text: &str) -> Self {
        let Target { before, heart, after, decoded, reading, .. } = target(kind, text);
        let end: String = before.chars().skip(before.chars().count().saturating_sub(MOST_BEFORE)).collect();
        let head = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        let (heart, after) = (head(heart, MOST_HEART), head(after, MOST_AFTER));
        let kept = [&end, &heart, &after].map(|part| part.chars().count()).iter().sum::<usize>();
        Self { kind, before: end, heart, after, decoded, reading, left_out: text.chars().count() - kept }
    }

    /// What is in it, in its parts.
    #[must_use]
    pub fn parts(&self) -> Target<'_> {
        let Self { kind, before, heart, after, decoded, reading, .. } = self;
        Target { kind: *kind, before, heart, after, decoded: decoded.clone(), reading: *reading }
    }

    /// Of which kind.
    #[must_use]
    pub const fn kind(&self) -> TargetKind {
        self.kind
    }

    /// What is in it.
    #[must_use]
    pub fn text(&self) -> String {
        [self.before.as_str(), &self.heart, &self.after].concat()
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
    if host.len() > MOST_HOST {
        return Decoded::Malformed;
    }
    match idna::domain_to_unicode(host) {
        (text, Ok(())) => Decoded::Text(text),
        (_, Err(_)) => Decoded::Malformed,
    }
}
