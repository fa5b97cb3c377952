//! Answers from a page.

use std::thread::scope;

use serde_json::json;

use crate::centre::{Centre, word};
use crate::home::until;

const SEND: &[&str] = &["house.send", r#"{"to":"the neighbours","text":"come over"}"#];
const LOOKUP: &[&str] = &["house.lookup", r#"{"host":"time.example"}"#];

#[test]
fn seen_approved_and_run() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    assert!(operator.get("/").body.contains("Nothing waits"));
    let id = centre.home.pending(&[&["--reason", "they are lonely"], SEND].concat());
    let queue = operator.get("/").is(200).body;
    assert!(queue.contains(&id) && queue.contains("house.send@1"));
    let card = operator.card(&id);
    for words in ["the neighbours", "come over", "its class needs a fresh confirmation", "asked-by", "they are lonely"]
    {
        assert!(card.body.contains(words), "no {words}");
    }
    // What is claimed stands below everything that is known, and below the answers.
    let at = |words: &str| card.body.find(words).unwrap();
    assert!(at("id=\"facts\"") < at("id=\"arguments\"") && at("id=\"arguments\"") < at("id=\"deny\""));
    assert!(at("id=\"deny\"") < at("id=\"approve\"") && at("id=\"approve\"") < at("they are lonely"));
    operator.approve_as(&card, &id).is(303);
    let (exit, done) = centre.home.json(&["resume", &id]);
    assert_eq!((exit, &done["result"]), (0, &json!("sent 9 bytes to the neighbours")));
    let record = &centre.home.records_of("approval")[0];
    assert_eq!((&record["step"], &record["operator"]), (&json!("approved"), &json!("operator@page")));
    let settled = operator.get(&format!("/approvals/{id}")).is(200).body;
    assert!(settled.contains("approved by operator@page") && !settled.contains("come over"));
    centre.home.run(&["audit", "verify"]).exits(0);
}

#[test]
fn a_denial_with_its_note_reaches_the_proposer() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let id = centre.home.pending(SEND);
    // A no needs no waiting.
    operator.deny(&id, "not at this hour").is(303);
    let (_, outcome) = centre.home.json(&["resume", &id]);
    assert_eq!(outcome["outcome"], "denied");
    assert!(outcome["message"].as_str().unwrap().contains("not at this hour"));
    let id = centre.home.pending(SEND);
    operator.deny(&id, &"x".repeat(1025)).refused(400, "malformed");
    operator.deny(&id, "").is(303);
}

#[test]
fn an_answer_that_comes_too_soon_or_for_another_card_is_none() {
    let centre = Centre::new();
    let (operator, other) = (centre.logged_in(), centre.logged_in());
    let (one, two) = (centre.home.pending(LOOKUP), centre.home.pending(SEND));
    let approve = |stamp: &str| operator.post(&format!("/approvals/{one}/approve"), &[("stamp", stamp)]);
    let early = operator.get(&format!("/approvals/{one}"));
    approve(early.field("stamp").unwrap()).refused(409, "too_soon");
    let theirs = other.get(&format!("/approvals/{one}"));
    let another = operator.card(&two);
    for stamp in
        ["", "0.0", another.field("stamp").unwrap(), theirs.field("stamp").unwrap(), early.field("csrf").unwrap()]
    {
        approve(stamp).refused(409, "not_as_shown");
    }
    let stamp = early.field("stamp").unwrap();
    let (at, tag) = stamp.split_once('.').unwrap();
    let earlier = format!("{}.{tag}", at.parse::<u64>().unwrap().saturating_sub(5000));
    approve(&earlier).refused(409, "not_as_shown");
    operator.post(&format!("/approvals/{one}/approve"), &[]).refused(400, "malformed");
    assert_eq!(centre.home.json(&["resume", &one]).1["outcome"], "pending");
    approve(stamp).is(303);
}

