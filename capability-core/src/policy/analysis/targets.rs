//! What calls can act on, told apart as finely as patterns do and no finer.

use std::collections::{BTreeSet, HashSet};
use std::net::{IpAddr, Ipv6Addr};

use serde_json::Value;

use super::automaton::{self, Atom, Budget, NotDecided, Part, atoms};
use super::bits::Bits;
use crate::contract::TargetKind;
use crate::policy::pattern::{Pattern, Token};
use crate::policy::{PlacePattern, TargetFamily, TargetPattern, TextPattern};

/// Calls whose targets the same patterns match, with one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Which patterns match, by the numbers they were given.
    pub matching: Bits,
    /// Which patterns ask for something that cannot be read in one way only, and cannot be held against it.
    pub asking: Bits,
    /// A target that they and no others match, as the argument would say it; none for a call without one.
    pub text: Option<String>,
}

/// A pattern of a selector.
#[derive(Debug)]
pub struct Numbered<'p, P> {
    /// The selector's number.
    pub number: usize,
    /// The pattern.
    pub pattern: &'p P,
    /// See [`automaton::Pattern::alike`].
    pub alike: Option<usize>,
}

impl<P> Clone for Numbered<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Numbered<'_, P> {}

impl<'p, P> Numbered<'p, P> {
    fn map<Q>(&self, of: impl FnOnce(&'p P) -> Option<&'p Q>) -> Option<Numbered<'p, Q>> {
        Some(Numbered { number: self.number, pattern: of(self.pattern)?, alike: self.alike })
    }
}

/// Tells apart every target of a kind that these patterns tell apart. Patterns are given with a number below `size`.
///
/// # Errors
/// [`NotDecided`] when the budget does not suffice.
pub fn told_apart<'p>(
    kind: TargetKind,
    patterns: &[Numbered<'p, TargetPattern>],
    size: usize,
    budget: &mut Budget,
) -> Result<Vec<Told>, NotDecided> {
    let Some(family) = TargetFamily::of(kind) else {
        return Ok(vec![Told { matching: Bits::none(size), asking: Bits::none(size), text: None }]);
    };
    let of_family: Vec<_> = patterns.iter().filter(|own| own.pattern.family() == family).copied().collect();
    let mut told = match family {
        TargetFamily::Place => {
            let of =
                |pattern: &'p TargetPattern| if let TargetPattern::Place(place) = pattern { Some(place) } else { None };
            places_apart(kind, &taken(&of_family, of), size, budget)?
        }
        TargetFamily::Path => {
            let of =
                |pattern: &'p TargetPattern| if let TargetPattern::Path(path) = pattern { Some(path) } else { None };
            let written = |words: &[&str]| if words.is_empty() { "/".to_owned() } else { words.join("/") };
            sequences(&taken(&of_family, of), true, size, budget, written)?
        }
        TargetFamily::Argv => {
            let of =
                |pattern: &'p TargetPattern| if let TargetPattern::Argv(argv) = pattern { Some(argv) } else { None };
            // A command has a first word.
            sequences(&taken(&of_family, of), false, size, budget, |words| Value::from(words.to_vec()).to_string())?
        }
        TargetFamily::Text => texts(&of_family, size, budget)?,
    };
    if !of_family.is_empty() {
        let asking = every(of_family.iter().map(|own| own.number), size);
        told.push(Told { matching: Bits::none(size), asking, text: Some(unreadable(kind)) });
    }
    Ok(told)
}

/// The same target in other letters, where there are such: where target and scope are one argument, another scope.
pub fn respelt(kind: TargetKind, text: &str) -> Option<String> {
    match kind {
        TargetKind::Url => Some(text.replacen("http", "HTTP", 1)),
        TargetKind::Host | TargetKind::Service => {
            let (host, port) = match text.rsplit_once(':').filter(|(host, _)| !host.ends_with(':')) {
                Some((host, port)) if !port.ends_with(']') => (host, format!(":{port}")),
                _ => (text, String::new()),
            };
            let host = match host.trim_matches(['[', ']']).parse::<IpAddr>() {
                Ok(IpAddr::V4(address)) => format!("[::ffff:{address}]"),
                Ok(IpAddr::V6(address)) => {
                    let groups = address.segments().map(|group| format!("{group:04X}"));
                    format!("[{}]", groups.join(":"))
                }
                Err(_) => format!("{host}."),
            };
            Some(host + &port)
        }
        TargetKind::Address => Some(format!("another.{text}")),
        TargetKind::Path | TargetKind::Repository => Some(format!("{text}/")),
        TargetKind::Argv => Some(format!(" {text}")),
        TargetKind::Text | TargetKind::None => None,
    }
}

/// Longer than any text that a rule is held against, in bytes.
const MORE_THAN_IS_READ: usize = 64 * 1024 + 1;

