//! Parts of the macro on their own.

use quote::quote;

use super::{errors, expand};
use crate::description::joined;
use crate::diagnostics::{any_of, distance, nearest};
use crate::model::{Bounds, Network, SideEffect};
use crate::paths::{Found, is_plainly_named};
use crate::units::{Malformed, duration, size};
use crate::{name, refusal, section};

#[test]
fn durations_and_sizes() {
    for (text, ms) in
        [("10s", 10_000), ("250 ms", 250), ("2m", 120_000), ("2 min", 120_000), ("1_000ms", 1_000), (" 1s ", 1_000)]
    {
        assert_eq!(duration(text), Ok(ms), "{text}");
    }
    for (text, bytes) in [("1 B", 1), ("64 KiB", 65_536), ("8MiB", 8_388_608)] {
        assert_eq!(size(text), Ok(bytes), "{text}");
    }
    assert_eq!(duration("99999999999999999999s"), Ok(u64::MAX));
    assert_eq!(duration("18446744073709551615m"), Ok(u64::MAX));
    for (text, fault) in [
        ("", Malformed::Number),
        ("s", Malformed::Number),
        ("_s", Malformed::Number),
        ("-1s", Malformed::Number),
        ("10", Malformed::MissingUnit),
        ("1.5s", Malformed::Fraction),
        ("1h", Malformed::Unit("h".to_owned())),
        ("1 S", Malformed::Unit("S".to_owned())),
        ("1s 5ms", Malformed::Unit("s 5ms".to_owned())),
        ("Infinite", Malformed::Endless),
    ] {
        assert_eq!(duration(text), Err(fault), "{text}");
    }
    assert_eq!(size("64 KB"), Err(Malformed::Unit("KB".to_owned())));
}

#[test]
fn every_repaired_name_is_a_name() {
    for wrong in [
        "",
        "search",
        "Web.Search",
        "web.search-all",
        "web..search",
        ".web",
        "web.",
        "web.search_",
        "web.a__b",
        "web.v2",
        "v2",
        "web.2search",
        "2.3",
        "söök",
        "web.söök",
        "-",
        "...",
        "a b c",
        "web.search.v2",
        &"a.".repeat(100),
        &"a".repeat(99),
    ] {
        assert!(name::fault(wrong).is_some(), "{wrong:?}");
        let repaired = name::repaired(wrong);
        assert_eq!(name::fault(&repaired), None, "{wrong:?} became {repaired:?}");
    }
    for right in ["web.search", "a.b.c_d.e1", "a.v", "a.v2x", &format!("a.{}", "b".repeat(54))] {
        assert_eq!(name::fault(right), None, "{right:?}");
    }
}

/// The table and the rows that documentation shows, spelled out: the supporting crate has the same tests for its own.
#[test]
fn the_section_says_what_the_contract_says() {
    use Network::{External, Local};
    use SideEffect::{Mutating, ReadOnly};
    let rows: Vec<_> = [(ReadOnly, Local), (ReadOnly, External), (Mutating, Local), (Mutating, External)]
        .into_iter()
        .map(|(effect, network)| {
            let bounds = section::bounds(effect, network, Bounds::default());
            format!("{} + {}: {}, {bounds}", effect.word(), network.word(), section::confirmation(effect, network))
        })
        .collect();
    assert_eq!(
        rows,
        [
            "read_only + local: automatic, 5 s, 64 KiB, 16 per turn",
            "read_only + external: required, 15 s, 64 KiB, 4 per turn",
            "mutating + local: required, 10 s, 64 KiB, 4 per turn",
            "mutating + external: required, 15 s, 64 KiB, 1 per turn",
        ]
    );
    let written = Bounds { timeout_ms: Some(1_500), max_result: Some(1_000), per_turn: Some(9) };
    assert_eq!(section::bounds(ReadOnly, Local, written), "1500 ms, 1000 B, 9 per turn");
}

