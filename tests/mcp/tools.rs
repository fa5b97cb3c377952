//! What a client is shown.

use serde_json::{Value, json};

use crate::home::Home;
use crate::program::{Age, BOTH, Program, fact, listing};
use crate::project;

#[test]
fn both_ages_see_the_same_tools_byte_for_byte_in_every_run() {
    let home = listing(Home::new());
    let listed = |age| Value::from(Program::plain(&home, age).tools()).to_string();
    let first = listed(Age::Older);
    assert!(first.contains("\"house-greet\"") && first.contains("\"system-health\""), "{first}");
    assert_eq!(first, listed(Age::Older));
    // Results that are no objects are described to newer clients alone.
    let mut newer: Vec<Value> = serde_json::from_str(&listed(Age::Newer)).unwrap();
    for tool in &mut newer {
        if tool["outputSchema"]["type"] != "object" {
            tool.as_object_mut().unwrap().remove("outputSchema");
        }
    }
    let mut older: Vec<Value> = serde_json::from_str(&first).unwrap();
    for tool in &mut older {
        if tool["outputSchema"]["type"] != "object" {
            assert_eq!(tool["outputSchema"], Value::Null);
        }
    }
    assert_eq!(older, newer);
}

/// Every tool of the build, against what `list` and `describe` tell of the capability behind it.
#[test]
fn what_a_tool_may_do_is_derived_from_its_class_and_nothing_else() {
    let home = listing(Home::new());
    let (_, rows) = home.json(&["list"]);
    let tools = Program::plain(&home, Age::Newer).tools();
    let mut seen = 0;
    for row in rows.as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        // What tools of other providers are called through is no tool itself.
        if ["edge.call", "mcp.call", "relay.call"].contains(&name) {
            continue;
        }
        let tool = tools
            .iter()
            .find(|tool| *fact(tool, "capability") == row["name"] && *fact(tool, "version") == row["version"]);
        let tool = tool.unwrap_or_else(|| panic!("no tool for {row}"));
        let (_, described) = home.json(&["describe", name]);
        let mutating = row["side_effect"] == "mutating";
        assert_eq!(
            tool["annotations"],
            json!({
                "readOnlyHint": !mutating,
                "destructiveHint": mutating,
                "idempotentHint": described["idempotent"],
                "openWorldHint": row["network"] == "external",
            }),
            "{name}"
        );
        for key in ["side_effect", "network", "confirmation"] {
            assert_eq!(*fact(tool, key), row[key], "{name}");
        }
        assert_eq!(tool["name"], name.replace('.', "-"));
        assert_eq!(tool["title"], described["title"], "{name}");
        assert_eq!(tool["description"], described["description"], "{name}");
        assert_eq!(tool["inputSchema"]["type"], "object", "{name}");
        // What is not there is left out: there are clients that a null stops.
        assert!(tool.as_object().unwrap().values().all(|value| !value.is_null()), "{tool}");
        seen += 1;
    }
    assert_eq!(seen + ["tool_search", "invoke_tool"].len(), tools.len());
}

#[test]
fn a_client_is_told_which_program_it_speaks_with() {
    let home = listing(Home::of(project::household()));
    let mut older = Program::plain(&home, Age::Newer);
    let found = older.request("server/discover", json!({}));
    assert_eq!(found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "household", "{found}");
    assert_eq!(found["result"]["capabilities"], json!({ "tools": {} }));
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    let listed = older.request("tools/list", json!({}));
    // What stands against calling a tool now is told beside the list, which it does not change.
    let facts = &listed["result"]["_meta"]["capability-host/facts"]["tools"];
    assert_eq!(facts["house-vault"]["admission"], "policy_blocked", "{facts}");
    assert_eq!(facts["house-lookup"]["admission"], "policy_blocked", "{facts}");
    assert_eq!(facts["house-greet"], Value::Null, "{facts}");
    assert_eq!((&listed["result"]["cacheScope"], &listed["result"]["ttlMs"]), (&json!("private"), &json!(30_000)));
}

#[test]
fn methods_that_there_are_not_and_parameters_that_cannot_be_are_told_apart() {
    let home = listing(Home::new());
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        program.tools();
        for method in ["resources/read", "prompts/get", "sampling/createMessage", "no/such"] {
            let answer = program.request(method, json!({ "uri": "x:y", "name": "x" }));
            assert_eq!(answer["error"]["code"], -32601, "{answer}");
        }
        let answer = program.request("tools/list", json!({ "cursor": "page 2" }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let unknown = program.request("tools/call", json!({ "name": "house.greet", "arguments": { "name": "a" } }));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        assert!(!unknown.to_string().contains("house.greet"), "{unknown}");
        let data = |name: &str| &unknown["error"]["data"][format!("capability-host/{name}")];
        assert_eq!((data("diagnostic"), data("code")), (&json!("unknown_tool"), &json!("unknown_capability")));
        assert!(data("receipt")["seq"].is_u64(), "{unknown}");
        // What the surface's own operations cannot make sense of is told as what it is, and is on record too.
        for (tool, arguments) in [("tool_search", json!({})), ("invoke_tool", json!({ "tool": "house-greet" }))] {
            let refused = program.call(tool, arguments);
            assert_eq!(
                (fact(&refused, "diagnostic"), fact(&refused, "code"), &refused["isError"]),
                (&json!("malformed_tool_call"), &json!("operation_malformed"), &json!(true)),
                "{refused}"
            );
            assert!(fact(&refused, "receipt")["seq"].is_u64(), "{refused}");
        }
    }
    // What nobody has heard of is on record as well, and not by name.
    let records = home.records_of("outcome");
    let unknown: Vec<_> = records.iter().filter(|record| record["code"] == "unknown_capability").collect();
    assert_eq!(unknown.len(), 2, "{records:?}");
    let malformed: Vec<_> = records.iter().filter(|record| record["code"] == "operation_malformed").collect();
    assert_eq!(malformed.len(), 4, "{records:?}");
}
