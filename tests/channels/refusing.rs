//! What is refused: alike for whoever sent it, and exact in the log.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::home::{Home, signal};
use crate::lab::{
    EVERY, Lab, Request, SECRET, TOP, github, home, hook, matrix, matrix_event, mattermost, now, secret, signed, slack,
    telegram,
};

/// What a sender sees of an answer, but for the time.
fn seen(answer: &crate::client::Answer) -> String {
    let head = answer.head.lines().filter(|line| !line.to_ascii_lowercase().starts_with("date:"));
    head.collect::<Vec<_>>().join("\n") + &answer.body
}

#[test]
fn every_refusal_looks_alike_and_the_log_has_each_by_its_rule() {
    let lab = Lab::new();
    let bearer = format!("Bearer {SECRET}");
    let large = vec![b'x'; 256 * 1024 + 1];
    let cases = [
        (Request::post("nobody", "x"), None, "unknown_channel"),
        (Request::post("../etc/passwd", "x"), None, "unknown_channel"),
        (Request { path: "/".to_owned(), ..hook("1", "x") }, None, "unknown_channel"),
        (Request::post("hook", "x"), Some("hook"), "unauthenticated"),
        (hook("1", "x").set("Authorization", "Bearer wrong"), Some("hook"), "unauthenticated"),
        (hook("1", "x").with("Authorization", bearer.clone()), Some("hook"), "unauthenticated"),
        (hook("1", "x").set("Authorization", SECRET), Some("hook"), "unauthenticated"),
        (
            Request { path: format!("/channel/hook?token={}", SECRET.replace(' ', "+")), ..hook("1", "x") },
            Some("hook"),
            "malformed",
        ),
        (Request { method: "GET", ..hook("1", "x") }, Some("hook"), "malformed"),
        (Request { path: "/channel/hook/more".to_owned(), ..hook("1", "x") }, Some("hook"), "malformed"),
        (hook("1", "x").with("Content-Encoding", "gzip"), Some("hook"), "malformed"),
        (Request { body: vec![0xff, 0xfe], ..hook("1", "") }, Some("hook"), "malformed"),
        (Request { body: large.clone(), ..hook("1", "") }, Some("hook"), "too_large"),
        (signed("x", now()).set("X-Signature", "sha256=\u{e9}"), Some("signed"), "unauthenticated"),
        (signed("x", now()).set("X-Signature", "00"), Some("signed"), "unauthenticated"),
        (signed("x", now()).with("X-Timestamp", now().to_string()), Some("signed"), "unauthenticated"),
        (signed("x", now() - 400).set("X-Timestamp", now().to_string()), Some("signed"), "unauthenticated"),
        (signed("x", now() - 400), Some("signed"), "stale"),
        (signed("x", now() + 240), Some("signed"), "stale"),
        (github("x").set("X-Hub-Signature-256", format!("sha1={}", "0".repeat(40))), Some("code"), "unauthenticated"),
        (slack("1.0", "U1", "x").set("X-Slack-Request-Timestamp", "1"), Some("team"), "unauthenticated"),
        (mattermost("p", "u1", "x").set("Content-Type", "text/plain"), Some("club"), "malformed"),
        (telegram(1, 7_000_000_001, "x").set("X-Telegram-Bot-Api-Secret-Token", "x"), Some("bot"), "unauthenticated"),
        (matrix("1", &serde_json::json!([])).set("Authorization", "Bearer x"), Some("rooms"), "unauthenticated"),
        // Mail is not taken in over HTTP where no secret says by whom.
        (Request::post("mail", "From: me@home.example\r\n\r\nx"), Some("mail"), "unauthenticated"),
    ];
    let mut answers = std::collections::BTreeSet::new();
    for (request, channel, rule) in &cases {
        let before = lab.refusals().len();
        let answer = lab.send(request).is(401);
        answers.insert(seen(&answer));
        let told = crate::home::until("the record", || lab.refusals().get(before).cloned());
        assert_eq!(told, (channel.map(str::to_owned), (*rule).to_owned()), "{request:?}");
    }
    assert_eq!(answers.len(), 1, "{answers:#?}");
    assert!(lab.entries().is_empty() && lab.home.records_of("channel_entry").is_empty());
}

/// A platform hands on what others wrote. It is told that all is well, so that nobody who is not on a list learns that, or keeps
/// those who are from being heard.
#[test]
fn who_is_not_on_a_list_is_not_heard_and_cannot_tell() {
    let lab = Lab::new();
    let stranger = [
        (telegram(1, 8, "x"), "bot"),
        (slack("1.0", "U9", "x"), "team"),
        (mattermost("p1", "u9", "x"), "club"),
        (matrix("1", &serde_json::json!([matrix_event("$1", "@you:home.example", "x")])), "rooms"),
    ];
    let listed = [
        telegram(2, 7_000_000_001, "y"),
        slack("2.0", "U2", "y"),
        mattermost("p2", "u1", "y"),
        matrix("2", &serde_json::json!([matrix_event("$2", "@me:home.example", "y")])),
    ];
    for ((request, channel), good) in stranger.iter().zip(&listed) {
        let (refused, accepted) = (lab.send(request).is(200), lab.send(good).is(200));
        assert_eq!(seen(&refused), seen(&accepted));
        lab.refused(Some(channel), "not_listed", 1);
    }
    assert_eq!(lab.texts(), ["y"; 4]);
}

