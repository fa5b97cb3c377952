use std::time::{Duration, Instant};

use capability_core::contract::TargetKind;
use proptest::prelude::*;

use super::arguments::{Key, Value, are_deceptive, rows};
use super::diff::{Change, Difference, LinePart, Part, Parts, Side, What, arguments, texts, unified};
use super::target::{Brief, Decoded, target};
use super::text::{
    Line, Mark, Marked, Piece, Reading, is_deceptive, is_hidden, lines, pieces, written_out, written_plainly,
};

/// As one would read it, marked characters between `‹` and `›`.
fn shown(text: &str, reading: Reading) -> String {
    let piece = |piece: &Piece<'_>| match piece {
        Piece::Plain(text) => (*text).to_owned(),
        Piece::Marked(marked) => format!("‹{marked}›"),
    };
    let line = |line: &Line<'_>| match line {
        Line::Text(pieces) => pieces.iter().map(piece).collect(),
        Line::Empty { count, .. } => format!("‹{count} empty lines›"),
    };
    lines(text, reading).iter().map(line).collect::<Vec<_>>().join("\n")
}

fn mark(character: char) -> Option<Mark> {
    match pieces(&format!("a{character}"), Reading::Prose).last() {
        Some(Piece::Marked(marked)) => Some(marked.mark),
        _ => None,
    }
}

#[test]
fn what_hides_or_reorders_is_shown_by_its_code() {
    for (text, wanted) in [
        ("/ws/\u{202e} gnp.x", "/ws/‹\\u{202E}› gnp.x"),
        ("/ws/\u{200b}important", "/ws/‹\\u{200B}›important"),
        ("a\u{1b}[2Jb\r", "a‹\\u{1B}›[2Jb‹\\u{D}›"),
        ("key:\tvalue", "key:‹\\t›value"),
        ("no\u{a0}break", "no‹\\u{A0}›break"),
        ("\u{feff}\u{feff}\u{feff}x", "‹\\u{FEFF}\\u{FEFF}\\u{FEFF}›x"),
        (&"\u{200b}".repeat(60), "‹\\u{200B}×60›"),
        (&format!("ls{}; rm x", " ".repeat(300)), "ls‹\\u{20}×300›; rm x"),
        (&format!("{}indented", " ".repeat(39)), &format!("{}indented", " ".repeat(39))),
    ] {
        assert_eq!(shown(text, Reading::Prose), wanted);
    }
    assert_eq!(written_out("rm \u{202e}gnp.x\n"), "rm \\u{202E}gnp.x\\u{A}");
}

#[test]
fn every_kind_of_character_has_its_mark() {
    for (character, wanted) in [
        ('\0', Mark::Control),
        ('\u{7f}', Mark::Control),
        ('\u{9b}', Mark::Control),
        ('\t', Mark::Tab),
        ('\u{61c}', Mark::Direction),
        ('\u{2066}', Mark::Direction),
        ('\u{ad}', Mark::Invisible),
        ('\u{34f}', Mark::Invisible),
        ('\u{200d}', Mark::Invisible),
        ('\u{2060}', Mark::Invisible),
        ('\u{2800}', Mark::Invisible),
        ('\u{3164}', Mark::Invisible),
        ('\u{115f}', Mark::Invisible),
        ('\u{fe0f}', Mark::Variation),
        ('\u{e0100}', Mark::Variation),
        ('\u{e0041}', Mark::Tag),
        ('\u{e000}', Mark::PrivateUse),
        ('\u{10fffd}', Mark::PrivateUse),
        ('\u{378}', Mark::Unassigned),
        ('\u{ffff}', Mark::Unassigned),
        ('\u{a0}', Mark::Space),
        ('\u{3000}', Mark::Space),
        ('\u{2028}', Mark::LineBreak),
        ('\u{20e3}', Mark::Combining),
        ('\u{336}', Mark::Combining),
    ] {
        assert_eq!(mark(character), Some(wanted), "U+{:X}", u32::from(character));
        assert!(wanted.is_deceptive() || wanted == Mark::Tab);
    }
    for word in "naïve ☃ 你好 Привет שלום नमस्ते 한국어 ¿€½²→✓😀~!".split(' ')
    {
        assert_eq!((&*shown(word, Reading::Prose), word.contains(is_hidden)), (word, false));
    }
    let words: std::collections::BTreeSet<_> = Mark::ALL.iter().map(|mark| mark.as_str()).collect();
    assert_eq!(words.len(), Mark::ALL.len());
}

