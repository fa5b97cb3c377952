//! Foreign text on a page: as text, with what hides or passes for something else written out and marked. Nothing here makes
//! markup of what somebody wrote.

use capability_core::contract::TargetKind;
use maud::{Markup, html};

use crate::display::arguments::{Key, Row, Value, rows};
use crate::display::diff::unified;
use crate::display::target::{Decoded, target as taken_apart};
use crate::display::text::{Line, Piece, Reading, lines, pieces};
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

/// A text of any number of lines, to its end.
pub fn block(foreign: &str) -> Markup {
    all(&lines(foreign, Reading::Prose))
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
    let Some(sided) = unified(foreign) else { return block(foreign) };
    html! {
        @for (side, line) in sided {
            span.line.(side.as_str()) { (text(line, Reading::Prose)) "\n" }
        }
    }
}

/// What a call acts on, with the part that counts in front of everything else.
pub fn target(kind: TargetKind, foreign: &str) -> Markup {
    let target = taken_apart(kind, foreign);
    html! {
        span.kind { (kind.as_str()) } " "
        span.whole {
            (text(target.before, target.reading))
            strong.heart { (text(target.heart, target.reading)) }
            (text(target.after, target.reading))
        }
        @match &target.decoded {
            Decoded::None => {},
            Decoded::Text(host) => span.reads { " which reads " (text(host, target.reading)) },
            Decoded::Malformed => span.reads { " which encodes no name" },
        }
    }
}

/// Arguments one by one, to the last; as they stand where they cannot be taken apart.
pub fn arguments(json: &str) -> Markup {
    let Some(rows) = rows(json) else {
        return html! { pre.exact { (block(json)) } };
    };
    html! {
        @if rows.len() == 1 { p { "none" } }
        @for row in rows.iter().filter(|row| row.key != Key::Root) {
            // What stands deeper is not indented further.
            div.arg data-depth=(row.depth.min(8)) { (argument(row)) }
        }
    }
}

fn argument(row: &Row) -> Markup {
    html! {
        span.key { (key(&row.key)) } " "
        (value(&row.value))
    }
}

pub fn key(key: &Key) -> Markup {
    html! {
        @match key {
            Key::Root => {},
            Key::Name(name) => (text(name, Reading::Name)),
            Key::Index(index) => (format!("[{index}]")),
        }
    }
}

pub fn value(value: &Value) -> Markup {
    html! {
        @match value {
            Value::Literal(literal) => code.literal { (text(literal, Reading::Name)) },
            Value::Text(empty) if empty.is_empty() => span.note { "an empty text" },
            Value::Text(whole) => @if whole.contains('\n') {
                span.note { "a text of " (whole.split('\n').count()) " lines" }
                pre.exact { (all(&value.lines())) }
            } @else {
                span.text {
                    @for line in &value.lines() { @if let Line::Text(pieces) = line { (marked(pieces)) } }
                }
            },
            Value::List(count) => span.note { "a list of " (count) },
            Value::Object(count) => span.note { "an object of " (count) },
        }
    }
}
