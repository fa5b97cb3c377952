//! Calls that wait for a person, and clients that say something in a person's name.

use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{Home, until};
use crate::program::{Age, BOTH, Program, fact, listing, ran, runs, waits, words};

const COUNT: &str = "house-count";

fn by(number: u32) -> Value {
    json!({ "by": number })
}

/// What a client declares that can show its person a form.
fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn approve(home: &Home, id: &str) {
    home.operate(&["approvals", "approve", id]).exits(0);
}

#[test]
fn without_a_way_to_ask_a_call_waits_and_says_where_it_is_answered() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    for (number, age) in (1..).zip(BOTH) {
        let mut program = Program::plain(&home, age);
        let pending = program.call(COUNT, by(number));
        let id = waits(&pending);
        let told = format!("help: an operator answers with `household approvals approve {id}` before ");
        assert!(words(&pending).contains(&told), "{pending}");
        assert_eq!(*fact(&pending, "link"), Value::Null, "no pages are served here");
        // Asked again, it is the same question.
        assert_eq!(waits(&program.call(COUNT, by(number))), id);
        assert_ne!(waits(&program.call(COUNT, by(number + 10))), id);
        assert_eq!(runs(&home, "house.count"), number as usize - 1);
        approve(&home, &id);
        // The same call again goes on with it, wherever it comes from; and only once.
        let mut other = Program::plain(&home, age);
        let done = other.call(COUNT, by(number));
        ran(&done);
        assert_eq!(words(&done), (number + 1).to_string());
        assert_ne!(waits(&program.call(COUNT, by(number))), id);
        assert_eq!(runs(&home, "house.count"), number as usize);
    }
}

#[test]
fn two_that_send_an_approved_call_at_once_run_it_once() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    for number in 1..=5 {
        let mut programs = [Program::plain(&home, Age::Older), Program::plain(&home, Age::Older)];
        let id = waits(&programs[0].call(COUNT, by(number)));
        approve(&home, &id);
        let params = json!({ "name": COUNT, "arguments": by(number) });
        for program in &mut programs {
            program.ask("tools/call", params.clone());
        }
        let outcomes: Vec<_> = programs.iter().map(|program| program.receive()["result"].clone()).collect();
        let ran = outcomes.iter().filter(|result| *fact(result, "outcome") == "executed").count();
        assert_eq!((ran, runs(&home, "house.count")), (1, number as usize), "{outcomes:?}");
    }
}

#[test]
fn a_persons_no_in_the_approval_centre_is_told_and_final() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    let mut program = Program::plain(&home, Age::Newer);
    let id = waits(&program.call(COUNT, by(1)));
    home.operate(&["approvals", "deny", &id, "--note", "not today"]).exits(0);
    let denied = program.call(COUNT, by(1));
    assert_eq!((fact(&denied, "outcome"), &denied["isError"]), (&json!("denied"), &json!(true)), "{denied}");
    assert!(words(&denied).contains("not today"), "{denied}");
    assert_eq!(runs(&home, "house.count"), 0);
}

#[test]
fn what_a_person_changed_is_what_runs_and_is_told_to_be() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    let mut program = Program::plain(&home, Age::Older);
    let id = waits(&program.call(COUNT, by(1)));
    let token = home.token();
    let words_ = ["approvals", "edit", &id, "--operator-token-file", token.to_str().unwrap()];
    home.run_with(&words_, r#"{"by":40}"#).exits(0);
    let changed = program.call(COUNT, by(1));
    ran(&changed);
    assert_eq!(fact(&changed, "changed"), true);
    assert!(words(&changed).contains("other arguments") && words(&changed).ends_with("41"), "{changed}");
}

/// A client of the older age is asked while its call waits.
fn asked(program: &mut Program, number: u32) -> (u64, Value) {
    let id = program.ask("tools/call", json!({ "name": COUNT, "arguments": by(number) }));
    let question = program.receive();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    (id, question)
}

fn answer(program: &mut Program, question: &Value, result: Value) -> Value {
    program.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
    program.receive()["result"].take()
}

