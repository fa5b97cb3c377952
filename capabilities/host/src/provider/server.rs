//! One configured server: whether it can be reached, what it has, and calls of its tools.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capability_core::audit::{Event, ProvidedBy, Record, SettingKey};
use capability_core::handle::{BrokerFault, ProviderConnected, ToolReply};
use capability_core::provider::{
    ProvidedTool, ProviderDecision, ProviderReach, ProviderSnapshot, ProviderState, ProviderType, Standing,
};
use capability_core::session::Subject;
use capability_core::store::StoreFault;
use tokio::sync::Mutex as Turn;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::mcp::{self, Caller, HttpWay, Listing, Peer, PeerFault, Running};
use super::pins::{Pin, PinChange, Provided};
use super::settings::{ClassLine, ServerSettings, Way};
use super::told::{ServerTold, ToolTold};
use super::{FAILURE_KEPT, Shared};
use crate::host::operator_name;
use crate::store::sqlite::OpenedProvider;

/// How long after the server says that its list changed it is read again: it may say so many times at once.
const SETTLE: Duration = Duration::from_millis(200);
/// How long it may take until a server that is asked to tell of changes does.
const OPENING: Duration = Duration::from_secs(5);
/// How long a list is taken for what the server has, where the server does not say that it changed.
const LIST_KEPT: Duration = Duration::from_secs(60);

/// What is said of a program that is not there any more.
const ENDED: &str = "its program ended";

/// One server.
pub(super) struct Server {
    name: Arc<str>,
    settings: ServerSettings,
    /// Its number in the store.
    number: i64,
    shared: Arc<Shared>,
    state: Mutex<State>,
    /// Connecting and listing happen one at a time.
    turn: Turn<()>,
    /// Held by the one call that may change something: what is not known to only read is serial, and of that one call goes to
    /// a server at a time.
    serial: Turn<()>,
    keeping: Mutex<Option<JoinHandle<()>>>,
}

struct State {
    reach: Reach,
    pins: Vec<Pin>,
    /// What it listed last in this host.
    listing: Option<Arc<Listing>>,
    provided: Provided,
    /// Made of the three before it whenever one of them changes.
    tools: Vec<ProvidedTool>,
}

impl State {
    /// What is known of the tools changed.
    fn settle(&mut self, classes: &[ClassLine]) {
        let Self { pins, listing, provided, tools, .. } = self;
        *tools = provided.tools(listing.as_deref(), pins, classes);
    }
}

#[derive(Clone)]
enum Reach {
    NotConnected,
    Connecting,
    Connected(Arc<Connection>),
    Offline(&'static str, Instant),
}

/// A connection that stands, and the program at its other end. Dropping it ends both.
struct Connection {
    peer: Peer,
    running: Turn<Option<Running>>,
    /// What the operator gave the server.
    secrets: Vec<String>,
    listed: Mutex<Listed>,
    /// Since when changes of its list are listened to; none while they are not.
    hears: Mutex<Option<Instant>>,
    watching: Mutex<Option<JoinHandle<()>>>,
}

/// When the list was read.
struct Listed {
    at: Instant,
    /// What the server had said about changes by then.
    change: u64,
    /// Why it is not what the server has, or not all of it.
    trouble: Option<&'static str>,
    /// Whether it can be relied on.
    is_read: bool,
}

impl Server {
    pub(super) fn new(name: String, settings: ServerSettings, opened: OpenedProvider, shared: Arc<Shared>) -> Self {
        let (reach, provided) = (Reach::NotConnected, Provided::default());
        let mut state = State { reach, pins: opened.pins, listing: None, provided, tools: Vec::new() };
        state.settle(&settings.classes);
        Self {
            name: name.into(),
            settings,
            number: opened.number,
            shared,
            state: Mutex::new(state),
            turn: Turn::default(),
            serial: Turn::default(),
            keeping: Mutex::default(),
        }
    }

    pub(super) const fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reach(&self) -> Reach {
        self.state().reach.clone()
    }

    fn connection(&self) -> Option<Arc<Connection>> {
        match self.reach() {
            Reach::Connected(connection) if !connection.peer.is_closed() => Some(connection),
            _ => None,
        }
    }

