//! What goes wrong elsewhere, and what is right here.

use capability_core::Code;
use capability_core::policy::{Contributor, Fate, Registered, SourceKind, Verdict, explain};
use capability_core::session::Origin;

use super::{Asked, ids, operator, registry, with_question};
use crate::fixtures::rules::{compiled, source};

fn rule(id: &str, effect: &str, more: &str) -> String {
    format!("[[rule]]\nid = \"{id}\"\neffect = \"{effect}\"\nreason = \"for a test\"\n{more}\n")
}

/// What the operator's rules say, and who decides.
fn said(text: &str, asked: &Asked) -> (Verdict, Vec<String>) {
    let policy = operator(text);
    let decision = asked.judged_by(&policy);
    let own = decision.contributions().iter().find(|said| said.contributor == Contributor::OperatorRules);
    let deciding = decision.rules().into_iter().flat_map(|rules| rules.deciding());
    (own.expect("it has a word").verdict, ids(&policy, deciding))
}

fn verdict(text: &str, asked: &Asked) -> Verdict {
    asked.judged_by(&operator(text)).verdict()
}

#[test]
fn a_folder_is_denied_with_itself_and_a_file_by_its_whole_name() {
    let secret = rule("secret", "deny", r#"target = { path = "/ws/secret/**" }"#);
    let env = rule("env", "deny", r#"target = { path = "**/.env" }"#);
    for (rules, path, denied) in [
        (&secret, "/ws/secret", true),
        (&secret, "ws/secret/", true),
        (&secret, "ws//secret/a/b", true),
        (&secret, "ws/secrets", false),
        (&env, "ws/.env", true),
        (&env, ".env", true),
        (&env, "ws/src/.env", true),
        (&env, "ws/src/x.env", false),
        (&env, "ws/.env/x", false),
    ] {
        assert_eq!(verdict(rules, &Asked::of("home.read").on(path)) == Verdict::Deny, denied, "{path}");
    }
}

#[test]
fn a_text_rule_reaches_over_slashes_and_line_breaks() {
    let rules = rule("no", "deny", "capability = \"home.call:shell\"\ntarget = { text = \"*rm -rf*\" }");
    for (scope, text, denied) in [
        ("shell", "rm -rf /", true),
        ("shell", "echo a\nsudo rm -rf /home/*", true),
        ("shell", "rm -r -f /", false),
        ("docs", "rm -rf /", false),
    ] {
        let asked = Asked::of("home.call").to(scope).on(text);
        assert_eq!(verdict(&rules, &asked) == Verdict::Deny, denied, "{text:?}");
    }
}

#[test]
fn a_host_that_only_begins_like_another_is_another() {
    let rules = rule("any", "ask", "capability = \"home.fetch\"")
        + &rule("example", "allow", "capability = \"home.fetch\"\ntarget = { host = \"example.com\" }");
    for (url, expected) in [
        ("https://example.com/", Verdict::Allow),
        ("https://example.com.evil.com/", Verdict::Ask),
        ("https://evil.com/?q=https://example.com/", Verdict::Ask),
        ("https://notexample.com/", Verdict::Ask),
        ("https://a.example.com/", Verdict::Ask),
    ] {
        assert_eq!(verdict(&rules, &Asked::of("home.fetch").on(url)), expected, "{url}");
    }
}

#[test]
fn what_cannot_be_read_in_one_way_is_denied_where_a_rule_asks_for_it() {
    let rules = rule("hosts", "ask", "target = { host = \"example.com\" }");
    for url in ["http://user@example.com/", "http://2130706433/", "http://exam ple.com/", "ftp://example.com/", ""] {
        let decision = Asked::of("home.fetch").on(url).judged_by(&operator(&rules));
        assert_eq!((decision.verdict(), decision.code()), (Verdict::Deny, Code::TargetUnjudged), "{url}");
    }
    // Where no rule asks, nothing is missing.
    let elsewhere = rule("paths", "ask", "target = { path = \"a\" }");
    assert_eq!(verdict(&elsewhere, &Asked::of("home.fetch").on("ftp://x")), Verdict::Allow);
    let long = "x".repeat(70_000);
    let texts = rule("texts", "deny", "target = { text = \"*never*\" }");
    let decision = Asked::of("home.call").to("docs").on(long).judged_by(&operator(&texts));
    assert_eq!(decision.code(), Code::TargetUnjudged);
}

#[test]
fn a_clock_that_was_never_set_denies_where_a_rule_asks_for_the_time() {
    let rules = rule("hours", "ask", "when = { from = \"09:00\", to = \"17:00\", tz = \"UTC\" }");
    for at in ["1970-01-01T00:00:00Z", "2019-12-31T23:59:59Z"] {
        let decision = Asked::of("home.plain").at(at).judged_by(&operator(&rules));
        assert_eq!((decision.verdict(), decision.code()), (Verdict::Deny, Code::ClockUnjudged), "{at}");
    }
    assert_eq!(verdict(&rules, &Asked::of("home.plain")), Verdict::Ask);
    let whoever = rule("hours", "ask", "subject = \"agent:a\"\nwhen = { days = [\"mon\"], tz = \"UTC\" }");
    assert_eq!(verdict(&whoever, &Asked::of("home.plain").at("1970-01-01T00:00:00Z")), Verdict::Allow);
}

#[test]
fn a_denial_is_terminal_and_its_exceptions_are_its_own() {
    let rules =
        rule(
            "family",
            "deny",
            "capability = \"home.*\"\nexcept = [{ capability = \"home.plain\" }, { subject = \"agent:a\" }]",
        ) + &rule("narrow", "allow", "capability = \"home.read\"\nsubject = \"local\"\ntarget = { path = \"a\" }");
    let read = || Asked::of("home.read").on("a");
    assert_eq!(said(&rules, &read()), (Verdict::Deny, vec!["family".to_owned()]));
    assert_eq!(said(&rules, &read().by("agent:a")), (Verdict::Allow, vec![]));
    assert_eq!(verdict(&rules, &Asked::of("home.plain")), Verdict::Allow);
}

#[test]
fn every_denial_that_matches_decides() {
    let rules = rule("one", "deny", "capability = \"home.*\"")
        + &rule("two", "deny", "capability = \"home.read\"")
        + &rule("three", "deny", "capability = \"home.edit\"")
        + &rule("four", "ask_fresh", "capability = \"home.read\"");
    assert_eq!(said(&rules, &Asked::of("home.read").on("a")), (Verdict::Deny, vec!["one".into(), "two".into()]));
}

#[test]
fn the_narrower_counts_and_of_two_that_only_overlap_the_stricter() {
    let rules = rule("wide", "ask_fresh", "capability = \"home.*\"")
        + &rule("middle", "ask", "capability = \"home.read\"")
        + &rule("narrow", "allow", "capability = \"home.read\"\ntarget = { path = \"pub/**\" }")
        + &rule("across", "ask", "subject = \"agent:a\"");
    let read = |path: &str| Asked::of("home.read").on(path);
    assert_eq!(said(&rules, &Asked::of("home.plain")), (Verdict::AskFresh, vec!["wide".into()]));
    assert_eq!(said(&rules, &read("x")), (Verdict::Ask, vec!["middle".into()]));
    assert_eq!(said(&rules, &read("pub/x")), (Verdict::Allow, vec!["narrow".into()]));
    assert_eq!(said(&rules, &read("pub/x").by("agent:a")), (Verdict::Ask, vec!["across".into()]));
    // Length of text is no measure: the longer pattern is the wider one.
    let rules = rule("long", "ask", "target = { host = \"**.very-long-name.example.com\" }")
        + &rule("short", "allow", "target = { host = \"**.com\" }");
    assert_eq!(verdict(&rules, &Asked::of("home.fetch").on("https://a.very-long-name.example.com")), Verdict::Ask);
}

#[test]
fn equal_scopes_take_the_stricter() {
    let rules = rule("one", "allow", "capability = \"home.read\"")
        + &rule("two", "ask", "capability = \"home.read\"")
        + &rule(
            "three",
            "ask",
            "capability = \"home.read\"\nwhen = { from = \"00:00\", to = \"24:00\", tz = \"UTC\" }",
        );
    assert_eq!(said(&rules, &Asked::of("home.read").on("a")), (Verdict::Ask, vec!["two".into(), "three".into()]));
}

#[test]
fn an_own_default_is_the_widest_rule_there_is() {
    let allow = |more: &str| rule("own", "allow", more);
    for (name, rules, expected) in [
        ("home.asks", String::new(), Verdict::Ask),
        ("home.denies", String::new(), Verdict::Deny),
        // About everything: not narrower, so the stricter counts.
        ("home.asks", allow(""), Verdict::Ask),
        ("home.denies", allow(""), Verdict::Deny),
        ("home.asks", allow("capability = \"home.asks\""), Verdict::Allow),
        ("home.denies", allow("capability = \"home.*\""), Verdict::Allow),
        ("home.denies", rule("own", "ask", "capability = \"home.denies\""), Verdict::Ask),
        ("home.denies", rule("own", "ask", "subject = \"agent:a\""), Verdict::Deny),
    ] {
        assert_eq!(verdict(&rules, &Asked::of(name).on("a")), expected, "{name} {rules}");
    }
    // Only the operator's: another source adds a word of its own.
    let brought = compiled(vec![source(SourceKind::Package, &rule("own", "ask", "capability = \"home.denies\""))]);
    let policy = std::sync::Arc::new(brought.expect("rules that raise"));
    assert_eq!(Asked::of("home.denies").on("a").judged_by(&policy).code(), Code::DefaultDeny);
}

/// A standing answer does not outlive the hours of the rule that made room for it: each call is judged when it is made.
#[test]
fn an_allowance_ends_with_its_hours() {
    let rules = rule(
        "office",
        "allow",
        "capability = \"home.asks\"\nwhen = { from = \"09:00\", to = \"17:00\", tz = \"Europe/Berlin\" }",
    );
    for (at, expected) in [
        ("2026-11-30T15:55:00Z", Verdict::Allow),
        ("2026-11-30T16:00:00Z", Verdict::Ask),
        ("2026-11-30T16:05:00Z", Verdict::Ask),
    ] {
        assert_eq!(verdict(&rules, &Asked::of("home.asks").on("a").at(at)), expected, "{at}");
    }
}

/// Quiet hours at home, over midnight and over both changes of the clocks.
#[test]
fn quiet_hours_hold_over_midnight_and_when_clocks_change() {
    let rules = rule(
        "quiet",
        "deny",
        "when = { days = [\"sat\", \"sun\"], from = \"23:00\", to = \"07:00\", tz = \"Europe/Berlin\" }",
    );
    for (at, denied) in [
        // Saturday, 24 October 2026, to Sunday: clocks go back at three, and the night has an hour more.
        ("2026-10-24T20:59:59Z", false),
        ("2026-10-24T21:00:00Z", true),
        ("2026-10-24T22:00:00Z", true),
        ("2026-10-25T00:30:00Z", true),
        ("2026-10-25T01:30:00Z", true),
        ("2026-10-25T05:59:59Z", true),
        ("2026-10-25T06:00:00Z", false),
        // Saturday, 28 March 2026, to Sunday: clocks go forward at two, and the night has an hour less.
        ("2026-03-28T21:59:59Z", false),
        ("2026-03-28T22:00:00Z", true),
        ("2026-03-29T01:00:00Z", true),
        ("2026-03-29T04:59:59Z", true),
        ("2026-03-29T05:00:00Z", false),
        // The night of Sunday belongs to Sunday, that of Friday to Friday.
        ("2026-03-30T04:00:00Z", true),
        ("2026-03-28T04:00:00Z", false),
    ] {
        assert_eq!(verdict(&rules, &Asked::of("home.plain").at(at)) == Verdict::Deny, denied, "{at}");
    }
}

#[test]
fn an_allow_never_lowers_a_floor_and_stands_in_the_explanation() {
    let policy = operator(&rule("please", "allow", "capability = \"home.edit\""));
    let decision = Asked::of("home.edit").on("a").judged_by(&policy);
    assert_eq!((decision.verdict(), decision.code()), (Verdict::AskFresh, Code::FloorRequired));
    let considered = decision.rules().expect("it was looked at").considered();
    assert_eq!(considered.iter().map(|own| own.fate).collect::<Vec<_>>(), [Fate::Decides]);
    assert_eq!(decision.deciding_rules().count(), 0, "it decides its source's word and not the verdict");
    assert!(decision.flip().is_none(), "nothing lowers a floor");
    let lints = policy.fit(&Registered::of(registry().iter().map(|held| held.entry()))).expect("it fits");
    assert!(lints[0].mistake.what.contains("a rule never lowers that"), "{}", lints[0].mistake);
}

#[test]
fn nothing_opens_a_lock() {
    let policy = operator(&rule("please", "allow", "capability = \"lab.locked\""));
    assert_eq!(Asked::of("lab.locked").judged_by(&policy).code(), Code::Locked);
    let lints = policy.fit(&Registered::of(registry().iter().map(|held| held.entry()))).expect("it fits");
    assert!(lints[0].mistake.what.contains("allows what is locked"), "{}", lints[0].mistake);
}

#[test]
fn rules_that_somebody_brings_along_may_only_raise() {
    for kind in [SourceKind::Workspace, SourceKind::Package] {
        let allow =
            source(kind, &rule("sudo", "allow", "capability = \"home.run\"\ntarget = { argv = [\"sudo\", \"**\"] }"));
        let mistake = compiled(vec![allow]).expect_err("it may not").mistake;
        assert!(mistake.what.contains("may only raise"), "{mistake}");
    }
    // Each source is asked by itself: what one brings displaces nothing of another.
    let policy = compiled(vec![
        source(SourceKind::Operator, &rule("wide", "ask_fresh", "capability = \"home.*\"")),
        source(SourceKind::Package, &rule("narrow", "ask", "capability = \"home.read\"")),
        source(SourceKind::Package, &rule("other", "ask_fresh", "capability = \"home.plain\"")),
        source(SourceKind::Package, &rule("narrow", "ask", "capability = \"home.plain\"\nsubject = \"local\"")),
    ]);
    let policy = std::sync::Arc::new(policy.expect("rules that raise"));
    assert_eq!(Asked::of("home.read").on("a").judged_by(&policy).verdict(), Verdict::AskFresh);
    let said = |who: Contributor| {
        let decision = Asked::of("home.plain").judged_by(&policy);
        decision.contributions().iter().find(|said| said.contributor == who).expect("it has a word").verdict
    };
    assert_eq!(said(Contributor::PackageRules), Verdict::AskFresh, "one package lowers nothing of another's");
}

#[test]
fn rules_can_be_about_what_brought_the_session_and_what_the_call_does() {
    let rules = rule("channels", "deny", "origin = \"channel\"\naction = \"mutating\"");
    assert_eq!(verdict(&rules, &Asked::of("home.edit").on("a").from(Origin::Channel)), Verdict::Deny);
    assert_eq!(verdict(&rules, &Asked::of("home.read").on("a").from(Origin::Channel)), Verdict::Allow);
    assert_eq!(verdict(&rules, &Asked::of("home.edit").on("a").from(Origin::Ui)), Verdict::AskFresh);
}

#[test]
fn an_explanation_lists_every_rule_with_the_part_that_did_not_fit() {
    let rules = rule("who", "deny", "subject = \"agent:a\"")
        + &rule("what", "deny", "capability = \"house.read\"")
        + &rule("does", "deny", "action = \"mutating\"")
        + &rule("whence", "deny", "origin = \"ui\"")
        + &rule("which", "deny", "target = { path = \"b\" }")
        + &rule("kind", "deny", "target = { host = \"b\" }")
        + &rule("when", "deny", "when = { days = [\"sun\"], tz = \"UTC\" }")
        + &rule("but", "deny", "except = [{ subject = \"agent:a\" }, { capability = \"home.read\" }]")
        + &rule("wide", "ask", "capability = \"home.*\"")
        + &rule("hit", "ask", "capability = \"home.read\"");
    let policy = operator(&rules);
    let decision = with_question(&Asked::of("home.read").on("a"), &policy, explain);
    let told: Vec<_> = decision
        .rules()
        .expect("there are some")
        .considered()
        .iter()
        .map(|own| match own.fate {
            Fate::Decides => "decides".to_owned(),
            Fate::Outweighed => "outweighed".to_owned(),
            Fate::Displaced { by } => format!("displaced by {}", policy.rule(by).expect("one").1.id),
            Fate::Missed { by } => by.as_str().to_owned(),
            Fate::Excepted { exception } => format!("exception {exception}"),
        })
        .collect();
    let expected = [
        "subject",
        "capability",
        "action",
        "origin",
        "target",
        "target",
        "when",
        "exception 1",
        "displaced by hit",
        "decides",
    ];
    assert_eq!(told, expected);
    assert_eq!(decision.verdict(), Asked::of("home.read").on("a").judged_by(&policy).verdict());
}
