//! Which targets are connected to: the spellings, names and answers that servers of private networks are reached by.

use capability_core::executor::Effect;
use serde_json::json;

use super::lab::Lab;
use super::servers::Server;

async fn silent() -> Server {
    Server::each(|_| async {}).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_private_address_is_connected_to() {
    let lab = Lab::new(&[], &[]);
    for (url, rule) in [
        // The address itself, and IPv6 addresses that hold it.
        ("http://127.0.0.1/", "not_public"),
        ("http://[::1]/", "not_public"),
        ("http://[::ffff:127.0.0.1]/", "not_public"),
        ("http://[::ffff:7f00:1]/", "not_public"),
        ("http://[::127.0.0.1]/", "not_public"),
        ("http://[2002:7f00:1::]/", "not_public"),
        ("http://[2001:0:0:0:0:0:80ff:fefe]/", "not_public"),
        ("http://[64:ff9b::127.0.0.1]/", "not_public"),
        ("http://169.254.169.254/latest/meta-data/", "not_public"),
        ("http://10.1.2.3/", "not_public"),
        ("http://0.0.0.0/", "not_public"),
        ("https://100.64.0.1/", "not_public"),
        // Numbers in other spellings, which some readers take for 127.0.0.1.
        ("http://2130706433/", "malformed_target"),
        ("http://0x7f.1/", "malformed_target"),
        ("http://0177.0.0.1/", "malformed_target"),
        ("http://127.1/", "malformed_target"),
        ("http://①②⑦.⓪.⓪.①/", "malformed_target"),
        ("http://%31%32%37.0.0.1/", "malformed_target"),
        // Addresses that two readers read as two hosts.
        ("http://docs.rs\\@evil.com/", "malformed_target"),
        ("http://user:password@example.com/", "malformed_target"),
        ("http://[fe80::1%25lo]/", "malformed_target"),
        // A name in another alphabet that looks like a known one.
        ("http://аpple.com/", "malformed_target"),
        // Other protocols and ports.
        ("ftp://example.com/", "malformed_target"),
        ("http://example.com:25/", "port_not_allowed"),
        ("http://example.com:8080/", "port_not_allowed"),
        // No answer is no way in.
        ("http://nx.test/", "unresolved"),
    ] {
        assert_eq!(lab.fault("web.connect", json!({ "url": url })).await, rule, "{url}");
    }
    for (host, rule) in [("127.0.0.1", "not_public"), ("localhost:22", "port_not_allowed"), ("a@b", "malformed_target")]
    {
        assert_eq!(lab.fault("web.host", json!({ "host": host })).await, rule, "{host}");
    }
    for url in ["http://exa\tmple.com/", "http://exa\nmple.com/", "http://example.com/\r\nHost: x"] {
        // Most control characters do not even get as far as the broker.
        let refused = lab.run("web.connect", json!({ "url": url })).await;
        assert!(refused.result().is_none() && refused.effect() != Effect::Completed, "{url:?}: {refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_private_address_among_a_names_answers_refuses_the_name() {
    let lab = Lab::new(&[], &[]);
    for (name, answer) in [
        ("mixed.test", &["3ffe::1", "10.0.0.1"][..]),
        ("last.test", &["3ffe::1", "3ffe::2", "3ffe::3", "3ffe::4", "3ffe::5", "::ffff:192.168.0.1"]),
        ("local.test", &["127.0.0.1"]),
        ("translated.test", &["64:ff9b::a00:1"]),
    ] {
        lab.names.answer(name, &[answer]);
        assert_eq!(lab.fault("web.connect", json!({ "url": format!("http://{name}/") })).await, "not_public", "{name}");
    }
    lab.names.answer("empty.test", &[&[]]);
    assert_eq!(lab.fault("web.connect", json!({ "url": "http://empty.test/" })).await, "unresolved");
}

/// A name whose answer changes between the judgement and the connection: there is one answer, and it serves both.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_resolved_once_and_connected_to_at_that_answer() {
    let server = silent().await;
    let place = format!("moves.test:{}", server.port);
    let lab = Lab::new(&[], core::slice::from_ref(&place));
    lab.names.answer("moves.test", &[&["127.0.0.1"], &["127.0.0.2"]]);
    assert_eq!(lab.said("web.connect", json!({ "url": format!("http://{place}/") })).await, Ok(json!(0)));
    assert_eq!((lab.names.asked(), server.connections()), (1, 1));

    // Public at first and private later: what counts is the first answer, which nobody here answers at.
    lab.names.answer("rebind.test", &[&["3ffe::1"], &["127.0.0.1"]]);
    let fault = lab.fault("web.connect", json!({ "url": "http://rebind.test/" })).await;
    assert!(["unavailable", "timed_out"].contains(&fault.as_str()), "{fault}");
    assert_eq!((lab.names.asked(), server.connections()), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operators_allowance_is_for_exactly_one_place() {
    let (server, other) = (silent().await, silent().await);
    let lab = Lab::new(&[], &[format!("127.0.0.1:{}", server.port), format!("nas.test:{}", server.port)]);
    lab.names.answer("nas.test", &[&["127.0.0.1"]]);
    lab.names.answer("other.test", &[&["127.0.0.1"]]);
    for (url, said) in [
        (format!("http://127.0.0.1:{}/", server.port), Ok(json!(0))),
        (format!("https://NAS.test:{}/x", server.port), Ok(json!(0))),
        (format!("http://127.0.0.1:{}/", other.port), Err("port_not_allowed".to_owned())),
        (format!("http://other.test:{}/", server.port), Err("port_not_allowed".to_owned())),
        (format!("http://[::ffff:127.0.0.1]:{}/", server.port), Err("port_not_allowed".to_owned())),
        ("http://nas.test/".to_owned(), Err("not_public".to_owned())),
    ] {
        assert_eq!(lab.said("web.connect", json!({ "url": url })).await, said, "{url}");
    }
    assert_eq!((server.connections(), other.connections()), (2, 0));
}

/// A proxy that the environment names would be where every request ends up, whatever was judged.
#[test]
fn a_proxy_of_the_environment_is_asked_by_nobody() {
    // In a process of its own, whose environment it is.
    let child = std::env::var_os("BROKER_TEST_PROXY").is_some();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        if child {
            let server = silent().await;
            let lab = Lab::new(&[], &[format!("127.0.0.1:{}", server.port)]);
            let url = format!("http://127.0.0.1:{}/", server.port);
            assert_eq!(lab.said("web.connect", json!({ "url": url })).await, Ok(json!(0)));
            assert_eq!(server.connections(), 1);
        } else {
            let proxy = silent().await;
            let address = format!("http://127.0.0.1:{}", proxy.port);
            let mut again = std::process::Command::new(std::env::current_exe().expect("this test"));
            again
                .args(["--exact", "targets::a_proxy_of_the_environment_is_asked_by_nobody"])
                .env("BROKER_TEST_PROXY", "1");
            for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
                again.env(name, &address);
            }
            let ended = tokio::task::spawn_blocking(move || again.output()).await.expect("it ends").expect("it runs");
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
            assert_eq!(proxy.connections(), 0);
        }
    });
}
