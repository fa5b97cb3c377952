//! `web.search`.

use capability_core::audit::OutcomeKind;
use capability_core::{Code, Stage};
use serde_json::{Value, json};

use crate::household::{Household, folder};
use crate::searxng::{BROKEN, Searxng};
use crate::servers::{Server, Then, answer, corpus};

async fn household(url: &str) -> Household {
    Household::open(folder(), &format!("[endpoints.searxng]\nurl = \"{url}\"\n")).await
}

fn query(words: &str) -> Value {
    json!({ "query": words })
}

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

#[tokio::test(flavor = "multi_thread")]
async fn a_real_searxng_is_searched() {
    let corpus = corpus::start();
    let searxng = Searxng::start(corpus.port(), |settings| settings);
    let household = household(&searxng.url()).await;

    let told = household.called("web.search", &query("bread")).await;
    assert_eq!(
        (&told["query"], &told["coverage"], &told["result_count"]),
        (&json!("bread"), &json!("complete"), &json!(5))
    );
    let results = told["results"].as_array().unwrap();
    assert_eq!(results.len(), 5);
    let first = json!({ "title": "Bread baking", "url": "https://baker.example/bread", "snippet": "How to bake bread & rolls" });
    assert_eq!(results[0], first);
    let text = told.to_string();
    assert!(!text.contains('<') && !text.contains("canaryscript") && !text.contains('\u{202e}'), "{text}");
    assert!(told["retrieved_at"].as_str().unwrap().starts_with("20"));

    let nothing = household.called("web.search", &query("zeppelin")).await;
    assert_eq!((&nothing["results"], &nothing["coverage"]), (&json!([]), &json!("complete")));

    // Each of these would leave for another engine, another server, another language or the first result.
    for (steering, sent) in [
        ("!!g bread", "g bread"),
        ("!fb bread", "fb bread"),
        ("!it bread", "it bread"),
        ("bread !!", "bread"),
        (":fr bread", "fr bread"),
        ("\u{200b}!!g \u{1c}!fb\u{a0}!it bread", "g fb it bread"),
    ] {
        let told = household.called("web.search", &query(steering)).await;
        assert_eq!(told["query"], sent, "{steering:?}");
    }
    for range in ["day", "month", "year"] {
        household.called("web.search", &json!({ "query": "bread", "time_range": range })).await;
    }
    let asked: Vec<_> = corpus
        .seen()
        .into_iter()
        .map(|sent| (sent.path.clone(), sent.asked("q").unwrap_or_default().to_owned()))
        .collect();
    assert!(asked.iter().all(|(path, _)| path == "/corpus"), "{asked:?}");
    assert!(asked.iter().any(|(_, words)| words == "g bread"), "{asked:?}");

    let log = household.log();
    assert!(log.contains("web.search") && log.contains("\"outcome\":\"executed\""), "{log}");
    household.remembers_nothing_of(&["bread", "zeppelin", "baker.example", "127.0.0.1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn engines_that_are_down_are_told_apart_from_no_results() {
    let corpus = corpus::start();
    let searxng = Searxng::start(corpus.port(), |settings| settings.replace("BROKEN", BROKEN));
    let household = household(&searxng.url()).await;
    let some = household.called("web.search", &query("bread")).await;
    assert_eq!((&some["coverage"], &some["result_count"]), (&json!("partial"), &json!(5)));
    let none = household.called("web.search", &query("zeppelin")).await;
    assert_eq!((&none["coverage"], &none["results"]), (&json!("degraded"), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_searxng_without_json_says_what_the_operator_does() {
    let corpus = corpus::start();
    let searxng =
        Searxng::start(corpus.port(), |settings| settings.replace("formats: [html, json]", "formats: [html]"));
    let household = household(&searxng.url()).await;
    let told = household.failed("web.search", &query("bread")).await;
    assert!(told.contains("`formats`"), "{told}");
    assert!(corpus.seen().is_empty());
}

/// Off until an operator switches it on; then asked about each time; and what was not well-formed is not asked about at all.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_the_device_unasked() {
    let server = Server::always(answer("200 OK", JSON, r#"{"results":[]}"#));
    let config = format!("[endpoints.searxng]\nurl = \"{}\"\n", server.url(""));
    let off = Household::closed(folder(), &config).await;
    let outcome = off.ask("web.search", &query("bread")).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::OptInOff)), "{outcome:?}");

    let household = Household::open(folder(), &config).await;
    for bad in [
        query(""),
        query("!! : <"),
        query("\u{200b}"),
        query(&"a".repeat(501)),
        json!({ "query": "bread", "time_range": "week" }),
        json!({ "query": "bread", "engine": "google" }),
        json!({}),
    ] {
        let outcome = household.ask("web.search", &bad).await;
        assert_eq!((outcome.kind(), outcome.stage()), (OutcomeKind::Rejected, Stage::Validate), "{bad} {outcome:?}");
    }
    let outcome = household.ask("web.search", &query("bread")).await;
    assert_eq!((outcome.kind(), outcome.stage()), (OutcomeKind::Pending, Stage::Confirm), "{outcome:?}");
    assert_eq!(server.connections(), 0);
    household.called("web.search", &query("bread")).await;
    assert_eq!(server.connections(), 1);
    let unbound = Household::open(folder(), "").await;
    assert_eq!(unbound.ask("web.search", &query("bread")).await.code(), Some(Code::MissingRuntimeBinding));
}

/// What is sent is the words and how to answer, and nothing about who asks.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_sent_is_the_words() {
    let server = Server::always(answer("200 OK", JSON, r#"{"results":[]}"#));
    let household = household(&server.url("")).await;
    household.called("web.search", &json!({ "query": "a&b=c #d + %41 é", "time_range": "month" })).await;
    let seen = server.seen();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(seen[0].query, [pair("q", "a&b=c #d + %41 é"), pair("format", "json"), pair("time_range", "month")]);
    let headers: Vec<_> = seen[0].headers.iter().map(|(name, _)| name.as_str()).collect();
    for private in ["cookie", "authorization", "referer", "x-forwarded-for", "accept-language"] {
        assert!(!headers.contains(&private), "{headers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_searxng_gets_nothing_through() {
    let elsewhere = Server::always(answer("200 OK", JSON, r#"{"results":[{"title":"canary"}]}"#));
    let redirect = answer("302 Found", &[("location", &elsewhere.url("/")), ("content-type", "text/html")], "");
    let many = format!("{{\"results\":[{}{{}}]}}", "{},".repeat(200_000));
    let deep = format!("{{\"results\":[{{\"title\":{}{}}}]}}", "[".repeat(200_000), "]".repeat(200_000));
    for (what, whole) in [
        ("a redirect", redirect),
        ("HTML", answer("200 OK", &[("content-type", "text/html")], r#"{"results":[{"title":"canary"}]}"#)),
        ("no type", answer("200 OK", &[], r#"{"results":[{"title":"canary"}]}"#)),
        (
            "compression",
            answer("200 OK", &[("content-type", "application/json"), ("content-encoding", "gzip")], "canary"),
        ),
        ("no JSON", answer("200 OK", JSON, "canary")),
        ("a status", answer("500 canary", JSON, r#"{"results":[{"title":"canary"}]}"#)),
        ("no HTTP", b"canary\r\n\r\n".to_vec()),
        ("a long head", [b"HTTP/1.1 200 OK\r\nx: ".as_slice(), &vec![b'c'; 2 << 20], b"\r\n\r\n"].concat()),
        ("depth", answer("200 OK", JSON, deep)),
        ("size", answer("200 OK", JSON, format!("{{\"results\":[{{\"title\":\"{}\"}}]}}", "canary".repeat(300_000)))),
    ] {
        let server = Server::always(whole);
        let household = household(&server.url("")).await;
        let told = household.failed("web.search", &query("bread")).await;
        assert!(!told.contains("canary"), "{what}: {told}");
        household.remembers_nothing_of(&["canary"]);
    }
    assert_eq!(elsewhere.connections(), 0, "a redirect is not followed");
    let server = Server::always(answer("200 OK", JSON, many));
    let told = household(&server.url("")).await.called("web.search", &query("bread")).await;
    assert_eq!(told["result_count"], 5);
}

/// More fields, texts of any length and kind: five short results come out of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_talkative_searxng_is_cut_short() {
    let hit = json!({
        "title": "<b>".repeat(1000) + &"x".repeat(5000), "url": "https://a.example/?q=\u{202e}b", "content": "\"\\\n".repeat(5000),
        "engine": "canary", "img_src": "http://canary.example/", "parsed_url": ["canary"],
    });
    let body = json!({ "results": vec![hit; 12], "answers": ["canary"], "infoboxes": [{ "content": "canary" }], "suggestions": ["canary"] });
    let server =
        Server::start(move |_, out| out.write_all(&answer("200 OK", JSON, body.to_string())).map(|()| Then::Close));
    let told = household(&server.url("")).await.called("web.search", &query("bread")).await;
    assert_eq!(told["result_count"], 5);
    let text = told.to_string();
    assert!(text.len() < 16 * 1024 && !text.contains("canary"), "{}", text.len());
    assert_eq!(told["results"][4]["url"], "https://a.example/?q=b");
}
