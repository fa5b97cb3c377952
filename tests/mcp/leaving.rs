//! What a session could have again is forgotten when its client is gone.

use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{Home, until};
use crate::http::{Http, Listening, older_call};
use crate::program::{BOTH, Program, fact, listing, ran, waits};

#[test]
fn results_end_with_the_connection_over_which_they_were_asked_for() {
    let home = listing(Home::with_operator());
    let _serving = home.serve();
    let erased = || home.operate_json(&["results", "erase"]).1["erased"].as_u64().unwrap();
    for age in BOTH {
        let mut program = Program::plain(&home, age);
        let mut other = Program::plain(&home, age);
        ran(&program.call("house-greet", json!({ "name": "a" })));
        assert_eq!(erased(), 1, "they are kept while it lasts");
        ran(&program.call("house-greet", json!({ "name": "a" })));
        ran(&other.call("house-greet", json!({ "name": "a" })));
        program.end().exits(0);
        assert_eq!(erased(), 1, "the other connection's is left");
        ran(&other.call("house-greet", json!({ "name": "a" })));
        other.end().exits(0);
        assert_eq!(erased(), 0);
    }
}

/// Asks for a result again in a session of the older age.
fn again(session: &Http, result: &Value) -> bool {
    let recalled = recalled(session, result);
    assert_ne!(recalled["result"]["_meta"]["capability-host/code"], "turn_cap", "it was asked for too often");
    recalled["result"]["isError"] == false
}

/// Until what was kept is gone. It is not asked for often: a turn has so many calls of it.
fn ended(session: &Http, result: &Value) {
    until("the end of what was kept", || {
        std::thread::sleep(Duration::from_millis(250));
        (!again(session, result)).then_some(())
    });
}

fn recalled(session: &Http, result: &Value) -> Value {
    session.post(&older_call(9, "self-introspect", fact(result, "receipt").clone())).message()
}

fn greet(session: &Http) -> Value {
    let result = session.post(&older_call(1, "house-greet", json!({ "name": "a" }))).message()["result"].take();
    ran(&result);
    result
}

#[test]
fn a_clients_results_end_with_the_last_session_that_it_has_open() {
    let host = Listening::new();
    let mut ben = host.client(&host.token("phone", "ben"));
    let (one, two) = (ben.session(), ben.session());
    let result = greet(&one);
    // One conversation of two is over: the client is still there.
    assert_eq!(one.send("DELETE", "/mcp", b"").status, 202);
    assert!(again(&two, &result));
    assert_eq!(two.send("DELETE", "/mcp", b"").status, 202);
    let three = ben.session();
    ended(&three, &result);

    // Whoever asks without a session has nothing that could end.
    let result = greet(&three);
    ran(&ben.call("house-greet", json!({ "name": "a" })).message()["result"]);
    assert_eq!(three.send("DELETE", "/mcp", b"").status, 202);
    until("the end of the session", || {
        (three.post(&older_call(2, "house-greet", json!({}))).status == 404).then_some(())
    });
    let recalled = recalled(&ben.session(), &result);
    assert_eq!(recalled["result"]["isError"], false, "{recalled}");
}

/// What a program left running ends when it is done, and what another one did goes on.
#[test]
fn commands_in_the_background_end_with_the_connection_that_began_them() {
    let home = Home::with_operator();
    let workspace = home.top().join("work");
    std::fs::create_dir(&workspace).unwrap();
    home.configure(&format!("[mcp]\nlist = \"all\"\n[workspace]\nroot = {workspace:?}\n"));
    let _serving = home.serve();
    let running = || home.operate_json(&["running", "list"]).1.as_array().unwrap().clone();
    for age in BOTH {
        let begun = |program: &mut Program| {
            let command = json!({ "script": format!("sleep 600 # {age:?}"), "background": true, "timeout": 900 });
            let id = waits(&program.call("terminal-exec", command.clone()));
            home.operate(&["approvals", "approve", &id]).exits(0);
            let result = program.call("terminal-exec", command);
            ran(&result);
            result["structuredContent"]["process"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
        };
        let (mut one, mut other) = (Program::plain(&home, age), Program::plain(&home, age));
        let (of_one, of_other) = (begun(&mut one), begun(&mut other));
        let ids: Vec<_> = running().iter().map(|shown| shown["id"].clone()).collect();
        assert!(ids.contains(&json!(of_one)) && ids.contains(&json!(of_other)) && ids.len() == 2, "{ids:?}");
        one.end().exits(0);
        let left = until("the end of the first one's", || Some(running()).filter(|left| left.len() == 1));
        assert_eq!(
            (&left[0]["id"], &left[0]["kind"], &left[0]["subject"]),
            (&json!(of_other), &json!("process"), &json!("local"))
        );
        other.end().exits(0);
        until("the end of the other one's", || running().is_empty().then_some(()));
    }
    let whys: Vec<_> = home.records_of("process_ended").iter().map(|record| record["why"].clone()).collect();
    assert_eq!(whys, vec![json!("session_ended"); 4]);
}
