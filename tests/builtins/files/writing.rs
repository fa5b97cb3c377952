//! `fs.write`: what the approver sees, what stands there afterwards, and what is written to by nobody.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use capability_core::Code;
use capability_core::audit::OutcomeKind;
use capability_core::executor::Effect;
use serde_json::{Value, json};

use super::Home;

fn write(path: impl AsRef<std::path::Path>, content: &str) -> Value {
    json!({ "path": path.as_ref().display().to_string(), "content": content })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_written_after_an_answer_to_the_difference() {
    let home = Home::new().await;
    home.put("notes/today.md", "one\ntwo\nthree\n");
    fs::set_permissions(home.root.join("notes/today.md"), fs::Permissions::from_mode(0o640)).unwrap();
    let mut shown = String::new();
    let outcome = home
        .household
        .call_after("fs.write", &write("notes/today.md", "one\nzwei\nthree\n"), |pending| {
            shown = pending.preview.clone().unwrap().text;
            assert_eq!(pending.because, [Code::FloorRequired]);
        })
        .await;
    assert_eq!(shown, "--- a/notes/today.md\n+++ b/notes/today.md\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n");
    assert_eq!(outcome.result(), Some(r#"{"path":"notes/today.md","created":false,"bytes":15}"#), "{outcome:?}");
    assert_eq!(home.text("notes/today.md"), "one\nzwei\nthree\n");
    assert_eq!(home.mode("notes/today.md"), 0o640, "it keeps its permissions");

    let made = home.household.called("fs.write", &write("a/b/c.md", "\u{feff}x\r\n")).await;
    assert_eq!(made, json!({ "path": "a/b/c.md", "created": true, "bytes": 6 }));
    assert_eq!(
        (home.text("a/b/c.md").as_str(), home.mode("a/b/c.md"), home.mode("a/b")),
        ("\u{feff}x\r\n", 0o600, 0o700)
    );
    let bytes = json!({ "path": "blob", "content": "AP8=", "written_as": "base64" });
    home.household.called("fs.write", &bytes).await;
    assert_eq!(fs::read(home.root.join("blob")).unwrap(), [0, 255]);
    assert_eq!(
        home.ended("fs.write", &json!({ "path": "x", "content": "!", "written_as": "base64" })).await,
        "check_refused"
    );
    assert_eq!(home.names("."), ["a", "blob", "notes"], "nothing is left over");
    assert_eq!(home.names("notes"), ["today.md"]);
    home.household.remembers_nothing_of(&["zwei", "today.md"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_shown_line_by_line_is_told_in_words() {
    let home = Home::new().await;
    home.put("blob", b"\0\xff");
    home.put("same", "x\n");
    home.put(".env", "KEY=sesame\n");
    home.put("long", "a\n".repeat(5000));
    for (path, content, told) in [
        ("blob", "text", "puts 4 bytes in the place of the 2 bytes of `blob`\n".to_owned()),
        ("same", "x\n", "leaves `same` as it is, with its 2 bytes\n".to_owned()),
        ("empty", "", "makes `empty`, of 0 bytes\n".to_owned()),
        ("long", &"b\n".repeat(5000), "puts 10000 bytes in the place of the 10000 bytes of `long`\n".to_owned()),
        (
            ".env",
            "KEY=",
            "puts 4 bytes in the place of the 11 bytes of `.env`; what stands in it is not shown, as it is called as secrets are\n"
                .to_owned(),
        ),
    ] {
        let outcome = home
            .household
            .call_after("fs.write", &write(path, content), |pending| {
                assert_eq!(pending.preview.as_ref().unwrap().text, told);
                assert_eq!(pending.because.contains(&Code::SensitivePath), path == ".env", "{:?}", pending.because);
            })
            .await;
        assert_eq!((outcome.kind(), home.text(path).as_str()), (OutcomeKind::Executed, content), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_run_or_believe_and_what_is_elsewhere_is_written_by_nobody() {
    let home = Home::new().await;
    home.put(".git/hooks/old", "");
    home.link(&home.outside, "link");
    home.link(home.outside.join("absent"), "dangling");
    home.link(home.outside.join("secret"), "leaf");
    fs::hard_link(home.outside.join("secret"), home.root.join("hard")).unwrap();
    for path in [
        ".Git/hooks/pre-commit",
        ".git/config",
        "a/.GIT./config",
        ".git::$INDEX_ALLOCATION/x",
        ".ssh/authorized_keys",
        ".bashrc",
        ".hg/hgrc",
        "hard",
    ] {
        assert_eq!(home.ended("fs.write", &write(path, "x")).await, "protected_path", "{path}");
    }
    let sibling = format!("{}-evil/a", home.root.display());
    for path in ["link/new.txt", "link/secret", "dangling", "leaf", "/etc/passwd", sibling.as_str()] {
        assert_eq!(home.ended("fs.write", &write(path, "x")).await, "outside_workspace", "{path}");
    }
    let inside = home.root.join("x").display().to_string();
    assert_eq!(home.ended("fs.write", &write(inside, "x")).await, "outside_workspace", "only by its own path");
    for path in ["../outside/x", "a/../../outside/x", "~/x", ".", "a//b"] {
        assert_eq!(home.ended("fs.write", &write(path, "x")).await, "check_refused", "{path}");
    }
    let up = format!("{}/../outside/x", home.root.display());
    assert_eq!(home.ended("fs.write", &write(up, "x")).await, "check_refused");
    fs::create_dir(home.root.join("directory")).unwrap();
    assert_eq!(home.ended("fs.write", &write("directory", "x")).await, "prepare_failed");
    assert_eq!(home.ended("fs.write", &write(".git/hooks/old/x", "x")).await, "protected_path");
    let names: Vec<_> = fs::read_dir(&home.outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!((names.len(), fs::read_to_string(home.outside.join("secret")).unwrap().as_str()), (1, "sesame\n"));
    assert!(!home.root.join(".git/hooks/pre-commit").exists());
}

/// Whatever is there when the answer comes, an answer is for what was shown.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_for_what_was_shown_and_for_nothing_that_came_since() {
    let home = Home::new().await;
    home.put("a/f", "one\n");
    let changed = home.household.call_after("fs.write", &write("a/f", "two\n"), |_| home.put("a/f", "other\n")).await;
    assert_eq!((changed.code(), changed.effect()), (Some(Code::ApprovalMismatch), Effect::NotStarted), "{changed:?}");
    assert_eq!(home.text("a/f"), "other\n");
    let appeared = home.household.call_after("fs.write", &write("new", "two\n"), |_| home.put("new", "mine\n")).await;
    assert_eq!((appeared.code(), home.text("new").as_str()), (Some(Code::ApprovalMismatch), "mine\n"));

    // The directory is another one: what it leads to is not written to.
    let swapped = home
        .household
        .call_after("fs.write", &write("a/g", "x"), |_| {
            fs::rename(home.root.join("a"), home.root.join("b")).unwrap();
            symlink(&home.outside, home.root.join("a")).unwrap();
        })
        .await;
    assert_eq!(swapped.code(), Some(Code::OutsideWorkspace), "{swapped:?}");
    assert!(!home.outside.join("g").exists() && !home.root.join("b/g").exists());
    // And one that was linked to elsewhere meanwhile is not either.
    let linked = home
        .household
        .call_after("fs.write", &write("b/f", "x"), |_| {
            fs::hard_link(home.root.join("b/f"), home.outside.join("f")).unwrap()
        })
        .await;
    assert_eq!((linked.code(), home.text("b/f").as_str()), (Some(Code::ProtectedPath), "other\n"), "{linked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_written_is_told_and_nothing_is_left() {
    let home = Home::new().await;
    home.put("f", "x");
    // A file where a directory would have to be.
    assert_eq!(home.ended("fs.write", &write("f/g", "x")).await, "prepare_failed");
    let long = "x".repeat(1_000_001);
    assert_eq!(home.ended("fs.write", &write("long", &long)).await, "schema_violation");
    assert_eq!(home.names("."), ["f"]);
}
