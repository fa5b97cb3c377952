//! The self-check, and logs and switches that somebody damaged.

use std::fs;

use serde_json::json;

use crate::home::{Home, files_below};

#[test]
fn every_probe_says_how_it_stands_and_what_to_do() {
    let home = Home::new();
    let (exit, probes) = home.json(&["doctor"]);
    assert_eq!(exit, 0, "{probes}");
    let names: Vec<_> = probes.as_array().unwrap().iter().map(|probe| probe["name"].as_str().unwrap()).collect();
    let all = [
        "data directory",
        "registry",
        "contracts",
        "stores",
        "audit log",
        "operator credential",
        "external families",
        "policy",
        "bindings",
        "secrets",
        "approval centre",
        "channels",
        "sandbox: Landlock on files",
        "sandbox: Landlock on signals and abstract sockets",
        "sandbox: a user of its own",
        "sandbox: a bound on threads",
        "sandbox: the kernel's timer",
        "sandbox: an empty network namespace",
        "sandbox: an IPC namespace of its own",
        "sandbox: an empty tree of files",
        "sandbox: ways out",
    ];
    assert_eq!(names, all);
    for probe in probes.as_array().unwrap() {
        assert!(probe["state"] == "ok" || probe["help"].as_str().is_some_and(|help| !help.is_empty()), "{probe}");
    }
    let state =
        |name: &str| probes.as_array().unwrap().iter().find(|probe| probe["name"] == name).unwrap()["state"].clone();
    assert_eq!(
        (state("operator credential"), state("sandbox: Landlock on files"), state("stores")),
        (json!("weak"), json!("ok"), json!("ok"))
    );
    home.run(&["doctor"]).exits(0).says(&all).says(&["operator setup", "holds in every worker"]);
    let ran = home.run(&["doctor"]).exits(0);
    let names = ran.out.lines().map(|line| line.get(..8).unwrap_or_default().trim());
    assert!(names.into_iter().all(|state| ["ok", "weak", ""].contains(&state)), "{}", ran.out);
    home.setup();
    home.run(&["doctor"]).exits(0).says(&["a password is set"]);
}

#[test]
fn a_report_is_dated_and_never_overwritten() {
    let home = Home::new();
    home.run(&["doctor", "--report", "reports"]).exits(0).says(&["report: reports/"]);
    assert_eq!(home.json(&["doctor", "--report", "reports"]).0, 0);
    let mut names: Vec<_> = files_below(&home.top().join("reports"))
        .into_iter()
        .filter(|(path, _)| path.is_file())
        .map(|(path, _)| path)
        .collect();
    names.sort();
    let ends = |at: usize, end: &str| names[at].to_str().unwrap().ends_with(end);
    assert!(names.len() == 2 && ends(0, "-doctor-2.md") && ends(1, "-doctor.md"), "{names:?}");
    let date = home.records().first().map(|record| record["at"].as_str().unwrap()[..10].to_owned());
    let text = fs::read_to_string(&names[1]).unwrap();
    assert!(text.starts_with("# Self-check, 2") && text.contains("| audit log | ok |"), "{text}");
    let tables: Vec<_> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(tables.len() > 100 && tables.iter().all(|line| line.ends_with(" |") || line.ends_with("|---|")), "{text}");
    assert!(text.contains("\n## sandbox: ways out\n"), "every way out is in the report: {text}");
    assert!(date.is_none_or(|date| text.contains(&date)), "{text}");
    home.run(&["doctor", "--report"]).exits(0).says(&["docs/research/"]);
    fs::write(home.top().join("file"), "").unwrap();
    home.run(&["doctor", "--report", "file"]).exits(2).says(&["--report DIR"]);
}

