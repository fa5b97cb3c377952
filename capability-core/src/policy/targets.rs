//! What a rule says about the thing that a call acts on.
//!
//! There are four families, and each has a matcher of its own: places by host labels, files by segments, commands by words,
//! texts by characters. Nothing is ever a string pattern over an address.

mod acted;
mod text;

pub use acted::{Acted, Unreadable};
pub use text::{MAX_TEXT_BYTES, TextPattern};

use std::net::IpAddr;

use serde::Deserialize;

use super::mistake::Mistake;
use super::pattern::{MAX_TOKENS, Pattern, Token};
use crate::contract::TargetKind;

/// What kinds of target one matcher serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TargetFamily {
    /// A host, alone or in an address: `url`, `host`, `service`, `address`.
    Place,
    /// Segments between slashes: `path`, `repository`.
    Path,
    /// The words of a command: `argv`.
    Argv,
    /// Characters: `text`.
    Text,
}

impl TargetFamily {
    /// The family of a kind; none for [`TargetKind::None`].
    #[must_use]
    pub const fn of(kind: TargetKind) -> Option<Self> {
        match kind {
            TargetKind::Url | TargetKind::Host | TargetKind::Service | TargetKind::Address => Some(Self::Place),
            TargetKind::Path | TargetKind::Repository => Some(Self::Path),
            TargetKind::Argv => Some(Self::Argv),
            TargetKind::Text => Some(Self::Text),
            TargetKind::None => None,
        }
    }

    /// How such a target is written in a rule.
    #[must_use]
    pub const fn written(self) -> &'static str {
        match self {
            Self::Place => "`host`, with `port` and `path` if need be",
            Self::Path => "`path`",
            Self::Argv => "`argv`",
            Self::Text => "`text`",
        }
    }
}

/// A host and what follows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlacePattern {
    /// The labels of the host, in the order they are read; an IP address is one token.
    pub host: Pattern,
    /// The port; any when absent. A call without a port (a service, a mailbox) is not matched by a rule with one.
    pub port: Option<u16>,
    /// The segments of the path; any when absent. A call without a path is matched as one with no segments.
    pub path: Option<Pattern>,
}

/// What a call must act on.
///
/// In TOML one of `{ host = "*.example.com", port = 443, path = "/docs/**" }`, `{ path = "notes/**" }`,
/// `{ argv = ["git", "status", "**"] }` and `{ text = "*rm -rf*" }`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(try_from = "Written")]
pub enum TargetPattern {
    /// A place.
    Place(PlacePattern),
    /// A file, by its segments below the workspace's root.
    Path(Pattern),
    /// A command, by its words.
    Argv(Pattern),
    /// A text, by its characters.
    Text(TextPattern),
}

impl TargetPattern {
    /// Which targets it can match at all.
    #[must_use]
    pub const fn family(&self) -> TargetFamily {
        match self {
            Self::Place(_) => TargetFamily::Place,
            Self::Path(_) => TargetFamily::Path,
            Self::Argv(_) => TargetFamily::Argv,
            Self::Text(_) => TargetFamily::Text,
        }
    }

    /// Whether everything that `other` matches is matched here too. Exact; what would take too long to decide is answered
    /// with `false`.
    #[must_use]
    pub fn includes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Place(wide), Self::Place(narrow)) => {
                let port = wide.port.is_none() || wide.port == narrow.port;
                let path = match (&wide.path, &narrow.path) {
                    (None, _) => true,
                    (Some(wide), Some(narrow)) => wide.includes(narrow),
                    (Some(wide), None) => matches!(wide.tokens(), [Token::Many]),
                };
                port && path && wide.host.includes(&narrow.host)
            }
            (Self::Path(wide), Self::Path(narrow)) | (Self::Argv(wide), Self::Argv(narrow)) => wide.includes(narrow),
            (Self::Text(wide), Self::Text(narrow)) => wide.includes(narrow),
            _ => false,
        }
    }

    /// Whether some target may be matched by both. Never a false no.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Place(one), Self::Place(another)) => {
                let port = one.port.is_none() || another.port.is_none() || one.port == another.port;
                let path = match (&one.path, &another.path) {
                    (Some(one), Some(another)) => one.overlaps(another),
                    _ => true,
                };
                port && path && one.host.overlaps(&another.host)
            }
            (Self::Path(one), Self::Path(another)) | (Self::Argv(one), Self::Argv(another)) => one.overlaps(another),
            (Self::Text(one), Self::Text(another)) => one.may_overlap(another),
            _ => false,
        }
    }
}

