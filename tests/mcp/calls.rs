//! What becomes of a call: always an answer, in words that a model can read.

use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{Home, until};
use crate::program::{Age, BOTH, Program, fact, listing, ran, words};

#[test]
fn a_result_comes_as_structure_and_as_text_with_its_receipt() {
    let home = listing(Home::new());
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        let health = program.call("system-health", json!({}));
        ran(&health);
        assert_eq!(words(&health).parse::<Value>().unwrap(), health["structuredContent"]);
        let receipt = fact(&health, "receipt");
        let receipt = format!("{}:{}", receipt["seq"], receipt["hash"].as_str().unwrap());
        home.run(&["audit", "verify", "--receipt", &receipt]).exits(0);
        // A text is no structure for an older client, and the text is all it gets.
        let greeting = program.call("house-greet", json!({ "name": "Anna" }));
        ran(&greeting);
        assert_eq!(words(&greeting), "\"hello, Anna\"");
        let structure = if age == Age::Newer { json!("hello, Anna") } else { Value::Null };
        assert_eq!(greeting["structuredContent"], structure);
        program.end().exits(0);
    }
}

#[test]
fn arguments_that_are_wrong_are_refused_in_words_and_nothing_runs() {
    let home = listing(Home::new());
    let deep = format!("{}1{}", r#"{"name":"#.repeat(5000), "}".repeat(5000));
    let many = format!(r#"{{"name":"{}"}}"#, "x".repeat(1024 * 1024));
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        for (arguments, code, said) in [
            (r#"{"name":"a","times":"2"}"#, "schema_violation", "2"),
            (r#"{"name":"a","times":9}"#, "schema_violation", "times"),
            (r#"{"times":1}"#, "schema_violation", "name"),
            (r#"{"name":"a","more":1}"#, "schema_violation", "more"),
            (r#"{"name":"a","name":"b"}"#, "duplicate_key", "twice"),
            (r#"{"name":"a","times":1e400}"#, "arguments_malformed", ""),
            ("[1]", "not_an_object", "object"),
            ("null", "not_an_object", "object"),
            ("\"{}\"", "not_an_object", "object"),
            (&deep, "too_deep", "nest"),
            (&many, "arguments_too_large", "at most"),
        ] {
            let shown = &arguments[..arguments.len().min(60)];
            let refused = program.call_raw("house-greet", arguments);
            assert_eq!(
                (fact(&refused, "code"), &refused["isError"]),
                (&json!(code), &json!(true)),
                "{shown}: {refused}"
            );
            assert_eq!(
                (fact(&refused, "stage"), fact(&refused, "effect")),
                (&json!("validate"), &json!("not_started")),
                "{shown}"
            );
            assert!(words(&refused).contains(said) && words(&refused).contains("\nhelp: "), "{shown}: {refused}");
        }
        // The connection is none the worse for it.
        ran(&program.call("house-greet", json!({ "name": "a" })));
    }
}

#[test]
fn what_panics_fails_or_never_ends_is_answered_without_a_word_of_what_was_sent() {
    let home = listing(Home::talkative());
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        for (tool, arguments, outcome) in [
            ("house-trip", json!({ "secret": "canary-word" }), "panicked"),
            ("house-fail", json!({ "secret": "canary-word" }), "failed"),
            ("house-oversleep", json!({}), "timed_out"),
            ("house-chatter", json!({ "word": "canary-word" }), "result_too_large"),
        ] {
            let answer = program.call(tool, arguments);
            assert_eq!((fact(&answer, "outcome"), &answer["isError"]), (&json!(outcome), &json!(true)), "{answer}");
            assert!(!answer.to_string().contains("canary-word"), "{answer}");
        }
        let public = program.call("house-complain", json!({ "text": "say it" }));
        assert!(words(&public).starts_with("say it"), "{public}");
        let said = program.end().exits(0).err;
        assert!(!said.contains("canary-word") && !said.contains("say it"), "{said}");
    }
    assert!(!std::fs::read_to_string(home.log()).unwrap().contains("canary-word"));
}

#[test]
fn bytes_that_are_no_message_are_answered_and_the_connection_goes_on() {
    let home = listing(Home::new());
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        program.tools();
        for (bytes, code) in [
            (&b"not json"[..], -32700),
            (b"[]", -32600),
            (b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\"}", -32700),
            (br#"{"jsonrpc":"2.0","method":"tools/call","method":"ping"}"#, -32600),
        ] {
            program.raw(bytes);
            let answer = program.receive();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null), "{answer}");
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":"d","method":"tools/list","params":{}1{}}}"#,
            "[".repeat(400),
            "]".repeat(400)
        );
        program.raw(deep.as_bytes());
        assert_eq!(program.receive()["id"], "d");
        program.raw(&vec![b' '; 9 * 1024 * 1024]);
        assert_eq!(program.receive()["error"]["code"], -32600);
        program.raw(b"");
        ran(&program.call("house-greet", json!({ "name": "a" })));
    }
}

/// Before anything was opened there is nothing that a notification could mean.
#[test]
fn a_client_that_begins_strangely_is_served_when_it_comes_to_its_senses() {
    let home = listing(Home::new());
    let mut program = Program::plain(&home, Age::Newer);
    program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    program.send(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    program.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": {} }));
    assert_eq!(program.receive()["error"]["code"], -32602, "it says no version");
    assert!(!program.tools().is_empty());
}

#[test]
fn a_call_that_is_called_off_is_killed_and_others_go_on() {
    let home = listing(Home::new());
    for (count, age) in BOTH.into_iter().enumerate() {
        let mut program = Program::plain(&home, age);
        program.tools();
        let id = program.ask("tools/call", json!({ "name": "house-think", "arguments": { "ms": 50_000 } }));
        std::thread::sleep(Duration::from_millis(300));
        // While one thinks, others are answered.
        ran(&program.call("house-greet", json!({ "name": "a" })));
        program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
        until("its end on record", || (cancelled(&home) > count).then_some(()));
        assert!(program.is_silent(Duration::from_millis(200)), "nobody waits for its answer");
        ran(&program.call("house-greet", json!({ "name": "a" })));
    }
}

#[test]
fn a_client_that_leaves_takes_its_calls_along() {
    let home = listing(Home::new());
    let mut program = Program::plain(&home, Age::Newer);
    program.ask("tools/call", json!({ "name": "house-think", "arguments": { "ms": 50_000 } }));
    std::thread::sleep(Duration::from_millis(300));
    program.end().exits(0);
    assert_eq!(cancelled(&home), 1, "{:?}", home.records_of("outcome"));
}

fn cancelled(home: &Home) -> usize {
    home.records_of("outcome").iter().filter(|record| record["outcome"] == "cancelled").count()
}

#[test]
fn caps_a_turn_hold_within_a_turn_and_a_mode_holds_throughout() {
    let home = listing(Home::new());
    let mut program = Program::plain(&home, Age::Older);
    ran(&program.call("house-once", json!({})));
    let capped = program.call("house-once", json!({}));
    assert_eq!(fact(&capped, "code"), "turn_cap", "{capped}");
    // Another connection counts its own.
    ran(&Program::plain(&home, Age::Older).call("house-once", json!({})));
    let mut planning = Program::start(&home, Age::Newer, json!({}), &["--mode", "plan"]);
    let refused = planning.call("house-send", json!({ "to": "a", "text": "b" }));
    assert_eq!(fact(&refused, "code"), "plan_mode", "{refused}");
    assert_eq!(fact(&refused, "diagnostic"), "policy_blocked", "{refused}");
    assert!(words(&refused).contains("policy_blocked: mode, permission or policy blocks it"), "{refused}");
}

/// A host that serves is asked, and its process is the one that runs things.
#[test]
fn it_is_the_same_whether_this_process_is_the_host_or_another_one() {
    let home = listing(Home::new());
    let serving = home.serve();
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        ran(&program.call("house-greet", json!({ "name": "a" })));
        program.end().exits(0);
    }
    serving.end("TERM");
    let origins: Vec<_> = home.records_of("outcome").iter().map(|record| record["origin"].clone()).collect();
    assert!(origins.iter().all(|origin| *origin == "model" || origin.is_null()), "{origins:?}");
}

#[test]
fn a_secret_goes_to_no_program() {
    use std::os::unix::fs::PermissionsExt as _;
    const VALUE: &str = "sword/fish+\"42\"&<\\>";
    let home = listing(Home::new());
    let directory = home.data().join("secrets");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("deploy_token"), VALUE).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::set_permissions(directory.join("deploy_token"), std::fs::Permissions::from_mode(0o600)).unwrap();
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        for answer in [
            program.call("house-greet", json!({ "name": VALUE })),
            program.call("house-complain", json!({ "text": VALUE })),
            program.call("house-send", json!({ "to": VALUE, "text": VALUE })),
        ] {
            let told = answer.to_string();
            assert!(!told.contains("sword") && !told.contains("c3dvcmQ"), "{told}");
        }
        assert_eq!(words(&program.call("house-greet", json!({ "name": VALUE }))), "\"hello, [redacted]\"");
        program.end().exits(0);
    }
}
