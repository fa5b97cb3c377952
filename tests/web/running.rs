//! What runs on, and for whom an agent asks, as an operator meets both in the pages.

use serde_json::{Value, json};

use crate::agent::{configured, turn};
use crate::centre::{Centre, Operator};
use crate::home::Home;

fn centre(home: Home, more: &str) -> Centre {
    let workspace = home.top().join("work");
    std::fs::create_dir(&workspace).unwrap();
    Centre::of(home, &format!("{more}[workspace]\nroot = {workspace:?}\n"))
}

/// A command that runs on, as its markup would have it.
fn begun(centre: &Centre, operator: &Operator) -> String {
    let command = json!({ "script": "sleep 600 # <b>\u{202e}", "background": true, "timeout": 900 });
    let id = centre.home.pending(&["terminal.exec", &command.to_string()]);
    operator.approve(&id).is(303);
    let (exit, outcome) = centre.home.json(&["resume", &id]);
    assert_eq!(exit, 0, "{outcome}");
    outcome["result"]["process"].as_str().unwrap().to_owned()
}

#[test]
fn what_runs_on_is_shown_and_stopped() {
    let centre = centre(Home::with_operator(), "");
    let operator = centre.logged_in();
    assert!(operator.get("/running").is(200).body.contains("id=\"nothing-runs\""));
    let id = begun(&centre, &operator);
    let page = operator.get("/running").is(200).body;
    assert!(page.contains(&format!("data-run=\"{id}\"")) && page.contains("background process"), "{page}");
    assert!(page.contains("&lt;b&gt;") && !page.contains("<b>") && !page.contains('\u{202e}'), "{page}");

    let stop = format!("/running/{id}/stop");
    centre.browser().post(&stop, &[]).is(401);
    operator.client.post(&stop, &[]).is(403);
    assert!(operator.get("/running").body.contains(&id), "it goes on");
    operator.post("/running/nothing/stop", &[]).is(403);
    operator.post(&stop, &[]).is(303);
    assert!(operator.get("/running").is(200).body.contains("id=\"nothing-runs\""));
    let stopped = centre.home.records_of("configuration").pop().unwrap();
    assert_eq!((&stopped["setting"], &stopped["operator"]), (&json!("stopped"), &json!("operator@page")));
}

#[test]
fn a_card_says_for_whom_an_agent_acts() {
    let centre = centre(Home::with_operator(), &configured(&["house.count"]));
    centre.home.operate(&["optin", "set", "agent", "on"]).exits(0);
    let operator = centre.logged_in();
    let answers = turn(&centre.home, &[], &[("house-count", json!({ "by": 1 }))]);
    let id = crate::program::fact(&answers[0], "approval")["id"].as_str().unwrap().to_owned();
    let card = operator.get(&format!("/approvals/{id}")).is(200).body;
    assert!(card.contains("agent:critic, acting for local (agent critic), by way of model"), "{card}");
    let queue = operator.get("/").is(200).body;
    assert!(queue.contains("asked by agent:critic, acting for local (agent critic)"), "{queue}");
    let told: Value = centre.program().get(&format!("/api/approvals/{id}")).is(200).json();
    assert_eq!(told["acts_for"], json!(["local (agent critic)"]), "{told}");
}