    fn set(&self, reach: Reach) {
        self.state().reach = reach;
        self.publish();
    }

    /// Puts what is known of this server into the snapshot that decisions are made from.
    pub(super) fn publish(&self) {
        {
            // One at a time, from reading the state on: an older state never comes in after a newer one.
            let mut snapshot = self.shared.snapshot();
            let own = self.snapshot();
            let mut providers: Vec<ProviderState> =
                snapshot.providers().iter().filter(|one| one.id != own.id || one.kind != own.kind).cloned().collect();
            providers.push(own);
            *snapshot = Arc::new(ProviderSnapshot::new(snapshot.revision() + 1, providers));
        }
        (self.shared.changed)();
    }

    fn snapshot(&self) -> ProviderState {
        let state = self.state();
        let reach = match &state.reach {
            Reach::NotConnected | Reach::Connecting => ProviderReach::NotConnected,
            Reach::Offline(why, _) => ProviderReach::Offline(why),
            Reach::Connected(connection) => match connection.listed().trouble {
                Some(trouble) => ProviderReach::Degraded(trouble),
                None => ProviderReach::Ready,
            },
        };
        ProviderState {
            id: Arc::clone(&self.name),
            kind: ProviderType::Mcp,
            reach,
            session: None,
            tools: state.tools.clone(),
            carries_out: Vec::new(),
        }
    }

    /// Connects, or finds that it is connected. A failure is remembered for a while.
    pub(super) async fn connect(self: &Arc<Self>) -> Result<ProviderConnected, BrokerFault> {
        let _turn = self.turn.lock().await;
        if let Some(connection) = self.connection() {
            self.refresh(&connection).await.map_err(fault)?;
            return Ok(self.counts());
        }
        if let Reach::Offline(_, until) = self.reach()
            && Instant::now() < until
        {
            return Err(BrokerFault::Unavailable);
        }
        let Ok(_place) = self.shared.connecting.acquire().await else { return Err(BrokerFault::Unavailable) };
        self.set(Reach::Connecting);
        match timeout(self.settings.discovery, self.attempt()).await {
            Ok(Ok(connection)) => {
                let connection = Arc::new(connection);
                self.set(Reach::Connected(Arc::clone(&connection)));
                self.watch(&connection);
                let is_read = connection.listed().is_read;
                if is_read { Ok(self.counts()) } else { Err(BrokerFault::MalformedReply) }
            }
            Ok(Err((why, fault))) => {
                self.set(Reach::Offline(why, Instant::now() + FAILURE_KEPT));
                Err(fault)
            }
            Err(_) => {
                self.set(Reach::Offline("it did not answer in time", Instant::now() + FAILURE_KEPT));
                Err(BrokerFault::TimedOut)
            }
        }
    }

    /// Some programs do not survive a greeting that is newer than they are: those are started once more and greeted the older
    /// way.
    async fn attempt(&self) -> Result<Connection, (&'static str, BrokerFault)> {
        match self.attempt_with(false).await {
            Err((ENDED, _)) => self.attempt_with(true).await,
            attempted => attempted,
        }
    }

