//! Clients that speak oddly, by mistake or on purpose: ids, ages, headers and messages that are not what they should be.

use serde_json::{Value, json};

use crate::home::{Home, until};
use crate::http::{Listening, Ongoing, older_call};
use crate::program::{Age, BOTH, Program, listing, ran, runs};

const NEWER: &str = "2026-07-28";

/// A call of the household's greeting under an id, as the age of the program has it.
fn greeting(program: &Program, age: Age, id: &str) -> String {
    let meta = if age == Age::Newer { format!(r#""_meta":{},"#, program.meta()) } else { String::new() };
    let params = format!(r#"{{{meta}"name":"house-greet","arguments":{{"name":"a"}}}}"#);
    let id = if id.is_empty() { String::new() } else { format!(r#""id":{id},"#) };
    format!(r#"{{"jsonrpc":"2.0",{id}"method":"tools/call","params":{params}}}"#)
}

fn greetings(home: &Home) -> usize {
    runs(home, "house.greet")
}

#[test]
fn an_answer_has_the_very_id_of_its_request_or_there_was_no_request() {
    let home = listing(Home::new());
    let mut expected = 0;
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        program.tools();
        let long = format!("\"{}\"", "i".repeat(10_000));
        for id in ["0", "-1", "9007199254740993", "9223372036854775807", "\"\"", "\"0\"", "\"\\u0000\u{202e}\"", &long]
        {
            let call = greeting(&program, age, id);
            program.raw(call.as_bytes());
            let answer = program.receive();
            assert_eq!(answer["id"], serde_json::from_str::<Value>(id).unwrap(), "{answer}");
            ran(&answer["result"]);
            expected += 1;
        }
        for id in ["1.5", "1e30", "18446744073709551616", "true", "{}", "[1]", "null"] {
            let call = greeting(&program, age, id);
            program.raw(call.as_bytes());
            let answer = program.receive();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null), "{id}: {answer}");
        }
        // Without an id it asks for no answer, and a call that nobody wants to hear of is none.
        let call = greeting(&program, age, "");
        program.raw(call.as_bytes());
        // Several at once are no message of this protocol any more.
        let batch = format!("[{},{}]", greeting(&program, age, "7"), greeting(&program, age, "8"));
        program.raw(batch.as_bytes());
        let answer = program.receive();
        let told = "the message is no object with each field once";
        assert_eq!((&answer["error"]["message"], &answer["id"]), (&json!(told), &Value::Null), "{answer}");
        // A notification that wants an answer gets one: there is no such method.
        program.raw(br#"{"jsonrpc":"2.0","id":77,"method":"notifications/cancelled","params":{"requestId":1}}"#);
        let answer = program.receive();
        assert_eq!(answer["id"], 77, "{answer}");
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        ran(&program.call("house-greet", json!({ "name": "a" })));
        expected += 1;
        assert_eq!(greetings(&home), expected, "{age:?}");
    }
}

/// A second request under an id would take the first one's place: the end of one would call the other off.
#[test]
fn an_id_names_one_request_at_a_time() {
    let home = listing(Home::new());
    for (count, age) in BOTH.into_iter().enumerate() {
        let mut program = Program::plain(&home, age);
        program.tools();
        let id = program.ask("tools/call", json!({ "name": "house-think", "arguments": { "ms": 50_000 } }));
        let call = greeting(&program, age, &id.to_string());
        program.raw(call.as_bytes());
        let answer = program.receive();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null), "{answer}");
        // The same digits as a text are another id, and calling that off calls nothing else off.
        let other = json!({ "requestId": id.to_string() });
        program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": other }));
        let text = greeting(&program, age, &format!("\"{id}\""));
        program.raw(text.as_bytes());
        ran(&program.receive()["result"]);
        let cancelled = || home.records_of("outcome").iter().filter(|record| record["outcome"] == "cancelled").count();
        assert_eq!(cancelled(), count);
        program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        until("its end on record", || (cancelled() > count).then_some(()));
        // Once nobody waits for its answer, another request may have its id, and again when that was answered.
        for _ in 0..2 {
            program.raw(call.as_bytes());
            let answer = program.receive();
            assert_eq!(answer["id"], id, "{answer}");
            ran(&answer["result"]);
        }
    }
    assert_eq!(greetings(&home), 6);
}

#[test]
fn an_id_names_one_request_of_a_session_at_a_time() {
    let host = Listening::new();
    let client = host.client(&host.token("phone", "ben"));
    let (session, other) = (client.session(), client.session());
    // Whichever comes first.
    let think = older_call(7, "house-think", json!({ "ms": 5_000 }));
    let mut both = [session.begin(&think), session.begin(&think)];
    let status = |one: &mut Ongoing| one.until("\r\n\r\n").split(' ').nth(1).unwrap().to_owned();
    let statuses = both.each_mut().map(status);
    let [first, second] = &mut both;
    let (thinking, refused) = if statuses[0] == "200" { (first, second) } else { (second, first) };
    assert!(statuses.contains(&"200".to_owned()) && statuses.contains(&"400".to_owned()), "{statuses:?}");
    refused.until("-32600");
    let greet = older_call(7, "house-greet", json!({ "name": "a" }));
    // Another session has ids of its own.
    ran(&other.post(&greet).message()["result"]);
    ran(&thinking.event("capability-host/outcome")["result"]);
    until("the id being free", || (session.post(&greet).status == 200).then_some(()));
}

#[test]
fn before_a_connection_is_opened_it_can_be_tried_and_nothing_runs() {
    let home = listing(Home::new());
    for (asked, agreed) in [("1999-01-01", "2025-11-25"), (NEWER, "2025-11-25"), ("2024-11-05", "2024-11-05")] {
        let mut program = Program::plain(&home, Age::Newer);
        program.raw(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(program.receive(), json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        program.send(&older_call(2, "house-greet", json!({ "name": "a" })));
        assert_eq!(program.receive()["error"]["code"], -32602);
        let hello =
            json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
        program.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "initialize", "params": hello }));
        let answer = program.receive();
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked}: {answer}");
        program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        program.send(&older_call(4, "house-greet", json!({ "name": "a" })));
        ran(&program.receive()["result"]);
    }
    assert_eq!(greetings(&home), 3);
}

