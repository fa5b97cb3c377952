//! What is different from the last time: two argument texts by key, two texts by line and word.

use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, DiffOp, TextDiff, capture_diff_slices_deadline};

use super::arguments::{Item, Key, Node, Value};

/// The most bytes of either side that are compared at all.
const MOST_BYTES: usize = 1 << 20;
/// The most bytes of either side whose words are compared; beyond, lines are.
const MOST_BYTES_BY_WORD: usize = 16 << 10;
/// The most differences that are told; beyond, nobody reads them one by one.
const MOST_CHANGES: usize = 2000;
/// The most lines of a difference of two texts.
const MOST_LINES: usize = 2000;
/// When a finer comparison is given up for a coarser one, which is as true.
const PATIENCE: Duration = Duration::from_millis(150);
/// Equal lines around a change that are kept.
const CONTEXT: usize = 3;

/// What is different between two argument texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// They can be compared: these values differ, and so many are the same.
    Of {
        /// What differs, in the order of the later text; what was removed where it stood.
        changes: Vec<Change>,
        /// Values without values in them that are the same.
        same: usize,
    },
    /// One is no JSON, or they are too large, or differ in too much to be told.
    TooMuch,
}

/// One value that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// From the outermost value to it.
    pub path: Vec<Key>,
    /// What happened to it.
    pub what: What,
}

/// What happened to a value. Lists and objects that were added or removed are told as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// It was not there.
    Added(Value),
    /// It is no longer there.
    Removed(Value),
    /// It is another one.
    Changed {
        /// As it was.
        before: Value,
        /// As it is.
        after: Value,
        /// The difference of two texts, part by part.
        parts: Option<Parts>,
    },
}

/// The difference of two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parts {
    /// Of one line each: parts of it, in order.
    Words(Vec<Part>),
    /// Line by line, without line breaks.
    Lines(Vec<LinePart>),
    /// More lines than anybody reads one by one.
    TooMany,
}

/// Where a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// In both.
    Both,
    /// Only in the earlier text.
    Before,
    /// Only in the later text.
    After,
}

impl Side {
    /// One word, for a class or an attribute.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Both => "same",
            Self::Before => "removed",
            Self::After => "added",
        }
    }

    const fn of(tag: ChangeTag) -> Self {
        match tag {
            ChangeTag::Equal => Self::Both,
            ChangeTag::Delete => Self::Before,
            ChangeTag::Insert => Self::After,
        }
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Where it stands.
    pub side: Side,
    /// The part.
    pub text: String,
}

/// A line, or some that are the same in both and far from any change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinePart {
    /// A line.
    Line(Part),
    /// So many lines that are the same.
    Skipped(usize),
}

/// Compares two argument texts, the earlier first. Bounded in time and size whatever they are.
#[must_use]
pub fn arguments(before: &str, after: &str) -> Difference {
    let deadline = Instant::now() + PATIENCE;
    if before.len() > MOST_BYTES || after.len() > MOST_BYTES {
        return Difference::TooMuch;
    }
    let (Some(old), Some(new)) = (Node::read(before), Node::read(after)) else { return Difference::TooMuch };
    let mut comparison = Comparison { changes: Vec::new(), same: 0, path: Vec::new(), deadline };
    match comparison.compare(Sided { text: before, node: &old }, Sided { text: after, node: &new }) {
        Some(()) => Difference::Of { changes: comparison.changes, same: comparison.same },
        None => Difference::TooMuch,
    }
}

/// Compares two texts; `None` when they are the same.
#[must_use]
pub fn texts(before: &str, after: &str) -> Option<Parts> {
    compare_texts(before, after, Instant::now() + PATIENCE)
}

/// A value with its exact text.
#[derive(Clone, Copy)]
struct Sided<'t> {
    text: &'t str,
    node: &'t Node<'t>,
}

impl<'t> From<&'t Item<'t>> for Sided<'t> {
    fn from(item: &'t Item<'t>) -> Self {
        Self { text: item.text, node: &item.node }
    }
}

