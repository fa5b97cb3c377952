//! Questions to the rules, what has to be accepted, and what somebody can do.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::home::{Home, signal};
use crate::policy::write;

const SUBJECTS: &str =
    "[subjects.\"agent:kitchen\"]\ncapabilities = [\"house.greet\", \"house.peek\", \"house.vault\"]\n";

const RULES: &str = r#"[[rule]]
id = "kitchen-asks"
effect = "ask"
subject = "agent:kitchen"
capability = "house.greet"

[[rule]]
id = "not-there"
effect = "deny"
reason = "nothing of ours"
capability = "house.lookup"
target = { host = "**.tracker.example" }
"#;

fn with_rules() -> Home {
    let home = Home::with_operator();
    home.configure(SUBJECTS);
    write(&home, RULES);
    home.operate(&["optin", "set", "house", "on"]).exits(0);
    home
}

/// No line is wider than a terminal.
fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn one_call_is_explained() {
    let home = with_rules();
    let target = ["policy", "explain", "house.lookup", "--target", "a.tracker.example"];
    home.run(&target).exits(0).says(&[
        "local asks house.lookup for a.tracker.example (terminal, ",
        "\ndeny\n",
        "* deny      a rule denies this call",
        "  ask_fresh its class needs a fresh confirmation",
        "* deny      not-there: matches, and is its source's word",
        "\u{201c}nothing of ours\u{201d}",
        "  ask       kitchen-asks: does not match: it is about another subject",
        "ask_fresh if rule `not-there` does not apply",
    ]);
    let (exit, told) =
        home.json(&["policy", "explain", "house.greet", "--subject", "agent:kitchen", "--origin", "model"]);
    assert_eq!((exit, &told["verdict"], &told["flip"]["to"]), (0, &json!("ask"), &json!("allow")));
    assert_eq!(told["contributors"].as_array().unwrap().len(), 12);
    home.run(&["policy", "explain", "house.count", "--mode", "plan"]).exits(0).says(&["plan mode runs only"]);
    home.run(&["policy", "explain", "house.none"]).exits(4).says(&["no capability is `house.none@1`"]);
    home.run(&["policy", "explain", "house.greet", "--target", "x"]).exits(2).says(&["nothing in particular"]);
    home.run(&["policy", "explain", "house.greet", "--subject", "agent:attic"]).exits(4).says(&["has no manifest"]);
}

#[test]
fn what_subjects_may_and_can_ever_reach() {
    let home = with_rules();
    let ran = home.run(&["policy", "matrix"]).exits(0);
    fits(&ran.out);
    let ran = ran.says(&["local\n", "\nagent:kitchen\n", "house.greet@1            ask  `kitchen-asks`"]);
    assert!(ran.out.contains("house.lookup@1           depends on target"), "{}", ran.out);
    assert!(ran.out.contains("    deny      `not-there`\n              as for other.tracker.example\n"), "{}", ran.out);
    let (_, table) = home.json(&["policy", "matrix", "--subject", "agent:kitchen"]);
    assert_eq!(table["rows"].as_array().unwrap().len(), 1);
    let (_, reached) = home.json(&["policy", "reach", "house.peek", "--subject", "agent:kitchen", "--without-asking"]);
    assert_eq!(reached[0]["reach"]["never"]["because"][0]["code"], "default_ask");
    let (_, reached) = home.json(&["policy", "reach", "house.peek", "--subject", "agent:kitchen"]);
    assert_eq!(reached[0]["reach"]["yes"]["first"]["verdict"], "ask");
    home.run(&["policy", "reach", "--without-asking"]).exits(0).says(&[
        "what local can ever do, without being asked",
        "house.greet@1            allow\n  such as local asks house.greet (terminal, ",
        "house.vault@1            never\n  this capability is locked",
    ]);
    home.run(&["policy", "reach", "house.non"]).exits(4).says(&["no capability is called `house.non`"]);
}

