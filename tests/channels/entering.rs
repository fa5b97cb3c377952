//! What is let in: once, on record, and as data.

use std::sync::Barrier;

use serde_json::{Value, json};

use crate::lab::{Lab, github, hook, matrix, matrix_event, mattermost, now, signed, slack, slack_document, telegram};

const ME: &str = "@me:home.example";

/// One message of each kind that comes over HTTP.
fn every() -> [crate::lab::Request; 7] {
    [
        hook("1", "by token"),
        signed("by signature", now()),
        github("{\"repository\":{\"full_name\":\"a/b\"},\"sender\":{\"login\":\"c\"}}"),
        slack("1.0", "U2", "by slack"),
        mattermost("p1", "u1", "by mattermost"),
        telegram(1, 7_000_000_001, "by telegram"),
        matrix("1", &json!([matrix_event("$1", ME, "by matrix")])),
    ]
}

#[test]
fn each_kind_becomes_an_entry_with_a_session_and_a_turn_on_record() {
    let lab = Lab::new();
    for request in every() {
        lab.send(&request).is(200);
    }
    let entries = lab.entries();
    let of = |key: &str| entries.iter().map(|entry| entry[key].as_str().unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(of("channel"), ["hook", "signed", "code", "team", "club", "bot", "rooms"]);
    assert_eq!(of("kind"), ["webhook", "hmac", "github", "slack", "mattermost", "telegram", "matrix"]);
    assert!(of("origin").iter().all(|origin| *origin == "channel"), "{entries:?}");
    // What the log says is what the entry says, and no word of what was written.
    let records = lab.home.records_of("channel_entry");
    assert_eq!(records.len(), 7);
    for (record, entry) in records.iter().zip(&entries) {
        for key in ["session", "turn", "channel", "origin"] {
            assert_eq!(record[key], entry[key], "{record} {entry}");
        }
        assert_eq!((&record["subject"], &record["channel_kind"]), (&json!("agent:home"), &entry["kind"]));
        let observation = &entry["observation"];
        // Whoever signed it: somebody outside wrote it.
        assert_eq!(observation["trust"], "public_network");
        assert_eq!(observation["receipt"]["seq"], record["seq"]);
        let line = entry["line"].as_str().unwrap();
        assert!(line.starts_with("observation ") && !line.contains(['\n', '<', '`']), "{line}");
    }
    // No turn is another one's, and no session of one conversation another's.
    for key in ["session", "turn"] {
        let all: std::collections::BTreeSet<_> = entries.iter().map(|entry| entry[key].to_string()).collect();
        assert_eq!(all.len(), 7, "{key}");
    }
    assert_eq!(lab.refusals(), []);
}

#[test]
fn a_conversation_is_one_session_and_each_message_a_turn() {
    let lab = Lab::new();
    for (event, user) in [("1.0", "U1"), ("2.0", "U1"), ("3.0", "U2")] {
        lab.send(&slack(event, user, "hello")).is(200);
    }
    let entries = lab.entries();
    let [first, second, other] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!(first["session"], second["session"]);
    assert_ne!(first["session"], other["session"]);
    assert_ne!(first["turn"], second["turn"]);
}

/// The sender is told the same twice, and there is one turn; also after a restart, and after a crash.
#[test]
fn the_same_request_twice_is_one_turn() {
    let mut lab = Lab::new();
    let requests = every();
    for request in &requests {
        let first = lab.send(request).is(200);
        let second = lab.send(request).is(200);
        assert_eq!(first.body, second.body);
    }
    assert_eq!(lab.entries().len(), 7);
    for end in ["TERM", "KILL"] {
        lab.again(end);
        for request in &requests {
            lab.send(request).is(200);
        }
        assert_eq!(lab.entries().len(), 7, "{end}");
    }
    for channel in ["hook", "signed", "code", "team", "club", "bot", "rooms"] {
        lab.refused(Some(channel), "replayed", 3);
    }
    assert_eq!(lab.home.records_of("channel_entry").len(), 7);
}

/// What is not signed makes no other message of the same bytes, and what a platform repeats under another signature is known.
#[test]
fn a_replay_in_other_clothes_is_one() {
    let lab = Lab::new();
    lab.send(&github("{\"a\":1}")).is(200);
    lab.send(&github("{\"a\":1}").set("X-GitHub-Delivery", "d-2").set("X-GitHub-Event", "push")).is(200);
    lab.refused(Some("code"), "replayed", 1);
    let inner = json!({ "type": "message", "user": "U1", "channel": "C1", "text": "x", "ts": "9.9" });
    let told = |retry: u64| json!({ "type": "event_callback", "event_id": "Ev9", "event": inner, "retry": retry });
    for retry in 0..3 {
        lab.send(&slack_document(&told(retry)).with("X-Slack-Retry-Num", retry.to_string())).is(200);
    }
    lab.refused(Some("team"), "replayed", 2);
    // Events of one transaction that come in another one as well.
    let (one, two) = (matrix_event("$1", ME, "one"), matrix_event("$2", ME, "two"));
    lab.send(&matrix("1", &json!([one]))).is(200);
    assert_eq!(lab.send(&matrix("2", &json!([one, two]))).is(200).body, "{}");
    lab.refused(Some("rooms"), "replayed", 1);
    assert_eq!(lab.texts(), ["{\"a\":1}", "x", "one", "two"]);
}

#[test]
fn of_many_that_come_at_once_with_the_same_message_one_is_taken_in() {
    let lab = Lab::new();
    for round in 0..8 {
        let (barrier, request) = (Barrier::new(8), hook(&round.to_string(), "once"));
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let send = || {
                scope.spawn(|| {
                    barrier.wait();
                    lab.send(&request).status
                })
            };
            let senders: Vec<_> = (0..8).map(|_| send()).collect();
            senders.into_iter().map(|sender| sender.join().unwrap()).collect()
        });
        // One that comes while the first is being written is told to come later: it may yet fail.
        assert!(statuses.contains(&200) && statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
        assert_eq!(lab.entries().len(), round + 1);
    }
}

#[test]
fn a_challenge_is_answered_to_whoever_signed_it_and_brings_nothing() {
    let lab = Lab::new();
    let asked = slack_document(&json!({ "type": "url_verification", "challenge": "3eZbrw1aBm2rZgRNFdxV" }));
    let answer = lab.send(&asked).is(200);
    assert_eq!((answer.body.as_str(), answer.header("content-type")), ("3eZbrw1aBm2rZgRNFdxV", Some("text/plain")));
    let forged = lab.send(&asked.set("X-Slack-Signature", format!("v0={}", "0".repeat(64)))).is(401);
    assert!(!forged.body.contains("3eZ"));
    assert_eq!(lab.entries(), [] as [Value; 0]);
}
