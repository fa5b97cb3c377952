//! How a tool has been doing, told to whoever would call it again: by the host itself, at every door, once a session.

use std::path::Path;

use serde_json::json;

use crate::centre::Centre;
use crate::home::{Home, until};
use crate::program::{Age, Program, fact, words};

const LAB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/providers/lab.py");
const CALL: [&str; 3] = ["invoke", "mcp.call", r#"{"server":"lab","tool":"alpha","arguments":{"x":1}}"#];
const GUIDANCE: &str =
    "the last calls of this tool failed: look at what they did before trying again, or go another way";

#[test]
fn whoever_would_call_a_failing_tool_again_is_told_once_and_after_a_restart() {
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("python/bin/python");
    // Its answers are none in the protocol, so that each call of it fails at once.
    let config = format!(
        "[mcp.servers.lab]\ncommand = [{python:?}, {LAB:?}, \"twice\"]\nstart = \"with_host\"\ndiscovery_s = 50\n"
    );
    let centre = Centre::of(Home::with_operator(), &config);
    let operator = centre.logged_in();
    centre.home.operate(&["optin", "set", "mcp", "on"]).exits(0);
    until("its connection", || {
        operator.get("/providers").body.contains("data-server=\"lab\" data-state=\"ready\"").then_some(())
    });
    centre.home.run(&["providers", "health"]).exits(0).says(&["no tool has been run"]);
    let home = &centre.home;
    for failed in 1..=3 {
        let id = home.pending(&CALL[1..]);
        home.operate(&["approvals", "approve", &id]).exits(0);
        let (exit, outcome) = home.json(&["resume", &id]);
        assert_eq!((exit, &outcome["outcome"]), (5, &json!("failed")), "{outcome}");
        let guidance = if failed == 3 { json!(GUIDANCE) } else { json!(null) };
        assert_eq!(outcome["guidance"], guidance, "after {failed}");
    }
    // It was said in this session; whoever answers is told each time, and another session once.
    let (_, outcome) = home.json(&CALL);
    assert_eq!((&outcome["outcome"], &outcome["guidance"]), (&json!("pending"), &json!(null)), "{outcome}");
    let id = outcome["approval"]["id"].as_str().unwrap().to_owned();
    assert!(operator.card(&id).body.contains("the last 3 calls failed; the last one was `failed`"));
    home.operate(&["approvals", "show", &id]).exits(0).says(&["the last 3 calls failed"]);
    let mut program = Program::plain(home, Age::Newer);
    let found = program.call("tool_search", json!({ "query": "alpha" }));
    let tool = &found["structuredContent"]["tools"][0];
    let invoke = json!({ "tool": tool["name"], "digest": tool["digest"], "arguments": { "x": 2 } });
    let told = program.call("invoke_tool", invoke.clone());
    assert_eq!((fact(&told, "outcome"), fact(&told, "guidance")), (&json!("pending"), &json!(GUIDANCE)), "{told}");
    assert!(words(&told).contains(GUIDANCE), "{told}");
    let told =
        program.call("invoke_tool", json!({ "tool": tool["name"], "digest": tool["digest"], "arguments": { "x": 3 } }));
    assert_eq!(fact(&told, "guidance"), &json!(null), "it was said: {told}");
    drop(program);

    home.run(&["providers", "health"]).exits(0).says(&["mcp lab alpha", "failing", GUIDANCE]);
    assert!(operator.get("/providers").body.contains("data-failing=\"mcp.call\""));
    let told = centre.program().get("/api/providers").is(200).json();
    let health = told["health"].as_array().unwrap().iter().find(|one| one["tool"] == "alpha").unwrap();
    assert_eq!(
        (&health["failed"], &health["failing"], &health["guidance"]),
        (&json!(3), &json!(true), &json!(GUIDANCE))
    );
    assert_eq!(told["servers"][0]["name"], "lab");
    home.run(&["doctor"]).says(&["provider lab", "tool health", "providers health"]);

    // What only reads may be tried again: nothing is said of it.
    for _ in 0..4 {
        let (_, outcome) = home.json(&["invoke", "house.complain", r#"{"text":"no"}"#]);
        assert_eq!((&outcome["outcome"], &outcome["guidance"]), (&json!("failed"), &json!(null)), "{outcome}");
    }

    // The next host knows.
    let home = centre.stopped();
    let (_, told) = home.json(&["providers", "health"]);
    let health = told.as_array().unwrap().iter().find(|one| one["capability"] == "mcp.call").unwrap();
    assert_eq!(
        (&health["failed"], &health["in_a_row"], &health["failing"]),
        (&json!(3), &json!(3), &json!(true)),
        "{told}"
    );
}
