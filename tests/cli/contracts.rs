//! Checked-in contracts of an author's own project, and the packages a binary invites.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::home::{Home, Ran, ended};
use crate::project::Project;

const KEEPER: &str = r#"//! Keeps the house.

use capability_core::capability;

/// Waters the plants.
#[capability(name = "garden.water", version = 1, side_effect = mutating, network = local)]
fn water(
    /// How much, in litres.
    litres: u32,
) -> u32 {
    litres as u32
}

/// Counts the plants.
#[capability(name = "garden.count", version = 1, side_effect = read_only, network = local)]
fn count() -> u32 {
    7
}

capability_host::main!();
"#;

/// A program started in a directory of its own choice.
fn run_in(directory: &Path, home: &Home, program: &Path, words: &[&str]) -> Ran {
    let mut command = Command::new(program);
    command.args(words).current_dir(directory).env_clear().env("CAPABILITY_DATA_DIR", home.data());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ended(command.spawn().unwrap())
}

#[test]
fn a_contract_changes_with_its_version_or_not_at_all() {
    let project = Project::new("keeper", "", "");
    project.write("src/main.rs", KEEPER);
    let first = project.build();
    let home = Home::of(&first);
    let run = |program: &PathBuf, words: &[&str]| run_in(project.root(), &home, program, words);

    run(&first, &["contract", "check"])
        .exits(4)
        .says(&["`keeper` has capabilities and no contract list", "contract update"]);
    run(&first, &["list"]).exits(0);
    // From anywhere else it would write somewhere else.
    run_in(home.top(), &home, &first, &["contract", "update"]).exits(2).says(&["--file FILE"]);
    assert!(!home.top().join("contracts.lock").exists());
    run(&first, &["contract", "update", "--package", "nobody"]).exits(2).says(&["keeper"]);
    // Written once or twice: as long as no binary carries the list, its author is told so.
    for _ in 0..2 {
        run(&first, &["contract", "update"]).exits(0).says(&[
            "2 contracts written to contracts.lock",
            "does not carry the list",
            "capability_core::contracts!(\"../contracts.lock\");",
        ]);
    }
    let written = run(&first, &["contract", "update", "--json"]).exits(0).document();
    assert!(written["carried"] == false && written["help"].as_str().unwrap().contains("contracts!"), "{written}");
    let lock = project.read("contracts.lock");
    assert!(
        lock.contains("garden.count@1 read_only local") && lock.contains("garden.water@1 mutating local"),
        "{lock}"
    );

    let listed = format!("{KEEPER}capability_core::contracts!(\"../contracts.lock\");\n");
    project.write("src/main.rs", &listed);
    let second = project.build();
    run(&second, &["contract", "check"]).exits(0).says(&["as checked in"]);
    let checked = run(&second, &["contract", "check", "--json"]).exits(0).document();
    // Its own two, and the built-in ones.
    let built_in = include_str!("../../capabilities/contracts.lock").lines().filter(|line| line.contains('@')).count();
    let all = (2 + built_in) as u64;
    assert_eq!((&checked["findings"], checked["checked"].as_u64()), (&Value::Array(Vec::new()), Some(all)));
    run(&second, &["doctor"]).exits(0).says(&["every schema is as checked in"]);
    let updated = run(&second, &["contract", "update"]).exits(0);
    assert!(!updated.out.contains("contracts!"), "{updated:#?}");
    assert_eq!(project.read("contracts.lock"), lock, "an update without a change changes nothing");

    // Another argument type under the same version: visible to the check, and not overwritten by mistake.
    let changed = listed.replace("litres: u32", "litres: u64");
    project.write("src/main.rs", &changed);
    let third = project.build();
    run(&third, &["contract", "check"]).exits(4).says(&["garden.water@1", "argument", "schema", "help: "]);
    let found = run(&third, &["contract", "check", "--json"]).exits(4).document();
    assert!(found["findings"][0].as_str().unwrap().contains("garden.water@1"), "{found}");
    run(&third, &["contract", "update"]).exits(4).says(&["garden.water@1", "`keeper contract update --force`"]);
    assert_eq!(project.read("contracts.lock"), lock);
    run(&third, &["doctor"]).exits(6).says(&["garden.water@1"]);

    // Another class: the binary does not even start.
    let reclassed = listed.replace("side_effect = mutating", "side_effect = read_only");
    project.write("src/main.rs", &reclassed);
    let fourth = project.build();
    for words in [&["list"][..], &["invoke", "garden.count"], &["serve"]] {
        run(&fourth, words).exits(6).says(&["`keeper` is not what its contract list says", "garden.water@1"]);
    }
    run(&fourth, &["contract", "check"]).exits(4).says(&["garden.water@1"]);
    run(&fourth, &["contract", "update"]).exits(4);

    // A new version is a new contract.
    let versioned = changed.replacen("version = 1", "version = 2", 1);
    project.write("src/main.rs", &versioned);
    let fifth = project.build();
    run(&fifth, &["list"]).exits(6).says(&["garden.water@"]);
    run(&fifth, &["contract", "update"]).exits(0);
    let sixth = project.build();
    run(&sixth, &["contract", "check"]).exits(0);
    let outcome = run(&sixth, &["invoke", "garden.water@1", r#"{"litres":1}"#, "--json"]).exits(4).document();
    assert_eq!(outcome["code"], "unknown_capability", "an old proposal is never reinterpreted");
}

#[test]
fn an_uninvited_package_keeps_the_host_from_starting() {
    let project = Project::new("visited", ", default-features = false", "guest = { path = \"guest\" }\n");
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/capability-core");
    project.write(
        "guest/Cargo.toml",
        &format!(
            "[package]\nname = \"guest\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
             capability-core = {{ path = \"{core}\" }}\n"
        ),
    );
    project.write(
        "guest/src/lib.rs",
        "//! A guest.\n\n/// Knocks.\n#[capability_core::capability(name = \"guest.knock\", version = 1, \
         side_effect = read_only, network = local)]\npub fn knock() -> bool {\n    true\n}\n",
    );
    project.write("src/main.rs", "//! A house with a guest.\n\nuse guest as _;\n\ncapability_host::main!();\n");
    let home = Home::of(&project.build());
    let line = "capability_host::main!(packages: [\"guest\"]);";
    for words in [&["list"][..], &["invoke", "guest.knock"], &["contract", "check"]] {
        home.run(words).exits(6).says(&["`guest.knock@1`", "does not list", line]);
    }
    let (exit, document) = home.json(&["list"]);
    assert!(exit == 6 && document["error"]["help"].as_str().unwrap().contains(line), "{document}");

    project.write("src/main.rs", &format!("//! A house with a guest.\n\nuse guest as _;\n\n{line}\n"));
    let home = Home::of(&project.build());
    assert_eq!(home.json(&["invoke", "guest.knock"]).1["result"], true);
}
