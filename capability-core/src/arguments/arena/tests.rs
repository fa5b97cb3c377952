//! The arena reads what the tree's parser reads.

use serde_json::Value;

use super::view::View;
use super::{arguments, plain, scan};
use crate::contract::schema::check::{self, List as _, Object as _, Shape};

/// The same value as a tree.
fn tree(view: View<'_>) -> Value {
    match check::View::shape(view) {
        Shape::Null => Value::Null,
        Shape::Bool(value) => Value::Bool(value),
        Shape::Number(number) => Value::Number(number.number()),
        Shape::Text(text) => Value::from(text),
        Shape::List(list) => list.items().map(tree).collect(),
        Shape::Object(object) => object.members().map(|(name, value)| (name.to_owned(), tree(value))).collect(),
    }
}

#[test]
fn values_come_back_as_they_are() {
    for text in [
        r#"{"b":1,"a":[true,false,null,-1,0,18446744073709551615,-9223372036854775808,1.5,1e300,"",{"":{}}],"\u0000":"\ud83d\ude00"}"#,
        r#"{"i":1,"h":2,"g":3,"f":4,"e":5,"d":6,"c":7,"b":8,"a":9}"#,
        "[]",
        " 1.0 ",
        "-0",
        "1000000000000000000",
        "\"a\u{7f}é\"",
    ] {
        let arena = plain(text).expect(text);
        let value: Value = serde_json::from_str(text).expect(text);
        assert_eq!(tree(arena.view()), value, "{text}");
    }
}

#[test]
fn members_are_found_by_their_names() {
    let text = r#"{"k8":8,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k0":0,"\u006b9":9}"#;
    let arena = plain(text).expect("JSON");
    let Shape::Object(many) = check::View::shape(arena.view()) else { panic!("an object") };
    assert_eq!(check::Object::length(many), 10);
    for at in 0..10 {
        assert_eq!(many.member(&format!("k{at}")).map(tree), Some(Value::from(at)));
    }
    assert!(many.member("k").is_none());
}

#[test]
fn texts_end_where_they_end() {
    for length in 0..100 {
        for special in [b'"', b'\\', 0x1f, 0] {
            for filler in [b'a', 0x20, 0x7f, 0x80, 0xff, b'!', b'#', b'[', b']'] {
                let mut bytes = vec![filler; length];
                assert_eq!(scan::plain(&bytes), length);
                bytes.push(special);
                bytes.extend([b'"'; 40]);
                assert_eq!(scan::plain(&bytes), length, "{special} after {length} of {filler}");
            }
        }
    }
}

/// Texts of JSON's own pieces in any order: hardly any is JSON, and each is read as the tree's parser reads it.
#[test]
fn the_grammar_is_the_parsers() {
    const PIECES: [&str; 44] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"a\"",
        "\"b\"",
        "\\",
        "\\n",
        "\\u0061",
        "\\ud83d",
        "\\ude00",
        "\u{1}",
        "\u{7f}",
        "é",
        " ",
        "\n",
        "\t",
        "\r",
        "\u{b}",
        "\u{a0}",
        "0",
        "1",
        "12",
        "-",
        "+",
        ".",
        "e",
        "E",
        "-0",
        "1.5",
        "1e5",
        "01",
        "true",
        "tru",
        "false",
        "null",
        "nul",
        "1e400",
        "18446744073709551616",
        "{\"a\":",
        "[1",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut accepted = 0;
    for _ in 0..400_000 {
        let mut text = String::new();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let mut choices = state;
        for _ in 0..1 + choices % 7 {
            choices = choices.rotate_right(8).wrapping_mul(0x2545_F491_4F6C_DD1D);
            text.push_str(PIECES.get((choices >> 32) as usize % PIECES.len()).unwrap_or(&""));
        }
        let value: Option<Value> = serde_json::from_str(&text).ok();
        match (plain(&text), value) {
            (Some(arena), Some(value)) => {
                accepted += 1;
                assert_eq!(tree(arena.view()), value, "{text:?}");
            }
            (None, None) => {}
            (arena, value) => panic!("{text:?}: {:?} and {value:?}", arena.is_some()),
        }
    }
    assert!(accepted > 10_000, "{accepted}");
}

#[test]
fn nesting_ends_where_it_does_for_the_parser() {
    for depth in [63, 64, 65, 126, 127, 128, 129, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(plain(&text).is_some(), serde_json::from_str::<Value>(&text).is_ok(), "{depth} {open}");
            assert_eq!(arguments(text.as_bytes()).is_some(), depth <= 64, "{depth} {open}");
        }
    }
}

#[test]
fn doubled_keys_are_left_to_the_tree() {
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"i":1,"h":2,"g":3,"f":4,"e":5,"d":6,"c":7,"b":8,"a":9,"e":0}"#,
    ] {
        assert!(plain(text).is_none() && arguments(text.as_bytes()).is_none(), "{text}");
    }
}
