//! A person's answers, given by script.

use std::fs;

use serde_json::json;

use crate::home::{Home, PASSWORD, files_below, until};

const SEND: &[&str] = &["house.send", r#"{"to":"the neighbours","text":"come over"}"#];

fn open_home() -> Home {
    let home = Home::with_operator();
    home.operate(&["optin", "set", "house", "on"]).exits(0);
    home
}

#[test]
fn asked_shown_approved_resumed_once() {
    let home = open_home();
    let (exit, outcome) = home.json(&[&["invoke", "--reason", "they are lonely"], SEND].concat());
    assert_eq!((exit, &outcome["outcome"], &outcome["effect"]), (3, &json!("pending"), &json!("not_started")));
    assert!(outcome["approval"]["expires_at"].is_string() && outcome["help"].is_string(), "{outcome}");
    let id = outcome["approval"]["id"].as_str().unwrap();

    let (exit, waiting) = home.operate_json(&["approvals", "list"]);
    assert_eq!((exit, &waiting[0]["id"], &waiting[0]["status"]), (0, &json!(id), &json!("pending")));
    home.operate(&["approvals", "list"]).exits(0).says(&["APPROVAL", id, "house.send@1", "local"]);
    home.operate(&["approvals", "show", id]).exits(0).says(&[
        "house.send@1 asks to run",
        "\"to\": \"the neighbours\"",
        "\"text\": \"come over\"",
        "reason, as claimed by the proposer:\n    they are lonely",
    ]);
    let (exit, shown) = home.operate_json(&["approvals", "show", id]);
    assert_eq!((exit, &shown["summary"]["id"]), (0, &json!(id)));
    assert!(shown["content"].is_object(), "{shown}");

    // Not before the answer.
    let (exit, early) = home.json(&["resume", id]);
    assert_eq!((exit, &early["outcome"]), (3, &json!("pending")), "{early}");
    let (exit, approved) = home.operate_json(&["approvals", "approve", id]);
    assert_eq!((exit, &approved["status"]), (0, &json!("approved")));
    assert!(approved["receipt"]["seq"].is_u64(), "{approved}");
    let (exit, done) = home.json(&["resume", id]);
    assert_eq!((exit, &done["outcome"], &done["effect"]), (0, &json!("executed"), &json!("completed")), "{done}");
    assert_eq!(done["result"], "sent 9 bytes to the neighbours");

    let (exit, again) = home.json(&["resume", id]);
    assert_eq!((exit, &again["code"], &again["stage"]), (4, &json!("approval_consumed"), &json!("confirm")));
    home.operate(&["approvals", "approve", id]).exits(4);
    home.operate(&["approvals", "list"]).exits(0).says(&["nothing waits"]);
    home.operate(&["approvals", "show", id]).exits(0).says(&["its content was erased"]);
    let steps = home.records_of("approval");
    assert_eq!((steps.len(), &steps[0]["step"], &steps[0]["approval"]), (1, &json!("approved"), &json!(id)));
    assert_eq!(home.records_of("intent").len(), 1);
    home.run(&["audit", "verify"]).exits(0);
}

#[test]
fn a_denial_is_final_and_its_note_reaches_the_proposer() {
    let home = open_home();
    let id = home.pending(SEND);
    home.operate(&["approvals", "deny", &id, "--note", "not at this hour"]).exits(0).says(&["denied, for good"]);
    let (exit, outcome) = home.json(&["resume", &id]);
    assert_eq!((exit, &outcome["outcome"], &outcome["effect"]), (4, &json!("denied"), &json!("not_started")));
    assert!(outcome["message"].as_str().unwrap().contains("not at this hour"), "{outcome}");
    home.run(&["resume", &id]).exits(4).says(&["denied", "not at this hour"]);
    home.operate(&["approvals", "approve", &id]).exits(4);
    let id = home.pending(SEND);
    home.operate(&["approvals", "deny", &id, "--note", &"x".repeat(1025)]).exits(2).says(&["1 KiB"]);
    home.operate(&["approvals", "deny", &id]).exits(0);
    assert_eq!(home.json(&["resume", &id]).1["outcome"], "denied");
}

#[test]
fn nobody_answered_in_time() {
    let home = Home::new();
    home.configure("[limits]\napproval_lifetime_s = 10\n");
    home.setup();
    home.login();
    let (answered, unanswered) = (home.pending(&["house.peek"]), home.pending(&["house.peek"]));
    home.operate(&["approvals", "approve", &answered]).exits(0);
    // An answer that is not used in time is worth nothing either.
    for id in [unanswered, answered] {
        let outcome = until("the expiry", || {
            let (exit, waiting) = home.operate_json(&["approvals", "list"]);
            assert_eq!(exit, 0);
            let waits = waiting.as_array().unwrap().iter().any(|one| one["id"] == json!(id));
            (!waits).then(|| home.json(&["resume", &id]))
        });
        assert_eq!((outcome.0, &outcome.1["outcome"]), (4, &json!("expired")), "{}", outcome.1);
    }
    assert_eq!(home.records_of("expiry").len(), 2);
}

#[test]
fn answers_need_the_credential() {
    let home = open_home();
    let id = home.pending(SEND);
    for words in [
        &["approvals", "list"][..],
        &["approvals", "show", &id],
        &["approvals", "approve", &id],
        &["approvals", "deny", &id],
        &["operator", "logout"],
    ] {
        let ran = home.run(words).exits(4).says(&["--operator-token-file"]);
        assert!(!format!("{ran:?}").contains("come over"), "{ran:?}");
    }
    // A token of another directory, none at all, one that is not, and a hash from the sessions file.
    let other = Home::with_operator();
    let sessions = fs::read_to_string(home.data().join("operator/sessions")).unwrap();
    let hash = sessions.split('"').find(|word| word.len() == 64).unwrap().to_owned();
    for text in [fs::read_to_string(other.token()).unwrap(), String::new(), "0".repeat(64), "x".into(), hash] {
        let path = home.top().join("forged");
        fs::write(&path, text).unwrap();
        let words = ["approvals", "approve", &id, "--operator-token-file", path.to_str().unwrap()];
        home.run(&words).exits(4);
    }
    let (_, still) = home.json(&["resume", &id]);
    assert_eq!(still["outcome"], "pending");
    home.operate(&["operator", "logout"]).exits(0);
    home.operate(&["approvals", "approve", &id]).exits(4).says(&["operator login"]);
    // An id that does not exist says no more than that.
    home.login();
    home.operate(&["approvals", "show", &"0".repeat(32)]).exits(4).says(&["approvals list"]);
    home.operate(&["approvals", "approve", &"0".repeat(32)]).exits(4);
    assert_eq!(home.json(&["resume", &"0".repeat(32)]).1["code"], "approval_unknown");
}

#[test]
fn guessing_the_password_gets_slower() {
    let home = Home::new();
    home.setup();
    let token = home.token();
    let login = ["operator", "login", "--password-stdin", "--token-file", token.to_str().unwrap()];
    for _ in 0..3 {
        home.run_with(&login, "not the right words").exits(4).says(&["not the operator password"]);
    }
    // Not even the right one, and a new process does not begin anew.
    home.run_with(&login, PASSWORD).exits(4).says(&["too many wrong passwords"]);
    assert!(!token.exists());
    until("the end of the wait", || (home.run_with(&login, PASSWORD).exit == 0).then_some(()));
    home.run_with(&login, "not the right words").exits(4).says(&["not the operator password"]);
    // A changed password ends the sessions that the old one opened.
    home.operate(&["approvals", "list"]).exits(0);
    let both = format!("{PASSWORD}\nanother four plain words");
    home.run_with(&["operator", "setup", "--password-stdin"], &both).exits(0);
    home.operate(&["approvals", "list"]).exits(4);
}

#[test]
fn everything_is_closed_to_others() {
    let home = open_home();
    home.pending(SEND);
    let serving = home.serve();
    for (path, mode) in files_below(&home.data()) {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, wanted, "{}", path.display());
    }
    drop(serving);
    let token = files_below(home.top()).into_iter().find(|(path, _)| *path == home.token()).unwrap();
    assert_eq!(token.1, 0o600);
}

/// A family that is turned off after the answer stops what was approved.
#[test]
fn policy_is_looked_at_again_when_an_approval_is_used() {
    let home = open_home();
    let id = home.pending(SEND);
    home.operate(&["approvals", "approve", &id]).exits(0);
    home.operate(&["optin", "set", "house", "off"]).exits(0);
    let (exit, outcome) = home.json(&["resume", &id]);
    assert_eq!((exit, &outcome["code"]), (4, &json!("opt_in_off")), "{outcome}");
    home.operate(&["optin", "set", "house", "on"]).exits(0);
    assert_eq!(home.json(&["resume", &id]).0, 0);
}
