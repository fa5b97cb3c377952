//! `git.promote` and `git.rollback`.

use std::path::{Path, PathBuf};

use capability_core::audit::OutcomeKind;
use capability_core::{Code, Stage};
use serde_json::{Value, json};

use crate::git::{Shelf, git};
use crate::household::{Household, folder};

/// A repository without a work tree: `main` has three commits, `live` stands at the first, and `side` leads elsewhere from there.
struct Tree {
    _shelf: Shelf,
    at: PathBuf,
    commits: [String; 3],
    side: String,
}

fn commit(at: &Path, file: &str, text: &str) -> String {
    std::fs::write(at.join(file), text).unwrap();
    git(at, &["add", "."]);
    git(at, &["commit", "-q", "-m", &format!("writes {file}\n\nand says more")]);
    tip(at, "HEAD")
}

fn tip(at: &Path, name: &str) -> String {
    git(at, &["rev-parse", name]).trim().to_owned()
}

impl Tree {
    fn new() -> Self {
        let shelf = Shelf::new();
        let work = shelf.at("work");
        std::fs::create_dir_all(work.join("deep/er")).unwrap();
        git(&work, &["init", "-q", "-b", "main", "."]);
        let one = commit(&work, "index.html", "one");
        git(&work, &["branch", "live"]);
        let two = commit(&work, "deep/er/page.html", "two");
        let three = commit(&work, "index.html", "three");
        git(&work, &["checkout", "-q", "-b", "side", "live"]);
        let side = commit(&work, "side.html", "aside");
        let at = shelf.at("site.git");
        git(&work, &["clone", "-q", "--bare", ".", at.to_str().unwrap()]);
        Self { _shelf: shelf, at, commits: [one, two, three], side }
    }

    fn config(&self) -> String {
        let from = "[\"refs/heads/main\", \"refs/heads/none\"]";
        format!("[trees.site]\npath = \"{}\"\nlive = \"refs/heads/live\"\nfrom = {from}\n", self.at.display())
    }

    fn live(&self) -> String {
        tip(&self.at, "refs/heads/live")
    }
}

fn to(revision: &str) -> Value {
    json!({ "tree": "site", "revision": revision })
}

