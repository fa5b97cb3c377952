//! What a file may say, and how it is told what it may not.

use std::path::Path;

use capability_core::Registry;
use capability_core::policy::Registered;
use capability_core::session::Subject;
use proptest::prelude::*;

use super::{Loaded, load};
use crate::policy::PolicyError;

fn loaded(text: &str) -> Result<Loaded, PolicyError> {
    let registry = Registry::collect_without_lists(&["capabilities", "capability-host"]).unwrap();
    let known: Subject = "agent:kitchen".parse().unwrap();
    let registered = Registered::of(registry.iter().map(|held| held.entry()));
    load(Path::new("policy.toml"), text.as_bytes(), &registered.with_subjects([&known]))
}

fn refused(text: &str) -> String {
    match loaded(text) {
        Ok(_) => panic!("it is taken: {text}"),
        Err(error) => error.to_string(),
    }
}

fn rule(more: &str) -> String {
    format!("# rules\n\n[[rule]]\nid = \"r\"\neffect = \"deny\"\nreason = \"for a test\"\n{more}\n")
}

#[test]
fn a_whole_file() {
    let text = r#"
        [[rule]]
        id = "no-trackers"
        effect = "deny"
        reason = "nobody here reads these"
        capability = "web.fetch"
        target = { host = "**.tracker.example" }
        except = [{ subject = "local", target = { host = "status.tracker.example" } }]
        match = [{ target = "https://a.b.tracker.example/x" }, { subject = "agent:kitchen", target = "http://status.tracker.example" }]
        not_match = [{ target = "https://tracker.example.evil.com/" }, { target = "https://status.tracker.example" }]

        [[rule]]
        id = "night"
        effect = "ask"
        capability = "pihole.*"
        when = { from = "22:00", to = "06:00", tz = "Europe/Berlin" }
        match = [{ capability = "pihole.status", at = "2026-11-30T22:00:00Z" }]
        not_match = [{ capability = "pihole.status", at = "2026-11-30T12:00:00Z" }, { capability = "web.search", at = "2026-11-30T22:00:00Z" }]
    "#;
    let Loaded { policy, strange } = loaded(text).unwrap();
    assert_eq!((policy.rules().count(), strange.len(), policy.asks_for_the_time()), (2, 0, true));
    let Loaded { policy: empty, .. } = loaded("").unwrap();
    assert!(empty.is_empty() && empty.revision() != policy.revision());
}

#[test]
fn a_mistake_names_file_line_and_rule_and_what_is_right() {
    for (text, line, words) in [
        ("[[rule]]\nid = \"a\"\ncapability = \"web.fetch\"\n".to_owned(), 1, "in rule `a`: missing field `effect`"),
        ("[[rules]]\n".to_owned(), 1, "unknown field `rules`"),
        ("x = 1\n".to_owned(), 1, "unknown field `x`"),
        ("[[rule]\n".to_owned(), 1, ""),
        (rule("effects = 1"), 7, "in rule `r`: unknown field `effects`"),
        (rule("capability = \"web.fecth\""), 3, "`web.fetch` is one that it has"),
        (rule("capability = \"pihle.*\""), 3, "it has some below `pihole`"),
        (rule("capability = \"web.f\u{435}tch\""), 7, "of another alphabet"),
        (rule("capability = \"web.fetch:docs\""), 3, "that capability has none"),
        (rule("except = [{ capability = \"web.fecth\" }]"), 3, "`web.fetch` is one that it has"),
        (rule("capability = \"pihole.status\"\naction = \"mutating\""), 3, "nothing that `pihole.status` names is"),
        (rule("capability = \"web.fetch\"\ntarget = { path = \"a/b\" }"), 3, "write the target as `host`"),
        (rule("capability = \"web.search\"\ntarget = { host = \"a.b\" }"), 3, "leave `target` out"),
        (rule("target = { host = \"https://a.b\" }"), 7, "in rule `r`: the host `https://a.b` is neither"),
        (rule("\ntarget = { path = \"notes/*.md\" }"), 8, "has a wildcard inside a segment"),
        (rule("when = { from = \"09:00\", to = \"17:00\" }"), 7, "`when` has no `tz`"),
        (rule("when = { from = \"25:99\", to = \"07:00\", tz = \"UTC\" }"), 7, "`25:99` is no time of day"),
        (rule("when = { from = \"22:00\", to = \"22:00\", tz = \"UTC\" }"), 7, "are the same"),
        (rule("when = { days = [\"mon\"], tz = \"Europe/Atlantis\" }"), 3, "no time zone is called `Europe/Atlantis`"),
        (rule("capability = \"web.fetch\"\nmatch = [{}, { capability = \"web.search\" }]"), 3, "example 2 of `match`"),
        (rule("capability = \"web.*\"\nmatch = [{}]"), 3, "names no one capability"),
        (rule("capability = \"web.fetch\"\nnot_match = [{ target = \"https://a.b\" }]"), 3, "example 1 of `not_match`"),
        (rule("capability = \"web.search\"\nmatch = [{ target = \"x\" }]"), 3, "acts on none"),
        (
            rule("when = { days = [\"mon\"], tz = \"UTC\" }\nmatch = [{ capability = \"web.search\" }]"),
            3,
            "does not say when",
        ),
        (
            rule("capability = \"web.fetch\"\ntarget = { host = \"a.b\" }\nmatch = [{ target = \"a.b\" }]"),
            3,
            "cannot be judged",
        ),
        (
            rule("capability = \"web.fetch\"\ntarget = { host = \"a.b\" }\nmatch = [{ target = \"https://c.d\" }]"),
            3,
            "its target does not fit",
        ),
        (rule("") + &rule(""), 10, "there are two rules `r`"),
    ] {
        let error = refused(&text);
        assert!(error.starts_with(&format!("`policy.toml` line {line}: ")), "{text}: {error}");
        assert!(error.contains(words) && error.contains("\nhelp: "), "{text}: {error}");
    }
    let registry = Registry::collect_without_lists(&["capabilities", "capability-host"]).unwrap();
    let registered = Registered::of(registry.iter().map(|held| held.entry()));
    let error = load(Path::new("p"), b"\xff", &registered).err().unwrap().to_string();
    assert!(error.contains("UTF-8"), "{error}");
}

