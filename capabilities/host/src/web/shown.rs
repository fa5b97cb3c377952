//! Foreign text on a page: as text, with what hides or passes for something else written out and marked. Nothing here makes
//! markup of what somebody wrote.

use capability_core::contract::TargetKind;
use maud::{Markup, html};

use crate::display::arguments::{Key, Value, rows};
use crate::display::diff::unified;
use crate::display::target::{Brief, Decoded};
use crate::display::text::{LONG, Line, Piece, Reading, lines, pieces, written_plainly};
use crate::words::counted;

/// A text in one line.
pub fn text(foreign: &str, reading: Reading) -> Markup {
    marked(&pieces(foreign, reading))
}

fn marked(pieces: &[Piece<'_>]) -> Markup {
    html! {
        @for piece in pieces {
            @match piece {
                Piece::Plain(text) => (text),
                Piece::Marked(marked) => mark.code data-mark=(marked.mark.as_str()) title=(marked.mark.words()) { (marked) },
            }
        }
    }
}

/// A part of something long: without marks, as [`written_plainly`] has it.
pub fn part(foreign: &str, reading: Reading, long: bool) -> Markup {
    if long {
        html! { (written_plainly(foreign, reading)) }
    } else {
        text(foreign, reading)
    }
}

/// A text of any number of lines, to its end.
pub fn block(foreign: &str) -> Markup {
    lined(foreign, Reading::Prose, foreign.len() > LONG)
}

fn lined(foreign: &str, reading: Reading, long: bool) -> Markup {
    if long {
        html! { (plainly()) (written_plainly(foreign, reading)) }
    } else {
        all(&lines(foreign, reading))
    }
}

/// What somebody has to know who reads something long.
fn plainly() -> Markup {
    html! {
        span.line.empty { "long: what hides is written as its code and not marked, and a backslash of the text is doubled" "\n" }
    }
}

fn all(lines: &[Line<'_>]) -> Markup {
    html! {
        @for line in lines {
            @match line {
                Line::Text(pieces) => span.line { (marked(pieces)) "\n" },
                Line::Empty { count, .. } => span.line.empty { (counted(*count, "empty line", "empty lines")) "\n" },
            }
        }
    }
}

/// A preview; a difference has its lines coloured beside the signs that they begin with.
pub fn preview(foreign: &str) -> Markup {
    // Nothing stands behind the last line break.
    let foreign = foreign.strip_suffix('\n').unwrap_or(foreign);
    let Some(sided) = unified(foreign).filter(|_| foreign.len() <= LONG) else { return block(foreign) };
    html! {
        @for (side, line) in sided {
            span.line.(side.as_str()) { (text(line, Reading::Prose)) "\n" }
        }
    }
}

/// What a call acts on, with the part that counts in front of everything else. A long one is cut, and says so: all of it stands
/// among the arguments.
pub fn target(kind: TargetKind, foreign: &str) -> Markup {
    brief(&Brief::of(kind, foreign))
}

/// The same of one that was made brief before.
pub fn brief(brief: &Brief) -> Markup {
    let target = brief.parts();
    html! {
        span.kind { (brief.kind().as_str()) } " "
        span.whole {
            (text(target.before, target.reading))
            strong.heart { (text(target.heart, target.reading)) }
            (text(target.after, target.reading))
        }
        @if brief.left_out > 0 {
            " " span.left-out { "and " (counted(brief.left_out, "character", "characters")) " more, among its arguments" }
        }
        @match &target.decoded {
            Decoded::None => {},
            Decoded::Text(host) => span.reads { "which reads " (text(host, target.reading)) },
            Decoded::Malformed => span.reads { "which encodes no name" },
        }
    }
}

/// More values than this are not laid out one by one.
const MOST_ROWS: usize = 5000;

/// Arguments one by one, to the last; as they stand where they cannot be taken apart, or are too many.
pub fn arguments(json: &str) -> Markup {
    let long = json.len() > LONG;
    let Some(rows) = rows(json).filter(|rows| rows.len() <= MOST_ROWS) else {
        return html! { pre.exact { (lined(json, Reading::Prose, long)) } };
    };
    html! {
        @if long { p { (plainly()) } }
        @if rows.len() == 1 { p { "none" } }
        @for row in rows.iter().filter(|row| row.key != Key::Root) {
            // What stands deeper is not indented further.
            div.arg data-depth=(row.depth.min(8)) {
                span.key { (key(&row.key, long)) } " "
                (value(&row.value, long))
            }
        }
    }
}

pub fn key(key: &Key, long: bool) -> Markup {
    html! {
        @match key {
            Key::Root => {},
            Key::Name(name) => (part(name, Reading::Name, long)),
            Key::Index(index) => (format!("[{index}]")),
        }
    }
}

/// One value; `long` where it is a part of something long.
pub fn value(value: &Value, long: bool) -> Markup {
    let reading = value.reading();
    html! {
        @match value {
            Value::Literal(literal) => code.literal { (part(literal, reading, long)) },
            Value::Text(empty) if empty.is_empty() => span.note { "an empty text" },
            Value::Text(whole) if whole.contains('\n') => {
                span.note { "a text of " (whole.split('\n').count()) " lines" }
                pre.exact { @if long { (written_plainly(whole, reading)) } @else { (all(&value.lines())) } }
            },
            Value::Text(whole) => span.text { (part(whole, reading, long)) },
            Value::List(count) => span.note { "a list of " (count) },
            Value::Object(count) => span.note { "an object of " (count) },
        }
    }
}
