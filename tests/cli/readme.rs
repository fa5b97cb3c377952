//! The front page's own example, built as it stands there.

use crate::home::{Home, PASSWORD};
use crate::project::Project;

const README: &str = include_str!("../../README.md");

/// The first block of this language.
fn block(language: &str) -> &'static str {
    let (_, rest) = README.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_rules_on_the_front_page_are_rules() {
    let (_, rules) = README.split_once("## Rules").unwrap();
    let (_, rules) = rules.split_once("```toml\n").unwrap();
    let home = Home::new();
    let file = home.top().join("rules.toml");
    std::fs::write(&file, rules.split_once("```").unwrap().0).unwrap();
    let checked = home.run(&["policy", "check", file.to_str().unwrap()]).exits(0);
    assert!(checked.out.contains("1 rule"), "{}", checked.out);
    let reached = home.run(&["policy", "reach", "web.fetch", "--subject", "local", "--without-asking"]).exits(0);
    assert!(reached.out.contains("never"), "{}", reached.out);
}

#[test]
fn the_example_does_what_the_front_page_shows() {
    let project = Project::new("front-page", "", "");
    let at = env!("CARGO_MANIFEST_DIR");
    let mut manifest = block("toml").replace("name = \"household\"", "name = \"front-page\"");
    for (package, path) in [("capability-core", "capability-core"), ("capability-host", "capabilities/host")] {
        let beside = format!("{package} = {{ path = \"../capability/{path}\" }}");
        assert!(manifest.contains(&beside), "{manifest}");
        manifest = manifest.replace(&beside, &format!("{package} = {{ path = \"{at}/{path}\" }}"));
    }
    project.write("Cargo.toml", &format!("{manifest}\n[workspace]\n"));
    project.write("src/main.rs", block("rust"));
    let home = Home::of(&project.build());
    home.setup();
    home.login();
    home.operate(&["optin", "set", "lamp", "on"]).exits(0);
    let lamp = ["lamp.switch", "--arg", "lamp=porch", "--arg", "on=true", "--reason", "it gets dark"];
    let id = home.pending(&lamp);
    let shown = home.operate(&["approvals", "show", &id]).exits(0);
    let (_, card) = README.split_once("lamp.switch@1 asks to run\n").unwrap();
    let (card, _) = card.split_once("run exactly this, once?").unwrap();
    for line in card.lines().filter(|line| !line.contains("expires")) {
        assert!(shown.out.lines().any(|shown| shown == line), "{line:?} is not shown: {}", shown.out);
    }
    home.operate(&["approvals", "approve", &id]).exits(0);
    assert_eq!(home.run(&["resume", &id]).exits(0).out, "\"porch is on\"\n");
    let refused = home.run(&["invoke", "system.health", r#"{"confirmed":true}"#]).exits(4);
    let (_, text) = README.split_once("'{\"confirmed\":true}'\n").unwrap();
    assert_eq!(refused.out, text.split_once("```").unwrap().0);
    assert!(!README.contains(PASSWORD));
}
