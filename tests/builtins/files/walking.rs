//! `fs.search` and `fs.glob`.

use std::fs;

use serde_json::{Value, json};

use super::Home;

fn paths(result: &Value) -> Vec<String> {
    let matches = result["matches"].as_array().unwrap();
    matches.iter().map(|one| one["path"].as_str().unwrap().to_owned()).collect()
}

/// Something of every kind.
fn furnish(home: &Home) {
    home.put("src/main.rs", "fn main() {}\n// needle\n");
    home.put("src/deep/er.rs", "needle needle\n");
    home.put("notes/a.md", "no\r\nNeedle here\r\n");
    home.put("notes/x.env", "needle");
    home.put(".env", "needle=sesame");
    home.put(".ssh/id_rsa", "needle");
    home.put(".git/config", "needle");
    home.put("blob", b"needle\0");
    home.put("latin1", b"needle \xe4");
    fs::write(home.outside.join("secret"), "needle sesame").unwrap();
    fs::hard_link(home.outside.join("secret"), home.root.join("hard")).unwrap();
    home.link(&home.outside, "out");
    home.link("/proc/self/root", "magic");
    fs::File::create(home.root.join("huge")).and_then(|file| file.set_len(1 << 40)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn text_files_are_searched_and_what_is_passed_over_is_told() {
    let home = Home::new().await;
    furnish(&home);
    let found = home.household.called("fs.search", &json!({ "query": "needle" })).await;
    let line = |path: &str, line: u32, column: u32, text: &str| json!({ "path": path, "line": line, "column": column, "text": text, "cut": false });
    let matches = [
        line("notes/x.env", 1, 1, "needle"),
        line("src/deep/er.rs", 1, 1, "needle needle"),
        line("src/main.rs", 2, 4, "// needle"),
    ];
    assert_eq!(found["matches"], json!(matches));
    let skipped = json!({
        "binary": 2, "too_large": 1, "secret": 2, "hard_linked": 1, "not_plain": 2, "version_control": 1, "refused": 0,
        "directories": 0,
    });
    assert_eq!((&found["skipped"], &found["files_read"], &found["stopped"]), (&skipped, &json!(4), &json!(null)));
    assert_eq!(home.household.called("fs.search", &json!({ "query": "needle" })).await, found, "it is the same again");

    let any = json!({ "query": "NEEDLE", "matching": "text_in_any_case", "files": "**/*.md" });
    assert_eq!(
        home.household.called("fs.search", &any).await["matches"],
        json!([line("notes/a.md", 2, 1, "Needle here")])
    );
    let regex = json!({ "query": r"^fn \w+\(", "matching": "regex", "path": "src" });
    assert_eq!(paths(&home.household.called("fs.search", &regex).await), ["src/main.rs"]);
    let one = home.household.called("fs.search", &json!({ "query": "needle", "limit": 1 })).await;
    assert_eq!((paths(&one).len(), &one["stopped"]), (1, &json!("results")));
    for (arguments, what) in [
        (json!({ "query": "(", "matching": "regex" }), "the expression is none"),
        (json!({ "query": r"(\w{500}){500}", "matching": "regex" }), "the expression is too large"),
        (json!({ "query": "x", "files": "[" }), "the pattern is none"),
        (json!({ "query": "x", "path": ".ssh" }), "called as secrets are"),
        (json!({ "query": "x", "path": "/etc" }), "the root of the file system"),
    ] {
        let refused = home.household.ask("fs.search", &arguments).await;
        assert_eq!(refused.code(), Some(capability_core::Code::CheckRefused), "{arguments}");
        assert!(refused.message().unwrap().contains(what), "{arguments}: {refused:?}");
    }
    assert!(home.household.failed("fs.search", &json!({ "query": "x", "path": "out" })).await.contains("over a link"));
    home.household.remembers_nothing_of(&["needle", "sesame"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_line_is_told_around_what_matches() {
    let home = Home::new().await;
    home.put("f", "ä".repeat(5000) + "needle" + &"b".repeat(5000));
    let found = home.household.called("fs.search", &json!({ "query": "needle" })).await;
    let told = &found["matches"][0];
    assert_eq!((&told["column"], &told["cut"]), (&json!(5001), &json!(true)));
    let text = told["text"].as_str().unwrap();
    assert!(text.contains("needle") && text.chars().count() == 300, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn paths_are_found_by_their_parts() {
    let home = Home::new().await;
    furnish(&home);
    let glob = async |pattern: &str| {
        let found = home.household.called("fs.glob", &json!({ "pattern": pattern })).await;
        paths(&found)
    };
    assert_eq!(glob("**/.env").await, [".env"]);
    assert_eq!(glob("*.env").await, [".env"]);
    assert_eq!(glob("**/*.rs").await, ["src/deep/er.rs", "src/main.rs"]);
    assert_eq!(glob("src/*").await, ["src/deep", "src/main.rs"]);
    assert_eq!(glob("{notes,src}/{a,main}.*").await, ["notes/a.md", "src/main.rs"]);
    assert_eq!(glob("out/**").await, Vec::<String>::new());
    let below = home.household.called("fs.glob", &json!({ "pattern": "*", "path": "src" })).await;
    assert_eq!(
        below["matches"],
        json!([
            { "path": "src/deep", "kind": "directory", "bytes": null },
            { "path": "src/main.rs", "kind": "file", "bytes": 23 },
        ])
    );
    let one = home.household.called("fs.glob", &json!({ "pattern": "**", "limit": 1 })).await;
    assert_eq!((paths(&one).len(), &one["stopped"]), (1, &json!("results")));
    assert_eq!(home.ended("fs.glob", &json!({ "pattern": "{a" })).await, "check_refused");
    assert_eq!(home.ended("fs.glob", &json!({ "pattern": "*", "path": "../outside" })).await, "check_refused");
}

/// A tree without end has a search with one.
#[tokio::test(flavor = "multi_thread")]
async fn a_walk_has_an_end_whatever_there_is() {
    let home = Home::new().await;
    let deep = vec!["d"; 200].join("/");
    home.put(&format!("{deep}/f"), "needle");
    let found = home.household.called("fs.search", &json!({ "query": "needle" })).await;
    assert_eq!((paths(&found).len(), &found["skipped"]["directories"]), (0, &json!(1)));
    for number in 0..4097 {
        home.put(&format!("wide/{number}"), "");
    }
    let found = home.household.called("fs.glob", &json!({ "pattern": "wide/*" })).await;
    assert_eq!((paths(&found).len(), &found["skipped"]["directories"]), (0, &json!(2)));
    for directory in 0..6 {
        for number in 0..4000 {
            home.put(&format!("many/{directory}/{number}"), "");
        }
    }
    let found = home.household.called("fs.glob", &json!({ "pattern": "none" })).await;
    assert!(found["stopped"] == json!("names") || found["stopped"] == json!("time"), "{found}");
}
