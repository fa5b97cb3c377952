//! One configured server: whether it can be reached, what it has, and calls of its tools.

mod offered;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use capability_core::audit::{Event, ProvidedBy, Record, SettingKey};
use capability_core::handle::{BrokerFault, ProviderConnected, ToolReply};
use capability_core::provider::{
    Credential, ProvidedTool, ProviderDecision, ProviderType, Standing, ToolDefinition, Whose,
};
use capability_core::session::Subject;
use capability_core::store::StoreFault;
use tokio::sync::Mutex as Turn;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, Hearing, Listed, fault};
use super::mcp::{self, Given, HttpWay, Listing, Peer, PeerFault};
use super::pins::{Pin, Provided};
use super::settings::{ClassLine, ServerSettings, Way};
use super::{FAILURE_KEPT, Shared};
use crate::host::operator_name;
use crate::secrets::NoRoom;
use crate::store::sqlite::OpenedProvider;

/// How long after the server says that its list changed it is read again: it may say so many times at once.
const SETTLE: Duration = Duration::from_millis(200);
/// How long it may take until a server that is asked to tell of changes does.
const OPENING: Duration = Duration::from_secs(5);
/// How long a list is taken for what the server has, where the server does not say that it changed.
const LIST_KEPT: Duration = Duration::from_secs(60);

/// What is said of a secret that could not be found again in what a program says.
const SHORT_SECRET: &str = "one of its secrets is shorter than 8 bytes";
/// What is said of a secret or header for which there is no room among what is looked for.
const FULL: &str = "the host knows as many secrets as it can look for";
/// What is said of a program that is not there any more.
const ENDED: &str = "its program ended";

/// What all that is spoken with under one configured name has in common.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) name: Arc<str>,
    pub(super) settings: Arc<ServerSettings>,
    pub(super) shared: Arc<Shared>,
    /// Held by the one call that may change something: what is not known to only read is serial, and of that one call goes to
    /// a server at a time.
    pub(super) serial: Arc<Turn<()>>,
    /// What it was given by this host, whatever the connection.
    pub(super) given: Arc<Given>,
}

/// One server, as it is spoken with for somebody: for everybody, for a subject that has a token of its own, or for a session.
pub(super) struct Server {
    common: Common,
    /// Its number in the store: what was accepted of it for whoever has this credential.
    number: i64,
    whose: Whose,
    /// Whose credential goes along; everybody's without.
    owner: Option<Subject>,
    state: Mutex<State>,
    /// Connecting and listing happen one at a time.
    turn: Turn<()>,
    /// Comes when it is there for nobody any more.
    gone: CancellationToken,
    keeping: Mutex<Option<JoinHandle<()>>>,
}

struct State {
    reach: Reach,
    /// Counts the tokens that came in place of others: what was read with one before is not gone by.
    token: u64,
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

impl Server {
    pub(super) fn new(common: Common, opened: OpenedProvider, whose: Whose, owner: Option<Subject>) -> Arc<Self> {
        let (reach, provided) = (Reach::NotConnected, Provided::default());
        let mut state = State { reach, token: 0, pins: opened.pins, listing: None, provided, tools: Vec::new() };
        state.settle(&common.settings.classes);
        let server = Arc::new(Self {
            common,
            number: opened.number,
            whose,
            owner,
            state: Mutex::new(state),
            turn: Turn::default(),
            gone: CancellationToken::new(),
            keeping: Mutex::default(),
        });
        server.shared().join(&server);
        server
    }

    pub(super) const fn common(&self) -> &Common {
        &self.common
    }

    pub(super) fn settings(&self) -> &ServerSettings {
        &self.common.settings
    }

    fn shared(&self) -> &Shared {
        &self.common.shared
    }

    pub(super) const fn number(&self) -> i64 {
        self.number
    }

    /// Whose credential goes along.
    pub(super) const fn credential(&self) -> Credential {
        if self.owner.is_some() { Credential::Own } else { Credential::Everybodys }
    }

