//! What a model is shown, and what it can have again.

use serde_json::{Value, json};

use crate::home::Home;

#[test]
fn the_tools_of_a_subject_as_each_provider_takes_them() {
    let home = Home::new();
    home.configure("[subjects.\"agent:kitchen\"]\ncapabilities = [\"house.greet\"]\n\n[surface]\npinned = [\"house.greet\", \"no.such\"]\n");
    let (exit, shown) = home.json(&["surface"]);
    assert_eq!((exit, &shown["profile"], &shown["budget"]), (0, &json!("mcp"), &json!(8192)));
    let names = |shown: &Value| -> Vec<String> {
        shown["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let local = names(&shown);
    assert!(
        local.iter().any(|name| name == "house-greet")
            && local.ends_with(&["tool_search".into(), "invoke_tool".into()])
    );
    assert_eq!(shown["unknown_pins"], json!(["no.such"]));
    assert!(shown["deferred"].as_array().unwrap().iter().any(|tool| tool["name"] == "house-send"), "{shown}");
    // The same in every run.
    assert_eq!(home.json(&["surface"]).1, shown);

    // What is not declared is not there, shown or deferred.
    let (_, kitchen) = home.json(&["surface", "--subject", "agent:kitchen"]);
    assert_eq!(names(&kitchen), ["house-greet", "tool_search", "invoke_tool"]);
    assert_eq!(kitchen["deferred"], json!([]));

    for (profile, key) in [("openai", "parameters"), ("anthropic", "input_schema"), ("gemini", "parameters")] {
        let (exit, shown) = home.json(&["surface", "--profile", profile]);
        assert_eq!((exit, names(&shown)), (0, local.clone()), "{profile}");
        assert!(shown["tools"].as_array().unwrap().iter().all(|tool| tool[key]["type"] == "object"), "{profile}");
    }
    home.run(&["surface", "--profile", "OpenAI"]).exits(2).says(&["`openai`"]);
    home.run(&["surface", "--subject", "agent:nobody"]).exits(4).says(&["no manifest"]);
    home.run(&["surface", "--profile", "gemini"])
        .exits(0)
        .says(&["what this profile cannot say", "additionalProperties"]);
}

#[test]
fn a_result_can_be_had_again_while_its_host_runs_and_its_reason_always() {
    let home = Home::with_operator();
    let serving = home.serve();
    let (exit, outcome) = home.json(&["invoke", "house.greet", r#"{"name":"marmalade"}"#]);
    assert_eq!(exit, 0, "{outcome}");
    let receipt = json!({ "seq": outcome["receipt"]["seq"], "hash": outcome["receipt"]["hash"] }).to_string();
    let (exit, again) = home.json(&["invoke", "self.introspect", &receipt]);
    assert_eq!((exit, &again["result"]["capability"]), (0, &json!("house.greet")), "{again}");
    let inner: Value = serde_json::from_str(again["result"]["result"].as_str().unwrap()).unwrap();
    assert_eq!(inner, outcome["result"]);

    let other = json!({ "seq": outcome["receipt"]["seq"], "hash": "0".repeat(64) }).to_string();
    home.run(&["invoke", "self.introspect", &other]).exits(5).says(&["no result with that receipt"]);
    home.run(&["invoke", "self.introspect", r#"{"seq":1,"hash":"x"}"#]).exits(4);

    let refused = home.json(&["invoke", "house.greet", r#"{"name":"marmalade","times":9}"#]).1;
    let asked = json!({ "seq": refused["receipt"]["seq"] }).to_string();
    let (exit, why) = home.json(&["invoke", "self.reflect", &asked]);
    assert_eq!(exit, 0, "{why}");
    let [call] = why["result"]["calls"].as_array().unwrap().as_slice() else { panic!("one call: {why}") };
    assert_eq!(
        (&call["capability"], &call["outcome"], &call["code"]),
        (&json!("house.greet"), &json!("rejected"), &refused["code"])
    );
    assert!(!why.to_string().contains("marmalade"), "{why}");
    let (_, found) = home.json(&["invoke", "self.calls", r#"{"outcome":"executed","capability":"house.greet"}"#]);
    assert_eq!(found["result"]["calls"].as_array().unwrap().len(), 1, "{found}");

    home.run(&["results", "erase"]).exits(4).says(&["operator credential"]);
    assert_eq!(home.operate_json(&["results", "erase", "--subject", "agent:kitchen"]).1["erased"], 0);
    let erased = home.operate_json(&["results", "erase"]).1["erased"].as_u64().unwrap();
    assert!(erased >= 1, "{erased}");
    home.run(&["invoke", "self.introspect", &receipt]).exits(5).says(&["no result with that receipt"]);
    let settings = home.records_of("configuration");
    assert_eq!(settings.iter().filter(|record| record["setting"] == "results_erased").count(), 1);
    serving.end("TERM").exits(0);

    // Nobody else's: another subject is told of nothing that this one did.
    home.configure("[subjects.\"agent:kitchen\"]\ncapabilities = [\"self.reflect\", \"self.introspect\"]\n");
    let (_, none) = home.operate_json(&["invoke", "self.reflect", "{}", "--subject", "agent:kitchen"]);
    assert_eq!(none["result"]["calls"], json!([]), "{none}");
    let foreign = home.operate(&["invoke", "self.introspect", &receipt, "--subject", "agent:kitchen"]);
    foreign.exits(5).says(&["no result with that receipt"]);
}