#[test]
fn whatever_a_client_says_by_itself_nothing_runs_without_a_person() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    let answers = [
        json!({ "action": "accept", "content": { "approve": true } }),
        json!({ "action": "accept", "content": { "approve": false } }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": { "approve": "yes", "more": [1] } }),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "perhaps" }),
        json!({}),
    ];
    for (number, said) in (1..).zip(&answers) {
        // A connection each: what a turn may have is another matter.
        let mut older = Program::start(&home, Age::Older, forms(), &[]);
        let (_, question) = asked(&mut older, number);
        let params = &question["params"];
        assert!(params["message"].as_str().unwrap().contains("house.count@1"), "{question}");
        assert_eq!(params["requestedSchema"]["properties"]["approve"]["type"], "boolean", "{question}");
        let waiting = answer(&mut older, &question, said.clone());
        let id = waits(&waiting);
        let command = format!("`household approvals approve {id}`");
        assert!(words(&waiting).contains(&command), "{waiting}");
        assert!(params["message"].as_str().unwrap().contains(&command), "{question}");
    }
    // An error in the place of an answer.
    let mut older = Program::start(&home, Age::Older, forms(), &[]);
    let (_, question) = asked(&mut older, 50);
    older.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": { "code": -1, "message": "no window" } }));
    waits(&older.receive()["result"]);

    for (number, said) in (101..).zip(&answers) {
        let mut newer = Program::start(&home, Age::Newer, forms(), &[]);
        let required = newer.call(COUNT, by(number));
        assert_eq!(required["resultType"], "input_required", "{required}");
        let asked = &required["inputRequests"]["confirmation"];
        assert_eq!(asked["method"], "elicitation/create", "{required}");
        let again = json!({
            "name": COUNT, "arguments": by(number),
            "requestState": required["requestState"], "inputResponses": { "confirmation": said },
        });
        let id = waits(&newer.request("tools/call", again)["result"]);
        let told = asked["params"]["message"].as_str().unwrap();
        assert!(told.contains(&format!("`household approvals approve {id}`")), "{required}");
    }
    assert_eq!(runs(&home, "house.count"), 0);
    // A client's no is nobody's: what waits can still be answered.
    let (_, waiting) = home.operate_json(&["approvals", "list"]);
    let pending = waiting.as_array().unwrap().iter().filter(|one| one["status"] == "pending").count();
    assert_eq!(pending, 2 * answers.len() + 1);
}

#[test]
fn a_client_that_never_answers_is_not_waited_for_for_ever() {
    let home = listing(Home::with_operator());
    home.configure("[mcp]\npatience = \"1s\"\nlist = \"all\"\n");
    let mut program = Program::start(&home, Age::Older, json!({ "elicitation": {} }), &[]);
    let (id, _) = asked(&mut program, 1);
    let answer = until_answered(&program, id);
    waits(&answer["result"]);
    assert_eq!(runs(&home, "house.count"), 0);
}

/// The answer with this id; whatever else comes before it is a notification.
fn until_answered(program: &Program, id: u64) -> Value {
    loop {
        let message = program.receive();
        if message["id"] == id {
            return message;
        }
        assert!(message["method"].as_str().unwrap().starts_with("notifications/"), "{message}");
    }
}

#[test]
fn an_answer_in_the_approval_centre_ends_the_question_at_the_client() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    let mut older = Program::start(&home, Age::Older, forms(), &[]);
    let (id, _) = asked(&mut older, 1);
    let approval =
        until("the approval", || home.operate_json(&["approvals", "list"]).1[0]["id"].as_str().map(str::to_owned));
    approve(&home, &approval);
    ran(&until_answered(&older, id)["result"]);
    assert_eq!(runs(&home, "house.count"), 1);
}

#[test]
fn a_sealed_word_is_for_one_call_and_one_run() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    let mut newer = Program::start(&home, Age::Newer, forms(), &[]);
    let required = newer.call(COUNT, by(1));
    let state = required["requestState"].as_str().unwrap().to_owned();
    let with = |state: &str, number| {
        let seen = json!({ "confirmation": { "action": "accept" }, "more": 1 });
        json!({ "name": COUNT, "arguments": by(number), "requestState": state, "inputResponses": seen })
    };
    // Without an answer the question is put again, about the same call.
    let bare = json!({ "name": COUNT, "arguments": by(1), "requestState": state });
    let asked_again = newer.request("tools/call", bare)["result"].take();
    assert_eq!(asked_again["inputRequests"], required["inputRequests"], "{asked_again}");
    let mut changed = state.clone();
    let last = if changed.pop() == Some('A') { 'B' } else { 'A' };
    changed.push(last);
    for (state, number) in [(changed.as_str(), 1), (&state[1..], 1), ("", 1), ("x.y.z", 1), (&state, 2)] {
        let refused = newer.request("tools/call", with(state, number));
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let other = json!({ "name": "house-greet", "arguments": { "name": "a" }, "requestState": state });
    assert_eq!(newer.request("tools/call", other)["error"]["code"], -32602);
    let id = waits(&newer.request("tools/call", with(&state, 1))["result"]);
    approve(&home, &id);
    ran(&newer.request("tools/call", with(&state, 1))["result"]);
    // Used up, whoever brings it along again.
    let again = newer.request("tools/call", with(&state, 1))["result"].take();
    assert_eq!(fact(&again, "code"), "approval_consumed", "{again}");
    assert_eq!(runs(&home, "house.count"), 1);
}

#[test]
fn a_client_that_cannot_show_what_would_be_asked_is_not_asked() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    // A page is all it can open, and this host serves none; a model of its own is nobody who could be asked.
    let none =
        [json!({ "elicitation": { "url": {} } }), json!({ "sampling": {} }), json!({ "sampling": {}, "roots": {} })];
    for age in BOTH {
        for declared in &none {
            let mut program = Program::start(&home, age, declared.clone(), &[]);
            waits(&program.call(COUNT, by(1)));
            assert!(program.is_silent(Duration::from_millis(100)), "{declared}");
        }
    }
}
