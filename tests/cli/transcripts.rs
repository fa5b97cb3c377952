//! Every command, for people and for programs, with its exit code.

use serde_json::{Value, json};

use crate::home::{Home, PASSWORD};
use crate::project;

const COMMANDS: &[&[&str]] = &[
    &[],
    &["list"],
    &["describe"],
    &["invoke"],
    &["resume"],
    &["approvals"],
    &["approvals", "list"],
    &["approvals", "show"],
    &["approvals", "approve"],
    &["approvals", "deny"],
    &["optin"],
    &["optin", "show"],
    &["optin", "set"],
    &["journal"],
    &["journal", "show"],
    &["journal", "erase"],
    &["inbox"],
    &["channel"],
    &["channel", "deliver"],
    &["channel", "code"],
    &["running"],
    &["running", "list"],
    &["running", "stop"],
    &["policy"],
    &["policy", "check"],
    &["policy", "show"],
    &["policy", "explain"],
    &["policy", "matrix"],
    &["policy", "reach"],
    &["policy", "compare"],
    &["policy", "accept"],
    &["self-model"],
    &["operator"],
    &["operator", "setup"],
    &["operator", "login"],
    &["operator", "logout"],
    &["audit"],
    &["audit", "tail"],
    &["audit", "verify"],
    &["audit", "stats"],
    &["contract"],
    &["contract", "check"],
    &["contract", "update"],
    &["doctor"],
    &["serve"],
    &["web"],
    &["web", "link"],
    &["completions"],
];

#[test]
fn every_command_explains_itself_under_its_own_name() {
    let home = Home::new();
    for command in COMMANDS {
        let ran = home.run(&[command, &["--help"][..]].concat()).exits(0);
        let usage = ["Usage: household"].into_iter().chain(command.iter().copied()).collect::<Vec<_>>().join(" ");
        assert!(ran.out.contains(&usage) && ran.err.is_empty(), "{command:?}: {ran:#?}");
    }
    home.run(&["--help"]).exits(0).says(&[
        "Exit codes:",
        "0 done",
        "3 pending",
        "4 refused",
        "--json",
        "--data-dir",
        "130 interrupted",
    ]);
    for words in [&["--help"][..], &["audit", "verify", "--help"]] {
        home.run(words).exits(0).says(&["0 clean, 1 tampered, 2 torn", "3 unanchored"]);
    }
    home.run(&["--version"]).exits(0).says(&["household "]);
    assert!(!home.data().exists(), "help needs no data directory");
}

#[test]
fn a_wrong_word_is_a_usage_error_that_says_what_is_right() {
    let home = Home::new();
    home.run(&[]).exits(2).says(&["Usage: household"]);
    for command in COMMANDS {
        home.run(&[command, &["--no-such-flag"][..]].concat()).exits(2);
    }
    for (words, said) in [
        (&["lst"][..], "list"),
        (&["invoke", "house.greet", "--no-such-flag"], "--no-such-flag"),
        (&["invoke", "house"], "two or more dotted parts"),
        (&["invoke", "House.greet"], "two or more dotted parts"),
        (&["invoke", "house.greet@0"], "a version is a positive integer"),
        (&["invoke", "house.greet@-1"], "a version is a positive integer"),
        (&["invoke", "house.greet@99999999999"], "a version is a positive integer"),
        (&["describe", "../greet"], "two or more dotted parts"),
        (&["resume", "17"], "32 hexadecimal digits"),
        (&["approvals", "show", "zz"], "32 hexadecimal digits"),
        (&["approvals", "approve", "../../etc"], "32 hexadecimal digits"),
        (&["invoke", "house.greet", "{}", "--arg", "name=you"], "cannot be used with"),
        (&["invoke", "house.greet", "--arg", "name"], "`--arg key=value`"),
        (&["invoke", "house.greet", "--arg", "name=a", "--arg", "name=b"], "given twice"),
        (&["invoke", "house.greet", "--mode", "yolo"], "live"),
        (&["invoke", "house.greet", "--turn", "-1"], "'-1'"),
        (&["invoke", "house.greet", "{\"name\":\"a\"}", "--turn", "18446744073709551615"], "number turns from 1"),
        (&["invoke", "house.greet", "--subject", "A b"], "a-z 0-9"),
        (&["optin", "set", "house", "maybe"], "on, off"),
        (&["completions", "tcsh"], "bash"),
        (&["audit", "tail", "-n", "many"], "many"),
        (&["approvals", "list", "--operator-token-file", "/nonexistent"], "operator login --token-file"),
    ] {
        home.run(words).exits(2).says(&[said]);
        let (exit, document) = home.json(words);
        let error = document["error"]["message"].as_str().unwrap().to_owned() + &document["error"]["help"].to_string();
        assert!(exit == 2 && error.contains(said), "{words:?}: {document}");
    }
}

