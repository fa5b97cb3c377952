//! A unified difference, read strictly: what is not understood is refused, with the line it stands in.

use core::fmt;

use capability_core::handle::{MAX_CHANGES, is_plain_path};

/// The most parts of a difference.
const MAX_HUNKS: usize = 1000;
/// What stands for a file that is not there.
const NOTHING: &str = "/dev/null";

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch<'p> {
    pub path: &'p str,
    pub what: What,
    pub hunks: Vec<Hunk<'p>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Create,
    Change,
    Remove,
}

/// Lines that stand together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'p> {
    /// Where it stands in the patch, counted from 1.
    pub at: usize,
    /// How many lines of the file stand before it, by its own word.
    pub before: usize,
    pub lines: Vec<Line<'p>>,
}

/// One line, without its sign and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'p> {
    pub side: Side,
    pub text: &'p str,
    /// Whether it says of itself that the file ends in it, without a line break.
    pub last: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Both,
    Before,
    After,
}

/// What is wrong with a patch, and where. It holds nothing of what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchFault {
    /// The line of the patch, counted from 1.
    pub line: usize,
    pub rule: Rule,
}

macro_rules! rules {
    ($($rule:ident $what:literal, help $help:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Rule { $($rule),+ }

        impl Rule {
            const fn words(self) -> (&'static str, &'static str) {
                match self { $(Self::$rule => ($what, $help)),+ }
            }
        }
    };
}

rules! {
    Empty "the patch has no file in it", help "write a unified diff: `--- a/x`, `+++ b/x`, `@@ -1,2 +1,3 @@`";
    Stray "is neither the head of a file nor a part of one", help "write the diff alone, without fences and remarks, and count the lines of each `@@` right";
    Heads "has a `---` without the `+++` that belongs to it", help "write both, one below the other, before the first `@@`";
    Name "names no plain path", help "write it as in `--- a/notes/today.md`, from the directory that `path` names: no quotes, no `..`";
    Renamed "names two files", help "remove one and make the other";
    Mode "is about a mode, a link or a copy", help "leave it out: a patch changes what stands in files, and nothing else";
    Binary "is about a file that is no text", help "write such a file with `fs.write` and base64";
    Twice "is about a file that the patch has been about already", help "write all changes of a file together";
    Hunk "is no `@@ -1,2 +1,3 @@`", help "write the first line and how many, of the old file and of the new one";
    Short "ends before its lines do", help "count the lines of the `@@` right: those with ` ` and `-` are the old ones, those with ` ` and `+` the new ones";
    Sign "begins with none of ` `, `-`, `+` and `\\`", help "write the sign before each line, and count the lines of the `@@` right";
    NoChange "changes nothing", help "write at least one line with `-` or `+`";
    TooMany "is one file or one part too many", help "at most 64 files and 1000 parts go into one patch";
    Absent "is about a file that is not there", help "list the directory, or write `--- /dev/null` to make it";
    Present "makes a file that is there", help "write the difference to what stands in it";
    NoMatch "does not fit: its old lines do not stand in the file", help "read the file again, and write its lines as they are";
    Ambiguous "does not fit where it says, and fits in more than one place", help "write more of the lines around it";
    NoText "is about a file that is no text in UTF-8", help "write such a file with `fs.write` and base64";
    LeftOver "removes a file and leaves some of its lines", help "write all of its lines with `-`";
}

impl PatchFault {
    pub const fn new(line: usize, rule: Rule) -> Self {
        Self { line, rule }
    }
}

impl fmt::Display for PatchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, help) = self.rule.words();
        match self.rule {
            Rule::Empty => write!(f, "{what}\nhelp: {help}"),
            _ => write!(f, "what stands in line {} of the patch {what}\nhelp: {help}", self.line),
        }
    }
}

/// Reads a patch.
pub fn parse(text: &str) -> Result<Vec<FilePatch<'_>>, PatchFault> {
    let mut lines = Lines::of(text);
    let mut files: Vec<FilePatch<'_>> = Vec::new();
    let mut hunks = 0;
    while let Some((at, line)) = lines.next() {
        let fault = |rule| Err(PatchFault::new(at, rule));
        if let Some(old) = line.strip_prefix("--- ") {
            let Some(new) = lines.peek().and_then(|(_, next)| next.strip_prefix("+++ ")) else {
                return fault(Rule::Heads);
            };
            lines.next();
            let (path, what) = file(old, new).map_err(|rule| PatchFault::new(at, rule))?;
            if files.iter().any(|other| other.path == path) {
                return fault(Rule::Twice);
            }
            let mut patch = FilePatch { path, what, hunks: Vec::new() };
            while lines.peek().is_some_and(|(_, next)| next.starts_with("@@ ")) {
                patch.hunks.push(hunk(&mut lines)?);
                hunks += 1;
            }
            if patch.hunks.is_empty() {
                return fault(Rule::NoChange);
            }
            files.push(patch);
            if files.len() > MAX_CHANGES || hunks > MAX_HUNKS {
                return fault(Rule::TooMany);
            }
        } else if let Some(rule) = beside(line) {
            return fault(rule);
        }
    }
    if files.is_empty() { Err(PatchFault::new(1, Rule::Empty)) } else { Ok(files) }
}

