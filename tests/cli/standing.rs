//! Edits, reasons, waiting, standing answers, and what is kept of approved calls: by script.

use std::fs;
use std::process::Child;

use serde_json::{Value, json};

use crate::home::{Home, ended, signal, until};

const COUNT: &[&str] = &["house.count", r#"{"by":1}"#];

/// A home whose host serves, with this configuration.
fn serving(config: &str) -> (Home, crate::home::Serving) {
    let home = Home::new();
    home.configure(config);
    home.setup();
    home.login();
    let serving = home.serve();
    (home, serving)
}

/// The approval that a command in the background waits for.
fn asked(home: &Home) -> String {
    until("a question", || {
        let (_, waiting) = home.operate_json(&["approvals", "list"]);
        waiting[0]["id"].as_str().map(str::to_owned)
    })
}

fn waits(home: &Home) -> Child {
    home.start(&[&["invoke", "--wait", "--json"], COUNT].concat())
}

#[test]
fn whoever_waits_finishes_by_itself_and_learns_what_was_said() {
    let (home, _serving) = serving("");
    // Yes: the call finishes.
    let child = waits(&home);
    home.operate(&["approvals", "approve", &asked(&home)]).exits(0);
    let ran = ended(child).exits(0);
    assert!(ran.out.contains("\"executed\""), "{ran:#?}");
    // No: with its reason and its note.
    let child = waits(&home);
    let id = asked(&home);
    home.operate(&["approvals", "deny", &id, "--reason", "too_broad", "--note", "one at a time"]).exits(0);
    let ran = ended(child).exits(4);
    let said: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&said["outcome"], &said["reason"]), (&json!("denied"), &json!("too_broad")));
    assert!(said["message"].as_str().unwrap().contains("one at a time"), "{said}");
    let recorded = home.records_of("approval").pop().unwrap();
    assert_eq!((&recorded["step"], &recorded["reason"]), (&json!("denied"), &json!("too_broad")));
    home.operate(&["approvals", "deny", &id, "--reason", "whatever"]).exits(2).says(&["not_now"]);
    // Something else: what came in its place is what finishes.
    let child = home.start(&[&["invoke", "--wait"], COUNT].concat());
    let id = asked(&home);
    let token = home.token();
    let edit = ["approvals", "edit", &id, "--operator-token-file", token.to_str().unwrap()];
    home.run_with(&edit, r#"{"by":41}"#).exits(0).says(&["approved as changed"]);
    let ran = ended(child).exits(0).says(&["a person must answer", "another call in its place"]);
    assert!(ran.out.trim().parse::<u32>().is_ok(), "{ran:#?}");
    // A change that makes no sense takes the call along, and is told apart from success.
    let child = waits(&home);
    let id = asked(&home);
    let file = home.top().join("arguments.json");
    fs::write(&file, r#"{"by":"many"}"#).unwrap();
    let refused = home.operate(&["approvals", "edit", &id, "--arguments", file.to_str().unwrap()]).exits(4);
    refused.says(&["rejected at validate (schema_violation)", "its subject is told"]);
    let said: Value = serde_json::from_str(&ended(child).exits(4).out).unwrap();
    assert_eq!((&said["outcome"], said.get("result")), (&json!("superseded"), None));
    home.operate(&["approvals", "show", &id]).exits(0).says(&["superseded", "schema_violation"]);
    // Whoever stops waiting takes nothing back.
    let child = waits(&home);
    let id = asked(&home);
    signal(&child, "INT");
    assert_eq!(ended(child).exit, 130);
    assert_eq!(home.json(&["resume", &id]).1["outcome"], "pending");
    let child = home.start(&["resume", &id, "--wait", "--json"]);
    home.operate(&["approvals", "approve", &id]).exits(0);
    ended(child).exits(0);
    // All of it stands in the subject's own history, and in its journal, which operators read.
    let history = home.run(&["history"]).exits(0).out;
    for line in [
        "an operator denied house.count@1: this does more than it has to\n    one at a time\n",
        "an operator approved house.count@1\n",
        "an operator edited house.count@1\n",
    ] {
        assert!(history.contains(line), "{history}");
    }
    home.operate(&["journal", "show", "local"]).exits(0).says(&["an operator denied house.count@1"]);
    home.run(&["audit", "verify"]).exits(0);
}

/// Forty who wait leave room for whoever answers.
#[test]
fn a_crowd_that_waits_keeps_no_operator_out() {
    let (home, _serving) = serving("[limits]\nper_turn = 1000\n");
    let mut crowd: Vec<_> = (0..40).map(|_| waits(&home)).collect();
    until("forty questions", || {
        let (_, waiting) = home.operate_json(&["approvals", "list"]);
        (waiting.as_array().unwrap().len() == 40).then_some(())
    });
    home.operate(&["approvals", "deny", &asked(&home)]).exits(0);
    until("the one who was answered", || {
        let at = crowd.iter_mut().position(|child| child.try_wait().unwrap().is_some())?;
        Some(ended(crowd.swap_remove(at)).exits(4))
    });
    for mut child in crowd {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Their questions are still there.
    assert_eq!(home.operate_json(&["approvals", "list"]).1.as_array().unwrap().len(), 39);
}

#[test]
fn a_grant_answers_for_a_while_and_is_taken_back() {
    let (home, host) = serving("[grants.\"house.peek\"]\nmax = \"10m\"\nuses = 3\n");
    let id = home.pending(&["house.peek"]);
    home.operate(&["approvals", "show", &id]).exits(0).says(&[
        "`--session --for SPAN --uses N` covers exactly this call of `house.peek` in this session, for 10 minutes and 3 uses",
    ]);
    let session = |id: &str, span: &str, uses: &str| {
        home.operate(&["approvals", "approve", id, "--session", "--for", span, "--uses", uses])
    };
    session(&id, "11m", "1").exits(4).says(&["that goes too far", "600 seconds at most, and 3 uses"]);
    session(&id, "soon", "1").exits(2).says(&["as in `30m`"]);
    home.operate(&["approvals", "approve", &id, "--session"]).exits(2);
    home.operate(&["approvals", "approve", &id, "--for", "1m", "--uses", "1"]).exits(2);
    session(&id, "5m", "2").exits(0).says(&["approved once", "and its like 2 times until"]);
    home.run(&["resume", &id]).exits(0);
    home.run(&["invoke", "house.peek"]).exits(0);
    let (_, grants) = home.operate_json(&["grants", "list"]);
    assert_eq!((&grants[0]["used"], &grants[0]["max_uses"]), (&json!(1), &json!(2)));
    home.operate(&["grants", "list"]).exits(0).says(&["live", "house.peek@1", "exactly one call", "1 of 2"]);
    home.run(&["invoke", "house.peek"]).exits(0);
    let id = home.pending(&["house.peek"]);
    session(&id, "5m", "3").exits(0);
    let (_, grants) = home.operate_json(&["grants", "list"]);
    let grant = grants[0]["id"].as_str().unwrap();
    home.run(&["grants", "revoke", grant]).exits(4).says(&["operator credential"]);
    home.operate(&["grants", "revoke", grant]).exits(0).says(&["revoked: 1"]);
    home.operate(&["grants", "revoke", grant]).exits(4).says(&["grants list"]);
    let id = home.pending(&["house.peek"]);
    session(&id, "5m", "3").exits(0);
    // Whoever thinks in plan mode leaves it behind.
    home.run(&["invoke", "house.greet", r#"{"name":"you"}"#, "--mode", "plan"]).exits(0);
    let id = home.pending(&["house.peek"]);
    session(&id, "5m", "3").exits(0);
    home.operate(&["grants", "revoke", "--all"]).exits(0).says(&["revoked: 1"]);
    let id = home.pending(&["house.peek"]);
    session(&id, "5m", "3").exits(0);
    home.run(&["invoke", "house.peek"]).exits(0);
    // What must be confirmed has none, whatever is asked for.
    let id = home.pending(COUNT);
    session(&id, "1m", "1").exits(4).says(&["a fresh answer each time"]);
    // And it ends with its host.
    host.end("TERM").exits(0);
    home.pending(&["house.peek"]);
    let (_, grants) = home.operate_json(&["grants", "list"]);
    let ends: Vec<_> = grants.as_array().unwrap().iter().map(|grant| grant["ended"].clone()).collect();
    assert_eq!(ends, ["restarted", "revoked", "mode_changed", "revoked", "used_up"]);
    assert_eq!(home.records_of("grant_use").len(), 3);
    let steps = home.records_of("grant");
    assert_eq!(steps.iter().filter(|step| step["step"] == "given").count(), 5);
    home.run(&["audit", "verify"]).exits(0);
}

#[test]
fn a_table_of_grants_that_can_never_count_is_a_mistake() {
    for (config, words) in [
        (
            "[grants.\"house.count\"]\nmax = \"10m\"\nuses = 1\n",
            "line 1: grants are turned on for `house.count`, and its class needs a person each time",
        ),
        ("[grants.\"house.vault\"]\nmax = \"10m\"\nuses = 1\n", "which is locked: it exists to be named"),
        ("[grants.\"house.peak\"]\nmax = \"10m\"\nuses = 1\n", "no such capability; `house.peek` is one that it has"),
        (
            "\n[grants.\"house.peek\"]\nmax = \"2h\"\nuses = 1\n",
            "line 3: `max` of `house.peek` is no time, or more than 60 minutes",
        ),
        ("[grants.\"house.peek\"]\nmax = \"1m\"\nuses = 1001\n", "line 3: `uses` of `house.peek` is more than 1000"),
        ("[grants.\"house.peek\"]\nmax = \"1m\"\n", "missing field `uses`"),
        ("[approvals]\nretain = \"always\"\n", "line 2: a span of time is a whole number"),
    ] {
        let home = Home::new();
        home.configure(config);
        home.run(&["list"]).exits(6).says(&[words, "help:"]);
    }
}

#[test]
fn what_people_keep_denying_is_refused_until_an_operator_clears_it() {
    let (home, _serving) = serving("");
    for _ in 0..3 {
        home.operate(&["approvals", "deny", &home.pending(COUNT)]).exits(0);
    }
    let (exit, refused) = home.json(&[&["invoke"], COUNT].concat());
    assert_eq!((exit, &refused["code"], &refused["stage"]), (4, &json!("denial_loop"), &json!("confirm")));
    assert_eq!(home.operate_json(&["approvals", "list"]), (0, json!([])));
    home.operate(&["approvals", "loops"]).exits(0).says(&["local", "house.count@1", "3"]);
    home.run(&["approvals", "loops", "--clear", "local"]).exits(4).says(&["operator credential"]);
    home.operate(&["approvals", "loops", "--clear", "local"]).exits(0).says(&["cleared: 1"]);
    home.operate(&["approvals", "loops"]).exits(0).says(&["nobody asks again"]);
    home.pending(COUNT);
    let settings = home.records_of("configuration");
    assert!(settings.iter().any(|record| record["setting"] == "denials_cleared" && record["subject"] == "local"));
}

#[test]
fn the_last_approved_call_is_shown_while_it_is_retained_and_erased_on_record() {
    let (home, host) = serving("[approvals]\nretain = \"7d\"\n");
    let id = home.pending(&["house.count", r#"{"by":77}"#]);
    home.operate(&["approvals", "show", &id]).exits(0);
    home.operate(&["approvals", "approve", &id]).exits(0);
    home.run(&["resume", &id]).exits(0);
    let same = home.pending(&["house.count", r#"{"by":77}"#]);
    home.operate(&["approvals", "show", &same]).exits(0).says(&["the same arguments"]);
    let other = home.pending(&["house.count", r#"{"by":78}"#]);
    home.operate(&["approvals", "show", &other]).exits(0).says(&["the last time that this was approved", "\"by\": 77"]);
    home.run(&["approvals", "erase"]).exits(4).says(&["operator credential"]);
    home.operate(&["approvals", "erase", "--subject", "somebody"]).exits(0).says(&["erased: 0"]);
    home.operate(&["approvals", "erase"]).exits(0).says(&["erased: 1"]);
    let shown = home.operate(&["approvals", "show", &other]).exits(0);
    assert!(!shown.out.contains("77"), "{shown:#?}");
    let erased: Vec<_> =
        home.records_of("configuration").into_iter().filter(|record| record["setting"] == "retained_erased").collect();
    assert_eq!(erased.iter().map(|record| record.get("subject")).collect::<Vec<_>>(), [Some(&json!("somebody")), None]);
    host.end("TERM").exits(0);
}
