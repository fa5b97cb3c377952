//! `web.fetch`.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use capability_core::audit::OutcomeKind;
use capability_core::executor::Isolation;
use capability_core::{Code, Stage};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::household::{Household, folder, private};
use crate::servers::{Server, Then, answer};

const HTML: &[(&str, &str)] = &[("content-type", "text/html; charset=utf-8")];
const TEXT: &[(&str, &str)] = &[("content-type", "text/plain")];

/// A host that may fetch from these servers of the loopback and from no other place that is not public.
async fn household(servers: &[&Server]) -> Household {
    let places: Vec<_> = servers.iter().map(|server| server.place()).collect();
    Household::open(folder(), &format!("[http]\nallow = {places:?}\n")).await
}

fn url(url: impl AsRef<str>) -> Value {
    json!({ "url": url.as_ref() })
}

/// Fetches what a server gives as its only answer.
async fn fetched(whole: Vec<u8>) -> Value {
    let server = Server::always(whole);
    household(&[&server]).await.called("web.fetch", &url(server.url("/"))).await
}

/// Fetching it fails; what the caller is told holds no word of the server's, and nothing is kept of it either.
async fn refused(whole: Vec<u8>) -> String {
    let server = Server::always(whole);
    let household = household(&[&server]).await;
    let told = household.failed("web.fetch", &url(server.url("/"))).await;
    assert!(!told.contains("canary"), "{told}");
    household.remembers_nothing_of(&["canary", "127.0.0.1"]);
    told
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_fetched_as_text() {
    let page = "<!doctype html><title>Caf\u{e9}</title><style>p{}</style><script>canary()</script><h1>Menu</h1><p>Soup &amp; <b>bread</b>";
    let server = Server::start(move |_, out| out.write_all(&answer("200 OK", HTML, page)).map(|()| Then::Close));
    let household = household(&[&server]).await;
    let address = server.url("/menu?day=1#today");
    let told = household.called("web.fetch", &url(&address)).await;
    let time = told["retrieved_at"].clone();
    let whole = json!({
        "url": address, "final_url": server.url("/menu?day=1"), "redirected": false, "content_type": "text/html", "charset": "UTF-8",
        "text": "Caf\u{e9}\n\nMenu\n\nSoup & bread", "truncated": false, "replaced": false, "retrieved_at": time,
    });
    assert_eq!(told, whole);
    let log = household.log();
    for event in ["policy_decision", "approval", "intent", "outcome"] {
        assert!(log.contains(event) && log.contains("web.fetch"), "{log}");
    }
    // All of this happened in a process of its own, where there is no network but the one connection.
    let entry = household.host.executor().registry().resolve("web.fetch", 1).unwrap().entry();
    assert_eq!(household.host.executor().guarantees(entry).isolation, Isolation::Process);
    household.remembers_nothing_of(&["Menu", "menu", "Soup", "127.0.0.1", &server.port().to_string()]);

    let seen = server.seen();
    assert_eq!((seen.len(), seen[0].method.as_str(), seen[0].target.as_str()), (1, "GET", "/menu?day=1"));
    let headers: Vec<_> = seen[0].headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(headers, ["host", "user-agent", "accept", "accept-encoding", "connection"]);
    assert_eq!(seen[0].header("host"), Some(server.place().as_str()));
    assert_eq!(seen[0].header("accept-encoding"), Some("identity"));
}

#[tokio::test(flavor = "multi_thread")]
async fn text_and_json_are_given_as_they_are() {
    for (content_type, body) in [
        ("text/plain", "a <b>b</b>\n  c &amp; d"),
        ("application/json", "{\"a\": [1, \"<b>\"]}"),
        ("TEXT/PLAIN;charset=\"utf-8\"", "a"),
        ("text/plain", ""),
    ] {
        let told = fetched(answer("200 OK", &[("content-type", content_type)], body)).await;
        assert_eq!((&told["text"], &told["truncated"]), (&json!(body), &json!(false)), "{content_type}");
    }
    let chunked = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\ntrailer: canary\r\n\r\n";
    assert_eq!(fetched(chunked.to_vec()).await["text"], "abcde");
    let until_the_end = b"HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\n\r\nabc";
    assert_eq!(fetched(until_the_end.to_vec()).await["text"], "abc");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_charset_is_told() {
    for (content_type, body, text, charset, replaced) in [
        ("text/html; charset=iso-8859-1", &b"caf\xe9"[..], "caf\u{e9}", "windows-1252", false),
        ("text/html", b"<meta charset=shift_jis>\x83A", "\u{30a2}", "Shift_JIS", false),
        ("text/html", b"caf\xe9", "caf\u{e9}", "windows-1252", false),
        ("text/plain", b"caf\xe9", "caf\u{fffd}", "UTF-8", true),
        ("text/plain; charset=utf-8", b"\xff\xfea\0b\0", "ab", "UTF-16LE", false),
        ("application/json", b"\xef\xbb\xbf[]", "[]", "UTF-8", false),
    ] {
        let told = fetched(answer("200 OK", &[("content-type", content_type)], body)).await;
        let read = (told["text"].as_str().unwrap(), told["charset"].as_str().unwrap(), told["replaced"] == json!(true));
        assert_eq!(read, (text, charset, replaced), "{content_type} {body:?}");
    }
    for label in ["utf-7", "canary", "iso-2022-kr"] {
        let content_type = format!("text/html; charset={label}");
        let told = refused(answer("200 OK", &[("content-type", &content_type)], "+ADw-script+AD4-")).await;
        assert!(told.contains("charset"), "{told}");
    }
}

/// The next place is an address of its own, for a call that a person confirms.
#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_is_told_and_never_followed() {
    let elsewhere = Server::always(answer("200 OK", TEXT, "canary"));
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary Redirect", "308 Permanent Redirect"] {
        for (location, meant) in [
            (elsewhere.url("/x#y"), elsewhere.url("/x")),
            ("http://169.254.169.254/latest".to_owned(), "http://169.254.169.254/latest".to_owned()),
            ("//other.example/a".to_owned(), "http://other.example/a".to_owned()),
            ("https://other.example".to_owned(), "https://other.example/".to_owned()),
        ] {
            let server = Server::always(answer(status, &[("location", &location)], "canary"));
            let household = household(&[&server, &elsewhere]).await;
            let mut told = household.called("web.fetch", &url(server.url("/"))).await;
            told.as_object_mut().unwrap().remove("retrieved_at");
            let whole = json!({
                "url": server.url("/"), "final_url": meant, "redirected": true, "content_type": null, "charset": null,
                "text": "", "truncated": false, "replaced": false,
            });
            assert_eq!(told, whole, "{status} {location}");
            household.remembers_nothing_of(&["other.example", "169.254"]);
        }
    }
    assert_eq!(elsewhere.connections(), 0);
    let relative = Server::always(answer("302 Found", &[("location", "../b?c")], ""));
    let told = household(&[&relative]).await.called("web.fetch", &url(relative.url("/x/y/z"))).await;
    assert_eq!(told["final_url"], relative.url("/x/b?c"));
    for location in [
        "javascript:canary()",
        "file:///canary",
        "http://user@canary.example/",
        "http://canary .example/",
        "",
        "http://127.1/canary",
    ] {
        let headers = [("location", location)];
        let headers = if location.is_empty() { &headers[..0] } else { &headers[..] };
        assert!(refused(answer("302 Found", headers, "")).await.contains("redirects"), "{location}");
    }
    let two =
        answer("302 Found", &[("location", "http://canary.example/"), ("location", "http://canary.example/2")], "");
    refused(two).await;
}

