//! What is turned away before any page sees it.

use serde_json::json;

use crate::centre::Centre;
use crate::client::raw;

const SEND: &[&str] = &["house.send", r#"{"to":"the neighbours","text":"come over"}"#];

/// A name that an attacker lets lead to this machine is none of ours, whatever else the request has.
#[test]
fn a_request_for_another_host_is_turned_away() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let port = centre.address.split_once(':').unwrap().1.to_owned();
    for host in [
        "rebound.example",
        &format!("rebound.example:{port}"),
        "127.0.0.1",
        "0.0.0.0",
        &format!("localhost.example:{port}"),
    ] {
        let mut rebound = operator.client.clone();
        rebound.host = host.to_owned();
        for path in ["/", "/login", "/assets/page.js", "/events"] {
            rebound.get(path).refused(421, "foreign_host");
        }
        rebound.get("/api/approvals").refused(421, "foreign_host");
        rebound.with("Origin", &format!("http://{host}")).post("/login", &[]).refused(421, "foreign_host");
    }
    let requests = [
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.0\r\nHost: {0}\r\nHost: {0}\r\n\r\n", centre.address),
        format!("GET http://rebound.example/ HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", centre.address),
    ];
    for request in requests {
        let status = raw(&centre.address, request.as_bytes()).status;
        assert!(matches!(status, 400 | 421), "{request}: {status}");
    }
    for host in ["localhost", "capability.localhost", "LOCALHOST", "[::1]"] {
        let mut own = centre.anybody();
        own.host = format!("{host}:{port}");
        own.get("/login").is(200);
    }
}

#[test]
fn a_request_from_another_page_changes_nothing() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let id = centre.home.pending(SEND);
    let deny = format!("/approvals/{id}/deny");
    let fields = [("csrf", operator.csrf.as_str())];
    let port = centre.address.split_once(':').unwrap().1;
    for origin in [
        "http://evil.example",
        "null",
        &format!("http://localhost:{port}"),
        "http://127.0.0.1:1",
        &format!("http://{}.evil", centre.address),
    ] {
        operator.client.with("Origin", origin).post(&deny, &fields).refused(403, "foreign_origin");
        operator.client.with("Origin", origin).post("/login", &[]).refused(403, "foreign_origin");
        operator.client.with("Origin", origin).get("/fragment/queue").refused(403, "foreign_origin");
    }
    for site in ["cross-site", "same-site", "other"] {
        let from = operator.client.with("Sec-Fetch-Site", site);
        from.post(&deny, &fields).refused(403, "foreign_origin");
        from.without("Origin").post(&deny, &fields).refused(403, "foreign_origin");
        for path in ["/api/approvals", "/events", "/fragment/queue"] {
            from.without("Origin").get(path).refused(403, "foreign_origin");
        }
    }
    // Nothing says where it comes from.
    operator.client.without("Origin").post(&deny, &fields).refused(403, "foreign_origin");
    // A link on another page leads here as links do; the browser leaves the cookie at home.
    centre.anybody().with("Sec-Fetch-Site", "cross-site").get("/login").is(200);
    assert_eq!(centre.home.json(&["resume", &id]).1["outcome"], "pending");
    operator.client.without("Origin").with("Sec-Fetch-Site", "same-origin").post(&deny, &fields).is(303);
    assert_eq!(centre.home.json(&["resume", &id]).1["outcome"], "denied");
}

#[test]
fn a_request_without_the_token_of_its_own_session_changes_nothing() {
    let centre = Centre::new();
    let (operator, other) = (centre.logged_in(), centre.logged_in());
    let id = centre.home.pending(SEND);
    let forged = [
        "".to_owned(),
        other.csrf.clone(),
        operator.csrf.to_uppercase(),
        operator.csrf[1..].to_owned(),
        "0".repeat(64),
    ];
    for path in [format!("/approvals/{id}/deny"), "/optins/house".to_owned(), "/logout".to_owned()] {
        operator.client.post(&path, &[("on", "false")]).refused(403, "forged");
        for csrf in &forged {
            operator.client.post(&path, &[("csrf", csrf), ("on", "false")]).refused(403, "forged");
            operator.client.with("X-CSRF-Token", csrf).post(&path, &[("csrf", &operator.csrf)]).refused(403, "forged");
        }
    }
    let path = format!("/api/approvals/{id}/deny");
    operator.client.post_json(&path, &json!({})).refused(403, "forged");
    operator.client.with("X-CSRF-Token", &other.csrf).post_json(&path, &json!({})).refused(403, "forged");
    assert_eq!(centre.home.json(&["resume", &id]).1["outcome"], "pending");
    operator.client.with("X-CSRF-Token", &operator.csrf).post_json(&path, &json!({})).is(200);
}

