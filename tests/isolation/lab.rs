//! A whole host over this suite's own capabilities.

use std::time::{Duration, Instant};

use capability_core::approval::Operator;
use capability_core::executor::{Ended, Proposal};
use capability_core::session::{Declarations, Mode, Origin, Session, SessionIdentity, Subject, TurnId};
use capability_core::store::Answer;
use capability_core::{Code, Outcome};
use capability_host::{Host, HostOptions};
use serde_json::Value;

const PASSWORD: &str = "correct horse battery";

pub struct Lab {
    pub host: Host,
    _dir: tempfile::TempDir,
}

impl Lab {
    pub fn open() -> Self {
        Self::with("")
    }

    /// With this configuration file.
    pub fn with(config: &str) -> Self {
        Self::try_with(config).expect("a host")
    }

    /// The same, where the host may refuse it.
    pub fn try_with(config: &str) -> Result<Self, capability_host::HostError> {
        let dir = tempfile::tempdir().expect("a directory");
        let data_dir = dir.path().join("data");
        if !config.is_empty() {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
            std::fs::DirBuilder::new().mode(0o700).create(&data_dir).expect("a data directory");
            let mut options = std::fs::OpenOptions::new();
            let mut file =
                options.write(true).create(true).mode(0o600).open(data_dir.join("config.toml")).expect("a file");
            std::io::Write::write_all(&mut file, config.as_bytes()).expect("a configuration");
        }
        let packages = &["capability-tests", "capabilities"];
        let host = Host::open(HostOptions { data_dir, packages, accept_degraded: false })?;
        Ok(Self { host, _dir: dir })
    }

    /// A session of its own.
    pub fn session(&self) -> Session {
        self.session_of(Subject::local())
    }

    /// A session of somebody.
    pub fn session_of(&self, subject: Subject) -> Session {
        let identity = SessionIdentity {
            id: self.host.new_session_id(),
            subject,
            mode: Mode::Live,
            origin: Origin::Terminal,
            turn: TurnId(1),
        };
        self.host.sessions().open(identity, Declarations::everything())
    }

    pub async fn invoke(&self, name: &str, arguments: &Value) -> Outcome {
        self.invoke_in(&self.session(), name, arguments).await
    }

    pub async fn invoke_in(&self, session: &Session, name: &str, arguments: &Value) -> Outcome {
        self.host.executor().invoke(session, Proposal::new(name, 1, arguments.to_string())).await
    }

    /// Asks, approves as the operator, and goes on.
    pub async fn approved(&self, name: &str, arguments: &Value) -> Outcome {
        let pending = self.invoke(name, arguments).await;
        let Ended::Pending { approval, .. } = pending.ended() else { panic!("{pending:?}") };
        let operator = self.operator().await;
        self.host.executor().answer(&operator, *approval, Answer::Approve).await.expect("an answer");
        self.host.executor().resume(&self.session(), *approval).await
    }

    pub async fn operator(&self) -> Operator {
        match self.host.operators().credential().is_set_up() {
            Ok(true) => self.host.operators().by_password(PASSWORD).expect("the operator"),
            _ => self.host.operators().setup(PASSWORD).await.expect("a password"),
        }
    }

    /// The events of the log so far.
    pub fn events(&self) -> Vec<Value> {
        let lines = capability_host::audit_log::tail(&self.host.audit_dir(), 1000).expect("the log");
        lines.iter().map(|line| serde_json::from_str(line).expect("an event")).collect()
    }

    pub fn last_outcome(&self) -> Value {
        self.events().into_iter().rev().find(|event| event["event"] == "outcome").expect("an outcome")
    }

    /// What bodies wrote into the journal, the oldest first.
    pub async fn journal(&self) -> Vec<String> {
        let entries = self.host.journal().newest(&Subject::local(), 1000).await.expect("the journal");
        let own = |entry| match entry {
            capability_core::approval::HistoryEntry::Subject { text, .. } => Some(text),
            capability_core::approval::HistoryEntry::Operator(_) => None,
        };
        entries.into_iter().filter_map(|found| own(found.entry)).collect()
    }

    /// Waits until a body says which process it is.
    pub async fn began(&self) -> u32 {
        loop {
            match self.journal().await.last().and_then(|text| text.strip_prefix("pid ")?.parse().ok()) {
                Some(worker) => return worker,
                None => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    }

    /// The process of the worker that last said which it is.
    pub async fn worker(&self) -> u32 {
        let said = self.journal().await;
        said.iter().rev().find_map(|text| text.strip_prefix("pid ")?.parse().ok()).expect("a body said who it is")
    }
}

/// Whether a process is there: not gone, and not only waiting to be reaped.
pub fn is_there(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// Waits for something that takes the kernel a moment.
pub async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub fn code(outcome: &Outcome) -> Option<Code> {
    match outcome.ended() {
        Ended::Rejected(refusal) => Some(refusal.code),
        _ => None,
    }
}
