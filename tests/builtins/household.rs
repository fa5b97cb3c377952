//! A host with a configuration of its own, somebody who asks, and an operator who answers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use capability_core::approval::{Operator, PendingApproval};
use capability_core::audit::OutcomeKind;
use capability_core::contract::Network;
use capability_core::executor::{Outcome, Proposal};
use capability_core::handle::{BrokerFault, StateScope};
use capability_core::session::{Declarations, Mode, Origin, Session, SessionIdentity, Subject, TurnId};
use capability_core::store::Answer;
use capability_host::{AgentHost, Host, HostOptions, SettingError};
use serde_json::Value;
use tempfile::TempDir;

pub const PASSWORD: &str = "four plain words here";

pub struct Household {
    pub host: AgentHost,
    operator: Operator,
    turns: AtomicU64,
    top: TempDir,
}

/// A folder that only its owner reads.
pub fn folder() -> TempDir {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir(top.path().join("data")).unwrap();
    fs::set_permissions(top.path().join("data"), fs::Permissions::from_mode(0o700)).unwrap();
    top
}

/// A file that only its owner reads.
pub fn private(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

impl Household {
    /// With every family that leaves the device switched on.
    pub async fn open(top: TempDir, config: &str) -> Self {
        let household = Self::closed(top, config).await;
        let registry = household.host.executor().registry();
        let leaving = registry.iter().filter(|held| held.entry().class().network == Network::External);
        let families: BTreeSet<_> = leaving.map(|held| held.entry().name().family()).collect();
        for family in families {
            household.host.set_opt_in(&household.operator, family, true).await.unwrap();
        }
        household
    }

    /// As an operator finds it: what leaves the device is switched off.
    pub async fn closed(top: TempDir, config: &str) -> Self {
        private(&top.path().join("data/config.toml"), config);
        let options =
            HostOptions { data_dir: top.path().join("data"), packages: &["capabilities"], accept_degraded: false };
        let host = AgentHost::of(Host::open(options).unwrap_or_else(|error| panic!("{error}")));
        let operator = host.operators().setup(PASSWORD).await.unwrap();
        Self { host, operator, turns: AtomicU64::new(1), top }
    }

    /// A session in a turn of its own.
    pub fn turn(&self) -> Session {
        let turn = TurnId(self.turns.fetch_add(1, Ordering::Relaxed));
        let (id, subject) = (self.host.new_session_id(), Subject::local());
        let identity = SessionIdentity { id, subject, mode: Mode::Live, origin: Origin::Terminal, turn };
        self.host.sessions().open(identity, Declarations::everything())
    }

    /// A session of another subject that declares so much.
    pub fn turn_of(&self, subject: &str, declared: &[&str]) -> Session {
        let turn = TurnId(self.turns.fetch_add(1, Ordering::Relaxed));
        let (id, subject) = (self.host.new_session_id(), subject.parse().unwrap());
        let identity = SessionIdentity { id, subject, mode: Mode::Live, origin: Origin::Model, turn };
        let declared = declared.iter().map(|text| text.parse().unwrap()).collect();
        self.host.sessions().open(identity, Declarations::only(declared))
    }

    /// Asks, and that is all.
    pub async fn ask(&self, name: &str, arguments: &Value) -> Outcome {
        self.ask_in(&self.turn(), name, arguments).await
    }

    /// The same, in a turn that has others too.
    pub async fn ask_in(&self, session: &Session, name: &str, arguments: &Value) -> Outcome {
        self.host.executor().invoke(session, Proposal::new(name, 1, arguments.to_string())).await
    }

    /// Asks; the operator says yes to what waits; the call is resumed.
    pub async fn call(&self, name: &str, arguments: &Value) -> Outcome {
        let session = self.turn();
        let asked = self.host.executor().invoke(&session, Proposal::new(name, 1, arguments.to_string())).await;
        if asked.approval().is_some() { self.approved(&session, &asked).await } else { asked }
    }

    /// The operator says yes to what waits, and it goes on.
    pub async fn approved(&self, session: &Session, asked: &Outcome) -> Outcome {
        let approval = asked.approval().unwrap_or_else(|| panic!("{asked:?}: {:?}", asked.message()));
        self.host.executor().answer(&self.operator, approval, Answer::Approve).await.unwrap();
        self.host.executor().resume(session, approval).await
    }

    /// The operator erases what a subject keeps.
    pub async fn erase_state(&self, subject: &Subject) -> Result<usize, SettingError> {
        self.host.erase_state(&self.operator, subject).await
    }

    /// The operator ends a schedule.
    pub async fn cancel_schedule(&self, number: u64) -> Result<(), SettingError> {
        self.host.cancel_schedule(&self.operator, number).await
    }

    /// The operator says yes to whatever comes next.
    pub async fn approve_next(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let waiting = self.host.executor().waiting(&self.operator).await.unwrap();
            if let Some(found) = waiting.first() {
                self.host.executor().answer(&self.operator, found.id, Answer::Approve).await.unwrap();
                return;
            }
            assert!(Instant::now() < end, "nothing came");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The operator closes a review.
    pub async fn close_review(&self, number: u64) -> Result<(), SettingError> {
        self.host.close_review(&self.operator, number).await
    }

    /// What the local subject keeps in all its sessions, put there without a call.
    pub async fn put(&self, key: &str, value: &str) -> Result<(), BrokerFault> {
        let (key, value) = (key.to_owned(), Some(value.to_owned()));
        let now = self.host.environment().now();
        self.host.state().put(self.turn().identity(), now, StateScope::Core, key, value).await
    }

    /// The operator fetches a repository.
    pub async fn fetch(&self, name: &str) -> Result<(), SettingError> {
        self.host.fetch_repository(&self.operator, name).await
    }

    /// Asks; something happens while it waits; the operator says yes; the call is resumed.
    pub async fn call_after(&self, name: &str, arguments: &Value, meanwhile: impl FnOnce(&PendingApproval)) -> Outcome {
        let session = self.turn();
        let asked = self.host.executor().invoke(&session, Proposal::new(name, 1, arguments.to_string())).await;
        let approval = asked.approval().unwrap_or_else(|| panic!("it does not wait: {asked:?}"));
        let found = self.host.executor().approval(&self.operator, approval).await.unwrap().unwrap();
        meanwhile(&found.filed.unwrap().approval);
        self.host.executor().answer(&self.operator, approval, Answer::Approve).await.unwrap();
        self.host.executor().resume(&session, approval).await
    }

    /// The same, and it went well.
    #[track_caller]
    pub fn called(&self, name: &str, arguments: &Value) -> impl Future<Output = Value> {
        let (name, arguments) = (name.to_owned(), arguments.clone());
        let place = std::panic::Location::caller();
        async move {
            let outcome = self.call(&name, &arguments).await;
            let told = outcome.message().unwrap_or_default().into_owned();
            let result = outcome.result().unwrap_or_else(|| panic!("{place}: {outcome:?}: {told}"));
            serde_json::from_str(result).unwrap()
        }
    }

    /// The same, and it failed: what the caller was told.
    #[track_caller]
    pub fn failed(&self, name: &str, arguments: &Value) -> impl Future<Output = String> {
        let (name, arguments) = (name.to_owned(), arguments.clone());
        let place = std::panic::Location::caller();
        async move {
            let outcome = self.call(&name, &arguments).await;
            assert_eq!(outcome.kind(), OutcomeKind::Failed, "{place}: {outcome:?}: {:?}", outcome.result());
            let told = outcome.message().unwrap().into_owned();
            assert!(told.contains("\nhelp: "), "{place}: {told}");
            told
        }
    }

    /// Everything that was recorded so far.
    pub fn log(&self) -> String {
        let mut files: Vec<_> =
            fs::read_dir(self.host.audit_dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort();
        files.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    /// None of these words is in any file of the host. What a store erases it has erased a moment after the answer.
    #[track_caller]
    pub fn remembers_nothing_of(&self, words: &[&str]) {
        let end = Instant::now() + Duration::from_secs(30);
        while let Some(found) = self.remembers(words) {
            assert!(Instant::now() < end, "{found}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn remembers(&self, words: &[&str]) -> Option<String> {
        let mut left: Vec<PathBuf> = vec![self.top.path().join("data")];
        let mut files = 0;
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else if !path.ends_with("config.toml") {
                files += 1;
                let bytes = fs::read(&path).unwrap();
                let held = |word: &&&str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
                if let Some(word) = words.iter().find(held) {
                    return Some(format!("{word:?} is in {}", path.display()));
                }
            }
        }
        assert!(files >= 3 && self.log().lines().count() >= 3, "there is something to look through");
        None
    }
}

/// The Python of the tests, with what `tests/fixtures/python/requirements.txt` lists.
pub fn python() -> PathBuf {
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("python/bin/python");
    assert!(python.exists(), "{} is not there\nhelp: run `tests/run`, which installs it", python.display());
    python
}
