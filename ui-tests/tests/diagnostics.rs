//! Reads every expected error and holds it against the grammar: what is wrong with the thing in backticks, a colon and the
//! rule, a `help:` line, the exact token underlined, and one error for one mistake.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "helpers of tests: an expected error that cannot be read is a failed test"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Errors that the compiler words itself, about the author's own code: nothing of ours could say them better.
const COMPILERS_OWN: &[&str] = &[
    "future cannot be sent between threads safely",
    "implementation of `FnOnce` is not general enough",
    "mismatched types",
    "expected identifier, found keyword `type`",
];

/// One error of a `.stderr` file.
struct Reported {
    /// Without `error[..]: `.
    headline: String,
    /// Whether the second line is a help with text in backticks.
    help: bool,
    /// The lines behind the help, up to the place.
    table: Vec<String>,
    /// The source line and what is underlined in it.
    underlined: Option<(String, usize)>,
    text: String,
}

fn cases(below: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(below).expect("a folder of cases") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(cases(&path, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn fail() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fail")
}

fn read(path: &Path) -> Vec<Reported> {
    let text = fs::read_to_string(path).expect("a text");
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        let starts = line.starts_with("error") || line.starts_with("warning");
        if starts {
            blocks.push(Vec::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push(line);
        }
    }
    blocks.iter().map(|block| reported(block)).collect()
}

fn reported(block: &[&str]) -> Reported {
    let (_, headline) = block[0].split_once(": ").expect("a headline");
    let headline = headline.strip_prefix("evaluation panicked: ").unwrap_or(headline).to_owned();
    let place = block.iter().position(|line| line.trim_start().starts_with("--> ")).unwrap_or(block.len());
    let help = block.get(1).is_some_and(|line| {
        let line = line.trim_start();
        line.starts_with("help: ") && line.matches('`').count() >= 2
    });
    let table = block.iter().take(place).skip(2).map(|line| line.trim().to_owned()).collect();
    let source = block
        .iter()
        .position(|line| line.split_once(" | ").is_some_and(|(number, _)| number.trim().parse::<u32>().is_ok()));
    let underlined = source.map(|at| {
        let line = block[at].split_once(" | ").map_or("", |(_, line)| line).to_owned();
        let marks = block.get(at + 1).map_or(0, |line| line.matches(['^', '_']).count());
        (line, marks)
    });
    Reported { headline, help, table, underlined, text: block.join("\n") }
}

fn is_ours(error: &Reported) -> bool {
    !COMPILERS_OWN.contains(&error.headline.as_str())
}

#[test]
fn every_case_has_its_errors() {
    let missing: Vec<_> =
        cases(&fail(), "rs").into_iter().filter(|case| !case.with_extension("stderr").exists()).collect();
    assert!(missing.is_empty(), "no expected errors beside {missing:?}; see README.md");
    let stale: Vec<_> =
        cases(&fail(), "stderr").into_iter().filter(|case| !case.with_extension("rs").exists()).collect();
    assert!(stale.is_empty(), "no case beside {stale:?}");
}

#[test]
fn there_are_enough_cases() {
    assert!(cases(&fail(), "rs").len() >= 90);
    assert!(cases(&fail().with_file_name("pass"), "rs").len() >= 25);
}

/// One mistake, one error, and no warning on top of it.
#[test]
fn one_mistake_is_one_error() {
    let mut wrong = Vec::new();
    for path in cases(&fail(), "stderr") {
        let errors = read(&path);
        let several = path.file_stem().is_some_and(|stem| stem.to_string_lossy().contains("several"));
        if (errors.len() == 1) == several || errors.iter().any(|error| error.text.starts_with("warning")) {
            wrong.push(format!("{}: {}", path.display(), errors.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_error_follows_the_grammar() {
    let (mut ours, mut wrong) = (0, Vec::new());
    for path in cases(&fail(), "stderr") {
        for error in read(&path).iter() {
            ours += usize::from(is_ours(error));
            let mut faults = place_faults(error);
            if is_ours(error) {
                faults.extend(wording_faults(error));
            }
            for fault in faults {
                wrong.push(format!("{}: {fault}\n    {}", path.display(), error.headline));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ours >= 90, "{ours} errors of ours");
}

/// The compiler's own errors point into the author's code, too.
fn place_faults(error: &Reported) -> Vec<&'static str> {
    let whole = error
        .underlined
        .as_ref()
        .is_some_and(|(line, marks)| line.trim_start().starts_with("#[capability") && *marks >= line.trim().len());
    [
        (!error.text.contains("originates in"), "has a note about a macro"),
        (!error.text.contains("/rustc/"), "points into the standard library"),
        (error.underlined.is_some() && !whole, "underlines the whole attribute"),
    ]
    .into_iter()
    .filter_map(|(holds, fault)| (!holds).then_some(fault))
    .collect()
}

fn wording_faults(error: &Reported) -> Vec<&'static str> {
    let mut faults = Vec::new();
    let mut demand = |holds: bool, fault| {
        if !holds {
            faults.push(fault);
        }
    };
    let headline = &error.headline;
    let (wrong, rule) = headline.split_once(": ").unwrap_or((headline, ""));
    demand(headline.matches('`').count() >= 2, "names nothing in backticks");
    demand(!rule.is_empty(), "has no rule after a colon");
    demand(!rule.contains(": "), "has a second colon");
    demand(!wrong.starts_with(char::is_uppercase), "starts with an upper-case letter");
    demand(!headline.ends_with('.'), "ends with a full stop");
    demand(error.help, "has no `help:` line with text to write");
    let is_refusal = headline.contains("is computed from `side_effect` and `network`");
    demand(error.table.is_empty() || is_refusal, "has more than two lines");
    demand(!is_refusal || error.table.len() == 7, "is a refusal without its table");
    faults
}

/// `docs/errors.md` has an entry for every error.
#[test]
fn every_error_is_documented() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md")).expect("docs/errors.md");
    // An entry quotes the error as it is worded, with `..` where the author's own words stand.
    let quoted: Vec<Vec<&str>> = page
        .lines()
        .filter_map(|line| line.strip_prefix("> "))
        .map(|line| line.split("..").map(str::trim).filter(|part| !part.is_empty()).collect())
        .collect();
    let mut missing = std::collections::BTreeSet::new();
    for path in cases(&fail(), "stderr") {
        for error in read(&path).iter().filter(|error| is_ours(error)) {
            if !quoted.iter().any(|parts| matches(&error.headline, parts)) {
                missing.insert(error.headline.clone());
            }
        }
    }
    assert!(missing.is_empty(), "not in docs/errors.md:\n{}", missing.into_iter().collect::<Vec<_>>().join("\n"));
}

/// And no entry for an error that no longer exists.
#[test]
fn every_entry_is_an_error() {
    // Needs a package that does not depend on the framework; the macro's own tests cover it.
    let elsewhere = "`#[capability]` cannot find `capability-core`";
    let headlines: Vec<String> =
        cases(&fail(), "stderr").iter().flat_map(|path| read(path)).map(|error| error.headline).collect();
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors.md")).expect("docs/errors.md");
    let stale: Vec<_> = page
        .lines()
        .filter_map(|line| line.strip_prefix("> "))
        .filter(|entry| !entry.starts_with(elsewhere))
        .filter(|entry| {
            let parts: Vec<_> = entry.split("..").map(str::trim).filter(|part| !part.is_empty()).collect();
            !headlines.iter().any(|headline| matches(headline, &parts))
        })
        .collect();
    assert!(stale.is_empty(), "no case shows:\n{}", stale.join("\n"));
}

fn matches(headline: &str, parts: &[&str]) -> bool {
    let mut rest = headline;
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    !parts.is_empty()
}
