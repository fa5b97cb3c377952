//! Standard output and standard error, in one place.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use super::program::own;
use super::terminal::visible_lines;
use crate::protocol::Fault;

/// Where a command writes: one JSON document, or text for people with colour where a terminal takes it.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// One JSON document and nothing else.
    pub json: bool,
}

/// Names of things.
pub const NAME: Style = Style::new().bold();
/// As it should be.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// Worth a look.
pub const WARN: Style = AnsiColor::Yellow.on_default();
/// A character's code in place of the character.
pub const MARKED: Style = AnsiColor::Yellow.on_default().invert();
/// Wrong.
pub const BAD: Style = AnsiColor::Red.on_default().bold();

/// A styled text; `anstream` drops the style where it is not wanted (`NO_COLOR`, a pipe, a dumb terminal).
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

impl Output {
    /// Prints the document as JSON, or what `human` makes of it.
    pub fn print<T: Serialize>(self, document: &T, human: impl FnOnce(&T) -> String) {
        // A reader that went away, such as `head`, is no fault of ours.
        let _ = if self.json {
            let line = serde_json::to_string(document).map(|line| line + "\n").unwrap_or_default();
            // Not for people: every character as it is.
            std::io::stdout().lock().write_all(line.as_bytes())
        } else {
            anstream::stdout().lock().write_all(human(document).as_bytes())
        };
    }

    /// Prints each document as JSON on a line of its own, or what `human` makes of all, and says whether anybody reads it.
    pub fn lines<T: Serialize>(self, documents: &[T], human: impl FnOnce(&[T]) -> String) -> bool {
        let written = if self.json {
            let lines: String =
                documents.iter().filter_map(|one| serde_json::to_string(one).ok()).map(|line| line + "\n").collect();
            let mut out = std::io::stdout().lock();
            out.write_all(lines.as_bytes()).and_then(|()| out.flush())
        } else {
            let mut out = anstream::stdout().lock();
            out.write_all(human(documents).as_bytes()).and_then(|()| out.flush())
        };
        written.is_ok()
    }

    /// Prints a fault: on standard error for people, as the one document otherwise.
    pub fn fault(self, fault: &Fault) -> u8 {
        let help = fault.help.as_deref().map(own);
        if self.json {
            self.print(&serde_json::json!({ "error": { "message": fault.message, "help": help } }), |_| String::new());
        } else {
            let mut text = format!("{} {}\n", styled(BAD, "error:"), visible_lines(&fault.message));
            if let Some(help) = &help {
                text += &format!("{} {}\n", styled(NAME, "help:"), visible_lines(help));
            }
            note(&text);
        }
        fault.exit
    }
}

/// Writes to standard error.
pub fn note(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}
