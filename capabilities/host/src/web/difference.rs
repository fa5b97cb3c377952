//! What is different from another call, on a page.

use maud::{Markup, html};

use super::shown::{key, part as shown_part, value};
use crate::display::diff::{Change, Difference, LinePart, Part, Parts, Side, What};
use crate::display::text::Reading;
use crate::words::counted;

/// What is different from another call; `long` where their arguments are.
pub fn difference(difference: &Difference, long: bool) -> Markup {
    html! {
        @match difference {
            Difference::TooMuch => p { "They differ in too much to be told one by one: read the arguments above." },
            Difference::Of { changes, same } => {
                @if changes.is_empty() { p { "Nothing: the arguments are the same." } }
                @else {
                    p.note { (counted(changes.len(), "value differs", "values differ")) ", " (counted(*same, "is the same", "are the same")) "." }
                    ul.changes { @for change in changes { li { (changed(change, long)) } } }
                }
            }
        }
    }
}

fn changed(change: &Change, long: bool) -> Markup {
    html! {
        span.key { @for (at, part) in change.path.iter().enumerate() { @if at > 0 { " › " } (key(part, long)) } }
        @match &change.what {
            What::Added(after) => ins { span.visually-hidden { "added: " } (value(after, long)) },
            What::Removed(before) => del { span.visually-hidden { "removed: " } (value(before, long)) },
            What::Changed { parts: Some(Parts::Words(parts)), .. } => p.parts { @for part in parts { (sided(part, long)) } },
            What::Changed { parts: Some(Parts::Lines(parts)), .. } => pre.exact {
                @for part in parts {
                    @match part {
                        LinePart::Line(part) => span.line { (sided(part, long)) "\n" },
                        LinePart::Skipped(count) => span.line.empty { (counted(*count, "line as before", "lines as before")) "\n" },
                    }
                }
            },
            What::Changed { parts: Some(Parts::TooMany), .. } => span.note { "a text that differs in too many lines to be told one by one: read it above" },
            What::Changed { before, after, parts: None } => {
                del { span.visually-hidden { "before: " } (value(before, long)) }
                " "
                ins { span.visually-hidden { "now: " } (value(after, long)) }
            },
        }
    }
}

fn sided(part: &Part, long: bool) -> Markup {
    html! {
        @match part.side {
            Side::Both => span { (shown_part(&part.text, Reading::Prose, long)) },
            Side::Before => del { span.visually-hidden { "removed: " } (shown_part(&part.text, Reading::Prose, long)) },
            Side::After => ins { span.visually-hidden { "added: " } (shown_part(&part.text, Reading::Prose, long)) },
        }
    }
}
