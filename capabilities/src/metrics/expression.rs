//! What may be asked: one PromQL expression, measured before any parser sees it and parsed before any server does.
//!
//! The parser's time grows with the square of the length, and what it builds is taken down again one stack frame a level: an
//! expression without bounds would end the process that reads it. So length, brackets and operators are counted first, by a walk
//! over the characters that builds nothing.

use promql_parser::parser::value::ValueType;
use promql_parser::parser::{Expr, parse};

use crate::plain;

/// The longest expression, in bytes.
pub const MAX_BYTES: usize = 2048;
/// How deep brackets may be nested.
const MAX_NESTING: usize = 64;
/// How many operators there may be: a chain of them is as deep as it is long.
const MAX_OPERATORS: usize = 128;
/// How much of the parser's own words is told.
const MAX_TOLD: usize = 200;

/// The value that an expression has, or why it is none.
pub fn value_of(text: &str) -> Result<ValueType, String> {
    measured(text)?;
    let expression: Expr = parse(text).map_err(|told| {
        let told = plain::of_line(&told, MAX_TOLD).text;
        format!("the expression is not PromQL: {told}\nhelp: write it as in `sum by (job) (rate(requests_total[5m]))`")
    })?;
    Ok(expression.value_type())
}

/// Counts what makes parsing long or deep, without parsing.
fn measured(text: &str) -> Result<(), String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the expression is longer than {MAX_BYTES} bytes\nhelp: ask for less at a time"));
    }
    let (mut open, mut deepest, mut operators) = (0_usize, 0_usize, 0_usize);
    let mut quoted = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (quoted, c) {
            // Between back quotes nothing is escaped.
            (Some('"' | '\''), '\\') => drop(characters.next()),
            (Some(quote), _) if quote == c => quoted = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quoted = Some(c),
            (None, '#') => drop(characters.by_ref().find(|c| *c == '\n')),
            (None, '(' | '[' | '{') => {
                open += 1;
                deepest = deepest.max(open);
            }
            (None, ')' | ']' | '}') => open = open.saturating_sub(1),
            (None, '+' | '-' | '*' | '/' | '%' | '^' | '=' | '<' | '>' | '!') => operators += 1,
            (None, _) => {}
        }
    }
    if deepest > MAX_NESTING {
        return Err(format!("the expression is nested more than {MAX_NESTING} deep\nhelp: take brackets away"));
    }
    if operators > MAX_OPERATORS {
        return Err(format!("the expression has more than {MAX_OPERATORS} operators\nhelp: ask for less at a time"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, measured, value_of};
    use promql_parser::parser::value::ValueType;
    use proptest::prelude::*;

    #[test]
    fn what_an_expression_gives_is_known_before_it_is_sent() {
        for (text, value) in [
            ("up", ValueType::Vector),
            ("up[5m]", ValueType::Matrix),
            ("1 + 1", ValueType::Scalar),
            ("\"a\"", ValueType::String),
            ("sum by (job) (rate(http_requests_total{code=~\"5..\"}[5m])) > 0.5", ValueType::Vector),
        ] {
            assert_eq!(value_of(text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn what_is_no_promql_is_refused_in_words() {
        for bad in ["", "up{", "sum(", "nosuch(up)", "rate(up)", "up; up", "up \n)", "{}", "\u{202e}"] {
            let told = value_of(bad).unwrap_err();
            assert!(told.contains("\nhelp: ") && told.len() < 600, "{bad:?}: {told}");
        }
    }

    /// On a stack as small as a worker's thread may have.
    #[test]
    fn what_would_end_a_parser_is_refused_before_it_sees_it() {
        let repeated = |part: &str, times: usize| part.repeat(times);
        let on_a_small_stack = move || {
            for long in [
                repeated("(", 5000) + "1" + &repeated(")", 5000),
                repeated("sum(", 20_000),
                repeated("up+", 20_000) + "up",
                repeated("(", 65) + "up" + &repeated(")", 65),
                repeated("-", 129) + "1",
                repeated("1^", 129) + "1",
                // A bracket within a string closes nothing, and one behind a comment's end opens something.
                repeated("(\")\"+", 65),
                repeated("(#)\n", 65),
            ] {
                assert!(measured(&long).is_err(), "{}", long.len());
            }
            for deepest in [
                repeated("(", 64) + "up" + &repeated(")", 64),
                repeated("-", 128) + "1",
                repeated("1^", 128) + "1",
                repeated("a or ", 400) + "a",
                repeated("a,", 400) + "a",
                repeated("{", 64),
                format!("up{{a=\"{}\"}}", repeated("(", 1900)),
            ] {
                assert!(deepest.len() <= MAX_BYTES && measured(&deepest).is_ok(), "{}", deepest.len());
                // Whatever it is, it ends.
                let _ = value_of(&deepest);
            }
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn(on_a_small_stack).unwrap().join().unwrap();
    }

    proptest! {
        /// Nothing ends the process, and what is accepted was measured.
        #[test]
        fn any_text_is_an_expression_or_a_refusal(
            parts in prop::collection::vec(prop::sample::select(vec![
                "up", "sum", "rate", " by ", "(", ")", "[5m]", "[5m:1m]", "{", "}", "a=\"b\"", "=~", "'", "\"", "`", "#", "\n", "-", "+",
                " or ", " on ", " bool ", "@", " start()", "offset 5m", "1", "1e9", "NaN", ",", "\\", "é",
            ]), 0..60),
        ) {
            let text = parts.concat();
            if value_of(&text).is_ok() {
                prop_assert!(measured(&text).is_ok());
            }
        }
    }
}
