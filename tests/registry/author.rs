//! An author's own package, on the core alone: what the linker leaves of it, and what the lints say of it.

use std::fs;
use std::process::{Command, Output};

use crate::project::Project;

/// Two capabilities in a library, one of them in a module that nothing else names.
const LIBRARY: &str = r#"//! Words.

use capability_core::capability;

/// Counts the words of a text.
#[capability(name = "text.count_words", version = 1, side_effect = read_only, network = local)]
pub fn count_words(text: String) -> usize {
    text.split_whitespace().count()
}

mod deep {
    use capability_core::capability;

    /// The longest word of a text.
    #[capability(name = "text.longest_word", version = 1, side_effect = read_only, network = local)]
    async fn longest_word(text: String) -> Option<String> {
        text.split_whitespace().max_by_key(|word| word.len()).map(str::to_owned)
    }
}
"#;

/// A program that says what is linked into it, in a package that says what it holds.
const PROGRAM: &str = r#"
capability_core::contracts!("../../contracts.lock");

fn main() {
    match capability_core::Registry::collect(&["words"]) {
        Ok(registry) => registry.iter().for_each(|held| println!("{}", held.entry())),
        Err(fault) => {
            eprintln!("{fault}");
            std::process::exit(1);
        }
    }
}
"#;

/// One unit and one link step over everything, and what nothing refers to thrown away: what is registered has the least chance to
/// stay.
const FAT: [&str; 6] = [
    "--config",
    "profile.dev.lto='fat'",
    "--config",
    "profile.dev.codegen-units=1",
    "--config",
    "profile.dev.package.words.opt-level=1",
];

fn out(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// What a program names is in its registry however it is built. What it does not name is not there, and a package that says what
/// it holds does not start without it.
#[test]
fn a_registry_survives_the_linker_and_an_empty_one_is_told() {
    let project = Project::on_core("words");
    project.write("src/lib.rs", LIBRARY);
    let line = |name: &str| {
        let digest = "0".repeat(64);
        format!(
            "{name} read_only local timeout=5000ms max_result=65536B per_turn=16 arguments={digest} result={digest}\n"
        )
    };
    let list = format!("# Contracts.\n{}{}", line("text.count_words@1"), line("text.longest_word@1"));
    project.write("contracts.lock", &list);
    project.write("src/bin/words-named.rs", &format!("use words as _;\n{PROGRAM}"));
    project.write("src/bin/words-forgotten.rs", PROGRAM);
    let words: Vec<_> = ["build", "--quiet", "--offline"].into_iter().chain(FAT).collect();
    let (exit, _, said) = out(&project.cargo(&words));
    assert_eq!((exit, said.as_str()), (Some(0), ""));
    let run = |name: &str| out(&Command::new(project.built(name)).output().unwrap());
    assert_eq!(run("words-named"), (Some(0), "text.count_words@1\ntext.longest_word@1\n".to_owned(), String::new()));
    let (exit, said, why) = run("words-forgotten");
    assert_eq!((exit, said.as_str()), (Some(1), ""), "{why}");
    assert!(why.contains("text.count_words@1") && why.contains("\nhelp: "), "{why}");
}

/// The list of what a built-in does not reach by itself is a file that an author takes over, and then it holds for their
/// capabilities as well: what the attribute writes is in no way of it.
#[test]
fn a_body_that_reaches_out_by_itself_does_not_pass_the_lints() {
    let project = Project::on_core("linted");
    let lints = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/capabilities/clippy.toml")).unwrap();
    project.write("clippy.toml", &lints);
    let linted = |body: &str| {
        let library = LIBRARY.replace("    text.split_whitespace().count()\n", body);
        assert!(library.contains(body));
        project.write("src/lib.rs", &library);
        out(&project.cargo(&["clippy", "--quiet", "--offline", "--", "-D", "warnings"]))
    };
    for (body, what, handle) in [
        ("    std::fs::read(text).map_or(0, |bytes| bytes.len())\n", "std::fs::read", "take `&Workspace<Read>`"),
        ("    std::env::var(text).map_or(0, |value| value.len())\n", "std::env::var", "take `&Secret<..>`"),
        ("    std::process::Command::new(text).status().map_or(0, |_| 1)\n", "std::process::Command", "starts none"),
    ] {
        let (exit, _, said) = linted(body);
        assert!(exit != Some(0) && said.contains("error: use of a disallowed"), "{what}: {said}");
        assert!(said.contains(what) && said.contains(handle), "{what}: {said}");
    }
    // Nothing else about it is wrong.
    let (exit, _, said) = linted("    text.lines().count()\n");
    assert!(exit == Some(0) && !said.contains("disallowed"), "{said}");
}
