//! Where a command would run: what its relative words are relative to.

use super::paths::{self, Place};
use super::reach::base;
use super::script::Unread;
use super::tables::is_listed_low;
use super::word::Word;
use super::{Base, Why};
use capability_core::handle::{is_protected_path, is_sensitive_path};

/// The most directories that one script goes to.
const MAX_PLACES: usize = 32;
/// The longest path of one, in bytes.
const MAX_LENGTH: usize = 1024;

/// Directories that a command may run in, each relative to the workspace's root: empty for the root, with `..` in front for what is
/// outside. Whether a `cd` succeeds is not known before, so that a place that was left counts on: going somewhere only adds.
#[derive(Debug, Clone)]
pub(super) struct Site<'a> {
    root: &'a str,
    /// Where it is when every `cd` that can be followed succeeds.
    now: String,
    been: Vec<String>,
}

impl<'a> Site<'a> {
    pub(super) fn new(base: Base<'a>) -> Self {
        let mut site = Self { root: base.root, now: String::new(), been: Vec::new() };
        site.now = site.joined(base.workdir).unwrap_or_default();
        site.been.push(site.now.clone());
        site
    }

    /// The same, where every place of the other may be it too.
    pub(super) fn with(mut self, other: &Self) -> Result<Self, Unread> {
        for dir in &other.been {
            self.remember(dir.clone())?;
        }
        Ok(self)
    }

    /// Every directory of it.
    pub(super) fn dirs(&self) -> impl Iterator<Item = String> {
        self.been.iter().cloned()
    }

    /// Where a path leads. That a command may be outside by then is not looked at: the place it runs in holds that.
    pub(super) fn place(&self, path: &str, literal: bool) -> Place {
        paths::place(path, self.root, literal)
    }

    /// Whether its name, from the root on, says that it often holds secrets.
    pub(super) fn is_sensitive(&self, word: &str) -> bool {
        self.any(word, is_sensitive_path)
    }

    /// Whether nothing may write there.
    pub(super) fn is_protected(&self, word: &str) -> bool {
        self.any(word, is_protected_path)
    }

    fn any(&self, word: &str, is: fn(&str) -> bool) -> bool {
        paths::paths(word).any(|path| {
            is(path)
                || (follows(path)
                    && !path.starts_with('/')
                    && self.been.iter().any(|dir| !dir.is_empty() && is(&format!("{dir}/{path}"))))
        })
    }

    /// What running there makes of any command.
    pub(super) fn itself(&self) -> Why {
        if self.been.iter().any(|dir| is_sensitive_path(dir)) {
            Why::Sensitive
        } else if self.been.iter().any(|dir| is_protected_path(dir)) {
            Why::InProtected
        } else {
            Why::OnlyLooks
        }
    }

    /// A directory that it may run in besides.
    pub(super) fn visit(&mut self, dir: &Word) -> Result<(), Unread> {
        match self.joined(&dir.text).filter(|_| dir.literal) {
            Some(dir) => self.remember(dir),
            None => Ok(()),
        }
    }

    /// What follows runs there.
    pub(super) fn go(&mut self, dir: &Word) -> Result<(), Unread> {
        self.visit(dir)?;
        if let Some(now) = self.joined(&dir.text).filter(|_| dir.literal) {
            self.now = now;
        }
        Ok(())
    }

    fn remember(&mut self, dir: String) -> Result<(), Unread> {
        if dir.len() > MAX_LENGTH {
            return Err(Unread::TooDeep);
        }
        if !self.been.contains(&dir) {
            self.been.push(dir);
        }
        if self.been.len() > MAX_PLACES { Err(Unread::TooMany) } else { Ok(()) }
    }

    /// A path from the root on, as its text says; none for what is computed.
    fn joined(&self, path: &str) -> Option<String> {
        if !follows(path) {
            return None;
        }
        let (mut parts, path): (Vec<&str>, &str) = match path.strip_prefix('/') {
            None => (self.now.split('/').filter(|part| !part.is_empty()).collect(), path),
            Some(absolute) => match path.strip_prefix(self.root) {
                Some(below) if !self.root.is_empty() && (below.is_empty() || below.starts_with('/')) => {
                    (Vec::new(), below)
                }
                _ => (vec![".."], absolute),
            },
        };
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            match parts.last() {
                Some(last) if part == ".." && *last != ".." => drop(parts.pop()),
                _ => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }
}

/// Whether a path says by its text where it leads.
fn follows(path: &str) -> bool {
    !path.starts_with(['~', '$', '`', '-'])
}

/// Where a command takes what follows it; nothing for what stays where it is, or says nothing that can be followed.
pub(super) fn goes(words: &[Word]) -> Option<&Word> {
    let (program, rest) = words.split_first()?;
    let goes = matches!(base(&program.text), "cd" | "chdir" | "pushd");
    rest.iter().find(|word| goes && !word.text.starts_with(['-', '+']))
}

/// The directories that a command's own options have it, or what it runs, run in.
pub(super) fn named(words: &[Word]) -> Vec<Word> {
    const OPTIONS: &[&str] = &[
        "-C",
        "--chdir",
        "--directory",
        "--cwd",
        "--cd",
        "--prefix",
        "--git-dir",
        "--work-tree",
        "--working-directory",
    ];
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let name = base(&program.text);
    let mut dirs: Vec<Word> = Vec::new();
    if name == "find" && rest.iter().any(|word| matches!(word.text.as_str(), "-execdir" | "-okdir")) {
        dirs.extend(rest.iter().take_while(|word| !word.text.starts_with('-')).cloned());
    }
    // What only looks has options of its own by these names.
    if is_listed_low(name) {
        return dirs;
    }
    for (at, word) in rest.iter().enumerate() {
        let part = |text: &str| Word { text: text.to_owned(), ..word.clone() };
        match word.text.split_once('=') {
            Some((option, dir)) if OPTIONS.contains(&option) => dirs.push(part(dir)),
            _ if OPTIONS.contains(&word.text.as_str()) || (word.text == "-D" && matches!(name, "sudo" | "doas")) => {
                dirs.extend(rest.get(at + 1).cloned());
            }
            _ => dirs.extend(word.text.strip_prefix("-C").map(part)),
        }
    }
    dirs
}
