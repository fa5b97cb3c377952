//! Secrets: told by name and place, and taken out of whatever goes to somebody.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::home::{Home, Ran};

/// With whatever an encoder writes otherwise.
const VALUE: &str = "sword/fish+\"42\"&<\\>";

/// Parts of it that every form but base64 and hex leaves as they are, and those two.
const PARTS: [&str; 4] = ["sword", "fish", "c3dvcmQ", "73776f72"];

fn private(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn keep(home: &Home, name: &str, content: &str) {
    let directory = home.data().join("secrets");
    fs::create_dir_all(&directory).unwrap();
    for directory in [&home.data(), &directory] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).unwrap();
    }
    private(&directory.join(name), content);
}

#[track_caller]
fn holds_none(ran: &Ran) {
    for part in PARTS {
        assert!(!ran.out.contains(part) && !ran.err.contains(part), "{part}: {ran:#?}");
    }
}

#[test]
fn a_secret_goes_to_no_command_line() {
    for serve in [false, true] {
        let home = Home::talkative();
        home.setup();
        home.login();
        keep(&home, "deploy_token", VALUE);
        home.operate(&["optin", "set", "house", "on"]).exits(0);
        let serving = serve.then(|| home.serve());
        let text = json!({ "text": format!("because of {VALUE}.") }).to_string();
        let named = json!({ "name": VALUE }).to_string();
        let sent = json!({ "to": "a", "text": VALUE }).to_string();
        let told = |ran: Ran, marks: bool| {
            holds_none(&ran);
            assert_eq!(ran.out.contains("[redacted]") || ran.err.contains("[redacted]"), marks, "{ran:#?}");
        };
        // A result, as a person and as a program are told it; an error; what a schema says of it.
        told(home.run(&["invoke", "house.greet", &named]).exits(0), true);
        told(home.run(&["invoke", "house.greet", &named, "--json"]).exits(0), true);
        told(home.run(&["invoke", "house.complain", &text]).exits(5), true);
        told(home.run(&["invoke", "house.greet", &json!({ "name": "a", "times": VALUE }).to_string()]).exits(4), false);
        // A card, its list, the answer, and what the proposer is told of it.
        let id = home.pending(&["house.send", &sent, "--reason", VALUE]);
        told(home.operate(&["approvals", "show", &id]).exits(0), true);
        told(home.operate(&["approvals", "show", &id, "--json"]).exits(0), true);
        told(home.operate(&["approvals", "list"]).exits(0), false);
        told(home.operate(&["approvals", "deny", &id, "--note", VALUE]).exits(0), false);
        told(home.run(&["resume", &id]).exits(4), true);
        told(home.run(&["history"]).exits(0), true);
        // What a subject keeps, for an operator.
        told(home.run(&["invoke", "house.remember", &text]).exits(0), false);
        told(home.operate(&["journal", "show", "local"]).exits(0), true);
        told(home.run(&["audit", "tail"]).exits(0), false);
        told(home.run(&["secrets", "status"]).exits(0), false);
        // What is approved is what was sent.
        let id = home.pending(&["house.send", &sent]);
        home.operate(&["approvals", "approve", &id]).exits(0);
        home.run(&["resume", &id]).exits(0).says(&[&format!("sent {} bytes", VALUE.len())]);
        if let Some(serving) = serving {
            told(serving.end("TERM").exits(0), false);
        }
        for line in fs::read_to_string(home.log()).unwrap().lines() {
            assert!(!PARTS.iter().any(|part| line.contains(part)), "{line}");
        }
    }
}

#[test]
fn secrets_are_told_by_name_place_and_state_and_never_by_value() {
    let home = Home::new();
    let dotenv = home.top().join("house.env");
    private(&dotenv, "A=a-value-of-some-length\nB=short\n");
    home.configure(&format!(
        "[secrets.line]\ndotenv = \"{0}\"\nkey = \"A\"\nexpires = \"2999-01-01T00:00:00Z\"\n\
         [secrets.little]\ndotenv = \"{0}\"\nkey = \"B\"\n\
         [secrets.past]\nexpires = \"2001-01-01T00:00:00Z\"\n\
         [secrets.variable]\nenv = \"NO_SUCH_VARIABLE\"\n",
        dotenv.display()
    ));
    keep(&home, "past", "another-value-of-some-length");
    keep(&home, "plain", VALUE);
    let states = |found: &Value| -> Vec<(String, String, String)> {
        let word = |one: &Value, key: &str| one[key].as_str().unwrap_or("-").to_owned();
        let rows = found.as_array().unwrap().iter();
        rows.map(|one| (word(one, "name"), word(one, "state"), word(one, "length"))).collect()
    };
    let expected = [
        ("line", "ready", "usual"),
        ("little", "short", "-"),
        ("past", "expired", "-"),
        ("plain", "ready", "usual"),
        ("variable", "absent", "-"),
    ]
    .map(|(name, state, length)| (name.to_owned(), state.to_owned(), length.to_owned()));
    let (exit, found) = home.json(&["secrets", "status"]);
    assert_eq!((exit, states(&found)), (0, expected.to_vec()), "{found}");
    home.run(&["secrets", "list"]).exits(0).says(&["line", "dotenv", "house.env", "plain", "stored", "environment"]);
    home.run(&["secrets", "status", "past"]).exits(0).says(&["expired", "2001-01-01"]);
    home.run(&["secrets", "status", "none"]).exits(4);
    let (exit, wrong) = home.json(&["secrets", "check"]);
    let names: Vec<String> = states(&wrong).into_iter().map(|(name, ..)| name).collect();
    assert_eq!((exit, names), (1, ["little", "past", "variable"].map(str::to_owned).to_vec()));
    home.run(&["doctor"]).says(&["secrets", "`past` (expired)", "`little` (short)"]);
    for words in [&["secrets", "list"][..], &["secrets", "status"], &["secrets", "check"], &["doctor"]] {
        let ran = home.run(words);
        for value in ["a-value", "another-value", "sword/", "short\n"] {
            assert!(value == "short\n" || !format!("{}{}", ran.out, ran.err).contains(value), "{value}: {ran:#?}");
        }
    }
    fs::set_permissions(&dotenv, fs::Permissions::from_mode(0o644)).unwrap();
    let (_, found) = home.json(&["secrets", "status", "line"]);
    assert_eq!(found[0]["state"], "unreadable", "others may read it");
}

