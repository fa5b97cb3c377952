//! A script's commands one after the other, each judged where it would run.

use std::collections::BTreeMap;

use super::reach::{Reached, base};
use super::script::{Script, Unread};
use super::site::{self, Site};
use super::word::Word;
use super::{Base, Judgement, MAX_COMMANDS, MAX_LOW_COMMANDS, Segment, Why, low, never};

/// Judges every command of a script, and whatever it runs.
///
/// # Errors
/// [`Unread`] when a script inside one cannot be followed to its end.
pub(super) fn judged(script: &Script, base: Base<'_>) -> Result<Judgement, Unread> {
    let start = Site::new(base);
    let first = Walk::over(script, &start)?;
    // What runs more than once, or later than it stands, may run wherever anything does.
    let walk = if first.wanders { Walk::over(script, &start.with(&first.everywhere)?)? } else { first };
    let Walk { mut why, unknown, segments, .. } = walk;
    if script.commands.len() > MAX_LOW_COMMANDS {
        why = why.max(Why::Many);
    }
    if script.elaborate {
        why = why.max(Why::Construct);
    }
    if script.bomb {
        why = Why::Never;
    }
    why = segments.iter().map(|segment| segment.why).fold(why, Why::max);
    Ok(Judgement { why, segments, unknown })
}

struct Walk<'a> {
    /// Where the commands of each scope run that has come up.
    sites: BTreeMap<usize, Site<'a>>,
    everywhere: Site<'a>,
    wanders: bool,
    why: Why,
    unknown: bool,
    segments: Vec<Segment>,
    /// Which segment has these words.
    known: BTreeMap<Vec<String>, usize>,
}

impl<'a> Walk<'a> {
    fn over(script: &Script, start: &Site<'a>) -> Result<Self, Unread> {
        let mut walk = Self {
            sites: BTreeMap::from([(0, start.clone())]),
            everywhere: start.clone(),
            wanders: script.wanders,
            why: start.itself(),
            unknown: false,
            segments: Vec::new(),
            known: BTreeMap::new(),
        };
        for simple in &script.commands {
            let before = walk.site(simple.scope, script);
            let mut reached = Reached::default();
            reached.add(&simple.words, &simple.fed, 0)?;
            walk.unknown |= reached.unknown;
            // A trap and an alias are told once, and run at another time.
            let later =
                |words: &Vec<Word>| words.first().is_some_and(|word| matches!(base(&word.text), "trap" | "alias"));
            walk.wanders |= reached.wanders || reached.commands.iter().any(later);
            if reached.bomb {
                walk.why = Why::Never;
            }
            let (mut after, mut during) = (before.clone(), before.clone());
            match site::goes(&simple.words) {
                Some(dir) => after.go(dir)?,
                None => {
                    for dir in reached.commands.iter().filter_map(|words| site::goes(words)) {
                        after.visit(dir)?;
                        during.visit(dir)?;
                    }
                }
            }
            for dir in reached.commands.iter().flat_map(|words| site::named(words)) {
                during.visit(&dir)?;
            }
            walk.redirects(simple, &before);
            for inside in &reached.inside {
                walk.redirects(inside, &during);
            }
            for words in &reached.commands {
                walk.segment(words, &during)?;
            }
            walk.everywhere = core::mem::replace(&mut walk.everywhere, start.clone()).with(&after)?;
            walk.sites.insert(simple.scope, after);
        }
        Ok(walk)
    }

    /// Where a scope's next command runs: where the one around it is, when it is its first.
    fn site(&self, scope: usize, script: &Script) -> Site<'a> {
        let mut around = scope;
        loop {
            match self.sites.get(&around) {
                Some(site) => return site.clone(),
                None => around = script.around(around),
            }
        }
    }

    fn redirects(&mut self, simple: &super::Simple, site: &Site<'_>) {
        if simple.assigned {
            self.why = self.why.max(Why::Environment);
        }
        for (direction, target) in &simple.redirects {
            self.why = self.why.max(never::redirected(*direction, target, site));
        }
    }

    fn segment(&mut self, words: &[Word], site: &Site<'_>) -> Result<(), Unread> {
        let looks = low::check(words, site).err().unwrap_or(Why::OnlyLooks);
        let why = looks.max(never::check(words, site)).max(site.itself());
        let words: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        match self.known.get(&words).and_then(|at| self.segments.get_mut(*at)) {
            Some(segment) => {
                segment.why = segment.why.max(why);
                segment.dirs.extend(site.dirs());
            }
            None => {
                if self.segments.len() >= MAX_COMMANDS {
                    return Err(Unread::TooMany);
                }
                self.known.insert(words.clone(), self.segments.len());
                self.segments.push(Segment { words, why, dirs: site.dirs().collect() });
            }
        }
        Ok(())
    }
}
