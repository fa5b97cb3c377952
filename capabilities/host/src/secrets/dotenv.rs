//! `.env` files: one `NAME=value` a line.
//!
//! ```text
//! # a comment
//! TOKEN=plain until the end of the line    # or to a comment
//! export QUOTED="with \"escapes\", \n and $ as it stands"
//! LITERAL='as it stands'
//! ```
//!
//! Nothing is looked up or run: a `$` is a character. What can be read in two ways is no `.env` file.

/// Why a text is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotOne;

/// The value of a name; none where the file has no such name.
///
/// # Errors
/// [`NotOne`] when a line cannot be read, or a name stands there twice: then the file says nothing at all.
pub fn value(text: &str, wanted: &str) -> Result<Option<String>, NotOne> {
    let mut names = std::collections::BTreeSet::new();
    let mut found = None;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, value) = line.split_once('=').ok_or(NotOne)?;
        let name = name.strip_prefix("export ").unwrap_or(name).trim();
        if !is_name(name) || !names.insert(name) {
            return Err(NotOne);
        }
        let value = read(value.trim_start())?;
        if name == wanted {
            found = Some(value);
        }
    }
    Ok(found)
}

/// Whether a text is a variable's name.
pub fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 128
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn read(written: &str) -> Result<String, NotOne> {
    let (value, rest) = match written.as_bytes().first() {
        Some(b'\'') => {
            let inner = written.strip_prefix('\'').unwrap_or_default();
            let (value, rest) = inner.split_once('\'').ok_or(NotOne)?;
            (value.to_owned(), rest)
        }
        Some(b'"') => escaped(written.strip_prefix('"').unwrap_or_default())?,
        Some(_) | None => return plain(written),
    };
    let rest = rest.trim_start_matches([' ', '\t']);
    // Two words side by side are one to a shell and two to others.
    if rest.is_empty() || rest.starts_with('#') { Ok(value) } else { Err(NotOne) }
}

/// Until the end of the line, or until a comment.
fn plain(written: &str) -> Result<String, NotOne> {
    let comment = written
        .match_indices('#')
        .find(|(at, _)| written.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t'])));
    let value = written.get(..comment.map_or(written.len(), |(at, _)| at)).unwrap_or_default().trim_end();
    if value.contains(['"', '\'', '\\', '`']) { Err(NotOne) } else { Ok(value.to_owned()) }
}

fn escaped(inner: &str) -> Result<(String, &str), NotOne> {
    let mut value = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    loop {
        match rest.next().ok_or(NotOne)? {
            '"' => return Ok((value, rest.as_str())),
            '\\' => value.push(match rest.next().ok_or(NotOne)? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c @ ('\\' | '"' | '$' | '\'') => c,
                _ => return Err(NotOne),
            }),
            c => value.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NotOne, value};
    use proptest::prelude::*;

    #[test]
    fn a_line_is_read_in_one_way_or_not_at_all() {
        for (line, read) in [
            ("A=b", "b"),
            ("A=", ""),
            ("  export A = b c # d", "b c"),
            ("A=b#c", "b#c"),
            ("A=$B ${C}", "$B ${C}"),
            ("A='b # \" \\n' # c", "b # \" \\n"),
            ("A=\"b\\n\\\"\\\\\\$\" ", "b\n\"\\$"),
            ("\u{feff}A=b\r\nB=c", "b"),
        ] {
            assert_eq!(value(line, "A"), Ok(Some(read.to_owned())), "{line:?}");
        }
        for line in [
            "A",
            "=b",
            "1A=b",
            "A B=c",
            "A=b\nA=c",
            "A='b",
            "A=\"b",
            "A=\"b\\q\"",
            "A='b'c",
            "A=b'c'",
            "A=a\\b",
            "A=`b`",
            "exportA=b\n-",
        ] {
            assert_eq!(value(line, "A"), Err(NotOne), "{line:?}");
        }
        assert_eq!(value("# A=b\n\nB=c", "A"), Ok(None));
    }

    proptest! {
        /// No text stops it, and one bad line is enough for a file to say nothing.
        #[test]
        fn no_env_file_is_too_strange(text in "(\\PC|[A=\"'\\\\\n#$]){0,64}") {
            let read = value(&text, "A");
            prop_assert_eq!(value(&format!("{text}\n-"), "A"), Err(NotOne));
            if let Ok(Some(read)) = read {
                prop_assert!(read.len() <= text.len());
            }
        }

        /// What is written in single quotes, or in double ones with escapes, comes back.
        #[test]
        fn what_is_quoted_comes_back(text in "[^\r\n\u{b}\u{c}\u{85}\u{2028}\u{2029}]{0,32}") {
            let double = text.replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(value(&format!("B=c\nA=\"{double}\""), "A"), Ok(Some(text.clone())));
            if !text.contains('\'') {
                prop_assert_eq!(value(&format!("A='{text}'\nB=c"), "A"), Ok(Some(text)));
            }
        }
    }
}
