//! Logging in to a Pi-hole, before a server that behaves as one does: few sessions, a limit on wrong passwords, restarts that
//! forget, and bodies that are quoted back.

use core::time::Duration;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use capability_host::broker::{Auth, EndpointSettings};
use serde_json::{Value, json};

use super::lab::{Lab, near, private_file};
use super::servers::{self, Server};

/// A Pi-hole in miniature.
#[derive(Default)]
struct Pihole {
    password: Mutex<String>,
    sessions: Mutex<Vec<String>>,
    logins: AtomicUsize,
    wrong: AtomicUsize,
    full: AtomicBool,
    open: AtomicBool,
}

fn session(valid: bool, sid: Option<&str>, message: &str) -> Value {
    let validity = if valid && sid.is_some() { 1800 } else { -1 };
    json!({ "session": { "valid": valid, "totp": false, "sid": sid, "validity": validity, "message": message }, "took": 0.07 })
}

impl Pihole {
    fn answer(&self, request: &str) -> Vec<u8> {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
        let sid = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().starts_with("x-ftl-sid: ").then(|| line[11..].to_owned()));
        let mut sessions = self.sessions.lock().expect("no test panics with it");
        let known = sid.as_ref().is_some_and(|sid| sessions.contains(sid)) || self.open.load(Ordering::SeqCst);
        match head.lines().next().unwrap_or_default().split(' ').take(2).collect::<Vec<_>>()[..] {
            ["POST", "/api/auth"] => {
                self.logins.fetch_add(1, Ordering::SeqCst);
                let given: Value = serde_json::from_str(body).unwrap_or_default();
                if self.open.load(Ordering::SeqCst) {
                    return servers::json(200, &session(true, None, "no password set"));
                }
                if self.full.load(Ordering::SeqCst) {
                    let error = json!({ "key": "api_seats_exceeded", "message": "API seats exceeded", "hint": null });
                    return servers::json(429, &json!({ "error": error, "took": 0.06 }));
                }
                if given["password"] != json!(*self.password.lock().expect("no test panics with it")) {
                    self.wrong.fetch_add(1, Ordering::SeqCst);
                    let message = format!("password incorrect, not {body}");
                    return servers::json(401, &session(false, None, &message));
                }
                let sid = format!("sid-{}=", self.logins.load(Ordering::SeqCst));
                sessions.push(sid.clone());
                servers::json(200, &session(true, Some(&sid), "password correct"))
            }
            ["DELETE", "/api/auth"] if known => {
                sessions.retain(|one| Some(one) != sid.as_ref());
                servers::response(204, "", "")
            }
            ["GET", "/api/dns/blocking"] if known => {
                servers::json(200, &json!({ "blocking": "enabled", "timer": null, "took": 0.0001 }))
            }
            _ => servers::json(
                401,
                &json!({ "error": { "key": "unauthorized", "message": "Unauthorized", "hint": null } }),
            ),
        }
    }
}

async fn household(password: &str) -> (Arc<Pihole>, Server, Lab, std::path::PathBuf) {
    let pihole = Arc::new(Pihole { password: Mutex::new("open-sesame".to_owned()), ..Pihole::default() });
    let answering = Arc::clone(&pihole);
    let server = Server::answering(move |request| answering.answer(request)).await;
    // The file is in a directory that outlives this function with the laboratory's own.
    let files = Lab::new(&[], &[]);
    let password_file = files.private("password", password.as_bytes());
    let auth = Auth::Pihole { password_file: password_file.clone() };
    let mut lab = Lab::new(&[("home", EndpointSettings { auth, ..near(server.port) })], &[]);
    lab.keep(files);
    (pihole, server, lab, password_file)
}

const STATUS: &str = "/api/dns/blocking";

#[tokio::test(flavor = "multi_thread")]
async fn one_session_serves_every_call_and_is_given_back() {
    let (pihole, server, lab, _) = household("open-sesame\n").await;
    let lab = Arc::new(lab);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let lab = Arc::clone(&lab);
        calls.spawn(async move { lab.said("home.get", json!({ "path": STATUS })).await });
    }
    while let Some(said) = calls.join_next().await {
        assert_eq!(said.expect("no panic").expect("an answer")["status"], 200);
    }
    assert_eq!(pihole.logins.load(Ordering::SeqCst), 1);
    assert_eq!(pihole.sessions.lock().expect("no test panics with it").len(), 1);
    lab.broker.close().await;
    assert_eq!(*pihole.sessions.lock().expect("no test panics with it"), Vec::<String>::new());
    assert!(server.requests().last().is_some_and(|sent| sent.starts_with("DELETE /api/auth HTTP/1.1\r\n")));
    // Neither password nor session is in anything that was recorded.
    let recorded = lab.sink.lines();
    assert!(!recorded.contains("open-sesame") && !recorded.contains("sid-"));
    // Whoever asks after that logs in again.
    assert!(lab.said("home.get", json!({ "path": STATUS })).await.is_ok());
    assert_eq!(pihole.logins.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_forgotten_is_opened_anew_once() {
    let (pihole, _, lab, _) = household("open-sesame").await;
    assert!(lab.said("home.get", json!({ "path": STATUS })).await.is_ok());
    pihole.sessions.lock().expect("no test panics with it").clear();
    assert_eq!(lab.said("home.get", json!({ "path": STATUS })).await.expect("an answer")["status"], 200);
    assert_eq!(pihole.logins.load(Ordering::SeqCst), 2);
    // What stays forbidden after that stays forbidden: it is asked twice and no more.
    assert_eq!(lab.fault("home.get", json!({ "path": "/state" })).await, "credential_refused");
    assert_eq!(pihole.logins.load(Ordering::SeqCst), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_an_error_and_is_not_tried_again_and_again() {
    let (pihole, _, lab, password_file) = household("open-barley").await;
    for _ in 0..6 {
        let fault = lab.fault("home.get", json!({ "path": STATUS })).await;
        assert_eq!(fault, "credential_refused");
    }
    assert_eq!(pihole.wrong.load(Ordering::SeqCst), 1, "the other side counts wrong ones");
    assert!(!lab.sink.lines().contains("barley"));
    // The right one counts without a restart.
    private_file(&password_file, b"open-sesame");
    tokio::time::sleep(Duration::from_millis(5200)).await;
    assert!(lab.said("home.get", json!({ "path": STATUS })).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_seat_no_password_and_nonsense() {
    let (pihole, _, lab, _) = household("open-sesame").await;
    pihole.full.store(true, Ordering::SeqCst);
    assert_eq!(lab.fault("home.get", json!({ "path": STATUS })).await, "busy");
    pihole.full.store(false, Ordering::SeqCst);
    pihole.open.store(true, Ordering::SeqCst);
    assert!(
        lab.said("home.get", json!({ "path": STATUS })).await.is_ok(),
        "a Pi-hole without a password gives no session"
    );

    for answer in [
        json!({ "session": { "valid": true, "sid": "a\r\nHost: evil" } }),
        json!({ "session": { "valid": true, "sid": "x".repeat(300) } }),
        json!({ "session": { "valid": true, "sid": "" } }),
        json!({ "session": true }),
        json!({}),
    ] {
        let server = Server::answering(move |_| servers::json(200, &answer)).await;
        let files = Lab::new(&[], &[]);
        let auth = Auth::Pihole { password_file: files.private("password", b"open-sesame") };
        let lab = Lab::new(&[("home", EndpointSettings { auth, ..near(server.port) })], &[]);
        assert_eq!(lab.fault("home.get", json!({ "path": STATUS })).await, "malformed_reply");
        assert_eq!(server.connections(), 1);
    }
}
