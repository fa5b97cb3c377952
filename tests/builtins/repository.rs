//! `repository.read`.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use capability_core::audit::OutcomeKind;
use capability_core::handle::BrokerFault;
use capability_core::{Code, Stage};
use capability_host::SettingError;
use serde_json::{Value, json};

use crate::git::{Shelf, git};
use crate::household::{Household, folder, private};
use crate::servers::{Server, answer};

async fn household(at: &Path) -> Household {
    Household::open(folder(), &format!("[repositories.house]\npath = \"{}\"\n", at.display())).await
}

fn file(path: &str) -> Value {
    json!({ "repository": "house", "path": path })
}

fn at(path: &str, revision: &str) -> Value {
    json!({ "repository": "house", "path": path, "revision": revision })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_at_a_revision_after_somebody_said_yes() {
    let shelf = Shelf::new();
    let full = shelf.full();
    let household = household(&full).await;
    let outcome = household.ask("repository.read", &file("README.md")).await;
    assert_eq!((outcome.kind(), outcome.stage()), (OutcomeKind::Pending, Stage::Confirm), "{outcome:?}");

    let head = git(&full, &["rev-parse", "HEAD"]).trim().to_owned();
    let told = household.called("repository.read", &file("README.md")).await;
    assert_eq!(told["text"], "the second words, and a hidden mark\n");
    assert_eq!((&told["kind"], &told["commit"], &told["fetched_at"]), (&json!("text"), &json!(head), &Value::Null));
    for revision in ["v1.0", "side", "main~1", "HEAD^", "refs/heads/side", &git(&full, &["rev-parse", "v1.0"])[..10]] {
        let told = household.called("repository.read", &at("README.md", revision)).await;
        assert_eq!(told["text"], "the first words\n", "{revision}");
    }
    for (path, kind, text) in [
        ("notes/deep/today.txt", "text", json!("deep words\n")),
        ("picture", "binary", Value::Null),
        ("large", "too_large", Value::Null),
        ("absolute", "link", json!("/etc/passwd")),
        ("folder", "link", json!("notes")),
        ("notes", "directory", Value::Null),
        ("module", "submodule", Value::Null),
        (
            "kept-elsewhere",
            "lfs_pointer",
            json!("version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 5\n"),
        ),
    ] {
        let told = household.called("repository.read", &file(path)).await;
        assert_eq!((&told["kind"], &told["text"]), (&json!(kind), &text), "{path}");
    }
    assert_eq!(household.called("repository.read", &file("large")).await["size"], 300 * 1024);
    household.remembers_nothing_of(&["second words", "deep words", "today.txt", "passwd"]);
}

/// Whoever says yes says it to one commit: what the branch is by then is another call.
#[tokio::test(flavor = "multi_thread")]
async fn a_branch_that_moved_is_not_what_was_approved() {
    let shelf = Shelf::new();
    let full = shelf.full();
    let household = household(&full).await;
    let turn = household.turn();
    let asked = household.ask_in(&turn, "repository.read", &at("README.md", "main")).await;
    git(&full, &["commit", "-q", "--allow-empty", "-m", "three"]);
    let outcome = household.approved(&turn, &asked).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Confirm, Some(Code::ApprovalMismatch)), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leads_out_and_no_revision_is_an_option() {
    let shelf = Shelf::new();
    let household = household(&shelf.full()).await;
    for bad in [
        file("../../.kube/config"),
        file("/etc/passwd"),
        file("notes/../README.md"),
        file("./README.md"),
        file("notes//deep"),
        file("notes/"),
        file("é\t.txt"),
        at("README.md", "--output=/outside/x"),
        at("README.md", "-n1"),
        at("README.md", ":/one"),
        at("README.md", "main^{/one}"),
        at("README.md", "HEAD@{1}"),
        at("README.md", "main:README.md"),
        at("README.md", "main..side"),
        at("README.md", "../heads/main"),
    ] {
        let outcome = household.ask("repository.read", &bad).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(Code::CheckRefused)), "{bad} {outcome:?}");
    }
    for (bad, words) in [
        (json!({ "repository": "elsewhere", "path": "README.md" }), "no repository is configured"),
        (json!({ "repository": "../house", "path": "README.md" }), "no repository is configured"),
        (file("nothing"), "nothing at that path"),
        (file("README.md/x"), "nothing at that path"),
        (file("folder/deep/today.txt"), "nothing at that path"),
        (file("readme.md"), "nothing at that path"),
        (file(".git/config"), "nothing at that path"),
        (at("README.md", "nosuch"), "no such revision"),
        (at("README.md", "main~9999"), "no such revision"),
        (at("README.md", "0000"), "no such revision"),
    ] {
        let outcome = household.ask("repository.read", &bad).await;
        assert_eq!(
            (outcome.stage(), outcome.code()),
            (Stage::Validate, Some(Code::PrepareFailed)),
            "{bad} {outcome:?}"
        );
        assert!(outcome.message().unwrap().contains(words), "{bad}: {:?}", outcome.message());
    }
}