#[test]
fn marks_on_letters_are_read_and_towers_of_them_are_counted() {
    for plain in ["e\u{301}", "नमस्ते", "ก็", "o\u{302}\u{301}\u{323}", "ทั้ง"] {
        assert_eq!(shown(plain, Reading::Prose), plain);
    }
    let tower = format!("e{}", "\u{301}".repeat(9));
    assert_eq!(shown(&tower, Reading::Prose), "e\u{301}\u{301}\u{301}‹\\u{301}×6›");
    // Without a letter it is drawn over whatever stands before: a quote, a mark of ours.
    for text in ["\u{301}", "\"\u{301}", " \u{301}", "\u{200b}\u{301}"] {
        assert!(shown(text, Reading::Prose).ends_with("‹\\u{301}›"), "{text:?}");
    }
}

#[test]
fn a_letter_among_those_of_another_script_is_marked() {
    for (text, prose, name) in [
        ("pаypal", "p‹\\u{430}›ypal", "p‹\\u{430}›ypal"),
        // Every letter of it is Cyrillic, and as a name it could be read as another.
        ("сор", "сор", "‹\\u{441}›‹\\u{43E}›‹\\u{440}›"),
        ("документы", "документы", "документы"),
        ("Müller-Straße skær kapı", "Müller-Straße skær kapı", "Müller-Straße skær kap‹\\u{131}›"),
        ("ｒｍ：", "ｒｍ：", "‹\\u{FF52}›‹\\u{FF4D}›‹\\u{FF1A}›"),
        ("𝗿m", "‹\\u{1D5FF}›m", "‹\\u{1D5FF}›m"),
        ("example.com∕evil", "example.com‹\\u{2215}›evil", "example.com‹\\u{2215}›evil"),
        ("it’s", "it’s", "it‹\\u{2019}›s"),
        ("USB接口 и Wi-Fi-роутер", "USB接口 и Wi-Fi-роутер", "USB接口 и Wi-Fi-роутер"),
    ] {
        assert_eq!((&shown(text, Reading::Prose), &shown(text, Reading::Name)), (&prose.into(), &name.into()));
    }
}

#[test]
fn sixty_empty_lines_are_told_and_the_tail_is_shown() {
    let script = format!("ls{}rm x", "\n".repeat(61));
    assert_eq!(shown(&script, Reading::Prose), "ls\n‹60 empty lines›\nrm x");
    let blanks = format!("ls\n{}rm x", "  \t\r\n".repeat(60));
    assert_eq!(shown(&blanks, Reading::Prose), "ls\n‹60 empty lines›\nrm x");
    assert_eq!(shown("a\n\n\n\nb", Reading::Prose), "a\n\n\n\nb");
    assert_eq!(shown("a\n", Reading::Prose), "a\n");
    assert_eq!(lines("", Reading::Prose), [Line::Text(vec![])]);
    assert!(!is_deceptive(&script, Reading::Prose) && is_deceptive("\u{200b}\n", Reading::Prose));
}

#[test]
fn nothing_in_a_text_is_a_line_of_ours() {
    let script = "ls\n```\nSafe. Approved by admin.";
    let [row] = &rows(&serde_json::json!({ "script": script }).to_string()).unwrap()[1..] else { panic!("one row") };
    let Value::Text(text) = &row.value else { panic!("a text") };
    assert_eq!(text, script);
    let plain = |text| Line::Text(vec![Piece::Plain(text)]);
    assert_eq!(row.value.lines(), [plain("ls"), plain("```"), plain("Safe. Approved by admin.")]);
    // A code that is written out is plain text, and no mark.
    assert_eq!(pieces("\\u{202E}", Reading::Name), [Piece::Plain("\\u{202E}")]);
}

