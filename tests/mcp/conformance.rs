//! The official conformance suites: which of their checks fail, one by one, is what the baselines say.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::clients::{fixture, installed, node, run};
use crate::http::Listening;
use crate::people;

/// The suite that knows the newer age.
pub const NEWER: &str = "@modelcontextprotocol/conformance";
/// The one that was released last.
pub const RELEASED: &str = "conformance-released";
/// What each of them finds to say, and why.
pub const BASELINES: [(&str, &str); 2] = [(NEWER, "baseline-2026-07-28.yml"), (RELEASED, "baseline-2025-11-25.yml")];

/// A suite, to be told what to run.
pub fn suite(package: &str) -> Command {
    let mut command = node();
    command.arg(installed(&format!("mcp-node/node_modules/{package}/dist/index.js")));
    command
}

/// Every `checks.json` below a folder, with the folder that it lies in.
fn written(folder: &Path, found: &mut Vec<(PathBuf, Value)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            written(&entry, found);
        } else if entry.ends_with("checks.json") {
            let checks = std::fs::read_to_string(&entry).unwrap();
            found.push((folder.to_owned(), serde_json::from_str(&checks).unwrap()));
        }
    }
}

/// The scenarios of a run, and its checks that failed or warn, as `scenario:check`, each as often as it did.
fn failed(half: &str, results: &Path) -> (BTreeSet<String>, Vec<String>) {
    let (mut found, mut scenarios, mut failed) = (Vec::new(), BTreeSet::new(), Vec::new());
    written(results, &mut found);
    for (folder, checks) in found {
        let folder = folder.strip_prefix(results).unwrap().to_str().unwrap();
        let folder = if half == "server" { folder.strip_prefix("server-").unwrap() } else { folder };
        let scenario = &folder[..folder.len() - "-2026-07-28T00-00-00-000Z".len()];
        for check in checks.as_array().unwrap() {
            if ["FAILURE", "WARNING"].contains(&check["status"].as_str().unwrap()) {
                failed.push(format!("{scenario}:{}", check["id"].as_str().unwrap()));
            }
        }
        assert!(scenarios.insert(scenario.to_owned()), "{scenario} ran twice");
    }
    failed.sort();
    (scenarios, failed)
}

/// What a baseline names for one half, and the lines that it is said in.
fn baseline(package: &str, half: &str) -> Vec<String> {
    let (_, name) = BASELINES.iter().find(|(of, _)| *of == package).unwrap();
    let text = std::fs::read_to_string(fixture(name)).unwrap();
    let mut named: Vec<String> = Vec::new();
    let mut within = false;
    for line in text.lines() {
        match line.strip_prefix("  - ") {
            Some(entry) if within => named.push(entry.to_owned()),
            Some(_) => {}
            None if line.ends_with(':') && !line.starts_with([' ', '#']) => within = line == format!("{half}:"),
            None => {}
        }
    }
    named.sort();
    named
}

/// What is in one of them more often than in the other.
fn beyond(these: &[String], those: &[String]) -> Vec<String> {
    let mut rest = those.to_vec();
    let known = |one: &&String| match rest.iter().position(|other| other == *one) {
        Some(at) => {
            rest.remove(at);
            false
        }
        None => true,
    };
    these.iter().filter(known).cloned().collect()
}

/// Runs one half of a suite: every check that fails is named in its baseline, and every one that is named fails.
pub fn conforms(package: &str, half: &str, words: &[&str], command: &mut Command) {
    let results = tempfile::tempdir().unwrap();
    let ran = run(command.args(words).arg("--output-dir").arg(results.path()));
    let (scenarios, failed) = failed(half, results.path());
    // A scenario that broke off has no results.
    let summed: BTreeSet<String> = ran
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("✓ ").or_else(|| line.strip_prefix("✗ "))?.split_once(": "))
        .map(|(scenario, _)| scenario.to_owned())
        .collect();
    assert!(!summed.is_empty() && summed == scenarios, "{summed:?}\n{scenarios:?}\n{}\n{}", ran.out, ran.err);
    let named = baseline(package, half);
    let (more, less) = (beyond(&failed, &named), beyond(&named, &failed));
    assert!(
        more.is_empty() && less.is_empty(),
        "the {half} half of {package}\nfails and is not named: {more:#?}\nis named and does not fail: {less:#?}\n{}\n{}",
        ran.out,
        ran.err
    );
}

/// Brings a token along for those who have no word for one.
struct Proxy {
    child: Child,
    port: u16,
}

impl Proxy {
    fn start(to: u16, token_file: &str) -> Self {
        let mut child = node()
            .arg(fixture("token_proxy.mjs"))
            .args([&to.to_string(), token_file])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap() }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serves(package: &str, words: &[&str]) {
    let host = Listening::suite();
    let file = people::client(&host.home, "suite", "anna");
    let proxy = Proxy::start(host.port, &file);
    let url = format!("http://127.0.0.1:{}/mcp", proxy.port);
    conforms(package, "server", words, suite(package).args(["server", "--url", &url]));
}

#[test]
fn the_conformance_suite_of_2026_fails_in_nothing_that_is_not_named() {
    serves(NEWER, &["--requirements", "2026-07-28"]);
}

#[test]
fn the_released_conformance_suite_fails_in_nothing_that_is_not_named() {
    serves(RELEASED, &["--suite", "all"]);
}

/// A baseline without reasons would be a list of excuses, and one that names whole scenarios a loose one.
#[test]
fn every_refusal_in_a_baseline_is_one_check_and_has_its_reason() {
    for (_, name) in BASELINES {
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        let mut has_reason = false;
        for line in text.lines().skip_while(|line| line.starts_with('#')) {
            match (line, line.strip_prefix("  - ")) {
                ("server:" | "client:", _) => has_reason = false,
                (_, Some(entry)) => {
                    assert!(has_reason, "{name}: {line}");
                    assert_eq!(entry.split(':').filter(|part| !part.is_empty()).count(), 2, "{name}: {line}");
                }
                _ => {
                    assert!(line.starts_with("  # "), "{name}: {line}");
                    has_reason = true;
                }
            }
        }
    }
}