/// Whoever is still sending keeps nobody waiting who has sent.
#[test]
fn bodies_that_never_end_hold_up_nobody() {
    let lab = Lab::new();
    let begun = |path: &str, headers: &str| {
        let mut stream = TcpStream::connect(&lab.address).unwrap();
        let head = format!("POST /channel/{path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: 200000\r\n\r\n{{");
        stream.write_all(head.as_bytes()).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    // More than are looked at at a time: to a channel whose proof is in the body, and to none.
    let mut dripping: Vec<_> = (0..100).flat_map(|_| [begun("team", ""), begun("nothing", "")]).collect();
    lab.send(&slack("1.0", "U1", "heard")).is(200);
    for stream in &mut dripping {
        let waits = stream.read(&mut [0; 16]).map_err(|error| error.kind());
        assert_eq!(waits, Err(ErrorKind::WouldBlock), "none of them has been answered");
    }
    // Who is turned away by the head alone need not send the rest.
    for (path, headers) in [
        ("bot", "X-Telegram-Bot-Api-Secret-Token: x\r\n"),
        ("hook", "Authorization: Bearer x\r\n"),
        ("hook", ""),
        ("mail", ""),
    ] {
        let mut stream = begun(path, headers);
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 401", "{path}");
    }
}

#[test]
fn strangers_use_up_nothing_that_those_on_the_list_need() {
    let lab = Lab::of(home(), &EVERY.replace("[channels.bot]", "[channels.bot]\nper_minute = 2"));
    for update in 0..40 {
        lab.send(&telegram(update, 8, "spam")).is(200);
        lab.send(&telegram(update, 7_000_000_001, "x").set("X-Telegram-Bot-Api-Secret-Token", "x")).is(401);
    }
    for update in 100..102 {
        lab.send(&telegram(update, 7_000_000_001, "heard")).is(200);
    }
    // Then the channel has had its share; what is too much may come again.
    let later = lab.send(&telegram(102, 7_000_000_001, "later")).is(503);
    assert_eq!(later.header("retry-after"), Some("30"));
    lab.refused(Some("bot"), "rate_limited", 1);
    assert_eq!(lab.texts(), ["heard", "heard"]);
    // Forty of each rule, and no forty records of each.
    let mut lab = lab;
    lab.end("TERM").exits(0);
    lab.refused(Some("bot"), "not_listed", 40);
    lab.refused(Some("bot"), "unauthenticated", 40);
    assert!(lab.refusals().len() < 2 * 40, "{}", lab.refusals().len());
}

#[test]
fn a_channel_with_an_empty_or_missing_secret_does_not_start() {
    let home = Home::new();
    let one = |more: &str| format!("{TOP}[channels.one]\nkind = \"webhook\"\nsubject = \"agent:home\"\n{more}\n");
    home.configure(&one("secret = \"one\""));
    for text in [None, Some(""), Some("\n"), Some("short"), Some("fifteen letters")] {
        if let Some(text) = text {
            secret(&home, "one", text);
        }
        home.run(&["serve", "--no-web"]).exits(4).says(&["the channel `one` does not start", "secret `one`", "help:"]);
        home.run(&["doctor"]).says(&["channels", "does not start"]);
    }
    for (more, said) in
        [("", "no `secret`"), ("secret = \"\"", "no secret's name"), ("allow_unauthenticated = false", "no `secret`")]
    {
        home.configure(&one(more));
        home.run(&["serve", "--no-web"]).exits(6).says(&[said]);
    }
    // Written out, whoever reaches the address is let in, and the self-check says so.
    let lab = Lab::of(
        crate::lab::home(),
        "[channels.open]\nkind = \"webhook\"\nsubject = \"agent:home\"\nallow_unauthenticated = true\n",
    );
    lab.send(&Request::post("open", "ding")).is(200);
    assert_eq!(lab.texts(), ["ding"]);
    lab.home.run(&["doctor"]).says(&["whoever reaches `open` is let in"]);
}

#[test]
fn nothing_comes_in_where_channels_are_left_out_or_none_is_configured() {
    let home = home();
    home.configure(&format!("{TOP}{EVERY}"));
    for (words, said) in
        [(&["serve", "--json", "--no-web", "--no-channels"][..], false), (&["serve", "--json", "--no-web"], true)]
    {
        let mut child = home.start(words);
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        assert_eq!(line.contains("channels"), said, "{line}");
        signal(&child, "TERM");
        crate::home::ended(child).exits(0);
    }
}

/// No secret, no word of a message and no name that a sender made up is in the log, or in what the host tells of itself.
#[test]
fn no_word_of_a_message_is_in_the_log() {
    let home = Home::talkative();
    home.setup();
    home.login();
    secret(&home, "shared", SECRET);
    secret(&home, "standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    let mut lab = Lab::of(home, EVERY);
    lab.send(&hook("canary-id", "canary-text")).is(200);
    lab.send(&Request::post("canary-name", "canary-text")).is(401);
    lab.send(&hook("canary-id", "canary-text").set("Authorization", "Bearer canary-token")).is(401);
    lab.send(&telegram(5, 7_000_000_001, "canary-text")).is(200);
    lab.send(&slack("canary-event", "canary-user", "canary-text")).is(200);
    assert_eq!(lab.texts(), ["canary-text"; 2]);
    let told = lab.end("TERM").exits(0);
    let log: String = lab.home.records().iter().map(ToString::to_string).collect();
    for word in ["canary", SECRET, "7000000001", "1001234567890"] {
        assert!(!log.contains(word) && !told.err.contains(word) && !told.out.contains(word), "{word}");
    }
}
