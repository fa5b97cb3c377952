//! Edits, faults, and what counts when.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use capability_core::Registry;
use capability_core::audit::MemorySink;
use capability_core::policy::PolicySource;

use super::{FilePolicy, Places};
use crate::environment::HostEnvironment;
use crate::policy::PolicyError;

/// Denied until a rule says otherwise.
#[capability_core::capability(name = "fixture.shut", version = 1, side_effect = read_only, network = local, default = deny)]
fn shut() -> bool {
    true
}

struct Home {
    dir: tempfile::TempDir,
    sink: Arc<MemorySink>,
}

const ONE: &str = "[[rule]]\nid = \"one\"\neffect = \"ask\"\n";
const TWO: &str = "[[rule]]\nid = \"two\"\neffect = \"ask\"\n";

impl Home {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), sink: Arc::new(MemorySink::new()) }
    }

    fn rules(&self) -> PathBuf {
        self.dir.path().join("policy.toml")
    }

    fn copy(&self) -> PathBuf {
        self.dir.path().join("policy.in-force.toml")
    }

    /// As an editor writes: into the file itself.
    fn write(&self, text: &str) {
        fs::write(self.rules(), text).unwrap();
        fs::set_permissions(self.rules(), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn open(&self) -> Result<FilePolicy, PolicyError> {
        let registry = Registry::collect_without_lists(&["capabilities", "capability-host"]).unwrap();
        FilePolicy::open(
            Places { rules: self.rules(), copy: self.copy() },
            registry.iter().map(|held| held.entry()).collect(),
            vec![],
            Arc::clone(&self.sink) as _,
            Arc::new(HostEnvironment::new().unwrap()),
        )
    }

    fn recorded(&self, setting: &str) -> usize {
        self.sink.lines().matches(&format!("\"setting\":\"{setting}\"")).count()
    }
}

fn ids(policy: &FilePolicy) -> Vec<String> {
    policy.current().rules().map(|(.., rule)| rule.id.to_string()).collect()
}

#[test]
fn an_edit_counts_from_the_next_look_on_and_is_recorded_once() {
    let home = Home::new();
    let policy = home.open().unwrap();
    assert!(policy.current().is_empty() && home.recorded("policy") == 0);
    home.write(ONE);
    assert_eq!(ids(&policy), ["one"]);
    // Of the same length, within the same tick.
    for _ in 0..20 {
        home.write(TWO);
        assert_eq!(ids(&policy), ["two"]);
        home.write(ONE);
        assert_eq!(ids(&policy), ["one"]);
    }
    assert_eq!(home.recorded("policy"), 41);
    assert_eq!(fs::read_to_string(home.copy()).unwrap(), ONE);
    let fresh = home.dir.path().join("fresh");
    fs::write(&fresh, TWO).unwrap();
    fs::set_permissions(&fresh, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&fresh, home.rules()).unwrap();
    assert_eq!(ids(&policy), ["two"]);
}

/// Fewer rules, or none, let through more: that waits for an operator, and everything else counts at once.
#[test]
fn what_lets_through_more_waits_until_just_that_is_accepted() {
    let home = Home::new();
    home.write(ONE);
    let policy = home.open().unwrap();
    home.write("");
    let standing = policy.standing();
    let (waiting, problem) = (standing.waiting.unwrap(), standing.problem.unwrap());
    assert_eq!(ids(&policy), ["one"], "what was in force stays");
    assert!(problem.contains("lets through more") && problem.contains("capability policy accept"), "{problem}");
    assert!(problem.contains("was ask, and would be allow"), "{problem}");
    assert_eq!((home.recorded("policy_held"), fs::read_to_string(home.copy()).unwrap()), (1, ONE.to_owned()));
    // Another text is another question, and what was looked at before is not accepted any more.
    home.write("# nothing\n");
    assert!(matches!(policy.accept(&waiting), Err(PolicyError::NotThat { .. })));
    assert_eq!(ids(&policy), ["one"]);
    home.write("");
    policy.accept(&policy.standing().waiting.unwrap()).unwrap();
    assert!(policy.current().is_empty() && policy.standing().problem.is_none());
    assert_eq!(fs::read_to_string(home.copy()).unwrap(), "");
    let revision = policy.current().revision().to_string();
    assert!(home.sink.lines().lines().last().unwrap().contains(&revision));
    assert!(matches!(policy.accept(&waiting), Err(PolicyError::NotThat { .. })), "once");
    // What only narrows counts at once; back again waits again.
    home.write(ONE);
    assert_eq!(ids(&policy), ["one"]);
    home.write("");
    assert_eq!(ids(&policy), ["one"]);
    home.write(ONE);
    assert!(policy.standing().waiting.is_none() && policy.standing().problem.is_none());
}

#[test]
fn an_acceptance_outlives_the_host_and_nothing_else_does() {
    let home = Home::new();
    home.write(ONE);
    drop(home.open().unwrap());
    // Edited while no host ran.
    home.write("");
    let policy = home.open().unwrap();
    assert_eq!(ids(&policy), ["one"]);
    policy.accept(&policy.standing().waiting.unwrap()).unwrap();
    drop(policy);
    assert!(home.open().unwrap().current().is_empty());
    // A first file that lets through more than no rules at all waits too.
    let fresh = Home::new();
    fresh.write(
        "[[rule]]\nid = \"all\"\neffect = \"allow\"\nreason = \"it is asked for often\"\ncapability = \"fixture.shut\"\n",
    );
    let policy = fresh.open().unwrap();
    assert!(policy.current().is_empty() && policy.standing().waiting.is_some());
    // And where nobody can read any more what was in force, nothing is let through.
    fresh.write("");
    fs::write(fresh.copy(), "[[rule]]\nid = \"gone\"\neffect = \"ask\"\ncapability = \"no.such\"\n").unwrap();
    fs::set_permissions(fresh.copy(), fs::Permissions::from_mode(0o600)).unwrap();
    let policy = fresh.open().unwrap();
    assert_eq!(ids(&policy), ["rules-in-force-are-unreadable"]);
    policy.accept(&policy.standing().waiting.unwrap()).unwrap();
    assert!(policy.current().is_empty());
}

#[test]
fn a_file_that_makes_no_policy_leaves_what_was_in_force_and_is_told_once() {
    let home = Home::new();
    home.write(ONE);
    let policy = home.open().unwrap();
    for (wrong, words) in [
        (
            "[[rule]]\nid = \"two\"\neffect = \"ask\"\nwhen = { from = \"25:99\", to = \"07:00\", tz = \"UTC\" }\n",
            "line 4",
        ),
        ("[[rule]]\nid = \"two\"\n", "missing field `effect`"),
        ("[[rule]]\nid = \"two\"\neffect = \"ask\"\ncapability = \"web.fecth\"\n", "`web.fetch`"),
    ] {
        let before = home.recorded("policy_refused");
        home.write(wrong);
        for _ in 0..3 {
            assert_eq!(ids(&policy), ["one"]);
        }
        let standing = policy.standing();
        assert!(standing.problem.unwrap().contains(words));
        assert_eq!(home.recorded("policy_refused"), before + 1);
        assert_eq!(fs::read_to_string(home.copy()).unwrap(), ONE);
    }
    assert!(!home.sink.lines().contains("25:99"), "the log holds no text of the file");
    home.write(ONE);
    assert!(policy.standing().problem.is_none() && ids(&policy) == ["one"]);
    home.write(TWO);
    assert_eq!(ids(&policy), ["two"]);
    assert_eq!(home.recorded("policy"), 2);
}

#[test]
fn a_file_that_is_gone_or_open_to_others_leaves_what_was_in_force() {
    let home = Home::new();
    home.write(ONE);
    let policy = home.open().unwrap();
    fs::remove_file(home.rules()).unwrap();
    assert_eq!(ids(&policy), ["one"]);
    assert!(policy.standing().problem.unwrap().contains("is gone"));
    home.write(TWO);
    fs::set_permissions(home.rules(), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(ids(&policy), ["one"]);
    assert!(policy.standing().problem.unwrap().contains("0644"));
    fs::set_permissions(home.rules(), fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(ids(&policy), ["two"]);
    fs::remove_file(home.rules()).unwrap();
    std::os::unix::fs::symlink(home.copy(), home.rules()).unwrap();
    assert_eq!(ids(&policy), ["two"]);
    assert!(policy.standing().problem.is_some());
    assert_eq!(home.recorded("policy_refused"), 3);
}

#[test]
fn nothing_starts_without_the_rules_that_were_in_force() {
    let home = Home::new();
    home.write("[[rule]]\nid = 1\n");
    assert!(matches!(home.open().unwrap_err(), PolicyError::Wrong { line: Some(2), .. }));
    home.write(ONE);
    drop(home.open().unwrap());
    // The same again is nothing new.
    drop(home.open().unwrap());
    assert_eq!(home.recorded("policy"), 1);
    fs::remove_file(home.rules()).unwrap();
    let error = home.open().unwrap_err().to_string();
    assert!(
        error.contains("is gone") && error.contains("policy.in-force.toml") && error.contains("\nhelp: "),
        "{error}"
    );
    home.write("[[rule]]\n");
    assert!(home.open().is_err());
    home.write(TWO);
    assert_eq!(ids(&home.open().unwrap()), ["two"]);
    assert_eq!(home.recorded("policy"), 2);
}

#[test]
fn what_cannot_be_recorded_does_not_count() {
    let home = Home::new();
    let full = Arc::new(Full);
    let registry = Registry::collect_without_lists(&["capabilities", "capability-host"]).unwrap();
    let open = || {
        FilePolicy::open(
            Places { rules: home.rules(), copy: home.copy() },
            registry.iter().map(|held| held.entry()).collect(),
            vec![],
            Arc::clone(&full) as _,
            Arc::new(HostEnvironment::new().unwrap()),
        )
    };
    let policy = open().unwrap();
    home.write(ONE);
    assert!(policy.current().is_empty() && policy.standing().problem.unwrap().contains("the audit log cannot take"));
    assert!(matches!(open().unwrap_err(), PolicyError::Untold { .. }));
    assert!(!home.copy().exists());
}

/// A log without room.
struct Full;

impl capability_core::audit::Sink for Full {
    fn submit(&self, _: capability_core::audit::Record) -> capability_core::audit::Submission {
        capability_core::audit::Submission::Done(Err(capability_core::audit::SinkFault))
    }
}

/// Calls on many threads, while the file changes back and forth: each is judged by one of the two, and the last edit counts.
#[test]
fn many_calls_see_whole_policies_while_the_file_changes() {
    let home = Home::new();
    home.write(ONE);
    let policy = home.open().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let ids = ids(&policy);
                    assert!(ids == ["one"] || ids == ["two"] || ids.is_empty(), "{ids:?}");
                }
            });
        }
        for turn in 0..50 {
            home.write(if turn % 2 == 0 { TWO } else { ONE });
        }
    });
    home.write(TWO);
    assert_eq!(ids(&policy), ["two"]);
}
