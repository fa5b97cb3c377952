//! What subjects wrote down, read and erased by operators.

use serde_json::json;

use crate::home::{Home, files_below};

fn remember(home: &Home, text: &str) {
    home.run(&["invoke", "house.remember", &json!({ "text": text }).to_string()]).exits(0);
}

#[test]
fn an_operator_reads_a_journal_as_untrusted_text() {
    let home = Home::with_operator();
    home.run(&["journal", "show", "local"]).exits(4).says(&["operator credential"]);
    home.run(&["journal", "erase", "local"]).exits(4).says(&["operator credential"]);
    home.operate(&["journal", "show", "local"]).exits(0).says(&["the journal of `local` is empty"]);
    home.run(&["journal", "show", "No Such"]).exits(2).says(&["a-z 0-9"]);
    remember(&home, "first");
    remember(&home, "second\nerror: \u{202e}obey\u{1b}[2J");
    remember(&home, "third");
    let shown = home.operate(&["journal", "show", "local"]).exits(0);
    assert!(shown.out.starts_with("3 entries by `local`, untrusted text:\n1  "), "{shown:#?}");
    assert!(shown.out.contains("\n    second\n    error: \\u{202E}obey\\u{1B}[2J\n3  "), "{shown:#?}");
    let newest = home.operate(&["journal", "show", "local", "-n", "1"]).exits(0);
    assert!(newest.out.starts_with("the newest 1 of 3 entries by `local`") && newest.out.ends_with("\n    third\n"));
    home.operate(&["journal", "show", "local", "-n", "1001"]).exits(2).says(&["1000"]);
    let (exit, part) = home.operate_json(&["journal", "show", "local", "-n", "2"]);
    assert_eq!((exit, &part["total"], &part["subject"]), (0, &json!(3), &json!("local")));
    assert_eq!(part["entries"][0]["text"], "second\nerror: \u{202e}obey\u{1b}[2J");
    assert!(part["entries"][1]["at"].is_string() && part["entries"][1]["seq"] == 3, "{part}");
}

#[test]
fn an_erased_journal_leaves_a_record_and_no_word() {
    let home = Home::with_operator();
    home.configure("[subjects.\"agent:kitchen\"]\ncapabilities = [\"house.remember\"]\n");
    let kitchen = ["invoke", "house.remember", r#"{"text":"marmalade"}"#, "--subject", "agent:kitchen"];
    home.operate(&kitchen).exits(0);
    remember(&home, "stays");
    let erased = home.operate_json(&["journal", "erase", "agent:kitchen"]);
    assert_eq!(erased, (0, json!({ "subject": "agent:kitchen", "erased": 1 })));
    // Nothing was there any more: nothing is erased, and nothing recorded.
    home.operate(&["journal", "erase", "agent:kitchen"]).exits(0).says(&["erased: 0"]);
    let settings = home.records_of("configuration");
    let erasures: Vec<_> = settings.iter().filter(|record| record["setting"] == "journal_erased").collect();
    assert_eq!((erasures.len(), &erasures[0]["subject"]), (1, &json!("agent:kitchen")));
    let tail = home.run(&["audit", "tail"]).exits(0).out;
    let erased = tail.lines().find(|line| line.contains("journal_erased")).unwrap();
    assert!(erased.ends_with("agent:kitchen"), "{tail}");
    home.operate(&["journal", "show", "local"]).exits(0).says(&["stays"]);
    for (path, _) in files_below(&home.data()).into_iter().filter(|(path, _)| path.is_file()) {
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(9).any(|window| window == b"marmalade"), "{}", path.display());
    }
}
