//! Mail, as a mail server hands it on to a program of the owner.

use crate::home::Ran;
use crate::lab::Lab;

const FOUND: &str = "Authentication-Results: mx.home.example; dkim=pass header.d=home.example\r\n";
const TRACE: &str = "Received: from a.example by mx.home.example; Mon, 30 Nov 2026 00:00:00 +0000\r\n";

fn mail(number: u32, head: &str) -> String {
    let date = crate::lab::now();
    let date = jiff::Timestamp::from_second(date).unwrap().strftime("%a, %d %b %Y %H:%M:%S +0000").to_string();
    format!(
        "{head}DKIM-Signature: v=1; d=home.example; h=from:date:message-id:subject; b={number:04}\r\nMessage-ID: <{number}@home.example>\r\nDate: {date}\r\nSubject: lights\r\n\r\nlights off {number}\r\n"
    )
}

const ME: &str = "From: Me <me@home.example>\r\n";

fn deliver(lab: &Lab, raw: &str) -> Ran {
    lab.home.run_with(&["channel", "deliver", "mail", "--recipient", "agent@home.example"], raw)
}

#[test]
fn proven_mail_of_a_listed_sender_is_taken_in_once() {
    let lab = Lab::new();
    let raw = mail(1, &[FOUND, TRACE, ME].concat());
    for _ in 0..2 {
        deliver(&lab, &raw).exits(0);
    }
    let [entry] = &lab.entries()[..] else { panic!("one entry") };
    let said = &entry["observation"]["result"];
    assert_eq!((&said["sender"], &said["title"]), (&"me@home.example".into(), &"lights".into()));
    assert_eq!(said["text"].as_str().unwrap().trim(), "lights off 1");
    lab.refused(Some("mail"), "replayed", 1);
}

/// A mail server is told to hand nothing on again that is refused for good: it would report to whoever was named.
#[test]
fn forged_mail_brings_no_turn_and_no_report() {
    let lab = Lab::new();
    let fail = FOUND.replace("pass", "fail");
    for (number, head) in [
        [TRACE, ME].concat(),
        [&fail, TRACE, ME].concat(),
        [TRACE, FOUND, ME].concat(),
        [FOUND, TRACE, "From: \"me@home.example\" <you@evil.example>\r\n"].concat(),
        [FOUND, TRACE, ME, "From: you@evil.example\r\n"].concat(),
    ]
    .iter()
    .enumerate()
    {
        let ran = deliver(&lab, &mail(number as u32, head)).exits(0);
        assert!(ran.out.is_empty() && ran.err.is_empty(), "{ran:?}");
    }
    lab.refused(Some("mail"), "forged_sender", 5);
    let listed = [FOUND, TRACE, ME].concat();
    let other = [FOUND, TRACE, "From: you@home.example\r\n"].concat();
    deliver(&lab, &mail(10, &other)).exits(0);
    lab.home.run_with(&["channel", "deliver", "mail"], &mail(11, &listed)).exits(0);
    lab.refused(Some("mail"), "not_listed", 2);
    deliver(&lab, &mail(12, &[&listed, "Auto-Submitted: auto-replied\r\n"].concat())).exits(0);
    lab.refused(Some("mail"), "unsupported", 1);
    deliver(&lab, &"x".repeat(300_000)).exits(0);
    lab.refused(Some("mail"), "too_large", 1);
    assert!(lab.entries().is_empty() && lab.home.records_of("channel_entry").is_empty());
    // Other kinds have heads that no program can stand in for.
    lab.home.run_with(&["channel", "deliver", "hook"], "x").exits(2).says(&["no channel for mail"]);
}
