//! Capabilities that do nothing but use their handles and say what came of it.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::Mutex;

use capability_core::handle::{
    BrokerFault, Changes, Command, Endpoint, EndpointKind, FileChange, Http, HttpMethod, Read, Reads, Secret,
    SecretKind, SecretUse, Terminal, Workspace, Write,
};
use capability_core::{Context, Failure, Preview, capability};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A service of the household.
pub struct Home;
impl EndpointKind for Home {
    const NAME: &'static str = "home";
    type Power = Reads;
    const ALLOWED: &'static [(HttpMethod, &'static str)] =
        &[(HttpMethod::Get, "/state"), (HttpMethod::Get, "/api/dns/blocking")];
}

/// The same service, to be changed.
pub struct Switches;
impl EndpointKind for Switches {
    const NAME: &'static str = "switches";
    type Power = Changes;
    const ALLOWED: &'static [(HttpMethod, &'static str)] =
        &[(HttpMethod::Get, "/state"), (HttpMethod::Post, "/switch")];
}

/// A secret.
pub struct Token;
impl SecretKind for Token {
    const NAME: &'static str = "token";
}

/// What bodies saw that nobody waited for any more, by subject.
pub static SEEN: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());

fn word(fault: BrokerFault) -> String {
    serde_json::to_value(fault).ok().and_then(|value| value.as_str().map(str::to_owned)).expect("a fault is a word")
}

fn told(fault: BrokerFault) -> Failure {
    Failure::public(word(fault))
}

/// Connects `times` and reads from the last connection until it ends.
#[capability(name = "web.connect", version = 1, side_effect = read_only, network = external, target = url(url), bounds(timeout = "20s", per_turn = 1000))]
async fn connect(
    http: &Http,
    url: String,
    #[serde(default = "once")] times: u32,
    send: Option<String>,
) -> Result<u64, Failure> {
    let mut held = Vec::new();
    for _ in 0..times {
        held.push(http.connect().await.map_err(told)?);
    }
    let last = held.pop().ok_or_else(Failure::private)?;
    let mut stream = tokio::net::TcpStream::from_std(last.into())?;
    stream.write_all(send.unwrap_or_default().as_bytes()).await?;
    let (mut received, mut chunk) = (0_u64, vec![0; 64 * 1024]);
    // A connection that is shut down under its reader ends, one way or another.
    while let Ok(read @ 1..) = stream.read(&mut chunk).await {
        received += read as u64;
    }
    drop(url);
    Ok(received)
}

const fn once() -> u32 {
    1
}

/// Names its host alone.
#[capability(name = "web.host", version = 1, side_effect = read_only, network = external, target = host(host), bounds(per_turn = 1000))]
async fn host(http: &Http, host: String) -> Result<(), Failure> {
    drop(host);
    http.connect().await.map(drop).map_err(told)
}

/// Goes on behind its caller's back, and then asks for more.
#[capability(name = "web.overstay", version = 1, side_effect = read_only, network = external, target = url(url), bounds(timeout = "300ms", per_turn = 1000))]
async fn overstay(http: &Http, context: &Context, url: String) -> Result<(), Failure> {
    let mut stream = std::net::TcpStream::from(http.connect().await.map_err(told)?);
    drop(url);
    std::thread::sleep(Duration::from_millis(1500));
    stream.set_nonblocking(false)?;
    let read = stream.read(&mut [0; 16]).map_or_else(|error| error.kind().to_string(), |read| read.to_string());
    let again = http.connect().await.map_or_else(word, |_| "connected".to_owned());
    let mut seen = SEEN.lock().expect("no test panics with it");
    seen.entry(context.subject().to_string()).or_default().extend([read, again]);
    Ok(())
}

/// What a service answered, or which rule kept it from answering.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Answered {
    status: u16,
    content_type: Option<String>,
    body: String,
    json: bool,
}

async fn asked<K: EndpointKind>(service: &Endpoint<K>, path: &str, q: Option<String>) -> Result<Answered, Failure> {
    let query: Vec<_> = q.iter().map(|q| ("q", q.as_str())).collect();
    let reply = service.get(path, &query).await.map_err(told)?;
    let json = reply.json::<serde_json::Value>().is_ok();
    let body = String::from_utf8_lossy(&reply.body).chars().take(4000).collect();
    Ok(Answered { status: reply.status, content_type: reply.content_type, body, json })
}

/// Asks the household's service.
#[capability(name = "home.get", version = 1, side_effect = read_only, network = local, bounds(timeout = "20s", per_turn = 1000))]
async fn home_get(home: &Endpoint<Home>, path: String, q: Option<String>) -> Result<Answered, Failure> {
    asked(home, &path, q).await
}

/// Asks it often.
#[capability(name = "home.often", version = 1, side_effect = read_only, network = local, bounds(timeout = "20s", per_turn = 1000))]
async fn home_often(home: &Endpoint<Home>, times: u32) -> Result<u32, Failure> {
    for _ in 0..times {
        home.get("/state", &[]).await.map_err(told)?;
    }
    Ok(times)
}

/// Asks a service anywhere.
#[capability(name = "far.get", version = 1, side_effect = read_only, network = external, bounds(timeout = "20s", per_turn = 1000))]
async fn far_get(home: &Endpoint<Home>, path: String) -> Result<Answered, Failure> {
    asked(home, &path, None).await
}

/// Changes something at a service; its preview tries what it may not.
#[capability(name = "home.switch", version = 1, side_effect = mutating, network = local, preview = looked, bounds(per_turn = 1000))]
async fn switch(
    switches: &Endpoint<Switches>,
    workspace: &Workspace<Write>,
    token: &Secret<Token>,
    lamp: String,
) -> Result<u16, Failure> {
    let _ = (workspace, token);
    let reply = switches.post("/switch", &serde_json::json!({ "lamp": lamp })).await.map_err(told)?;
    Ok(reply.status)
}

