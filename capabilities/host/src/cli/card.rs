//! What would run, on a terminal: facts first and claims below, with nothing that the terminal would interpret.

use capability_core::approval::PendingApproval;
use unicode_width::UnicodeWidthChar;

use super::output::{MARKED, styled};
use crate::display::arguments::{Key, Value, rows};
use crate::display::target::{Decoded, target};
use crate::display::text::{Line, Piece, Reading, lines, pieces};
use crate::protocol::turn_in_words;
use crate::words::{acting_for, counted};

/// The card as text, no line longer than `width` columns where the terminal has said how many it has.
pub fn card(pending: &PendingApproval, width: Option<usize>) -> String {
    let mut paper = Paper { text: String::new(), width };
    paper.ours(&format!("{}@{} asks to run", pending.capability, pending.version));
    if let Some((kind, text)) = &pending.target {
        let target = target(*kind, text);
        paper.line(&format!("  {:<9} ", kind.as_str()), &words(&pieces(text, target.reading)));
        match &target.decoded {
            Decoded::None => {}
            Decoded::Text(host) => paper.line("            which reads ", &words(&pieces(host, target.reading))),
            Decoded::Malformed => paper.ours("            which encodes no name"),
        }
    }
    paper.ours(&format!("  {:<9} {}, risk {}", "class", pending.class, pending.risk.as_str()));
    let identity = &pending.identity;
    let slot = pending.slot.as_ref().map(|slot| format!("/{slot}")).unwrap_or_default();
    let (origin, turn) = (identity.origin.as_str(), turn_in_words(identity.turn));
    let way = match acting_for(&pending.behind) {
        none if none.is_empty() => format!(" ({origin})"),
        others => format!("{others}, by way of {origin}"),
    };
    paper.ours(&format!("  {:<9} {}{slot}{way}, {turn}", "asked by", identity.subject));
    if let Some(carrier) = &pending.provider {
        paper.ours(&format!("  {:<9} by {carrier}", "runs"));
    }
    for code in &pending.because {
        paper.ours(&format!("  {:<9} {}", "because", code.message()));
    }
    paper.ours(&format!("  {:<9} {}", "expires", pending.expires_at));
    paper.ours("  arguments, exactly as they would run:");
    paper.arguments(&String::from_utf8_lossy(&pending.arguments));
    if let Some(preview) = &pending.preview {
        paper.ours("  preview:");
        paper.lines("    ", &lines(&preview.text, Reading::Prose));
    }
    for (what, claim) in [("reason", &pending.claims.reason), ("evidence", &pending.claims.evidence)] {
        if let Some(claim) = claim {
            paper.ours(&format!("  {what}, as claimed by the proposer:"));
            paper.lines("    ", &lines(claim, Reading::Prose));
        }
    }
    paper.text
}

/// A part of a line, and whether it is marked.
struct Word {
    text: String,
    marked: bool,
}

fn word(text: impl Into<String>) -> Word {
    Word { text: text.into(), marked: false }
}

