//! What can be written, and what it matches.

use super::{TargetFamily, TargetPattern, TextPattern};
use crate::contract::TargetKind;

fn target(json: &str) -> TargetPattern {
    serde_json::from_str(json).unwrap()
}

fn refused(json: &str) -> String {
    serde_json::from_str::<TargetPattern>(json).unwrap_err().to_string()
}

#[test]
fn a_target_is_of_one_family() {
    for (json, family) in [
        (r#"{"host":"example.com"}"#, TargetFamily::Place),
        (r#"{"host":"**","port":443,"path":"/a/**"}"#, TargetFamily::Place),
        (r#"{"path":"notes/**"}"#, TargetFamily::Path),
        (r#"{"argv":["git","*","**"]}"#, TargetFamily::Argv),
        (r#"{"text":"*rm -rf*"}"#, TargetFamily::Text),
    ] {
        assert_eq!(target(json).family(), family, "{json}");
    }
    assert_eq!(TargetFamily::of(TargetKind::Url), Some(TargetFamily::Place));
    assert_eq!(TargetFamily::of(TargetKind::Repository), Some(TargetFamily::Path));
    assert_eq!(TargetFamily::of(TargetKind::None), None);
}

#[test]
fn what_is_no_pattern_is_refused_with_what_to_write() {
    for (json, words) in [
        ("{}", "says nothing"),
        (r#"{"port":443}"#, "no `host`"),
        (r#"{"host":"a.b","port":0}"#, "1 to 65535"),
        (r#"{"host":"a.b","argv":["x"]}"#, "two kinds"),
        (r#"{"path":"a","text":"b"}"#, "two kinds"),
        (r#"{"hosts":"a.b"}"#, "unknown field"),
        (r#"{"host":"*"}"#, "write `**` for any host"),
        (r#"{"host":"a.*.com"}"#, "wildcards come first"),
        (r#"{"host":"*example.com"}"#, "inside a label"),
        (r#"{"host":"https://example.com"}"#, "without scheme"),
        (r#"{"host":"example.com/x"}"#, "without scheme"),
        (r#"{"host":"exämple.com"}"#, "xn--"),
        (r#"{"host":""}"#, "bare host"),
        (r#"{"host":"10.0.0"}"#, "address whole"),
        (r#"{"host":"*.0.0.1"}"#, "address whole"),
        (r#"{"path":"notes/*.md"}"#, "`**/.env`"),
        (r#"{"path":"a/../b"}"#, "without detours"),
        (r#"{"path":"a\\b"}"#, "no control characters"),
        (r#"{"argv":[]}"#, "is empty"),
        (r#"{"argv":["**","x"]}"#, "comes last"),
        (r#"{"argv":["gi*"]}"#, "whole literal"),
        (r#"{"text":""}"#, "1 to 512"),
    ] {
        let said = refused(json);
        assert!(said.contains(words), "{json}: {said}");
    }
}

#[test]
fn hosts_have_one_spelling() {
    for (one, another) in
        [("EXAMPLE.com", "example.com."), ("[2606:4700:0:0::1111]", "2606:4700::1111"), ("::ffff:10.0.0.1", "10.0.0.1")]
    {
        let written = |host: &str| target(&format!(r#"{{"host":"{host}"}}"#));
        assert_eq!(written(one), written(another));
    }
    assert_eq!(target(r#"{"path":"/a//b/"}"#), target(r#"{"path":"a/b"}"#));
}

#[test]
fn inclusion_and_overlap_across_the_parts_of_a_place() {
    for (wide, narrow, included, overlapping) in [
        (r#"{"host":"**"}"#, r#"{"host":"a.b"}"#, true, true),
        (r#"{"host":"**"}"#, r#"{"host":"10.0.0.1","port":1}"#, true, true),
        (r#"{"host":"**.b"}"#, r#"{"host":"*.b"}"#, true, true),
        (r#"{"host":"*.b"}"#, r#"{"host":"b"}"#, false, false),
        (r#"{"host":"a.b","port":443}"#, r#"{"host":"a.b"}"#, false, true),
        (r#"{"host":"a.b","path":"**"}"#, r#"{"host":"a.b"}"#, true, true),
        (r#"{"host":"a.b","path":"/x/**"}"#, r#"{"host":"a.b","path":"/x/y"}"#, true, true),
        (r#"{"host":"a.b","path":"/x"}"#, r#"{"host":"a.b","path":"/y"}"#, false, false),
        (r#"{"path":"**"}"#, r#"{"host":"a.b"}"#, false, false),
        (r#"{"argv":["git","**"]}"#, r#"{"argv":["git"]}"#, true, true),
        (r#"{"text":"*a*"}"#, r#"{"text":"*ba*c"}"#, true, true),
        (r#"{"text":"a*"}"#, r#"{"text":"*a"}"#, false, true),
        (r#"{"text":"a*"}"#, r#"{"text":"b*"}"#, false, false),
    ] {
        let (one, another) = (target(wide), target(narrow));
        assert_eq!(one.includes(&another), included, "{wide} {narrow}");
        assert_eq!(one.overlaps(&another), overlapping, "{wide} {narrow}");
        assert_eq!(another.overlaps(&one), overlapping, "{wide} {narrow}");
        assert!(one.includes(&one) && one.overlaps(&one));
    }
}

/// By trying every way.
fn reference(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('*', rest)) => (0..=text.len()).any(|taken| reference(rest, &text[taken..])),
        Some((character, rest)) => text.first() == Some(character) && reference(rest, &text[1..]),
    }
}

#[test]
fn a_text_pattern_spans_every_character() {
    assert!(TextPattern::new("*rm -rf*").unwrap().matches("rm -rf /"));
    assert!(TextPattern::new("a*b").unwrap().matches("a/\n \u{0}b"));
    let alphabet = ['a', 'b', '*'];
    let mut texts: Vec<String> = vec![String::new()];
    for length in 0..5_usize {
        let longer: Vec<String> = texts
            .iter()
            .filter(|text| text.len() == length)
            .flat_map(|text| alphabet.map(|character| format!("{text}{character}")))
            .collect();
        texts.extend(longer);
    }
    let plain: Vec<&String> = texts.iter().filter(|text| !text.contains('*')).collect();
    let patterns: Vec<(&String, TextPattern)> = texts
        .iter()
        .filter(|text| !text.is_empty() && text.len() < 5)
        .map(|text| (text, TextPattern::new(text).unwrap()))
        .collect();
    let chars = |text: &str| text.chars().collect::<Vec<_>>();
    let mut matched: Vec<Vec<bool>> = Vec::new();
    for (written, pattern) in &patterns {
        let row: Vec<bool> = plain.iter().map(|text| pattern.matches(text)).collect();
        let expected: Vec<bool> = plain.iter().map(|text| reference(&chars(written), &chars(text))).collect();
        assert_eq!(row, expected, "{written}");
        matched.push(row);
    }
    // A pattern of up to three characters is told from another by texts of up to five.
    for (one, (written, wide)) in patterns.iter().enumerate().filter(|(_, (written, _))| written.len() < 4) {
        for (another, (other, narrow)) in patterns.iter().enumerate().filter(|(_, (other, _))| other.len() < 4) {
            let included = matched[another].iter().zip(&matched[one]).all(|(narrow, wide)| *wide || !*narrow);
            assert_eq!(wide.includes(narrow), included, "{written} includes {other}");
            let meeting = matched[another].iter().zip(&matched[one]).any(|(narrow, wide)| *wide && *narrow);
            assert!(wide.may_overlap(narrow) || !meeting, "{written} meets {other}");
        }
    }
}