/// Refused by what the server says that it is, before a byte of it is read: the body of these never ends.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_text_is_refused_unread() {
    for header in [
        "content-type: image/png",
        "content-type: application/octet-stream",
        "content-type: text/html, image/png",
        "content-type: application/xhtml+xml",
        "content-type: canary",
        "content-type: text/html; charset=a; charset=canary",
        "content-type: text/html\r\ncontent-type: image/png",
        "x: y",
        "content-type: text/html\r\ncontent-encoding: gzip",
        "content-type: text/html\r\ncontent-encoding: br",
        "content-type: text/html\r\ncontent-encoding: identity, deflate",
        "content-type: text/html\r\ntransfer-encoding: gzip, chunked",
        "content-type: text/html\r\ntransfer-encoding: gzip",
    ] {
        let server = Server::start(move |_, out| {
            write!(out, "HTTP/1.1 200 OK\r\n{header}\r\n\r\n")?;
            loop {
                out.write_all(&[b'a'; 4096])?;
            }
        });
        let household = household(&[&server]).await;
        let told = household.failed("web.fetch", &url(server.url("/"))).await;
        assert!(!told.contains("canary"), "{header}: {told}");
    }
    for status in ["204 No Content", "304 Not Modified", "404 Not Found", "500 canary", "403 Forbidden", "300 Choices"]
    {
        refused(answer(status, HTML, "canary")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_is_refused() {
    for whole in [
        &b"canary"[..],
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100\r\n\r\ncanary",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\nzz\r\ncanary",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n6\r\ncanary",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\ncanary",
        b"HTTP/1.1 200 OK\r\ncontent type: text/html\r\n\r\ncanary",
        b"HTTP/1.1 200 OK\ncanary",
        b"HTTP/2 200\r\n\r\n",
        b"\x16\x03\x01\x02\x00canary",
        b"",
    ] {
        refused(whole.to_vec()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_ends_is_cut_or_refused() {
    let text = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")?;
        loop {
            out.write_all(&[b'a'; 4096])?;
        }
    });
    let told = household(&[&text]).await.called("web.fetch", &url(text.url("/"))).await;
    assert_eq!((told["text"].as_str().unwrap().len(), &told["truncated"]), (48 * 1024, &json!(true)));

    // Markup without text: much is read, nothing comes of it, and there was more.
    let markup = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\nx")?;
        loop {
            out.write_all(b"<div><div class=a><!-- -->")?;
        }
    });
    let told = household(&[&markup]).await.called("web.fetch", &url(markup.url("/"))).await;
    assert_eq!((&told["text"], &told["truncated"]), (&json!("x"), &json!(true)));

    let headers = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\n")?;
        for number in 0_u64.. {
            write!(out, "x-{number}: canary\r\n")?;
        }
        Ok(Then::Close)
    });
    let interim = Server::start(|_, out| {
        loop {
            out.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
    });
    let tiny_chunks = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n")?;
        let chunks = b"1;extension=of-no-use-at-all\r\n<\r\n".repeat(100);
        loop {
            out.write_all(&chunks)?;
        }
    });
    for (what, server) in [("headers", &headers), ("interim answers", &interim), ("tiny chunks", &tiny_chunks)] {
        let told = household(&[server]).await.failed("web.fetch", &url(server.url("/"))).await;
        assert!(!told.contains("canary"), "{what}: {told}");
    }
}

