//! What is different from another call, on a page.

use maud::{Markup, html};

use super::shown::{key, text, value};
use crate::display::diff::{Change, Difference, LinePart, Part, Parts, Side, What};
use crate::display::text::Reading;
use crate::words::counted;

/// What is different from another call.
pub fn difference(difference: &Difference) -> Markup {
    html! {
        @match difference {
            Difference::TooMuch => p { "They differ in too much to be told one by one: read the arguments above." },
            Difference::Of { changes, same } => {
                @if changes.is_empty() { p { "Nothing: the arguments are the same." } }
                @else {
                    p.note { (counted(changes.len(), "value differs", "values differ")) ", " (counted(*same, "is the same", "are the same")) "." }
                    ul.changes { @for change in changes { li { (changed(change)) } } }
                }
            }
        }
    }
}

fn changed(change: &Change) -> Markup {
    html! {
        span.key { @for (at, part) in change.path.iter().enumerate() { @if at > 0 { " › " } (key(part)) } }
        @match &change.what {
            What::Added(after) => ins { span.visually-hidden { "added: " } (value(after)) },
            What::Removed(before) => del { span.visually-hidden { "removed: " } (value(before)) },
            What::Changed { parts: Some(Parts::Words(parts)), .. } => p.parts { @for part in parts { (sided(part)) } },
            What::Changed { parts: Some(Parts::Lines(parts)), .. } => pre.exact {
                @for part in parts {
                    @match part {
                        LinePart::Line(part) => span.line { (sided(part)) "\n" },
                        LinePart::Skipped(count) => span.line.empty { (counted(*count, "line as before", "lines as before")) "\n" },
                    }
                }
            },
            What::Changed { before, after, parts: None } => {
                del { span.visually-hidden { "before: " } (value(before)) }
                " "
                ins { span.visually-hidden { "now: " } (value(after)) }
            },
        }
    }
}

fn sided(part: &Part) -> Markup {
    html! {
        @match part.side {
            Side::Both => span { (text(&part.text, Reading::Prose)) },
            Side::Before => del { span.visually-hidden { "removed: " } (text(&part.text, Reading::Prose)) },
            Side::After => ins { span.visually-hidden { "added: " } (text(&part.text, Reading::Prose)) },
        }
    }
}
