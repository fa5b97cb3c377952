//! Which rules can be about a call, without looking at all of them.
//!
//! Rules lie in buckets by what they say of the capability. A bucket of few is walked; a larger one is entered through one
//! literal that each of its rules needs: a label or segment of its target, or its subject. Rules without one are always
//! looked at. The index only leaves out rules that cannot match, so it decides nothing.

use core::hash::BuildHasher as _;
use std::borrow::Cow;

use hashbrown::{DefaultHashBuilder, HashMap};

use super::pattern::{Pattern, Token};
use super::selector::{CapabilityPattern, Selector};
use super::set::CompiledRule;
use super::targets::{Acted, TargetPattern, Unreadable};

/// Up to how many rules a bucket is walked.
const FEW: usize = 32;

/// The buckets of one source.
#[derive(Debug)]
pub(super) struct Index {
    any: Bucket,
    families: HashMap<Box<str>, Bucket>,
    names: HashMap<Box<str>, Bucket>,
    hashing: DefaultHashBuilder,
}

#[derive(Debug, Default)]
struct Bucket {
    /// Ascending.
    all: Vec<u32>,
    /// Only for more than a few.
    keyed: Option<Keyed>,
}

#[derive(Debug, Default)]
struct Keyed {
    /// Those without a key.
    loose: Vec<u32>,
    by_key: HashMap<u64, Vec<u32>>,
}

/// What a key is the literal of.
#[derive(Hash, Clone, Copy)]
enum Kind {
    Suffix,
    PlaceSegment,
    Segment,
    Word,
    Subject,
}

impl Index {
    pub(super) fn of(rules: &[CompiledRule]) -> Self {
        let mut index = Self {
            any: Bucket::default(),
            families: HashMap::new(),
            names: HashMap::new(),
            hashing: DefaultHashBuilder::default(),
        };
        for (compiled, at) in rules.iter().zip(0_u32..) {
            let bucket = match &compiled.rule.selector.capability {
                CapabilityPattern::Any => &mut index.any,
                CapabilityPattern::Family(family) => index.families.entry(family.clone()).or_default(),
                CapabilityPattern::Name(name) | CapabilityPattern::Scoped { name, .. } => {
                    index.names.entry(name.clone()).or_default()
                }
            };
            bucket.all.push(at);
        }
        let Self { any, families, names, hashing } = &mut index;
        for bucket in core::iter::once(any).chain(families.values_mut()).chain(names.values_mut()) {
            bucket.key(rules, hashing);
        }
        index
    }

    /// Calls `each` with every rule that can be about a call, in an order that means nothing. `acted` is asked only where it
    /// helps; a target that cannot be read leaves nothing out.
    pub(super) fn candidates<'a>(
        &self,
        name: &str,
        subject: &str,
        acted: impl Fn() -> Option<&'a Result<Acted<'a>, Unreadable>>,
        mut each: impl FnMut(u32),
    ) {
        let mut walk = |bucket: &Bucket| match &bucket.keyed {
            None => bucket.all.iter().for_each(|at| each(*at)),
            Some(keyed) => match acted() {
                Some(Err(Unreadable)) => bucket.all.iter().for_each(|at| each(*at)),
                Some(Ok(acted)) => keyed.probe(&self.hashing, subject, Some(acted), &mut each, &bucket.all),
                None => keyed.probe(&self.hashing, subject, None, &mut each, &bucket.all),
            },
        };
        walk(&self.any);
        if !self.families.is_empty() {
            for (dot, _) in name.bytes().enumerate().filter(|(_, byte)| *byte == b'.') {
                if let Some(bucket) = name.get(..dot).and_then(|family| self.families.get(family)) {
                    walk(bucket);
                }
            }
        }
        if let Some(bucket) = self.names.get(name) {
            walk(bucket);
        }
    }
}

