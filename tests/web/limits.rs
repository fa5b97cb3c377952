//! Whoever sends too much, too slowly or too often.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::centre::{Centre, until_status};
use crate::client::raw;

#[test]
fn what_is_too_large_is_refused() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let large = "x".repeat(70_000);
    operator.post("/optins/house", &[("on", &large)]).refused(413, "too_large");
    centre.browser().post("/login", &[("password", &large)]).refused(413, "too_large");
    let id = "0".repeat(32);
    let body = json!({ "note": large });
    centre.program().post_json(&format!("/api/approvals/{id}/deny"), &body).refused(413, "too_large");
    let host = &centre.address;
    // A head that is too long, or of too many lines, or no head at all; a body whose length is a riddle.
    let many: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
    for request in [
        format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}\r\n\r\n", "y".repeat(200_000)),
        format!("GET /{} HTTP/1.1\r\nHost: {host}\r\n\r\n", "y".repeat(200_000)),
        format!("GET / HTTP/1.1\r\nHost: {host}\r\n{many}\r\n"),
        "\0\0\0\0\r\n\r\n".to_owned(),
        format!(
            "POST /login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"
        ),
        format!(
            "POST /login HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        ),
    ] {
        let status = raw(host, request.as_bytes()).status;
        assert!(status == 0 || (400..500).contains(&status), "{status}");
    }
    operator.get("/").is(200);
}

/// Whoever sends a head byte by byte, or nothing at all, is let go; others are served meanwhile.
#[test]
fn whoever_is_too_slow_is_let_go() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let began = Instant::now();
    let mut slow: Vec<_> = (0..20).map(|_| TcpStream::connect(&centre.address).unwrap()).collect();
    let start = format!("GET / HTTP/1.1\r\nHost: {}\r\n", centre.address);
    for stream in slow.iter_mut().skip(10) {
        stream.write_all(start.as_bytes()).unwrap();
    }
    let mut body = TcpStream::connect(&centre.address).unwrap();
    let head = format!(
        "POST /login HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\np",
        centre.address
    );
    body.write_all(head.as_bytes()).unwrap();
    operator.get("/").is(200);
    for stream in slow.iter_mut().chain([&mut body]) {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        let text = String::from_utf8_lossy(&rest);
        assert!(
            ended.is_ok() || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset),
            "{text}"
        );
        assert!(text.is_empty() || text.contains(" 408 "), "{text}");
    }
    assert!(began.elapsed() < Duration::from_secs(60));
}

/// Connections are counted, and a place that is free again is given again.
#[test]
fn connections_are_counted() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let held: Vec<_> = (0..300).map(|_| TcpStream::connect(&centre.address)).collect();
    let refused = held.iter().flatten().filter(|stream| {
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        // One that was not taken in is closed at once.
        matches!(Read::read(&mut &**stream, &mut [0; 1]), Ok(0))
    });
    assert!(refused.count() > 50, "one peer has no more than its share");
    drop(held);
    until_status("a free place", 200, || operator.get("/"));
}

#[test]
fn viewers_are_counted() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let (_, cookie) = operator.client.headers.iter().find(|(key, _)| key == "Cookie").unwrap();
    let request = format!("GET /events HTTP/1.1\r\nHost: {}\r\nCookie: {cookie}\r\n\r\n", centre.address);
    let watch = || {
        let mut stream = TcpStream::connect(&centre.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        (stream, String::from_utf8_lossy(&start).into_owned())
    };
    let viewers: Vec<_> = (0..100).map(|_| watch()).collect();
    assert!(viewers.iter().all(|(_, start)| start == "HTTP/1.1 200"));
    assert_eq!(watch().1, "HTTP/1.1 503");
    // The pages themselves are served to more than that.
    operator.get("/").is(200);
    drop(viewers);
    crate::home::until("a free place", || (watch().1 == "HTTP/1.1 200").then_some(()));
}

/// Requests that are nearly right, at random: whatever is sent, the pages go on, and nothing is their own fault.
#[test]
fn whatever_is_sent_the_pages_go_on() {
    let centre = Centre::new();
    let operator = centre.logged_in();
    let (_, cookie) = operator.client.headers.iter().find(|(key, _)| key == "Cookie").unwrap();
    let body = format!("csrf={}&on=false", operator.csrf);
    let right = format!(
        "POST /optins/nowhere HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nCookie: {cookie}\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {1}\r\n\r\n{body}",
        centre.address,
        body.len()
    );
    assert_eq!(raw(&centre.address, right.as_bytes()).status, 403, "there is no such family");
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    for _ in 0..200 {
        let mut bytes = right.clone().into_bytes();
        for _ in 0..=random(4) {
            let at = random(bytes.len());
            match random(4) {
                0 => bytes[at] = u8::try_from(random(256)).unwrap(),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, u8::try_from(random(256)).unwrap()),
                _ => {
                    let to = (at + random(64)).min(bytes.len());
                    let piece = bytes[at..to].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let mut stream = TcpStream::connect(&centre.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let _ = stream.write_all(&bytes);
        // What is missing at the end will not come.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
        assert!(status.is_none_or(|status| status < 500), "{answer}\n{}", String::from_utf8_lossy(&bytes));
    }
    operator.get("/").is(200);
    assert!(operator.get("/optins").body.contains("data-family=\"house\" data-state=\"on\""));
}