#[test]
fn who_says_to_be_of_the_newer_age_is_held_to_it() {
    let home = listing(Home::new());
    let mut program = Program::plain(&home, Age::Newer);
    // A revision that nobody speaks is refused with those that are spoken, before and after the connection is opened.
    for opened in [false, true] {
        let mut meta = program.meta();
        meta["io.modelcontextprotocol/protocolVersion"] = json!("v999.0.0");
        let mut call = older_call(1, "house-greet", json!({ "name": "a" }));
        call["params"]["_meta"] = meta;
        program.send(&call);
        let answer = program.receive();
        assert_eq!(answer["error"]["code"], -32022, "{opened}: {answer}");
        assert_eq!(answer["error"]["data"]["requested"], "v999.0.0");
        assert!(answer["error"]["data"]["supported"].as_array().unwrap().contains(&json!(NEWER)), "{answer}");
        for key in ["protocolVersion", "clientCapabilities"] {
            let mut meta = program.meta();
            meta.as_object_mut().unwrap().remove(&format!("io.modelcontextprotocol/{key}"));
            call["params"]["_meta"] = meta;
            program.send(&call);
            assert_eq!(program.receive()["error"]["code"], -32602, "{opened}: {key}");
        }
        program.tools();
    }
    // What the age does not have is no method, well-formed or not.
    for method in ["ping", "initialize", "Tools/Call", "tools/call ", "logging/setLevel", "resources/subscribe"] {
        let answer = program.request(method, json!({ "name": "house-greet", "arguments": { "name": "a" } }));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    assert_eq!(greetings(&home), 0);
    // No cursor is one, whatever it is; none is none.
    for cursor in [json!(""), json!("1"), json!(1), json!({}), json!(["1"])] {
        let answer = program.request("tools/list", json!({ "cursor": cursor }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert!(program.request("tools/list", json!({ "cursor": null }))["result"]["tools"].is_array());
}

/// Whoever stands between reads the headers, and this host the message: where they disagree, nobody is right.
#[test]
fn headers_that_disagree_with_their_message_are_refused_before_anything_runs() {
    let host = Listening::new();
    let anna = host.client(&host.token("desktop", "anna"));
    let own = [("MCP-Protocol-Version", NEWER), ("Mcp-Method", "tools/call"), ("Mcp-Name", "house-greet")];
    let mut call = older_call(1, "house-greet", json!({ "name": "a" }));
    call["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientInfo": { "name": "by-hand", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (changed, code) in [
        (("Mcp-Method", "tools/list"), -32020),
        (("Mcp-Method", "TOOLS/CALL"), -32020),
        (("Mcp-Method", ""), -32020),
        (("Mcp-Name", "house-count"), -32020),
        (("Mcp-Name", "=?base64?aG91c2UtY291bnQ=?="), -32020),
        (("Mcp-Name", "=?base64?!?="), -32020),
        (("Mcp-Name", ""), -32020),
        (("MCP-Protocol-Version", "2025-11-25"), -32020),
        (("MCP-Protocol-Version", ""), -32020),
    ] {
        let refused = anna.with(&own).with(&[changed]).post(&call);
        assert_eq!(
            (refused.status, &refused.message()["error"]["code"]),
            (400, &json!(code)),
            "{changed:?}: {refused:#?}"
        );
    }
    for twice in own {
        let mut asked = anna.with(&own);
        asked.headers.push((twice.0.to_owned(), "house-count".to_owned()));
        assert_eq!(asked.post(&call).status, 400, "{twice:?}");
    }
    let mut unspoken = call.clone();
    unspoken["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999.0.0");
    let refused = anna.with(&own).with(&[("MCP-Protocol-Version", "v999.0.0")]).post(&unspoken);
    assert_eq!((refused.status, &refused.message()["error"]["code"]), (400, &json!(-32022)), "{refused:#?}");
    // The newer age has neither a stream by itself nor sessions to end.
    for method in ["GET", "DELETE"] {
        assert_eq!(anna.with(&own).send(method, "/mcp", b"").status, 405, "{method}");
    }
    assert_eq!(runs(&host.home, "house.greet"), 0);
    ran(&anna.with(&own).post(&call).message()["result"]);
    // A name may be encoded, and several messages are none.
    let encoded = anna.with(&own).with(&[("Mcp-Name", "=?base64?aG91c2UtZ3JlZXQ=?=")]);
    ran(&encoded.post(&call).message()["result"]);
    assert_eq!(anna.with(&own).post(&json!([call, call])).status, 400);
    assert_eq!(runs(&host.home, "house.greet"), 2);
}
