//! The log as an operator reads it.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::home::{Home, ended, signal};

fn greet(home: &Home) -> Value {
    let (exit, outcome) = home.json(&["invoke", "house.greet", r#"{"name":"a"}"#]);
    assert_eq!(exit, 0, "{outcome}");
    outcome
}

#[test]
fn following_tells_what_is_recorded_until_it_is_interrupted() {
    let home = Home::new();
    greet(&home);
    let mut child = home.start(&["audit", "tail", "--follow", "--json", "-n", "1"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut next = || serde_json::from_str::<Value>(&lines.next().expect("a line")).expect("one document a line");
    let first = next();
    assert_eq!(first["event"], "outcome");
    greet(&home);
    let seqs: Vec<_> = (0..2).map(|_| next()["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, [first["seq"].as_u64().unwrap() + 1, first["seq"].as_u64().unwrap() + 2]);
    signal(&child, "INT");
    ended(child).exits(0);

    let mut child = home.start(&["audit", "tail", "--follow", "-n", "1"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.next().unwrap().starts_with("SEQ"));
    assert!(lines.next().unwrap().contains("executed"));
    greet(&home);
    assert!(lines.next().unwrap().contains("policy_decision"));
    signal(&child, "TERM");
    ended(child).exits(0);
}

#[test]
fn a_receipt_is_in_this_log_or_it_is_not() {
    let home = Home::new();
    let outcome = greet(&home);
    greet(&home);
    let receipt = |seq: &Value, hash: &Value| format!("{seq}:{}", hash.as_str().unwrap());
    let (seq, hash) = (&outcome["receipt"]["seq"], &outcome["receipt"]["hash"]);
    let (exit, report) = home.json(&["audit", "verify", "--receipt", &receipt(seq, hash)]);
    assert_eq!((exit, &report["receipt"], &report["state"]), (0, &json!("present"), &json!("clean")), "{report}");
    assert_eq!(report["anchored"]["seq"], report["records"]);
    assert!(report["anchored"]["at"].is_string() && report["unanchored"] == 0, "{report}");
    let other = receipt(&json!(seq.as_u64().unwrap() + 1), hash);
    let (exit, report) = home.json(&["audit", "verify", "--receipt", &other]);
    assert_eq!((exit, &report["receipt"], &report["state"]), (1, &json!("absent"), &json!("clean")), "{report}");
    home.run(&["audit", "verify", "--receipt", &other]).exits(1).says(&["not in the log", "help: "]);
    home.run(&["audit", "verify", "--receipt", "7"])
        .exits(2)
        .says(&["a receipt is a number and 64 hexadecimal digits"]);

    let key = report["verifier_key"].as_str().unwrap();
    home.run(&["doctor"]).exits(0).says(&[key]);
    home.run(&["audit", "verify", "--key", key]).exits(0).says(&[key, "0 records unanchored"]);
    home.run(&["audit", "verify", "--key", "nonsense"]).exits(2).says(&["a verifier key is"]);
    let stranger = Home::new();
    greet(&stranger);
    let theirs = stranger.json(&["audit", "verify"]).1["verifier_key"].as_str().unwrap().to_owned();
    let (exit, report) = home.json(&["audit", "verify", "--key", &theirs]);
    assert_eq!((exit, &report["state"]), (1, &json!("tampered")), "{report}");
}

#[test]
fn verifying_beside_a_host_waits_for_its_signature() {
    let home = Home::new();
    let serving = home.serve();
    for _ in 0..3 {
        greet(&home);
        let (exit, report) = home.json(&["audit", "verify"]);
        assert_eq!((exit, &report["state"]), (0, &json!("clean")), "{report}");
        assert_eq!(report["records"].as_u64().unwrap() as usize, home.records().len());
    }
    // One that is killed leaves what it had not signed yet, and the next start signs it.
    greet(&home);
    drop(serving.end("KILL"));
    let (exit, report) = home.json(&["audit", "verify"]);
    assert!([0, 3].contains(&exit), "{report}");
    home.run(&["list"]).exits(0);
    home.run(&["audit", "verify"]).exits(0).says(&["all in order"]);
}

#[test]
fn stats_tell_for_each_capability_where_it_was_rejected() {
    let home = Home::new();
    greet(&home);
    home.run(&["invoke", "house.greet", r#"{"name":1}"#]).exits(4);
    let (exit, stats) = home.json(&["audit", "stats"]);
    let of = &stats["capabilities"]["house.greet@1"];
    assert_eq!((exit, &of["asked"], &of["rejected"]), (0, &json!(2), &json!({ "validate": 1 })), "{stats}");
    home.run(&["audit", "stats"]).exits(0).says(&["2: executed 1, rejected 1 (rejected at validate 1)"]);
}
