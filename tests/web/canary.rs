//! Nothing of a call, and no secret, in what the host says about itself.

use std::thread::sleep;

use serde_json::json;

use crate::centre::{ARMED, Centre};
use crate::home::{Home, PASSWORD};

#[test]
fn no_word_of_a_call_a_note_or_a_secret_is_in_the_hosts_own_output() {
    let home = Home::talkative();
    home.setup();
    home.login();
    let centre = Centre::of(home, "");
    let operator = centre.logged_in();
    let program = centre.program();
    let words = ["canary-argument", "canary-reason", "canary-note", "canary-host", "canary-form", "canary-path"];
    let arguments = json!({ "host": "canary-host.example", "question": "canary-argument" }).to_string();
    let call = ["--reason", "canary-reason", "house.lookup", &arguments];
    let (one, two) = (centre.home.pending(&call), centre.home.pending(&call));
    operator.approve(&one).is(303);
    operator.deny(&two, "canary-note").is(303);
    centre.home.run(&["resume", &one]).exits(0);
    centre.home.run(&["resume", &two]).exits(4);
    // What is refused is told without a word of it.
    operator.post("/optins/canary-path", &[("on", "canary-form")]).is(400);
    operator.get("/canary-path?canary-form=1").is(404);
    centre.browser().post("/login", &[("password", "canary-form wrong")]).is(403);
    centre.browser().post("/login", &[("link", &"c0ffee".repeat(11))]).is(403);
    program.post_json(&format!("/api/approvals/{one}/approve"), &json!({ "stamp": "canary-form" })).is(409);
    sleep(ARMED);
    let token = std::fs::read_to_string(centre.home.token()).unwrap();
    let cookie = operator.client.headers.iter().find(|(key, _)| key == "Cookie").unwrap().1.clone();
    let (csrf, link) = (operator.csrf.clone(), centre.link.clone());
    let ran = centre.end();
    assert!(ran.err.contains("capability_host::web"), "the pages say something: {}", ran.err);
    let secret = cookie.split_once('=').unwrap().1;
    for word in words.into_iter().chain([PASSWORD, token.trim(), secret, csrf.as_str(), link.as_str()]) {
        assert!(!ran.err.contains(word), "{word} in {}", ran.err);
    }
}

/// A secret that a proposer happened to write, or that somebody writes into a note, is on no page and in no document.
#[test]
fn a_secret_goes_to_no_page() {
    use std::os::unix::fs::PermissionsExt as _;
    const VALUE: &str = "sword/fish+\"42\"&<\\>";
    let home = Home::with_operator();
    let directory = home.data().join("secrets");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("deploy_token"), VALUE).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::set_permissions(directory.join("deploy_token"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let centre = Centre::of(home, "");
    let (operator, program) = (centre.logged_in(), centre.program());
    let arguments = json!({ "host": "example.org", "question": VALUE }).to_string();
    let id = centre.home.pending(&["--reason", VALUE, "house.lookup", &arguments]);
    for (answer, marks) in [
        (operator.get("/"), false),
        (operator.card(&id), true),
        (operator.get(&format!("/fragment/approvals/{id}")), true),
        (program.get(&format!("/api/approvals/{id}")), true),
        (program.get("/api/approvals"), false),
        (operator.get("/audit"), false),
    ] {
        let answer = answer.is(200);
        for part in ["sword", "fish", "c3dvcmQ"] {
            assert!(!answer.body.contains(part), "{part}: {}", answer.body);
        }
        assert_eq!(answer.body.contains("[redacted]"), marks, "{}", answer.body);
    }
    // A yes is for the call that was made.
    operator.approve(&id).is(303);
    centre.home.run(&["resume", &id]).exits(0);
}