    /// One attempt; given up, it leaves nothing behind.
    async fn attempt_with(&self, older: bool) -> Result<Connection, (&'static str, BrokerFault)> {
        let (peer, mut running, secrets) = match &self.settings.way {
            Way::Http(http) => {
                let (credentials, resolver) = (Arc::clone(&self.shared.credentials), Arc::clone(&self.shared.resolver));
                let secrets =
                    http.headers.values().filter_map(|value| value.to_str().ok().map(str::to_owned)).collect();
                (Peer::over_http(HttpWay::new(http.clone(), &self.name, credentials, resolver)), None, secrets)
            }
            Way::Program(program) => {
                let unreadable = ("one of its secrets cannot be read", BrokerFault::CredentialUnreadable);
                let secrets = program.secrets().map_err(|_| unreadable)?;
                let started = program.start(&self.shared.data_dir, &secrets).await;
                let (running, peer) = started.map_err(|error| {
                    tracing::warn!(server = %self.name, kind = %error.kind(), "a provider's program was not started");
                    ("its program cannot be started here", BrokerFault::Unavailable)
                })?;
                (peer, Some(running), secrets)
            }
        };
        let greeted = match peer.greet(older).await {
            Ok(greeting) => greeting,
            Err(PeerFault::Closed) if let Some(running) = &mut running => {
                let why = if running.was_started().await { ENDED } else { "its program was not found" };
                return Err((why, BrokerFault::Unavailable));
            }
            Err(why) => return Err((why.as_str(), fault(why))),
        };
        let listed = Listed { at: Instant::now(), change: 0, trouble: None, is_read: false };
        let connection = Connection {
            peer,
            running: Turn::new(running),
            secrets,
            listed: Mutex::new(listed),
            hears: Mutex::default(),
            watching: Mutex::default(),
        };
        if greeted.has_tools {
            match self.list(&connection).await {
                Ok(()) => {}
                Err(PeerFault::Closed) => return Err(("its connection ended", BrokerFault::Unavailable)),
                // It is there, and something about it does not work: what was accepted of it stays in sight.
                Err(_) => connection.listed().trouble = Some("its tools could not be listed"),
            }
        } else {
            self.state().listing = Some(Arc::default());
            self.state().settle(&self.settings.classes);
            connection.listed().is_read = true;
        }
        Ok(connection)
    }

    /// Reads the list, and compares it with what was accepted.
    async fn list(&self, connection: &Connection) -> Result<(), PeerFault> {
        // Read before the list is: what changes meanwhile is not taken for read.
        let change = *connection.peer.changes().borrow();
        let listing = mcp::list(&connection.peer, &self.name).await?;
        let taken = listing.tools.iter().filter(|one| one.fault.is_none());
        let taken = taken.map(|one| Arc::new(one.definition.clone())).collect();
        let at = self.shared.environment.now();
        let observed = self.shared.definitions.observe(self.number, taken, at).await;
        let Ok(observed) = observed else {
            connection.listed().trouble = Some("what it listed could not be compared with what was accepted");
            connection.listed().is_read = false;
            return Ok(());
        };
        let provided = ProvidedBy::named(ProviderType::Mcp, &self.name, None);
        if let Some(provided) = provided.filter(|_| observed.first + observed.changed > 0) {
            let (first, changed) = (observed.first, observed.changed);
            let key = SettingKey::DefinitionsSeen { provided, first, changed };
            // A log that takes no more refuses every call by itself.
            let event = Event::Configuration { key, operator: operator_name() };
            let _ = self.shared.sink.submit(Record { at, event });
        }
        let trouble = listing.cut.or_else(|| observed.is_full.then_some("it has shown more tools than are remembered"));
        *connection.listed() = Listed { at: Instant::now(), change, trouble, is_read: true };
        let mut state = self.state();
        state.pins = observed.pins;
        state.listing = Some(Arc::new(listing));
        state.settle(&self.settings.classes);
        Ok(())
    }

    /// Reads the list again when it may be another one by now.
    async fn refresh(&self, connection: &Connection) -> Result<(), PeerFault> {
        let tells = connection.peer.greeting().is_some_and(|greeting| greeting.tells_changes);
        let heard = connection.hears.lock().unwrap_or_else(PoisonError::into_inner).map(|since| since + OPENING);
        let said = *connection.peer.changes().borrow();
        {
            let listed = connection.listed();
            // What changed before anybody listened was heard by nobody.
            let hears = connection.peer.hears_by_itself() || heard.is_some_and(|heard| listed.at >= heard);
            let is_old = !(tells && hears) && listed.at.elapsed() > LIST_KEPT;
            if listed.is_read && listed.change == said && !is_old {
                return Ok(());
            }
        }
        let again = timeout(self.settings.discovery, self.list(connection)).await.unwrap_or(Err(PeerFault::Closed));
        if again.is_err() {
            let mut listed = connection.listed();
            listed.is_read = false;
            listed.trouble = Some("its tools could not be listed again");
        }
        self.publish();
        again
    }