/// Wherever it comes from, it is named by its place in the configuration, and no word of it is said.
#[test]
fn what_is_too_short_to_be_found_is_named_whatever_it_is_for() {
    let home = Home::new();
    let file = home.top().join("short");
    private(&file, "swrdfsh\n");
    let at = file.display();
    home.configure(&format!(
        "[endpoints.pihole]\nurl = \"http://127.0.0.1:1\"\nreach = \"device\"\nauth = \"pihole\"\npassword_file = \"{at}\"\n\
         [endpoints.prometheus]\nurl = \"https://127.0.0.1:1\"\nauth = \"bearer\"\ntoken_file = \"{at}\"\n\
         [mail]\nserver = \"127.0.0.1:1\"\nserver_name = \"mail.test\"\nsecurity = \"tls\"\nfrom = \"a@mail.test\"\nrecipients = [\"b@mail.test\"]\nuser = \"a\"\npassword_file = \"{at}\"\n\
         [repositories.house]\nurl = \"https://127.0.0.1:1/r\"\nuser = \"a\"\npassword_file = \"{at}\"\n\
         [mcp.servers.docs]\nurl = \"https://127.0.0.1:1/mcp\"\ntoken_file = \"{at}\"\n\
         [mcp.servers.lab]\ncommand = [\"/bin/false\"]\nsecrets = {{ LAB_TOKEN = \"{at}\" }}\n\
         [secrets.own]\nfile = \"{at}\"\n"
    ));
    keep(&home, "stored", "swrdfsh");
    let ran = home.run(&["secrets", "check", "--json"]).exits(1);
    let names: Vec<String> = ran
        .document()
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            assert_eq!(one["state"], "short", "{one}");
            assert!(one["help"].as_str().unwrap().contains("at least 8 bytes"), "{one}");
            one["name"].as_str().unwrap().to_owned()
        })
        .collect();
    let mut expected = [
        "endpoints.pihole",
        "endpoints.prometheus",
        "mail",
        "mcp.servers.docs.token_file",
        "mcp.servers.lab.LAB_TOKEN",
        "own",
        "repositories.house",
        "stored",
    ];
    let mut sorted = names.clone();
    sorted.sort();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    let doctor = home.run(&["doctor"]);
    let doctor = doctor.says(&[
        "the credential of `pihole` is shorter than 8 bytes",
        "its token is shorter than 8 bytes",
        "one of its `secrets` is shorter than 8 bytes",
        "`mail` (short)",
        "`repositories.house` (short)",
    ]);
    for ran in [ran, doctor] {
        assert!(!ran.out.contains("swrdfsh") && !ran.err.contains("swrdfsh"), "{ran:#?}");
    }
}

/// What is known stays known: there is no room for one more, and nobody uses it.
#[test]
fn a_secret_for_which_there_is_no_room_is_read_by_nobody() {
    let home = Home::new();
    // Sixteen of the longest are as much as is looked for.
    for nth in 10..27 {
        keep(&home, &format!("secret_{nth}"), &format!("{nth:04096}"));
    }
    let (exit, wrong) = home.json(&["secrets", "check"]);
    let told: Vec<_> = wrong.as_array().unwrap().iter().map(|one| (&one["name"], &one["state"])).collect();
    assert_eq!((exit, told), (1, vec![(&json!("secret_26"), &json!("full"))]));
    home.run(&["doctor"]).exits(6).says(&["65536 bytes of secrets are known", "no further one is read"]);
    home.run(&["secrets", "status", "secret_25"]).exits(0).says(&["ready"]);
    // What was read first is looked for still.
    let named = json!({ "name": format!("{:04096}", 10) }).to_string();
    home.run(&["invoke", "house.greet", &named]).exits(0).says(&["[redacted]"]);
    // With room again, it is used.
    fs::remove_file(home.data().join("secrets/secret_10")).unwrap();
    home.run(&["secrets", "check"]).exits(0);
}

#[test]
fn a_table_that_says_two_things_is_refused() {
    let home = Home::new();
    for (table, what) in [
        ("file = \"/a\"\nenv = \"B\"", "a secret comes from one place"),
        ("file = \"a\"", "`file` does not begin at the root"),
        ("dotenv = \"/a\"", "`key` is no name in a `.env` file"),
        ("key = \"A\"", "a secret comes from one place"),
        ("env = \"A-B\"", "is no variable's name"),
        ("credential = \"../a\"", "is no credential's name"),
        ("value = \"a\"", "unknown field"),
        ("expires = \"soon\"", "line 2"),
    ] {
        home.configure(&format!("[secrets.token]\n{table}\n"));
        home.run(&["secrets", "list"]).exits(6).says(&[what, "help:"]);
    }
}
