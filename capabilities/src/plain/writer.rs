//! Where text is collected, character by character, until its budget is spent.

use super::Shown;

/// What stands between the last character and the next one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Nothing,
    Space,
    Line,
    Paragraph,
}

/// Collects text. Once the budget is spent nothing more is taken.
pub(super) struct Writer {
    text: String,
    left: usize,
    gap: Gap,
    truncated: bool,
}

impl Writer {
    pub(super) fn new(budget: usize) -> Self {
        Self { text: String::new(), left: budget, gap: Gap::Nothing, truncated: false }
    }

    /// A space before what comes next.
    pub(super) fn space(&mut self) {
        self.gap = self.gap.max(Gap::Space);
    }

    /// A line break before what comes next.
    pub(super) fn line(&mut self) {
        self.gap = self.gap.max(Gap::Line);
    }

    /// An empty line before what comes next.
    pub(super) fn paragraph(&mut self) {
        self.gap = self.gap.max(Gap::Paragraph);
    }

    /// One character, or nothing for one that is not to be seen. False once there is no room.
    pub(super) fn put(&mut self, c: char) -> bool {
        if self.truncated {
            return false;
        }
        let Some(c) = visible(c) else { return true };
        let gap = match self.gap {
            _ if self.text.is_empty() => "",
            Gap::Nothing => "",
            Gap::Space => " ",
            Gap::Line => "\n",
            Gap::Paragraph => "\n\n",
        };
        let cost = cost(c) + gap.chars().map(cost).sum::<usize>();
        let Some(left) = self.left.checked_sub(cost) else {
            self.truncated = true;
            return false;
        };
        self.left = left;
        self.text.push_str(gap);
        self.text.push(c);
        self.gap = Gap::Nothing;
        true
    }

    pub(super) fn finish(self) -> Shown {
        Shown { text: self.text, truncated: self.truncated }
    }
}

/// How many bytes a character takes as the inside of a JSON string.
const fn cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\t' => 2,
        _ => c.len_utf8(),
    }
}

/// The character as it may be shown, if at all.
const fn visible(c: char) -> Option<char> {
    match c {
        '\n' | '\t' => Some(c),
        // Line and paragraph separators end lines here and nowhere else.
        '\u{2028}' | '\u{2029}' => Some('\n'),
        // Controls; among them what moves a terminal's cursor.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => None,
        // Of no width: what is between the letters is not to be seen, and can spell out words of its own.
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}' => None,
        // What reorders the letters that a person sees.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => None,
        // Annotations, variation selectors but the two that emoji need, and the plane of tags.
        '\u{fff9}'..='\u{fffb}' | '\u{fe00}'..='\u{fe0d}' | '\u{e0000}'..='\u{e0fff}' => None,
        _ => Some(c),
    }
}
