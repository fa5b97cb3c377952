//! Rules about paths hold for every file that a call asks for, not only for the one that its arguments name.

use serde_json::json;

use super::{Home, at};

const KEEP_OUT: &str = r#"
[[rule]]
id = "keep-out"
effect = "deny"
reason = "nobody reads these"
capability = "fs.*"
target = { path = "secret/**" }

[[rule]]
id = "no-env"
effect = "deny"
reason = "nobody reads these"
capability = "fs.*"
target = { path = "**/.env" }

[[rule]]
id = "diary"
effect = "ask"
capability = "fs.*"
target = { path = "diary/**" }
"#;

fn furnish(home: &Home) {
    for path in ["secret/a", "secret/b/c", "diary/today", "open/a", "src/x.env"] {
        home.put(path, "needle");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_about_a_directory_is_about_the_directory_itself_and_about_what_is_below() {
    let home = Home::with("", KEEP_OUT).await;
    furnish(&home);
    for path in ["secret", "secret/a", "secret/b/c", ".env", "src/.env"] {
        assert_eq!(home.ended("fs.read", &at(path)).await, "rule_deny", "{path}");
    }
    assert_eq!(home.ended("fs.list", &at("secret")).await, "rule_deny");
    assert_eq!(home.ended("fs.read", &at("src/x.env")).await, "executed");
    assert_eq!(home.ended("fs.list", &at(".")).await, "executed", "the root is a path that can be judged");
    assert_eq!(home.ended("fs.read", &at("diary/today")).await, "pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_keeps_from_a_call_is_kept_from_a_search_around_it() {
    let home = Home::with("", KEEP_OUT).await;
    furnish(&home);
    let found = home.household.called("fs.search", &json!({ "query": "needle" })).await;
    let paths: Vec<_> = found["matches"].as_array().unwrap().iter().map(|one| one["path"].clone()).collect();
    assert_eq!(paths, ["open/a", "src/x.env"]);
    assert_eq!(found["skipped"]["refused"], 2, "{found}");
    let found = home.household.called("fs.glob", &json!({ "pattern": "**" })).await;
    let told = found["matches"].to_string();
    assert!(!told.contains("secret/a") && !told.contains("today") && told.contains("open/a"), "{told}");
    // Where a person was asked about the directory, what is below is searched.
    let found = home.household.called("fs.search", &json!({ "query": "needle", "path": "diary" })).await;
    assert_eq!(found["matches"][0]["path"], "diary/today");
}
