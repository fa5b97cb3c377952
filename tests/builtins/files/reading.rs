//! `fs.read` and `fs.list`.

use std::fs;

use capability_core::Code;
use capability_core::audit::OutcomeKind;
use serde_json::json;

use super::{Home, at};

#[tokio::test(flavor = "multi_thread")]
async fn files_of_the_workspace_are_read_without_a_question() {
    let home = Home::new().await;
    home.put("notes/today.md", "\u{feff}one\r\ntwo\r\nthree\r\n");
    let read = home.household.called("fs.read", &at("notes/today.md")).await;
    let whole = json!({
        "path": "notes/today.md", "bytes": 20, "encoding": "utf8", "line_endings": "crlf", "byte_order_mark": true,
        "lines": 3, "text": "\u{feff}one\r\ntwo\r\nthree\r\n", "base64": null, "offset": 0, "count": 3, "next_offset": null,
        "truncated": false, "line_cut": false,
    });
    assert_eq!(read, whole);
    let part = json!({ "path": "notes/today.md", "offset": 1, "limit": 1 });
    let part = home.household.called("fs.read", &part).await;
    assert_eq!((&part["text"], &part["next_offset"], &part["truncated"]), (&json!("two\r\n"), &json!(2), &json!(true)));
    let beyond = home.household.called("fs.read", &json!({ "path": "notes/today.md", "offset": 9 })).await;
    assert_eq!((&beyond["text"], &beyond["count"], &beyond["next_offset"]), (&json!(""), &json!(0), &json!(null)));

    home.put("picture", b"\x89PNG\0\xff");
    let told = home.household.called("fs.read", &at("picture")).await;
    assert_eq!((&told["encoding"], &told["text"], &told["bytes"]), (&json!("binary"), &json!(null), &json!(6)));
    let bytes = json!({ "path": "picture", "read_as": "base64", "offset": 1, "limit": 3 });
    let bytes = home.household.called("fs.read", &bytes).await;
    assert_eq!((&bytes["base64"], &bytes["count"], &bytes["next_offset"]), (&json!("UE5H"), &json!(3), &json!(4)));

    home.put("long", "x".repeat(200_000));
    let long = home.household.called("fs.read", &at("long")).await;
    assert_eq!((&long["line_cut"], &long["truncated"], &long["bytes"]), (&json!(true), &json!(true), &json!(200_000)));
    fs::File::create(home.root.join("huge")).and_then(|file| file.set_len(1 << 40)).unwrap();
    assert!(home.household.failed("fs.read", &at("huge")).await.contains("more than 8 MiB"));
    let last = json!({ "path": "huge", "read_as": "base64", "offset": (1_u64 << 40) - 3 });
    assert_eq!(home.household.called("fs.read", &last).await["base64"], json!("AAAA"));
}