async fn looked(
    switches: &Endpoint<Switches>,
    workspace: &Workspace<Write>,
    token: &Secret<Token>,
    lamp: &str,
) -> Result<Preview, Failure> {
    let tried = [
        workspace.read("note", 100).await.map_or_else(word, |text| format!("{} bytes", text.len())),
        workspace.write("note", lamp).await.map_or_else(word, |()| "written".to_owned()),
        workspace.remove("note").await.map_or_else(word, |()| "removed".to_owned()),
        switches.get("/state", &[]).await.map_or_else(word, |_| "asked".to_owned()),
        switches.post("/switch", &lamp).await.map_or_else(word, |_| "switched".to_owned()),
        token.reveal().await.map_or_else(word, |_| "revealed".to_owned()),
    ];
    Ok(Preview { text: tried.join(" "), rests_on: vec![], ..Preview::default() })
}

/// Reads a file.
#[capability(name = "files.read", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
async fn read(
    workspace: &Workspace<Read>,
    path: String,
    #[serde(default = "plenty")] most: u64,
) -> Result<String, Failure> {
    let content = workspace.read(&path, most).await.map_err(told)?;
    Ok(String::from_utf8_lossy(&content).into_owned())
}

const fn plenty() -> u64 {
    32 * 1024
}

/// Lists a directory, as `name:kind:bytes`.
#[capability(name = "files.list", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
async fn list(workspace: &Workspace<Read>, path: String) -> Result<Vec<String>, Failure> {
    let listing = workspace.entries(&path).await.map_err(told)?;
    let mut lines: Vec<_> =
        listing.entries.iter().map(|entry| format!("{}:{:?}:{}", entry.name, entry.kind, entry.bytes)).collect();
    lines.extend((listing.unnamed > 0).then(|| format!("and {} more", listing.unnamed)));
    Ok(lines)
}

/// Writes a file.
#[capability(name = "files.write", version = 1, side_effect = mutating, network = local, bounds(per_turn = 1000))]
async fn write(
    workspace: &Workspace<Write>,
    path: String,
    text: String,
    #[serde(default = "once")] times: u32,
) -> Result<(), Failure> {
    workspace.write(&path, text.repeat(times as usize)).await.map_err(told)
}

/// Changes files, all or none.
#[capability(name = "files.change", version = 1, side_effect = mutating, network = local, preview = as_they_are, bounds(per_turn = 1000))]
async fn change(workspace: &Workspace<Write>, paths: Vec<String>, text: Option<String>) -> Result<(), Failure> {
    let mut changes = Vec::new();
    for path in paths {
        let before = workspace.fingerprint(&path).await.map_err(told)?.map(|found| found.sha256);
        changes.push(FileChange { path, before, content: text.clone().map(String::into_bytes) });
    }
    workspace.change(changes).await.map_err(told)
}

async fn as_they_are(workspace: &Workspace<Write>, paths: &[String], _: &Option<String>) -> Result<Preview, Failure> {
    let mut rests_on = Vec::new();
    for path in paths.iter().filter(|path| !path.ends_with("unseen")) {
        let before = workspace.fingerprint(path).await.map_err(told)?.map(|found| found.sha256);
        rests_on.push(FileChange::shown(path, before.as_ref()));
    }
    Ok(Preview { rests_on, ..Preview::default() })
}

/// Removes a file.
#[capability(name = "files.remove", version = 1, side_effect = mutating, network = local, bounds(per_turn = 1000))]
async fn remove(workspace: &Workspace<Write>, path: String) -> Result<(), Failure> {
    workspace.remove(&path).await.map_err(told)
}

/// Uses a secret, and tells its length.
#[capability(name = "secret.length", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
async fn length(token: &Secret<Token>) -> Result<usize, Failure> {
    Ok(token.reveal().await.map_err(told)?.expose().len())
}

fn token(variable: &str, secret: &str) -> SecretUse {
    SecretUse { variable: variable.to_owned(), secret: secret.to_owned() }
}

async fn environment(terminal: &Terminal, secrets: Vec<SecretUse>) -> Result<String, Failure> {
    let argv = ["sh", "-c", "env | grep T= | grep -v _"].map(str::to_owned).into();
    let command = Command { argv, workdir: ".".to_owned(), environment: vec![], timeout_ms: 20_000, secrets };
    Ok(terminal.run(command).await.map_err(BrokerFault::into_public)?.stdout.head)
}

/// Gives a command a secret that its preview does not name.
#[capability(name = "binds.unnamed", version = 1, side_effect = mutating, network = local)]
async fn unnamed(terminal: &Terminal, secret: String) -> Result<String, Failure> {
    environment(terminal, vec![token("T", &secret)]).await
}

/// Gives a command one secret more than its preview names.
#[capability(name = "binds.more", version = 1, side_effect = mutating, network = local, preview = one_secret)]
async fn more(terminal: &Terminal, secret: String) -> Result<String, Failure> {
    environment(terminal, vec![token("T", &secret), token("U", &secret)]).await
}

/// Gives a command the secret that its preview names.
#[capability(name = "binds.named", version = 1, side_effect = mutating, network = local, preview = one_secret)]
async fn named(terminal: &Terminal, secret: String) -> Result<String, Failure> {
    environment(terminal, vec![token("T", &secret)]).await
}

async fn one_secret(_: &Terminal, secret: &str) -> Result<Preview, Failure> {
    Ok(Preview { secrets: vec![token("T", secret)], ..Preview::default() })
}