/// One byte at a time, for ever: the call's own deadline ends it, and the host goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_dripping_server_gets_the_call_s_time_and_no_more() {
    let server = Server::start(|_, out| {
        out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")?;
        loop {
            out.write_all(b"a")?;
            out.flush()?;
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let household = household(&[&server]).await;
    let start = Instant::now();
    let outcome = household.call("web.fetch", &url(server.url("/"))).await;
    assert_eq!(outcome.kind(), OutcomeKind::TimedOut, "{outcome:?}");
    assert!(start.elapsed() >= Duration::from_secs(14), "it had its time");
    let quick = Server::always(answer("200 OK", TEXT, "quick"));
    let other = self::household(&[&quick]).await;
    assert_eq!(other.called("web.fetch", &url(quick.url("/"))).await["text"], "quick");
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_html_is_read_in_bounds() {
    let mut entities = String::new();
    for number in 0..40_000 {
        write!(entities, "&#{number};").unwrap();
    }
    for (what, page) in [
        ("depth", "<div>".repeat(300_000) + "end"),
        ("tables", "<table><tr><td>".repeat(100_000) + "end"),
        ("templates", "<template>".repeat(100_000) + "canary"),
        ("attributes", "<a ".to_owned() + &"b=c ".repeat(300_000) + ">end"),
        ("references", entities),
        ("controls", "\u{1}\u{2}\u{1b}[31m\u{202e}\u{e0041}".repeat(20_000) + "end"),
        ("quotes", "\"\\".repeat(300_000)),
        ("an open comment", "end<!--".to_owned() + &"canary".repeat(100_000)),
        ("an open script", "end<script>".to_owned() + &"canary".repeat(100_000)),
    ] {
        let told = fetched(answer("200 OK", HTML, page)).await;
        let text = told["text"].as_str().unwrap();
        assert!(serde_json::to_string(text).unwrap().len() <= 48 * 1024 + 2, "{what}: {}", text.len());
        let hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}' || c == '\u{e0041}';
        assert!(!text.contains(hidden) && !text.contains("canary"), "{what}");
    }
}

/// Where it leads is judged by the host before anything connects, whatever the spelling.
#[tokio::test(flavor = "multi_thread")]
async fn only_public_places_and_allowed_ones_are_connected_to() {
    let server = Server::always(answer("200 OK", TEXT, "canary"));
    let household = Household::open(folder(), "").await;
    let port = server.port();
    for address in [
        server.url("/"),
        format!("http://localhost:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        "http://127.0.0.1/".to_owned(),
        "http://localhost/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[2002:7f00:1::]/".to_owned(),
        "http://0.0.0.0/".to_owned(),
    ] {
        household.failed("web.fetch", &url(&address)).await;
    }
    for address in [
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1/",
        // A host that looks like another one: only its encoded form is an address, and that is shown with what it says.
        "http://аpple.com/",
        "http://user@a.example/",
        "ftp://a.example/",
        "http://a.example:0/",
        "/x",
        "",
    ] {
        let outcome = household.ask("web.fetch", &url(address)).await;
        assert_eq!(
            (outcome.kind(), outcome.stage()),
            (OutcomeKind::Rejected, Stage::Validate),
            "{address} {outcome:?}"
        );
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_the_device_unasked() {
    let server = Server::always(answer("200 OK", TEXT, "text"));
    let config = format!("[http]\nallow = [\"{}\"]\n", server.place());
    let off = Household::closed(folder(), &config).await;
    let outcome = off.ask("web.fetch", &url(server.url("/"))).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::OptInOff)), "{outcome:?}");
    let household = Household::open(folder(), &config).await;
    let outcome = household.ask("web.fetch", &url(server.url("/"))).await;
    assert_eq!((outcome.kind(), outcome.stage()), (OutcomeKind::Pending, Stage::Confirm), "{outcome:?}");
    assert_eq!(server.connections(), 0);
}

/// A certificate authority of the household's own, and a server with a certificate from it.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    fn server(&self, names: &[&str], days: (i64, i64), text: &'static str) -> Server {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        let now = std::time::SystemTime::now();
        let day = |days: i64| {
            let away = Duration::from_secs(days.unsigned_abs() * 86_400);
            if days < 0 { now - away } else { now + away }
        };
        params.not_before = day(days.0).into();
        params.not_after = day(days.1).into();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Server::tls(config, move |_, out| out.write_all(&answer("200 OK", TEXT, text)).map(|()| Then::Close))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_believes_public_authorities_and_the_operator_s_own() {
    let ours = Authority::new();
    let valid = (-1, 30);
    let good = ours.server(&["localhost", "127.0.0.1"], valid, "sealed");
    let named_otherwise = ours.server(&["other.example"], valid, "canary");
    let over = ours.server(&["localhost"], (-30, -1), "canary");
    let not_yet = ours.server(&["localhost"], (1, 30), "canary");
    let foreign = Authority::new().server(&["localhost"], valid, "canary");
    let servers = [&good, &named_otherwise, &over, &not_yet, &foreign];
    let places: Vec<_> =
        servers.iter().flat_map(|server| [server.place(), format!("localhost:{}", server.port())]).collect();
    let top = folder();
    let file = top.path().join("authority.pem");
    private(&file, &ours.issuer.pem());
    let with = format!("[http]\nallow = {places:?}\nca_file = \"{}\"\n", file.display());
    let household = Household::open(top, &with).await;
    for host in ["localhost", "127.0.0.1"] {
        let told = household.called("web.fetch", &url(format!("https://{host}:{}/", good.port()))).await;
        assert_eq!((&told["text"], &told["content_type"]), (&json!("sealed"), &json!("text/plain")));
    }
    for server in [&named_otherwise, &over, &not_yet, &foreign] {
        let told = household.failed("web.fetch", &url(format!("https://localhost:{}/", server.port()))).await;
        assert!(told.contains("certificate"), "{told}");
        // Nothing is asked of a server that is not believed.
        assert!(server.seen().is_empty());
    }
    let clear = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let place = clear.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = clear.accept().unwrap();
        let _ = stream.write_all(b"HTTP/1.1 400 canary\r\n\r\n");
        // Until the client is gone: what it sent and nobody read would reset the connection.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let other = Household::open(folder(), &format!("[http]\nallow = [\"{place}\"]\n")).await;
    let told = other.failed("web.fetch", &url(format!("https://{place}/"))).await;
    assert!(told.contains("TLS") && !told.contains("canary"), "{told}");
    // In the clear there is nothing to fetch from a server that speaks TLS, and nobody tries one after the other.
    household.failed("web.fetch", &url(format!("http://localhost:{}/", good.port()))).await;
    let without = Household::open(folder(), &format!("[http]\nallow = {places:?}\n")).await;
    let told = without.failed("web.fetch", &url(format!("https://localhost:{}/", good.port()))).await;
    assert!(told.contains("certificate") && told.contains("ca_file"), "{told}");
}