/// A text that is no target of this kind to any reader.
fn unreadable(kind: TargetKind) -> String {
    match kind {
        TargetKind::Url => "https://other:0/".to_owned(),
        TargetKind::Host | TargetKind::Service => "other:0".to_owned(),
        TargetKind::Address => "somebody@".to_owned(),
        TargetKind::Path | TargetKind::Repository => "..".to_owned(),
        TargetKind::Argv => "[]".to_owned(),
        TargetKind::Text | TargetKind::None => "z".repeat(MORE_THAN_IS_READ),
    }
}

fn every(numbers: impl Iterator<Item = usize>, size: usize) -> Bits {
    let mut bits = Bits::none(size);
    numbers.for_each(|number| bits.insert(number));
    bits
}

fn taken<'p, P>(
    patterns: &[Numbered<'p, TargetPattern>],
    family: impl Fn(&'p TargetPattern) -> Option<&'p P>,
) -> Vec<Numbered<'p, P>> {
    patterns.iter().filter_map(|numbered| numbered.map(&family)).collect()
}

fn parts<'p>(numbered: &Numbered<'p, Pattern>) -> automaton::Pattern<&'p str> {
    let part = |token: &'p Token| match token {
        Token::Literal(literal) => Part::Exactly(&**literal),
        Token::One => Part::One,
        Token::Many => Part::Any,
    };
    automaton::Pattern { parts: numbered.pattern.tokens().iter().map(part).collect(), alike: numbered.alike }
}

/// A word that none of these is.
fn stranger<'l>(literals: impl Iterator<Item = &'l str>) -> String {
    let taken: BTreeSet<&str> = literals.collect();
    let mut name = "other".to_owned();
    for number in 2.. {
        if !taken.contains(name.as_str()) {
            break;
        }
        name = format!("other{number}");
    }
    name
}

fn literals<S: Copy>(patterns: &[automaton::Pattern<S>]) -> impl Iterator<Item = S> {
    let literal = |part: &Part<S>| if let Part::Exactly(literal) = part { Some(*literal) } else { None };
    patterns.iter().flat_map(|pattern| &pattern.parts).filter_map(literal)
}

fn numbered(atom: &Bits, numbers: impl Fn(usize) -> Option<usize>, size: usize) -> Bits {
    every(atom.iter().filter_map(numbers), size)
}

/// The words of a witness.
fn spelt<'w>(witness: &'w [Option<&'w str>], stranger: &'w str) -> Vec<&'w str> {
    witness.iter().map(|word| word.unwrap_or(stranger)).collect()
}

fn sequences(
    patterns: &[Numbered<'_, Pattern>],
    empty: bool,
    size: usize,
    budget: &mut Budget,
    text: impl Fn(&[&str]) -> String,
) -> Result<Vec<Told>, NotDecided> {
    let listed: Vec<_> = patterns.iter().map(parts).collect();
    let stranger = stranger(literals(&listed));
    let found = atoms(&listed, empty, budget)?;
    let told = |Atom { matching, witness }: &Atom<&str>| Told {
        matching: numbered(matching, |at| patterns.get(at).map(|pattern| pattern.number), size),
        asking: Bits::none(size),
        text: Some(text(&spelt(witness, &stranger))),
    };
    Ok(found.iter().map(told).collect())
}

/// Host, then port among what the host left, then path among what both left.
fn places_apart(
    kind: TargetKind,
    places: &[Numbered<'_, PlacePattern>],
    size: usize,
    budget: &mut Budget,
) -> Result<Vec<Told>, NotDecided> {
    // From the end, where hosts are literal: what their wildcards leave open comes last.
    let hosts: Vec<_> = places.iter().map(from_the_end).collect();
    let stranger_host = stranger(literals(&hosts));
    let mut found = Vec::new();
    for Atom { matching, witness } in atoms(&hosts, false, budget)? {
        let mut labels = spelt(&witness, &stranger_host);
        labels.reverse();
        let host = labels.join(".");
        let of_host: Vec<_> = matching.iter().filter_map(|at| places.get(at).copied()).collect();
        for (port, of_port) in ports_apart(kind, &of_host) {
            let at = Authority { kind, host: &host, port };
            let open: Vec<_> = of_port.iter().filter(|place| place.pattern.path.is_none()).collect();
            let with_path: Vec<_> = of_port.iter().filter_map(|place| place.map(|place| place.path.as_ref())).collect();
            let mut told = if kind == TargetKind::Url {
                sequences(&with_path, true, size, budget, |segments| at.written(segments))?
            } else {
                // Without a path it is one with no segments.
                let bare = with_path.iter().filter(|path| path.pattern.matches(core::iter::empty::<&str>()));
                let matching = every(bare.map(|path| path.number), size);
                vec![Told { matching, asking: Bits::none(size), text: Some(at.written(&[])) }]
            };
            if kind == TargetKind::Url && !with_path.is_empty() {
                let asking = every(with_path.iter().map(|path| path.number), size);
                let text = Some(format!("{}%", at.written(&["other"])));
                told.push(Told { matching: Bits::none(size), asking, text });
            }
            for Told { matching, asking, text } in told {
                let matching = matching.or(&every(open.iter().map(|place| place.number), size));
                found.push(Told { matching, asking, text });
            }
        }
    }
    let mut known = HashSet::new();
    found.retain(|told| known.insert((told.matching.clone(), told.asking.clone())));
    Ok(found)
}

/// A host's labels from the last to the first. Hosts, ports and paths are told apart one after the other, so none is alike.
fn from_the_end<'p>(place: &Numbered<'p, PlacePattern>) -> automaton::Pattern<&'p str> {
    let host = Numbered { number: place.number, pattern: &place.pattern.host, alike: None };
    let mut pattern = parts(&host);
    pattern.parts.reverse();
    // `One` before `Any`, which is the same set and fewer states.
    for run in pattern.parts.chunk_by_mut(|a, b| !matches!(a, Part::Exactly(_)) && !matches!(b, Part::Exactly(_))) {
        run.sort_unstable();
    }
    pattern
}

