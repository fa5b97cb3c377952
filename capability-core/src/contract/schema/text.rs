//! Doc comments as descriptions.

/// Joins the soft line breaks of `text` and keeps what Markdown keeps: paragraphs, lists, quotes, tables, code.
pub(super) fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut fenced = false;
    let mut continues = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let kept = fenced || fence || starts_block(line);
        if trimmed.is_empty() && !fenced {
            // A paragraph ends once, however many empty lines follow.
            if !joined.is_empty() && !joined.ends_with("\n\n") {
                joined.truncate(joined.trim_end().len());
                joined.push_str("\n\n");
            }
            continues = false;
            continue;
        }
        if continues && !kept {
            joined.push(' ');
            joined.push_str(trimmed);
        } else {
            if fenced || !(joined.is_empty() || joined.ends_with('\n')) {
                joined.push('\n');
            }
            joined.push_str(if kept { line.trim_end() } else { trimmed });
        }
        if fence {
            fenced = !fenced;
        }
        continues = !fenced && !fence && !is_indented_code(line) && !trimmed.starts_with(['#', '|']);
    }
    joined.truncate(joined.trim_end().len());
    joined
}

/// A line that Markdown begins something new with.
fn starts_block(line: &str) -> bool {
    let trimmed = line.trim_start();
    let numbered = trimmed
        .trim_start_matches(|digit: char| digit.is_ascii_digit())
        .strip_prefix(['.', ')'])
        .is_some_and(|rest| rest.starts_with(' ') && trimmed.starts_with(|digit: char| digit.is_ascii_digit()));
    is_indented_code(line)
        || numbered
        || trimmed.starts_with(['#', '|', '>'])
        || ["- ", "* ", "+ "].iter().any(|bullet| trimmed.starts_with(bullet))
}

fn is_indented_code(line: &str) -> bool {
    line.starts_with("    ") || line.starts_with('\t')
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn soft_line_breaks_are_joined_and_paragraphs_are_kept() {
        assert_eq!(
            joined("Line one\ncontinues.\n\n\nSecond “é ☃”\n  \"quoted\".\n"),
            "Line one continues.\n\nSecond “é ☃” \"quoted\"."
        );
    }

    #[test]
    fn lists_and_code_keep_their_lines() {
        let text = "Either:\n- one\n  goes on\n- two\n1. three\n\n```text\na\n\n  b\n```\nafter";
        assert_eq!(joined(text), "Either:\n- one goes on\n- two\n1. three\n\n```text\na\n\n  b\n```\nafter");
    }
}
