//! Foreign text on a page: as text, with what cannot be seen written out and marked.

use maud::{Markup, html};

use crate::cli::visible;

/// A text, whatever is in it.
pub fn text(foreign: &str) -> Markup {
    let pieces = core::iter::successors(Some(split(foreign)), |(_, (_, rest))| (!rest.is_empty()).then(|| split(rest)));
    html! {
        @for (plain, (hidden, _)) in pieces {
            (plain)
            @if !hidden.is_empty() { mark.hidden title="a character that cannot be seen" { (visible(hidden)) } }
        }
    }
}

fn is_hidden(c: char) -> bool {
    c != '\n' && crate::cli::is_hidden(c)
}

/// Up to the first character that cannot be seen; those; and the rest.
fn split(text: &str) -> (&str, (&str, &str)) {
    let at = text.find(is_hidden).unwrap_or(text.len());
    let (plain, rest) = text.split_at(at);
    let end = rest.find(|c| !is_hidden(c)).unwrap_or(rest.len());
    (plain, rest.split_at(end))
}

/// Whether something in it has to be marked.
pub fn is_marked(text: &str) -> bool {
    text.contains(crate::cli::is_hidden)
}
