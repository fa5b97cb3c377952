//! Agents that speak with their host by `mcp --turn`: for how long, as whom, and what is left of what they asked for.

use std::path::Path;

use serde_json::json;

use crate::agent::{configured, turn};
use crate::home::{Home, until};
use crate::program::fact;

/// A home with the agent `critic`, which declares these.
fn critic(declared: &[&str]) -> Home {
    let home = Home::with_operator();
    home.configure(&configured(declared));
    home.operate(&["optin", "set", "agent", "on"]).exits(0);
    home
}

#[test]
fn every_connection_of_a_turn_is_that_turn_and_the_next_turn_is_another() {
    let home = critic(&["house.once"]);
    let _serving = home.serve();
    for round in 0..2 {
        let answers = turn(&home, &[], &[("house-once", json!({}))]);
        let [first, second] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!(fact(first, "outcome"), "executed", "{round}: {first}");
        // Once a turn, whichever of its connections asks.
        assert_eq!(
            (fact(second, "outcome"), fact(second, "code")),
            (&json!("rejected"), &json!("turn_cap")),
            "{second}"
        );
    }
    let of_agent: Vec<_> =
        home.records_of("outcome").into_iter().filter(|record| record["capability"] == "house.once").collect();
    let turn_of = |at: usize| (of_agent[at]["session"].clone(), of_agent[at]["turn"].clone());
    assert!(of_agent.iter().all(|record| record["subject"] == "agent:critic"), "{of_agent:?}");
    assert!(turn_of(0) == turn_of(1) && turn_of(2) == turn_of(3) && turn_of(0) != turn_of(2), "{of_agent:?}");
}

#[test]
fn outside_of_a_turn_there_is_nothing_to_speak_with() {
    let home = Home::new();
    home.run(&["mcp", "--turn"]).exits(2).says(&["no turn is under way here", "CAPABILITY_TURN"]);
    home.run(&["mcp", "--turn", "--subject", "local"]).exits(2);
    let gone = home.top().join("turn");
    drop(std::os::unix::net::UnixListener::bind(&gone).unwrap());
    for place in [gone.as_path(), Path::new("/nowhere/turn")] {
        let child = home.command(&["mcp", "--turn"]).env("CAPABILITY_TURN", place).spawn().unwrap();
        crate::home::ended(child).exits(4).says(&["the agent's turn is over"]);
    }
    assert!(!home.data().exists(), "it is nobody's host");
}

/// Whoever goes on with what an agent asked for does so below whoever the agent acted for, by what that one may do by then.
#[test]
fn what_an_agent_asked_for_is_gone_on_with_below_whoever_it_acted_for() {
    let home = critic(&["house.count"]);
    let kitchen =
        |declared: &str| home.manifest("agent:kitchen", &format!("capabilities: {{ defaults: [{declared}] }}\n"));
    kitchen("\"agent.run:critic\", house.count");
    let _serving = home.serve();
    let answers = turn(&home, &["--subject", "agent:kitchen"], &[("house-count", json!({ "by": 1 }))]);
    let id = fact(&answers[0], "approval")["id"].as_str().unwrap_or_else(|| panic!("{answers:?}")).to_owned();
    // The same call again is the same question.
    assert_eq!(fact(&answers[1], "approval")["id"], id, "{answers:?}");
    let asked = "agent:critic, acting for agent:kitchen (agent critic), by way of model";
    home.operate(&["approvals", "show", &id]).exits(0).says(&[asked]);
    home.operate(&["approvals", "approve", &id]).exits(0);

    let resumed = || home.operate_json(&["resume", &id, "--subject", "agent:critic"]);
    let refused = |why: &str| {
        let (exit, outcome) = resumed();
        assert_eq!(
            (exit, &outcome["stage"], &outcome["code"]),
            (4, &json!("policy"), &json!("delegation")),
            "{why}: {outcome}"
        );
    };
    kitchen("\"agent.run:critic\"");
    refused("its manifest is narrower since");
    std::fs::remove_file(home.data().join("subjects/agent:kitchen/agent.yaml")).unwrap();
    refused("its manifest is gone");
    kitchen("house.count");
    let (exit, outcome) = resumed();
    assert_eq!((exit, &outcome["result"]), (0, &json!(2)), "{outcome}");
    let ran = until("the record", || {
        home.records_of("outcome")
            .into_iter()
            .find(|record| record["capability"] == "house.count" && record["outcome"] == "executed")
    });
    assert_eq!((&ran["subject"], &ran["origin"]), (&json!("agent:critic"), &json!("model")));
}
