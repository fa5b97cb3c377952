//! Mail: whose it is, and how much of it.

use super::*;

pub const TRACE: &str = "Received: from a.example by mx.home.example; Wed, 1 Jul 2026 00:00:00 +0000\r\n";
pub const FOUND: &str = "Authentication-Results: mx.home.example; dkim=pass header.d=home.example\r\n";
pub const REST: &str = "DKIM-Signature: v=1; a=rsa-sha256; d=home.example; h=From:Date:Message-ID:Subject:\r\n Content-Type; bh=x; b=YWJj\r\n ZGU=\r\nFrom: Me <me@home.example>\r\n\
    To: agent@home.example\r\nDate: Wed, 1 Jul 2026 00:00:00 +0000\r\nMessage-ID: <1@home.example>\r\nSubject: =?utf-8?q?hi?=\r\n";

fn email(head: &str) -> Result<Event, Refused> {
    let raw = format!("{head}\r\nlights off\r\n");
    look(ChannelKind::Email, &proven(ChannelKind::Email, raw.as_bytes(), "message/rfc822"), "", raw.as_bytes())
}

#[test]
fn mail_of_a_listed_sender_whose_domain_signed_it_is_taken_in() {
    let event = email(&[FOUND, TRACE, REST].concat()).unwrap();
    assert_eq!(event.replays.len(), 2);
    let said = message(Ok(event));
    assert_eq!((said.sender.as_deref(), said.place.as_deref()), (Some("me@home.example"), Some("agent@home.example")));
    assert_eq!((said.title.as_deref(), said.text.trim()), (Some("hi"), "lights off"));
}

/// `From` is whatever its sender wrote. Each of these names a listed sender who did not write it.
#[test]
fn a_sender_that_is_not_proven_is_forged() {
    let forged = |head: String| assert_eq!(item(email(&head)), ChannelRule::ForgedSender, "{head}");
    forged([TRACE, REST].concat());
    forged([FOUND, REST].concat());
    // Below what came in, anybody can have written it.
    forged([TRACE, FOUND, REST].concat());
    forged([FOUND, TRACE, REST, FOUND].concat());
    for found in [
        "mx.home.example; dkim=fail header.d=home.example",
        "mx.home.example; dkim=none",
        "mx.home.example; none",
        "mx.home.example; dkim=pass header.d=evil.example",
        "mx.home.example; dkim=pass header.d=mail.home.example",
        "mx.home.example; dkim=pass header.i=@home.example",
        "mx.home.example; spf=pass smtp.mailfrom=home.example",
        "mx.home.example; dkim=pass header.d=home.example; dmarc=fail header.from=home.example",
        "mx.home.example; dkim=pass header.d=home.example; spf=fail smtp.mailfrom=home.example",
        "mx.evil.example; dkim=pass header.d=home.example",
        "mx.home.example.evil.example; dkim=pass header.d=home.example",
        "mx.home.example; dkim=fail (dkim=pass header.d=home.example)",
        "mx.home.example; dkim=pass header.d=home.example header.d=evil.example",
        "mx.home.example; x=\"",
    ] {
        forged([&format!("Authentication-Results: {found}\r\n"), TRACE, REST].concat());
    }
    // A forged one that only some readers would take for one.
    forged([FOUND, TRACE, "Authentication-Results: (x) mx.home.example; (\r\n", REST].concat());
    let with = |from: &str, to: &str| [FOUND, TRACE, REST].concat().replace(from, to);
    forged(with("From: Me <me@home.example>", "From: \"me@home.example\" <you@home.example>"));
    forged(with("From: Me <me@home.example>", "From: me@home.example, you@evil.example"));
    forged(with("From: Me <me@home.example>", "From: me@home.example\r\nFrom: you@evil.example"));
    forged(with("From: Me <me@home.example>", "Sender: you@evil.example\r\nFrom: me@home.example"));
    forged(with("From: Me <me@home.example>\r\n", ""));
}

