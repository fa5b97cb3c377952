//! What a program is shown unless an operator says otherwise, and how it reaches everything else.

use std::path::Path;

use serde_json::{Value, json};

use crate::home::Home;
use crate::program::{Age, BOTH, Program, fact, listing, ran, runs, waits, words};

fn names(tools: &[Value]) -> Vec<String> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// What a search finds, by name and digest.
pub fn found(program: &mut Program, query: &str) -> Vec<(String, String)> {
    let answer = program.call("tool_search", json!({ "query": query }));
    let tools = answer["structuredContent"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    let text = |tool: &Value, key: &str| tool[key].as_str().unwrap().to_owned();
    tools.iter().map(|tool| (text(tool, "name"), text(tool, "digest"))).collect()
}

/// Arguments that call what a search by its name found.
pub fn invocation(program: &mut Program, name: &str, arguments: &Value) -> Value {
    let (tool, digest) = found(program, name).into_iter().next().unwrap_or_else(|| panic!("{name} is found"));
    assert_eq!(tool, name);
    json!({ "tool": tool, "digest": digest, "arguments": arguments })
}

#[test]
fn a_program_is_shown_the_surface_of_the_budget_unless_an_operator_asks_for_all() {
    let home = Home::with_operator();
    home.configure("[surface]\npinned = [\"house.count\"]\n");
    home.operate(&["optin", "set", "web", "on"]).exits(0);
    let shown = home.json(&["surface", "--profile", "mcp"]).1;
    let wanted = names(shown["tools"].as_array().unwrap());
    let pinned = 512;
    assert!(shown["bytes"].as_u64().unwrap() <= shown["budget"].as_u64().unwrap() + pinned, "{shown}");
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        let listed = names(&program.tools());
        assert_eq!(listed, wanted);
        for resident in ["system-health", "web-fetch", "web-search", "house-count", "tool_search", "invoke_tool"] {
            assert!(listed.iter().any(|name| name == resident), "{resident}: {listed:?}");
        }
        ran(&program.call("system-health", json!({})));
        waits(&program.call("web-fetch", json!({ "url": "http://a.example/" })));
        // What is not shown is found, and called with the digest that it is found with: by its name alone nobody calls it.
        let greeting = json!({ "name": "Anna" });
        let refused = program.call("house-greet", greeting.clone());
        assert_eq!(
            (fact(&refused, "code"), fact(&refused, "diagnostic")),
            (&json!("selection_missing"), &json!("malformed_tool_call")),
            "{refused}"
        );
        assert!(words(&refused).contains("help: find it with `tool_search`"), "{refused}");
        let call = invocation(&mut program, "house-greet", &greeting);
        let done = program.call("invoke_tool", call);
        ran(&done);
        assert_eq!((words(&done).as_str(), fact(&done, "capability")), ("\"hello, Anna\"", &json!("house.greet")));
    }
    let refused = home.records_of("outcome").into_iter().filter(|record| record["code"] == "selection_missing").count();
    assert_eq!((refused, runs(&home, "house.greet")), (2, 2));

    let home = listing(home);
    let all = home.json(&["surface", "--profile", "mcp"]).1;
    let listed = names(&Program::plain(&home, Age::Newer).tools());
    assert_eq!(listed, names(all["tools"].as_array().unwrap()));
    assert!(listed.len() > wanted.len() && listed.iter().any(|name| name == "house-greet"), "{listed:?}");
    // A model that is connected otherwise has the room that it has.
    assert_eq!(
        home.json(&["surface", "--profile", "openai"]).1["bytes"].as_u64().map(|bytes| bytes <= 8192),
        Some(true)
    );
}

/// The list of a program was asked for when the server had not been connected: it has what reaches the server's tools in it.
#[test]
fn a_program_that_listed_first_reaches_the_tools_of_a_server_that_is_connected_later() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let python = target.join("python/bin/python");
    assert!(python.exists(), "{} is not there\nhelp: run `tests/run`, which installs it", python.display());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/providers/lab.py");
    for age in BOTH {
        let home = Home::with_operator();
        home.configure(&format!("[mcp.servers.lab]\ncommand = [{python:?}, {script:?}, \"well\"]\n"));
        home.operate(&["optin", "set", "mcp", "on"]).exits(0);
        let _serving = home.serve();
        let mut program = Program::plain(&home, age);
        let before = program.tools();
        assert!(found(&mut program, "mcp-lab--alpha").iter().all(|(name, _)| !name.starts_with("mcp-lab")));
        // A person answers for the connection, and then for the call.
        let approved = |program: &mut Program, call: &Value| {
            let id = waits(&program.call("invoke_tool", call.clone()));
            let card = home.operate(&["approvals", "show", &id]).exits(0).out;
            assert_eq!(card.contains("runs      by mcp `lab`"), call["tool"] == "mcp-lab--alpha", "{card}");
            home.operate(&["approvals", "approve", &id]).exits(0);
            let done = program.call("invoke_tool", call.clone());
            ran(&done);
            done
        };
        let connect = invocation(&mut program, "mcp-connect", &json!({ "server": "lab" }));
        approved(&mut program, &connect);
        assert_eq!(program.tools(), before, "the list is what it was");
        let call = invocation(&mut program, "mcp-lab--alpha", &json!({ "x": 7 }));
        let done = approved(&mut program, &call);
        assert_eq!(*fact(&done, "capability"), "mcp.call");
        assert!(words(&done).contains("in call"), "{done}");
        let recorded = home.records_of("outcome").pop().unwrap();
        assert_eq!((&recorded["capability"], &recorded["provided"]["id"]), (&json!("mcp.call"), &json!("lab")));
    }
}
