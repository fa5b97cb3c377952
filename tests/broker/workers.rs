//! The same handles in a process that the kernel has closed: what crosses to it is a descriptor or plain data.

use serde_json::json;

use super::lab::{Lab, near};
use super::servers::{self, Server, endlessly, response};

#[tokio::test(flavor = "multi_thread")]
async fn every_handle_works_from_a_worker() {
    let home = Server::answering(|_| servers::json(200, &json!({ "lamps": 3 }))).await;
    let public = Server::answering(|_| response(200, "", "hello")).await;
    let place = format!("127.0.0.1:{}", public.port);
    let services = [("home", near(home.port)), ("switches", near(home.port))];
    let lab = Lab::isolated(&services, core::slice::from_ref(&place));
    lab.private("secrets/token", b"sesame-open");
    std::fs::write(lab.workspace().join("note"), "on").expect("a note");

    let asked = lab.said("home.get", json!({ "path": "/state" })).await.expect("an answer");
    assert_eq!((&asked["status"], &asked["body"]), (&json!(200), &json!("{\"lamps\":3}")));
    let url = format!("http://{place}/");
    let read = lab.said("web.connect", json!({ "url": url, "send": "GET / HTTP/1.1\r\n\r\n" })).await;
    assert_eq!(read, Ok(json!(response(200, "", "hello").len())));
    assert_eq!(lab.said("files.read", json!({ "path": "note" })).await, Ok(json!("on")));
    assert_eq!(lab.said("files.write", json!({ "path": "note", "text": "off" })).await, Ok(json!(null)));
    assert_eq!(lab.said("files.list", json!({ "path": "." })).await, Ok(json!(["note:File:3"])));
    assert_eq!(lab.said("secret.length", json!({})).await, Ok(json!(11)));
    let pending = lab.invoke("home.switch", json!({ "lamp": "hall" })).await;
    let shown = lab.preview(pending.approval().expect("it waits")).await;
    assert_eq!(shown, "3 bytes unconfirmed unconfirmed unconfirmed unconfirmed unconfirmed");
    assert_eq!(lab.said("home.switch", json!({ "lamp": "hall" })).await, Ok(json!(200)));
    assert_eq!(lab.said("files.remove", json!({ "path": "note" })).await, Ok(json!(null)));

    for (name, arguments, rule) in [
        ("web.connect", json!({ "url": "http://127.0.0.1/" }), "not_public"),
        ("home.get", json!({ "path": "/switch" }), "not_listed"),
        ("files.read", json!({ "path": "note" }), "not_found"),
        ("files.read", json!({ "path": "../outside" }), "malformed_path"),
        ("home.often", json!({ "times": 33 }), "budget_spent"),
    ] {
        assert_eq!(lab.fault(name, arguments).await, rule, "{name}");
    }
}

/// The budget holds for a connection that another process has.
#[tokio::test(flavor = "multi_thread")]
async fn a_workers_connection_is_shut_down_above_the_budget() {
    let server = Server::each(|mut stream| async move {
        endlessly(&mut stream, &[b'x'; 16 * 1024]).await;
    })
    .await;
    let place = format!("127.0.0.1:{}", server.port);
    let lab = Lab::isolated(&[], core::slice::from_ref(&place));
    let received = lab.said("web.connect", json!({ "url": format!("http://{place}/") })).await.expect("it ends");
    assert!(received.as_u64() >= Some(16 * 1024 * 1024), "{received}");
}
