use std::path::Path;

use capability_core::capability;
use capability_core::handle::{
    Endpoint, EndpointKind, Http, HttpMethod, Read, Reads, Secret, SecretKind, Workspace, Write,
};

use capability_core::session::{SessionId, Subject};

use super::Service;
use crate::data_dir::{DataDir, create_dir, write_private};
use crate::host::{Host, HostOptions};
use crate::protocol::{Caller, Client, McpRequest, ProbeState};

struct Meter;
impl EndpointKind for Meter {
    const NAME: &'static str = "meter";
    type Power = Reads;
    const ALLOWED: &'static [(HttpMethod, &'static str)] = &[(HttpMethod::Get, "/power"), (HttpMethod::Get, "/gas")];
}

struct Key;
impl SecretKind for Key {
    const NAME: &'static str = "key";
}

#[capability(name = "bound.local", version = 1, side_effect = read_only, network = local)]
async fn local(meter: &Endpoint<Meter>, files: &Workspace<Read>, key: &Secret<Key>) {
    let _ = (meter, files, key);
}

#[capability(name = "bound.external", version = 1, side_effect = mutating, network = external, target = url(url))]
async fn external(http: &Http, meter: &Endpoint<Meter>, files: &Workspace<Write>, url: String) {
    let _ = (http, meter, files, url);
}

/// A host with this configuration.
fn host(dir: &Path, config: &str) -> Service {
    let data = DataDir::open(&dir.join("data")).unwrap();
    write_private(&data.config(), config.as_bytes()).unwrap();
    let packages = &["capability-host", "capabilities"];
    Service::new(
        Host::open(HostOptions { data_dir: data.path().to_owned(), packages, accept_degraded: false }).unwrap(),
    )
}

/// `describe` and `list` say what a capability's handles are bound to, and whether that is enough for its class.
#[tokio::test]
async fn an_operator_sees_what_each_handle_is_bound_to() {
    let dir = tempfile::tempdir().unwrap();
    let described = |service: &Service, name: &str| {
        let found = service.describe(name, None).unwrap();
        (found.row.status, found.bound_to)
    };
    let unbound = host(dir.path(), "");
    let key = dir.path().join("data/secrets/key");
    let secret = format!("secret<key>: the file `{}`", key.display());
    let (status, bound) = described(&unbound, "bound.local");
    let nothing = ["endpoint<meter>: nothing is configured", "workspace: nothing is configured", &secret];
    assert_eq!((status.as_str(), bound.as_slice()), ("unbound", nothing.map(str::to_owned).as_slice()));
    drop(unbound);

    std::fs::create_dir(dir.path().join("notes")).unwrap();
    create_dir(&dir.path().join("data/secrets")).unwrap();
    write_private(&key, b"open sesame\n").unwrap();
    let config = |reach: &str| {
        format!(
            "[workspace]\nroot = \"{0}/notes\"\n[http]\nallow = [\"nas.lan:8443\"]\n[endpoints.meter]\nurl = \"http://10.0.0.9:81/api/\"\n{reach}",
            dir.path().display()
        )
    };
    let service = host(dir.path(), &config(""));
    let (status, bound) = described(&service, "bound.local");
    let read = format!("workspace: read below `{}/notes`", dir.path().display());
    let kept = "endpoint<meter>: GET /power, GET /gas at 10.0.0.9:81 (external, which no local capability may use)";
    assert_eq!((status.as_str(), bound), ("unbound", vec![kept.to_owned(), read.clone(), secret.clone()]));
    let (status, bound) = described(&service, "bound.external");
    let expected = [
        "http: the approved public host at port 80 or 443, nas.lan:8443",
        "endpoint<meter>: GET /power, GET /gas at 10.0.0.9:81 (external)",
        &read.replace("read below", "written below"),
    ];
    assert_eq!((status.as_str(), bound.as_slice()), ("off", expected.map(str::to_owned).as_slice()));
    drop(service);

    let service = host(dir.path(), &config("reach = \"device\"\n"));
    assert_eq!(described(&service, "bound.local").0, "ready");
    write_private(&key, b"").unwrap();
    assert_eq!(described(&service, "bound.local").0, "unbound", "an empty secret is none");
}