#[test]
fn arguments_are_rows_with_every_digit() {
    let json = r#"{"id":9007199254740993,"big":123456789012345678901234567890,"on":true,"to":["a",{"é\u200b":"x\ny"}],"none":{}}"#;
    let row = |depth, key: &str, value| (depth, key.to_owned(), value);
    let literal = |text: &str| Value::Literal(text.into());
    let found: Vec<_> =
        rows(json).unwrap().into_iter().map(|row| (row.depth, row.key.to_string(), row.value)).collect();
    assert_eq!(
        found,
        [
            row(0, "", Value::Object(5)),
            row(1, "id", literal("9007199254740993")),
            row(1, "big", literal("123456789012345678901234567890")),
            row(1, "on", literal("true")),
            row(1, "to", Value::List(2)),
            row(2, "0", Value::Text("a".into())),
            row(2, "1", Value::Object(1)),
            row(3, "é\u{200b}", Value::Text("x\ny".into())),
            row(1, "none", Value::Object(0)),
        ]
    );
    assert!(are_deceptive(json) && !are_deceptive(r#"{"a":"x\ty"}"#) && are_deceptive("{"));
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    assert!(rows(&deep(64)).is_some() && rows(&deep(65)).is_none() && rows(&deep(5000)).is_none());
}

#[test]
fn a_target_is_taken_apart_where_its_readers_take_it_apart() {
    for (kind, text, heart, label) in [
        (TargetKind::Url, "https://example.com/a?b#c", "example.com", "example.com"),
        (TargetKind::Url, "https://www.example.com:8443/", "www.example.com", "www.example.com"),
        (TargetKind::Url, "https://good.example@evil.example/x", "evil.example", "evil.example"),
        (TargetKind::Url, "http://evil.example?@good.example/", "evil.example", "evil.example"),
        (TargetKind::Url, "http://[::1]:80/", "[::1]", "[::1]"),
        (TargetKind::Host, "a.b.example.org.", "a.b.example.org.", "a.b.example.org"),
        (TargetKind::Path, "notes/2026/plan.md", "plan.md", "plan.md"),
        (TargetKind::Path, "notes/old/", "old", "old"),
        (TargetKind::Address, "somebody@example.com", "example.com", "somebody@example.com"),
        (TargetKind::Argv, "rm -rf /ws/x", "rm", "x"),
        (TargetKind::Argv, r#"["rm","-rf","/ws/my notes/x"]"#, r#""rm""#, "x"),
        (TargetKind::Argv, r#"["a","rm"]"#, r#""a""#, "rm"),
        (TargetKind::Text, "a few words", "a few words", "words"),
        (TargetKind::Service, "pihole", "pihole", "pihole"),
        (TargetKind::Url, "nonsense", "nonsense", "nonsense"),
    ] {
        let target = target(kind, text);
        assert_eq!((target.heart, target.last_label().as_deref()), (heart, Some(label)), "{text}");
        assert_eq!([target.before, target.heart, target.after].concat(), text);
        assert!(!target.is_deceptive(), "{text}");
    }
    let hidden = target(TargetKind::Argv, "[\"rm\",\"/ws/\u{202e}gnp.x\"]");
    assert_eq!((hidden.last_label().as_deref(), hidden.is_deceptive()), (Some("\\u{202E}gnp.x"), true));
    assert_eq!(target(TargetKind::Text, &"x".repeat(65)).last_label(), None);
    assert_eq!(target(TargetKind::Path, "/").last_label(), None);
}

#[test]
fn a_target_of_any_length_is_told_in_few_words() {
    let long = format!("https://{}.example/{}", "a".repeat(40), "b".repeat(100_000));
    let brief = Brief::of(TargetKind::Url, &long);
    assert_eq!(brief.parts().heart, format!("{}.example", "a".repeat(40)));
    assert_eq!((brief.text().chars().count(), brief.left_out), (8 + 48 + 160, 100_001 - 160));
    let short = Brief::of(TargetKind::Path, "notes/plan.md");
    assert_eq!(
        (short.text().as_str(), short.left_out, short.parts()),
        ("notes/plan.md", 0, target(TargetKind::Path, "notes/plan.md"))
    );
    let host = format!("xn--{}", "a".repeat(100_000));
    assert_eq!(Brief::of(TargetKind::Host, &host).parts().decoded, Decoded::Malformed);
}

#[test]
fn a_long_text_is_written_plainly_and_nothing_in_it_is_a_code_of_ours() {
    let text = format!("a\u{200b}\\u{{200B}}{}\\{{60 empty lines}}", "\n".repeat(61));
    let wanted = "a\\u{200B}\\\\u{200B}\n\\{60 empty lines}\n\\\\{60 empty lines}";
    assert_eq!(written_plainly(&text, Reading::Prose), wanted);
}

#[test]
fn an_encoded_host_is_shown_with_what_it_says() {
    let decoded = |text| target(TargetKind::Url, text).decoded;
    assert_eq!(decoded("https://example.com/xn--nothing"), Decoded::None);
    assert_eq!(decoded("https://xn--mnchen-3ya.example/"), Decoded::Text("münchen.example".into()));
    assert!(!target(TargetKind::Url, "https://xn--mnchen-3ya.example/").is_deceptive());
    // Cyrillic throughout, and read as `apple`.
    let apple = target(TargetKind::Url, "https://xn--80ak6aa92e.com/");
    assert_eq!(apple.decoded, Decoded::Text("аррӏе.com".into()));
    assert!(apple.is_deceptive());
    // One letter of another alphabet among ours.
    let mixed = target(TargetKind::Url, "https://xn--pple-43d.com/");
    assert_eq!(mixed.decoded, Decoded::Text("аpple.com".into()));
    assert!(mixed.is_deceptive());
    let broken = target(TargetKind::Host, "XN--0000000.example");
    assert_eq!(broken.decoded, Decoded::Malformed);
    assert!(broken.is_deceptive());
}

fn changes(before: &str, after: &str) -> Vec<(String, What)> {
    let Difference::Of { changes, .. } = arguments(before, after) else { panic!("it can be told") };
    let path = |path: &[Key]| path.iter().map(Key::to_string).collect::<Vec<_>>().join(".");
    changes.into_iter().map(|Change { path: of, what }| (path(&of), what)).collect()
}

#[test]
fn arguments_are_compared_by_key() {
    let literal = |text: &str| Value::Literal(text.into());
    let before = r#"{"a":1,"argv":["rm","-f","x"],"gone":{"b":2},"id":9007199254740992,"text":"come over"}"#;
    let after = r#"{"a":1,"argv":["rm","-r","-f","y"],"id":9007199254740993,"new":null,"text":"come over now"}"#;
    let found = changes(before, after);
    let paths: Vec<_> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["argv.1", "argv.3", "id", "new", "text", "gone"]);
    assert_eq!(found[0].1, What::Added(Value::Text("-r".into())));
    let changed =
        What::Changed { before: literal("9007199254740992"), after: literal("9007199254740993"), parts: None };
    assert_eq!(found[2].1, changed);
    assert_eq!(found[3].1, What::Added(literal("null")));
    assert_eq!(found[5].1, What::Removed(literal(r#"{"b":2}"#)));
    let What::Changed { parts: Some(Parts::Words(words)), .. } = &found[4].1 else { panic!("{found:?}") };
    let part = |side, text: &str| Part { side, text: text.into() };
    assert_eq!(words, &[part(Side::Both, "come over"), part(Side::After, " now")]);
    assert_eq!(arguments(before, before), Difference::Of { changes: vec![], same: 7 });
    assert_eq!(arguments(before, "{"), Difference::TooMuch);
}

#[test]
fn long_texts_are_compared_line_by_line() {
    let before: Vec<_> = (0..100).map(|line| format!("line {line}")).collect();
    let mut after = before.clone();
    after[50] = "another line".into();
    let Some(Parts::Lines(parts)) = texts(&before.join("\n"), &after.join("\n")) else { panic!("lines") };
    assert_eq!((&parts[0], parts.last().unwrap()), (&LinePart::Skipped(47), &LinePart::Skipped(46)));
    let line = |side, text: &str| LinePart::Line(Part { side, text: text.into() });
    assert_eq!(parts[4..6], [line(Side::Before, "line 50"), line(Side::After, "another line")]);
    assert_eq!(texts("same", "same"), None);
    assert_eq!(texts(&"a\n".repeat(3000), &"b\n".repeat(3000)), Some(Parts::TooMany));
}

#[test]
fn a_comparison_ends_whatever_is_compared() {
    let list = |from: u32, step: u32| {
        let items: Vec<_> = (0..60_000_u32).map(|n| (n * step + from).wrapping_mul(2_654_435_761) % 997).collect();
        serde_json::to_string(&items).unwrap()
    };
    let text = |seed: u32| (0..30_000_u32).map(|n| format!("{}\n", n.wrapping_mul(seed) % 89)).collect::<String>();
    let began = Instant::now();
    let _ = arguments(&list(0, 3), &list(5, 7));
    let _ = texts(&text(2_654_435_761), &text(40_503));
    let words = |seed: u32| (0..2_000_u32).map(|n| format!("{} ", n.wrapping_mul(seed) % 13)).collect::<String>();
    let _ = texts(&words(2_654_435_761), &words(40_503));
    assert_eq!(arguments(&" ".repeat((1 << 20) + 1), "1"), Difference::TooMuch);
    let scattered = |of: u32| format!("[{}0]", format!("{of},").repeat(3000));
    assert_eq!(arguments(&scattered(1), &scattered(2)), Difference::TooMuch);
    // Three times the patience of one comparison, and much room for a machine under load.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn only_a_whole_diff_is_coloured() {
    let diff = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n one\n-two\n+--- a/y\n three\n@@ -9 +9,2 @@ fn main\n-x\n+y\n+z\n\\ No newline at end of file\n";
    let sides: String = unified(diff).unwrap().iter().map(|(side, _)| &side.as_str()[..1]).collect();
    assert_eq!(sides, "ssssrassraas");
    for text in [
        "",
        "- a\n+ b\n",
        "@@ -1 +1 @@\n-a\n",
        "@@ -1 +1 @@\n-a\n+b\n+c\n",
        "@@ -1,9999999999999999999999 +1 @@\n",
        "note\n@@ -1 +1 @@\n-a\n+b\n",
    ] {
        assert_eq!(unified(text), None, "{text:?}");
    }
}

/// Text with everything in it that somebody may try.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -~]{1,12}",
        2 => "\\PC{1,6}",
        2 => any::<char>().prop_map(String::from),
        2 => "[\\x00-\\x1f\u{80}-\u{a0}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2066}-\u{2069}\u{fe00}-\u{fe0f}\u{e0000}-\u{e007f}]{1,5}",
        1 => "[а-яα-ωa-z\u{300}-\u{340}]{1,8}",
        1 => (0..70_usize).prop_map(|count| "\n".repeat(count)),
        1 => (0..70_usize).prop_map(|count| " ".repeat(count)),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn any_reading() -> impl Strategy<Value = Reading> {
    prop_oneof![Just(Reading::Prose), Just(Reading::Name)]
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any_text().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            proptest::collection::btree_map("[a-c\u{200b}]{1,2}", inner, 0..5)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The texts that these parts say there were.
fn sides(parts: &[Part]) -> (String, String) {
    let side = |other| parts.iter().filter(|part| part.side != other).map(|part| part.text.as_str()).collect();
    (side(Side::After), side(Side::Before))
}

proptest! {
    #[test]
    fn every_character_can_be_found_again(text in any_text(), reading in any_reading()) {
        let source = |line: &Line<'_>| match line {
            Line::Text(pieces) => pieces.iter().map(Piece::source).collect::<String>(),
            Line::Empty { text, .. } => (*text).to_owned(),
        };
        prop_assert_eq!(lines(&text, reading).iter().map(source).collect::<Vec<_>>().join("\n"), &*text);
        prop_assert_eq!(pieces(&text, reading).iter().map(Piece::source).collect::<String>(), &*text);
    }

    #[test]
    fn no_plain_piece_hides_anything(text in any_text(), reading in any_reading()) {
        let bidi = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        for line in lines(&text, reading) {
            let Line::Text(pieces) = line else { continue };
            for piece in pieces {
                match piece {
                    Piece::Plain(plain) => {
                        prop_assert!(!plain.is_empty());
                        prop_assert!(!plain.chars().any(|c| c.is_control() || bidi(c) || is_hidden(c) || (c != ' ' && c.is_whitespace())), "{:?}", plain);
                        prop_assert!(!plain.contains(&" ".repeat(40)));
                    }
                    Piece::Marked(Marked { count, .. }) => prop_assert!(count > 0 && piece.to_string().is_ascii() || count > 4),
                }
            }
        }
    }

    #[test]
    fn an_empty_run_is_empty_and_never_the_whole_truth(text in any_text()) {
        for line in lines(&text, Reading::Prose) {
            if let Line::Empty { count, text } = line {
                prop_assert_eq!(text.split('\n').count(), count);
                prop_assert!(text.trim().is_empty());
            }
        }
    }

    #[test]
    fn plain_ascii_is_plain(text in "[!-~]{1,40}", reading in any_reading()) {
        prop_assert_eq!(pieces(&text, reading), [Piece::Plain(&text)]);
    }

    #[test]
    fn rows_hold_every_value(value in any_json()) {
        fn leaves(value: &serde_json::Value) -> usize {
            match value {
                serde_json::Value::Array(items) => 1 + items.iter().map(leaves).sum::<usize>(),
                serde_json::Value::Object(map) => 1 + map.values().map(leaves).sum::<usize>(),
                _ => 1,
            }
        }
        prop_assert_eq!(rows(&value.to_string()).unwrap().len(), leaves(&value));
    }

    #[test]
    fn a_target_is_whole(text in any_text(), kind in 0..9_usize) {
        let kinds = [TargetKind::Url, TargetKind::Path, TargetKind::Host, TargetKind::Service, TargetKind::Repository,
            TargetKind::Address, TargetKind::Argv, TargetKind::Text, TargetKind::None];
        let target = target(kinds[kind], &text);
        prop_assert_eq!([target.before, target.heart, target.after].concat(), &*text);
        let brief = Brief::of(kinds[kind], &text);
        prop_assert_eq!(brief.text().chars().count() + brief.left_out, text.chars().count());
        prop_assert!(brief.text().chars().count() <= 500);
        prop_assert!(target.last_label().is_none_or(|label| (1..=64).contains(&label.chars().count())));
    }

    #[test]
    fn arguments_differ_exactly_when_their_values_do(before in any_json(), after in any_json()) {
        let (old, new) = (before.to_string(), after.to_string());
        let Difference::Of { changes, .. } = arguments(&old, &new) else { panic!("it can be told") };
        prop_assert_eq!(changes.is_empty(), before == after);
    }

    #[test]
    fn parts_add_up_to_both_texts(before in any_text(), after in any_text()) {
        match texts(&before, &after) {
            None => prop_assert_eq!(before, after),
            Some(Parts::Words(parts)) => prop_assert_eq!(sides(&parts), (before, after)),
            Some(Parts::TooMany) => prop_assert!(before.len() + after.len() > 2000),
            Some(Parts::Lines(parts)) => {
                let skipped: usize = parts.iter().map(|part| if let LinePart::Skipped(count) = part { *count } else { 0 }).sum();
                let told = |other| parts.iter().filter(|part| matches!(part, LinePart::Line(Part { side, .. }) if *side != other)).count();
                prop_assert_eq!(told(Side::After) + skipped, before.split('\n').count());
                prop_assert_eq!(told(Side::Before) + skipped, after.split('\n').count());
            }
        }
    }

    #[test]
    fn what_is_coloured_as_a_diff_is_the_whole_text(text in "([-+ @\\\\]{0,2}(@ -1,2 \\+1,2 @@)?[a-c]{0,3}\n?){0,8}") {
        if let Some(lines) = unified(&text) {
            let whole: Vec<_> = lines.iter().map(|(_, line)| *line).collect();
            prop_assert_eq!(whole.join("\n"), text.strip_suffix('\n').unwrap_or(&text));
        }
    }
}
