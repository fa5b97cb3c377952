//! Clients with tokens, and the person whom an operator put at one.

use std::time::Duration;

use serde_json::{Value, json};

use crate::home::Home;
use crate::program::{Age, Program, ran, runs, waits, words};

/// Longer than it takes to read what is asked.
const READ: Duration = Duration::from_millis(1200);

const CONFIGURED: &str = "
[subjects.anna]
capabilities = [\"house.greet\", \"house.count\"]
[mcp]
list = \"all\"
[mcp.clients.desktop]
person = \"anna\"
";

pub fn home() -> Home {
    set_up(Home::new())
}

/// A home with these people in it.
pub fn set_up(home: Home) -> Home {
    home.configure(CONFIGURED);
    home.setup();
    home.login();
    home
}

/// Lets a client in, and gives the file of its token.
pub fn client(home: &Home, name: &str, subject: &str) -> String {
    let file = home.top().join(format!("{name}.token"));
    let file = file.to_str().unwrap();
    home.operate(&["mcp", "token", "create", name, "--subject", subject, "--token-file", file]).exits(0);
    file.to_owned()
}

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn count(number: u32) -> Value {
    json!({ "name": "house-count", "arguments": { "by": number } })
}

fn yes() -> Value {
    json!({ "confirmation": { "action": "accept", "content": { "approve": true } } })
}

#[test]
fn a_token_says_for_whom_a_client_speaks_until_it_is_revoked() {
    let home = home();
    let _serving = home.serve();
    let file = client(&home, "desktop", "anna");
    let listed = home.operate_json(&["mcp", "token", "list"]).1;
    assert_eq!(
        (&listed[0]["name"], &listed[0]["subject"], &listed[0]["person"]),
        (&json!("desktop"), &json!("anna"), &json!("anna"))
    );
    let token = std::fs::read_to_string(&file).unwrap();
    assert!(!listed.to_string().contains(token.trim()));

    let mut program = Program::start(&home, Age::Newer, json!({}), &["--token-file", &file]);
    ran(&program.call("house-greet", json!({ "name": "a" })));
    // What the subject does not declare is no tool of its.
    let names: Vec<_> = program.tools().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["house-count", "house-greet", "tool_search", "invoke_tool"]);
    let undeclared = json!({ "name": "house-lookup", "arguments": { "host": "a.example" } });
    assert_eq!(program.request("tools/call", undeclared)["error"]["code"], -32602);
    assert_eq!(home.records_of("outcome")[0]["subject"], "anna");

    home.operate(&["mcp", "token", "revoke", "desktop"]).exits(0);
    let refused = program.call("house-greet", json!({ "name": "a" }));
    assert_eq!((&refused["isError"], &refused["_meta"]), (&json!(true), &Value::Null), "{refused}");
    assert!(words(&refused).ends_with("help: let one in with `household mcp token create`"), "{refused}");
    home.run(&["mcp", "--token-file", &file]).exits(4).says(&["not the token of a client"]);
    // Letting in and turning away are on record, and nothing else of it.
    let settings = home.records_of("configuration");
    let clients: Vec<_> = settings.iter().filter(|record| record.to_string().contains("desktop")).collect();
    assert_eq!(clients.len(), 2, "{settings:?}");
    assert!(!std::fs::read_to_string(home.log()).unwrap().contains(token.trim()));
}

