//! One reading, or none.

use proptest::prelude::*;

use super::{Acted, MAX_PLACE_BYTES, MAX_READ_BYTES, Unreadable};
use crate::contract::TargetKind;
use crate::policy::TargetPattern;

fn matched(kind: TargetKind, text: &str, pattern: &str) -> Result<bool, Unreadable> {
    let pattern: TargetPattern = serde_json::from_str(pattern).unwrap();
    Acted::read(kind, text)?.is_matched_by(&pattern)
}

#[test]
fn a_host_rule_is_about_hosts_and_not_about_texts() {
    let url = |text, pattern| matched(TargetKind::Url, text, pattern);
    for (text, pattern, expected) in [
        ("https://example.com/x", r#"{"host":"example.com"}"#, true),
        ("https://EXAMPLE.com./x", r#"{"host":"example.com"}"#, true),
        ("https://example.com.evil.com/", r#"{"host":"example.com"}"#, false),
        ("https://evil.com/?https://example.com/", r#"{"host":"example.com"}"#, false),
        ("https://a.example.com/", r#"{"host":"*.example.com"}"#, true),
        ("https://a.b.example.com/", r#"{"host":"*.example.com"}"#, false),
        ("https://a.b.example.com/", r#"{"host":"**.example.com"}"#, true),
        ("https://example.com/", r#"{"host":"**.example.com"}"#, false),
        ("http://[::ffff:127.0.0.1]/", r#"{"host":"127.0.0.1"}"#, true),
        ("http://127.0.0.1:8080/", r#"{"host":"**","port":8080}"#, true),
        ("http://a.b/", r#"{"host":"**","port":80}"#, true),
        ("https://a.b/", r#"{"host":"**","port":80}"#, false),
        ("https://a.b/admin//users/?x", r#"{"host":"a.b","path":"/admin/**"}"#, true),
        ("https://a.b/%61dmin", r#"{"host":"a.b","path":"/admin/**"}"#, true),
        ("https://a.b/administrator", r#"{"host":"a.b","path":"/admin/**"}"#, false),
        ("https://a.b/wiki/K%C3%A4se", r#"{"host":"a.b","path":"/wiki/Käse"}"#, true),
    ] {
        assert_eq!(url(text, pattern), Ok(expected), "{text} {pattern}");
    }
}

#[test]
fn what_two_readers_may_read_as_two_places_is_not_read() {
    let long = format!("https://a.b/{}", "x".repeat(MAX_PLACE_BYTES));
    for text in [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://user@example.com/",
        "http://docs.rs\\@evil.com/",
        "http://exa\nmple.com/",
        "http://example.com /",
        "http://exämple.com/",
        "http://example.com:0/",
        "http://example.com:99999/",
        "http://example.com:80:80/",
        "http:///x",
        "http:/example.com",
        "gopher://127.0.0.1/",
        "example.com",
        "",
        &long,
    ] {
        assert_eq!(Acted::read(TargetKind::Url, text), Err(Unreadable), "{text}");
    }
    // The host can be read; what follows only matters to a rule that asks about it.
    for path in ["/a%2Fb", "/a/../b", "/%2e%2e/b", "/%zz", "/%ff", "/a%00", "/%5c"] {
        let text = format!("https://a.b{path}");
        assert_eq!(matched(TargetKind::Url, &text, r#"{"host":"a.b"}"#), Ok(true), "{text}");
        assert_eq!(matched(TargetKind::Url, &text, r#"{"host":"a.b","path":"/x"}"#), Err(Unreadable), "{text}");
        assert_eq!(matched(TargetKind::Url, &text, r#"{"host":"c.d","path":"/x"}"#), Ok(false), "{text}");
    }
}

#[test]
fn the_kind_picks_the_matcher() {
    for (kind, text, pattern, expected) in [
        (TargetKind::Path, "secret", r#"{"path":"/secret/**"}"#, Ok(true)),
        (TargetKind::Path, "/secret/a/b", r#"{"path":"secret/**"}"#, Ok(true)),
        (TargetKind::Path, "secrets", r#"{"path":"secret/**"}"#, Ok(false)),
        (TargetKind::Path, "ws/src/.env", r#"{"path":"**/.env"}"#, Ok(true)),
        (TargetKind::Path, "ws/src/x.env", r#"{"path":"**/.env"}"#, Ok(false)),
        (TargetKind::Path, "a/../secret", r#"{"path":"secret/**"}"#, Err(Unreadable)),
        (TargetKind::Repository, "house/notes", r#"{"path":"house/*"}"#, Ok(true)),
        (TargetKind::Text, "rm -rf /", r#"{"text":"*rm -rf*"}"#, Ok(true)),
        (TargetKind::Text, "a.b", r#"{"host":"a.b"}"#, Ok(false)),
        (TargetKind::Argv, r#"["git","push","-f"]"#, r#"{"argv":["git","push","**"]}"#, Ok(true)),
        (TargetKind::Argv, r#"["git"]"#, r#"{"argv":["git","*"]}"#, Ok(false)),
        (TargetKind::Argv, "git push", r#"{"argv":["git","**"]}"#, Err(Unreadable)),
        (TargetKind::Argv, "[]", r#"{"argv":["**"]}"#, Err(Unreadable)),
        (TargetKind::Host, "nas.lan", r#"{"host":"*.lan","port":443}"#, Ok(true)),
        (TargetKind::Host, "nas.lan:5000", r#"{"host":"*.lan","port":443}"#, Ok(false)),
        (TargetKind::Service, "pihole", r#"{"host":"pihole"}"#, Ok(true)),
        (TargetKind::Service, "pihole", r#"{"host":"**","port":443}"#, Ok(false)),
        (TargetKind::Address, "anna@mail.example.com", r#"{"host":"**.example.com"}"#, Ok(true)),
        (TargetKind::Address, "\"x@evil.com\"@example.com", r#"{"host":"evil.com"}"#, Ok(false)),
        (TargetKind::Address, "anna", r#"{"host":"**"}"#, Err(Unreadable)),
        (TargetKind::None, "x", r#"{"text":"*"}"#, Err(Unreadable)),
    ] {
        assert_eq!(matched(kind, text, pattern), expected, "{kind:?} {text} {pattern}");
    }
    assert_eq!(Acted::read(TargetKind::Text, &"x".repeat(MAX_READ_BYTES + 1)), Err(Unreadable));
}

const KINDS: [TargetKind; 9] = [
    TargetKind::Url,
    TargetKind::Path,
    TargetKind::Host,
    TargetKind::Service,
    TargetKind::Repository,
    TargetKind::Address,
    TargetKind::Argv,
    TargetKind::Text,
    TargetKind::None,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is sent is read or refused, and what is read is matched by the pattern for anything of its family.
    #[test]
    fn no_text_is_too_strange(text in "(https?://)?[a-zA-Z0-9\\[\\]:.%@/\\\\ä \\x00-\\x20?#\"*-]{0,40}") {
        for kind in KINDS {
            let Ok(acted) = Acted::read(kind, &text) else { continue };
            let any = match acted {
                Acted::Place(_) => r#"{"host":"**"}"#,
                Acted::Path(_) => r#"{"path":"**"}"#,
                Acted::Argv(_) => r#"{"argv":["**"]}"#,
                Acted::Text(_) => r#"{"text":"*"}"#,
            };
            prop_assert_eq!(acted.is_matched_by(&serde_json::from_str(any).unwrap()), Ok(true));
        }
    }
}
