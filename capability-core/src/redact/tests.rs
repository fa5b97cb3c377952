//! What is found, in which forms, and that no way of cutting a text matters.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::forms::{MAX_BREAKS, is_break, of_all};
use super::{MARK, Redactor, WITHHELD, is_redactable};

/// A value with whatever an encoder escapes.
const ODD: &str = "hunter2/+\"\\x";

/// Which bytes belong to a form, by looking for every form at every place.
fn covered(values: &[&str], text: &[u8]) -> Vec<bool> {
    let forms = of_all(values.iter().copied());
    let mut covered = vec![false; text.len()];
    for start in 0..text.len() {
        'form: for form in &forms {
            let (mut at, mut breaks) = (start, 0);
            let mut matched = 0;
            while matched < form.len() {
                let Some(byte) = text.get(at) else { continue 'form };
                if is_break(*byte) {
                    breaks += 1;
                    if matched == 0 || breaks > MAX_BREAKS {
                        continue 'form;
                    }
                } else if *byte == form[matched] {
                    (matched, breaks) = (matched + 1, 0);
                } else {
                    continue 'form;
                }
                at += 1;
            }
            covered[start..at].fill(true);
        }
    }
    covered
}

/// A text with a mark in the place of each run of those.
fn marked(text: &[u8], covered: &[bool]) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, byte) in text.iter().enumerate() {
        match (covered[at], at > 0 && covered[at - 1]) {
            (true, false) => out.extend_from_slice(MARK.as_bytes()),
            (true, true) => {}
            (false, _) => out.push(*byte),
        }
    }
    out
}

fn slowly(values: &[&str], text: &[u8]) -> Vec<u8> {
    marked(text, &covered(values, text))
}

/// The same of a text that is cut into pieces: each is marked by what the whole holds.
fn slowly_in_pieces(values: &[&str], pieces: &[&str]) -> Vec<String> {
    let whole = pieces.concat();
    let covered = covered(values, whole.as_bytes());
    let mut at = 0;
    let each = pieces.iter().map(|piece| {
        let from = at;
        at += piece.len();
        String::from_utf8(marked(piece.as_bytes(), &covered[from..at])).unwrap()
    });
    each.collect()
}

fn in_pieces(redactor: &Arc<Redactor>, pieces: &[&[u8]]) -> Vec<u8> {
    let (mut stream, mut out) = (redactor.stream(), Vec::new());
    for piece in pieces {
        stream.push(piece, &mut out);
    }
    stream.finish(&mut out);
    out
}

#[test]
fn every_form_of_a_value_is_found() {
    let redactor = Redactor::new([ODD]);
    for form in [
        ODD.to_owned(),
        // In JSON, and in JSON within JSON.
        r#"hunter2/+\"\\x"#.to_owned(),
        r#"hunter2\/+\"\\x"#.to_owned(),
        r#"hunter2/+\\\"\\\\x"#.to_owned(),
        // In addresses.
        "hunter2%2F%2B%22%5Cx".to_owned(),
        "hunter2%2f%2b%22%5cx".to_owned(),
        "hunter2/%2B%22%5Cx".to_owned(),
        "hunter2/+%22%5Cx".to_owned(),
        // In HTML.
        "hunter2/+&quot;\\x".to_owned(),
        "hunter2/+&#34;\\x".to_owned(),
        // In hex.
        "68756e746572322f2b225c78".to_owned(),
        "68756E746572322F2B225C78".to_owned(),
    ] {
        assert_eq!(redactor.text(&format!("a {form} b")), format!("a {MARK} b"), "{form}");
    }
    let spaced = Redactor::new(["open sésame <1>"]);
    for form in [
        "open%20s%C3%A9same%20%3C1%3E",
        "open%20s%c3%a9same%20%3c1%3e",
        "open+s%C3%A9same+%3C1%3E",
        "open s\\u00e9same <1>",
        "open s\\u00E9same <1>",
        "open sésame \\u003c1\\u003e",
        "open sésame &lt;1&gt;",
    ] {
        assert_eq!(spaced.text(form), MARK, "{form}");
    }
}

#[test]
fn in_base64_it_is_found_wherever_it_begins_and_however_the_lines_are_folded() {
    use base64ct::{Base64, Base64Url, Encoding as _};
    let redactor = Redactor::new([ODD]);
    for before in 0..7 {
        let text = [vec![b'.'; before], ODD.as_bytes().to_vec(), b" and what follows".to_vec()].concat();
        for encoded in [Base64::encode_string(&text), Base64Url::encode_string(&text)] {
            // A character at each end holds bits of what stands beside the value.
            let told = redactor.text(&encoded);
            assert!(told.contains(MARK) && told.len() <= encoded.len() - 14 + MARK.len(), "{told}");
            for columns in [1, 4, 5, 8, 13] {
                for line in ["\n", "\r\n"] {
                    let folded: Vec<String> = encoded
                        .as_bytes()
                        .chunks(columns)
                        .map(|part| String::from_utf8(part.to_vec()).unwrap())
                        .collect();
                    let told = redactor.text(&folded.join(line)).replace(['\r', '\n'], "");
                    assert_eq!(told, redactor.text(&encoded).replace(['\r', '\n'], ""), "{columns}");
                }
            }
        }
    }
    assert_eq!(redactor.text(&Base64::encode_string(ODD.as_bytes())), MARK);
}

