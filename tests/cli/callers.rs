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

    // A word against what does not exist is no word, and one without a scope is about every call.
    let no_one = "approval: { capabilities: { house.gret: deny } }\ncapabilities: { defaults: [house.greet] }\n";
    home.manifest("agent:kitchen", no_one);
    greeting(&home, &kitchen).exits(4).says(&["`house.gret`", "`house.greet` is one that it has"]);

    home.manifest("agent:kitchen", "capabilities: { defaults: [house.greet] }\n");
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

/// Whoever asks about a subject is told of every slot that it may ask from.
#[test]
fn what_is_told_of_a_subject_is_told_of_each_of_its_slots() {
    let home = Home::with_operator();
    home.manifest("agent:kitchen", "capabilities:\n  defaults: [house.greet]\n  slots:\n    cook: [house.count]\n");
    home.manifest("agent:broken", "capabilities: [\n");
    let reach = |words: &[&str]| {
        let told = home.json(&[&["policy", "reach", "house.count", "--subject", "agent:kitchen"][..], words].concat());
        let told = told.1.as_array().unwrap().clone();
        told.iter().map(|one| (one["slot"].clone(), one["reach"]["yes"].is_object())).collect::<Vec<_>>()
    };
    assert_eq!(reach(&[]), [(json!(null), false), (json!("cook"), true)]);
    assert_eq!(reach(&["--slot", "cook"]), [(json!("cook"), true)]);
    home.run(&["policy", "reach", "--subject", "agent:kitchen", "--slot", "baker"]).exits(4).says(&["no slot `baker`"]);

    // One subject's broken manifest is told in its row, and hides no other one.
    let (exit, table) = home.json(&["policy", "matrix"]);
    assert_eq!(exit, 0, "{table}");
    let rows = table["rows"].as_array().unwrap();
    let row = |subject: &str, slot: serde_json::Value| {
        rows.iter().find(|row| row["subject"] == subject && row["slot"] == slot).unwrap_or_else(|| panic!("{table}"))
    };
    let denied = |row: &serde_json::Value, name: &str| {
        let standings = row["standings"].as_array().unwrap();
        let standing = standings.iter().find(|standing| standing["capability"] == name).unwrap();
        standing["possible"].as_array().unwrap().iter().all(|one| one["verdict"] == "deny")
    };
    assert!(denied(row("agent:kitchen", json!(null)), "house.count"));
    assert!(!denied(row("agent:kitchen", json!("cook")), "house.count"));
    let broken = row("agent:broken", json!(null));
    assert!(broken["fault"].as_str().unwrap().contains("agent.yaml") && broken["standings"] == json!([]), "{broken}");
    home.run(&["policy", "matrix"]).exits(0).says(&["agent:kitchen/cook", "nothing runs: the manifest"]);

    let can = |slot: &[&str]| {
        let (exit, told) = home.json(&[&["self-model", "--subject", "agent:kitchen"][..], slot].concat());
        assert_eq!(exit, 0, "{told}");
        told["capabilities"].to_string().contains("house.count")
    };
    assert_eq!((can(&[]), can(&["--slot", "cook"])), (false, true));
    let shown = |slot: &[&str]| {
        // Shown or found by a search.
        home.json(&[&["surface", "--subject", "agent:kitchen"][..], slot].concat()).1.to_string()
    };
    assert!(!shown(&[]).contains("house-count") && shown(&["--slot", "cook"]).contains("house-count"));
    let why = |slot: &[&str]| {
        home.json(&[&["policy", "explain", "house.count", "--subject", "agent:kitchen"][..], slot].concat()).1
    };
    assert_eq!((&why(&[])["verdict"], &why(&["--slot", "cook"])["verdict"]), (&json!("deny"), &json!("ask_fresh")));
}

/// What one slot asked for is judged by that slot, whoever goes on with it.
#[test]
fn a_question_is_its_slots_until_the_end() {
    let home = Home::with_operator();
    let manifest = |planner: &str| {
        let slots = format!("  slots:\n    planner: [{planner}]\n    writer: [house.count]\n");
        home.manifest("agent:kitchen", &format!("capabilities:\n  defaults: [house.greet]\n{slots}"));
    };
    let asked = || {
        let words = ["invoke", "house.count", r#"{"by":1}"#, "--subject", "agent:kitchen", "--slot", "planner"];
        let (exit, asked) = home.operate_json(&words);
        assert_eq!(exit, 3, "{asked}");
        let id = asked["approval"]["id"].as_str().unwrap().to_owned();
        home.operate(&["approvals", "approve", &id]).exits(0);
        id
    };
    let resume = |id: &str, slot: &[&str]| {
        home.operate_json(&[&["resume", id, "--subject", "agent:kitchen"][..], slot].concat())
    };
    manifest("house.count");
    let (first, second) = (asked(), asked());
    home.operate(&["approvals", "show", &first]).says(&["agent:kitchen/planner"]);
    assert_eq!(resume(&first, &[]).0, 0, "it goes on where it was asked");
    manifest("");
    for slot in [&["--slot", "writer"][..], &["--slot", "planner"], &[]] {
        let (exit, outcome) = resume(&second, slot);
        assert_eq!((exit, &outcome["code"]), (4, &json!("undeclared")), "{slot:?}: {outcome}");
    }
    manifest("house.count");
    assert_eq!(resume(&second, &["--slot", "writer"]).0, 0);
}
