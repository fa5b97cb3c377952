//! Text as pieces that hide nothing.

use std::fmt;

use unicode_general_category::{GeneralCategory, get_general_category};

use super::lookalike;

/// Lines without anything to see that are shown as they are; more of them in a row are told by their number.
const MOST_EMPTY_LINES: usize = 3;
/// Spaces in a row that are shown as they are; more of them would push what follows out of view.
const MOST_SPACES: usize = 39;
/// Marks above and below one letter that are shown as they are; more of them grow over the lines around.
const MOST_COMBINING: usize = 3;
/// Equal marked characters in a row that are each written out.
const MOST_WRITTEN_OUT: usize = 4;

/// What kind of text it is, which decides what passes for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reading {
    /// For people to read, in any language: a letter is suspicious among letters of another script.
    Prose,
    /// A host, a path, a word of a command line: a word is suspicious when all of it could be read as plain ASCII, too.
    Name,
}

/// Why a character is not shown as itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// A control character.
    Control,
    /// A tabulator.
    Tab,
    /// It changes the direction of the text around it.
    Direction,
    /// Nothing is drawn for it.
    Invisible,
    /// It chooses another form of the character before it.
    Variation,
    /// An invisible copy of an ASCII character.
    Tag,
    /// What it stands for is a private agreement.
    PrivateUse,
    /// The character is not in use.
    Unassigned,
    /// A space that is not the usual one.
    Space,
    /// A line break that is not the usual one.
    LineBreak,
    /// A mark with no letter of its own, or one too many, or one that is drawn through its letter.
    Combining,
    /// It can be taken for an ASCII character.
    Lookalike,
    /// The usual space, more often than could be told from a few.
    Repeated,
}

impl Mark {
    /// Every mark.
    pub const ALL: [Self; 13] = [
        Self::Control,
        Self::Tab,
        Self::Direction,
        Self::Invisible,
        Self::Variation,
        Self::Tag,
        Self::PrivateUse,
        Self::Unassigned,
        Self::Space,
        Self::LineBreak,
        Self::Combining,
        Self::Lookalike,
        Self::Repeated,
    ];

    /// One word, for a class or an attribute.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Tab => "tab",
            Self::Direction => "direction",
            Self::Invisible => "invisible",
            Self::Variation => "variation",
            Self::Tag => "tag",
            Self::PrivateUse => "private",
            Self::Unassigned => "unassigned",
            Self::Space => "space",
            Self::LineBreak => "break",
            Self::Combining => "combining",
            Self::Lookalike => "lookalike",
            Self::Repeated => "repeated",
        }
    }

    /// What a person is told about it.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Control => "control character",
            Self::Tab => "tabulator",
            Self::Direction => "changes the direction of the text",
            Self::Invisible => "invisible character",
            Self::Variation => "changes the form of the character before it",
            Self::Tag => "invisible copy of an ASCII character",
            Self::PrivateUse => "character without a public meaning",
            Self::Unassigned => "character that is not in use",
            Self::Space => "unusual space",
            Self::LineBreak => "unusual line break",
            Self::Combining => "mark that is drawn over other text",
            Self::Lookalike => "looks like another character",
            Self::Repeated => "many spaces",
        }
    }

    /// Whether somebody could be deceived by it. A tabulator stands in most scripts for no such end, and many spaces in most
    /// tables.
    #[must_use]
    pub const fn is_deceptive(self) -> bool {
        !matches!(self, Self::Tab | Self::Repeated)
    }
}

/// One character, or a run of equal ones, that is shown by its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked {
    /// The character in the text.
    pub character: char,
    /// How often it stands there in a row; at least once.
    pub count: usize,
    /// Why it is not shown as itself.
    pub mark: Mark,
}

impl fmt::Display for Marked {
    /// As it is shown: `\u{202E}`, or `\u{200B}×60` for a long run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = |f: &mut fmt::Formatter<'_>| match self.mark {
            Mark::Tab => f.write_str("\\t"),
            _ => write!(f, "\\u{{{:X}}}", u32::from(self.character)),
        };
        if self.count <= MOST_WRITTEN_OUT {
            (0..self.count).try_for_each(|_| code(f))
        } else {
            code(f)?;
            write!(f, "×{}", self.count)
        }
    }
}

