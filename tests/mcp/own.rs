//! Servers that a program, or one command, has of its own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::home::{Home, ended, signal, until};
use crate::people::client;
use crate::program::{Age, BOTH, Program, listing, ran, waits, words};
use crate::resident::{found, invocation};

/// The table of a server of ours that a session can have of its own; what happens to it is noted in a file.
fn table(notes: &Path) -> String {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let python = target.join("python/bin/python");
    assert!(python.exists(), "{} is not there\nhelp: run `tests/run`, which installs it", python.display());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/providers/lab.py");
    format!(
        "[mcp.servers.lab]\ncommand = [{python:?}, {script:?}, \"well\", {notes:?}]\nscope = \"request\"\ndiscovery_s = 50\n"
    )
}

fn home(more: &str) -> Home {
    let home = Home::with_operator();
    home.configure(&(table(&home.top().join("notes")) + more));
    home.operate(&["optin", "set", "mcp", "on"]).exits(0);
    home
}

/// Whether the program of the server runs.
fn runs(home: &Home) -> bool {
    let notes = home.top().join("notes").into_os_string().into_encoded_bytes();
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    processes.into_iter().any(|line| line.split(|byte| *byte == 0).any(|word| *word == *notes))
}

/// The tools of servers that a program finds.
fn servers_tools(program: &mut Program) -> Vec<String> {
    let names = found(program, "does alpha").into_iter().map(|(name, _)| name);
    names.filter(|name| name.starts_with("mcp-lab")).collect()
}

/// Asks for a call, answers for it, and goes on with it.
fn approved(home: &Home, program: &mut Program, call: &Value) -> Value {
    let id = waits(&program.call("invoke_tool", call.clone()));
    home.operate(&["approvals", "approve", &id]).exits(0);
    program.call("invoke_tool", call.clone())
}

#[test]
fn a_program_that_names_a_server_has_it_alone_until_it_ends() {
    for age in BOTH {
        let home = home("");
        let _serving = home.serve();
        let mut program = Program::start(&home, age, json!({}), &["--with", "lab"]);
        let mut other = Program::plain(&home, age);
        assert_eq!(servers_tools(&mut program), [] as [String; 0], "nobody has connected it");
        let connect = invocation(&mut program, "mcp-connect", &json!({ "server": "lab" }));
        assert!(!runs(&home), "naming it starts nothing");
        ran(&approved(&home, &mut program, &connect));
        assert!(runs(&home));
        assert_eq!(servers_tools(&mut program), ["mcp-lab--alpha", "mcp-lab--beta"]);
        let call = invocation(&mut program, "mcp-lab--alpha", &json!({ "x": 7 }));
        let done = approved(&home, &mut program, &call);
        ran(&done);
        assert!(words(&done).contains("in call 1"), "{done}");
        // Another program of the same subject finds nothing of it and reaches nothing of it, with the very same call.
        assert_eq!(servers_tools(&mut other), [] as [String; 0]);
        let refused = other.request("tools/call", json!({ "name": "invoke_tool", "arguments": call }));
        assert!(!refused.to_string().contains("in call"), "{refused}");
        program.end().exits(0);
        until("the end of the server", || (!runs(&home)).then_some(()));
        other.end().exits(0);
    }
}

