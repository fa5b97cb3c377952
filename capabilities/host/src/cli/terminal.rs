//! The person at the terminal, if there is one.

use std::io::{IsTerminal, Write};

use capability_core::approval::PendingApproval;

use crate::protocol::Redacted;

/// Whether somebody can be shown something and answer it.
pub fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for a password without echoing it.
///
/// # Errors
/// When the terminal cannot be read.
pub fn password(prompt: &str) -> std::io::Result<Redacted> {
    rpassword::prompt_password(format!("{prompt}: ")).map(Redacted::new)
}

/// Asks a yes-or-no question; anything but `y` or `yes` is no.
///
/// # Errors
/// When the terminal cannot be read or written.
pub fn yes(question: &str) -> std::io::Result<bool> {
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
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
        "  {:<9} {} ({}), turn {}",
        "asked by",
        identity.subject,
        identity.origin.as_str(),
        identity.turn.0
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

/// The text with everything invisible or reordering written out, as in `\u{202e}`.
pub fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
    };
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
        shown
    })
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn nothing_hides_or_reorders() {
        assert_eq!(visible("rm \u{202e}gnp.x"), "rm \\u{202e}gnp.x");
        assert_eq!(visible("a\u{200b}b\u{1b}[2Jc\r"), "a\\u{200b}b\\u{1b}[2Jc\\u{d}");
        assert_eq!(visible("naïve ☃ 你好"), "naïve ☃ 你好");
    }
}