/// A part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Stands for itself.
    Plain(&'t str),
    /// Is shown by its code, and marked.
    Marked(Marked),
}

impl Piece<'_> {
    /// What it stands for in the text.
    #[must_use]
    pub fn source(&self) -> String {
        match self {
            Self::Plain(text) => (*text).to_owned(),
            Self::Marked(marked) => std::iter::repeat_n(marked.character, marked.count).collect(),
        }
    }
}

impl fmt::Display for Piece<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => f.write_str(text),
            Self::Marked(marked) => marked.fmt(f),
        }
    }
}

/// A line of a text, or several that show nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line<'t> {
    /// One line.
    Text(Vec<Piece<'t>>),
    /// A run of lines with nothing in them but blanks, told by their number.
    Empty {
        /// How many.
        count: usize,
        /// The lines themselves.
        text: &'t str,
    },
}

/// The text in one line; a line break in it is a control character.
#[must_use]
pub fn pieces(text: &str, reading: Reading) -> Vec<Piece<'_>> {
    let twins = lookalike::places(text, reading);
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    // How many marks the last letter has.
    let mut combining = None;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        // Most text is plain ASCII, and nothing has to be looked up for it.
        let ascii = rest.bytes().take_while(u8::is_ascii_graphic).count();
        if let Some(last) = ascii.checked_sub(1).and_then(|last| rest.as_bytes().get(last)) {
            combining = last.is_ascii_alphanumeric().then_some(0);
            at += ascii;
            continue;
        }
        let Some(character) = rest.chars().next() else { break };
        let twin = twins.binary_search(&at).is_ok();
        let mark = if twin { Some(Mark::Lookalike) } else { mark_of(character, &mut combining) };
        // Each look-alike is judged where it stands, and so are marks on a letter.
        let one_by_one = twin || is_combining(character);
        let count = if one_by_one { 1 } else { rest.chars().take_while(|c| *c == character).count() };
        let mark = mark.or((character == ' ' && count > MOST_SPACES).then_some(Mark::Repeated));
        if let Some(mark) = mark {
            pieces.extend(plain(text, from, at));
            add(&mut pieces, Marked { character, count, mark });
        }
        at += count * character.len_utf8();
        if mark.is_some() {
            from = at;
        }
    }
    pieces.extend(plain(text, from, at));
    pieces
}

fn plain(text: &str, from: usize, to: usize) -> Option<Piece<'_>> {
    text.get(from..to).filter(|text| !text.is_empty()).map(Piece::Plain)
}

/// Adds what is marked to the run before it, should that be of the same.
fn add(pieces: &mut Vec<Piece<'_>>, marked: Marked) {
    match pieces.last_mut() {
        Some(Piece::Marked(last)) if last.character == marked.character && last.mark == marked.mark => {
            last.count += marked.count;
        }
        _ => pieces.push(Piece::Marked(marked)),
    }
}

/// The text line by line, in order and to its end. A text that ends with a line break has an empty last line.
#[must_use]
pub fn lines(text: &str, reading: Reading) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut at = 0;
    let mut all = text.split('\n').peekable();
    while let Some(line) = all.next() {
        let from = at;
        at += line.len() + 1;
        if !is_empty(line) {
            lines.push(Line::Text(pieces(line, reading)));
            continue;
        }
        let mut empty = vec![line];
        while let Some(next) = all.next_if(|line| is_empty(line)) {
            at += next.len() + 1;
            empty.push(next);
        }
        match text.get(from..at - 1) {
            Some(text) if empty.len() > MOST_EMPTY_LINES => lines.push(Line::Empty { count: empty.len(), text }),
            _ => lines.extend(empty.into_iter().map(|line| Line::Text(pieces(line, reading)))),
        }
    }
    lines
}