#[test]
fn mail_to_others_of_others_of_lists_and_of_long_ago_is_refused_each_by_its_rule() {
    let with = |from: &str, to: &str| item(email(&[FOUND, TRACE, REST].concat().replace(from, to)));
    assert_eq!(with("me@home.example>", "you@home.example>"), ChannelRule::NotListed);
    for field in [
        "Auto-Submitted: auto-replied",
        "List-Id: <x.example>",
        "Precedence: bulk",
        "Return-Path: <>",
        "Resent-From: a@b.example",
    ] {
        assert_eq!(with("To:", &format!("{field}\r\nTo:")), ChannelRule::Unsupported, "{field}");
    }
    assert_eq!(with("1 Jul 2026 00:00:00 +0000\r\nMess", "1 Jun 2026 00:00:00 +0000\r\nMess"), ChannelRule::Malformed);
    assert_eq!(with("Wed, 1 Jul 2026 00:00:00 +0000\r\nMess", "1 Jun 2026 00:00:00 +0000\r\nMess"), ChannelRule::Stale);
    assert_eq!(with("Wed, 1 Jul 2026 00:00:00 +0000\r\nMess", "2 Jul 2026 00:00:00 +0000\r\nMess"), ChannelRule::Stale);
    assert_eq!(with("Date:", "X-Date:"), ChannelRule::Malformed);
    assert_eq!(with("Subject: =", "Content-Type: text/html\r\nSubject: ="), ChannelRule::Unsupported);
    let raw = [FOUND, TRACE, REST, "\r\nhi"].concat();
    let headers = proven(ChannelKind::Email, raw.as_bytes(), "message/rfc822");
    let verifier = sample(ChannelKind::Email, SECRET).unwrap();
    for recipient in [None, Some("other@home.example"), Some("agent"), Some("AGENT@home.example")] {
        let delivery =
            Delivery { headers: Headers::new(&headers), path: "", recipient, by_owner: false, body: raw.as_bytes() };
        let looked = verify(&verifier, delivery, Timestamp::from_micros(NOW * 1_000_000));
        match recipient {
            Some("AGENT@home.example") => drop(message(looked)),
            _ => assert_eq!(item(looked), ChannelRule::NotListed, "{recipient:?}"),
        }
    }
}

/// Whoever sends a signed mail once more can change what is not signed, and no signature.
#[test]
fn a_signed_mail_that_is_sent_once_more_is_known() {
    let replays = |head: String| email(&head).unwrap().replays;
    let first = replays([FOUND, TRACE, REST].concat());
    let again = [FOUND, TRACE, REST].concat().replace("<1@home", "<2@home").replace("YWJj\r\n ZGU=", "YW Jj\r\n\tZG U");
    assert!(replays(again).iter().any(|one| first.contains(one)));
    let other = [FOUND, TRACE, REST].concat().replace("<1@home", "<2@home").replace("YWJj", "YWJk");
    assert!(!replays(other).iter().any(|one| first.contains(one)));
    // The same signature in another spelling is none, and one that is left out or added changes nothing.
    let spelt = [FOUND, TRACE, REST].concat().replace("<1@home", "<2@home").replace("ZGU=", "ZGV=");
    assert_eq!(item(email(&spelt)), ChannelRule::Malformed);
    let two = "DKIM-Signature: d=home.example; h=from:date:message-id:subject:content-type; b=enp6\r\n";
    let both = replays([FOUND, TRACE, two, REST].concat());
    assert_eq!(both.len(), 3);
    assert!(replays([FOUND, TRACE, REST].concat()).iter().any(|one| both.contains(one)));
    let elsewhere = "DKIM-Signature: d=relay.example; h=x; l=1; b=enp6\r\n";
    assert_eq!(replays([FOUND, TRACE, elsewhere, REST].concat()), first, "another domain's is nobody's word for it");
}

/// What a signature leaves out is whoever's that sends the mail on.
#[test]
fn what_is_read_is_what_the_sender_signed() {
    let whole = [FOUND, TRACE, REST].concat();
    let with = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        item(email(&whole.replace(from, to)))
    };
    for (from, to) in [
        ("h=From:Date:", "h=Date:"),
        ("h=From:Date:", "h=From:"),
        (":Message-ID:", ":"),
        (":Subject:", ":"),
        // Text that is put behind what is signed.
        ("; bh=x", "; l=12; bh=x"),
        ("d=home.example; h", "d=evil.example; h"),
        ("DKIM-Signature: v=1", "X-Signature: v=1"),
        // Any one of several may be the one that was found to be right.
        ("DKIM-Signature: v=1", "DKIM-Signature: d=home.example; h=from; b=enp6\r\nDKIM-Signature: v=1"),
    ] {
        assert_eq!(with(from, to), ChannelRule::ForgedSender, "{from} -> {to}");
    }
    for (from, to) in [
        ("Subject: =", "Subject: other\r\nSubject: ="),
        ("Subject: =", "Content-Type: text/plain\r\nContent-Type: text/html\r\nSubject: ="),
        ("d=home.example; h", "d=home.example; d=home.example; h"),
        ("b=YWJj\r\n ZGU=", "b="),
    ] {
        assert_eq!(with(from, to), ChannelRule::Malformed, "{from} -> {to}");
    }
}