#[test]
fn a_server_that_no_session_can_have_is_refused_with_what_is_near() {
    let home = home("[mcp.servers.docs]\nurl = \"http://127.0.0.1:9/mcp\"\n");
    for (name, said) in [("lap", "`lab` is one"), ("docs", "everybody's"), ("x/y", "`x/y`")] {
        home.run(&["mcp", "--no-web", "--with", name]).exits(4).says(&[said, "help: "]);
        let words = ["invoke", "--with", name, "mcp.call", r#"{"server":"lab","tool":"alpha","arguments":{}}"#];
        home.run(&words).exits(4).says(&[said, "help: "]);
    }
    assert!(home.records_of("outcome").is_empty(), "nothing was asked for");
}

/// A client's token says which servers its session has, wherever it speaks from.
#[test]
fn a_tokens_servers_are_its_sessions_own() {
    let clients = "[subjects.anna]\ncapabilities = [\"house.greet\", \"mcp.call:*\", \"mcp.connect:*\"]\n[mcp.clients.desktop]\nservers = [\"lab\"]\n";
    let home = home(clients);
    let _serving = home.serve();
    let (desktop, phone) = (client(&home, "desktop", "anna"), client(&home, "phone", "anna"));
    let start = |file: &str| Program::start(&home, Age::Newer, json!({}), &["--token-file", file]);
    let (mut own, mut other) = (start(&desktop), start(&phone));
    let connect = invocation(&mut own, "mcp-connect", &json!({ "server": "lab" }));
    ran(&approved(&home, &mut own, &connect));
    assert_eq!(servers_tools(&mut own).len(), 2);
    assert_eq!(servers_tools(&mut other), [] as [String; 0]);
    let recorded = home.records_of("outcome").pop().unwrap();
    assert_eq!((&recorded["capability"], &recorded["subject"]), (&json!("mcp.connect"), &json!("anna")));
    own.end().exits(0);
    until("the end of the server", || (!runs(&home)).then_some(()));
    // Whoever has the other token goes on.
    let greet = invocation(&mut other, "house-greet", &json!({ "name": "a" }));
    ran(&other.call("invoke_tool", greet));
}

/// A program that is told to end, as when a system shuts down, says so to the host, which does not wait until it has not heard of it
/// for long.
#[test]
fn a_program_that_is_told_to_end_takes_its_servers_along() {
    for age in BOTH {
        let home = home("");
        let _serving = home.serve();
        let mut program = Program::start(&home, age, json!({}), &["--with", "lab"]);
        let connect = invocation(&mut program, "mcp-connect", &json!({ "server": "lab" }));
        ran(&approved(&home, &mut program, &connect));
        assert!(runs(&home));
        program.interrupt().exits(130);
        until("the end of the server", || (!runs(&home)).then_some(()));
    }
}

/// One command: the server is asked for, then the call is, and with the command both are over.
#[test]
fn a_command_that_names_a_server_has_it_for_one_call() {
    let home = home("");
    let _serving = home.serve();
    let call = r#"{"server":"lab","tool":"alpha","arguments":{"x":3}}"#;
    let command = home.start(&["invoke", "--json", "--with", "lab", "mcp.call", call]);
    let mut answered = Vec::new();
    for wanted in ["mcp.connect", "mcp.call"] {
        let id = until("the question", || {
            let waiting = home.operate_json(&["approvals", "list"]).1;
            let one = waiting.as_array()?.iter().find(|one| one["capability"] == wanted)?.clone();
            let id = one["id"].as_str()?.to_owned();
            (!answered.contains(&id)).then_some(id)
        });
        assert_eq!(runs(&home), wanted == "mcp.call", "it is started when that is answered for");
        home.operate(&["approvals", "approve", &id]).exits(0);
        answered.push(id);
    }
    let done = ended(command).exits(0).document();
    assert_eq!(done["outcome"], "executed", "{done}");
    assert!(done["result"].to_string().contains("in call 1"), "{done}");
    until("the end of the server", || (!runs(&home)).then_some(()));
    // Nor does a command leave it behind that is told to end before it is done.
    let command = home.start(&["invoke", "--json", "--with", "lab", "mcp.call", call]);
    let id = until("the question", || {
        let waiting = home.operate_json(&["approvals", "list"]).1;
        let one = waiting.as_array()?.iter().find(|one| one["status"] == "pending")?;
        Some(one["id"].as_str()?.to_owned())
    });
    home.operate(&["approvals", "approve", &id]).exits(0);
    until("the server", || runs(&home).then_some(()));
    signal(&command, "TERM");
    ended(command).exits(130);
    until("the end of the server", || (!runs(&home)).then_some(()));
    // The command lines of the subject have nothing of it.
    let (exit, refused) = home.json(&["invoke", "mcp.call", call]);
    assert_eq!((exit, &refused["code"]), (4, &json!("unsupported_capability")), "{refused}");
}

/// A server takes a capability over: the list of tools stays what it was, byte for byte. That the
/// call is judged more strictly now is told beside the list.
#[test]
fn who_carries_a_tool_out_is_no_part_of_the_list() {
    for age in BOTH {
        let home = listing(Home::with_operator());
        home.configure(&format!(
            "[mcp]\nlist = \"all\"\n{}carries_out = {{ \"house.greet\" = \"alpha\" }}\n",
            table(&home.top().join("notes"))
        ));
        home.operate(&["optin", "set", "mcp", "on"]).exits(0);
        home.operate(&["optin", "set", "house", "on"]).exits(0);
        let _serving = home.serve();
        let list = |program: &mut Program| {
            let listed = program.request("tools/list", json!({}))["result"].clone();
            let tools = listed["tools"].to_string();
            assert!(tools.contains("\"house-greet\""), "{tools}");
            (tools, listed["_meta"]["capability-host/facts"]["tools"]["house-greet"].clone())
        };
        let mut plain = Program::plain(&home, age);
        let (tools, fact) = list(&mut plain);
        assert_eq!(fact, Value::Null);
        let greet = json!({ "name": "a" });
        ran(&plain.call("house-greet", greet.clone()));

        let mut own = Program::start(&home, age, json!({}), &["--with", "lab"]);
        let strictest = json!({ "side_effect": "mutating", "network": "external" });
        let (offline, fact) = list(&mut own);
        assert_eq!((&fact["admission"], &fact["class"]), (&json!("provider_offline"), &strictest));
        let connect = json!({ "server": "lab" });
        let id = waits(&own.call("mcp-connect", connect.clone()));
        home.operate(&["approvals", "approve", &id]).exits(0);
        ran(&own.call("mcp-connect", connect));
        let (taken, fact) = list(&mut own);
        assert_eq!((&fact["admission"], &fact["class"]), (&json!("ready"), &strictest));
        assert_eq!((&offline, &taken), (&tools, &tools));
        // The same tool, and a person is asked now.
        waits(&own.call("house-greet", greet));
    }
}
