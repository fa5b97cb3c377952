//! Answers by a channel: with a code that an operator was shown, once, and never where a fresh answer is due.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::home::Home;
use crate::lab::{Lab, slack};

/// A greeting is asked about because a rule says so; what sends something takes a fresh answer by its class.
const ASK: &str = "[[rule]]\nid = \"ask\"\neffect = \"ask\"\nreason = \"guests\"\ncapability = \"house.greet\"\n";

pub fn rules(home: &Home, text: &str) {
    let path = home.data().join("policy.toml");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn lab() -> Lab {
    let lab = Lab::new();
    rules(&lab.home, ASK);
    lab
}

fn code(lab: &Lab, id: &str) -> String {
    let (exit, told) = lab.home.operate_json(&["channel", "code", id, "--channel", "team", "--sender", "U1"]);
    assert_eq!(exit, 0, "{told}");
    told["code"].as_str().unwrap().to_owned()
}

fn status(lab: &Lab, id: &str) -> Value {
    lab.home.operate_json(&["approvals", "show", id]).1["summary"]["status"].clone()
}

#[test]
fn a_code_answers_its_question_once_for_whoever_it_was_shown_for() {
    let lab = lab();
    let id = lab.home.pending(&["house.greet", "{\"name\":\"x\"}"]);
    let text = format!("approve {}", code(&lab, &id));
    // Somebody else on the list: a message like any other.
    lab.send(&slack("1.0", "U2", &text)).is(200);
    assert_eq!((status(&lab, &id), lab.texts()), ("pending".into(), vec![text.clone()]));
    lab.send(&slack("2.0", "U1", &text)).is(200);
    assert_eq!(status(&lab, &id), "approved");
    let answers = lab.home.records_of("approval");
    assert_eq!((answers.len(), &answers[0]["operator"]), (1, &"operator@channel".into()));
    lab.home.run(&["resume", &id]).exits(0).says(&["hello, x"]);
    // Used up; and no code is in an inbox.
    lab.send(&slack("3.0", "U1", &text)).is(200);
    lab.refused(Some("team"), "wrong_code", 1);
    assert_eq!(lab.texts().len(), 1);

    let id = lab.home.pending(&["house.greet", "{\"name\":\"y\"}"]);
    let code = code(&lab, &id);
    lab.send(&slack("4.0", "U1", &format!("deny {code}"))).is(200);
    assert_eq!(status(&lab, &id), "denied");
}

#[test]
fn a_channel_never_gives_a_fresh_answer() {
    let lab = lab();
    lab.home.operate(&["optin", "set", "house", "on"]).exits(0);
    let fresh = lab.home.pending(&["house.send", "{\"to\":\"x\",\"text\":\"y\"}"]);
    let words = ["channel", "code", &fresh, "--channel", "team", "--sender", "U1"];
    lab.home.operate(&words).exits(4).says(&["takes a fresh answer", "a channel never gives one"]);
    // A code of another question is no answer to it either.
    let asked = lab.home.pending(&["house.greet", "{\"name\":\"x\"}"]);
    let code = code(&lab, &asked);
    lab.send(&slack("1.0", "U1", &format!("approve {code}"))).is(200);
    assert_eq!((status(&lab, &fresh), status(&lab, &asked)), ("pending".into(), "approved".into()));
}

#[test]
fn codes_are_for_operators_that_the_channel_lists() {
    let lab = lab();
    let id = lab.home.pending(&["house.greet", "{\"name\":\"x\"}"]);
    let code = |words: &[&str]| lab.home.operate(&[&["channel", "code"], words].concat());
    code(&[&id, "--channel", "team", "--sender", "U2"]).exits(4).says(&["nobody of that name may answer"]);
    code(&[&id, "--channel", "hook", "--sender", "U1"]).exits(4);
    code(&["00000000000000000000000000000000", "--channel", "team", "--sender", "U1"]).exits(4);
    lab.home
        .run(&["channel", "code", &id, "--channel", "team", "--sender", "U1"])
        .exits(4)
        .says(&["operator credential"]);
}

#[test]
fn guessing_a_code_ends_with_no_code() {
    let lab = lab();
    let id = lab.home.pending(&["house.greet", "{\"name\":\"x\"}"]);
    let right = code(&lab, &id);
    for guess in 0..5 {
        lab.send(&slack(&format!("{guess}.0"), "U1", "approve ZZZZZZZZZZ")).is(200);
    }
    lab.send(&slack("9.0", "U1", &format!("approve {right}"))).is(200);
    lab.refused(Some("team"), "wrong_code", 6);
    assert_eq!(status(&lab, &id), "pending");
    assert!(lab.entries().is_empty());
}