fn back() -> Value {
    json!({ "tree": "site" })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revision_goes_live_after_it_was_shown_and_comes_back() {
    let tree = Tree::new();
    let [one, two, three] = &tree.commits;
    let household = Household::open(folder(), &tree.config()).await;
    let asked = household.ask("git.promote", &to("main~1")).await;
    assert_eq!((asked.kind(), asked.stage()), (OutcomeKind::Pending, Stage::Confirm), "{asked:?}");
    assert_eq!(tree.live(), *one, "nothing moves before the answer");

    let arguments = to("main");
    let moved = household.call_after("git.promote", &arguments, |pending| {
        let shown = &pending.preview.as_ref().unwrap().text;
        for part in [
            one,
            three,
            "2 commits come in",
            "writes deep/er/page.html",
            "2 files changed",
            "~ index.html",
            "+ deep/er/page.html",
        ] {
            assert!(shown.contains(part), "no {part} in {shown}");
        }
        assert!(!shown.contains("says more"), "{shown}");
    });
    let moved: Value = serde_json::from_str(moved.await.result().unwrap()).unwrap();
    assert_eq!(moved, json!({ "tree": "site", "live": "refs/heads/live", "from": one, "to": three }));
    assert_eq!(tree.live(), *three);
    let log = git(&tree.at, &["reflog", "show", "--format=%H %gs", "refs/heads/live"]);
    let line = log.lines().next().unwrap();
    assert!(line.starts_with(&format!("{three} capability promote ")), "{log}");
    // The repository's log and ours name the same call.
    let invocation = line.rsplit(' ').next().unwrap();
    let records = household.log();
    assert!(
        records.lines().any(|line| line.contains("\"event\":\"tree_moved\"") && line.contains(invocation)),
        "{records}"
    );
    assert!(!records.contains(three) && !records.contains("page.html"), "a repository's content is in no record");

    let went = household.called("git.rollback", &back()).await;
    assert_eq!((&went["from"], &went["to"]), (&json!(three), &json!(one)));
    household.called("git.promote", &to(two)).await;
    household.called("git.promote", &to(three)).await;
    household.called("git.rollback", &back()).await;
    assert_eq!(tree.live(), *two);
    household.called("git.rollback", &back()).await;
    assert_eq!(tree.live(), *one, "further back, and not to and fro");
    household.called("git.rollback", &to(three)).await;
    assert_eq!(tree.live(), *three);
    assert!(git(&tree.at, &["fsck", "--strict"]).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_go_live_is_refused_before_anybody_is_asked() {
    let tree = Tree::new();
    let household = Household::open(folder(), &tree.config()).await;
    let [one, ..] = &tree.commits;
    for (name, arguments, code, words) in [
        ("git.promote", to("side"), Code::PrepareFailed, "none of the tree's candidates"),
        ("git.promote", to(&tree.side), Code::PrepareFailed, "none of the tree's candidates"),
        ("git.promote", to("nosuch"), Code::PrepareFailed, "no such revision"),
        ("git.promote", to(one), Code::PrepareFailed, "live already"),
        ("git.promote", to("main:index.html"), Code::CheckRefused, "not written plainly"),
        ("git.promote", to("--force"), Code::CheckRefused, "not written plainly"),
        ("git.promote", to("main@{1}"), Code::CheckRefused, "not written plainly"),
        ("git.promote", json!({ "tree": "other", "revision": "main" }), Code::PrepareFailed, "no tree is configured"),
        ("git.promote", json!({ "tree": "../site", "revision": "main" }), Code::PrepareFailed, "no tree is configured"),
        ("git.rollback", back(), Code::PrepareFailed, "never made live here"),
        ("git.rollback", to("main"), Code::PrepareFailed, "never made live here"),
    ] {
        let outcome = household.ask(name, &arguments).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(code)), "{arguments}: {outcome:?}");
        let said = outcome.message().unwrap().into_owned();
        assert!(said.contains(words) && said.contains("\nhelp: "), "{arguments}: {said}");
    }
    // The live revision is left out by what comes from before it.
    git(&tree.at, &["update-ref", "refs/heads/live", "main"]);
    git(&tree.at, &["update-ref", "refs/heads/main", &tree.side]);
    let outcome = household.ask("git.promote", &to("main")).await;
    assert!(outcome.message().unwrap().contains("not among those that the revision came from"), "{outcome:?}");
    let anywhere = Household::open(folder(), &format!("{}any_direction = true\n", tree.config())).await;
    assert_eq!(anywhere.called("git.promote", &to("main")).await["to"], json!(tree.side));
}

/// Whoever says yes says it to one move: from what was live then, to the commit that was shown.
#[tokio::test(flavor = "multi_thread")]
async fn a_move_is_the_one_that_was_approved_or_none() {
    let tree = Tree::new();
    let [one, two, three] = &tree.commits;
    let household = Household::open(folder(), &tree.config()).await;
    for moved in [["update-ref", "refs/heads/live", two], ["update-ref", "refs/heads/main", two]] {
        let turn = household.turn();
        let asked = household.ask_in(&turn, "git.promote", &to("main")).await;
        git(&tree.at, &moved);
        let outcome = household.approved(&turn, &asked).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Confirm, Some(Code::ApprovalMismatch)), "{outcome:?}");
        git(&tree.at, &["update-ref", "refs/heads/live", one]);
        git(&tree.at, &["update-ref", "refs/heads/main", three]);
    }
    // Of two that were both approved one is made: the other's beginning is gone.
    let (first, second) = (household.turn(), household.turn());
    let asked = household.ask_in(&first, "git.promote", &to(two)).await;
    let other = household.ask_in(&second, "git.promote", &to(three)).await;
    let (made, refused) = (household.approved(&first, &asked).await, household.approved(&second, &other).await);
    assert_eq!(made.kind(), OutcomeKind::Executed, "{made:?}");
    assert_eq!(refused.code(), Some(Code::ApprovalMismatch), "{refused:?}");
    assert_eq!(tree.live(), *two);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_repository_says_is_run_or_followed() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let tree = Tree::new();
    let trap = tree.at.join("sprung");
    for hook in ["reference-transaction", "post-update", "update", "pre-receive"] {
        let file = tree.at.join("hooks").join(hook);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, format!("#!/bin/sh\ntouch {}\n", trap.display())).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let config = tree.at.join("config");
    let more = format!(
        "[core]\n\tlogAllRefUpdates = false\n\tfsmonitor = touch {0}\n\tpager = touch {0}\n[include]\n\tpath = {0}\n",
        trap.display()
    );
    std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + &more).unwrap();
    let household = Household::open(folder(), &tree.config()).await;
    household.called("git.promote", &to("main~1")).await;
    household.called("git.rollback", &back()).await;
    assert!(!trap.exists());

    // A history that leads elsewhere would be written there.
    let (logs, elsewhere) = (tree.at.join("logs/refs/heads/live"), tree.at.join("elsewhere"));
    std::fs::remove_file(&logs).unwrap();
    symlink(&elsewhere, &logs).unwrap();
    let outcome = household.ask("git.promote", &to("main")).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(Code::PrepareFailed)), "{outcome:?}");
    assert!(!elsewhere.exists());
    std::fs::remove_file(&logs).unwrap();

    // Nor is a branch moved that somebody works on.
    let work = tree.at.with_file_name("checked-out");
    git(&tree.at, &["worktree", "add", "-q", work.to_str().unwrap(), "live"]);
    let outcome = household.ask("git.promote", &to("main")).await;
    assert!(outcome.message().unwrap().contains("checked out"), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_is_one_that_the_subject_declares_and_the_operator_configured() {
    let plain = Household::open(folder(), "").await;
    for name in ["git.promote", "git.rollback"] {
        let outcome = plain.ask(name, &to("main")).await;
        assert_eq!(
            (outcome.stage(), outcome.code()),
            (Stage::Policy, Some(Code::MissingRuntimeBinding)),
            "{outcome:?}"
        );
    }
    let tree = Tree::new();
    let household = Household::open(folder(), &tree.config()).await;
    let kitchen = household.turn_of("agent:kitchen", &["git.promote:other", "git.rollback"]);
    for name in ["git.promote", "git.rollback"] {
        let outcome = household.ask_in(&kitchen, name, &to("main")).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::Undeclared)), "{outcome:?}");
    }
    let kitchen = household.turn_of("agent:kitchen", &["git.promote:site"]);
    let asked = household.ask_in(&kitchen, "git.promote", &to("main")).await;
    assert_eq!(asked.kind(), OutcomeKind::Pending, "{asked:?}");
}
