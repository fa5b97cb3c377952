//! The three servers, each in a process of its own: this very binary, told by its environment what to be.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use capability_core::Proposal;
use capability_core::session::{Declarations, Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
use capability_host::{Host, HostOptions};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt as _};
use serde::Deserialize;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::calls::{SearchArguments, search};
use crate::client::{Client, Http};

/// Everything that this binary links.
const PACKAGES: &[&str] = &["capability-host", "capabilities"];
const ROLE: &str = "CAPABILITY_BENCH_ROLE";
const DATA: &str = "CAPABILITY_DATA_DIR";
const PASSWORD: &[u8] = b"four plain words here\n";
const CONFIG: &str = "[limits]\nper_turn = 1000\n[subjects.bench]\ncapabilities = [\"bench.add\", \"bench.search\"]\n\
                      [mcp]\nlist = \"all\"\nturn = \"10s\"\nlisten = \"127.0.0.1:0\"\n";

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Bare,
    Around,
    Ours,
}

impl Kind {
    pub const ALL: [Self; 3] = [Self::Bare, Self::Around, Self::Ours];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Around => "around",
            Self::Ours => "ours",
        }
    }
}

/// What a process that was started by this benchmark is.
pub enum Role {
    Command,
    Lines(Kind),
    Http(Kind),
}

impl Role {
    pub fn of_this_process() -> Option<Self> {
        Some(match std::env::var(ROLE).ok()?.as_str() {
            "lines bare" => Self::Lines(Kind::Bare),
            "lines around" => Self::Lines(Kind::Around),
            "http bare" => Self::Http(Kind::Bare),
            "http around" => Self::Http(Kind::Around),
            _ => Self::Command,
        })
    }
}

pub fn run(role: Role) -> ExitCode {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    match role {
        Role::Command => return capability_host::run(&["capability-host"]),
        Role::Lines(kind) => runtime.block_on(async {
            let served = Peer::new(kind).serve(rmcp::transport::io::stdio_pipes()).await.expect("it serves");
            let _ = served.waiting().await;
        }),
        Role::Http(kind) => runtime.block_on(listen(Peer::new(kind))),
    }
    ExitCode::SUCCESS
}

/// Every connection, with the same settings as the host's own.
async fn listen(peer: Peer) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("it listens");
    println!("{}", listener.local_addr().expect("an address").port());
    let config = StreamableHttpServerConfig::default().disable_allowed_hosts().with_json_response(true);
    let service =
        StreamableHttpService::new(move || Ok(peer.clone()), Arc::new(LocalSessionManager::default()), config);
    let router = Router::new().route_service("/mcp", service);
    loop {
        let (stream, _) = listener.accept().await.expect("somebody");
        stream.set_nodelay(true).expect("it is set");
        let router = TowerToHyperService::new(router.clone());
        tokio::spawn(async move { http1::Builder::new().serve_connection(TokioIo::new(stream), router).await });
    }
}

/// A server of the library without a line of ours between it and what it calls.
#[derive(Clone)]
struct Peer(Option<Arc<Around>>);

struct Around {
    host: Host,
    id: SessionId,
    turn: AtomicU64,
}

impl Peer {
    fn new(kind: Kind) -> Self {
        let around = (kind == Kind::Around).then(|| {
            let data_dir = PathBuf::from(std::env::var_os(DATA).expect("a data directory"));
            let host = Host::open(HostOptions { data_dir, packages: PACKAGES, accept_degraded: true }).expect("a host");
            let id = host.new_session_id();
            Arc::new(Around { host, id, turn: AtomicU64::new(1) })
        });
        Self(around)
    }
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let result = match &self.0 {
            None => plainly(&params.name, arguments),
            Some(around) => around.call(&params.name, &arguments).await,
        };
        Ok(CallToolResult::structured(result).into())
    }
}

fn plainly(tool: &str, arguments: Value) -> Value {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Add {
        a: i64,
        b: i64,
    }
    if tool == "bench-add" {
        let Add { a, b } = serde_json::from_value(arguments).expect("arguments");
        return Value::from(a + b);
    }
    let wanted: SearchArguments = serde_json::from_value(arguments).expect("arguments");
    serde_json::to_value(search(wanted)).expect("a result")
}

