//! Changes, told as they happen.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::centre::{Centre, Operator};

const LOOKUP: &[&str] = &["house.lookup", r#"{"host":"time.example","question":"what is the canary doing"}"#];

/// Somebody who is told.
struct Viewer(BufReader<TcpStream>);

impl Viewer {
    fn new(centre: &Centre, operator: &Operator) -> Self {
        let mut stream = TcpStream::connect(&centre.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
        let (_, cookie) = operator.client.headers.iter().find(|(key, _)| key == "Cookie").unwrap();
        write!(stream, "GET /events HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n\r\n", centre.address).unwrap();
        let mut viewer = Self(BufReader::new(stream));
        let head: Vec<_> = std::iter::from_fn(|| viewer.line()).take_while(|line| !line.is_empty()).collect();
        assert!(head[0].contains("200") && head.iter().any(|line| line.contains("text/event-stream")), "{head:?}");
        // The first beat: from here on it is told.
        while viewer.line().is_some_and(|line| !line.starts_with(": here")) {}
        viewer
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).ok()?;
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event, and what it is about; none when the stream has ended.
    fn next(&mut self) -> Option<(String, Value)> {
        let mut event = String::new();
        loop {
            let line = self.line()?;
            if let Some(name) = line.strip_prefix("event: ") {
                name.clone_into(&mut event);
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((event, serde_json::from_str(data).unwrap()));
            }
        }
    }
}

#[test]
fn what_appears_changes_and_leaves_is_told_without_a_word_of_it() {
    let centre = Centre::new();
    let (operator, other) = (centre.logged_in(), centre.logged_in());
    let mut viewers = [Viewer::new(&centre, &operator), Viewer::new(&centre, &other)];
    let id = centre.home.pending(LOOKUP);
    for viewer in &mut viewers {
        let (event, about) = viewer.next().unwrap();
        let wanted =
            json!({ "id": id, "status": "pending", "capability": "house.lookup", "version": 1, "risk": "medium" });
        assert_eq!((event.as_str(), about), ("appeared", wanted));
    }
    operator.approve(&id).is(303);
    for viewer in &mut viewers {
        let (event, about) = viewer.next().unwrap();
        assert_eq!((event.as_str(), &about["id"], &about["status"]), ("changed", &json!(id), &json!("approved")));
    }
    centre.home.run(&["resume", &id]).exits(0);
    for viewer in &mut viewers {
        assert_eq!(viewer.next().unwrap(), ("left".to_owned(), json!({ "id": id })));
    }
    let id = centre.home.pending(LOOKUP);
    assert_eq!(viewers[0].next().unwrap().0, "appeared");
    centre.home.operate(&["approvals", "deny", &id]).exits(0);
    assert_eq!(viewers[0].next().unwrap(), ("left".to_owned(), json!({ "id": id })));
    let fragment = operator.get("/fragment/queue").is(200).body;
    assert!(fragment.starts_with("<p id=\"count\"") && !fragment.contains("<html"), "{fragment}");
}

/// Whoever is no operator any more is told nothing more.
#[test]
fn a_stream_ends_with_its_session() {
    let centre = Centre::new();
    let (operator, other) = (centre.logged_in(), centre.logged_in());
    let mut viewer = Viewer::new(&centre, &operator);
    operator.post("/logout", &[]).is(303);
    centre.home.pending(LOOKUP);
    assert_eq!(viewer.next().unwrap().0, "ended");
    assert_eq!(viewer.next(), None);
    other.get("/").is(200);
}

/// A stream does not keep its host from ending.
#[test]
fn a_host_ends_while_somebody_is_told() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let mut viewer = Viewer::new(&centre, &operator);
    centre.end().exits(0);
    assert_eq!(viewer.next(), None);
}
