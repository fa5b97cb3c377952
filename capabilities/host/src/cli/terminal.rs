//! The person at the terminal, if there is one.

use std::io::{IsTerminal, Read, Write};
use std::sync::{Mutex, PoisonError};

use capability_core::approval::PendingApproval;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::protocol::{Redacted, turn_in_words};

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
    let mut stderr = std::io::stderr().lock();
    stderr.write_all(card(pending).as_bytes())
}

/// The card as text.
pub fn card(pending: &PendingApproval) -> String {
    let mut lines = vec![format!("{}@{} asks to run", pending.capability, pending.version)];
    if let Some((kind, target)) = &pending.target {
        lines.push(format!("  {:<9} {}", kind.as_str(), visible(target)));
    }
    lines.push(format!("  {:<9} {}, risk {}", "class", pending.class, pending.risk.as_str()));
    let identity = &pending.identity;
    lines.push(format!(
        "  {:<9} {} ({}), {}",
        "asked by",
        identity.subject,
        identity.origin.as_str(),
        turn_in_words(identity.turn)
    ));
    for code in &pending.because {
        lines.push(format!("  {:<9} {}", "because", code.message()));
    }
    lines.push(format!("  {:<9} {}", "expires", pending.expires_at));
    lines.push("  arguments, exactly as they would run:".into());
    let arguments = String::from_utf8_lossy(&pending.arguments);
    let pretty = serde_json::from_str::<serde_json::Value>(&arguments)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| arguments.into_owned());
    lines.extend(pretty.lines().map(|line| format!("    {}", visible(line))));
    if let Some(preview) = &pending.preview {
        lines.push("  preview:".into());
        lines.extend(preview.text.lines().map(|line| format!("    {}", visible(line))));
    }
    for (what, claim) in [("reason", &pending.claims.reason), ("evidence", &pending.claims.evidence)] {
        if let Some(claim) = claim {
            lines.push(format!("  {what}, as claimed by the proposer:"));
            lines.extend(claim.lines().map(|line| format!("    {}", visible(line))));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Whether a terminal shows nothing for it, or something else than what it is.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with everything invisible or reordering written out, as in `\u{202e}`.
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        shown
    })
}

/// A text of several lines, each as [`visible`] writes it. All but the first are indented: none can pass for a line of ours.
pub fn visible_lines(text: &str) -> String {
    text.lines().map(visible).collect::<Vec<_>>().join("\n  ")
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
    use super::{visible, visible_json};

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({ "a\u{202e}": ["\u{e0041}\u{9b}31m\u{1b}", 1, "plain"] });
        let shown = visible_json(&value);
        assert!(shown.chars().all(|c| c == '\n' || !super::is_hidden(c)), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn nothing_hides_or_reorders() {
        assert_eq!(visible("rm \u{202e}gnp.x"), "rm \\u{202e}gnp.x");
        assert_eq!(visible("a\u{200b}b\u{1b}[2Jc\r"), "a\\u{200b}b\\u{1b}[2Jc\\u{d}");
        assert_eq!(visible("naïve ☃ 你好"), "naïve ☃ 你好");
    }
}