    /// Looks after a connection until it ends: reads the list again when the server says that it changed.
    fn watch(self: &Arc<Self>, connection: &Arc<Connection>) {
        let (server, watched) = (Arc::clone(self), Arc::downgrade(connection));
        let mut changes = connection.peer.changes();
        let watching = tokio::spawn(async move {
            let Some(connection) = watched.upgrade() else { return };
            let tells = connection.peer.greeting().is_some_and(|greeting| greeting.tells_changes);
            let listening = async {
                if !tells || connection.peer.hears_by_itself() {
                    core::future::pending::<()>().await;
                }
                loop {
                    {
                        let _hearing = Hearing::of(&connection.hears);
                        connection.peer.listen().await;
                    }
                    sleep(FAILURE_KEPT).await;
                }
            };
            tokio::pin!(listening);
            loop {
                let again = async {
                    let is_read = connection.listed().is_read;
                    if is_read { core::future::pending::<()>().await } else { sleep(FAILURE_KEPT).await }
                };
                tokio::select! {
                    biased;
                    () = connection.peer.closed() => {
                        server.lose(&connection).await;
                        return;
                    }
                    changed = changes.changed() => if changed.is_err() { return },
                    () = again => {}
                    () = &mut listening => {}
                }
                sleep(SETTLE).await;
                let _turn = server.turn.lock().await;
                let _ = server.refresh(&connection).await;
            }
        });
        *connection.watching.lock().unwrap_or_else(PoisonError::into_inner) = Some(watching);
    }

    /// A connection ended by itself.
    async fn lose(&self, connection: &Connection) {
        let running = connection.running.lock().await.take();
        let why = if running.is_some() { ENDED } else { "its connection ended" };
        if let Some(running) = running {
            running.end().await;
        }
        self.set(Reach::Offline(why, Instant::now()));
    }

    /// Connects now and whenever the connection was lost, for a server that the operator starts with the host.
    pub(super) fn keep_connected(self: &Arc<Self>) {
        let server = Arc::downgrade(self);
        let keeping = tokio::spawn(async move {
            while let Some(server) = server.upgrade() {
                let _ = server.connect().await;
                if let Some(connection) = server.connection() {
                    drop(server);
                    connection.peer.closed().await;
                } else {
                    drop(server);
                }
                sleep(FAILURE_KEPT).await;
            }
        });
        *self.keeping.lock().unwrap_or_else(PoisonError::into_inner) = Some(keeping);
    }

    fn counts(&self) -> ProviderConnected {
        let tools = self.snapshot().tools;
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let unusable = tools.iter().filter(|tool| tool.standing() != Standing::Accepted).count();
        ProviderConnected { tools: count(tools.len()), unusable: count(unusable) }
    }

    /// Calls the tool that was judged, if it still is what it was.
    pub(super) async fn call(
        &self,
        decision: &ProviderDecision,
        arguments: &[u8],
        subject: &Subject,
    ) -> Result<ToolReply, BrokerFault> {
        let native = decision.native_id.as_ref();
        let judged = decision.definition_digest().ok_or(BrokerFault::DefinitionChanged)?;
        let arguments = core::str::from_utf8(arguments).map_err(|_| BrokerFault::MalformedReply)?;
        let _one_call = if decision.is_serial() { Some(self.serial.lock().await) } else { None };
        let connection = self.connection().ok_or(BrokerFault::Unavailable)?;
        {
            let _turn = self.turn.lock().await;
            self.refresh(&connection).await.map_err(fault)?;
        }
        if !connection.listed().is_read {
            return Err(BrokerFault::Unavailable);
        }
        let is_same = self.state().tools.iter().any(|tool| {
            tool.definition().id.native == native && tool.digest() == judged && tool.standing() == Standing::Accepted
        });
        if !is_same {
            return Err(BrokerFault::DefinitionChanged);
        }
        let answer = connection.peer.call(native, arguments, Caller::Subject(subject)).await;
        mcp::of_call(answer, &self.secrets_of(&connection, subject))
    }

