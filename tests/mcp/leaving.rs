//! What a session could have again is forgotten when its client is gone.

use serde_json::{Value, json};

use crate::home::{Home, until};
use crate::http::{Http, Listening, older_call};
use crate::program::{BOTH, Program, fact, listing, ran};

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
    let receipt = fact(result, "receipt");
    let message = session.post(&older_call(9, "self-introspect", receipt.clone())).message();
    message["result"]["isError"] == false
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
    until("the end of what was kept", || (!again(&three, &result)).then_some(()));

    // Whoever asks without a session has nothing that could end.
    let result = greet(&three);
    ran(&ben.call("house-greet", json!({ "name": "a" })).message()["result"]);
    assert_eq!(three.send("DELETE", "/mcp", b"").status, 202);
    until("the end of the session", || {
        (three.post(&older_call(2, "house-greet", json!({}))).status == 404).then_some(())
    });
    assert!(again(&ben.session(), &result));
}