impl Bucket {
    fn key(&mut self, rules: &[CompiledRule], hashing: &DefaultHashBuilder) {
        if self.all.len() <= FEW {
            return;
        }
        let mut keyed = Keyed::default();
        for at in &self.all {
            let rule = usize::try_from(*at).ok().and_then(|at| rules.get(at));
            match rule.and_then(|compiled| key_of(&compiled.rule.selector)) {
                Some(key) => keyed.by_key.entry(hashing.hash_one(key)).or_default().push(*at),
                None => keyed.loose.push(*at),
            }
        }
        self.keyed = Some(keyed);
    }
}

impl Keyed {
    fn probe(
        &self,
        hashing: &DefaultHashBuilder,
        subject: &str,
        acted: Option<&Acted<'_>>,
        each: &mut impl FnMut(u32),
        all: &[u32],
    ) {
        let hit = |kind: Kind, literal: &str| self.by_key.get(&hashing.hash_one((kind, literal)));
        // A path that cannot be read may be asked about by any rule.
        let place = match acted {
            Some(Acted::Place(place)) => match place.segments() {
                Ok(segments) => Some((place, segments)),
                Err(Unreadable) => return all.iter().for_each(|at| each(*at)),
            },
            _ => None,
        };
        self.loose.iter().for_each(|at| each(*at));
        hit(Kind::Subject, subject).into_iter().flatten().for_each(|at| each(*at));
        let mut probe = |kind, literal: &str| hit(kind, literal).into_iter().flatten().for_each(|at| each(*at));
        match acted {
            Some(Acted::Place(_)) => {
                let Some((place, segments)) = place else { return };
                place.suffixes().for_each(|suffix| probe(Kind::Suffix, suffix));
                distinct(segments.iter().map(AsRef::as_ref), |segment| probe(Kind::PlaceSegment, segment));
            }
            Some(Acted::Path(segments)) => distinct(segments.iter().copied(), |segment| probe(Kind::Segment, segment)),
            Some(Acted::Argv(words)) => distinct(words.iter().map(String::as_str), |word| probe(Kind::Word, word)),
            Some(Acted::Text(_)) | None => {}
        }
    }
}

/// Each text once: no rule is to be met twice.
fn distinct<'a>(texts: impl Iterator<Item = &'a str> + Clone, each: impl FnMut(&'a str)) {
    let many = texts.clone().count();
    if many <= FEW {
        let first = |(at, text): &(usize, &str)| !texts.clone().take(*at).any(|before| before == *text);
        return texts.clone().enumerate().filter(first).map(|(_, text)| text).for_each(each);
    }
    let mut sorted: Vec<&str> = texts.collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.into_iter().for_each(each);
}

/// One literal without which the selector cannot match: the one that most likely tells it apart.
fn key_of(selector: &Selector) -> Option<(Kind, Cow<'_, str>)> {
    let of_target = match &selector.target {
        Some(TargetPattern::Place(place)) => match suffix(&place.host) {
            Some(suffix) => Some((Kind::Suffix, suffix.into())),
            None => place.path.as_ref().and_then(longest).map(|segment| (Kind::PlaceSegment, segment.into())),
        },
        Some(TargetPattern::Path(path)) => longest(path).map(|segment| (Kind::Segment, segment.into())),
        Some(TargetPattern::Argv(argv)) => longest(argv).map(|word| (Kind::Word, word.into())),
        Some(TargetPattern::Text(_)) | None => None,
    };
    of_target.or_else(|| selector.subject.as_ref().map(|subject| (Kind::Subject, subject.as_str().into())))
}

/// What a host must end in; wildcards only lead.
fn suffix(host: &Pattern) -> Option<String> {
    let suffix: Vec<_> = literals(host).collect();
    (!suffix.is_empty()).then(|| suffix.join("."))
}

fn longest(pattern: &Pattern) -> Option<&str> {
    literals(pattern).max_by_key(|literal| literal.len())
}

fn literals(pattern: &Pattern) -> impl Iterator<Item = &str> {
    pattern.tokens().iter().filter_map(|token| match token {
        Token::Literal(literal) => Some(&**literal),
        Token::One | Token::Many => None,
    })
}