#[test]
fn soft_line_breaks_are_joined_and_paragraphs_kept() {
    let text = |lines: &[&str]| joined(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
    assert_eq!(text(&[" One", " line.", "", " Two."]), "One line.\n\nTwo.");
    assert_eq!(text(&["", " One.", "", "", " Two.", ""]), "One.\n\nTwo.");
    assert_eq!(text(&[" List:", " - a", "   b", " - c", "", " End."]), "List:\n- a b\n- c\n\nEnd.");
    assert_eq!(text(&[" ```", " let a;", "", " b", " ```", " after", " it"]), "```\nlet a;\n\nb\n```\nafter it");
    assert_eq!(text(&[" # Head", " text", " | a |", " | b |"]), "# Head\ntext\n| a |\n| b |");
    assert_eq!(text(&[" é ☃ \"q\" \\n"]), "é ☃ \"q\" \\n");
    assert_eq!(text(&[]), "");
}

#[test]
fn suggestions() {
    assert_eq!(distance("network", "netwrok"), 1);
    assert_eq!(distance("", "abc"), 3);
    assert_eq!(nearest("side-efect", &["side_effect", "network"]), Some("side_effect"));
    assert_eq!(nearest("colour", &["side_effect", "network"]), None);
    assert_eq!(any_of(&["a", "b", "c"]), "`a`, `b` or `c`");
    assert_eq!(any_of(&[]), "");
}

#[test]
fn confirmations_by_any_spelling() {
    for word in [
        "confirmation",
        "confirm",
        "requires_approval",
        "needs_approval",
        "requires_confirmation",
        "auto_approve",
        "approval",
        "read_only_hint",
        "readOnlyHint",
        "CONFIRM",
        "auto-approve",
        "policy::confirm",
        "confimation",
        "aproval",
        "approved_by",
        "needs_permission",
        "consent",
    ] {
        assert!(refusal::is_confirmation(word), "{word}");
    }
    let keys = crate::keys::KEYS.iter().chain(crate::keys::BOUNDS).map(|key| key.word);
    for word in keys.chain([
        "args",
        "serde",
        "schemars",
        "cfg",
        "doc",
        "inline",
        "must_use",
        "config",
        "command",
        "description",
    ]) {
        assert!(!refusal::is_confirmation(word), "{word}");
    }
}

#[test]
fn without_the_crate_in_the_manifest_the_key_is_named() {
    let list = quote!(name = "a.b", version = 1, side_effect = read_only, network = local);
    let function = quote!(
        fn f() {}
    );
    let expanded = crate::define(list.clone(), function.clone(), || Found::Nowhere);
    assert_eq!(
        errors(&expanded),
        [
            "`#[capability]` cannot find `capability-core`: it is a dependency of this package, or `crate` says which crate \
          exports it\nhelp: write `crate = ::path::of::capability_core`"
        ]
    );
    let expanded = crate::define(quote!(#list, crate = ::facade::cap), function, || Found::Nowhere);
    assert!(errors(&expanded).is_empty() && expanded.to_string().contains(":: facade :: cap :: __private"));
}

/// A misspelt key keeps the author's own value: a suggestion never changes a class.
#[test]
fn a_suggestion_keeps_the_value() {
    let expanded = expand(quote! {
        #[capability(name = "a.b", version = 1, side_efect = mutating, netwrok = local)]
        fn f() {}
    });
    let [first, second] = &*errors(&expanded) else { panic!("two errors") };
    assert!(first.ends_with("write `side_effect = mutating`") && second.ends_with("write `network = local`"));
}

/// One line of a manifest is enough where it says everything; whatever else is written is left to the one who reads it all.
#[test]
fn a_plain_dependency_is_seen_in_the_manifest() {
    for plain in [
        "[package]\nname = \"a\"\n\n[dependencies]\ncapability-core = \"1\"\n",
        "[dependencies]\ncapability-core = { version = \"1\", features = [\"jsonschema\"] }",
        "[dependencies]\ncapability-core.workspace = true",
        "[dev-dependencies]\nserde = \"1\"\ncapability-core.path = \"../core\"",
        "[target.'cfg(any(unix, windows))'.dependencies]\ncapability-core = \"1\"",
    ] {
        assert!(is_plainly_named(plain), "{plain}");
    }
    for other in [
        "",
        "[package]\nname = \"capability-core\"",
        "[features]\ncapability-core = []",
        "[build-dependencies]\ncapability-core = \"1\"",
        "[workspace.dependencies]\ncapability-core = \"1\"\n[dependencies]\ncap = { workspace = true }",
        "[dependencies]\ncapability-core-extras = \"1\"",
        "[dependencies]\n# capability-core = \"1\"",
        "[dependencies]\ncapability-core = { package = \"another\", version = \"1\" }",
        "[dependencies]\ncapability-core = {\n  package = \"another\",\n}",
        "[dependencies.capability-core]\npackage = \"another\"",
        "[dependencies]\ncap = { package = \"capability-core\", version = \"1\" }",
    ] {
        assert!(!is_plainly_named(other), "{other}");
    }
}
