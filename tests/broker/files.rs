//! Files of the workspace, and everything that is none.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;
use tokio::task::spawn_blocking;

use super::lab::Lab;

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_listed_written_and_removed() {
    let lab = Lab::new(&[], &[]);
    let root = lab.workspace();
    fs::create_dir(root.join("notes")).expect("a directory");
    assert_eq!(lab.said("files.write", json!({ "path": "notes/a b.md", "text": "one" })).await, Ok(json!(null)));
    assert_eq!(lab.said("files.read", json!({ "path": "notes/a b.md" })).await, Ok(json!("one")));
    assert_eq!(fs::metadata(root.join("notes/a b.md")).expect("it stands").permissions().mode() & 0o777, 0o600);
    // What stood there keeps its permissions, and is replaced whole.
    fs::set_permissions(root.join("notes/a b.md"), fs::Permissions::from_mode(0o644)).expect("a mode");
    assert_eq!(lab.said("files.write", json!({ "path": "notes/a b.md", "text": "" })).await, Ok(json!(null)));
    assert_eq!(lab.said("files.read", json!({ "path": "notes/a b.md" })).await, Ok(json!("")));
    assert_eq!(fs::metadata(root.join("notes/a b.md")).expect("it stands").permissions().mode() & 0o777, 0o644);

    fs::create_dir(root.join("notes/old")).expect("a directory");
    symlink("/etc", root.join("notes/etc")).expect("a link");
    fs::write(root.join("notes").join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff")), "")
        .expect("a file");
    let listed = lab.said("files.list", json!({ "path": "notes" })).await;
    assert_eq!(listed, Ok(json!(["a b.md:File:0", "etc:Other:0", "old:Directory:0", "and 1 more"])));
    assert_eq!(lab.said("files.list", json!({ "path": "." })).await, Ok(json!(["notes:Directory:0"])));

    assert_eq!(lab.said("files.remove", json!({ "path": "notes/a b.md" })).await, Ok(json!(null)));
    assert_eq!(lab.fault("files.read", json!({ "path": "notes/a b.md" })).await, "not_found");
    assert_eq!(lab.fault("files.remove", json!({ "path": "notes/a b.md" })).await, "not_found");
    assert_eq!(fs::read_dir(root.join("notes")).expect("a directory").count(), 3, "nothing is left over");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_path_leads_outside() {
    let lab = Lab::new(&[], &[]);
    let (root, outside) = (lab.workspace(), lab.outside().join("outside"));
    fs::create_dir(&outside).expect("a directory");
    fs::write(outside.join("secret"), "sesame").expect("a secret");
    fs::create_dir(root.join("a")).expect("a directory");
    symlink(&outside, root.join("link")).expect("a link");
    symlink("../outside", root.join("up")).expect("a link");
    symlink(outside.join("absent"), root.join("dangling")).expect("a link");
    symlink(outside.join("secret"), root.join("leaf")).expect("a link");
    symlink("a", root.join("inner")).expect("a link");
    symlink("/proc/self/root", root.join("magic")).expect("a link");
    let absolute = outside.join("secret").display().to_string();
    for (path, rule) in [
        (absolute.as_str(), "malformed_path"),
        ("../outside/secret", "malformed_path"),
        ("a/../../outside/secret", "malformed_path"),
        ("a/./b", "malformed_path"),
        ("a//b", "malformed_path"),
        ("link/secret", "outside_workspace"),
        ("up/secret", "outside_workspace"),
        ("leaf", "outside_workspace"),
        ("inner/x", "outside_workspace"),
        ("magic/etc/passwd", "outside_workspace"),
    ] {
        assert_eq!(lab.fault("files.read", json!({ "path": path })).await, rule, "read {path}");
        assert_eq!(lab.fault("files.write", json!({ "path": path, "text": "x" })).await, rule, "write {path}");
        assert_eq!(lab.fault("files.remove", json!({ "path": path })).await, rule, "remove {path}");
    }
    assert_eq!(lab.fault("files.write", json!({ "path": "dangling", "text": "x" })).await, "outside_workspace");
    assert_eq!(lab.fault("files.write", json!({ "path": "link/new", "text": "x" })).await, "outside_workspace");
    assert_eq!(lab.fault("files.list", json!({ "path": "link" })).await, "outside_workspace");
    assert_eq!(lab.fault("files.list", json!({ "path": ".." })).await, "malformed_path");
    assert_eq!(lab.fault("files.read", json!({ "path": "." })).await, "malformed_path");
    let names: Vec<_> =
        fs::read_dir(&outside).expect("a directory").map(|entry| entry.expect("an entry").file_name()).collect();
    assert_eq!(names, ["secret"]);
    assert_eq!(fs::read_to_string(outside.join("secret")).expect("it stands"), "sesame");
}

/// What is mounted below the root is not in the workspace, whatever it is: a view of the kernel's, or a directory of the host's own.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_mounted_in_the_workspace_is_not_in_it() {
    let lab = Lab::in_root(std::path::Path::new("/"));
    assert!(fs::read("/proc/version").is_ok(), "it is there for whoever may ask");
    assert_eq!(lab.fault("files.read", json!({ "path": "proc/version" })).await, "outside_workspace");
    assert_eq!(lab.fault("files.list", json!({ "path": "proc" })).await, "outside_workspace");
    let path = "proc/sys/kernel/hostname";
    for (call, arguments) in
        [("files.write", json!({ "path": path, "text": "x" })), ("files.remove", json!({ "path": path }))]
    {
        assert_eq!(lab.fault(call, arguments).await, "outside_workspace", "{call}");
    }
}

/// What the host keeps for itself may lie in the workspace: nobody replaces it, and nobody takes it away.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_the_hosts_own_is_changed_by_no_handle() {
    let lab = Lab::new(&[], &[]);
    let token = lab.workspace().join("token");
    fs::write(&token, "sesame").expect("a token");
    symlink(&token, lab.outside().join("own")).expect("where it is configured");
    for (call, arguments) in [
        ("files.read", json!({ "path": "token" })),
        ("files.write", json!({ "path": "token", "text": "x" })),
        ("files.remove", json!({ "path": "token" })),
        ("files.change", json!({ "paths": ["token"], "text": "x" })),
        ("files.change", json!({ "paths": ["token"], "text": null })),
    ] {
        assert_eq!(lab.fault(call, arguments.clone()).await, "protected", "{call} {arguments}");
        assert_eq!(fs::read_to_string(&token).expect("it stands"), "sesame", "{call}");
    }
    assert_eq!(fs::read_dir(lab.workspace()).expect("a directory").count(), 1, "nothing is left over");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_plain_files_of_one_name_within_bounds() {
    let lab = Lab::new(&[], &[]);
    let root = lab.workspace();
    fs::write(lab.outside().join("outside"), "sesame").expect("a file");
    fs::hard_link(lab.outside().join("outside"), root.join("hard")).expect("a link");
    assert_eq!(lab.fault("files.write", json!({ "path": "hard", "text": "x" })).await, "hard_linked");
    assert_eq!(fs::read_to_string(lab.outside().join("outside")).expect("it stands"), "sesame");

    let made = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
    assert!(made.is_ok_and(|made| made.success()), "a pipe");
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).expect("a socket");
    fs::create_dir(root.join("directory")).expect("a directory");
    for path in ["pipe", "socket", "directory"] {
        assert_eq!(lab.fault("files.read", json!({ "path": path })).await, "not_a_file", "{path}");
        assert_eq!(lab.fault("files.write", json!({ "path": path, "text": "x" })).await, "not_a_file", "{path}");
        assert_eq!(lab.fault("files.remove", json!({ "path": path })).await, "not_a_file", "{path}");
    }

    fs::write(root.join("long"), vec![b'x'; 1001]).expect("a file");
    assert_eq!(lab.fault("files.read", json!({ "path": "long", "most": 1000 })).await, "cap_exceeded");
    assert_eq!(lab.said("files.read", json!({ "path": "long", "most": 1001 })).await, Ok(json!("x".repeat(1001))));
    fs::File::create(root.join("huge")).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    assert_eq!(lab.fault("files.read", json!({ "path": "huge", "most": u64::MAX })).await, "cap_exceeded");
    let piece = "y".repeat(1024);
    assert_eq!(
        lab.said("files.write", json!({ "path": "large", "text": piece, "times": 1024 })).await,
        Ok(json!(null))
    );
    let above = lab.fault("files.write", json!({ "path": "large", "text": piece, "times": 1025 })).await;
    assert_eq!(above, "cap_exceeded");
    assert_eq!(fs::metadata(root.join("large")).expect("it stands").len(), 1024 * 1024);
    for number in 0..4097 {
        fs::write(root.join("directory").join(number.to_string()), "").expect("a file");
    }
    assert_eq!(lab.fault("files.list", json!({ "path": "directory" })).await, "cap_exceeded");
    assert_eq!(lab.fault("files.write", json!({ "path": "absent/x", "text": "x" })).await, "not_found");
}

