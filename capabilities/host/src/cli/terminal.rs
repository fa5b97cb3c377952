//! The person at the terminal, if there is one.

use std::io::{IsTerminal, Read, Write};
use std::sync::{Mutex, PoisonError};

use capability_core::approval::PendingApproval;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use super::card::card;
use crate::display::text::{is_hidden, written_out};
use crate::protocol::Redacted;

/// Whether somebody can be shown something and answer it.
pub fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Runs what waits for a person on a thread where waiting is allowed, so that an interrupt ends it.
async fn waiting<T: Send + 'static>(read: impl FnOnce() -> std::io::Result<T> + Send + 'static) -> std::io::Result<T> {
    tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other)?
}

/// How the terminal was before a password was asked for; put back when an interrupt ends the question.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Puts the terminal back as it was, should a password have been asked for.
pub fn restore() {
    if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &before);
    }
}

/// Asks for a password without echoing it.
///
/// # Errors
/// When the terminal cannot be read.
pub async fn password(prompt: &'static str) -> std::io::Result<Redacted> {
    let before = tcgetattr(std::io::stdin()).ok();
    if let Some(mut silent) = before.clone() {
        // Before the question is shown: whoever types at once is not echoed either.
        silent.local_modes.remove(LocalModes::ECHO);
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &silent);
    }
    *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = before;
    let answer = waiting(move || rpassword::prompt_password(format!("{prompt}: "))).await;
    restore();
    match answer {
        // Ctrl-C: the signal is on its way, and ends everything.
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => core::future::pending().await,
        answer => answer.map(Redacted::new),
    }
}

/// Asks a yes-or-no question; anything but `y` or `yes` is no.
///
/// # Errors
/// When the terminal cannot be read or written.
pub async fn yes(question: &'static str) -> std::io::Result<bool> {
    {
        let mut stderr = std::io::stderr().lock();
        write!(stderr, "{question} [y/N] ")?;
        stderr.flush()?;
    }
    Ok(line().await?.is_some_and(|line| matches!(line.trim(), "y" | "Y" | "yes")))
}

/// One line of standard input, without its end; `None` when there is no more.
///
/// # Errors
/// When it cannot be read or is not UTF-8 text.
pub async fn line() -> std::io::Result<Option<String>> {
    waiting(|| std::io::stdin().lines().next().transpose()).await
}

/// Standard input to its end, but at most `limit` bytes.
///
/// # Errors
/// When it cannot be read or is not UTF-8 text.
pub async fn input(limit: u64) -> std::io::Result<String> {
    waiting(move || {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == limit {
            // The cut may go through a character.
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        String::from_utf8(bytes).map_err(std::io::Error::other)
    })
    .await
}

/// Shows exactly what would run, facts first and claims below, with nothing that a terminal would interpret.
///
/// # Errors
/// When the terminal cannot be written.
pub fn show(pending: &PendingApproval) -> std::io::Result<()> {
    anstream::stderr().lock().write_all(card(pending, columns(std::io::stderr())).as_bytes())
}

/// How many columns there are, should this be a terminal.
pub fn columns(stream: impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// A text of several lines, with everything invisible or reordering written out. All but the first are indented: none can pass for a line of ours.
pub fn visible_lines(text: &str) -> String {
    text.lines().map(written_out).collect::<Vec<_>>().join("\n  ")
}

/// The value as JSON text for people, with everything invisible or reordering escaped; still the same JSON.
pub fn visible_json(value: &serde_json::Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.chars().fold(String::with_capacity(pretty.len()), |mut shown, c| {
        // What is left of these in JSON text stands inside strings, but for the line breaks of the layout.
        if c != '\n' && is_hidden(c) {
            shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
        shown
    })
}

#[cfg(test)]
mod tests {
    use super::visible_json;
    use crate::display::text::is_hidden;

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "a\u{202e}": ["\u{e0041}\u{9b}31m\u{1b}", 1, "plain"] });
        let shown = visible_json(&value);
        assert!(shown.chars().all(|c| c == '\n' || !is_hidden(c)), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
