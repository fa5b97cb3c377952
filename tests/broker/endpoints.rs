//! Services that the operator configured.

use std::sync::Arc;

use capability_core::Code;
use capability_host::broker::{Auth, EndpointSettings, Place, Reach, Scheme};
use serde_json::{Value, json};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use super::lab::{Lab, near};
use super::servers::{self, Server, request, response};

async fn home() -> Server {
    Server::answering(|_| servers::json(200, &json!({ "lamps": 3 }))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_kind_lists_is_sent_and_the_answer_comes_back() {
    let server = home().await;
    let base = EndpointSettings { base: "/base".to_owned(), ..near(server.port) };
    let lab = Lab::new(&[("home", base)], &[]);
    let said = lab.said("home.get", json!({ "path": "/state", "q": "a&b=c d\u{e9}" })).await.expect("an answer");
    assert_eq!(
        said,
        json!({ "status": 200, "content_type": "application/json", "body": "{\"lamps\":3}", "json": true })
    );
    let [sent] = server.requests().try_into().expect("one request");
    let mut lines = sent.lines();
    assert_eq!(lines.next(), Some("GET /base/state?q=a%26b%3Dc%20d%C3%A9 HTTP/1.1"));
    let headers: Vec<_> = lines.take_while(|line| !line.is_empty()).map(str::to_ascii_lowercase).collect();
    let host = format!("host: 127.0.0.1:{}", server.port);
    let agent = format!("user-agent: capability/{}", env!("CARGO_PKG_VERSION"));
    for wanted in [host.as_str(), &agent, "accept-encoding: identity", "connection: close"] {
        assert!(headers.iter().any(|line| line == wanted), "{wanted}: {headers:?}");
    }
    assert_eq!(headers.len(), 5, "and nothing else but `accept`: {headers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_else_is_sent() {
    let server = home().await;
    let lab = Lab::new(&[("home", near(server.port))], &[]);
    for path in [
        "/",
        "/state/",
        "/STATE",
        "/switch",
        "/state?x=1",
        "/state#",
        "//state",
        "/state/../switch",
        "",
        "state",
        "/state\u{0}",
    ] {
        let said = lab.said("home.get", json!({ "path": path })).await;
        assert!(said.is_err(), "{path}");
    }
    let long = "x".repeat(9000);
    assert_eq!(lab.fault("home.get", json!({ "path": "/state", "q": long })).await, "cap_exceeded");
    assert_eq!(server.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_capability_is_bound_to_a_service_on_the_device_only() {
    let server = home().await;
    let lab = Lab::new(&[("home", EndpointSettings { reach: Reach::External, ..near(server.port) })], &[]);
    let refused = lab.invoke("home.get", json!({ "path": "/state" })).await;
    assert_eq!(refused.code(), Some(Code::MissingRuntimeBinding));
    assert_eq!(server.connections(), 0);
    let far = lab.said("far.get", json!({ "path": "/state" })).await.expect("an answer");
    assert_eq!(far["status"], 200);

    let lab = Lab::new(&[("home", near(server.port))], &[]);
    assert!(lab.said("home.get", json!({ "path": "/state" })).await.is_ok());
    assert!(lab.said("far.get", json!({ "path": "/state" })).await.is_ok());

    let lab = Lab::new(&[], &[]);
    assert_eq!(lab.invoke("home.get", json!({ "path": "/state" })).await.code(), Some(Code::MissingRuntimeBinding));
}

#[tokio::test(flavor = "multi_thread")]
async fn until_somebody_has_said_yes_a_preview_only_reads_what_is_here() {
    let server = home().await;
    let lab = Lab::new(&[("switches", near(server.port))], &[]);
    lab.private("secrets/token", b"sesame-open");
    std::fs::write(lab.workspace().join("note"), "on").expect("a note");
    let pending = lab.invoke("home.switch", json!({ "lamp": "hall" })).await;
    let id = pending.approval().expect("it waits");
    assert_eq!(lab.preview(id).await, "2 bytes unconfirmed unconfirmed unconfirmed unconfirmed unconfirmed");
    assert_eq!(server.connections(), 0);
    assert_eq!(std::fs::read_to_string(lab.workspace().join("note")).expect("it stands"), "on");

    assert_eq!(lab.said("home.switch", json!({ "lamp": "hall" })).await, Ok(json!(200)));
    let [sent] = server.requests().try_into().expect("one request");
    assert!(sent.starts_with("POST /switch HTTP/1.1\r\n") && sent.ends_with("{\"lamp\":\"hall\"}"), "{sent}");
}

#[tokio::test(flavor = "multi_thread")]
async fn exchanges_are_counted_for_each_invocation() {
    let server = home().await;
    let lab = Lab::new(&[("home", near(server.port))], &[]);
    assert_eq!(lab.said("home.often", json!({ "times": 32 })).await, Ok(json!(32)));
    assert_eq!(lab.fault("home.often", json!({ "times": 33 })).await, "budget_spent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_sent_and_told_to_nobody() {
    let server = home().await;
    let lab = Lab::new(&[], &[]);
    let token_file = lab.private("home-token", b"sesame-open\n");
    let auth = Auth::Bearer { token_file: token_file.clone() };
    let lab = Lab::new(&[("home", EndpointSettings { auth: auth.clone(), ..near(server.port) })], &[]);
    assert!(lab.said("home.get", json!({ "path": "/state" })).await.is_ok());
    let [sent] = server.requests().try_into().expect("one request");
    assert!(sent.to_ascii_lowercase().contains("\r\nauthorization: bearer sesame-open\r\n"), "{sent}");
    assert!(!lab.sink.lines().contains("sesame"));

    // Readable for others, or gone: nothing is sent without it.
    std::fs::set_permissions(&token_file, std::os::unix::fs::PermissionsExt::from_mode(0o640)).expect("a mode");
    assert_eq!(lab.fault("home.get", json!({ "path": "/state" })).await, "credential_unreadable");
    std::fs::remove_file(&token_file).expect("it was there");
    assert_eq!(lab.fault("home.get", json!({ "path": "/state" })).await, "credential_unreadable");
    // No line of it begins another header.
    super::lab::private_file(&token_file, b"x\r\nHost: evil");
    assert_eq!(lab.fault("home.get", json!({ "path": "/state" })).await, "credential_unreadable");
    // It could not be kept out of what goes out.
    super::lab::private_file(&token_file, b"sesame7\n");
    assert_eq!(lab.fault("home.get", json!({ "path": "/state" })).await, "credential_short");
    assert!(!lab.sink.lines().contains("sesame"));
    assert_eq!(server.connections(), 1);
}

/// A server with a certificate of its own authority, for `pi.hole`.
async fn secured() -> (Server, String) {
    let authority_key = rcgen::KeyPair::generate().expect("a key");
    let mut authority = rcgen::CertificateParams::new(vec![]).expect("no names");
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let pem = authority.self_signed(&authority_key).expect("a certificate").pem();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().expect("a key");
    let leaf = rcgen::CertificateParams::new(vec!["pi.hole".to_owned()]).expect("a name");
    let leaf = leaf.signed_by(&key, &issuer).expect("a certificate");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der())))
        .expect("they belong together");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let server = Server::each(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            use tokio::io::AsyncWriteExt as _;
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            request(&mut stream).await;
            let _ = stream.write_all(&response(200, "Content-Type: text/plain\r\n", "secured")).await;
            let _ = stream.shutdown().await;
        }
    })
    .await;
    (server, pem)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_trusted_by_its_configured_authority_and_name_or_not_at_all() {
    let (server, pem) = secured().await;
    let (_, other) = secured().await;
    let files = Lab::new(&[], &[]);
    let (own, other) = (files.private("own.pem", pem.as_bytes()), files.private("other.pem", other.as_bytes()));
    let empty = files.private("empty.pem", b"");
    let settings = |ca_file: Option<&std::path::Path>, server_name: Option<&str>| EndpointSettings {
        scheme: Scheme::Https,
        place: Place::of_authority(&format!("127.0.0.1:{}", server.port), 0).expect("a place"),
        ca_file: ca_file.map(ToOwned::to_owned),
        server_name: server_name.map(str::to_owned),
        ..near(server.port)
    };
    for (settings, said) in [
        (settings(Some(&own), Some("pi.hole")), Ok(json!("secured"))),
        (settings(Some(&own), None), Err("untrusted")),
        (settings(Some(&own), Some("pi.whole")), Err("untrusted")),
        (settings(Some(&other), Some("pi.hole")), Err("untrusted")),
        (settings(None, Some("pi.hole")), Err("untrusted")),
        (settings(Some(&empty), Some("pi.hole")), Err("untrusted")),
        (settings(Some(std::path::Path::new("/nonexistent.pem")), Some("pi.hole")), Err("untrusted")),
    ] {
        let lab = Lab::new(&[("home", settings)], &[]);
        let answered = lab.said("home.get", json!({ "path": "/state" })).await;
        assert_eq!(answered.map(|said| said["body"].clone()), said.map_err(str::to_owned));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_not_there_is_unavailable_and_its_status_is_an_answer() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("bound").port()
    };
    let lab = Lab::new(&[("home", near(port))], &[]);
    assert_eq!(lab.fault("home.get", json!({ "path": "/state" })).await, "unavailable");

    let server = Server::answering(|_| response(503, "Content-Type: text/html\r\n", "<b>later</b>")).await;
    let lab = Lab::new(&[("home", near(server.port))], &[]);
    let said: Value = lab.said("home.get", json!({ "path": "/state" })).await.expect("an answer");
    assert_eq!((&said["status"], &said["json"]), (&json!(503), &json!(false)));
}