/// A connection of an agent is its turn's: what it asks once that is over is asked by nobody, and by nobody else either.
#[tokio::test]
async fn what_an_agent_asks_after_its_turn_is_asked_by_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let service = host(dir.path(), "");
    let connection = SessionId::from_bytes([7; 16]);
    let caller = |of_turn| Caller { client: Some(Client { connection, token: None, of_turn }), ..Caller::default() };
    assert_eq!(service.session(&caller(false), None).unwrap().identity().subject, Subject::local());
    let refused = service.session(&caller(true), None).unwrap_err();
    assert_eq!(refused.message, "the agent's turn is over");
    for request in [McpRequest::Tools(caller(true)), McpRequest::Leave(caller(true))] {
        assert!(service.mcp(&request, None).await.is_err(), "{request:?}");
    }
    // Nobody says of itself that it is one, and nobody takes it back.
    let told = serde_json::to_value(caller(true).client).unwrap();
    assert!(told.get("of_turn").is_none(), "{told}");
}

/// Command lines of one subject share a session, which none of them binds a server to or ends.
#[tokio::test]
async fn a_shared_session_is_bound_and_ended_by_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let service = host(dir.path(), "");
    let with = || Caller { with: vec!["lab".to_owned()], ..Caller::default() };
    for request in [McpRequest::Stay(with()), McpRequest::Leave(Caller::default()), McpRequest::Tools(with())] {
        let refused = service.mcp(&request, None).await.err().unwrap_or_else(|| panic!("{request:?}"));
        assert!(refused.message.contains("nobody else's"), "{}", refused.message);
    }
}

#[tokio::test]
async fn the_self_check_looks_at_what_is_configured() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = dir.path().join(name);
        write_private(&path, content.as_bytes()).unwrap();
        path.display().to_string()
    };
    let (token, short, bad) =
        (file("token", "open sesame\n"), file("short", "sesame\n"), file("bad.pem", "no certificate"));
    for (config, name, state, words) in [
        (
            "[endpoints.meter]\nurl = \"http://127.0.0.1:81\"\n".to_owned(),
            "endpoints",
            ProbeState::Ok,
            "`meter` (external)",
        ),
        (
            format!("[endpoints.meter]\nurl = \"http://127.0.0.1:81\"\ntoken_file = \"{token}\"\n"),
            "endpoints",
            ProbeState::Ok,
            "1 service",
        ),
        (
            format!("[endpoints.meter]\nurl = \"http://10.0.0.9\"\ntoken_file = \"{token}\"\n"),
            "endpoints",
            ProbeState::Weak,
            "without encryption",
        ),
        (
            format!("[endpoints.meter]\nurl = \"https://10.0.0.9\"\ntoken_file = \"{token}.no\"\n"),
            "endpoints",
            ProbeState::Failed,
            "the credential of `meter` cannot be read",
        ),
        (
            format!("[endpoints.meter]\nurl = \"https://10.0.0.9\"\ntoken_file = \"{short}\"\n"),
            "endpoints",
            ProbeState::Failed,
            "the credential of `meter` is shorter than 8 bytes",
        ),
        (
            format!("[endpoints.meter]\nurl = \"https://10.0.0.9\"\nca_file = \"{bad}\"\n"),
            "endpoints",
            ProbeState::Failed,
            "cannot be read as certificates",
        ),
        ("[http]\nallow = [\"nas.lan:443\"]\n".to_owned(), "http allowances", ProbeState::Weak, "`nas.lan:443`"),
    ] {
        let service = host(dir.path(), &config);
        let probes = service.doctor().await;
        let probe = probes.iter().find(|probe| probe.name == name).unwrap();
        assert!(probe.state == state && probe.found.contains(words), "{config}: {}", probe.found);
        assert!(state == ProbeState::Ok || probe.help.is_some(), "{config}");
        assert!(probes.iter().all(|probe| !probe.found.contains("sesame")), "{config}");
    }
}