/// Large senders of mail do not sign how their text is to be read: then there is one way to read it, or none.
#[test]
fn how_the_text_is_read_is_signed_or_is_not_the_senders_to_choose() {
    let unsigned = REST.replace(":Subject:\r\n Content-Type;", ":Subject;");
    let of = |kind: &str, text: &str| {
        let raw = format!("{FOUND}{TRACE}{unsigned}Content-Type: {kind}\r\n\r\n{text}");
        look(ChannelKind::Email, &proven(ChannelKind::Email, raw.as_bytes(), "message/rfc822"), "", raw.as_bytes())
    };
    let parts =
        "--a\r\nContent-Type: text/plain\r\n\r\nlights off\r\n--a\r\nContent-Type: text/html\r\n\r\n<b>\r\n--a--\r\n";
    assert_eq!(message(of("multipart/alternative; boundary=\"a\"", parts)).text.trim(), "lights off");
    assert_eq!(message(of("text/plain; charset=utf-8", "lights off")).text.trim(), "lights off");
    for (kind, text) in [
        // A part that somebody quoted becomes the first one.
        ("multipart/mixed; boundary=\"b\"", "--a\r\n\r\nno\r\n--b\r\nContent-Type: text/plain\r\n\r\nyes\r\n--b--\r\n"),
        ("multipart/mixed; boundary=\"a\"", &format!("before\r\n{parts}")),
        ("multipart/mixed", parts),
        ("text/html", "lights off"),
    ] {
        assert_eq!(item(of(kind, text)), ChannelRule::ForgedSender, "{kind}");
    }
}

/// A mail server that puts what it found below its own trace leaves room for the sender's right behind it.
#[test]
fn below_a_trace_only_the_topmost_finding_counts() {
    let Some(Verifier::Email(mut settings)) = sample(ChannelKind::Email, SECRET) else { panic!("a mail channel") };
    settings.proof = super::super::email::Proof::Server(super::super::email::Finder {
        authserv_id: "mx.home.example".to_owned(),
        hops: 1,
    });
    let verifier = Verifier::Email(settings);
    let fail = FOUND.replace("pass", "fail");
    for (head, taken) in [
        ([TRACE, FOUND, TRACE, REST].concat(), true),
        ([TRACE, &fail, FOUND, TRACE, REST].concat(), false),
        ([TRACE, "Authentication-Results: mx.home.example; none\r\n", FOUND, TRACE, REST].concat(), false),
        ([TRACE, FOUND, &fail, TRACE, REST].concat(), true),
    ] {
        let raw = format!("{head}\r\nhi");
        let headers = proven(ChannelKind::Email, raw.as_bytes(), "message/rfc822");
        let recipient = Some("agent@home.example");
        let delivery =
            Delivery { headers: Headers::new(&headers), path: "", recipient, by_owner: false, body: raw.as_bytes() };
        let looked = verify(&verifier, delivery, Timestamp::from_micros(NOW * 1_000_000));
        assert_eq!(looked.unwrap().items[0].message.is_ok(), taken, "{head}");
    }
}

#[test]
fn mail_over_the_owners_socket_needs_no_token_and_over_http_one() {
    let raw = [FOUND, TRACE, REST, "\r\nhi"].concat();
    let headers = HeaderMap::new();
    let verifier = sample(ChannelKind::Email, SECRET).unwrap();
    let delivery = |by_owner| {
        let recipient = Some("agent@home.example");
        Delivery { headers: Headers::new(&headers), path: "", recipient, by_owner, body: raw.as_bytes() }
    };
    let now = Timestamp::from_micros(NOW * 1_000_000);
    assert_eq!(message(verify(&verifier, delivery(true), now)).text, "hi");
    assert_eq!(rule(verify(&verifier, delivery(false), now)), ChannelRule::Unauthenticated);
}