#[test]
fn what_lets_through_more_waits_for_an_operator() {
    let home = with_rules();
    home.run(&["policy", "accept"]).exits(4).says(&["nothing waits to be accepted"]);
    home.run(&["policy", "compare"]).exits(0).says(&["equal", "every call ends the same"]);
    let wider = RULES.replace("effect = \"ask\"\n", "effect = \"allow\"\nreason = \"it is polite\"\n");
    write(&home, &wider);
    let kitchen = ["invoke", "house.greet", r#"{"name":"Ada"}"#, "--subject", "agent:kitchen"];
    home.operate(&kitchen).exits(3).says(&["what was in force before stays in force"]);
    home.run(&["policy", "check"]).exits(0).says(&["waits:", "`household policy accept`"]);
    home.run(&["doctor"]).exits(6).says(&["lets through more than what is in force: agent:kitchen asks house.greet"]);
    home.run(&["policy", "show"]).exits(0).says(&["kitchen-asks  ask", "not in force:"]);
    home.run(&["policy", "compare"]).exits(0).says(&[
        "wider",
        "takes less than before\n  agent:kitchen asks house.greet",
        "ask (`kitchen-asks`) -> allow (`kitchen-asks`)",
        "not in force until an operator accepts it",
    ]);
    home.run(&["policy", "accept"]).exits(4).says(&["operator credential"]);
    let serving = home.serve();
    assert_eq!(home.operate_json(&kitchen).0, 3);
    let (exit, accepted) = home.operate_json(&["policy", "accept"]);
    assert_eq!(serving.end("TERM").exit, 0);
    assert_eq!((exit, &accepted["comparison"]["relation"]), (0, &json!("wider")));
    assert_eq!(home.operate_json(&kitchen).0, 0);
    home.run(&["doctor"]).exits(0);
    // Recorded before it counts, and by whom.
    let settings: Vec<Value> = home.records_of("configuration");
    let at = |setting: &str| settings.iter().rposition(|record| record["setting"] == setting).unwrap();
    assert!(at("policy_held") < at("policy_accepted") && at("policy_accepted") < at("policy"));
    assert_eq!(settings[at("policy_accepted")]["revision"], accepted["revision"]);

    // A draft anywhere is compared, and nothing comes of it.
    let draft = home.top().join("draft.toml");
    std::fs::write(&draft, RULES).unwrap();
    home.run(&["policy", "compare", draft.to_str().unwrap()]).exits(0).says(&["narrower", "takes more than before"]);
    std::fs::write(&draft, "[[rule]]\n").unwrap();
    home.run(&["policy", "compare", draft.to_str().unwrap()]).exits(4).says(&["draft.toml", "line 1"]);
    write(&home, RULES);
    assert_eq!(home.operate_json(&kitchen).0, 3, "what only narrows counts at once");
}

#[test]
fn what_somebody_can_do_is_told_with_its_reasons() {
    let home = with_rules();
    home.run(&["self-model"]).exits(0).says(&[
        "local (live, terminal) at ",
        "can        house.greet@1\n",
        "asks       house.count@1\n  ask_fresh its class needs a fresh confirmation",
        "depends    house.lookup@1\n",
        "  deny      a rule denies this call: `not-there`\n            because nothing of ours",
        "forbidden  house.vault@1\n  deny      this capability is locked",
    ]);
    let (_, model) = home.json(&["self-model", "--subject", "agent:kitchen", "--origin", "model"]);
    let told: Vec<_> = model["capabilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["capability"].as_str().unwrap(), item["ability"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [("house.greet", "asks"), ("house.peek", "asks"), ("house.vault", "forbidden")]);
    let (_, dream) = home.json(&["self-model", "--subject", "agent:kitchen", "--mode", "dream"]);
    assert_eq!(dream["capabilities"][0]["ends"][0]["code"], "mode_refused");
}

#[test]
fn each_change_is_told_to_whoever_follows() {
    let home = with_rules();
    let serving = home.serve();
    let mut child = home.start(&["self-model", "--subject", "agent:kitchen", "--follow", "--json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(next()["capabilities"].as_array().unwrap().len(), 3);
    // A file that is edited tells nobody, and is seen all the same.
    write(
        &home,
        &(RULES.to_owned()
            + "[[rule]]\nid = \"quiet\"\neffect = \"deny\"\nreason = \"hush\"\ncapability = \"house.greet\"\n"),
    );
    let change = next();
    let (before, after) = (&change["changed"][0]["before"], &change["changed"][0]["after"]);
    assert_eq!((&before["ability"], &after["ability"]), (&json!("asks"), &json!("forbidden")));
    assert_eq!(after["ends"][0]["rules"][0]["reason"], "hush");
    write(&home, RULES);
    home.operate(&["policy", "accept"]).exits(0);
    assert_eq!(next()["changed"][0]["after"]["ability"], "asks");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(serving.end("TERM").exit, 0);
}
