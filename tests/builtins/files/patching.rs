//! `fs.patch`: all files or none.

use std::fs;

use capability_core::Code;
use capability_core::audit::OutcomeKind;
use capability_core::executor::Effect;
use serde_json::{Value, json};

use super::Home;

const THREE: &str = "--- a/one\n+++ b/one\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n--- /dev/null\n+++ b/new/two\n@@ -0,0 +1 @@\n+two\n--- a/three\n+++ /dev/null\n@@ -1 +0,0 @@\n-three\n";

fn patch(patch: &str) -> Value {
    json!({ "patch": patch })
}

fn furnish(home: &Home) {
    home.put("one", "a\nb\n");
    home.put("three", "three\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_makes_changes_and_removes_after_an_answer_to_the_difference() {
    let home = Home::new().await;
    furnish(&home);
    let mut shown = String::new();
    let outcome = home
        .household
        .call_after("fs.patch", &patch(THREE), |pending| shown = pending.preview.clone().unwrap().text)
        .await;
    let files = json!([
        { "path": "one", "change": "changed", "bytes": 4 },
        { "path": "new/two", "change": "created", "bytes": 4 },
        { "path": "three", "change": "removed", "bytes": 0 },
    ]);
    let result: Value = serde_json::from_str(outcome.result().unwrap_or_else(|| panic!("{outcome:?}"))).unwrap();
    assert_eq!(result, json!({ "files": files }));
    assert_eq!(shown, THREE, "what is shown is what it comes to");
    assert_eq!((home.text("one").as_str(), home.text("new/two").as_str()), ("A\nb\n", "two\n"));
    assert_eq!((home.names("."), home.names("new")), (vec!["new".into(), "one".into()], vec!["two".into()]));

    // Its numbers are off, and there is one place for it: what is shown is where it goes.
    home.put("dir/list", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let off = "--- a/list\n+++ b/list\n@@ -1,2 +1,2 @@\n 7\n-8\n+acht\n";
    let outcome = home
        .household
        .call_after("fs.patch", &json!({ "patch": off, "path": "dir" }), |pending| {
            let text = pending.preview.clone().unwrap().text;
            assert!(text.starts_with("--- a/dir/list\n+++ b/dir/list\n@@ -6,5 +6,5 @@\n 5\n"), "{text}");
        })
        .await;
    assert_eq!(outcome.kind(), OutcomeKind::Executed);
    assert_eq!(home.text("dir/list"), "0\n1\n2\n3\n4\n5\n6\n7\nacht\n9\n");
    home.household.remembers_nothing_of(&["acht", "dir/list"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_that_does_not_fit_changes_nothing_and_asks_nobody() {
    let home = Home::new().await;
    furnish(&home);
    let of = |path: &str| format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n");
    let new = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+b\n");
    home.put("blob", b"a\n\0");
    home.put(".env", "a\n");
    home.link(&home.outside, "link");
    fs::hard_link(home.outside.join("secret"), home.root.join("hard")).unwrap();
    for (written, refused) in [
        (of("one") + &of("three"), "prepare_failed"),
        (of("absent"), "prepare_failed"),
        (new("one"), "prepare_failed"),
        (of("blob"), "prepare_failed"),
        (of(".env"), "prepare_failed"),
        (of("hard"), "protected_path"),
        (new(".Git/hooks/pre-commit"), "protected_path"),
        (of("one") + &new(".ssh/authorized_keys"), "protected_path"),
        (new("link/new"), "outside_workspace"),
        (of("/etc/passwd"), "check_refused"),
        (of("../outside/secret"), "check_refused"),
        ("a\n".to_owned(), "check_refused"),
    ] {
        assert_eq!(home.ended("fs.patch", &patch(&written)).await, refused, "{written}");
    }
    assert_eq!(home.ended("fs.patch", &json!({ "patch": of("x"), "path": "/etc" })).await, "check_refused");
    assert_eq!((home.text("one").as_str(), home.outside.join("new").exists()), ("a\nb\n", false));
}

/// A rule is about each file of a patch.
#[tokio::test(flavor = "multi_thread")]
async fn a_rule_about_one_file_is_about_the_patch() {
    const RULE: &str = "[[rule]]\nid = \"keep\"\neffect = \"deny\"\nreason = \"it stays\"\ncapability = \"fs.patch\"\ntarget = { path = \"three\" }\n";
    let home = Home::with("", RULE).await;
    furnish(&home);
    assert_eq!(home.ended("fs.patch", &patch(THREE)).await, "rule_deny");
    assert_eq!(home.ended("fs.patch", &patch("--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n")).await, "pending");
}

/// One file of several changed while the answer was on its way.
#[tokio::test(flavor = "multi_thread")]
async fn what_changed_since_it_was_shown_stops_the_whole_patch() {
    let home = Home::new().await;
    furnish(&home);
    let outcome = home.household.call_after("fs.patch", &patch(THREE), |_| home.put("three", "three\nmore\n")).await;
    assert_eq!((outcome.code(), outcome.effect()), (Some(Code::PrepareFailed), Effect::NotStarted), "{outcome:?}");
    let outcome = {
        home.put("three", "three\n");
        home.household.call_after("fs.patch", &patch(THREE), |_| home.put("one", "0\na\nb\n")).await
    };
    assert_eq!((outcome.code(), outcome.effect()), (Some(Code::ApprovalMismatch), Effect::NotStarted), "{outcome:?}");
    assert_eq!((home.text("one").as_str(), home.names(".")), ("0\na\nb\n", vec!["one".into(), "three".into()]));
}