impl Sided<'_> {
    fn value(self) -> Value {
        match self.node {
            Node::List(_) | Node::Object(_) => Value::Literal(self.text.to_owned()),
            node => node.value(),
        }
    }

    /// How many values without values in them it holds.
    fn leaves(node: &Node<'_>) -> usize {
        match node {
            Node::Literal(_) | Node::Text(_) => 1,
            Node::List(items) => items.iter().map(|item| Self::leaves(&item.node)).sum(),
            Node::Object(entries) => entries.iter().map(|(_, item)| Self::leaves(&item.node)).sum(),
        }
    }
}

struct Comparison {
    changes: Vec<Change>,
    same: usize,
    path: Vec<Key>,
    deadline: Instant,
}

impl Comparison {
    /// `None` when there is too much to tell.
    fn compare(&mut self, old: Sided<'_>, new: Sided<'_>) -> Option<()> {
        if old.text == new.text {
            self.same += Sided::leaves(new.node);
            return Some(());
        }
        match (old.node, new.node) {
            (Node::Object(old), Node::Object(new)) => self.objects(old, new),
            (Node::List(old), Node::List(new)) => self.lists(old, new),
            (Node::Text(before), Node::Text(after)) => {
                let parts = compare_texts(before, after, self.deadline);
                // Another spelling of the same text.
                if parts.is_none() {
                    self.same += 1;
                    return Some(());
                }
                self.add(What::Changed { before: old.value(), after: new.value(), parts })
            }
            _ => self.add(What::Changed { before: old.value(), after: new.value(), parts: None }),
        }
    }

    fn objects(&mut self, old: &[(String, Item<'_>)], new: &[(String, Item<'_>)]) -> Option<()> {
        let known: std::collections::HashMap<&str, &Item<'_>> =
            old.iter().map(|(name, item)| (name.as_str(), item)).collect();
        let mut left = known.clone();
        for (name, item) in new {
            left.remove(name.as_str());
            self.within(Key::Name(name.clone()), |this| match known.get(name.as_str()) {
                Some(before) => this.compare((*before).into(), item.into()),
                None => this.add(What::Added(Sided::from(item).value())),
            })?;
        }
        for (name, item) in old.iter().filter(|(name, _)| left.contains_key(name.as_str())) {
            self.within(Key::Name(name.clone()), |this| this.add(What::Removed(Sided::from(item).value())))?;
        }
        Some(())
    }

    fn lists(&mut self, old: &[Item<'_>], new: &[Item<'_>]) -> Option<()> {
        let texts = |items: &[Item<'_>]| items.iter().map(|item| item.text.to_owned()).collect::<Vec<_>>();
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &texts(old), &texts(new), Some(self.deadline));
        for op in ops {
            let before = old.get(op.old_range()).unwrap_or_default();
            let after = new.get(op.new_range()).unwrap_or_default();
            if let DiffOp::Equal { .. } = op {
                self.same += after.iter().map(|item| Sided::leaves(&item.node)).sum::<usize>();
                continue;
            }
            // What stands in the place of another is compared with it.
            let pairs = before.len().min(after.len());
            for (at, (one, other)) in before.iter().zip(after).enumerate() {
                self.within(Key::Index(op.new_range().start + at), |this| this.compare(one.into(), other.into()))?;
            }
            for (at, item) in before.iter().enumerate().skip(pairs) {
                let removed = What::Removed(Sided::from(item).value());
                self.within(Key::Index(op.old_range().start + at), |this| this.add(removed))?;
            }
            for (at, item) in after.iter().enumerate().skip(pairs) {
                let added = What::Added(Sided::from(item).value());
                self.within(Key::Index(op.new_range().start + at), |this| this.add(added))?;
            }
        }
        Some(())
    }

    fn within<T>(&mut self, key: Key, then: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(key);
        let done = then(self);
        self.path.pop();
        done
    }