#[test]
fn completions_know_the_program_and_its_commands() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = home.run(&["completions", shell]).exits(0);
        assert!(ran.out.contains("invoke") && ran.out.contains("household"), "{ran:#?}");
        let (exit, document) = home.json(&["completions", shell]);
        assert_eq!((exit, document["script"].as_str().unwrap()), (0, ran.out.as_str()));
    }
    assert!(!home.data().exists());
}

#[test]
fn list_and_describe() {
    let home = Home::new();
    let ran = home.run(&["list"]).exits(0);
    let lines: Vec<_> = ran.out.lines().collect();
    let column = lines[0].find("CLASS").unwrap();
    for line in &lines {
        assert_eq!(line.as_bytes()[column - 1], b' ', "{line}");
        assert_ne!(line.as_bytes()[column], b' ', "{line}");
        assert!(!line.ends_with(' ') && !line.contains('\u{1b}'), "{line:?}");
    }
    let line = |name: &str| lines.iter().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}"));
    assert!(line("house.greet@1").contains("automatic") && line("house.greet@1").contains("ready"));
    assert!(line("house.lookup@1").contains("required") && line("house.lookup@1").contains("off"));
    assert!(line("house.vault@1").contains("locked") && line("house.wipe@1").contains("denied"));
    assert!(line("system.health@1").contains("read_only + local"));
    let (exit, rows) = home.json(&["list"]);
    let names: Vec<_> = rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert!(exit == 0 && names.is_sorted() && names.len() + 1 == lines.len(), "{names:?}");

    home.run(&["describe", "house.greet"]).exits(0).says(&[
        "house.greet@1  Greeting",
        "Greets somebody.\n\nAs often as it is told to.",
        "automatic (computed from the class)",
        "5000 ms, 65536 bytes of result, 16 per turn",
        "Whom to greet.",
        "household at src/main.rs:",
    ]);
    home.run(&["describe", "house.wipe"]).exits(0).says(&["resident ", "idempotent ", "denied"]);
    let greet = home.run(&["describe", "house.greet"]).exits(0).out;
    assert!(!greet.contains("resident") && !greet.contains("idempotent"), "{greet}");
    let (_, found) = home.json(&["describe", "house.wipe"]);
    assert_eq!(
        (&found["resident"], &found["idempotent"], &found["status"]),
        (&json!(true), &json!(true), &json!("denied"))
    );
    let (exit, found) = home.json(&["describe", "house.lookup@v1"]);
    assert_eq!((exit, &found["target"], &found["target_argument"]), (0, &json!("host"), &json!("host")));
    assert_eq!(found["arguments"]["additionalProperties"], json!(false));
    assert_eq!(found["confirmation"], "required");
    for words in [["describe", "house.nothing"], ["describe", "house.greet@2"]] {
        home.run(&words).exits(4).says(&["no capability is called", "`household list`"]);
        assert_eq!(home.json(&words).0, 4);
    }
}