/// Whatever a browser brings along that is no live session is nobody's.
#[test]
fn a_cookie_that_is_no_session_is_nobodys() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let (_, cookie) = operator.client.headers.iter().find(|(key, _)| key == "Cookie").unwrap();
    let (name, value) = cookie.split_once('=').unwrap();
    let garbage = [
        "x=y".to_owned(),
        format!("{name}="),
        format!("{name}={}", "0".repeat(64)),
        format!("{name}={}", value.to_uppercase()),
        format!("{name}={value}0"),
        format!("{name}={value}; {name}={}", "0".repeat(64)),
        format!("{name}2={value}"),
        format!("{name}={}", "x".repeat(4000)),
    ];
    for cookie in garbage {
        let nobody = centre.browser().with("Cookie", &cookie);
        for path in [
            "/",
            "/grants",
            "/policy",
            "/audit",
            "/optins",
            "/providers",
            "/providers/lab",
            "/running",
            "/subjects",
            "/approvals/0",
        ] {
            let answer = nobody.get(path).is(303);
            assert_eq!(answer.header("location"), Some("/login"), "{cookie} {path}");
        }
        for path in ["/api/approvals", "/api/openapi.json", "/fragment/queue", "/events"] {
            nobody.get(path).is(401);
        }
        nobody.post("/optins/house", &[("on", "false")]).is(401);
    }
    operator.get("/").is(200);
}

/// Nothing that proposes calls is a credential of the one who answers them.
#[test]
fn what_proposes_cannot_answer() {
    let centre = Centre::new();
    let id = centre.home.pending(SEND);
    let records = centre.home.records_of("outcome");
    let session = records.iter().find_map(|record| record["session"].as_str()).unwrap().to_owned();
    let invocation = records[0]["invocation"].as_str().unwrap().to_owned();
    let digest_key = std::fs::read(centre.home.data().join("digest.key")).unwrap();
    let digest_key: String = digest_key.iter().map(|byte| format!("{byte:02x}")).collect();
    let stored = std::fs::read_to_string(centre.home.data().join("operator/sessions")).unwrap();
    let stored = stored.split('"').find(|word| word.len() == 64).unwrap().to_owned();
    let port = centre.address.split_once(':').unwrap().1;
    for credential in [&session, &invocation, &id, &format!("{session}{session}"), &digest_key, &stored, &centre.link] {
        let bearer = centre.anybody().with("Authorization", &format!("Bearer {credential}"));
        let cookie = centre.browser().with("Cookie", &format!("capability_{port}={credential}"));
        for client in [bearer, cookie] {
            client.get("/api/approvals").refused(401, "no_session");
            client
                .post_json(&format!("/api/approvals/{id}/approve"), &json!({ "stamp": "" }))
                .refused(401, "no_session");
            client.post_json(&format!("/api/approvals/{id}/deny"), &json!({})).refused(401, "no_session");
            client.post_json("/api/optins/house", &json!({ "on": false })).refused(401, "no_session");
        }
    }
    for odd in ["Basic b3BlcmF0b3I6eA==", "Bearer", "Bearer  ", "bearer x", &format!("Token {}", "0".repeat(64))] {
        centre.anybody().with("Authorization", odd).get("/api/approvals").refused(401, "no_session");
    }
    // The token of an operator session opens the interface, and no page.
    centre.program().get("/api/approvals").is(200);
    centre.program().get("/").is(303);
    assert_eq!(centre.home.json(&["resume", &id]).1["outcome"], "pending");
}

#[test]
fn every_answer_is_dressed() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let answers = [
        operator.get("/"),
        operator.get("/nowhere"),
        operator.get("/assets/style.css"),
        operator.get("/api/nowhere"),
        operator.get("/approvals/nonsense"),
        centre.anybody().get("/login"),
        centre.anybody().get("/"),
        centre.anybody().with("Origin", "http://evil.example").get("/"),
        operator.client.send("PUT", "/", "", ""),
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(rule), "{policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains('*'));
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
            ("x-frame-options", "DENY"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{answer:#?}");
        }
        assert!(answer.header("access-control-allow-origin").is_none() && answer.header("server").is_none());
    }
    // A page has no script and no style of its own, so that the policy above costs nothing.
    for path in ["/", "/grants", "/policy", "/audit", "/running", "/optins", "/subjects", "/subjects/local"] {
        let body = operator.get(path).is(200).body;
        assert!(!body.contains(" style=") && !body.contains("<style") && !body.contains(" onclick"), "{path}");
        assert_eq!(body.matches("<script").count(), 1, "{path}");
    }
}