/// Every file is what it was, under its own name, with nothing beside it.
#[tokio::test(flavor = "multi_thread")]
async fn files_are_changed_all_or_none() {
    let lab = Lab::new(&[], &[]);
    let root = lab.workspace();
    let change = |paths: &[&str], text: Option<&str>| json!({ "paths": paths, "text": text });
    let names = |path: &str| {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().into_string();
        let mut names: Vec<_> = fs::read_dir(root.join(path)).expect("a directory").flat_map(name).collect();
        names.sort();
        names
    };
    let said = lab.said("files.change", change(&["a", "b/c/d"], Some("one"))).await;
    assert_eq!((said, names("."), names("b/c")), (Ok(json!(null)), vec!["a".into(), "b".into()], vec!["d".into()]));
    fs::set_permissions(root.join("a"), fs::Permissions::from_mode(0o644)).expect("a mode");
    assert_eq!(lab.said("files.change", change(&["a", "b/c/d"], Some("two"))).await, Ok(json!(null)));
    assert_eq!(fs::metadata(root.join("a")).expect("it stands").permissions().mode() & 0o777, 0o644);
    assert_eq!(fs::read_to_string(root.join("b/c/d")).expect("it stands"), "two");

    fs::hard_link(root.join("a"), lab.outside().join("a")).expect("a link");
    symlink("b", root.join("link")).expect("a link");
    for (paths, rule) in [
        (&["b/c/d", "a"][..], "hard_linked"),
        (&["b/c/d", "link/x"], "outside_workspace"),
        (&["b/c/d", "b"], "not_a_file"),
        (&["b/c/d", "b/c/d/e"], "not_found"),
        (&["b/c/d", "b/c/d"], "malformed_path"),
        (&["b/c/d", ".git/hooks/pre-commit"], "protected"),
        (&["b/c/d", ".git/config"], "sensitive"),
        (&["b/c/d", ".env"], "sensitive"),
        (&["b/c/d", "unseen"], "changed"),
        // The first is in place already when the second finds its name taken.
        (&["b/c/d", "new", "new/below"], "changed"),
    ] {
        assert_eq!(lab.fault("files.change", change(paths, Some("three"))).await, rule, "{paths:?}");
        assert_eq!(fs::read_to_string(root.join("b/c/d")).expect("it stands"), "two", "{paths:?}");
        assert_eq!(names("."), ["a", "b", "link"], "{paths:?}");
        assert_eq!(names("b/c"), ["d"], "{paths:?}");
    }
    fs::remove_file(lab.outside().join("a")).expect("it was there");
    assert_eq!(lab.fault("files.change", change(&["a", "absent"], None)).await, "malformed_path");
    assert_eq!(lab.said("files.change", change(&["a", "b/c/d"], None)).await, Ok(json!(null)));
    assert_eq!((names("."), names("b/c")), (vec!["b".to_owned(), "link".to_owned()], vec![]));
    let many: Vec<_> = (0..65).map(|number| number.to_string()).collect();
    assert_eq!(lab.fault("files.change", json!({ "paths": many, "text": "" })).await, "cap_exceeded");
}

/// A change that still waits for a thread when its call ends is not made afterwards.
#[test]
fn what_has_not_begun_by_the_end_of_its_call_does_not_begin() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).max_blocking_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime with one thread for what blocks");
    runtime.block_on(async {
        let lab = Lab::new(&[], &[]);
        let write = |path: &str| json!({ "path": path, "text": "one" });
        assert_eq!(lab.said("files.write", write("early")).await, Ok(json!(null)));
        let (release, held) = std::sync::mpsc::channel::<()>();
        let holding = spawn_blocking(move || held.recv().is_err());
        let late = lab.said("files.write", write("late"));
        let late = tokio::time::timeout(std::time::Duration::from_millis(500), late).await;
        assert!(late.is_err(), "it waits, and is called off: {late:?}");
        drop(release);
        assert!(holding.await.expect("the thread goes on"));
        spawn_blocking(|| ()).await.expect("whatever waited before this is done");
        assert!(!lab.workspace().join("late").exists());
        assert_eq!(lab.said("files.write", write("late")).await, Ok(json!(null)));
    });
}