/// As it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    host: Option<String>,
    port: Option<u16>,
    path: Option<String>,
    argv: Option<Vec<String>>,
    text: Option<String>,
}

const ONE_KIND: &str = "write one of `{ host = \"example.com\" }` (with `port` and `path` if need be), `{ path = \"notes/**\" }`, `{ argv = [\"git\", \"**\"] }`, `{ text = \"*word*\" }`";

impl TryFrom<Written> for TargetPattern {
    type Error = Mistake;

    fn try_from(written: Written) -> Result<Self, Mistake> {
        match written {
            Written { host: Some(host), port, path, argv: None, text: None } => {
                if port == Some(0) {
                    return Err(Mistake::new(
                        "`port` is 0: it is 1 to 65535",
                        "write the port, or leave it out for any",
                    ));
                }
                let (host, path) = (host_pattern(&host)?, path.as_deref().map(path_pattern).transpose()?);
                Ok(Self::Place(PlacePattern { host, port, path }))
            }
            Written { host: None, port: None, path: Some(path), argv: None, text: None } => {
                Ok(Self::Path(path_pattern(&path)?))
            }
            Written { host: None, port: None, path: None, argv: Some(argv), text: None } => {
                Ok(Self::Argv(argv_pattern(&argv)?))
            }
            Written { host: None, port: None, path: None, argv: None, text: Some(text) } => {
                Ok(Self::Text(TextPattern::new(&text)?))
            }
            Written { host: None, port: Some(_), .. } => Err(Mistake::new(
                "a target has a `port` and no `host`",
                "write the host beside it: `{ host = \"**\", port = 443 }` is that port of any",
            )),
            Written { host: None, port: None, path: None, argv: None, text: None } => {
                Err(Mistake::new("a target says nothing", ONE_KIND))
            }
            _ => Err(Mistake::new("a target is of two kinds at once", ONE_KIND)),
        }
    }
}

/// The longest host, in bytes.
const MAX_HOST_BYTES: usize = 253;
/// The longest label of one, in bytes.
const MAX_LABEL_BYTES: usize = 63;

fn host_pattern(written: &str) -> Result<Pattern, Mistake> {
    let mistake = |what: &str, help: &str| Err(Mistake::new(format!("the host `{}` {what}", shown(written)), help));
    if let Ok(address) = written.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return pattern([Token::Literal(address_token(address).into())], written);
    }
    let lower = written.to_ascii_lowercase();
    let name = lower.strip_suffix('.').unwrap_or(&lower);
    if name.len() > MAX_HOST_BYTES {
        return mistake("is too long", "a host has at most 253 characters");
    }
    if name == "*" {
        return mistake("is a single label of any text", "write `**` for any host, or the name itself");
    }
    let mut tokens = Vec::new();
    for (at, label) in name.split('.').enumerate() {
        match label {
            "*" if at == 0 => tokens.push(Token::One),
            // One or more: a host has at least one label, and `**.example.com` is not `example.com` itself.
            "**" if at == 0 => tokens.extend([Token::One, Token::Many]),
            "*" | "**" => {
                return mistake("has a wildcard that is not its first label", "wildcards come first: `*.example.com`");
            }
            _ if label.contains('*') => {
                return mistake(
                    "has a wildcard inside a label",
                    "a label is a whole literal or a whole wildcard: `*.example.com` is one label before it, `**.example.com` any number",
                );
            }
            _ if is_label(label) => tokens.push(Token::Literal(label.into())),
            _ => {
                return mistake(
                    "is neither a name nor an IP address",
                    "write a bare host such as `example.com` (other alphabets as `xn--`), without scheme, port and path; those have keys of their own",
                );
            }
        }
    }
    if matches!(tokens.last(), Some(Token::Literal(last)) if last.starts_with(|c: char| c.is_ascii_digit())) {
        return mistake("ends in a number and is no IP address", "write the address whole, such as `192.168.1.2`");
    }
    pattern(tokens, written)
}

