//! Against everything there is over a small alphabet.

use proptest::prelude::*;

use super::{MAX_TOKENS, Pattern, Token};

/// `a/*/**` as tokens.
fn pattern(text: &str) -> Pattern {
    let token = |part: &str| match part {
        "*" => Token::One,
        "**" => Token::Many,
        literal => Token::Literal(literal.into()),
    };
    Pattern::new(text.split('/').filter(|part| !part.is_empty()).map(token)).unwrap()
}

/// By trying every way, the plainest there is.
fn reference(pattern: &[Token], sequence: &[&str]) -> bool {
    match pattern.split_first() {
        None => sequence.is_empty(),
        Some((Token::Many, rest)) => (0..=sequence.len()).any(|taken| reference(rest, &sequence[taken..])),
        Some((Token::One, rest)) => !sequence.is_empty() && reference(rest, &sequence[1..]),
        Some((Token::Literal(literal), rest)) => {
            sequence.first() == Some(&&**literal) && reference(rest, &sequence[1..])
        }
    }
}

/// Every sequence over three tokens, of up to six.
fn universe() -> Vec<Vec<&'static str>> {
    let mut all = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..6 {
        last = last
            .iter()
            .flat_map(|shorter| ["a", "b", "~"].map(|token| [shorter.as_slice(), &[token]].concat()))
            .collect();
        all.extend(last.iter().cloned());
    }
    all
}

#[test]
fn whole_tokens_and_nothing_else() {
    for (text, sequence, expected) in [
        ("a/b", &["a", "b"][..], true),
        ("a/b", &["a"], false),
        ("a/*", &["a", "b"], true),
        ("a/*", &["a"], false),
        ("a/*", &["a", "b", "c"], false),
        ("a/**", &["a"], true),
        ("a/**", &["a", "b", "c"], true),
        ("**/.env", &[".env"], true),
        ("**/.env", &["ws", "src", ".env"], true),
        ("**/.env", &["ws", "src", "x.env"], false),
        ("**/a/**/a", &["a", "b", "a", "a"], true),
        ("**/a/*/a", &["a", "a", "b", "a", "a"], false),
        ("**/a/*/a", &["a", "a", "b", "a"], true),
    ] {
        assert_eq!(pattern(text).matches(sequence), expected, "{text} {sequence:?}");
    }
}

#[test]
fn runs_of_wildcards_have_one_spelling() {
    assert_eq!(pattern("**/*"), pattern("*/**"));
    assert_eq!(pattern("a/**/**/*/**/b"), pattern("a/*/**/b"));
    assert_ne!(pattern("*"), pattern("**"));
}

#[test]
fn inclusion_is_of_sets_and_not_of_spellings() {
    for (wide, narrow, included) in [
        ("**", "a/b", true),
        ("**", "**/*", true),
        ("**/*", "**", false),
        ("a/**", "a/*/b", true),
        ("**/b", "a/**/b", true),
        ("a/*/**", "a/**/a", true),
        ("*/**/a/**", "**/a/**/a/**", true),
        ("a/*", "a/**", false),
        ("**/a", "**/b", false),
    ] {
        assert_eq!(pattern(wide).includes(&pattern(narrow)), included, "{wide} {narrow}");
    }
}

#[test]
fn there_is_an_end_to_their_length() {
    assert!(Pattern::new(vec![Token::One; MAX_TOKENS]).is_some());
    assert!(Pattern::new(vec![Token::One; MAX_TOKENS + 1]).is_none());
    let longest = Pattern::new(vec![Token::One; MAX_TOKENS]).unwrap();
    assert!(longest.includes(&longest.clone()) && longest.overlaps(&longest));
}

fn tokens() -> impl Strategy<Value = Vec<Token>> {
    let token = prop_oneof![
        Just(Token::Literal("a".into())),
        Just(Token::Literal("b".into())),
        Just(Token::One),
        Just(Token::Many),
    ];
    proptest::collection::vec(token, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// The universe has longer sequences than two such patterns can tell apart.
    #[test]
    fn matching_inclusion_and_overlap_are_those_of_the_sets(one in tokens(), another in tokens()) {
        let (first, second) = (Pattern::new(one.clone()).unwrap(), Pattern::new(another.clone()).unwrap());
        let (mut included, mut overlapping) = (true, false);
        for sequence in universe() {
            let (in_first, in_second) = (reference(&one, &sequence), reference(&another, &sequence));
            prop_assert_eq!(first.matches(&sequence), in_first);
            included &= in_first || !in_second;
            overlapping |= in_first && in_second;
        }
        prop_assert_eq!(first.includes(&second), included);
        prop_assert_eq!(first.overlaps(&second), overlapping);
        prop_assert_eq!(second.overlaps(&first), overlapping);
    }
}