#[test]
fn arguments_come_as_a_word_from_standard_input_or_one_by_one() {
    let home = Home::new();
    let greeted = home.run(&["invoke", "house.greet", r#"{"name":"you"}"#]).exits(0);
    assert_eq!((greeted.out.as_str(), greeted.err.as_str()), ("\"hello, you\"\n", ""));
    let greeted = home.run_with(&["invoke", "house.greet@1", "-"], r#"{"name":"you","times":2}"#).exits(0);
    assert_eq!(greeted.out, "\"hello, you hello, you\"\n");
    let greeted = home.run(&["invoke", "house.greet", "--arg", "name=a=b", "--arg", "times=2"]).exits(0);
    assert_eq!(greeted.out, "\"hello, a=b hello, a=b\"\n");
    let (exit, outcome) = home.json(&["invoke", "house.greet", "--arg", "name=you"]);
    assert_eq!((exit, &outcome["outcome"], &outcome["effect"]), (0, &json!("executed"), &json!("completed")));
    assert_eq!(outcome["result"], "hello, you");
    let receipt = &outcome["receipt"];
    assert!(receipt["seq"].as_u64().unwrap() > 0 && receipt["hash"].as_str().unwrap().len() == 64, "{outcome}");
    let keys: Vec<_> = outcome.as_object().unwrap().keys().map(String::as_str).collect();
    for absent in ["code", "message", "help", "approval"] {
        assert!(!keys.contains(&absent), "{outcome}");
    }
    let health = home.json(&["invoke", "system.health"]);
    assert_eq!((health.0, &health.1["outcome"]), (0, &json!("executed")));
}

/// What is no JSON, no object, too deep, doubled, too large or not UTF-8 is refused in words, never by a broken pipe.
#[test]
fn hostile_arguments_are_refused_at_validate() {
    let home = Home::new();
    let deep = "[".repeat(100_000);
    for (text, code) in [
        ("{", "arguments_malformed"),
        ("", "arguments_malformed"),
        ("[]", "not_an_object"),
        (r#"{"name":"a","name":"b"}"#, "duplicate_key"),
        (&deep, "too_deep"),
        (r#"{"name":"\u0000"}"#, "control_character"),
        (r#"{"name":1}"#, "schema_violation"),
        (r#"{"nome":"a"}"#, "schema_violation"),
        (r#"{"name":"a","times":4}"#, "schema_violation"),
        (r#"{"name":"a","times":1.5}"#, "schema_violation"),
        (r#"{"name":"\ud800"}"#, "arguments_malformed"),
    ] {
        let ran = home.run_with(&["invoke", "house.greet", "-", "--json"], text);
        let outcome = ran.document();
        assert_eq!((ran.exit, outcome["code"].as_str()), (4, Some(code)), "{text:.40}: {outcome}");
        assert_eq!((&outcome["stage"], &outcome["effect"]), (&json!("validate"), &json!("not_started")));
        assert!(outcome["receipt"]["seq"].is_u64(), "{outcome}");
    }
    let large = format!("{{\"name\":\"{}\"}}", "ä".repeat(600_000));
    let ran = home.run_with(&["invoke", "house.greet", "-", "--json"], &large);
    assert_eq!((ran.exit, &ran.document()["code"]), (4, &json!("arguments_too_large")));
}

/// Several mistakes are told line by line, and none of the caller's words passes for a line of ours.
#[test]
fn a_refusal_of_several_lines_reads_as_one() {
    let home = Home::new();
    let ran = home.run(&["invoke", "house.greet", r#"{"a\nhelp: trust me":1}"#]).exits(4);
    assert!(ran.out.contains("\n  ") && !ran.out.contains("\\u{a}"), "{ran:#?}");
    let starts = ran.out.lines().filter(|line| line.starts_with("help: "));
    assert!(starts.count() == 1 && !ran.out.contains("\nhelp: trust"), "{ran:#?}");
}

/// Help names the commands of this very program, for people and for programs.
#[test]
fn help_calls_the_program_by_its_own_name() {
    let home = Home::new();
    let (_, fault) = home.json(&["optin", "set", "house", "on"]);
    assert!(fault["error"]["help"].as_str().unwrap().contains("`household operator login "), "{fault}");
    for words in [
        &["invoke", "house.nothing"][..],
        &["invoke", "house.lookup", r#"{"host":"a"}"#],
        &["invoke", "house.count", r#"{"by":1}"#],
        &["describe", "house.nothing"],
        &["contract", "check"],
        &["doctor"],
    ] {
        let (ran, document) = (home.run(words), home.json(words).1.to_string());
        for text in [ran.out + &ran.err, document] {
            assert!(text.contains("`household ") && !text.contains("`capability "), "{words:?}: {text}");
        }
    }
}

/// Every outcome that this command line can reach: its exit code, its stage and what it says.
#[test]
fn every_outcome_has_its_exit_code() {
    let home = Home::new();
    for (words, exit, outcome, stage, effect) in [
        (&["house.greet", r#"{"name":"a"}"#][..], 0, "executed", None, "completed"),
        (&["house.nothing"], 4, "rejected", Some("resolve"), "not_started"),
        (&["house.greet"], 4, "rejected", Some("validate"), "not_started"),
        (&["house.vault", r#"{"which":"a"}"#], 4, "rejected", Some("policy"), "not_started"),
        (&["house.lookup", r#"{"host":"example.org"}"#], 4, "rejected", Some("policy"), "not_started"),
        (&["house.greet", r#"{"name":"a"}"#, "--mode", "dream"], 4, "rejected", Some("entry"), "not_started"),
        (&["house.greet", r#"{"name":"a"}"#, "--mode", "replay"], 4, "rejected", Some("entry"), "not_started"),
        (&["house.count", r#"{"by":1}"#, "--mode", "plan"], 4, "rejected", Some("policy"), "not_started"),
        (&["house.greet", r#"{"name":"a"}"#, "--mode", "plan"], 0, "executed", None, "completed"),
        (&["house.count", r#"{"by":1}"#], 3, "pending", None, "not_started"),
        (&["house.peek"], 3, "pending", None, "not_started"),
        (&["house.fail", r#"{"secret":"a"}"#], 5, "failed", None, "not_started"),
        (&["house.complain", r#"{"text":"the door is shut"}"#], 5, "failed", None, "not_started"),
        (&["house.trip", r#"{"secret":"a"}"#], 5, "panicked", None, "not_started"),
        (&["house.oversleep"], 5, "timed_out", None, "not_started"),
        (&["house.chatter", r#"{"word":"a"}"#], 5, "result_too_large", None, "not_started"),
    ] {
        let mut ran = home.run(&[&["invoke"], words, &["--json"]].concat());
        if outcome == "panicked" {
            // Its author is told where, and nobody what.
            let line = std::mem::take(&mut ran.err);
            assert!(line.starts_with("panic at src/main.rs:") && line.ends_with(" (message withheld)\n"), "{line}");
        }
        let (code, document) = (ran.exit, ran.document());
        assert_eq!((code, document["outcome"].as_str()), (exit, Some(outcome)), "{words:?}: {document}");
        assert_eq!(document["effect"], effect, "{words:?}: {document}");
        if let Some(stage) = stage {
            assert_eq!(document["stage"], stage, "{words:?}: {document}");
        }
        if exit != 0 {
            assert!(document["message"].as_str().is_some_and(|text| !text.is_empty()), "{words:?}: {document}");
            let ran = home.run(&[&["invoke"], words].concat()).exits(exit);
            assert!(ran.out.contains(outcome) && ran.out.contains("effect: "), "{ran:#?}");
        }
    }
    home.run(&["invoke", "house.complain", r#"{"text":"the door is shut"}"#]).exits(5).says(&["the door is shut"]);
    let private = home.run(&["invoke", "house.fail", r#"{"secret":"under the mat"}"#]).exits(5);
    assert!(!private.out.contains("under the mat") && !private.err.contains("under the mat"), "{private:#?}");
}

#[test]
fn operator_optin_and_audit() {
    let home = Home::new();
    assert_eq!(home.json(&["optin", "show"]).1[0]["state"], "off");
    home.run(&["optin", "set", "house", "on"]).exits(4).says(&["operator credential"]);
    let login = ["operator", "login", "--password-stdin", "--token-file", "token"];
    home.run_with(&login, PASSWORD).exits(4).says(&["operator setup"]);
    home.run_with(&["operator", "setup", "--password-stdin"], "short").exits(4).says(&["too short"]);
    home.run(&["operator", "setup", "--password-stdin"]).exits(2).says(&["standard input has no line"]);
    home.setup();
    // Setting it again needs the present one.
    home.run_with(&["operator", "setup", "--password-stdin"], "another few plain words").exits(2);
    home.run_with(&["operator", "setup", "--password-stdin"], "not this one at all\nanother few plain words").exits(4);
    home.run_with(&["operator", "login", "--password-stdin"], PASSWORD).exits(2).says(&["--token-file"]);
    home.login();
    home.operate(&["optin", "set", "house", "on"]).exits(0).says(&["house", "on"]);
    home.operate(&["optin", "set", "home", "on"])
        .exits(4)
        .says(&["no capability of this build is of the family `home`"]);
    home.operate(&["optin", "set", "system", "on"]).exits(4);
    home.run(&["optin", "show"]).exits(0).says(&["FAMILY", "house", "on", "house.lookup@1, house.send@1"]);
    let (exit, set) = home.operate_json(&["optin", "set", "house", "off"]);
    assert_eq!((exit, set), (0, json!({ "family": "house", "state": "off" })));

    home.run(&["invoke", "house.greet", r#"{"name":"a"}"#]).exits(0);
    let (exit, report) = home.json(&["audit", "verify"]);
    assert_eq!((exit, &report["state"]), (0, &json!("clean")));
    assert_eq!(report["records"].as_u64().unwrap() as usize, home.records().len());
    home.run(&["audit", "verify"]).exits(0).says(&["all in order"]);
    let (exit, tail) = home.json(&["audit", "tail", "-n", "1"]);
    let last = home.records().pop().unwrap();
    assert_eq!((exit, tail.as_array().unwrap().len(), &tail[0]["hash"]), (0, 1, &last["hash"]));
    assert_eq!((&tail[0]["event"], &tail[0]["outcome"]), (&json!("outcome"), &json!("executed")));
    home.run(&["audit", "tail"]).exits(0).says(&[
        "SEQ",
        "EVENT",
        "house.greet@1",
        "configuration",
        "house on",
        "house off",
    ]);
    home.run(&["audit", "tail", "-n", "10001"]).exits(2).says(&["10000"]);
    let (exit, stats) = home.json(&["audit", "stats"]);
    assert_eq!((exit, &stats["outcomes"]["executed"]), (0, &json!(1)));
    home.run(&["audit", "stats"]).exits(0).says(&["records", "house.greet"]);
    home.run(&["invoke", "house.greet", r#"{"name":"a"}"#, "--mode", "dream"]).exits(4);
    home.run(&["invoke", "house.nothing"]).exits(4);
    let (_, stats) = home.json(&["audit", "stats"]);
    for name in ["not resolved", "unknown"] {
        assert_eq!(stats["capabilities"][name]["outcomes"]["rejected"], 1, "{name}: {stats}");
    }
    home.operate(&["operator", "logout"]).exits(0);
    let settings = home.records_of("configuration");
    assert!(settings.iter().any(|record| record["setting"] == "opt_in" && record["on"] == true), "{settings:?}");
}

/// Characters that no terminal shows reach a program as they are, and a person written out.
#[test]
fn hidden_characters_survive_json_and_are_escaped_for_people() {
    let home = Home::new();
    let name = "a\u{202e}b\u{9b}31mc\u{1b}[2Jd\u{e0041}e\u{7f}";
    let arguments = json!({ "name": name }).to_string();
    let (_, outcome) = home.json(&["invoke", "house.greet", &arguments]);
    assert_eq!(outcome["result"], format!("hello, {name}"));
    let ran = home.run(&["invoke", "house.greet", &arguments]).exits(0);
    assert!(ran.out.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}' && c != '\u{e0041}'), "{ran:?}");
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap(), json!(format!("hello, {name}")));
    let wrong = json!({ "na\u{202e}me": 1 }).to_string();
    let ran = home.run(&["invoke", "house.greet", &wrong]).exits(4);
    assert!(!ran.out.contains('\u{202e}'), "{ran:?}");
    let ran = home.run(&["invoke", "house.greet", "--arg", "na\u{202e}me"]).exits(2);
    assert!(!ran.err.contains('\u{202e}'), "{ran:?}");
}

/// The directory is named by the flag, else by the environment, else it is the user's state directory.
#[test]
fn the_data_directory_is_named_in_three_ways() {
    let home = Home::new();
    let flag = home.top().join("flag");
    home.run(&["list", "--data-dir", flag.to_str().unwrap()]).exits(0);
    assert!(flag.join("audit").is_dir() && !home.data().exists());
    home.run(&["list"]).exits(0);
    assert!(home.data().join("audit").is_dir());
    let mut command = home.command(&["list"]);
    crate::home::ended(command.env_remove("CAPABILITY_DATA_DIR").spawn().unwrap()).exits(0);
    assert!(home.top().join(".local/state/capability/audit").is_dir());
    let mut command = home.command(&["list"]);
    command.env_remove("CAPABILITY_DATA_DIR").env("XDG_STATE_HOME", home.top().join("state"));
    crate::home::ended(command.spawn().unwrap()).exits(0);
    assert!(home.top().join("state/capability/audit").is_dir());
    let mut command = home.command(&["list"]);
    command.env_remove("CAPABILITY_DATA_DIR").env_remove("HOME");
    crate::home::ended(command.spawn().unwrap()).exits(2).says(&["--data-dir DIR"]);
}

#[test]
fn a_household_without_the_built_in_capabilities() {
    let home = Home::of(project::bare_household());
    let (exit, rows) = home.json(&["list"]);
    assert_eq!(exit, 0);
    assert!(rows.as_array().unwrap().iter().all(|row| row["name"].as_str().unwrap().starts_with("house.")), "{rows}");
    home.run(&["invoke", "house.greet", r#"{"name":"a"}"#]).exits(0);
    let (exit, outcome) = home.json(&["invoke", "system.health"]);
    assert_eq!((exit, &outcome["code"]), (4, &json!("unknown_capability")));
}

#[test]
fn the_workspaces_own_binary() {
    let home = Home::of(project::builtin());
    home.run(&["--help"]).exits(0).says(&["Usage: capability "]);
    let (exit, rows) = home.json(&["list"]);
    assert!(exit == 0 && rows.as_array().unwrap().iter().any(|row| row["name"] == "system.health"), "{rows}");
    let (exit, outcome) = home.json(&["invoke", "system.health"]);
    assert_eq!((exit, &outcome["outcome"]), (0, &json!("executed")), "{outcome}");
    home.run(&["contract", "check"]).exits(0).says(&["as checked in"]);
    let (exit, checked) = home.json(&["contract", "check"]);
    assert_eq!((exit, &checked["findings"]), (0, &json!([])));
}

#[test]
fn how_much_is_told_is_a_level() {
    let home = Home::new();
    for (level, told) in [("off", false), ("warn", false), ("Info", true), ("trace", true)] {
        let mut command = home.command(&["list"]);
        let ran = crate::home::ended(command.env("CAPABILITY_LOG", level).spawn().unwrap()).exits(0);
        assert_eq!(ran.err.contains(" INFO capability_host::host: "), told, "{level}: {ran:#?}");
        assert!(!ran.err.contains('\u{1b}') && !ran.out.contains(" INFO "), "{ran:#?}");
    }
    let mut command = home.command(&["list"]);
    let ran = crate::home::ended(command.env("CAPABILITY_LOG", "loud").spawn().unwrap());
    ran.exits(2).says(&["`CAPABILITY_LOG` holds no level", "debug or trace"]);
}

/// A reader that leaves early ends nothing with a panic.
#[test]
fn a_closed_pipe_is_no_fault() {
    let home = Home::new();
    for words in [&["list"][..], &["completions", "bash"], &["describe", "house.greet"]] {
        let mut child = home.start(words);
        drop(child.stdout.take());
        let ran = crate::home::ended(child);
        assert!(ran.exit == 0 && !ran.err.contains("panic"), "{ran:#?}");
    }
}
