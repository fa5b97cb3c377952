//! A part of a patch put into a file's text: where it says, or in the one other place where it fits.

use super::super::read::LineEndings;
use super::parse::{FilePatch, Hunk, Line, PatchFault, Rule, Side, What};

/// The content that a patch makes of this one, which is none when there is no file; none when the file is removed.
pub fn apply(patch: &FilePatch<'_>, before: Option<&str>) -> Result<Option<String>, PatchFault> {
    let at = patch.hunks.first().map_or(1, |hunk| hunk.at);
    let fault = |rule| Err(PatchFault::new(at, rule));
    match (patch.what, before) {
        (What::Create, Some(_)) => fault(Rule::Present),
        (What::Change | What::Remove, None) => fault(Rule::Absent),
        (What::Create, None) => changed(patch, "").map(Some),
        (What::Change, Some(before)) => changed(patch, before).map(Some),
        (What::Remove, Some(before)) => {
            if changed(patch, before)?.trim_start_matches('\u{feff}').is_empty() {
                Ok(None)
            } else {
                fault(Rule::LeftOver)
            }
        }
    }
}

fn changed(patch: &FilePatch<'_>, before: &str) -> Result<String, PatchFault> {
    // Who writes a patch by hand leaves the mark out of the first line, and programs leave it in.
    let marked = patch.hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.starts_with('\u{feff}'));
    let (mark, text) = match before.strip_prefix('\u{feff}') {
        Some(text) if !marked => ("\u{feff}", text),
        _ => ("", before),
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut writer = Writer::new(mark, ending(patch, text));
    let mut done = 0;
    // By how much parts stood elsewhere than they said: the next one is looked for there first.
    let mut shift = 0_isize;
    for hunk in &patch.hunks {
        let place = place(hunk, &lines, done, shift, &writer.ending)?;
        shift = place.cast_signed().wrapping_sub(hunk.before.cast_signed());
        lines.get(done..place).unwrap_or_default().iter().for_each(|line| writer.keep(line));
        let mut old = lines.get(place..).unwrap_or_default().iter();
        done = place;
        for line in &hunk.lines {
            match line.side {
                Side::After => writer.add(line),
                Side::Both => {
                    done += 1;
                    // As it stands in the file, which may end in it.
                    old.next().into_iter().for_each(|line| writer.keep(line));
                }
                Side::Before => {
                    done += 1;
                    old.next();
                }
            }
        }
    }
    lines.get(done..).unwrap_or_default().iter().for_each(|line| writer.keep(line));
    Ok(writer.text)
}

/// How added lines end: as all lines of the file do.
fn ending(patch: &FilePatch<'_>, text: &str) -> Ending {
    let mut lines = patch.hunks.iter().flat_map(|hunk| &hunk.lines);
    Ending { crlf: LineEndings::of(text) == LineEndings::Crlf && !lines.any(|line| line.text.ends_with('\r')) }
}

struct Ending {
    crlf: bool,
}

impl Ending {
    const fn as_str(&self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// Whether a line of the file is this one. The last line of a file may lack its end, whether or not the patch says so.
    fn is(&self, line: &Line<'_>, found: &str) -> bool {
        match found.strip_suffix('\n') {
            None => found == line.text,
            Some(whole) => {
                let whole = if self.crlf { whole.strip_suffix('\r').unwrap_or(whole) } else { whole };
                !line.last && whole == line.text
            }
        }
    }
}

/// Before which line a part goes in.
fn place(hunk: &Hunk<'_>, lines: &[&str], done: usize, shift: isize, ending: &Ending) -> Result<usize, PatchFault> {
    let fault = |rule| PatchFault::new(hunk.at, rule);
    let old: Vec<_> = hunk.lines.iter().filter(|line| line.side != Side::After).collect();
    let fits = |place: usize| {
        let found = lines.get(place..).unwrap_or_default();
        found.len() >= old.len() && old.iter().zip(found).all(|(line, found)| ending.is(line, found))
    };
    let said = hunk.before.saturating_add_signed(shift);
    if (done..=lines.len()).contains(&said) && fits(said) {
        return Ok(said);
    }
    // Without an old line there is nothing that it could be found by.
    if old.is_empty() {
        return Err(fault(Rule::NoMatch));
    }
    let mut places = (done..=lines.len()).filter(|place| fits(*place));
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => Err(fault(Rule::Ambiguous)),
        (None, _) => Err(fault(Rule::NoMatch)),
    }
}

struct Writer {
    text: String,
    /// How long the mark at the beginning is.
    mark: usize,
    ending: Ending,
}

impl Writer {
    fn new(mark: &str, ending: Ending) -> Self {
        Self { text: mark.to_owned(), mark: mark.len(), ending }
    }

    /// A line that lacks its end has one as soon as another follows.
    fn begin(&mut self) {
        if self.text.len() > self.mark && !self.text.ends_with('\n') {
            self.text.push_str(self.ending.as_str());
        }
    }

    /// A line of the file, with its own end.
    fn keep(&mut self, line: &str) {
        self.begin();
        self.text.push_str(line);
    }

    /// A new line.
    fn add(&mut self, line: &Line<'_>) {
        self.begin();
        self.text.push_str(line.text);
        if !line.last {
            self.text.push_str(self.ending.as_str());
        }
    }
}