    pub(super) const fn owner(&self) -> Option<&Subject> {
        self.owner.as_ref()
    }

    /// What is remembered of it: for another one of the same credential.
    pub(super) fn opened(&self) -> OpenedProvider {
        OpenedProvider { number: self.number, pins: self.state().pins.clone() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reach(&self) -> Reach {
        self.state().reach.clone()
    }

    fn token(&self) -> u64 {
        self.state().token
    }

    fn connection(&self) -> Option<Arc<Connection>> {
        match self.reach() {
            Reach::Connected(connection) if !connection.peer.is_closed() => Some(connection),
            _ => None,
        }
    }

    /// Whether the list of a connection is one that was read, with the token that there is now.
    fn is_read(&self, connection: &Connection) -> bool {
        let state = self.state();
        connection.listed().is_read(state.token)
    }

    fn set(&self, reach: Reach) {
        self.state().reach = reach;
        self.publish();
    }

    /// Connects, or finds that it is connected. A failure is remembered for a while.
    pub(super) async fn connect(self: &Arc<Self>) -> Result<ProviderConnected, BrokerFault> {
        let _turn = self.turn.lock().await;
        if self.gone.is_cancelled() {
            return Err(BrokerFault::NotFound);
        }
        if let Some(connection) = self.connection() {
            self.refresh(&connection, false).await.map_err(fault)?;
            return if self.is_read(&connection) { Ok(self.counts()) } else { Err(BrokerFault::MalformedReply) };
        }
        // One that ended, and whose watcher has not come to it yet: no two programs of it are there at a time.
        if let Reach::Connected(connection) = self.reach() {
            self.put_away(&connection).await;
        }
        if let Reach::Offline(_, until) = self.reach()
            && Instant::now() < until
        {
            return Err(BrokerFault::Unavailable);
        }
        let Ok(_place) = self.shared().connecting.acquire().await else { return Err(BrokerFault::Unavailable) };
        self.set(Reach::Connecting);
        let token = self.token();
        let attempt = timeout(self.settings().discovery, self.attempt());
        let attempted = tokio::select! {
            attempted = attempt => attempted,
            // What was begun is dropped, and a program is killed with it.
            () = self.gone.cancelled() => return Err(BrokerFault::NotFound),
        };
        match attempted {
            Ok(Ok(connection)) => {
                let connection = Arc::new(connection);
                self.set(Reach::Connected(Arc::clone(&connection)));
                self.watch(&connection);
                if self.token() != token {
                    connection.peer.forget();
                    self.refresh(&connection, true).await.map_err(fault)?;
                }
                if self.is_read(&connection) { Ok(self.counts()) } else { Err(BrokerFault::MalformedReply) }
            }
            Ok(Err((why, fault))) => {
                self.fail(why, token);
                Err(fault)
            }
            Err(_) => {
                self.fail("it did not answer in time", token);
                Err(BrokerFault::TimedOut)
            }
        }
    }

    /// It could not be connected. What failed with a token that is not the one any more is not remembered.
    fn fail(&self, why: &'static str, token: u64) {
        {
            let mut state = self.state();
            let is_of_now = state.token == token;
            state.reach =
                if is_of_now { Reach::Offline(why, Instant::now() + FAILURE_KEPT) } else { Reach::NotConnected };
        }
        self.publish();
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
        let Common { name, settings, shared, given, .. } = &self.common;
        let token = self.token();
        let (peer, mut running) = match &settings.way {
            Way::Http(http) => {
                let (credentials, resolver) = (Arc::clone(&shared.credentials), Arc::clone(&shared.resolver));
                let of = (&**name, self.owner.clone());
                let way = HttpWay::new(http.clone(), of, credentials, resolver, Arc::clone(given));
                (Peer::over_http(way.map_err(|NoRoom| (FULL, BrokerFault::SecretsFull))?), None)
            }
            Way::Program(program) => {
                let secrets = program.secrets().map_err(|fault| {
                    let why = match fault {
                        BrokerFault::CredentialShort => SHORT_SECRET,
                        BrokerFault::SecretsFull => FULL,
                        _ => "one of its secrets cannot be read",
                    };
                    (why, fault)
                })?;
                let remembered = secrets.iter().try_for_each(|secret| given.remember(secret));
                remembered.map_err(|NoRoom| (FULL, BrokerFault::SecretsFull))?;
                let started = program.start(&shared.data_dir, &secrets).await;
                let (running, peer) = started.map_err(|error| {
                    tracing::warn!(server = %name, kind = %error.kind(), "a provider's program was not started");
                    ("its program cannot be started here", BrokerFault::Unavailable)
                })?;
                (peer, Some(running))
            }
        };
        match peer.greet(older).await {
            Ok(_) => {}
            Err(PeerFault::Closed) if let Some(running) = &mut running => {
                let why = if running.was_started().await { ENDED } else { "its program was not found" };
                return Err((why, BrokerFault::Unavailable));
            }
            Err(why) => return Err((why.as_str(), fault(why))),
        }
        let connection = Connection::new(peer, running);
        match self.list(&connection, token).await {
            Ok(()) => {}
            Err(PeerFault::Closed) => return Err(("its connection ended", BrokerFault::Unavailable)),
            // It is there, and something about it does not work: what was accepted of it stays in sight.
            Err(_) => connection.listed().trouble = Some("its tools could not be listed"),
        }
        Ok(connection)
    }

    /// Reads the list, and compares it with what was accepted. `token` is the one that there was before the server was greeted or
    /// asked: once there is another one, nothing that comes counts as read.
    async fn list(&self, connection: &Connection, token: u64) -> Result<(), PeerFault> {
        // Read before the list is: what changes meanwhile is not taken for read.
        let change = *connection.peer.changes().borrow();
        let Common { name, shared, given, .. } = &self.common;
        let listing = match connection.peer.greeting() {
            Some(greeting) if !greeting.has_tools => Listing::default(),
            _ => mcp::list(&connection.peer, name, &given.redactor()).await?,
        };
        if self.token() != token {
            return Ok(());
        }
        let (taken, refused): (Vec<_>, Vec<_>) = listing.tools.iter().partition(|one| one.fault.is_none());
        let taken = taken.into_iter().map(|one| Arc::new(one.definition.clone())).collect();
        let refused = refused.into_iter().map(|one| one.definition.id.native.clone()).collect();
        let at = shared.environment.now();
        let observed = shared.definitions.observe(self.number, taken, refused, at).await;
        let Ok(observed) = observed else {
            connection.listed().fails("what it listed could not be compared with what was accepted", false);
            return Ok(());
        };
        let provided = ProvidedBy::named(ProviderType::Mcp, name, None);
        if let Some(provided) = provided.filter(|_| observed.first + observed.changed > 0) {
            let (first, changed) = (observed.first, observed.changed);
            let key = SettingKey::DefinitionsSeen { provided, first, changed };
            // A log that takes no more refuses every call by itself.
            let event = Event::Configuration { key, operator: operator_name() };
            let _ = shared.sink.submit(Record { at, event });
        }
        let trouble = listing.cut.or_else(|| observed.is_full.then_some("it has shown more tools than are remembered"));
        *connection.listed() = Listed::read(change, token, trouble);
        self.state().listing = Some(Arc::new(listing));
        self.remember(&observed.pins);
        if observed.first + observed.changed > 0 {
            self.publish_siblings();
        }
        Ok(())
    }

    /// Reads the list, after another greeting where the last one is of no use any more: a server that is asked over HTTP may
    /// have been started anew, as whatever it is now.
    async fn list_anew(&self, connection: &Connection) -> Result<(), PeerFault> {
        loop {
            let token = self.token();
            let listed = match self.list(connection, token).await {
                Err(
                    PeerFault::Closed
                    | PeerFault::Session
                    | PeerFault::Malformed
                    | PeerFault::Refused(_)
                    | PeerFault::Revision,
                ) if connection.peer.is_asked() => match connection.peer.greet(false).await {
                    Ok(_) => self.list(connection, token).await,
                    Err(fault) => Err(fault),
                },
                listed => listed,
            };
            if self.token() == token {
                return listed;
            }
            connection.peer.forget();
        }
    }

    /// Reads the list again when it may be another one by now, and always with `doubted`.
    async fn refresh(&self, connection: &Connection, doubted: bool) -> Result<(), PeerFault> {
        let tells = connection.peer.greeting().is_some_and(|greeting| greeting.tells_changes);
        let heard = connection.hears.lock().unwrap_or_else(PoisonError::into_inner).map(|since| since + OPENING);
        let said = *connection.peer.changes().borrow();
        let token = self.token();
        {
            let listed = connection.listed();
            // What changed before anybody listened was heard by nobody.
            let hears = connection.peer.hears_by_itself() || heard.is_some_and(|heard| listed.at >= heard);
            let is_old = !(tells && hears) && listed.at.elapsed() > LIST_KEPT;
            if listed.is_read(token) && listed.change == said && !is_old && !doubted {
                return Ok(());
            }
        }
        // A connection that stands waits for none that is made: another server's silence is no matter of this one.
        let again = timeout(self.settings().discovery, self.list_anew(connection)).await;
        let again = again.unwrap_or(Err(PeerFault::Closed));
        match again {
            Ok(()) => {}
            // Nothing but an answer tells that a server that is asked over HTTP is there.
            Err(PeerFault::Closed) if connection.peer.is_asked() => {
                connection.listed().fails("it cannot be reached any more", true);
            }
            Err(why @ (PeerFault::Credential | PeerFault::Untrusted)) => connection.listed().fails(why.as_str(), false),
            Err(_) => connection.listed().fails("its tools could not be listed again", false),
        }
        self.publish();
        again
    }

    /// Looks after a connection until it ends: reads the list again when the server says that it changed, when it could not be
    /// read, and, of a server that is asked over HTTP, now and then, since nothing else tells that it went away.
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
                    let is_read = server.is_read(&connection);
                    match (is_read, connection.peer.is_asked()) {
                        (false, _) => sleep(FAILURE_KEPT).await,
                        (true, true) => sleep(server.settings().check).await,
                        (true, false) => core::future::pending().await,
                    }
                };
                let doubted = tokio::select! {
                    biased;
                    () = connection.peer.closed() => {
                        server.lose(&connection).await;
                        return;
                    }
                    changed = changes.changed() => {
                        if changed.is_err() {
                            return;
                        }
                        false
                    }
                    () = connection.doubted.notified() => true,
                    () = again => true,
                    () = &mut listening => false,
                };
                sleep(SETTLE).await;
                let _turn = server.turn.lock().await;
                let _ = server.refresh(&connection, doubted).await;
            }
        });
        *connection.watching.lock().unwrap_or_else(PoisonError::into_inner) = Some(watching);
    }

    /// A connection ended by itself. What is done about a server is done one at a time, so whoever connects it anew has either
    /// done so or waits.
    async fn lose(&self, connection: &Arc<Connection>) {
        let _turn = self.turn.lock().await;
        self.put_away(connection).await;
    }

    /// Puts a connection away that ended, with its program. Where another one is in its place, that one stays.
    async fn put_away(&self, connection: &Arc<Connection>) {
        let running = connection.running.lock().await.take();
        let why = if running.is_some() { ENDED } else { "its connection ended" };
        let was_there = {
            let mut state = self.state();
            let is_there = matches!(&state.reach, Reach::Connected(own) if Arc::ptr_eq(own, connection));
            if is_there {
                state.reach = Reach::Offline(why, Instant::now());
            }
            is_there
        };
        if was_there {
            self.publish();
        }
        if let Some(running) = running {
            running.end().await;
        }
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
    pub(super) async fn call(&self, decision: &ProviderDecision, arguments: &[u8]) -> Result<ToolReply, BrokerFault> {
        let judged = decision.definition_digest().ok_or(BrokerFault::DefinitionChanged)?;
        self.called(&decision.native_id, judged, decision.is_serial(), arguments).await
    }

    /// The same of the tool of that name and definition, after whatever else may change something.
    async fn called(
        &self,
        native: &str,
        judged: &[u8; 32],
        is_serial: bool,
        arguments: &[u8],
    ) -> Result<ToolReply, BrokerFault> {
        let arguments = core::str::from_utf8(arguments).map_err(|_| BrokerFault::MalformedReply)?;
        let _one_call = if is_serial { Some(self.common.serial.lock().await) } else { None };
        let connection = self.connection().ok_or(BrokerFault::Unavailable)?;
        let tool = self.is_still(&connection, native, judged, false).await?;
        let mut answer = connection.peer.call(&tool, arguments).await;
        if answer == Err(PeerFault::Session) {
            // Nothing was called, and the server may be another one by now.
            let tool = self.is_still(&connection, native, judged, true).await?;
            answer = connection.peer.call(&tool, arguments).await;
        }
        if matches!(answer, Err(PeerFault::Closed | PeerFault::Session | PeerFault::Malformed)) {
            connection.doubted.notify_one();
        }
        mcp::of_call(answer, &self.common.given.redactor())
    }

    /// The tool, if it still is what was judged, by a list that is not old.
    async fn is_still(
        &self,
        connection: &Connection,
        native: &str,
        judged: &[u8; 32],
        doubted: bool,
    ) -> Result<Arc<ToolDefinition>, BrokerFault> {
        let _turn = self.turn.lock().await;
        self.refresh(connection, doubted).await.map_err(fault)?;
        if !self.is_read(connection) {
            return Err(BrokerFault::Unavailable);
        }
        let state = self.state();
        let same = state.tools.iter().find(|tool| {
            tool.definition().id.native == native && tool.digest() == judged && tool.standing() == Standing::Accepted
        });
        same.map(|tool| Arc::clone(tool.definition())).ok_or(BrokerFault::DefinitionChanged)
    }

    pub(super) async fn accept(&self, tool: &str, digest: [u8; 32]) -> Result<bool, StoreFault> {
        let _turn = self.turn.lock().await;
        let (at, definitions) = (self.shared().environment.now(), &self.shared().definitions);
        let Some(pins) = definitions.accept(self.number, tool, digest, at).await? else { return Ok(false) };
        self.remember(&pins);
        self.publish();
        self.publish_siblings();
        Ok(true)
    }

    /// Ends everything without waiting for it.
    pub(super) fn abandon(&self) {
        self.gone.cancel();
        drop(self.stop_keeping());
        let before = core::mem::replace(&mut self.state().reach, Reach::NotConnected);
        if let Reach::Connected(connection) = before {
            drop(connection.stop_watching());
        }
    }

    fn stop_keeping(&self) -> Option<JoinHandle<()>> {
        let keeping = self.keeping.lock().unwrap_or_else(PoisonError::into_inner).take();
        keeping.inspect(JoinHandle::abort)
    }

    /// Ends the connection, and what keeps it: whatever of that was under way has ended afterwards.
    pub(super) async fn close(&self) {
        ended(self.stop_keeping()).await;
        let _turn = self.turn.lock().await;
        let Reach::Connected(connection) = self.reach() else { return };
        ended(connection.stop_watching()).await;
        connection.peer.end().await;
        if let Some(running) = connection.running.lock().await.take() {
            running.end().await;
        }
        self.set(Reach::NotConnected);
    }
}

/// Waits until a task that was told to end has.
async fn ended(task: Option<JoinHandle<()>>) {
    if let Some(task) = task {
        let _ = task.await;
    }
}