/// What is wrong with a line that belongs to no part: nothing, for what only repeats what the heads say.
fn beside(line: &str) -> Option<Rule> {
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    if line.is_empty() || begins(&["diff --git ", "index ", "deleted file mode "]) || line == "new file mode 100644" {
        None
    } else if begins(&["old mode ", "new mode ", "new file mode ", "rename ", "copy ", "similarity ", "dissimilarity "])
    {
        Some(Rule::Mode)
    } else if begins(&["Binary files ", "GIT binary patch"]) {
        Some(Rule::Binary)
    } else {
        Some(Rule::Stray)
    }
}

/// Which file two heads are about, and what becomes of it.
fn file<'p>(old: &'p str, new: &'p str) -> Result<(&'p str, What), Rule> {
    // A time may follow, behind a tab.
    let name = |head: &'p str| head.split('\t').next().unwrap_or_default();
    let (old, new) = (name(old), name(new));
    let without = |name: &'p str, side: &str| name.strip_prefix(side).unwrap_or(name);
    let (path, what) = match (old, new) {
        (NOTHING, NOTHING) => return Err(Rule::Name),
        (NOTHING, new) => (without(new, "b/"), What::Create),
        (old, NOTHING) => (without(old, "a/"), What::Remove),
        (old, new) => {
            // Both have the letter, or it is a directory's name.
            let both = old.strip_prefix("a/").zip(new.strip_prefix("b/"));
            let (old, new) = both.unwrap_or((old, new));
            if old != new {
                return Err(Rule::Renamed);
            }
            (new, What::Change)
        }
    };
    if is_plain_path(path) && !path.starts_with('"') { Ok((path, what)) } else { Err(Rule::Name) }
}

fn hunk<'p>(lines: &mut Lines<'p>) -> Result<Hunk<'p>, PatchFault> {
    let Some((at, head)) = lines.next() else { return Err(PatchFault::new(1, Rule::Hunk)) };
    let fault = |rule| PatchFault::new(at, rule);
    let (from, mut old, mut new) = head_of(head).ok_or(fault(Rule::Hunk))?;
    // An empty range says the line that it stands behind, and any other its first.
    let before = if old == 0 { from } else { from.checked_sub(1).ok_or(fault(Rule::Hunk))? };
    let mut hunk = Hunk { at, before, lines: Vec::new() };
    while old > 0 || new > 0 {
        let (at, line) = lines.next().ok_or(fault(Rule::Short))?;
        let (side, text) = match line.split_at_checked(1) {
            // Some programs take the blank from the end of an empty line.
            None => (Side::Both, ""),
            Some((" ", text)) => (Side::Both, text),
            Some(("-", text)) => (Side::Before, text),
            Some(("+", text)) => (Side::After, text),
            Some(("\\", _)) if mark_last(&mut hunk) => continue,
            Some(_) => return Err(PatchFault::new(at, Rule::Sign)),
        };
        let left = |count: usize, counts: bool| count.checked_sub(usize::from(counts));
        let short = PatchFault::new(at, Rule::Short);
        old = left(old, side != Side::After).ok_or(short)?;
        new = left(new, side != Side::Before).ok_or(short)?;
        hunk.lines.push(Line { side, text, last: false });
    }
    if lines.peek().is_some_and(|(_, line)| line.starts_with('\\')) && mark_last(&mut hunk) {
        lines.next();
    }
    if hunk.lines.iter().all(|line| line.side == Side::Both) { Err(fault(Rule::NoChange)) } else { Ok(hunk) }
}

/// Notes that the file ends in the line before, without a line break.
fn mark_last(hunk: &mut Hunk<'_>) -> bool {
    hunk.lines.last_mut().map(|line| line.last = true).is_some()
}

/// `@@ -1,2 +1,3 @@`: the first old line, how many of these, how many new ones.
fn head_of(head: &str) -> Option<(usize, usize, usize)> {
    let (old, rest) = head.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let number = |digits: &str| -> Option<usize> {
        let plain = (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    let range = |range: &str| match range.split_once(',') {
        Some((from, count)) => number(from).zip(number(count)),
        None => number(range).zip(Some(1)),
    };
    let ((from, old), (_, new)) = (range(old)?, range(new)?);
    Some((from, old, new))
}

/// The lines of a patch, each with its number. Where all of them end as on Windows, that is how it was sent, and no part of it.
struct Lines<'p> {
    left: core::iter::Enumerate<core::str::Split<'p, char>>,
    next: Option<(usize, &'p str)>,
    foreign: bool,
}

impl<'p> Lines<'p> {
    fn of(text: &'p str) -> Self {
        let text = text.strip_suffix('\n').unwrap_or(text);
        let foreign = text.split('\n').rev().skip(1).all(|line| line.ends_with('\r')) && text.contains("\r\n");
        let mut lines = Self { left: text.split('\n').enumerate(), next: None, foreign };
        lines.next();
        lines
    }

    const fn peek(&self) -> Option<(usize, &'p str)> {
        self.next
    }

    fn next(&mut self) -> Option<(usize, &'p str)> {
        let strip = |line: &'p str| if self.foreign { line.strip_suffix('\r').unwrap_or(line) } else { line };
        let following = self.left.next().map(|(at, line)| (at + 1, strip(line)));
        core::mem::replace(&mut self.next, following)
    }
}