#[test]
fn what_overlaps_or_touches_is_replaced_once_and_what_does_not_is_replaced_twice() {
    let redactor = Redactor::new(["abcdefgh", "efghijkl", "abcdefghi-and-more"]);
    for (text, told) in [
        ("abcdefghijkl", "[redacted]"),
        ("abcdefghi-and-more", "[redacted]"),
        ("abcdefghi-and-mor", "[redacted]i-and-mor"),
        ("abcdefghabcdefgh", "[redacted]"),
        ("abcdefgh\u{1}efghijkl", "[redacted]\u{1}[redacted]"),
        ("<abcdefgh>", "<[redacted]>"),
        ("abcdefg", "abcdefg"),
        ("", ""),
    ] {
        assert_eq!(redactor.text(text), told);
    }
}

#[test]
fn a_value_over_several_lines_is_found_in_any_of_its_dresses() {
    let key = "-----BEGIN KEY-----\nabcdef\nghijkl\n-----END KEY-----";
    let redactor = Redactor::new([key, "first half\n\n\n\nsecond half"]);
    for form in [key.to_owned(), key.replace('\n', "\r\n"), key.replace('\n', "\\n"), key.replace('\n', "")] {
        assert_eq!(redactor.text(&form), MARK, "{form}");
    }
    assert_eq!(redactor.text("first half\n\n\n\nsecond half"), "[redacted]\n\n\n\n[redacted]");
}

#[test]
fn a_short_value_is_not_looked_for() {
    let redactor = Redactor::new(["1234567", "", "x"]);
    assert_eq!(redactor.text("x 1234567"), "x 1234567");
    assert_eq!(redactor.json("[1234567]"), "[1234567]");
}

