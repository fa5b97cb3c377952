//! What becomes of a connection that was handed out.

use core::time::Duration;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::json;
use tokio::io::AsyncReadExt as _;

use super::capabilities::SEEN;
use super::lab::Lab;
use super::servers::{Server, endlessly, request, response};

fn lab(server: &Server) -> (Lab, String) {
    let place = format!("127.0.0.1:{}", server.port);
    (Lab::new(&[], core::slice::from_ref(&place)), format!("http://{place}/"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_body_speaks_on_the_connection_it_was_handed() {
    let server = Server::answering(|_| response(200, "", "hello")).await;
    let (lab, url) = lab(&server);
    let said = lab.said("web.connect", json!({ "url": url, "send": "GET / HTTP/1.1\r\n\r\n" })).await;
    assert_eq!(said, Ok(json!(response(200, "", "hello").len())));
    assert_eq!(server.requests(), ["GET / HTTP/1.1\r\n\r\n"]);
}

/// A redirect is bytes to the body, which has no handle for another host.
#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_leads_nowhere() {
    let hidden = Server::each(|_| async {}).await;
    let location = format!("Location: http://127.0.0.1:{}/\r\n", hidden.port);
    let server = Server::answering(move |_| response(302, &location, "")).await;
    let (lab, url) = lab(&server);
    let said = lab.said("web.connect", json!({ "url": url, "send": "GET / HTTP/1.1\r\n\r\n" })).await;
    assert!(said.is_ok_and(|read| read.as_u64() > Some(20)));
    assert_eq!((server.connections(), hidden.connections()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_counted_for_each_invocation() {
    let server = Server::each(|mut stream| async move {
        request(&mut stream).await;
    })
    .await;
    let (lab, url) = lab(&server);
    for _ in 0..2 {
        assert_eq!(lab.fault("web.connect", json!({ "url": url, "times": 9 })).await, "budget_spent");
    }
    assert_eq!(server.connections(), 16);
    assert_eq!(lab.said("web.connect", json!({ "url": url, "times": 8, "send": "\r\n\r\n" })).await, Ok(json!(0)));
}

/// Nobody reads 64 MiB because somebody sends them.
#[tokio::test(flavor = "multi_thread")]
async fn bytes_are_counted_and_the_connection_is_shut_down_above_the_budget() {
    let server = Server::each(|mut stream| async move {
        endlessly(&mut stream, &[b'x'; 16 * 1024]).await;
    })
    .await;
    let (lab, url) = lab(&server);
    let begun = Instant::now();
    let received = lab.said("web.connect", json!({ "url": url })).await.expect("it ends").as_u64().expect("a number");
    // At most what loopback delivers between two counts comes on top; how much that is, the machine's load decides.
    assert!(received >= 16 * 1024 * 1024, "{received}");
    assert!(begun.elapsed() < Duration::from_secs(15), "the connection ended, not the call");
}

/// A body that goes on behind its caller's back holds a dead connection, and gets no other.
#[tokio::test(flavor = "multi_thread")]
async fn connections_end_with_the_call() {
    let ended_after = Arc::<AtomicU64>::default();
    let noted = Arc::clone(&ended_after);
    let server = Server::each(move |mut stream| {
        let noted = Arc::clone(&noted);
        async move {
            let begun = Instant::now();
            while let Ok(1..) = stream.read(&mut [0; 16]).await {}
            noted.store(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1), Ordering::SeqCst);
        }
    })
    .await;
    let (lab, url) = lab(&server);
    let outcome = lab.run("web.overstay", json!({ "url": url })).await;
    assert!(matches!(outcome.ended(), capability_core::executor::Ended::TimedOut), "{outcome:?}");
    let seen = || SEEN.lock().expect("no test panics with it").get(lab.subject.as_str()).cloned();
    let until = Instant::now() + Duration::from_secs(20);
    while seen().is_none() && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(seen(), Some(vec!["0".to_owned(), "ended".to_owned()]));
    let ended_after = ended_after.load(Ordering::SeqCst);
    assert!(ended_after > 0, "the other side saw the end");
    assert_eq!(server.connections(), 1);
}

/// Calls beside one another have accounts of their own.
#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_a_time_share_nothing() {
    let server = Server::answering(|_| response(200, "", &"y".repeat(1000))).await;
    let (lab, url) = lab(&server);
    let lab = Arc::new(lab);
    let failed = Arc::<Mutex<Vec<String>>>::default();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..24 {
        let (lab, url, failed) = (Arc::clone(&lab), url.clone(), Arc::clone(&failed));
        calls.spawn(async move {
            match lab.said("web.connect", json!({ "url": url, "send": "GET / HTTP/1.1\r\n\r\n" })).await {
                Ok(read) if read.as_u64() > Some(1000) => {}
                other => failed.lock().expect("no test panics with it").push(format!("{other:?}")),
            }
        });
    }
    while calls.join_next().await.is_some() {}
    assert_eq!(*failed.lock().expect("no test panics with it"), Vec::<String>::new());
}
