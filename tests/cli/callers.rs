//! Who asks: turns that several calls share, stricter modes, other subjects.

use serde_json::json;

use crate::home::{Home, Ran};

#[test]
fn a_turn_is_shared_by_processes() {
    let home = Home::new();
    let once = |turn: &str| home.json(&["invoke", "house.once", "--turn", turn]);
    assert_eq!(once("7").0, 0);
    let (exit, outcome) = once("7");
    assert_eq!((exit, &outcome["code"], &outcome["stage"]), (4, &json!("turn_cap"), &json!("policy")));
    assert_eq!(once("8").0, 0);
    // Over the socket too.
    let serving = home.serve();
    assert_eq!((once("7").0, once("8").0, once("9").0, once("9").0), (4, 4, 0, 4));
    drop(serving);
    // Without a number every call has a turn of its own.
    for _ in 0..3 {
        home.run(&["invoke", "house.once"]).exits(0);
    }
}

#[test]
fn the_overall_cap_of_a_turn_is_the_configured_one() {
    let home = Home::new();
    home.configure("[limits]\nper_turn = 2\n");
    let greet = || home.json(&["invoke", "house.greet", r#"{"name":"a"}"#, "--turn", "1"]);
    assert_eq!((greet().0, greet().0), (0, 0));
    let (exit, outcome) = greet();
    assert_eq!((exit, &outcome["code"]), (4, &json!("turn_total")));
}

#[test]
fn a_mode_is_only_ever_stricter() {
    let home = Home::with_operator();
    for (mode, words, code) in [
        ("plan", &["house.count", r#"{"by":1}"#][..], "plan_mode"),
        ("dream", &["house.greet", r#"{"name":"a"}"#], "mode_refused"),
        ("replay", &["house.greet", r#"{"name":"a"}"#], "mode_refused"),
    ] {
        let (exit, outcome) = home.json(&[&["invoke", "--mode", mode], words].concat());
        assert_eq!((exit, &outcome["code"]), (4, &json!(code)), "{mode}: {outcome}");
    }
    // What was asked for in a live session is not resumed in a stricter one.
    let id = home.pending(&["house.count", r#"{"by":1}"#]);
    home.operate(&["approvals", "approve", &id]).exits(0);
    let (exit, outcome) = home.json(&["resume", &id, "--mode", "plan"]);
    assert_eq!((exit, &outcome["code"]), (4, &json!("plan_mode")), "{outcome}");
    let (exit, outcome) = home.json(&["resume", &id, "--mode", "dream"]);
    assert_eq!((exit, &outcome["code"]), (4, &json!("mode_refused")), "{outcome}");
    assert_eq!(home.json(&["resume", &id]).0, 0);
}

fn greeting(home: &Home, words: &[&str]) -> Ran {
    home.run(&[&["invoke", "house.greet", r#"{"name":"a"}"#, "--json"], words].concat())
}

#[test]
fn another_subject_needs_an_operator_and_a_manifest() {
    let home = Home::with_operator();
    home.configure("[subjects.\"agent:kitchen\"]\ncapabilities = [\"house.greet\", \"house.peek\"]\n");
    let token = home.token();
    let proof = ["--operator-token-file", token.to_str().unwrap()];
    greeting(&home, &["--subject", "agent:kitchen"]).exits(4).says(&["operator credential"]);
    greeting(&home, &[&["--subject", "agent:cellar"][..], &proof].concat()).exits(4).says(&["has no manifest"]);
    greeting(&home, &[&["--subject", "agent:kitchen"][..], &proof].concat()).exits(0).says(&["hello, a"]);

    let (exit, outcome) = home.operate_json(&["invoke", "house.count", r#"{"by":1}"#, "--subject", "agent:kitchen"]);
    assert_eq!((exit, &outcome["code"], &outcome["stage"]), (4, &json!("undeclared"), &json!("policy")));
    let subjects: Vec<_> = home.records_of("outcome").iter().map(|record| record["subject"].clone()).collect();
    assert_eq!(subjects, [json!("agent:kitchen"), json!("agent:kitchen")]);

    // One subject's approval is not another's to resume.
    let (exit, asked) = home.operate_json(&["invoke", "house.peek", "--subject", "agent:kitchen"]);
    assert_eq!(exit, 3);
    let id = asked["approval"]["id"].as_str().unwrap();
    home.operate(&["approvals", "approve", id]).exits(0);
    assert_eq!(home.json(&["resume", id]).1["code"], "approval_unknown");
    assert_eq!(home.operate_json(&["resume", id, "--subject", "agent:kitchen"]).0, 0);
}

/// A subject's manifest in a file of its own, slot by slot, looked at for each call.
#[test]
fn a_subject_has_a_manifest_of_its_own_and_slots_in_it() {
    let home = Home::with_operator();
    home.manifest("agent:kitchen", "capabilities:\n  defaults: [house.greet]\n  slots:\n    cook: [house.count]\n");
    let token = home.token();
    let kitchen = ["--subject", "agent:kitchen", "--operator-token-file", token.to_str().unwrap()];
    greeting(&home, &kitchen).exits(0).says(&["hello, a"]);
    let count = |slot: &[&str]| {
        home.operate_json(&[&["invoke", "house.count", r#"{"by":1}"#, "--subject", "agent:kitchen"][..], slot].concat())
    };
    assert_eq!(count(&[]).1["code"], "undeclared");
    assert_eq!(count(&["--slot", "cook"]).0, 3, "it is declared there, and asks");
    greeting(&home, &[&kitchen[..], &["--slot", "baker"]].concat()).exits(4).says(&["no slot `baker`"]);

    home.manifest("agent:kitchen", "capabilities: { defaults: [house.gret] }\n");
    greeting(&home, &kitchen).exits(4).says(&["agent.yaml", "`house.gret`", "`house.greet` is one that it has"]);
    home.manifest("agent:kitchen", "approval: { default: deny }\ncapabilities: { defaults: [house.greet] }\n");
    let (exit, outcome) =
        home.operate_json(&["invoke", "house.greet", r#"{"name":"a"}"#, "--subject", "agent:kitchen"]);
    assert_eq!((exit, &outcome["code"]), (4, &json!("manifest_deny")));

    // Of two manifests neither counts, and one in the configuration is held to the same names.
    home.configure("[subjects.\"agent:kitchen\"]\ncapabilities = [\"house.greet\"]\n");
    greeting(&home, &kitchen).exits(4).says(&["two manifests"]);
    home.configure("[subjects.\"agent:cellar\"]\ncapabilities = [\"house.gret\"]\n");
    greeting(&home, &[]).says(&["`house.gret`", "`house.greet` is one that it has"]);
}

/// Two subjects that number their turns alike have each their own: neither uses the other's caps up, nor learns how far they
/// are used.
#[test]
fn a_turn_belongs_to_one_subject() {
    let home = Home::with_operator();
    home.configure("[limits]\nper_turn = 1\n[subjects.\"agent:kitchen\"]\ncapabilities = [\"house.greet\"]\n");
    let token = home.token();
    let kitchen = ["--turn", "7", "--subject", "agent:kitchen", "--operator-token-file", token.to_str().unwrap()];
    greeting(&home, &["--turn", "7"]).exits(0);
    greeting(&home, &["--turn", "7"]).exits(4).says(&["turn_total"]);
    greeting(&home, &kitchen).exits(0);
    greeting(&home, &kitchen).exits(4).says(&["turn_total"]);
}

#[test]
fn a_wrong_configuration_is_refused_with_its_line() {
    for (text, said) in [
        ("[subjects.\"agent:kitchen\"]\ncapabilities = [\"house greet\"]\n", "line 2"),
        ("[subjects.\"Agent Kitchen\"]\ncapabilities = []\n", "line 1"),
        ("[limit]\n", "unknown field `limit`"),
        ("[limits]\napproval_lifetime_s = 9\n", "10 to 3600"),
    ] {
        let home = Home::new();
        home.configure(text);
        home.run(&["list"]).exits(6).says(&["config.toml", said]);
        let (exit, document) = home.json(&["list"]);
        assert!(exit == 6 && document["error"]["message"].as_str().unwrap().contains(said), "{document}");
    }
}