fn is_empty(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

/// Whether somebody could be deceived by the text, were it shown as it is. Its line breaks are not counted.
#[must_use]
pub fn is_deceptive(text: &str, reading: Reading) -> bool {
    hides(&lines(text, reading))
}

/// Whether something in these lines hides, or can be taken for something else.
#[must_use]
pub fn hides(lines: &[Line<'_>]) -> bool {
    lines.iter().any(|line| match line {
        Line::Text(pieces) => {
            pieces.iter().any(|piece| matches!(piece, Piece::Marked(marked) if marked.mark.is_deceptive()))
        }
        Line::Empty { .. } => false,
    })
}

/// The text in one line, with its marked characters by their codes and nothing to tell them from the same codes written out:
/// for where no mark can be shown.
#[must_use]
pub fn written_out(text: &str) -> String {
    pieces(text, Reading::Prose).iter().map(Piece::to_string).collect()
}

/// A text beyond this many bytes is [`written_plainly`] where each mark would cost more than the text: nobody reads it mark by
/// mark, and nobody can be made to load a page of a hundred times its size.
pub const LONG: usize = 64 << 10;

/// The whole text with its line breaks, as one plain text: what hides stands as its code, empty lines as `\{60 empty lines}`,
/// and a backslash of the text is doubled, so that none of these can be imitated.
#[must_use]
pub fn written_plainly(text: &str, reading: Reading) -> String {
    let line = |line: &Line<'_>| match line {
        Line::Text(pieces) => pieces.iter().fold(String::new(), |text, piece| match piece {
            Piece::Plain(plain) => text + &plain.replace('\\', "\\\\"),
            Piece::Marked(marked) => text + &marked.to_string(),
        }),
        Line::Empty { count, .. } => format!("\\{{{count} empty lines}}"),
    };
    lines(text, reading).iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether a character may not be shown as itself wherever it stands.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    hidden(character).is_some()
}

fn mark_of(character: char, combining: &mut Option<usize>) -> Option<Mark> {
    if let Some(mark) = hidden(character) {
        *combining = None;
        return Some(mark);
    }
    match get_general_category(character) {
        GeneralCategory::NonspacingMark => match combining {
            Some(marks) if *marks < MOST_COMBINING && !is_drawn_through(character) => {
                *marks += 1;
                None
            }
            _ => Some(Mark::Combining),
        },
        // Stands beside its letter.
        GeneralCategory::SpacingMark => None,
        _ => {
            *combining = character.is_alphanumeric().then_some(0);
            None
        }
    }
}

fn is_combining(character: char) -> bool {
    !character.is_ascii()
        && matches!(get_general_category(character), GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark)
}

/// Makes a letter look deleted, or like another one.
const fn is_drawn_through(character: char) -> bool {
    matches!(character, '\u{334}'..='\u{338}' | '\u{20d2}' | '\u{20d3}' | '\u{20d8}'..='\u{20da}' | '\u{20e5}' | '\u{20e6}' | '\u{20ea}' | '\u{20eb}')
}

fn hidden(character: char) -> Option<Mark> {
    if matches!(character, ' '..='~') {
        return None;
    }
    match character {
        '\t' => return Some(Mark::Tab),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            return Some(Mark::Direction);
        }
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            return Some(Mark::Variation);
        }
        '\u{e0000}'..='\u{e007f}' => return Some(Mark::Tag),
        // Drawn as an empty place, or as nothing at all, though their category does not say so.
        '\u{2800}' | '\u{fffc}' | '\u{16fe4}' | '\u{1d159}' => return Some(Mark::Invisible),
        _ => {}
    }
    match get_general_category(character) {
        GeneralCategory::Control | GeneralCategory::Surrogate => Some(Mark::Control),
        GeneralCategory::Format => Some(Mark::Invisible),
        GeneralCategory::PrivateUse => Some(Mark::PrivateUse),
        GeneralCategory::SpaceSeparator => Some(Mark::Space),
        GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator => Some(Mark::LineBreak),
        GeneralCategory::EnclosingMark => Some(Mark::Combining),
        _ if lookalike::is_ignorable(character) => Some(Mark::Invisible),
        GeneralCategory::Unassigned => Some(Mark::Unassigned),
        _ => None,
    }
}
