//! What a command would do, judged by its text before anybody is asked.
//!
//! Three answers: `low` for what is known to only look, `block` for what is never run, and `high` for everything else, which is
//! whatever is not fully understood. Nothing here runs anything, and nothing here is trusted to hold a command back: the kernel
//! does that. This decides what a person is told, what is refused without asking, and which commands an operator's rules are held
//! against: [`Judgement::commands`] has every one that would be run, through wrappers, shells, substitutions and paths.

mod low;
mod never;
mod paths;
mod reach;
mod script;
mod site;
mod tables;
mod walk;
mod word;

use std::borrow::Cow;
use std::collections::BTreeSet;

use capability_core::{Concern, Raise};
use unicode_normalization::UnicodeNormalization;

pub use script::{Direction, MAX_DEPTH, Script, Simple, Unread};
pub use word::Word;

/// Where a command would run: what its relative paths are relative to.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    /// The workspace's own path, empty when it is not known.
    pub root: &'a str,
    /// The directory, relative to that root; `.` for the root itself.
    pub workdir: &'a str,
}

/// The most commands of one script.
pub const MAX_COMMANDS: usize = 256;
/// How many commands a script may have and still be `low`: more than that nobody reads one by one.
pub const MAX_LOW_COMMANDS: usize = 50;

/// What a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Known to only look.
    Low,
    /// Whatever is not known to only look.
    High,
    /// Never run.
    Block,
}

impl Class {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::High => "high",
            Self::Block => "block",
        }
    }
}

/// Why a command is what it is; the later, the graver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// It is known, with every option and operand.
    OnlyLooks,
    /// Its name is not in the list.
    UnknownCommand,
    /// An option or operand is not in the list.
    UnknownOption,
    /// It stands in a construct of the shell's language.
    Construct,
    /// There are too many to be read one by one.
    Many,
    /// A part of it is only known when it runs.
    Computed,
    /// It has characters that are not shown, or that other characters are taken for.
    OddCharacters,
    /// It changes the environment of what it runs.
    Environment,
    /// It writes.
    Writes,
    /// It runs a file by its path.
    RunsFile,
    /// It reads outside the workspace.
    ReadsOutside,
    /// It runs in a directory where nothing may be changed.
    InProtected,
    /// It names a path that often holds secrets, or runs in one.
    Sensitive,
    /// It writes outside the workspace.
    WritesOutside,
    /// It writes to what is protected.
    WritesProtected,
    /// It is never run.
    Never,
}

impl Why {
    /// In words, for whoever is asked.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OnlyLooks => "only looks",
            Self::UnknownCommand => "not in the list of commands that only look",
            Self::UnknownOption => "an option or operand is not in the list",
            Self::Construct => "more than words and separators",
            Self::Many => "more commands than are read one by one",
            Self::Computed => "a part is only known when it runs",
            Self::OddCharacters => "characters that are not shown, or look like others",
            Self::Environment => "changes the environment",
            Self::Writes => "writes",
            Self::RunsFile => "runs a file by its path",
            Self::ReadsOutside => "reads outside the workspace",
            Self::InProtected => "runs where nothing may be changed",
            Self::Sensitive => "names a path that often holds secrets",
            Self::WritesOutside => "writes outside the workspace",
            Self::WritesProtected => "writes to what is protected",
            Self::Never => "never run",
        }
    }

    /// What it makes of a command.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::OnlyLooks => Class::Low,
            Self::WritesOutside | Self::WritesProtected | Self::Never => Class::Block,
            _ => Class::High,
        }
    }

    /// What it raises the verdict to.
    #[must_use]
    pub const fn raise(self) -> Option<Raise> {
        match self {
            Self::OnlyLooks => None,
            Self::Never => Some(Raise::deny(Concern::GuardBlock)),
            Self::WritesOutside => Some(Raise::deny(Concern::OutsideWorkspace)),
            Self::WritesProtected => Some(Raise::deny(Concern::ProtectedPath)),
            Self::InProtected => Some(Raise::ask_fresh(Concern::ProtectedPath)),
            Self::Sensitive => Some(Raise::ask_fresh(Concern::SensitivePath)),
            Self::ReadsOutside => Some(Raise::ask_fresh(Concern::OutsideWorkspace)),
            _ => Some(Raise::ask_fresh(Concern::GuardHigh)),
        }
    }
}

