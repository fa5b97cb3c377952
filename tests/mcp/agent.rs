//! An agent that speaks with its host by `mcp --turn`.

use serde_json::{Value, json};

use crate::home::Home;
use crate::project;

/// The agent `critic`, which says what its task is on each of two connections, one after the other, and declares these.
pub fn configured(declared: &[&str]) -> String {
    let program = project::household().display();
    let script = format!("cat > said; for each in 1 2; do '{program}' mcp --turn < said; done");
    format!(
        "[mcp]\nlist = \"all\"\n[agents.critic]\nsubject = \"agent:critic\"\ncommand = {}\n\
         [subjects.\"agent:critic\"]\ncapabilities = {}\n",
        json!(["sh", "-c", script]),
        json!(declared)
    )
}

/// What the agent says: a greeting, and then these calls.
fn said(calls: &[(&str, Value)]) -> String {
    let client = json!({ "name": "critic", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let mut lines = vec![
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ];
    for (id, (tool, arguments)) in (1..).zip(calls) {
        let params = json!({ "name": tool, "arguments": arguments });
        lines.push(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A turn of the agent for somebody, answered for by an operator: what it was answered on both connections, the greetings left out.
pub fn turn(home: &Home, subject: &[&str], calls: &[(&str, Value)]) -> Vec<Value> {
    let arguments = json!({ "agent": "critic", "task": said(calls) }).to_string();
    let (exit, asked) = home.operate_json(&[&["invoke", "agent.run", &arguments][..], subject].concat());
    assert_eq!(exit, 3, "{asked}");
    let id = asked["approval"]["id"].as_str().unwrap();
    home.operate(&["approvals", "approve", id]).exits(0);
    let (exit, ran) = home.operate_json(&[&["resume", id][..], subject].concat());
    assert_eq!((exit, &ran["result"]["ended"]), (0, &json!("answered")), "{ran}");
    let answers = ran["result"]["answer"].as_str().unwrap().lines().map(|line| serde_json::from_str(line).unwrap());
    answers.filter(|answer: &Value| answer["id"] != 0).map(|mut answer| answer["result"].take()).collect()
}