#[test]
fn what_is_strange_is_told_and_stands_in_nobodys_way() {
    let allow = "[[rule]]\nid = \"a\"\neffect = \"allow\"\nreason = \"x\"\ncapability = \"web.fetch\"\n";
    for (text, words) in [
        (allow.to_owned(), "line 1: rule `a` allows what its class has a person confirm"),
        (
            rule("subject = \"agent:kitchn\""),
            "line 3: rule `r` is about `agent:kitchn`, which has no manifest; `agent:kitchen` has one",
        ),
        (rule("target = { host = \"a.b\", path = \"/\u{430}dmin\" }"), "letters of two alphabets"),
    ] {
        let strange = loaded(&text).unwrap().strange;
        assert!(strange.len() == 1 && strange[0].contains(words) && strange[0].contains("\nhelp: "), "{strange:?}");
    }
    assert_eq!(loaded(&rule("subject = \"agent:kitchen\"")).unwrap().strange, [""; 0]);
}

/// Zones come with the program where a machine has none.
#[test]
fn zones_are_those_of_the_database() {
    for zone in ["Europe/Berlin", "Asia/Kolkata", "America/Argentina/Buenos_Aires", "UTC"] {
        loaded(&rule(&format!("when = {{ days = [\"mon\"], tz = \"{zone}\" }}"))).unwrap();
    }
}

/// Every example of the guide is one that a host takes, and nothing about it is strange but that its subject has no manifest.
#[test]
fn the_guide_is_right() {
    let guide = include_str!("../../../../../docs/guide/policy.md");
    let blocks: Vec<_> = guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3);
    for block in blocks {
        assert_eq!(loaded(block).unwrap().strange, [""; 0], "{block}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a file holds, it is a policy or a refusal that says what to do.
    #[test]
    fn no_file_is_too_strange(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("[[rule]]\n".to_owned()),
                Just("id = \"a\"\n".to_owned()),
                Just("effect = \"deny\"\n".to_owned()),
                Just("reason = \"x\"\n".to_owned()),
                Just("target = { host = \"**.a\", path = \"/*/**\" }\n".to_owned()),
                Just("when = { from = \"22:00\", to = \"06:00\", tz = \"UTC\" }\n".to_owned()),
                Just("except = [{ origin = \"model\" }]\n".to_owned()),
                Just("max_grant = \"never\"\n".to_owned()),
                "[a-z]{1,9} = [\"{\\[0-9*./]{0,12}\n",
                "\\PC{0,20}\n",
            ],
            0..12,
        ),
    ) {
        if let Err(error) = loaded(&parts.concat()) {
            prop_assert!(error.to_string().contains("\nhelp: "), "{}", error);
        }
    }
}