    /// What is masked in what the server says: what the operator gave it, and what it is shown of the subject.
    fn secrets_of(&self, connection: &Connection, subject: &Subject) -> Vec<String> {
        let mut secrets = connection.secrets.clone();
        if let Way::Http(http) = &self.settings.way {
            let token = self.shared.credentials.token(&self.name, Some(subject), http.token_file.as_deref());
            secrets.extend(token.ok().flatten().and_then(|token| String::from_utf8(token).ok()));
        }
        secrets
    }

    pub(super) fn changes(&self) -> Vec<PinChange> {
        let changed = |pin: &Pin| {
            let now = Arc::clone(pin.seen.as_ref().unwrap_or(&pin.accepted));
            PinChange { accepted: Arc::clone(&pin.accepted), now, moved: pin.moved }
        };
        self.state().pins.iter().filter(|pin| pin.is_changed()).map(changed).collect()
    }

    pub(super) fn change(&self, tool: &str) -> Option<PinChange> {
        self.changes().into_iter().find(|change| change.now.id.native == tool)
    }

    pub(super) async fn accept(&self, tool: &str, digest: [u8; 32]) -> Result<bool, StoreFault> {
        let _turn = self.turn.lock().await;
        let at = self.shared.environment.now();
        let Some(pins) = self.shared.definitions.accept(self.number, tool, digest, at).await? else { return Ok(false) };
        {
            let mut state = self.state();
            state.pins = pins;
            state.settle(&self.settings.classes);
        }
        self.publish();
        Ok(true)
    }

    pub(super) fn told(&self) -> ServerTold {
        ServerTold::of(&self.snapshot(), &self.settings, matches!(self.reach(), Reach::Connecting))
    }

    pub(super) fn tools_told(&self) -> Vec<ToolTold> {
        let tools = self.snapshot().tools;
        let state = self.state();
        tools.iter().map(|tool| ToolTold::of(tool, &state.pins, &self.settings.classes)).collect()
    }

    pub(super) async fn said(&self) -> Option<String> {
        let connection = self.connection()?;
        let running = connection.running.lock().await;
        let said = running.as_ref()?.said().await;
        Some(mcp::masked(&said, &connection.secrets))
    }

    /// Ends everything without waiting for it.
    pub(super) fn abandon(&self) {
        self.stop_keeping();
        let before = core::mem::replace(&mut self.state().reach, Reach::NotConnected);
        if let Reach::Connected(connection) = before {
            connection.stop_watching();
        }
    }

    fn stop_keeping(&self) {
        if let Some(keeping) = self.keeping.lock().unwrap_or_else(PoisonError::into_inner).take() {
            keeping.abort();
        }
    }

    /// Ends the connection, and what keeps it.
    pub(super) async fn close(&self) {
        self.stop_keeping();
        let _turn = self.turn.lock().await;
        let Reach::Connected(connection) = self.reach() else { return };
        connection.stop_watching();
        connection.peer.end().await;
        if let Some(running) = connection.running.lock().await.take() {
            running.end().await;
        }
        self.set(Reach::NotConnected);
    }
}

/// As long as this lives, changes are listened to.
struct Hearing<'c>(&'c Mutex<Option<Instant>>);

impl<'c> Hearing<'c> {
    fn of(hears: &'c Mutex<Option<Instant>>) -> Self {
        *hears.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Self(hears)
    }
}

impl Drop for Hearing<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Connection {
    fn listed(&self) -> MutexGuard<'_, Listed> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop_watching(&self) {
        if let Some(watching) = self.watching.lock().unwrap_or_else(PoisonError::into_inner).take() {
            watching.abort();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop_watching();
    }
}

const fn fault(fault: PeerFault) -> BrokerFault {
    match fault {
        PeerFault::Closed => BrokerFault::Unavailable,
        PeerFault::TooLarge => BrokerFault::ReplyTooLarge,
        PeerFault::Malformed | PeerFault::Refused(_) | PeerFault::Revision => BrokerFault::MalformedReply,
        PeerFault::Credential => BrokerFault::CredentialRefused,
        PeerFault::Untrusted => BrokerFault::Untrusted,
    }
}
