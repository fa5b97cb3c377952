//! Words that must not be found where nothing may remember them.

use std::fs;

use serde_json::json;

use crate::home::{Home, PASSWORD, Ran, files_below, is_told_on_request};

/// Planted words: each a call of its own, so that a leak says where it came from.
const PLANTED: &[&str] = &[
    "canaryargument",
    "canaryproperty",
    "canarycapability",
    "canaryprivateerror",
    "canarypanic",
    "canaryresult",
    "canarypublicerror",
    "canaryreason",
    "canaryevidence",
    "canaryapproved",
    "canarydenied",
    "canaryexpired",
    "canarytarget",
    "canarymalformed",
    "canarytoolarge",
];
const NOTE: &str = "canarynote";
const JOURNAL: &str = "canaryjournal";

fn holds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

/// Everything that can go wrong, and what can go well, with a word in each.
fn sing(home: &Home) -> Vec<Ran> {
    let mut heard = Vec::new();
    let call = |words: &[&str]| home.run(&[&["invoke"], words].concat());
    heard.push(call(&["house.greet", r#"{"name":"canaryargument","times":9}"#]).exits(4));
    heard.push(call(&["house.greet", r#"{"canaryproperty":1,"name":"a"}"#]).exits(4));
    heard.push(call(&["house.canarycapability", r#"{"name":"canaryargument"}"#]).exits(4));
    heard.push(call(&["house.fail", r#"{"secret":"canaryprivateerror"}"#]).exits(5));
    heard.push(call(&["house.trip", r#"{"secret":"canarypanic"}"#]).exits(5));
    heard.push(call(&["house.greet", r#"{"name":"canaryresult"}"#]).exits(0));
    heard.push(call(&["house.chatter", r#"{"word":"canarytoolarge"}"#]).exits(5));
    heard.push(call(&["house.complain", r#"{"text":"canarypublicerror"}"#]).exits(5));
    heard.push(call(&["house.greet", r#"{"name":canarymalformed}"#]).exits(4));
    heard.push(call(&["house.vault", r#"{"which":"canaryargument"}"#]).exits(4));
    heard.push(call(&["house.remember", &json!({ "text": JOURNAL }).to_string()]).exits(0));

    let claims = ["--reason", "canaryreason", "--evidence", "canaryevidence"];
    let id = home.pending(&[&["house.send", r#"{"to":"a","text":"canaryapproved"}"#][..], &claims].concat());
    home.operate(&["approvals", "approve", &id]).exits(0);
    heard.push(home.run(&["resume", &id]).exits(0));
    let id = home.pending(&[&["house.lookup", r#"{"host":"canarytarget.example"}"#][..], &claims].concat());
    home.operate(&["approvals", "deny", &id, "--note", NOTE]).exits(0);
    heard.push(home.run(&["resume", &id]).exits(4));
    let id = home.pending(&["house.send", r#"{"to":"a","text":"canarydenied"}"#]);
    home.operate(&["approvals", "deny", &id]).exits(0);
    home.pending(&["house.send", r#"{"to":"a","text":"canaryexpired"}"#]);
    heard
}

fn searched(home: &Home) {
    let secrets = [PASSWORD.to_owned(), fs::read_to_string(home.token()).unwrap()];
    for (path, _) in files_below(&home.data()).into_iter().filter(|(path, _)| path.is_file()) {
        let bytes = fs::read(&path).unwrap();
        for word in PLANTED.iter().copied().chain(secrets.iter().map(|secret| secret.trim())) {
            assert!(!holds(&bytes, word), "{word} is in {}", path.display());
        }
        // Both belong to the database: the journal is the subject's history, a note is kept for the proposer to read.
        for word in [NOTE, JOURNAL] {
            assert!(!holds(&bytes, word) || path.ends_with("state.db"), "{word} is in {}", path.display());
        }
    }
    assert!(holds(&fs::read(home.data().join("state.db")).unwrap(), JOURNAL), "the search finds what is there");
}

fn wait_for_expiry(home: &Home) {
    crate::home::until("the expiry", || {
        let (_, waiting) = home.operate_json(&["approvals", "list"]);
        // Not too often: nobody reads what a talkative host says before it ends.
        let still = !waiting.as_array().unwrap().is_empty();
        if still {
            std::thread::sleep(std::time::Duration::from_millis(250));
        }
        (!still).then_some(())
    });
}

#[test]
fn nothing_remembers_what_it_was_told() {
    for serve in [false, true] {
        let home = Home::talkative();
        home.configure("[limits]\napproval_lifetime_s = 10\n");
        home.setup();
        home.login();
        home.operate(&["optin", "set", "house", "on"]).exits(0);
        let serving = serve.then(|| home.serve());
        for ran in sing(&home) {
            for word in PLANTED.iter().chain([&NOTE, &JOURNAL]) {
                assert!(!ran.err.contains(word), "{word} on standard error: {ran:#?}");
            }
        }
        let log = fs::read(home.log()).unwrap();
        for word in PLANTED.iter().chain([&NOTE, &JOURNAL]) {
            assert!(!holds(&log, word), "{word} in the log");
        }
        wait_for_expiry(&home);
        if let Some(serving) = serving {
            let ran = serving.end("TERM").exits(0);
            let (told, panics): (Vec<_>, Vec<_>) = ran.err.lines().partition(|line| is_told_on_request(line));
            assert!(told.iter().any(|line| line.contains("a request is answered")), "{ran:#?}");
            assert!(panics.iter().all(|line| line.starts_with("panic at src/main.rs:")), "{ran:#?}");
            for word in PLANTED.iter().chain([&NOTE, &JOURNAL, &PASSWORD]) {
                assert!(!ran.err.contains(word), "{word} on standard error: {ran:#?}");
            }
            assert_eq!(ran.out.lines().count(), 1, "{ran:#?}");
        }
        searched(&home);
    }
}