    fn add(&mut self, what: What) -> Option<()> {
        self.changes.push(Change { path: self.path.clone(), what });
        (self.changes.len() <= MOST_CHANGES).then_some(())
    }
}

fn compare_texts(before: &str, after: &str, deadline: Instant) -> Option<Parts> {
    if before == after {
        return None;
    }
    let by_word =
        !before.contains('\n') && !after.contains('\n') && before.len().max(after.len()) <= MOST_BYTES_BY_WORD;
    let mut config = TextDiff::configure();
    config.deadline(deadline);
    if by_word {
        let diff = config.diff_words(before, after);
        let mut parts: Vec<Part> = Vec::new();
        for change in diff.iter_all_changes() {
            let (side, text) = (Side::of(change.tag()), change.value());
            match parts.last_mut() {
                Some(last) if last.side == side => last.text.push_str(text),
                _ => parts.push(Part { side, text: text.to_owned() }),
            }
        }
        return Some(Parts::Words(parts));
    }
    // Split by hand: other line breaks are no lines here either.
    let (old, new): (Vec<_>, Vec<_>) = (before.split('\n').collect(), after.split('\n').collect());
    let diff = config.diff_slices(&old, &new);
    let mut parts = Vec::new();
    let mut told = 0;
    let line = |side, text: &&str| LinePart::Line(Part { side, text: (*text).to_owned() });
    for group in diff.grouped_ops(CONTEXT) {
        let from = group.first().map_or(told, |op| op.new_range().start);
        parts.extend((from > told).then_some(LinePart::Skipped(from - told)));
        for op in &group {
            if let DiffOp::Equal { .. } = op {
                parts.extend(new.get(op.new_range()).unwrap_or_default().iter().map(|text| line(Side::Both, text)));
            } else {
                parts.extend(old.get(op.old_range()).unwrap_or_default().iter().map(|text| line(Side::Before, text)));
                parts.extend(new.get(op.new_range()).unwrap_or_default().iter().map(|text| line(Side::After, text)));
            }
            told = op.new_range().end;
        }
    }
    parts.extend((new.len() > told).then_some(LinePart::Skipped(new.len() - told)));
    Some(if parts.len() > MOST_LINES { Parts::TooMany } else { Parts::Lines(parts) })
}

/// A preview that is a unified diff, line by line: its heads are in both. `None` when it is none to the letter, as a text that
/// only looks like one here and there must not be coloured.
#[must_use]
pub fn unified(text: &str) -> Option<Vec<(Side, &str)>> {
    let mut shown = Vec::new();
    let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n').peekable();
    let mut hunks = 0;
    while let Some(line) = lines.next() {
        shown.push((Side::Both, line));
        if line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ ")) {
            shown.extend(lines.next().map(|head| (Side::Both, head)));
            continue;
        }
        // Only heads stand outside of hunks.
        let (mut before, mut after) = hunk(line)?;
        hunks += 1;
        while before > 0 || after > 0 {
            let line = lines.next()?;
            let (side, of_before, of_after) = match line.bytes().next() {
                Some(b'-') => (Side::Before, 1, 0),
                Some(b'+') => (Side::After, 0, 1),
                Some(b' ') | None => (Side::Both, 1, 1),
                Some(b'\\') => (Side::Both, 0, 0),
                Some(_) => return None,
            };
            before = usize::checked_sub(before, of_before)?;
            after = usize::checked_sub(after, of_after)?;
            shown.push((side, line));
        }
        shown.extend(lines.next_if(|line| line.starts_with('\\')).map(|line| (Side::Both, line)));
    }
    (hunks > 0).then_some(shown)
}

/// How many lines of either side a hunk has: `@@ -1,2 +1,3 @@`.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let (before, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (after, _) = rest.split_once(" @@")?;
    let count = |range: &str| match range.split_once(',') {
        Some((from, count)) => from.parse::<usize>().ok().and(count.parse().ok()),
        None => range.parse::<usize>().ok().map(|_| 1),
    };
    Some((count(before)?, count(after)?))
}
