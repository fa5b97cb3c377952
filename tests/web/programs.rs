//! Programs that speak MCP with a host that serves its pages: they are told where a person answers.

use serde_json::{Value, json};

use crate::centre::Centre;
use crate::home::Home;
use crate::program::{Age, BOTH, Program, fact, ran, waits, words};

/// The answer with this id; whatever else comes before it asks for nothing.
fn answer(program: &Program, id: u64) -> Value {
    loop {
        let mut message = program.receive();
        if message["id"] == id {
            return message["result"].take();
        }
        assert!(message["method"].as_str().unwrap().starts_with("notifications/"), "{message}");
    }
}

#[test]
fn a_call_that_waits_leads_to_its_card() {
    let centre = Centre::of(Home::with_operator(), "[mcp]\nlist = \"all\"\n");
    let operator = centre.logged_in();
    let link = |id: &str| format!("http://{}/approvals/{id}", centre.address);
    for (number, age) in (1..).zip(BOTH) {
        let mut plain = Program::plain(&centre.home, age);
        let pending = plain.call("house-count", json!({ "by": number }));
        let id = waits(&pending);
        let told = format!("an operator answers at {} or with `household approvals approve {id}` before ", link(&id));
        assert!(words(&pending).contains(&told), "{pending}");
        assert_eq!(*fact(&pending, "link"), link(&id));
        operator.approve(&id).is(303);
        ran(&plain.call("house-count", json!({ "by": number })));

        // A form says the same; who can open a page is given its address.
        for (more, declared) in
            [(10, json!({ "form": {} })), (20, json!({ "url": {} })), (30, json!({ "form": {}, "url": {} }))]
        {
            let mut program = Program::start(&centre.home, age, json!({ "elicitation": declared }), &[]);
            let call = json!({ "name": "house-count", "arguments": { "by": number + more } });
            let request = program.ask("tools/call", call.clone());
            let first = program.receive();
            let required = &first["result"];
            let params = match age {
                Age::Older => &first["params"],
                Age::Newer => &required["inputRequests"]["confirmation"]["params"],
            };
            let waiting = centre.home.operate_json(&["approvals", "list"]).1;
            let one = waiting.as_array().unwrap().iter().find(|one| one["status"] == "pending").unwrap();
            let id = one["id"].as_str().unwrap();
            if declared["url"].is_object() {
                assert_eq!((&params["mode"], &params["url"]), (&json!("url"), &json!(link(id))), "{first}");
            } else {
                let place = format!("{} or `household approvals approve {id}`", link(id));
                assert!(params["message"].as_str().unwrap().contains(&place), "{first}");
            }
            operator.approve(id).is(303);
            let done = match age {
                Age::Older => answer(&program, request),
                Age::Newer => {
                    let mut again = call;
                    again["requestState"] = required["requestState"].clone();
                    again["inputResponses"] = json!({ "confirmation": { "action": "accept" } });
                    program.request("tools/call", again)["result"].take()
                }
            };
            ran(&done);
        }
    }
}
