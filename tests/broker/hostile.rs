//! Services that answer with whatever does most harm.

use core::time::Duration;
use std::time::Instant;

use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::lab::{Lab, near};
use super::servers::{Server, endlessly, request, response};

/// What the caller is told of a service that serves every connection so.
async fn told<F>(serve: impl Fn(TcpStream) -> F + Send + Sync + 'static) -> (String, Duration)
where
    F: Future<Output = ()> + Send + 'static,
{
    let server = Server::each(serve).await;
    let lab = Lab::new(&[("home", near(server.port))], &[]);
    let begun = Instant::now();
    let fault = lab.fault("home.get", json!({ "path": "/state" })).await;
    assert_eq!(server.connections(), 1, "{fault}: and it is not asked again");
    (fault, begun.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_heads_and_bodies_are_cut_off() {
    let headers = told(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        endlessly(&mut stream, b"X-More: and more and more and more\r\n").await;
    });
    let one_header = told(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ").await;
        endlessly(&mut stream, &[b'x'; 8192]).await;
    });
    let informed = told(|mut stream| async move {
        request(&mut stream).await;
        endlessly(&mut stream, b"HTTP/1.1 103 Early\r\nX: y\r\n\r\n").await;
    });
    let body = told(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n").await;
        endlessly(&mut stream, &[b'x'; 8192]).await;
    });
    let announced = told(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n").await;
        endlessly(&mut stream, &[b'x'; 8192]).await;
    });
    let chunks = told(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        endlessly(&mut stream, b"1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n1\r\nx\r\n").await;
    });
    let extended = told(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;").await;
        endlessly(&mut stream, &[b'e'; 8192]).await;
    });
    let trailers = told(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n").await;
        endlessly(&mut stream, b"X-More: and more\r\n").await;
    });
    let all = tokio::join!(headers, one_header, informed, body, announced, chunks, extended, trailers);
    let (headers, one_header, informed, body, announced, chunks, extended, trailers) = all;
    for (what, (fault, _)) in [("body", body), ("announced", announced)] {
        assert_eq!(fault, "reply_too_large", "{what}");
    }
    for (what, (fault, took)) in [
        ("headers", headers),
        ("one header", one_header),
        ("informed", informed),
        ("chunks", chunks),
        ("extended", extended),
        ("trailers", trailers),
    ] {
        assert!(["malformed_reply", "reply_too_large", "unavailable"].contains(&fault.as_str()), "{what}: {fault}");
        assert!(took < Duration::from_secs(20), "{what}: {took:?}");
    }
}

/// One byte now and then keeps a read timeout from ever passing; the whole exchange has one.
#[tokio::test(flavor = "multi_thread")]
async fn dripping_is_ended_by_the_deadline_of_the_whole() {
    let head = told(|mut stream| async move {
        request(&mut stream).await;
        loop {
            for byte in b"HTTP/1.1 200 OK\r\n" {
                tokio::time::sleep(Duration::from_millis(700)).await;
                if stream.write_all(&[*byte]).await.is_err() {
                    return;
                }
            }
        }
    });
    let body = told(|mut stream| async move {
        request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await;
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    let silence = told(|mut stream| async move {
        request(&mut stream).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
    });
    let (head, body, silence) = tokio::join!(head, body, silence);
    for (what, (fault, took)) in [("head", head), ("body", body), ("silence", silence)] {
        assert_eq!(fault, "timed_out", "{what}");
        assert!(took >= Duration::from_secs(9), "{what}: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn compressed_redirected_and_broken_answers_leak_nothing() {
    async fn said(answer: Vec<u8>) -> Result<serde_json::Value, String> {
        let server = Server::answering(move |_| answer.clone()).await;
        let lab = Lab::new(&[("home", near(server.port))], &[]);
        let said = lab.said("home.get", json!({ "path": "/state" })).await;
        assert_eq!(server.connections(), 1, "{said:?}");
        assert!(!lab.sink.lines().contains("sesame"), "{said:?}");
        said
    }
    // A bomb is not opened: it is refused by its name.
    for coding in ["gzip", "br", "deflate", "x-sesame", "identity, gzip"] {
        let answer = response(200, &format!("Content-Encoding: {coding}\r\n"), "sesame");
        assert_eq!(said(answer).await, Err("encoded_reply".to_owned()), "{coding}");
    }
    // A redirect is an answer; where it points is not even told.
    let hidden = Server::each(|_| async {}).await;
    let answer = response(302, &format!("Location: http://127.0.0.1:{}/sesame\r\n", hidden.port), "");
    let redirected = said(answer).await.expect("an answer");
    assert_eq!(redirected, json!({ "status": 302, "content_type": null, "body": "", "json": false }));
    assert_eq!(hidden.connections(), 0);
    // Whatever the type says counts, not what the body looks like.
    let html = said(response(200, "Content-Type: text/html\r\n", "{\"a\":1}")).await.expect("an answer");
    assert_eq!(html["json"], false);
    let unsaid = said(response(200, &format!("Content-Type: {}\r\n", "x".repeat(400)), "{}")).await.expect("an answer");
    assert_eq!((&unsaid["content_type"], &unsaid["json"]), (&json!(null), &json!(false)));
    // Cut short, doubled, split, nested, and no HTTP at all.
    let deep = "[".repeat(100_000);
    let nested = said(response(200, "Content-Type: application/json\r\n", &deep)).await.expect("an answer");
    assert_eq!(nested["json"], false);
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsesame"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nse",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nse",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nsesame\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX\0: y\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 99 No\r\n\r\n",
        b"SSH-2.0-sesame\r\n",
        b"\x16\x03\x01\x00\x05sesame",
        b"",
    ] {
        let fault = said(answer.to_vec()).await.expect_err("no answer");
        assert!(["malformed_reply", "unavailable"].contains(&fault.as_str()), "{fault}: {}", answer.escape_ascii());
    }
}

/// Whatever bytes a service sends, the exchange ends, with an answer or with a rule.
#[tokio::test(flavor = "multi_thread")]
async fn random_bytes_end_as_a_rule_or_an_answer() {
    let whole = response(
        200,
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n",
        "5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n",
    );
    let state = std::sync::Mutex::new(0x2545_f491_4f6c_dd1d_u64);
    let server = Server::answering(move |_| {
        let mut state = state.lock().expect("no test panics with it");
        let mut next = || {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            *state
        };
        let mut bytes = whole.clone();
        for _ in 0..next() % 6 {
            let at = usize::try_from(next()).unwrap_or(0) % bytes.len();
            match next() % 3 {
                0 => bytes[at] = u8::try_from(next() & 0xff).unwrap_or(0),
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, u8::try_from(next() & 0xff).unwrap_or(0)),
            }
        }
        bytes
    })
    .await;
    let lab = Lab::new(&[("home", near(server.port))], &[]);
    let mut answered = 0;
    for round in 0..400 {
        match lab.said("home.get", json!({ "path": "/state" })).await {
            Ok(_) => answered += 1,
            Err(fault) => {
                let rules = ["malformed_reply", "unavailable", "reply_too_large", "encoded_reply"];
                assert!(rules.contains(&fault.as_str()), "{round}: {fault}");
            }
        }
    }
    assert!((1..400).contains(&answered), "both happen: {answered}");
}
