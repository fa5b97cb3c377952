//! What the rules come to, on a page.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::centre::Centre;
use crate::home::Home;

const RULES: &str = r#"
[[rule]]
id = "no-time"
effect = "deny"
reason = "clocks are <b>nobody's</b> business"
capability = "house.lookup"
target = { host = "time.example" }
"#;

fn centre() -> Centre {
    let home = Home::with_operator();
    home.configure("[subjects.kid]\ncapabilities = [\"house.greet\"]\n[web]\nlisten = \"127.0.0.1:0\"\n");
    home.operate(&["optin", "set", "house", "on"]).exits(0);
    let path = home.data().join("policy.toml");
    fs::write(&path, RULES).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    Centre::serving(home, |_| {})
}

/// The row of one subject and capability.
fn row<'p>(page: &'p str, subject: &str, capability: &str) -> &'p str {
    let section =
        page.split(&format!("data-subject=\"{subject}\"")).nth(1).unwrap().split("</section>").next().unwrap();
    section.split(&format!("data-capability=\"{capability}\"")).nth(1).unwrap().split("</tr>").next().unwrap()
}

#[test]
fn the_table_says_what_each_subject_may_and_each_answer_says_why() {
    let centre = centre();
    let operator = centre.logged_in();
    let page = operator.get("/policy").is(200).body;
    let lookup = row(&page, "local", "house.lookup");
    assert!(
        lookup.contains("asks a person each time") && lookup.contains("refused") && lookup.contains("target"),
        "{lookup}"
    );
    assert!(row(&page, "local", "house.vault").contains("refused"));
    assert!(row(&page, "local", "house.greet").contains("runs"));
    assert!(row(&page, "kid", "house.lookup").contains("manifest does not declare"));
    assert!(row(&page, "kid", "house.greet").contains("runs"));
    let refused = lookup.split("data-verdict=\"deny\"").nth(1).unwrap();
    let address = refused.split("href=\"").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    let why = operator.get(&address).is(200).body;
    for words in [
        "time.example",
        "no-time",
        "clocks are &lt;b&gt;nobody's&lt;/b&gt; business",
        "rules of the operator",
        "(decides)",
    ] {
        assert!(why.contains(words), "no {words} in {why}");
    }
    // Any other call.
    let other =
        operator.get("/policy/explain?capability=house.greet&subject=kid&origin=model&target=&scope=&at=&version=1");
    assert!(other.is(200).body.contains("data-verdict=\"allow\""));
    for (path, status) in [
        ("/policy/explain?capability=no.such&subject=kid", 403),
        ("/policy/explain?capability=house.greet&subject=stranger", 403),
        ("/policy/explain?capability=house.greet&subject=No%20Subject", 404),
        ("/policy/explain?capability=house.greet&subject=kid&origin=moon", 400),
        ("/policy/explain?capability=house.greet&subject=kid&at=noon", 400),
        ("/policy/explain", 400),
        ("/policy?subject=stranger", 403),
    ] {
        assert_eq!(operator.get(path).status, status, "{path}");
    }
    operator.get("/policy?subject=kid").is(200);
}

#[test]
fn a_program_asks_the_same() {
    let centre = centre();
    let program = centre.program();
    let matrix = program.get("/api/policy/matrix?subject=kid").is(200).json();
    assert_eq!(matrix["rows"].as_array().unwrap().len(), 1);
    assert_eq!(matrix["rows"][0]["subject"], "kid");
    let why =
        program.get("/api/policy/explain?capability=house.lookup&subject=local&target=time.example").is(200).json();
    assert_eq!((&why["verdict"], &why["rules"][0]["decides"]), (&"deny".into(), &true.into()), "{why}");
}