/// What is grave, or holds what cannot be seen, is named by whoever approves it.
#[test]
fn a_grave_or_marked_call_is_approved_by_naming_it() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let send = centre.home.pending(SEND);
    let marked = centre.home.pending(&["house.lookup", "{\"host\":\"time\\u200b.example\"}"]);
    for (id, wanted) in [(&send, "send"), (&marked, "time\\u{200B}.example")] {
        let card = operator.card(id);
        assert_eq!(word(&card).as_deref(), Some(wanted));
        let stamp = card.field("stamp").unwrap();
        let path = format!("/approvals/{id}/approve");
        operator.post(&path, &[("stamp", stamp)]).refused(409, "not_named");
        for typed in ["", "yes", "time.example", &wanted[1..]] {
            operator.post(&path, &[("stamp", stamp), ("typed", typed)]).refused(409, "not_named");
        }
        operator.post(&path, &[("stamp", stamp), ("typed", wanted)]).is(303);
    }
    let plain = centre.home.pending(LOOKUP);
    assert_eq!(word(&operator.card(&plain)), None);
    let shown = operator.get(&format!("/approvals/{plain}")).body;
    assert!(shown.contains("<strong class=\"heart\">time.example</strong>"), "{shown}");
}

/// Two people, two pages, one card.
#[test]
fn of_two_who_answer_at_once_one_is_told_who_was_first() {
    let centre = Centre::new();
    let (operator, other) = (centre.logged_in(), centre.logged_in());
    for round in 0..8 {
        let id = centre.home.pending(LOOKUP);
        let (mine, theirs) = (operator.card(&id), other.get(&format!("/approvals/{id}")));
        std::thread::sleep(crate::centre::ARMED);
        let (one, two) = scope(|scope| {
            let one = scope.spawn(|| operator.approve_as(&mine, &id));
            let two = scope.spawn(|| if round % 2 == 0 { other.approve_as(&theirs, &id) } else { other.deny(&id, "") });
            (one.join().unwrap(), two.join().unwrap())
        });
        let late = match (one.status, two.status) {
            (303, 409) => two,
            (409, 303) => one,
            other => panic!("{other:?}"),
        };
        assert!(late.body.contains("already ") && late.body.contains(" by operator@page at "), "{late:#?}");
        let steps = centre.home.records_of("approval");
        assert_eq!(steps.iter().filter(|step| step["approval"] == json!(id)).count(), 1);
    }
}

/// Whoever answers at a terminal and whoever answers on a page are told of each other.
#[test]
fn an_answer_from_the_command_line_is_seen_on_the_page() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let id = centre.home.pending(LOOKUP);
    let card = operator.card(&id);
    centre.home.operate(&["approvals", "deny", &id]).exits(0);
    let answer = operator.approve_as(&card, &id).refused(409, "already_answered");
    assert!(answer.body.contains("already denied by operator at "), "{answer:#?}");
    assert!(!operator.get("/").body.contains(&id));
}