/// Whether it can stand between two dots of a host: ASCII letters, digits, `-` and `_`, at most 63.
fn is_label(label: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    (1..=MAX_LABEL_BYTES).contains(&label.len()) && label.bytes().all(plain)
}

/// The one spelling of an address: an IPv4 address inside an IPv6 one is that IPv4 address.
pub(super) fn address_token(address: IpAddr) -> String {
    address.to_canonical().to_string()
}

fn path_pattern(written: &str) -> Result<Pattern, Mistake> {
    let mut tokens = Vec::new();
    for segment in written.split('/').filter(|segment| !segment.is_empty()) {
        tokens.push(match segment {
            "*" => Token::One,
            "**" => Token::Many,
            "." | ".." => {
                return Err(Mistake::new(
                    format!("the path `{}` has a `{segment}`", shown(written)),
                    "write the path as it is from the root, without detours",
                ));
            }
            _ if segment.contains('*') => {
                return Err(Mistake::new(
                    format!("the path `{}` has a wildcard inside a segment", shown(written)),
                    "a segment is a whole literal or a whole wildcard: `*` is one segment, `**` any number; name the folder (`notes/**`) or the file (`**/.env`)",
                ));
            }
            _ if segment.chars().any(char::is_control) || segment.contains('\\') => {
                return Err(Mistake::new(
                    format!("the path `{}` has a character that no path here has", shown(written)),
                    "write `/` between segments, and no control characters",
                ));
            }
            literal => Token::Literal(literal.into()),
        });
    }
    pattern(tokens, written)
}

fn argv_pattern(written: &[String]) -> Result<Pattern, Mistake> {
    let mut tokens = Vec::new();
    for (at, word) in written.iter().enumerate() {
        tokens.push(match word.as_str() {
            "*" => Token::One,
            "**" if at + 1 == written.len() => Token::Many,
            "**" => {
                return Err(Mistake::new(
                    "`argv` has a `**` that is not its last word",
                    "`**` is whatever follows and comes last; `*` is one word",
                ));
            }
            _ if word.contains('*') => {
                return Err(Mistake::new(
                    format!("`argv` has a wildcard inside the word `{}`", shown(word)),
                    "a word is a whole literal or a whole wildcard: `*` is one word, a last `**` is the rest",
                ));
            }
            literal => Token::Literal(literal.into()),
        });
    }
    if tokens.is_empty() {
        return Err(Mistake::new("`argv` is empty", "write the words of the command: `[\"git\", \"status\"]`"));
    }
    pattern(tokens, "argv")
}

fn pattern(tokens: impl IntoIterator<Item = Token>, written: &str) -> Result<Pattern, Mistake> {
    Pattern::new(tokens).ok_or_else(|| {
        Mistake::new(
            format!("`{}` is too long", shown(written)),
            format!("a pattern has at most {MAX_TOKENS} parts; end it in `**`"),
        )
    })
}

/// What was written, fit to be shown in one line.
pub(super) fn shown(written: &str) -> String {
    let short: String = written.chars().take(80).collect();
    short.escape_debug().to_string()
}

#[cfg(test)]
mod tests;
