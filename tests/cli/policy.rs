//! Rules: checked without a host, in force from the next call on, and kept when their file goes wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::home::Home;

const NO_GREETING: &str = "[[rule]]
id = \"no-greeting\"
effect = \"deny\"
reason = \"nobody is home\"
capability = \"house.greet\"
except = [{ origin = \"ui\" }]
match = [{}]
not_match = [{ origin = \"ui\" }]
";

const PEEK: &str = "[[rule]]
id = \"peek\"
effect = \"allow\"
reason = \"the cat does not mind\"
capability = \"house.peek\"
";

/// Whoever puts rules into the workspace is told that they are none; without any there is nothing to say.
#[test]
fn rules_in_the_workspace_are_said_not_to_be_read() {
    let home = Home::talkative();
    let root = home.top().join("notes");
    fs::create_dir(&root).unwrap();
    home.configure(&format!("[workspace]\nroot = {root:?}\n"));
    let words = "at the workspace's root is not read";
    let greet = || home.run(&["invoke", "house.greet", r#"{"name":"Ada"}"#]).exits(0);
    assert!(!greet().err.contains(words));
    fs::write(root.join("policy.toml"), NO_GREETING).unwrap();
    let ran = greet();
    assert_eq!(ran.err.matches(words).count(), 1, "{ran:#?}");
}

pub fn write(home: &Home, text: &str) {
    if !home.data().join("config.toml").exists() {
        home.configure("");
    }
    let path = home.data().join("policy.toml");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_file_is_checked_without_a_host() {
    let home = Home::new();
    home.run(&["policy", "check"]).exits(2).says(&["there is no", "household policy check FILE`"]);
    let draft = home.top().join("draft.toml");
    fs::write(&draft, NO_GREETING).unwrap();
    let named = draft.to_str().unwrap();
    home.run(&["policy", "check", named]).exits(0).says(&["ok", "1 rule, 2 examples hold; revision "]);
    let (exit, document) = home.json(&["policy", "check", named]);
    assert_eq!((exit, &document["rules"], &document["strange"]), (0, &json!(1), &json!([])));
    assert!(!home.data().exists(), "nothing is owned or made");

    for (text, said) in [
        (
            NO_GREETING.replace("house.greet", "house.great"),
            "line 1: rule `no-greeting`: this build has no capability `house.great`; `house.greet` is one",
        ),
        (
            NO_GREETING.replace("match = [{}]", "match = [{ origin = \"ui\" }]"),
            "example 1 of `match` in rule `no-greeting` is not matched: exception 1",
        ),
        (NO_GREETING.replace("effect = \"deny\"\n", ""), "in rule `no-greeting`: missing field `effect`"),
        (NO_GREETING.replace("reason", "cause"), "line 4: in rule `no-greeting`: unknown field `cause`"),
    ] {
        fs::write(&draft, text).unwrap();
        home.run(&["policy", "check", named]).exits(4).says(&["draft.toml", said, "help:"]);
        assert_eq!(home.json(&["policy", "check", named]).0, 4);
    }
    fs::write(
        &draft,
        NO_GREETING.replace("deny", "allow").replace("except = [{ origin = \"ui\" }]\n", "").replace("greet", "count"),
    )
    .unwrap();
    home.run(&["policy", "check", named]).exits(4);
    fs::write(&draft, PEEK.replace("peek", "vault")).unwrap();
    home.run(&["policy", "check", named]).exits(0).says(&[
        "strange:",
        "line 1: rule `vault` allows what is locked",
        "help: take it back",
    ]);

    // The one in the data directory is held to its rules.
    write(&home, NO_GREETING);
    home.run(&["policy", "check"]).exits(0);
    fs::set_permissions(home.data().join("policy.toml"), fs::Permissions::from_mode(0o644)).unwrap();
    home.run(&["policy", "check"]).exits(4).says(&["mode 0644", "chmod 0600"]);
}

#[test]
fn an_edit_counts_from_the_next_call_on_and_a_wrong_one_not_at_all() {
    let home = Home::with_operator();
    let serving = home.serve();
    let greet = || home.json(&["invoke", "house.greet", r#"{"name":"Ada"}"#]);
    assert_eq!(greet().0, 0);
    home.run(&["policy", "show"]).exits(0).says(&["0 rules"]);
    write(&home, NO_GREETING);
    let (exit, outcome) = greet();
    assert_eq!((exit, &outcome["code"]), (4, &json!("rule_deny")));
    assert_eq!(outcome["message"], "rule `no-greeting` denies this call: nobody is home");
    write(&home, &(NO_GREETING.to_owned() + PEEK));
    assert_eq!(home.json(&["invoke", "house.peek"]).0, 3, "what lets through more waits for an operator");
    home.operate(&["policy", "accept"]).exits(0).says(&["takes less than before", "house.peek", "accepted"]);
    assert_eq!(home.json(&["invoke", "house.peek"]).0, 0, "its own default is displaced");
    home.run(&["policy", "show"]).exits(0).says(&[
        "2 rules",
        "no-greeting  deny",
        "capability = \"house.greet\"",
        "except origin = \"ui\"",
        "because nobody is home",
    ]);
    let (_, shown) = home.json(&["policy", "show"]);
    assert_eq!((&shown["rules"][1]["id"], &shown["problem"]), (&json!("peek"), &json!(null)));

    write(&home, "[[rule]]\nid = \"no-greeting\"\n");
    assert_eq!(greet().1["code"], "rule_deny", "what was in force stays");
    home.run(&["doctor"]).exits(6).says(&[
        "policy.toml` line 1",
        "what was in force stays: 2 rules",
        "missing field `effect`",
    ]);
    home.run(&["policy", "show"]).exits(0).says(&["2 rules", "not in force:", "line 1"]);
    fs::remove_file(home.data().join("policy.toml")).unwrap();
    assert_eq!(greet().1["code"], "rule_deny");
    home.run(&["doctor"]).exits(6).says(&["is gone"]);

    write(&home, PEEK);
    assert_eq!(greet().1["code"], "rule_deny", "fewer rules let through more");
    home.operate(&["policy", "accept"]).exits(0);
    assert_eq!(greet().0, 0);
    home.run(&["doctor"]).exits(0).says(&["1 rule in force, revision "]);
    assert_eq!(serving.end("TERM").exit, 0);

    let told: Vec<_> = home
        .records_of("configuration")
        .into_iter()
        .filter(|record| record["setting"].as_str().is_some_and(|setting| setting.starts_with("policy")))
        .map(|record| (record["setting"].clone(), record["rules"].clone(), record["operator"].clone()))
        .collect();
    let in_force = |rules: u32| (json!("policy"), json!(rules), json!("operator"));
    let refused = || (json!("policy_refused"), json!(null), json!("operator"));
    let of = |setting: &str| (json!(setting), json!(null), json!("operator"));
    let accepted = |rules: u32| [of("policy_held"), of("policy_accepted"), in_force(rules)];
    let first = core::iter::once(in_force(1)).chain(accepted(2));
    let expected: Vec<_> = first.chain([refused(), refused()]).chain(accepted(1)).collect();
    assert_eq!(told, expected);
}

#[test]
fn a_host_does_not_start_without_the_rules_that_were_in_force() {
    let home = Home::new();
    write(&home, NO_GREETING);
    let greet = || home.run(&["invoke", "house.greet", r#"{"name":"Ada"}"#]);
    greet().exits(4).says(&["rule_deny", "nobody is home"]);
    fs::remove_file(home.data().join("policy.toml")).unwrap();
    greet().exits(6).says(&["is gone", "policy.in-force.toml", "an empty file is no rules"]);
    home.run(&["doctor"]).exits(6).says(&["is gone"]);
    write(&home, "[[rule]]\n");
    greet().exits(6).says(&["line 1", "missing field"]);
    // No rules let through more than some, so that the first ones stay.
    write(&home, "");
    greet().exits(4).says(&["rule_deny"]);
    write(&home, NO_GREETING);
    greet().exits(4).says(&["rule_deny"]);
}