/// Whatever a file is called and wherever it is: read at once, read after an answer to that very path, or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_secret_or_elsewhere_is_read_after_an_answer_to_that_very_path() {
    let home = Home::new().await;
    home.put("src/environment.rs", "fn main() {}");
    home.put("app/.ENV.local", "KEY=sesame");
    home.put(".ssh/config", "Host x");
    home.put("server.PEM", "-----");
    home.put(".git/config", "[remote \"origin\"]\nurl = https://me:sesame@git.example/x\n");
    home.put(".git/HEAD", "ref: refs/heads/main\n");
    assert_eq!(home.ended("fs.read", &at("src/environment.rs")).await, "executed");
    assert_eq!(home.ended("fs.read", &at(".git/HEAD")).await, "executed");
    for path in [
        "app/.ENV.local",
        ".ssh/config",
        "server.PEM",
        ".env::$DATA",
        ".env.",
        "a/.Kube/config",
        ".git/config",
        "a/.Git/modules/b/CONFIG",
        "me/.config/gcloud/x",
    ] {
        assert_eq!(home.ended("fs.read", &at(path)).await, "pending", "{path}");
        assert_eq!(home.because("fs.read", &at(path)).await, [Code::SensitivePath], "{path}");
    }
    let read = home.household.called("fs.read", &at("app/.ENV.local")).await;
    assert_eq!(read["text"], "KEY=sesame");

    let elsewhere = home.outside.join("secret");
    assert_eq!(home.because("fs.read", &at(&elsewhere)).await, [Code::OutsideWorkspace]);
    assert_eq!(home.household.called("fs.read", &at(&elsewhere)).await["text"], "sesame\n");
    assert_eq!(home.because("fs.read", &at("/root/.SSH/id_ed25519")).await, [Code::SensitivePath]);
    let absent = home.outside.join("absent");
    assert!(home.household.failed("fs.read", &at(absent)).await.contains("nothing is at that path"));
    home.household.remembers_nothing_of(&["sesame", "environment.rs"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_the_hosts_own_or_the_kernels_is_read_by_nobody() {
    let home = Home::new().await;
    let data = home.root.parent().unwrap().join("data");
    for path in [
        "/proc/self/environ",
        "/proc/1/root/etc/passwd",
        "/sys/kernel/notes",
        "/dev/null",
        data.join("config.toml").to_str().unwrap(),
        data.join("absent/below").to_str().unwrap(),
    ] {
        assert_eq!(home.ended("fs.read", &at(path)).await, "protected_path", "{path}");
    }
    // Whether or not it is there: nothing of the host's is written, and no path outside is.
    for path in ["policy.toml", "config.toml", "subjects/agent:kitchen/agent.yaml"] {
        let there = data.join(path);
        let before = fs::read(&there).ok();
        let write = json!({ "path": there.to_str().unwrap(), "content": "x" });
        assert_eq!(home.ended("fs.write", &write).await, "outside_workspace", "{path}");
        assert_eq!(fs::read(&there).ok(), before, "{path}");
    }
    // A way into the workspace that rules about its paths do not see.
    home.put("a/b", "inside");
    let round_about = home.household.ask("fs.read", &at(home.root.join("a/b"))).await;
    assert_eq!(round_about.code(), Some(Code::PrepareFailed));
    assert!(round_about.message().unwrap().contains("leads into the workspace"), "{round_about:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_of_the_hosts_is_its_own_wherever_it_lies() {
    let top = tempfile::tempdir().unwrap();
    let token = top.path().join("token");
    fs::write(&token, "sesame").unwrap();
    // One table of each kind that names such a file.
    for (kind, table) in [
        ("bearer", format!("[endpoints.searxng]\nurl = \"http://127.0.0.1:9\"\ntoken_file = {token:?}\n")),
        (
            "pihole",
            format!("[endpoints.pihole]\nurl = \"http://127.0.0.1:9\"\nauth = \"pihole\"\npassword_file = {token:?}\n"),
        ),
        (
            "repository",
            format!(
                "[repositories.notes]\nurl = \"https://git.example/x.git\"\nuser = \"me\"\npassword_file = {token:?}\n"
            ),
        ),
        (
            "mail",
            format!(
                "[mail]\nserver = \"mail.example:465\"\nfrom = \"a@mail.example\"\nrecipients = [\"b@mail.example\"]\nuser = \"a\"\npassword_file = {token:?}\n"
            ),
        ),
        ("server_token", format!("[mcp.servers.docs]\nurl = \"https://docs.example/mcp\"\ntoken_file = {token:?}\n")),
        (
            "server_secret",
            format!("[mcp.servers.docs]\ncommand = [\"/bin/true\"]\nsecrets = {{ DOCS_TOKEN = {token:?} }}\n"),
        ),
    ] {
        let home = Home::with(&table, "").await;
        assert_eq!(home.ended("fs.read", &at(&token)).await, "protected_path", "{kind}");
        // By another name it is the same file, and so it is inside the workspace.
        let copy = top.path().join(kind);
        fs::hard_link(&token, &copy).unwrap();
        assert_eq!(home.ended("fs.read", &at(&copy)).await, "protected_path", "{kind}");
        fs::remove_file(&copy).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_or_a_second_name_or_a_device_is_not_read() {
    let home = Home::new().await;
    home.link(home.outside.join("secret"), "leaf");
    home.link(&home.outside, "link");
    home.link("/proc/self/root", "magic");
    fs::hard_link(home.outside.join("secret"), home.root.join("hard")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.root.join("pipe")).status();
    assert!(made.is_ok_and(|made| made.success()), "a pipe");
    for (path, what) in [
        ("leaf", "over a link"),
        ("link/secret", "over a link"),
        ("magic/etc/passwd", "over a link"),
        ("hard", "a second name"),
        ("pipe", "not of the kind"),
        ("absent", "nothing is at that path"),
    ] {
        assert!(home.household.failed("fs.read", &at(path)).await.contains(what), "{path}");
    }
    for (path, what) in [("secret-link", "over a link"), ("linked/secret", "over a link"), ("hard", "a second name")] {
        let path = home.outside.join(path);
        let _ = std::os::unix::fs::symlink(home.outside.join("secret"), home.outside.join("secret-link"));
        let _ = std::os::unix::fs::symlink(&home.outside, home.outside.join("linked"));
        let _ = fs::hard_link(home.outside.join("secret"), home.outside.join("hard"));
        assert!(home.household.failed("fs.read", &at(&path)).await.contains(what), "{path:?}");
    }
    for path in ["../outside/secret", "~/.SSH/id_ed25519", "a/../b", "/ws/../etc/x", "a//b", ".", "/"] {
        assert_eq!(home.ended("fs.read", &at(path)).await, "check_refused", "{path}");
    }
}

/// The workspace's own root may be named over a link: it is opened once, and what the link says later changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_root_itself_may_be_named_over_a_link() {
    let home = Home::new().await;
    home.put("f", "real");
    let link = home.outside.join("ws");
    std::os::unix::fs::symlink(&home.root, &link).unwrap();
    let other = crate::household::folder();
    let config = format!("[workspace]\nroot = {:?}\n", link.display().to_string());
    let second = crate::household::Household::open(other, &config).await;
    assert_eq!(second.called("fs.read", &at("f")).await["text"], "real");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("/etc", &link).unwrap();
    assert_eq!(second.called("fs.read", &at("f")).await["text"], "real");
}

/// Whoever answers is shown one path, and that one is opened: what it leads to by then is looked at again.
#[tokio::test(flavor = "multi_thread")]
async fn what_changes_between_answer_and_run_is_not_followed() {
    let home = Home::new().await;
    fs::create_dir(home.outside.join("d")).unwrap();
    fs::write(home.outside.join("d/f"), "fine").unwrap();
    fs::create_dir(home.outside.join("other")).unwrap();
    fs::write(home.outside.join("other/f"), "sesame").unwrap();
    let (from, to) = (home.outside.join("d"), home.outside.join("other"));
    let outcome = home
        .household
        .call_after("fs.read", &at(home.outside.join("d/f")), |_| {
            fs::rename(&from, home.outside.join("gone")).unwrap();
            std::os::unix::fs::symlink(&to, &from).unwrap();
        })
        .await;
    assert_eq!(outcome.kind(), OutcomeKind::Failed, "{outcome:?}");
    assert!(outcome.message().unwrap().contains("over a link"), "{outcome:?}");
    // And one that leads into the host's own directory by then is none either.
    fs::remove_file(&from).unwrap();
    fs::create_dir(&from).unwrap();
    fs::write(from.join("config.toml"), "fine").unwrap();
    let own = home.root.parent().unwrap().join("data");
    let outcome = home
        .household
        .call_after("fs.read", &at(from.join("config.toml")), |_| {
            fs::remove_dir_all(&from).unwrap();
            std::os::unix::fs::symlink(&own, &from).unwrap();
        })
        .await;
    assert_eq!((outcome.kind(), outcome.result()), (OutcomeKind::Failed, None), "{outcome:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_directory_is_listed_by_name() {
    let home = Home::new().await;
    home.put("b.md", "12345");
    home.put("a/x", "");
    home.link("/etc", "c");
    let listed = home.household.called("fs.list", &json!({})).await;
    let entry = |name: &str, kind: &str, bytes: Option<u64>| json!({ "name": name, "kind": kind, "bytes": bytes });
    let entries = [entry("a", "directory", None), entry("b.md", "file", Some(5)), entry("c", "other", None)];
    assert_eq!(
        listed,
        json!({ "path": ".", "entries": entries, "total": 3, "unnamed": 0, "offset": 0, "next_offset": null, "truncated": false })
    );
    let part = home.household.called("fs.list", &json!({ "path": ".", "offset": 1, "limit": 1 })).await;
    assert_eq!((&part["entries"], &part["next_offset"]), (&json!([entries[1]]), &json!(2)));
    assert!(home.household.failed("fs.list", &at("c")).await.contains("over a link"));
    assert!(home.household.failed("fs.list", &at("b.md")).await.contains("nothing is at that path"));
    assert_eq!(home.ended("fs.list", &at("/etc")).await, "check_refused");
    home.put(".aws/config", "");
    assert_eq!(home.because("fs.list", &at(".aws")).await, [Code::SensitivePath]);
    for number in 0..1500 {
        home.put(&format!("many/{number:04}-{}", "n".repeat(20)), "");
    }
    let many = home.household.called("fs.list", &at("many")).await;
    let next = many["next_offset"].as_u64().unwrap();
    assert_eq!((&many["total"], many["entries"].as_array().unwrap().len() as u64), (&json!(1500), next));
    let rest = home.household.called("fs.list", &json!({ "path": "many", "offset": next })).await;
    assert!(rest["entries"][0]["name"].as_str().unwrap().starts_with(&format!("{next:04}")));
}