#[test]
fn a_damaged_switch_counts_as_off_and_is_reported() {
    let home = Home::with_operator();
    home.operate(&["optin", "set", "house", "on"]).exits(0);
    fs::write(home.data().join("optin/house"), "on").unwrap();
    home.run(&["doctor"]).exits(6).says(&["failed", "the switch of `house` cannot be read", "optin set house on|off`"]);
    home.run(&["optin", "show"]).exits(0).says(&["damaged"]);
    let (exit, outcome) = home.json(&["invoke", "house.send", r#"{"to":"a","text":"b"}"#]);
    assert_eq!((exit, &outcome["code"]), (4, &json!("opt_in_damaged")));
    assert!(outcome["help"].as_str().unwrap().contains("optin set house on|off`"), "{outcome}");
    home.operate(&["optin", "set", "house", "on"]).exits(0);
    assert_eq!(home.json(&["invoke", "house.send", r#"{"to":"a","text":"b"}"#]).0, 3);
}

fn used_home() -> Home {
    let home = Home::new();
    for name in ["a", "b", "c"] {
        home.run(&["invoke", "house.greet", &json!({ "name": name }).to_string()]).exits(0);
    }
    home
}

#[test]
fn one_changed_bit_is_found_wherever_it_is() {
    let home = used_home();
    let clean = fs::read(home.log()).unwrap();
    let break_at = clean.iter().position(|byte| *byte == b'\n').unwrap();
    for at in [0, 20, break_at - 1, break_at, break_at + 40, clean.len() / 2, clean.len() - 2, clean.len() - 1] {
        let mut bytes = clean.clone();
        bytes[at] ^= 1;
        fs::write(home.log(), &bytes).unwrap();
        home.run(&["audit", "verify"]).exits(1).says(&["line "]);
        let (exit, report) = home.json(&["audit", "verify"]);
        assert_eq!((exit, &report["state"]), (1, &json!("tampered")), "{at}: {report}");
        for words in [&["list"][..], &["invoke", "house.greet", r#"{"name":"a"}"#], &["serve"]] {
            home.run(words).exits(6).says(&["the audit log was changed", "line ", "evidence"]);
        }
        home.run(&["doctor"]).exits(6).says(&["failed", "the audit log was changed"]);
        assert_eq!(home.json(&["doctor"]).1[0]["state"], "failed");
        assert_eq!(fs::read(home.log()).unwrap(), bytes, "evidence stays as it is");
    }
    // Cut at a line break: the chain holds and the checkpoint does not.
    fs::write(home.log(), &clean[..=break_at]).unwrap();
    home.run(&["audit", "verify"]).exits(1);
    home.run(&["list"]).exits(6);
    fs::write(home.log(), &clean).unwrap();
    home.run(&["audit", "verify"]).exits(0);
    fs::remove_file(home.data().join("audit/checkpoint")).unwrap();
    home.run(&["audit", "verify"]).exits(1).says(&["checkpoint"]);
    home.run(&["list"]).exits(6).says(&["checkpoint"]);
}

#[test]
fn a_torn_tail_is_cut_off_on_record() {
    let home = used_home();
    let clean = fs::read(home.log()).unwrap();
    let torn = [&clean[..], br#"{"seq":99,"prev":"00"#].concat();
    fs::write(home.log(), &torn).unwrap();
    let (exit, report) = home.json(&["audit", "verify"]);
    assert_eq!((exit, &report["state"]), (2, &json!("torn")), "{report}");
    home.run(&["audit", "tail", "-n", "1"]).exits(0);
    home.run(&["invoke", "house.greet", r#"{"name":"a"}"#]).exits(0);
    assert!(fs::read(home.log()).unwrap().starts_with(&clean));
    let recovery = home.records_of("recovery");
    assert_eq!((recovery.len(), &recovery[0]["kind"]), (1, &json!("torn_tail")));
    home.run(&["audit", "verify"]).exits(0);
}

#[test]
fn a_log_is_read_without_a_host_and_makes_none() {
    let home = Home::new();
    for words in [["audit", "tail"], ["audit", "verify"], ["audit", "stats"]] {
        home.run(&words).exits(6).says(&["--data-dir DIR"]);
        assert_eq!(home.json(&words).0, 6);
    }
    assert!(!home.data().exists());
}