/// A port, if a target has one, and what matches it.
type OfPort<'p> = (Option<u16>, Vec<Numbered<'p, PlacePattern>>);

/// Every port that is named, and one that is not; for what need not have one, none too.
fn ports_apart<'p>(kind: TargetKind, places: &[Numbered<'p, PlacePattern>]) -> Vec<OfPort<'p>> {
    let named: BTreeSet<u16> = places.iter().filter_map(|place| place.pattern.port).collect();
    let other = [443, 80].into_iter().chain(8000..).find(|port| !named.contains(port));
    let none = matches!(kind, TargetKind::Service | TargetKind::Address).then_some(None);
    let some = other.into_iter().chain(named).filter(|_| kind != TargetKind::Address).map(Some);
    let of = |port: Option<u16>| {
        let fits = |place: &&Numbered<'_, PlacePattern>| place.pattern.port.is_none_or(|own| Some(own) == port);
        (port, places.iter().filter(fits).copied().collect())
    };
    none.into_iter().chain(some).map(of).collect()
}

/// Where a target is.
struct Authority<'h> {
    kind: TargetKind,
    host: &'h str,
    port: Option<u16>,
}

impl Authority<'_> {
    /// As a call's argument would say it.
    fn written(&self, segments: &[&str]) -> String {
        let Self { kind, host, port } = self;
        let host = if host.parse::<Ipv6Addr>().is_ok() { format!("[{host}]") } else { (*host).to_owned() };
        let path: String = segments.iter().flat_map(|segment| ["/".to_owned(), escaped(segment)]).collect();
        let path = if path.is_empty() { "/" } else { &path };
        match (kind, port) {
            (TargetKind::Url, Some(80)) => format!("http://{host}{path}"),
            (TargetKind::Url, Some(443) | None) => format!("https://{host}{path}"),
            (TargetKind::Url, Some(port)) => format!("https://{host}:{port}{path}"),
            (TargetKind::Address, _) => format!("somebody@{host}"),
            (TargetKind::Host, Some(443)) | (_, None) => host,
            (_, Some(port)) => format!("{host}:{port}"),
        }
    }
}

/// A path segment with what an address has no room for as escapes.
fn escaped(segment: &str) -> String {
    let mut text = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn texts(patterns: &[Numbered<'_, TargetPattern>], size: usize, budget: &mut Budget) -> Result<Vec<Told>, NotDecided> {
    let of = taken(patterns, |pattern| if let TargetPattern::Text(text) = pattern { Some(text) } else { None });
    let listed: Vec<_> = of.iter().map(characters).collect();
    let taken: BTreeSet<char> = literals(&listed).collect();
    // One of so many characters is in no pattern.
    let mut strangers = ('a'..='z').rev().chain('\u{4e00}'..='\u{9fff}').chain('\u{e000}'..='\u{f8ff}');
    let stranger = strangers.find(|character| !taken.contains(character)).ok_or(NotDecided)?;
    let found = atoms(&listed, true, budget)?;
    let told = |Atom { matching, witness }: &Atom<char>| Told {
        matching: numbered(matching, |at| of.get(at).map(|pattern| pattern.number), size),
        asking: Bits::none(size),
        text: Some(witness.iter().map(|character| character.unwrap_or(stranger)).collect()),
    };
    Ok(found.iter().map(told).collect())
}

fn characters(numbered: &Numbered<'_, TextPattern>) -> automaton::Pattern<char> {
    let mut parts = Vec::new();
    for (at, piece) in numbered.pattern.pieces().enumerate() {
        if at > 0 {
            parts.push(Part::Any);
        }
        parts.extend(piece.chars().map(Part::Exactly));
    }
    automaton::Pattern { parts, alike: numbered.alike }
}
