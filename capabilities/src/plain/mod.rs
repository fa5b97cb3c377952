//! Text from elsewhere, made fit to be shown: bounded, and without characters that hide, reorder or smuggle.
//!
//! What a server sends is data. A capability that passes it on passes on what a person would see, up to a bound:
//!
//! ```
//! use capabilities::plain;
//!
//! let page = "<h1>Bread &amp; butter</h1><script>steal()</script><p>Spread <b>evenly</b>.";
//! let shown = plain::of_html(page, 1000);
//! assert_eq!(shown.text, "Bread & butter\n\nSpread evenly.");
//! assert!(!shown.truncated);
//!
//! // A right-to-left override is no letter.
//! assert_eq!(plain::of_text("evil\u{202e}txt.exe", 1000).text, "eviltxt.exe");
//! ```
//!
//! Text that a page hides from people by its style sheets is in what [`of_html`] gives: no style sheet is read.

mod html;
mod writer;

pub use html::of_html;

use writer::Writer;

/// Text within its bound.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// The text. Its lines end in `\n`; of the other control characters only tabs are left.
    pub text: String,
    /// Whether there was more of it.
    pub truncated: bool,
}

/// Text as it stands, line by line. `budget` is how many bytes it may take as the inside of a JSON string.
#[must_use]
pub fn of_text(text: &str, budget: usize) -> Shown {
    let mut writer = Writer::new(budget);
    let mut left = text.chars().peekable();
    while let Some(c) = left.next() {
        // A line may end in two characters, one of which the loop comes to next.
        let c = if c == '\r' && left.peek() != Some(&'\n') { '\n' } else { c };
        if !writer.put(c) {
            break;
        }
    }
    writer.finish()
}

/// Text as one line: every run of white space and line breaks is one space, and none is left at either end.
#[must_use]
pub fn of_line(text: &str, budget: usize) -> Shown {
    let mut writer = Writer::new(budget);
    for c in text.chars() {
        let put = if c.is_whitespace() || c.is_control() {
            writer.space();
            true
        } else {
            writer.put(c)
        };
        if !put {
            break;
        }
    }
    writer.finish()
}

/// What stands in HTML, as one line.
#[must_use]
pub fn of_html_line(html: &str, budget: usize) -> Shown {
    let shown = of_html(html, budget);
    let line = of_line(&shown.text, budget);
    Shown { truncated: shown.truncated || line.truncated, ..line }
}

#[cfg(test)]
mod tests;