/// Each of these makes a git that runs programs run one.
#[tokio::test(flavor = "multi_thread")]
async fn no_program_of_a_repository_runs() {
    let shelf = Shelf::new();
    let full = shelf.full();
    let mark = shelf.at("PWNED");
    let touch = format!("touch {}", mark.display());
    for key in [
        "diff.external",
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "credential.helper",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
        "gpg.program",
    ] {
        git(&full, &["config", key, &touch]);
    }
    git(&full, &["config", "include.path", "/etc/passwd"]);
    std::fs::create_dir_all(full.join(".git/info")).unwrap();
    std::fs::write(full.join(".git/info/attributes"), "* diff=x filter=x\n").unwrap();
    std::fs::write(full.join(".gitattributes"), "* diff=x filter=x\n").unwrap();
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"] {
        let file = full.join(".git/hooks").join(hook);
        std::fs::create_dir_all(full.join(".git/hooks")).unwrap();
        std::fs::write(&file, format!("#!/bin/sh\n{touch}\n")).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let household = household(&full).await;
    for path in ["README.md", "picture", "absolute", "notes"] {
        household.called("repository.read", &file(path)).await;
    }
    assert!(!mark.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_leads_to_no_other() {
    let shelf = Shelf::new();
    let (full, outside) = (shelf.full(), shelf.at("outside"));
    git(&full, &["clone", "-q", "--bare", ".", outside.to_str().unwrap()]);
    let bare = |name: &str| {
        let at = shelf.at(name);
        git(&full, &["clone", "-q", "--bare", ".", at.to_str().unwrap()]);
        at
    };
    let borrowing = bare("borrowing");
    std::fs::write(borrowing.join("objects/info/alternates"), outside.join("objects").to_str().unwrap()).unwrap();
    let linked = bare("linked");
    std::fs::remove_dir_all(linked.join("objects")).unwrap();
    symlink(outside.join("objects"), linked.join("objects")).unwrap();
    let shared = bare("shared");
    std::fs::write(shared.join("commondir"), outside.to_str().unwrap()).unwrap();
    let pointing = shelf.at("pointing");
    std::fs::create_dir(&pointing).unwrap();
    std::fs::write(pointing.join(".git"), format!("gitdir: {}\n", outside.display())).unwrap();
    for at in [borrowing, linked, shared, pointing, shelf.at("none")] {
        let outcome = household(&at).await.ask("repository.read", &file("README.md")).await;
        assert_eq!(
            (outcome.stage(), outcome.code()),
            (Stage::Validate, Some(Code::PrepareFailed)),
            "{at:?} {outcome:?}"
        );
    }
    household(&outside).await.called("repository.read", &file("README.md")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_configured_is_not_bound() {
    let household = Household::open(folder(), "").await;
    let outcome = household.ask("repository.read", &file("README.md")).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::MissingRuntimeBinding)), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_elsewhere_is_read_from_what_the_operator_fetched() {
    let shelf = Shelf::new();
    let full = shelf.full();
    let server = shelf.served(Some("Basic aG91c2U6b3BlbiBzZXNhbWU="));
    let top = folder();
    private(&top.path().join("password"), "open sesame\n");
    let config = format!(
        "[repositories.house]\nurl = \"{}\"\nuser = \"house\"\npassword_file = \"{}\"\ndepth = 2\n",
        server.url("/full"),
        top.path().join("password").display()
    );
    let household = Household::open(top, &config).await;
    let outcome = household.ask("repository.read", &file("README.md")).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(Code::PrepareFailed)), "{outcome:?}");
    assert!(outcome.message().unwrap().contains("nobody has fetched it yet"), "{:?}", outcome.message());
    assert_eq!(server.connections(), 0, "a call fetches nothing");

    household.fetch("house").await.unwrap_or_else(|error| panic!("{error}"));
    let asked = server.connections();
    let told = household.called("repository.read", &file("notes/deep/today.txt")).await;
    assert_eq!((&told["text"], &told["kind"]), (&json!("deep words\n"), &json!("text")));
    assert!(told["fetched_at"].as_str().unwrap().starts_with("20"), "{told}");
    for revision in ["v1.0", "side", "main~1"] {
        let told = household.called("repository.read", &at("README.md", revision)).await;
        assert_eq!(told["text"], "the first words\n", "{revision}");
    }
    // What is new there is not here until it is fetched, and the branches that are gone are gone then.
    std::fs::write(full.join("README.md"), "the third words\n").unwrap();
    git(&full, &["commit", "-q", "-a", "-m", "three"]);
    git(&full, &["branch", "-q", "-D", "side"]);
    let told = household.called("repository.read", &file("README.md")).await;
    assert_eq!(told["text"], "the second words, and a hidden mark\n");
    assert_eq!(server.connections(), asked, "a call fetches nothing");
    household.fetch("house").await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(household.called("repository.read", &file("README.md")).await["text"], "the third words\n");
    let gone = household.ask("repository.read", &at("README.md", "side")).await;
    assert_eq!(gone.code(), Some(Code::PrepareFailed), "{gone:?}");
    assert!(
        household.log().contains("\"setting\":\"repository_fetch\",\"repository\":\"house\""),
        "{}",
        household.log()
    );
    household.remembers_nothing_of(&["open sesame", "aG91c2U6b3BlbiBzZXNhbWU"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fetch_that_fails_leaves_what_was_fetched_before() {
    let shelf = Shelf::new();
    shelf.full();
    let instead = Arc::default();
    let server = shelf.served_until(None, &instead);
    let elsewhere = Server::always(answer("200 OK", &[], "canary"));
    let household =
        Household::open(folder(), &format!("[repositories.house]\nurl = \"{}\"\n", server.url("/full"))).await;
    household.fetch("house").await.unwrap_or_else(|error| panic!("{error}"));
    for whole in [
        answer("302 Found", &[("location", &elsewhere.url("/full/info/refs?service=git-upload-pack"))], ""),
        answer("200 OK", &[("content-type", "text/html")], "<p>canary"),
        answer("200 OK", &[("content-type", "application/x-git-upload-pack-advertisement")], "canary"),
        answer("200 OK", &[("content-type", "application/x-git-upload-pack-advertisement")], "0000"),
        answer("200 OK", &[("content-type", "application/x-git-upload-pack-advertisement")], "ffff"),
        answer("500 canary", &[], ""),
        b"canary\r\n\r\n".to_vec(),
    ] {
        *instead.lock().unwrap() = Some(whole.clone());
        let before = server.connections();
        let failed = household.fetch("house").await.unwrap_err();
        assert!(matches!(failed, SettingError::Fetch(_)), "{failed:?}");
        assert!(!failed.to_string().contains("canary"), "{failed}");
        assert!(server.connections() > before, "it was asked: {}", String::from_utf8_lossy(&whole));
    }
    drop(server);
    assert_eq!(elsewhere.connections(), 0, "a redirect is not followed");
    let failed = household.fetch("house").await.unwrap_err();
    assert!(matches!(failed, SettingError::Fetch(BrokerFault::Unavailable)), "{failed:?}");
    let told = household.called("repository.read", &file("README.md")).await;
    assert_eq!(told["text"], "the second words, and a hidden mark\n");
    for name in ["nosuch", "../house"] {
        assert!(matches!(household.fetch(name).await, Err(SettingError::NoSuchRepository)), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_told_as_one() {
    let shelf = Shelf::new();
    shelf.full();
    let server = shelf.served(Some("Basic c29tZWJvZHk6ZWxzZQ=="));
    let config = format!("[repositories.house]\nurl = \"{}\"\n", server.url("/full"));
    let failed = Household::open(folder(), &config).await.fetch("house").await.unwrap_err();
    assert!(matches!(failed, SettingError::Fetch(BrokerFault::CredentialRefused)), "{failed:?}");
}