/// One command of what was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Its words, as they would be passed.
    pub words: Vec<String>,
    /// The gravest thing about it.
    pub why: Why,
    /// The directories that it may run in, from the workspace's root on: empty for the root itself, with `..` in front outside.
    pub dirs: BTreeSet<String>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The gravest thing about all of it.
    pub why: Why,
    /// Every command, as it stands and as it is run by another.
    pub segments: Vec<Segment>,
    /// Whether a command is run whose name is only known then.
    pub unknown: bool,
}

impl Judgement {
    /// What it is as a whole.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.why.class()
    }

    /// Every command that would be run, as its words, each once.
    pub fn commands(&self) -> impl Iterator<Item = &[String]> {
        self.segments.iter().map(|segment| segment.words.as_slice())
    }

    fn join(&mut self, other: Self) {
        self.why = self.why.max(other.why);
        self.unknown |= other.unknown;
        let known: BTreeSet<Vec<String>> = self.segments.iter().map(|segment| segment.words.clone()).collect();
        self.segments.extend(other.segments.into_iter().filter(|segment| !known.contains(&segment.words)));
    }
}

/// Judges a script, as `bash` would read it.
///
/// # Errors
/// [`Unread`] when it cannot be followed to its end: then it is not run.
pub fn judge_script(text: &str, base: Base<'_>) -> Result<Judgement, Unread> {
    let mut judgement = of_script(text, base)?;
    for candidate in candidates(text) {
        judgement.why = judgement.why.max(Why::OddCharacters);
        // What it might be taken for may be no script at all.
        if let Ok(other) = of_script(&candidate, base) {
            judgement.join(other);
        }
    }
    Ok(judgement)
}

/// Judges a command given as its words, which no shell reads.
///
/// # Errors
/// [`Unread`] when a script that is handed to a shell cannot be followed to its end.
pub fn judge_argv(argv: &[String], base: Base<'_>) -> Result<Judgement, Unread> {
    let mut judgement = of_argv(argv, base)?;
    let mut odd = [Vec::new(), Vec::new()];
    let mut any = false;
    for word in argv {
        let others: Vec<String> = candidates(word).collect();
        any |= !others.is_empty();
        for (at, list) in odd.iter_mut().enumerate() {
            list.push(others.get(at).or_else(|| others.first()).unwrap_or(word).clone());
        }
    }
    if any {
        judgement.why = judgement.why.max(Why::OddCharacters);
        for other in odd.iter().filter_map(|argv| of_argv(argv, base).ok()) {
            judgement.join(other);
        }
    }
    Ok(judgement)
}

fn of_argv(argv: &[String], base: Base<'_>) -> Result<Judgement, Unread> {
    let words = argv.iter().map(|text| Word { text: text.clone(), literal: true, quoted: true, assigns: false });
    walk::judged(&Script::of_words(words.collect()), base)
}

fn of_script(text: &str, base: Base<'_>) -> Result<Judgement, Unread> {
    walk::judged(&Script::read(text)?, base)
}

/// What a text might be taken for: without terminal sequences and unseen characters, and with each character in its plain form.
/// They only add to what was found in the text itself.
fn candidates(text: &str) -> impl Iterator<Item = String> {
    let stripped = stripped(text);
    let plain: String = stripped.nfkc().collect();
    let mut found: Vec<String> = Vec::new();
    for candidate in [stripped.into_owned(), plain] {
        if candidate != text && !found.contains(&candidate) {
            found.push(candidate);
        }
    }
    found.into_iter()
}

/// Without terminal sequences, control characters besides line break and tab, and characters that take no room.
fn stripped(text: &str) -> Cow<'_, str> {
    let unseen = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}')
    };
    if !text.chars().any(unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {}
            }
            '\u{1b}' if chars.peek() == Some(&']') => {
                while chars.next().is_some_and(|c| c != '\u{7}' && c != '\u{1b}' && c != '\u{9c}') {}
            }
            '\u{9b}' => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            c if unseen(c) => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests;
