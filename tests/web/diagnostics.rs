//! The seven ways in which a call goes other than its caller thought: each is a sentence of its own on the command line, over
//! MCP, and in the approval centre.

use serde_json::{Value, json};

use crate::centre::Centre;
use crate::home::Home;
use crate::program::{Age, Program, fact, words};

const CONFIG: &str = r#"
[mcp]
list = "all"

[edges.desk]
carries_out = ["house.greet", "house.think", "house.once"]

[fallback]
"house.think" = "disabled"
"house.once" = "approved"

"#;

/// The word, the sentence, the capability, what a client of MCP calls it, and the arguments.
const WAYS: [(&str, &str, &str, &str, &str); 7] = [
    ("unknown_tool", "there is no tool of that name", "house.nothing", "house-nothing", "{}"),
    (
        "unsupported_capability",
        "no provider owns this capability",
        "relay.call",
        "relay-call",
        r#"{"relay":"cloud","tool":"x","arguments":{}}"#,
    ),
    (
        "missing_runtime_binding",
        "its provider has the contract, and nothing is bound to it here",
        "web.search",
        "web-search",
        r#"{"query":"bread"}"#,
    ),
    (
        "provider_offline",
        "its provider is known, and cannot be reached now",
        "house.greet",
        "house-greet",
        r#"{"name":"Anna"}"#,
    ),
    ("policy_blocked", "mode, permission or policy blocks it", "house.think", "house-think", r#"{"ms":1}"#),
    ("malformed_tool_call", "the call itself is malformed", "house.count", "house-count", r#"{"by":"many"}"#),
    ("fallback_selected", "another provider served than the first choice", "house.once", "house-once", "{}"),
];

#[test]
fn each_of_the_seven_ways_is_told_at_every_door() {
    let centre = Centre::of(Home::with_operator(), CONFIG);
    centre.home.operate(&["optin", "set", "web", "on"]).exits(0);
    let operator = centre.logged_in();
    let mut told = std::collections::BTreeSet::new();
    for (word, sentence, capability, tool, arguments) in WAYS {
        told.insert((word, sentence));
        // On the command line, for people and for programs.
        let ran = centre.home.run(&["invoke", capability, arguments]);
        let expected = if word == "fallback_selected" { 0 } else { 4 };
        ran.exits(expected).says(&[&format!("{word}: {sentence}")]);
        let (_, outcome) = centre.home.json(&["invoke", capability, arguments]);
        assert_eq!(outcome["diagnostic"], json!({ "kind": word, "message": sentence }), "{outcome}");
        // Over MCP, in words that a model reads.
        for age in [Age::Older, Age::Newer] {
            let mut program = Program::plain(&centre.home, age);
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            let answer = program.request("tools/call", json!({ "name": tool, "arguments": arguments }));
            match word {
                "unknown_tool" => {
                    let said = answer["error"]["message"].as_str().unwrap_or_default();
                    assert!(said.contains(word) && said.contains(sentence), "{answer}");
                }
                "fallback_selected" => {
                    assert_eq!(fact(&answer["result"], "diagnostic"), word, "{answer}");
                    assert!(words(&answer["result"]).contains("`desk` cannot carry it out ("), "{answer}");
                }
                _ => {
                    assert_eq!(fact(&answer["result"], "diagnostic"), word, "{answer}");
                    assert!(words(&answer["result"]).contains(sentence), "{answer}");
                }
            }
        }
        // In the approval centre, beside the record of the call.
        let page = operator.get("/audit").is(200).body;
        assert!(page.contains(&format!("data-diagnostic=\"{word}\"")) && page.contains(sentence), "{word}");
    }
    assert_eq!(told.len(), 7, "no two are told alike");
}