fn words(pieces: &[Piece<'_>]) -> Vec<Word> {
    let word = |piece: &Piece<'_>| Word { text: piece.to_string(), marked: matches!(piece, Piece::Marked(_)) };
    pieces.iter().map(word).collect()
}

/// In quotes, as JSON has them: a code that is written out in the text has two backslashes, and a marked one has one.
fn quoted(pieces: &[Piece<'_>]) -> Vec<Word> {
    let mut quoted = words(pieces);
    for word in quoted.iter_mut().filter(|word| !word.marked) {
        word.text = word.text.replace('\\', "\\\\").replace('"', "\\\"");
    }
    quoted.insert(0, word("\""));
    quoted.push(word("\""));
    quoted
}

/// Lines one below the other. What stands in their first four columns is ours alone.
struct Paper {
    text: String,
    width: Option<usize>,
}

impl Paper {
    fn ours(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    /// One line behind a prefix of ours. Where it does not fit, it goes on below behind another one, so that nothing in it can
    /// pass for a line of its own.
    fn line(&mut self, prefix: &str, words: &[Word]) {
        let below = match prefix.strip_suffix("| ") {
            Some(prefix) => format!("{prefix}> "),
            None => format!("{}> ", prefix.replace(|c: char| c != ' ', " ")),
        };
        // Narrower than this, a terminal may break lines as it likes.
        let room = self.width.map(|width| width.saturating_sub(below.len()).max(16));
        self.text += if words.iter().all(|word| word.text.is_empty()) { prefix.trim_end() } else { prefix };
        let mut column = 0;
        for word in words {
            let characters = word.text.chars().map(|c| (c, c.width().unwrap_or(0)));
            let columns: usize = characters.clone().map(|(_, columns)| columns).sum();
            // A code is not torn apart.
            if word.marked && room.is_some_and(|room| column > 0 && column + columns > room) {
                self.text += &format!("\n{below}");
                column = 0;
            }
            let mut shown = String::new();
            for (character, columns) in characters {
                if room.is_some_and(|room| column > 0 && column + columns > room) {
                    shown += &format!("\n{below}");
                    column = 0;
                }
                shown.push(character);
                column += columns;
            }
            self.text += &if word.marked { styled(MARKED, &shown) } else { shown };
        }
        self.text.push('\n');
    }

    fn lines(&mut self, prefix: &str, lines: &[Line<'_>]) {
        for line in lines {
            match line {
                Line::Text(pieces) => self.line(prefix, &words(pieces)),
                Line::Empty { count, .. } => {
                    let told = styled(MARKED, &counted(*count, "empty line", "empty lines"));
                    self.ours(&format!("{}{told}", prefix.replace('|', ":")));
                }
            }
        }
    }

    fn arguments(&mut self, json: &str) {
        let Some(rows) = rows(json) else {
            return self.lines("    | ", &lines(json, Reading::Prose));
        };
        for row in &rows {
            let prefix = "  ".repeat(row.depth.max(1) + 1);
            let mut line = match &row.key {
                // What a call is given is an object; only an empty one needs a word.
                Key::Root => match &row.value {
                    Value::Object(0) => return self.ours("    none"),
                    _ => continue,
                },
                Key::Name(name) => quoted(&pieces(name, Reading::Name)),
                Key::Index(index) => vec![word(format!("[{index}]"))],
            };
            line.push(word(": "));
            let lines = row.value.lines();
            match (&row.value, &lines[..]) {
                (Value::Text(_), [Line::Text(pieces)]) => line.extend(quoted(pieces)),
                (Value::Text(text), _) => {
                    line.push(word(format!("a text of {} lines", text.split('\n').count())));
                }
                (Value::Literal(text), _) => line.push(word(text)),
                (Value::List(count), _) => line.push(word(format!("a list of {count}"))),
                (Value::Object(count), _) => line.push(word(format!("an object of {count}"))),
            }
            self.line(&prefix, &line);
            if lines.len() > 1 || matches!(lines[..], [Line::Empty { .. }]) {
                self.lines(&format!("{prefix}| "), &lines);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use capability_core::approval::PendingApproval;
    use serde_json::json;

    fn pending(arguments: serde_json::Value, reason: &str) -> PendingApproval {
        let session = json!({"id": "0123456789abcdef0123456789abcdef", "subject": "mind", "mode": "live", "origin": "model", "turn": 1});
        serde_json::from_value(json!({
            "id": "0123456789abcdef0123456789abcdef", "capability": "house.run", "version": 1,
            "class": {"side_effect": "mutating", "network": "local"}, "risk": "high", "identity": session,
            "arguments": arguments.to_string(), "target": ["url", "https://xn--80ak6aa92e.com/x"], "preview": null,
            "claims": {"reason": reason}, "because": [],
            "created_at": "2026-11-30T00:00:00Z", "expires_at": "2026-11-30T01:00:00Z",
        }))
        .unwrap()
    }

    fn card(pending: &PendingApproval, width: Option<usize>) -> Vec<String> {
        let card = super::card(pending, width);
        anstream::adapter::strip_str(&card).to_string().lines().map(str::to_owned).collect()
    }

    #[test]
    fn arguments_are_told_one_by_one_and_a_script_to_its_end() {
        let arguments = json!({
            "argv": ["rm", "\\u{202E}\u{202e}\"x"], "n": 9_007_199_254_740_993_u64, "none": {}, "script": format!("ls{}rm x", "\n".repeat(61)),
        });
        let lines = card(&pending(arguments, "<b>because</b>\nclass read_only"), None);
        let from = lines.iter().position(|line| line.contains("arguments")).unwrap();
        let wanted = [
            r#"    "argv": a list of 2"#,
            r#"      [0]: "rm""#,
            r#"      [1]: "\\u{202E}\u{202E}\"x""#,
            r#"    "n": 9007199254740993"#,
            r#"    "none": an object of 0"#,
            r#"    "script": a text of 62 lines"#,
            "    | ls",
            "    : 60 empty lines",
            "    | rm x",
            "  reason, as claimed by the proposer:",
            "    <b>because</b>",
            "    class read_only",
        ];
        assert_eq!(lines[from + 1..], wanted);
        assert!(
            lines.contains(&"            which reads \\u{430}\\u{440}\\u{440}\\u{4CF}\\u{435}.com".to_owned()),
            "{lines:#?}"
        );
    }

    #[test]
    fn whoever_would_carry_it_out_stands_on_the_card() {
        let mut pending = pending(json!({}), "x");
        assert!(!card(&pending, None).iter().any(|line| line.starts_with("  runs")));
        for (carrier, told) in [
            (json!({ "kind": "edge", "id": "desk" }), "  runs      by edge `desk`"),
            (
                json!({ "kind": "mcp", "id": "docs", "tool": "find", "credential": "own" }),
                "  runs      by mcp `docs`, by its tool `find`, with the subject's own credential",
            ),
            (
                json!({ "kind": "compiled", "id": "compiled", "fallback_from": "desk" }),
                "  runs      by this host, in the place of `desk`",
            ),
        ] {
            pending.provider = serde_json::from_value(carrier).unwrap();
            assert!(card(&pending, None).contains(&told.to_owned()), "{told}");
        }
    }

    #[test]
    fn for_whom_an_agent_acts_stands_on_the_card() {
        let mut pending = pending(json!({}), "x");
        let asked = "  asked by  mind (model), turn 1".to_owned();
        assert!(card(&pending, None).contains(&asked));
        let identity = |subject: &str| json!({"id": "0123456789abcdef0123456789abcdef", "subject": subject, "mode": "live", "origin": "model", "turn": 1});
        let behind = |agent: &str| json!([{ "identity": identity("agent:kitchen"), "slot": "planner", "agent": agent }, { "identity": identity("local") }]);
        pending.behind = serde_json::from_value(behind("critic")).unwrap();
        let asked = "  asked by  mind, acting for agent:kitchen/planner (agent critic), acting for local, by way of model, turn 1";
        assert!(card(&pending, None).contains(&asked.to_owned()), "{:?}", card(&pending, None));
        // No other text comes so far.
        for agent in ["critic)\n  class     read_only", "\u{202e}", ""] {
            assert!(
                serde_json::from_value::<Vec<capability_core::session::Principal>>(behind(agent)).is_err(),
                "{agent:?}"
            );
        }
    }

    #[test]
    fn a_long_line_goes_on_where_it_cannot_pass_for_one_of_ours() {
        let text = format!("{}class     read_only + local{}", " ".repeat(36), "接".repeat(40));
        let pending = pending(json!({ "b": format!("x\n{text}"), "text": text }), &text);
        let lines = card(&pending, Some(40));
        for line in &lines {
            assert!(
                !line.starts_with("class") && line.chars().map(|c| if c == '接' { 2 } else { 1 }).sum::<usize>() <= 42
            );
        }
        assert_eq!(lines.iter().filter(|line| line.starts_with("  class")).count(), 1, "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("    > ")), "{lines:#?}");
        let whole: String = lines.iter().map(|line| line.trim_start_matches(['>', '|', ' '])).collect();
        assert_eq!(whole.matches('接').count(), 120);
    }
}