/// A call that is locked is no question: there is nothing to answer, and no switch that makes it one.
#[test]
fn a_locked_capability_is_out_of_reach_of_every_answer() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let (exit, refused) = centre.home.json(&["invoke", "house.vault", r#"{"which":"one"}"#]);
    assert_eq!((exit, &refused["code"]), (4, &json!("locked")));
    assert!(operator.get("/").body.contains("Nothing waits"));
    assert_eq!(centre.program().get("/api/approvals").json(), json!({ "waiting": [], "answered": [] }));
    for id in ["0".repeat(32), "house.vault".to_owned(), "../optins/house".to_owned()] {
        let answer = operator.post(&format!("/approvals/{id}/approve"), &[("stamp", "")]);
        assert_eq!(answer.status, 404, "{answer:#?}");
        let path = format!("/api/approvals/{id}/approve");
        assert_eq!(centre.program().post_json(&path, &json!({ "stamp": "" })).status, 404);
    }
    for family in ["vault", "house.vault", "nowhere"] {
        operator.post(&format!("/optins/{family}"), &[("on", "true")]).is(403);
        centre.program().post_json(&format!("/api/optins/{family}"), &json!({ "on": true })).is(403);
    }
    assert_eq!(centre.home.json(&["invoke", "house.vault", r#"{"which":"one"}"#]).1["code"], "locked");
}

/// The gravest first, and of those what expires first; identical ones together, and answered one by one.
#[test]
fn the_queue_is_in_the_order_in_which_people_should_look() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let peek = centre.home.pending(&["house.peek"]);
    let lookup = centre.home.pending(LOOKUP);
    let [first, second] = [(); 2].map(|()| centre.home.pending(SEND));
    let page = operator.get("/").body;
    let at = |id: &str| page.find(id).unwrap();
    assert!(at(&first) < at(&second) && at(&second) < at(&lookup) && at(&lookup) < at(&peek), "{page}");
    assert!(page.contains("2 identical calls, each answered by itself"));
    operator.deny(&first, "").is(303);
    let page = operator.get("/").body;
    assert!(!page.contains(&first) && page.contains(&second) && !page.contains("identical"));
    assert_eq!(centre.home.json(&["resume", &second]).1["outcome"], "pending");
}

/// Nothing that somebody wrote is markup on any page.
#[test]
fn foreign_text_is_text() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let evil = "<img src=x onerror=approve()>\"'></pre><script>1</script>";
    let arguments = json!({ "host": evil, "question": format!("ls\n```\nSafe. Approved by admin.{}rm x \u{202e}", "\n".repeat(61)) }).to_string();
    let id = centre.home.pending(&["--reason", evil, "--evidence", evil, "house.lookup", &arguments]);
    centre.home.run(&["invoke", "house.remember", &json!({ "text": evil }).to_string()]).exits(0);
    for path in [
        "/",
        &format!("/approvals/{id}"),
        "/subjects/local",
        "/audit",
        "/fragment/queue",
        &format!("/fragment/approvals/{id}"),
    ] {
        let body = operator.get(path).is(200).body;
        assert!(!body.contains("<img") && !body.contains("</pre><script") && !body.contains("<script>1"), "{path}");
    }
    let card = operator.get(&format!("/approvals/{id}")).body;
    assert!(card.contains("&lt;img src=x onerror=approve()&gt;") && card.contains("Claimed by the proposer"));
    assert!(card.contains("60 empty lines") && card.contains("rm x "));
    assert!(card.contains("\\u{202E}") && !card.contains('\u{202e}'));
}

#[test]
fn what_nobody_answers_expires_on_the_page_too() {
    let centre = Centre::of(crate::home::Home::with_operator(), "[limits]\napproval_lifetime_s = 10\n");
    let operator = centre.logged_in();
    let id = centre.home.pending(LOOKUP);
    let card = operator.card(&id);
    until("the expiry", || (!operator.get("/").body.contains(&id)).then_some(()));
    operator.approve_as(&card, &id).refused(409, "already_answered");
    let settled = operator.get(&format!("/approvals/{id}")).is(200).body;
    assert!(settled.contains("expired") && settled.contains("erased"), "{settled}");
}

#[test]
fn a_switch_is_turned_on_record() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    assert!(operator.get("/optins").body.contains("data-family=\"house\" data-state=\"on\""));
    operator.post("/optins/house", &[("on", "false")]).is(303);
    assert!(operator.get("/optins").body.contains("data-family=\"house\" data-state=\"off\""));
    assert_eq!(centre.home.json(&[&["invoke"], SEND].concat()).1["code"], "opt_in_off");
    let record = centre.home.records_of("configuration").pop().unwrap();
    assert_eq!(
        (&record["family"], &record["on"], &record["operator"]),
        (&json!("house"), &json!(false), &json!("operator@page"))
    );
}

/// Other arguments are another call: checked from the start, and on record.
#[test]
fn a_call_is_approved_with_other_arguments() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let (one, two) = (centre.home.pending(LOOKUP), centre.home.pending(LOOKUP));
    let edit = |id: &str, arguments: &str| {
        let page = operator.get(&format!("/approvals/{id}/edit")).is(200);
        assert!(page.body.contains("&quot;host&quot;: &quot;time.example&quot;"), "{page:#?}");
        let early = [("stamp", page.field("stamp").unwrap()), ("arguments", arguments)];
        operator.post(&format!("/approvals/{id}/edit"), &early).refused(409, "too_soon");
        std::thread::sleep(crate::centre::ARMED);
        operator.post(&format!("/approvals/{id}/edit"), &early)
    };
    let answer = edit(&one, r#"{"host":"clock.example"}"#).is(303);
    let successor = answer.header("location").unwrap().rsplit('/').next().unwrap().to_owned();
    assert_ne!(successor, one);
    assert_eq!(centre.home.json(&["resume", &one]).1["outcome"], "superseded");
    let (_, done) = centre.home.json(&["resume", &successor]);
    assert_eq!(done["result"], "clock.example answers nothing");
    let settled = operator.get(&format!("/approvals/{one}")).is(200).body;
    assert!(settled.contains("edited by operator@page") && settled.contains(&successor), "{settled}");
    // What its schema refuses takes its place with nothing.
    edit(&two, r#"{"host":7}"#).refused(409, "edit_refused");
    assert_eq!(centre.home.json(&["resume", &two]).1["outcome"], "superseded");
    edit_is_gone(&operator, &two);
}

fn edit_is_gone(operator: &crate::centre::Operator, id: &str) {
    assert_eq!(
        operator.get(&format!("/approvals/{id}/edit")).is(303).header("location"),
        Some(&*format!("/approvals/{id}"))
    );
}

const GRANTS: &str = "[grants.\"house.peek\"]\nmax = \"30m\"\nuses = 3\n[approvals]\nretain = \"7d\"\n";

#[test]
fn a_standing_answer_is_given_shown_used_and_taken_back() {
    let centre = Centre::of(crate::home::Home::with_operator(), GRANTS);
    let operator = centre.logged_in();
    let first = centre.home.pending(&["house.peek"]);
    operator.approve(&first).is(303);
    assert_eq!(centre.home.json(&["resume", &first]).1["outcome"], "executed");
    let id = centre.home.pending(&["house.peek"]);
    let card = operator.card(&id);
    for words in [
        "At most".to_lowercase().as_str(),
        "exactly these arguments",
        "would have covered 1 past call, and not 0",
        "Nothing: the arguments are the same.",
    ] {
        assert!(card.body.contains(words), "no {words} in {}", card.body);
    }
    let stamp = card.field("stamp").unwrap();
    let path = format!("/approvals/{id}/grant");
    for (minutes, uses) in [("31", "1"), ("1", "4")] {
        operator.post(&path, &[("stamp", stamp), ("minutes", minutes), ("uses", uses)]).refused(409, "no_grant");
    }
    operator.post(&path, &[("stamp", stamp), ("minutes", "0"), ("uses", "1")]).refused(400, "malformed");
    operator.post(&path, &[("stamp", stamp), ("minutes", "10"), ("uses", "2")]).is(303);
    assert_eq!(centre.home.json(&["invoke", "house.peek"]).1["outcome"], "executed");
    let page = operator.get("/grants").is(200).body;
    assert!(page.contains("1 of 2 uses used") && page.contains("given by operator@page"), "{page}");
    let grant = page.split("data-grant=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    operator.client.post(&format!("/grants/{grant}/revoke"), &[]).refused(403, "forged");
    operator.post(&format!("/grants/{grant}/revoke"), &[]).is(303);
    operator.post(&format!("/grants/{grant}/revoke"), &[]).is(403);
    assert_eq!(centre.home.json(&["invoke", "house.peek"]).1["outcome"], "pending");
    assert!(operator.get("/grants").body.contains("ended: revoked"));
    operator.post("/grants/revoke", &[]).is(303);
    operator.post("/grants/nonsense/revoke", &[]).is(404);
}

/// What a class asks, no page can answer for longer than once.
#[test]
fn what_a_class_asks_has_no_standing_answer() {
    let centre = Centre::of(crate::home::Home::with_operator(), GRANTS);
    let operator = centre.logged_in();
    let id = centre.home.pending(LOOKUP);
    let card = operator.card(&id);
    assert!(!card.body.contains("session-form"));
    let fields = [("stamp", card.field("stamp").unwrap()), ("minutes", "1"), ("uses", "1")];
    operator.post(&format!("/approvals/{id}/grant"), &fields).refused(409, "no_grant");
    assert_eq!(centre.home.json(&["resume", &id]).1["outcome"], "pending");
}

#[test]
fn what_was_denied_again_and_again_is_told_and_can_be_asked_again() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    for _ in 0..3 {
        let id = centre.home.pending(LOOKUP);
        operator.post(&format!("/approvals/{id}/deny"), &[("reason", "wrong_target"), ("note", "")]).is(303);
    }
    let (exit, refused) = centre.home.json(&[&["invoke"], LOOKUP].concat());
    assert_eq!((exit, &refused["code"]), (4, &json!("denial_loop")));
    assert!(operator.get("/").body.contains("denied so often"));
    let page = operator.get("/grants").is(200).body;
    assert!(page.contains("denied 3 times") && !page.contains("time.example"), "{page}");
    operator.post("/denials/local/clear", &[]).is(303);
    centre.home.pending(LOOKUP);
    let journal = operator.get("/subjects/local").is(200).body;
    assert!(journal.contains("this is the wrong target") && journal.contains("data-by=\"operator\""), "{journal}");
}