#[test]
fn a_document_loses_the_values_in_its_texts_keys_and_numbers_and_nothing_else() {
    let redactor = Redactor::new([ODD, "1234567890"]);
    let document =
        json!({ "z": [format!("x {ODD}"), true, null], "a": { ODD: 1 }, "n": 1_234_567_890, "b": "é\n\u{1}" });
    let told: serde_json::Value = serde_json::from_str(&redactor.json(&document.to_string())).unwrap();
    let expected =
        json!({ "z": ["x [redacted]", true, null], "a": { "[redacted]": 1 }, "n": "[redacted]", "b": "é\n\u{1}" });
    assert_eq!(told, expected);
    assert_eq!(redactor.value(document), expected);
    // Line by line, in base64 that an escape folds.
    let folded = r#"{ "k" : 1.50, "out": "aHVudGVy\nMi8rIlx4", "u": "\u00e9" }"#;
    assert_eq!(redactor.json(folded), r#"{ "k" : 1.50, "out": "[redacted]", "u": "\u00e9" }"#);
    // Not by the way in which a document happens to be written.
    assert_eq!(redactor.json(r#"["\u0068unter2/+\"\\x"]"#), r#"["[redacted]"]"#);
    for same in [r#"{"a" : "b\n", "c":[1e3,  -0]}"#, "null", "", "\"", "{", "[\"\\"] {
        assert_eq!(redactor.json(same), same);
    }
}

#[test]
fn a_value_in_two_pieces_is_found_in_both() {
    let redactor = Redactor::new(["swordfish-and-more"]);
    let told = |document: &serde_json::Value| -> serde_json::Value {
        let told = serde_json::from_str(&redactor.json(&document.to_string())).unwrap();
        assert_eq!(told, redactor.value(document.clone()), "{document}");
        told
    };
    // As lines, as pieces of an answer, as columns, in base64 that a list folds.
    assert_eq!(
        told(&json!(["so: sword", "fish-and-", "more!"])),
        json!(["so: [redacted]", "[redacted]", "[redacted]!"])
    );
    let pieces =
        json!({ "content": [{ "kind": "text", "text": "\"swordfish" }, { "kind": "text", "text": "-and-more" }] });
    let expected = json!({ "content": [{ "kind": "text", "text": "\"[redacted]" }, { "kind": "text", "text": MARK }] });
    assert_eq!(told(&pieces), expected);
    assert_eq!(told(&json!([["a", "swordfish-a"], [], ["nd-more"]])), json!([["a", MARK], [], [MARK]]));
    assert_eq!(told(&json!({ "b": ["c3dvcmRmaXNo", "LWFuZC1tb3Jl"] })), json!({ "b": [MARK, MARK] }));
    // What lies between two pieces, and what stands at other places, is no part of them.
    for same in [
        json!(["swordfish", "x", "-and-more"]),
        json!({ "a": "swordfish", "b": "-and-more" }),
        json!([{ "a": "swordfish" }, { "b": "-and-more" }]),
        json!({ "swordfish": ["-and-more"] }),
        json!([["swordfish"], { "a": "-and-more" }]),
        json!({ "a": ["swordfish"], "b": ["-and-more"] }),
    ] {
        assert_eq!(told(&same), same);
    }
    // What is no document is looked through all the same.
    assert_eq!(redactor.json(r#"]}["swordfish","-and-more""#), r#"]}["[redacted]","[redacted]""#);
    assert_eq!(redactor.texts::<&str>(&[]), Vec::<String>::new());
}

#[test]
fn what_is_known_later_is_looked_for_from_then_on() {
    let (first, both) = (Redactor::new([ODD]), Redactor::new([ODD, "swordfish-and-more"]));
    for known in [Arc::new(Redactor::new([])), Arc::new(first)] {
        let (mut stream, mut out) = (known.stream(), Vec::new());
        stream.push(b"swordfish-and-more; hunter2/+", &mut out);
        stream.renew(Arc::new(Redactor::new([ODD, "swordfish-and-more"])));
        stream.push(b"\"\\x; swordfish-", &mut out);
        stream.push(b"and-more.", &mut out);
        stream.finish(&mut out);
        let told = String::from_utf8(out).unwrap();
        assert!(told.starts_with("swordfish-and-more; ") && told.ends_with("; [redacted]."), "{told}");
    }
    // Nothing that is held back is lost with one that knows less.
    let (mut stream, mut out) = (Arc::new(both).stream(), Vec::new());
    stream.push(b"a swordfish", &mut out);
    stream.renew(Arc::new(Redactor::new([])));
    stream.push(b" b", &mut out);
    stream.finish(&mut out);
    assert_eq!(out, b"a swordfish b");
}

#[test]
fn one_that_fails_lets_nothing_through() {
    let broken = Arc::new(Redactor::broken());
    assert_eq!(broken.text("anything"), WITHHELD);
    assert_eq!(broken.json("[1]"), format!("\"{WITHHELD}\""));
    assert_eq!(broken.value(json!({"a": 1})), json!(WITHHELD));
    assert_eq!(broken.texts(&["any", "thing"]), [WITHHELD, WITHHELD]);
    assert!(broken.looked_through("[1]").is_err());
    assert_eq!(in_pieces(&broken, &[b"any", b"thing"]), WITHHELD.as_bytes());
    assert!(broken.is_broken() && !Redactor::new([ODD]).is_broken());
}

#[test]
fn what_is_held_back_is_little_and_only_what_could_be_a_value() {
    let redactor = Arc::new(Redactor::new(["aaaaaaaaaaaa"]));
    let (mut stream, mut out) = (redactor.stream(), Vec::new());
    stream.push(b"a line of no interest.\n", &mut out);
    assert_eq!(out, b"a line of no interest.\n");
    // A mark that never ends takes no room, and is one.
    for _ in 0..10_000 {
        stream.push(b"aaaaaaaaaaa", &mut out);
        assert!(stream.holds() <= 36);
    }
    stream.push(b"\n\n\n\n\nb", &mut out);
    stream.finish(&mut out);
    assert_eq!(out, b"a line of no interest.\n[redacted]\n\n\n\n\nb");
}

#[test]
fn what_was_cut_off_ends_with_no_beginning_of_a_value() {
    let redactor = Arc::new(Redactor::new(["swordfish-and-more"]));
    for (text, told) in [
        ("the word is swordfish-and-mor", "the word is [redacted]"),
        ("the word is swor", "the word is [redacted]"),
        ("the word is swo", "the word is swo"),
        ("swordfish-and-moreswordfish", "[redacted]"),
        ("plain", "plain"),
    ] {
        let (mut stream, mut out) = (redactor.stream(), Vec::new());
        stream.push(text.as_bytes(), &mut out);
        stream.cut(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), told);
    }
}

/// Texts in which beginnings, ends and whole forms of few letters stand close together.
fn texts() -> impl Strategy<Value = (Vec<String>, Vec<u8>)> {
    let value = prop_oneof![
        3 => "[ab]{8,12}",
        1 => "(ab){4,6}|a{8,14}",
        1 => "[ab/\" é]{8,10}",
        1 => "[ab]{4,6}\n{1,4}[ab]{4,6}",
    ];
    prop::collection::vec(value, 1..4).prop_flat_map(|values| {
        let forms: Vec<Vec<u8>> = of_all(values.iter().map(String::as_str)).into_iter().collect();
        let piece = (
            prop::sample::select(forms),
            any::<prop::sample::Index>(),
            0..10_u8,
            "[ab\r\n]{0,3}|[c-z ]{0,40}|([c-f]{5,9}\n){0,4}",
        );
        let text = prop::collection::vec(piece, 0..8).prop_map(|pieces| {
            let mut text = Vec::new();
            for (form, at, how, after) in pieces {
                let at = at.index(form.len());
                match how {
                    0 => text.extend_from_slice(&form[..at]),
                    1 => text.extend_from_slice(&form[at..]),
                    2 | 3 => {
                        text.extend_from_slice(&form[..at]);
                        text.extend_from_slice(["\n", "\r\n", "\n\n", "\n\n\n"][at % 4].as_bytes());
                        text.extend_from_slice(&form[at..]);
                    }
                    _ => text.extend_from_slice(&form),
                }
                text.extend_from_slice(after.as_bytes());
            }
            text
        });
        (Just(values), text)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A whole text, and the same text cut once at every place.
    #[test]
    fn no_cut_matters((values, text) in texts()) {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let redactor = Arc::new(Redactor::new(values.iter().copied()));
        let whole = slowly(&values, &text);
        for at in 0..=text.len() {
            let (first, second) = text.split_at(at);
            let told = in_pieces(&redactor, &[first, second]);
            prop_assert_eq!(String::from_utf8_lossy(&told), String::from_utf8_lossy(&whole), "at {}", at);
        }
        if let Ok(text) = core::str::from_utf8(&text) {
            let told = redactor.text(text);
            prop_assert_eq!(told.as_bytes(), whole.as_slice());
        }
    }

    /// The same text in any pieces, and byte by byte.
    #[test]
    fn no_pieces_matter((values, text) in texts(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let redactor = Arc::new(Redactor::new(values.iter().copied()));
        let whole = slowly(&values, &text);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        prop_assert_eq!(&in_pieces(&redactor, &pieces), &whole);
        prop_assert_eq!(&in_pieces(&redactor, &text.chunks(1).collect::<Vec<_>>()), &whole);
    }

    /// The same text as pieces that are shown one behind the other, and as texts at one place of a list.
    #[test]
    fn no_piece_of_an_answer_holds_a_part((values, text) in texts(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let redactor = Redactor::new(values.iter().copied());
        let text = String::from_utf8_lossy(&text);
        let mut cuts: Vec<usize> =
            cuts.iter().map(|cut| text.floor_char_boundary(cut.index(text.len() + 1))).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        let expected = slowly_in_pieces(&values, &pieces);
        prop_assert_eq!(&redactor.texts(&pieces), &expected);
        let piece = |text: &str| json!({ "kind": "text", "text": text, "n": 1 });
        for (document, expected) in [
            (json!(pieces), json!(expected)),
            (json!({ "lines": pieces, "all": [] }), json!({ "lines": expected, "all": [] })),
            (
                json!([pieces.iter().map(|text| piece(text)).collect::<Vec<_>>()]),
                json!([expected.iter().map(|text| piece(text)).collect::<Vec<_>>()]),
            ),
        ] {
            let told: serde_json::Value = serde_json::from_str(&redactor.json(&document.to_string())).unwrap();
            prop_assert_eq!(&told, &expected);
            prop_assert_eq!(redactor.value(document), expected);
        }
    }

    /// No value stands in a document after it, wherever it stood.
    #[test]
    fn a_document_holds_no_value_afterwards(value in "\\PC{8,24}|[a-z/\"\\\\\n]{8,16}", around in "\\PC{0,8}", key in any::<bool>()) {
        // Parts of a value that a run of line breaks keeps apart are looked for one by one.
        prop_assume!(!value.contains("\n\n\n") && is_redactable(&value));
        let redactor = Redactor::new([value.as_str()]);
        let text = format!("{around}{value}{around}");
        let document = if key { json!({ text: [1] }) } else { json!([{ "k": text }]) };
        let told: serde_json::Value = serde_json::from_str(&redactor.json(&document.to_string())).unwrap();
        prop_assert_eq!(&told, &redactor.value(document));
        let told = match &told {
            serde_json::Value::Object(object) => object.keys().next().unwrap().clone(),
            other => other[0]["k"].as_str().unwrap().to_owned(),
        };
        prop_assert!(value.contains('\n') || !told.contains(&value));
        prop_assert!(told.contains(MARK));
    }
}
