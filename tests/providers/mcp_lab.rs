//! A host with configured servers, and what it knows of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use capability_core::approval::{ApprovalId, Operator, PendingApproval};
use capability_core::executor::{Outcome, Proposal};
use capability_core::handle::{BrokerFault, ProviderConnected};
use capability_core::provider::{ProviderReach, ProviderState, Providers as _, Standing};
use capability_core::session::{Declarations, Mode, Origin, Session, SessionIdentity, Subject, TurnId};
use capability_core::store::Answer;
use capability_host::{Host, HostOptions};
use serde_json::{Value, json};

/// How long anything may take that is waited for.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A host with a data directory of its own.
pub struct Lab {
    host: Option<Host>,
    pub top: tempfile::TempDir,
}

/// What is installed beside the tests.
pub fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join(target);
    assert!(target.join("providers/node_modules").is_dir(), "run `tests/run`, which installs the servers");
    target
}

/// A TOML list of words.
pub fn words(words: &[&str]) -> String {
    let quoted: Vec<_> = words.iter().map(|word| format!("{word:?}")).collect();
    format!("[{}]", quoted.join(", "))
}

/// The command of our own misbehaving server.
pub fn lab(fault: &str, file: Option<&Path>) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/providers/lab.py");
    let python = target().join("python/bin/python");
    let mut command = vec![python.to_str().unwrap(), script.to_str().unwrap(), fault];
    command.extend(file.map(|file| file.to_str().unwrap()));
    words(&command)
}

/// One server of that command.
pub fn server(name: &str, command: &str) -> String {
    format!("[mcp.servers.{name}]\ncommand = {command}\n")
}

impl Lab {
    /// A host of this configuration.
    pub fn new(config: &str) -> Self {
        let mut lab = Self { host: None, top: tempfile::tempdir().unwrap() };
        lab.open(config);
        lab
    }

    /// The same data directory under another host.
    pub fn open(&mut self, config: &str) {
        self.host = None;
        let data = self.data();
        if !data.exists() {
            fs::create_dir(&data).unwrap();
            fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        }
        fs::write(data.join("config.toml"), config).unwrap();
        fs::set_permissions(data.join("config.toml"), fs::Permissions::from_mode(0o600)).unwrap();
        // Whatever this binary links is invited: the laboratory of the other modules too.
        let packages = &["capabilities", env!("CARGO_PKG_NAME")];
        self.host = Some(Host::open(HostOptions { data_dir: data, packages, accept_degraded: true }).unwrap());
    }

    pub fn data(&self) -> PathBuf {
        self.top.path().join("data")
    }

    pub fn host(&self) -> &Host {
        self.host.as_ref().unwrap()
    }

    pub fn drop_host(&mut self) {
        self.host = None;
    }

    /// An operator, with the family of these calls switched on.
    pub async fn operator(&self) -> Operator {
        let operator = self.host().operators().setup("four plain words here").await.unwrap();
        self.host().set_opt_in(&operator, "mcp", true).await.unwrap();
        operator
    }

    /// Somebody who declares these, each in a session and turn of their own.
    pub fn session(&self, subject: &str, declared: &[&str]) -> Session {
        let subject: Subject = subject.parse().unwrap();
        let identity = SessionIdentity {
            id: self.host().new_session_id(),
            subject,
            mode: Mode::Live,
            origin: Origin::Model,
            turn: TurnId(1),
        };
        let declared = declared.iter().map(|one| one.parse().unwrap()).collect::<Vec<_>>();
        self.host().sessions().open(identity, Declarations::only(declared))
    }

    /// Somebody who declares everything about servers.
    pub fn anybody(&self) -> Session {
        self.session("agent:any", &["mcp.call:*", "mcp.connect:*"])
    }

    pub async fn ask(&self, session: &Session, tool: &str, arguments: Value) -> Outcome {
        let envelope = json!({ "server": "lab", "tool": tool, "arguments": arguments });
        self.host().executor().invoke(session, Proposal::new("mcp.call", 1, envelope.to_string())).await
    }

    pub async fn approve(&self, operator: &Operator, id: ApprovalId) {
        self.host().executor().answer(operator, id, Answer::Approve).await.unwrap();
    }

    pub async fn shown(&self, operator: &Operator, id: ApprovalId) -> PendingApproval {
        self.host().executor().approval(operator, id).await.unwrap().unwrap().filed.unwrap().approval
    }

    /// Asks; an operator says yes where somebody must; the call goes on.
    pub async fn call(&self, operator: &Operator, tool: &str, arguments: Value) -> Outcome {
        let session = self.anybody();
        let asked = self.ask(&session, tool, arguments).await;
        let Some(id) = asked.approval() else { return asked };
        self.approve(operator, id).await;
        self.host().executor().resume(&session, id).await
    }

    pub async fn connect(&self, server: &str) -> Result<ProviderConnected, BrokerFault> {
        self.host().providers().connect(server, None).await
    }

    /// What decisions are made from.
    pub fn state(&self, server: &str) -> ProviderState {
        let snapshot = self.host().providers().snapshot();
        snapshot.providers().iter().find(|state| &*state.id == server).unwrap().clone()
    }

    pub fn reach(&self, server: &str) -> ProviderReach {
        self.state(server).reach
    }

    /// Names and standings of a server's tools.
    pub fn tools(&self, server: &str) -> Vec<(String, Standing)> {
        let tools = self.state(server).tools;
        tools.into_iter().map(|tool| (tool.definition().id.native.clone(), tool.standing())).collect()
    }

    /// Waits until it is so.
    pub async fn until<T>(&self, what: &str, mut look: impl FnMut(&Self) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(self) {
                return found;
            }
            assert!(Instant::now() < end, "waited in vain for {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The whole log, as text.
    pub fn log(&self) -> String {
        let mut text = String::new();
        for file in fs::read_dir(self.data().join("audit")).unwrap() {
            text.push_str(&String::from_utf8_lossy(&fs::read(file.unwrap().path()).unwrap_or_default()));
        }
        text
    }
}

/// Whether any process has this word among its arguments.
pub fn runs(word: &str) -> bool {
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    processes.into_iter().any(|line| line.split(|byte| *byte == 0).any(|one| one == word.as_bytes()))
}

/// Writes a file in one step: a server looks at it all the time.
pub fn write(file: &Path, text: &str) {
    fs::write(file.with_extension("new"), text).unwrap();
    fs::rename(file.with_extension("new"), file).unwrap();
}

/// Has the server that lists what stands in a file say this of its one tool, `alpha`.
pub fn describe(file: &Path, said: &str) {
    let tools = json!([{ "name": "alpha", "description": said, "inputSchema": { "type": "object" } }]);
    write(file, &tools.to_string());
}

/// What a test's server wrote down.
pub fn notes(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}