impl Around {
    async fn call(&self, tool: &str, arguments: &Value) -> Value {
        let turn = TurnId(self.turn.fetch_add(1, Ordering::Relaxed));
        let identity =
            SessionIdentity { id: self.id, subject: Subject::local(), mode: Mode::Live, origin: Origin::Model, turn };
        let session = self.host.sessions().open(identity, Declarations::everything());
        let proposal = Proposal::new(tool.replace('-', "."), 1, arguments.to_string());
        let outcome = self.host.executor().invoke(&session, proposal).await;
        serde_json::from_str(outcome.result().unwrap_or_else(|| panic!("{outcome:?}"))).expect("JSON")
    }
}

/// A server that runs until this is dropped.
pub struct Server {
    child: Child,
    port: u16,
    kind: Kind,
}

impl Server {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the servers keep what they keep.
pub struct Program {
    top: PathBuf,
    tokens: [String; 2],
}

impl Program {
    /// Sets a host up for each of ours: with a credential, and tokens for two clients.
    pub fn set_up(top: &Path) -> Self {
        let mut program = Self { top: top.canonicalize().expect("a directory"), tokens: Default::default() };
        for name in ["lines ours", "http ours", "lines around", "http around"] {
            let data = program.data(name);
            std::fs::create_dir(&data).expect("a directory");
            set_mode(&data, 0o700);
            let config = data.join("config.toml");
            std::fs::write(&config, CONFIG).expect("it is written");
            set_mode(&config, 0o600);
        }
        let file = |name: &str| program.top.join(name).display().to_string();
        program.command(&["operator", "setup", "--password-stdin"], PASSWORD);
        program.command(&["operator", "login", "--password-stdin", "--token-file", &file("operator")], PASSWORD);
        let tokens = ["one", "other"].map(|name| {
            let (own, operator) = (file(name), file("operator"));
            let create = ["mcp", "token", "create", name, "--subject", "bench", "--token-file", &own];
            program.command(&[&create[..], &["--operator-token-file", &operator]].concat(), b"");
            std::fs::read_to_string(own).expect("a token").trim().to_owned()
        });
        program.tokens = tokens;
        program
    }

    fn data(&self, name: &str) -> PathBuf {
        self.top.join(name.replace(' ', "-"))
    }

    fn start(&self, role: &str, data: &str, words: &[&str]) -> Child {
        Command::new(std::env::current_exe().expect("this program"))
            .args(words)
            .env(ROLE, role)
            .env(DATA, self.data(data))
            .env("HOME", &self.top)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts")
    }

    fn command(&self, words: &[&str], input: &[u8]) {
        let mut child = self.start("command", "http ours", words);
        child.stdin.take().expect("it is piped").write_all(input).expect("it reads");
        let ended = child.wait_with_output().expect("it ends");
        assert!(ended.status.success(), "{words:?}: {ended:?}");
    }

    /// One of the servers on lines, and its client.
    pub fn lines(&self, kind: Kind) -> (Server, Box<dyn Client>) {
        let role = format!("lines {}", kind.name());
        let words: &[&str] = if kind == Kind::Ours { &["mcp", "--no-web"] } else { &[] };
        let mut child = self.start(&role, &role, words);
        let client = crate::lines(&mut child);
        (Server { child, port: 0, kind }, client)
    }

    /// One of them over HTTP, and a client.
    pub fn http(&self, kind: Kind) -> (Server, Box<dyn Client>) {
        let role = format!("http {}", kind.name());
        let words: &[&str] = if kind == Kind::Ours { &["serve", "--no-web", "--json"] } else { &[] };
        let mut child = self.start(&role, &role, words);
        let said = first_line(&mut child);
        let port = match kind {
            Kind::Ours => {
                let said: Value = serde_json::from_str(&said).expect("JSON");
                let address = said["mcp"].as_str().expect("an address");
                address.trim_end_matches("/mcp").rsplit(':').next().and_then(|port| port.parse().ok())
            }
            _ => said.parse().ok(),
        };
        let server = Server { child, port: port.expect("a port"), kind };
        let client = Http::connect(server.port, &self.tokens[0]);
        (server, crate::boxed(client))
    }

    /// One more connection to a server, of the other client, whose turns are others.
    pub fn another(&self, server: &Server) -> Http {
        Http::connect(server.port, if server.kind == Kind::Ours { &self.tokens[1] } else { "" })
    }
}

fn set_mode(path: &Path, mode: u32) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(path, mode).expect("its mode is set");
}

fn first_line(child: &mut Child) -> String {
    let output = child.stdout.as_mut().expect("it is piped");
    let (mut line, mut byte) = (Vec::new(), [0]);
    while output.read(&mut byte).expect("it speaks") > 0 && byte != *b"\n" {
        line.push(byte[0]);
    }
    String::from_utf8_lossy(&line).into_owned()
}