/// A slot is chosen when a program is let in, and by nobody afterwards.
#[test]
fn a_token_may_be_for_one_slot_and_is_for_no_other() {
    let home = home();
    home.manifest("agent:kitchen", "capabilities:\n  defaults: [house.greet]\n  slots:\n    cook: [house.count]\n");
    let _serving = home.serve();
    let of = |name: &str, slot: &[&str]| {
        let file = home.top().join(format!("{name}.token")).to_str().unwrap().to_owned();
        let words = ["mcp", "token", "create", name, "--subject", "agent:kitchen", "--token-file", &file];
        home.operate(&[&words[..], slot].concat()).exits(0);
        file
    };
    let (cook, plain) = (of("cook", &["--slot", "cook"]), of("plain", &[]));
    home.operate(&["mcp", "token", "create", "baker", "--subject", "agent:kitchen", "--slot", "baker"])
        .exits(4)
        .says(&["no slot `baker`"]);
    home.operate(&["mcp", "token", "list"]).exits(0).says(&["agent:kitchen/cook"]);
    let tools = |words: &[&str]| {
        let mut program = Program::start(&home, Age::Newer, json!({}), words);
        program.tools().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let both = ["house-count", "house-greet", "tool_search", "invoke_tool"];
    assert_eq!(tools(&["--token-file", &cook]), both);
    assert_eq!(tools(&["--token-file", &plain]), both[1..]);
    for slot in ["cook", "baker"] {
        home.run(&["mcp", "--subject", "agent:kitchen", "--slot", slot, "--token-file", &plain])
            .exits(4)
            .says(&["not for the slot"]);
    }
    let token = home.token();
    let vouched = ["--subject", "agent:kitchen", "--slot", "cook", "--operator-token-file", token.to_str().unwrap()];
    assert_eq!(tools(&vouched), both);
}

#[test]
fn nobody_speaks_for_another_subject_without_a_token_or_an_operator() {
    let home = home();
    home.run(&["mcp", "--subject", "anna"]).exits(4);
    home.run(&["mcp", "token", "create", "desktop", "--subject", "anna"]).exits(4);
    home.operate(&["mcp", "token", "create", "desktop", "--subject", "nobody"]).exits(4).says(&["has no manifest"]);
    let file = client(&home, "desktop", "anna");
    home.run(&["mcp", "--subject", "local", "--token-file", &file]).exits(4);
    // An operator vouches once, and the connection goes on when the operator has left.
    let token = home.token();
    let words = ["--subject", "anna", "--operator-token-file", token.to_str().unwrap()];
    let mut program = Program::start(&home, Age::Older, json!({}), &words);
    home.operate(&["operator", "logout"]).exits(0);
    ran(&program.call("house-greet", json!({ "name": "a" })));
}

#[test]
fn a_person_whom_an_operator_put_at_a_client_answers_there() {
    let home = home();
    let _serving = home.serve();
    let file = client(&home, "desktop", "anna");
    let mut newer = Program::start(&home, Age::Newer, forms(), &["--token-file", &file]);
    let required = newer.request("tools/call", count(5))["result"].take();
    let message = required["inputRequests"]["confirmation"]["params"]["message"].as_str().unwrap();
    assert!(
        message.contains("house.count@1 asks to run")
            && message.contains("`household approvals approve ")
            && message.contains("\"by\": 5"),
        "{message}"
    );
    let mut again = count(5);
    again["requestState"] = required["requestState"].clone();
    again["inputResponses"] = yes();
    // Sooner than anybody can have read it, that is the client's own doing.
    waits(&newer.request("tools/call", again.clone())["result"]);
    std::thread::sleep(READ);
    ran(&newer.request("tools/call", again)["result"]);
    let answered = home.records_of("approval");
    assert_eq!((answered.len(), &answered[0]["operator"]), (1, &json!("anna@mcp")), "{answered:?}");

    let mut older = Program::start(&home, Age::Older, forms(), &["--token-file", &file]);
    older.ask("tools/call", count(6));
    let question = older.receive();
    std::thread::sleep(READ);
    older.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes()["confirmation"] }));
    ran(&older.receive()["result"]);
    assert_eq!(runs(&home, "house.count"), 2);
}

#[test]
fn a_yes_of_any_other_client_is_none() {
    let home = home();
    let _serving = home.serve();
    let (bound, other) = (client(&home, "desktop", "anna"), client(&home, "phone", "anna"));
    let mut desktop = Program::start(&home, Age::Newer, forms(), &["--token-file", &bound]);
    let required = desktop.request("tools/call", count(1))["result"].take();
    std::thread::sleep(READ);
    let mut again = count(1);
    again["requestState"] = required["requestState"].clone();
    again["inputResponses"] = yes();
    // The same subject's, and no person's.
    let mut phone = Program::start(&home, Age::Newer, forms(), &["--token-file", &other]);
    waits(&phone.request("tools/call", again.clone())["result"]);
    // Another subject's: the sealed word is not even for it.
    let mut local = Program::start(&home, Age::Newer, forms(), &[]);
    assert_eq!(local.request("tools/call", again.clone())["error"]["code"], -32602);
    assert_eq!(runs(&home, "house.count"), 0);
    // And a no at the person's own client is no denial.
    let mut declined = again.clone();
    declined["inputResponses"]["confirmation"]["action"] = json!("decline");
    waits(&desktop.request("tools/call", declined)["result"]);
    assert!(home.records_of("approval").is_empty());
    ran(&desktop.request("tools/call", again)["result"]);
}
