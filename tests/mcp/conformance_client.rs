//! The other half of the official conformance suites: servers that look at how their tools are listed and called. What calls them is
//! a whole host, whose operator says yes.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use capability_core::audit::OutcomeKind as Kind;
use capability_core::executor::Outcome;
use serde_json::{Value, json};

use crate::clients::fixture;
use crate::conformance::{NEWER, RELEASED, conforms, suite};
use crate::mcp_lab::Lab;

/// How many hosts are at work at a time.
const AT_A_TIME: usize = 3;

/// A call that a scenario wants made.
struct Call {
    tool: String,
    arguments: Value,
    /// Whether the server answers it with a result.
    runs: bool,
}

fn call(tool: &str, arguments: Value, runs: bool) -> Call {
    Call { tool: tool.to_owned(), arguments, runs }
}

/// The arguments that are values. One of the suite's is null where its own schema takes a boolean, and is refused here as what it is.
fn given(arguments: &Value) -> Value {
    let values = arguments.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
    values.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// What each scenario is there to see. Most look at the way to the list alone.
fn calls(lab: &Lab, scenario: &str, context: &Value) -> Vec<Call> {
    let nothing = || json!({});
    match scenario {
        "tools_call" => vec![call("add_numbers", json!({ "a": 5, "b": 3 }), true)],
        "sse-retry" => vec![call("test_reconnection", nothing(), true)],
        // Its tool asks in return and waits a minute for an answer that nobody here gives: it is listed, and not called.
        "elicitation-sep1034-client-defaults" => Vec::new(),
        "http-standard-headers" => {
            ["test_headers", "my-hyphenated-tool"].into_iter().map(|tool| call(tool, nothing(), true)).collect()
        }
        "http-custom-headers" => {
            let wanted = context["toolCalls"].as_array().unwrap();
            wanted.iter().map(|one| call(one["name"].as_str().unwrap(), given(&one["arguments"]), true)).collect()
        }
        "http-invalid-tool-headers" => {
            let value = |tool: &str| call(tool, json!({ "value": "a" }), false);
            let fields = json!({ "field1": "a", "field2": "b" });
            let mut all = vec![
                call("valid_tool", json!({ "region": "a" }), true),
                call("invalid_object_header", json!({ "data": {} }), false),
                call("invalid_array_header", json!({ "items": [] }), false),
                call("invalid_null_header", json!({ "nil": null }), false),
                call("invalid_number_header", json!({ "score": 1 }), false),
                call("invalid_duplicate_same_case", fields.clone(), false),
                call("invalid_duplicate_diff_case", fields, false),
            ];
            let spelled = ["empty_header", "space_in_name", "colon_in_name", "non_ascii_name", "control_char_name"];
            all.extend(spelled.into_iter().map(|what| value(&format!("invalid_{what}"))));
            all
        }
        "json-schema-ref-no-deref" => vec![call("lookup_user", json!({ "id": "a" }), false)],
        "json-schema-2020-12-preservation" => {
            let tools = lab.state("lab").tools;
            let focal = tools.iter().find(|tool| tool.definition().id.native == "json_schema_2020_12_tool").unwrap();
            vec![call("json_schema_echo", json!({ "schema": focal.definition().input_schema }), true)]
        }
        "sep-2322-client-request-state" => vec![
            call("test_mrtr_echo_state", nothing(), false),
            call("test_mrtr_unrelated", nothing(), true),
            call("test_mrtr_no_state", nothing(), false),
            call("test_mrtr_no_result_type", nothing(), true),
        ],
        _ => Vec::new(),
    }
}

/// Whether a call came back with a result that is no failure.
fn ran(outcome: &Outcome) -> bool {
    let failed = |result: &str| serde_json::from_str::<Value>(result).unwrap()["is_error"] == true;
    outcome.kind() == Kind::Executed && !outcome.result().is_none_or(failed)
}

/// One scenario, with a host of its own; gives what came out otherwise than it should.
async fn gone_through(scenario: &str, url: &str, context: &Value) -> Vec<String> {
    let lab = Lab::new(&format!("[mcp.servers.lab]\nurl = {url:?}\ndiscovery_s = 50\n"));
    let connected = lab.connect("lab").await;
    // A server that wants a credential gets none, and is told of as what it is.
    if scenario.starts_with("auth/") == connected.is_ok() {
        return vec![format!("{scenario}: {connected:?}, {:?}", lab.reach("lab"))];
    }
    let calls = calls(&lab, scenario, context);
    if calls.is_empty() {
        return Vec::new();
    }
    let operator = lab.operator().await;
    let mut wrong = Vec::new();
    for Call { tool, arguments, runs } in calls {
        let outcome = lab.call(&operator, &tool, arguments).await;
        if ran(&outcome) != runs {
            wrong.push(format!("{scenario}: {tool}: {outcome:?} {:?}", outcome.message()));
        }
    }
    wrong
}

/// Goes through every scenario that is told of.
fn work(told: &Mutex<Receiver<TcpStream>>, wrong: &Mutex<Vec<String>>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    loop {
        let next = told.lock().unwrap().recv();
        let Ok(mut stream) = next else { return };
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut line = || lines.next().unwrap().unwrap();
        let (scenario, url, context) = (line(), line(), line());
        let context = serde_json::from_str(&context).unwrap();
        wrong.lock().unwrap().extend(runtime.block_on(gone_through(&scenario, &url, &context)));
        let _ = stream.write_all(b"0\n");
    }
}

fn calls_as_asked(package: &str, words: &[&str]) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, told) = channel();
    let (told, wrong) = (Arc::new(Mutex::new(told)), Arc::new(Mutex::new(Vec::new())));
    std::thread::spawn(move || listener.incoming().try_for_each(|stream| sender.send(stream.unwrap())));
    for _ in 0..AT_A_TIME {
        let (told, wrong) = (Arc::clone(&told), Arc::clone(&wrong));
        std::thread::spawn(move || work(&told, &wrong));
    }
    // They all begin at once, and wait for one another here: the suite's own time is not what is tested.
    let client = format!("bash {} {port}", fixture("relay.sh").display());
    let words = [words, &["--command", &client, "--timeout", "240000"]].concat();
    conforms(package, "client", &words, suite(package).arg("client"));
    assert_eq!(*wrong.lock().unwrap(), [""; 0]);
}

#[test]
fn servers_of_the_conformance_suite_of_2026_are_called_as_they_ask() {
    calls_as_asked(NEWER, &["--requirements", "2026-07-28"]);
}

#[test]
fn servers_of_the_released_conformance_suite_are_called_as_they_ask() {
    calls_as_asked(RELEASED, &["--suite", "all"]);
}
