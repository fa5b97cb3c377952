//! One connection to one server: requests, answers, and which revision of the protocol is spoken.
//!
//! Two generations are alive. The newer one says who it is with every request and begins with `server/discover`; the older
//! one shakes hands once with `initialize`. The newer is tried first, and what answers to neither has no tools here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capability_core::provider::ToolDefinition;
use hyper::header::HeaderMap;
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::http::{GREETING, HttpWay, Pass, Question};
use super::lines::{Line, Lines, Writer};
use super::message::{self, Incoming, Refusal};
use super::mirror;

/// How long a server may take to say that it does not know `server/discover`, before the older greeting is sent as well:
/// some never answer what they do not know.
const PROBE: Duration = Duration::from_secs(3);
/// The most lines that are no message before the other side is taken for something else than a server.
const MAX_STRAY: u32 = 1000;

/// The newest revision.
pub const MODERN: &str = "2026-07-28";
/// The older ones, newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// Who asks.
const CLIENT: &str = concat!(r#"{"name":"capability","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// The newer greeting.
const DISCOVER: &str = "server/discover";
/// The end of the older greeting.
const INITIALIZED: &str = "notifications/initialized";
/// The notification of a changed list.
const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// Why a server did not answer as it should. Nothing that a server says is in it but a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerFault {
    /// It is gone, or cannot be reached.
    Closed,
    /// It has forgotten the session, and did nothing.
    Session,
    /// It said more than a message may hold.
    TooLarge,
    /// What it said is no answer.
    Malformed,
    /// It answered with an error of this code.
    Refused(i64),
    /// It speaks no revision that is spoken here.
    Revision,
    /// It does not take the credential, or wants one.
    Credential,
    /// Its certificate is not trusted.
    Untrusted,
}

impl PeerFault {
    /// In words of ours.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "its connection ended",
            Self::Session => "it has forgotten the session",
            Self::TooLarge => "it said more at once than is read",
            Self::Malformed => "what it said is no answer in the protocol",
            Self::Refused(_) => "it answered with an error",
            Self::Revision => "it speaks no revision of the protocol that is spoken here",
            Self::Credential => "it wants a credential, or another one",
            Self::Untrusted => "its certificate is not trusted",
        }
    }
}

/// What a server said about itself that matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting {
    /// The revision that was agreed upon.
    pub revision: &'static str,
    /// Whether it has tools at all.
    pub has_tools: bool,
    /// Whether it says when they change.
    pub tells_changes: bool,
}

impl Greeting {
    /// Whether it speaks the newer generation.
    pub fn is_modern(&self) -> bool {
        self.revision == MODERN
    }
}

/// One connection. Dropping it ends it.
pub struct Peer {
    way: Way,
    shared: Arc<Shared>,
    greeting: Mutex<Option<Greeting>>,
    tasks: Vec<JoinHandle<()>>,
}

enum Way {
    Lines(Writer),
    Http(Box<HttpWay>),
}

/// What the reading task and those who wait have in common.
struct Shared {
    waiting: Mutex<Waiting>,
    /// Counts what the server said about changes of its list.
    changes: watch::Sender<u64>,
    /// Becomes true when nothing comes any more.
    closed: watch::Sender<bool>,
}

#[derive(Default)]
struct Waiting {
    last: u64,
    is_closed: bool,
    requests: HashMap<u64, oneshot::Sender<Result<Value, PeerFault>>>,
}

impl Shared {
    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_id(&self) -> u64 {
        let mut waiting = self.waiting();
        waiting.last += 1;
        waiting.last
    }

    /// Answers everybody who waits with the same fault: which of them it belongs to was not readable.
    fn fail_all(&self, fault: PeerFault) {
        for (_, answer) in self.waiting().requests.drain() {
            let _ = answer.send(Err(fault));
        }
    }

    fn close(&self) {
        self.waiting().is_closed = true;
        self.fail_all(PeerFault::Closed);
        self.closed.send_replace(true);
    }

    /// Takes one message in, and gives what is to be said back.
    fn take(&self, incoming: Incoming) -> Option<String> {
        match incoming {
            Incoming::Answer(id, answer) => {
                let waiting = self.waiting().requests.remove(&id);
                if let Some(waiting) = waiting {
                    let _ = waiting.send(answer.map_err(|refusal| PeerFault::Refused(refusal.code)));
                }
                None
            }
            // Sampling, roots and elicitation are things that this client does not offer.
            Incoming::Request { id, method } => Some(message::answer(&id, method == "ping")),
            Incoming::Notice(method) => {
                if method == LIST_CHANGED {
                    self.changes.send_modify(|count| *count = count.wrapping_add(1));
                }
                None
            }
            Incoming::Stray => None,
        }
    }
}

impl Peer {
    /// Over the streams of a program. Reads in a task of its own.
    pub fn over_lines(output: impl AsyncRead + Unpin + Send + 'static, writer: Writer) -> Self {
        let shared = Arc::new(Shared::new());
        let (theirs, answers) = (Arc::clone(&shared), writer.clone());
        let reading = tokio::spawn(async move {
            let mut lines = Lines::new(output);
            let mut stray = 0;
            while let Some(line) = lines.next().await {
                match line {
                    Line::TooLong => theirs.fail_all(PeerFault::TooLarge),
                    Line::Text(text) => match message::read(&text) {
                        Ok(incoming) => {
                            if let Some(answer) = theirs.take(incoming) {
                                answers.try_send(answer);
                            }
                        }
                        // Greetings and log lines that belong on the other stream.
                        Err(_) if text.first() != Some(&b'{') => stray += 1,
                        Err(_) => {
                            stray += 1;
                            theirs.fail_all(PeerFault::Malformed);
                        }
                    },
                }
                if stray > MAX_STRAY {
                    break;
                }
            }
            theirs.close();
        });
        Self { way: Way::Lines(writer), shared, greeting: Mutex::default(), tasks: vec![reading] }
    }

    /// Over HTTP: a connection for each request.
    pub fn over_http(way: HttpWay) -> Self {
        let shared = Arc::new(Shared::new());
        Self { way: Way::Http(Box::new(way)), shared, greeting: Mutex::default(), tasks: Vec::new() }
    }

    /// A number that grows when the server says that its list changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Waits until nothing comes from the server any more.
    pub async fn closed(&self) {
        let _ = self.shared.closed.subscribe().wait_for(|closed| *closed).await;
    }

    /// Whether nothing comes any more.
    pub fn is_closed(&self) -> bool {
        self.shared.waiting().is_closed
    }

    /// What the server said about itself, once it was greeted.
    pub fn greeting(&self) -> Option<Greeting> {
        *self.greeting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether each request is a connection of its own, so that only a request tells whether the server is there.
    pub const fn is_asked(&self) -> bool {
        matches!(self.way, Way::Http(_))
    }

    /// Finds out which revision is spoken; with `older`, the newer greeting is left out, which some programs do not survive.
    /// Whatever was agreed upon before counts no more.
    ///
    /// # Errors
    /// [`PeerFault`]; the connection is of no use then, until it is greeted again.
    pub async fn greet(&self, older: bool) -> Result<Greeting, PeerFault> {
        if let Way::Http(way) = &self.way {
            way.forget_all();
        }
        let greeting = if older { self.initialize().await? } else { self.either().await? };
        *self.greeting.lock().unwrap_or_else(PoisonError::into_inner) = Some(greeting);
        if let Way::Http(way) = &self.way {
            way.speak(greeting.revision);
        }
        Ok(greeting)
    }

    /// The newer greeting, and the older one where that has no answer.
    async fn either(&self) -> Result<Greeting, PeerFault> {
        let asked = params(true, "");
        // A server of the newer generation that refuses the revision says which ones it takes, and is asked once more: one that takes
        // this one says so then, and any other is greeted the older way.
        let discover = async {
            match self.request(DISCOVER, &asked, HeaderMap::new()).await {
                Err(PeerFault::Refused(Refusal::UNSUPPORTED_VERSION)) => {
                    self.request(DISCOVER, &asked, HeaderMap::new()).await
                }
                answer => answer,
            }
        };
        tokio::pin!(discover);
        let probed = match &self.way {
            Way::Lines(_) => timeout(PROBE, &mut discover).await.ok(),
            Way::Http(_) => Some((&mut discover).await),
        };
        match probed {
            // The older greeting would be of no use either.
            Some(Err(fault @ (PeerFault::Closed | PeerFault::Credential | PeerFault::Untrusted))) => Err(fault),
            Some(answer) => match modern(answer) {
                Some(greeting) => Ok(greeting),
                None => self.initialize().await,
            },
            // Either answer counts, whichever comes and is one.
            None => {
                let initialize = self.initialize();
                tokio::pin!(initialize);
                tokio::select! {
                    answer = &mut discover => match modern(answer) {
                        Some(greeting) => Ok(greeting),
                        None => initialize.await,
                    },
                    greeting = &mut initialize => match greeting {
                        Ok(greeting) => Ok(greeting),
                        Err(fault) => modern(discover.await).ok_or(fault),
                    },
                }
            }
        }
    }

    /// The whole of the older greeting.
    async fn initialize(&self) -> Result<Greeting, PeerFault> {
        match &self.way {
            Way::Http(way) => self.initialize_over(way, &way.pass().await?).await,
            Way::Lines(writer) => {
                let answer = self.request(GREETING, &hello(), HeaderMap::new()).await?;
                let greeting = agreed(&answer)?;
                let text = message::notice(INITIALIZED, "{}");
                writer.send(text).await.then_some(greeting).ok_or(PeerFault::Closed)
            }
        }
    }

    /// The same over HTTP.
    async fn initialize_over(&self, way: &HttpWay, pass: &Pass) -> Result<Greeting, PeerFault> {
        way.forget();
        let answer = self.asked(way, GREETING, &hello(), HeaderMap::new(), pass).await?;
        let greeting = agreed(&answer)?;
        way.agree(greeting.revision);
        way.tell(INITIALIZED, message::notice(INITIALIZED, "{}"), pass).await?;
        Ok(greeting)
    }

    /// Whether changes are told without being asked for: by a program of the older generation, in between its answers.
    pub fn hears_by_itself(&self) -> bool {
        matches!(self.way, Way::Lines(_)) && !self.is_modern()
    }

    /// Asks to be told of changes, where that has to be asked for. Comes back when the server ends it, or has said as much as is
    /// read at a time.
    pub async fn listen(&self) {
        if let (Way::Http(way), false) = (&self.way, self.is_modern()) {
            if let Ok(pass) = way.pass().await {
                way.listen(&pass, |incoming| self.shared.take(incoming)).await;
            }
            return;
        }
        let wanted = params(true, r#""notifications":{"toolsListChanged":true}"#);
        let _ = self.request("subscriptions/listen", &wanted, HeaderMap::new()).await;
    }

    /// A page of tools.
    ///
    /// # Errors
    /// [`PeerFault`].
    pub async fn list(&self, cursor: Option<&str>) -> Result<Value, PeerFault> {
        let cursor = cursor.map_or_else(String::new, |cursor| format!(r#""cursor":{}"#, Value::from(cursor)));
        self.request("tools/list", &params(self.is_modern(), &cursor), HeaderMap::new()).await
    }

    /// Calls a tool with the very text of its arguments. Giving the call up tells the server so.
    ///
    /// # Errors
    /// [`PeerFault`]; of a [`PeerFault::Session`] it is known that nothing was called.
    pub async fn call(&self, tool: &ToolDefinition, arguments: &str) -> Result<Value, PeerFault> {
        // INVARIANT: a line is a message. Canonical text has no line's end in it; anything else is not sent.
        if arguments.contains(['\n', '\r']) {
            return Err(PeerFault::Malformed);
        }
        let name = &*tool.id.native;
        let fields = format!(r#""name":{},"arguments":{arguments}"#, Value::from(name));
        let mirrored = match self.is_asked() {
            true => mirror::of_call(name, self.mirrors().then_some(&tool.input_schema), arguments)?,
            false => HeaderMap::new(),
        };
        self.request("tools/call", &params(self.is_modern(), &fields), mirrored).await
    }

    /// Whether arguments are said in headers as well, where a definition asks for that.
    pub fn mirrors(&self) -> bool {
        self.is_asked() && self.is_modern()
    }

    /// Whatever was opened with the credential that there was before is used no more.
    pub fn forget(&self) {
        if let Way::Http(way) = &self.way {
            way.forget();
        }
    }

    /// Gives a session back that the server may keep for us.
    pub async fn end(&self) {
        if let Way::Http(way) = &self.way {
            way.end().await;
        }
    }

    fn is_modern(&self) -> bool {
        self.greeting().is_some_and(|greeting| greeting.is_modern())
    }

    /// One question over HTTP.
    async fn asked(
        &self,
        way: &HttpWay,
        method: &str,
        params: &str,
        mirrored: HeaderMap,
        pass: &Pass,
    ) -> Result<Value, PeerFault> {
        let id = self.shared.next_id();
        let text = message::request(id, method, params);
        let of = (method == "tools/call").then(|| pass.clone());
        let mut abandoned = Abandoned { peer: self, id, of, is_told: method == "tools/call" };
        let question = Question { method, text, mirrored };
        let asked = way.ask(id, question, pass, |incoming| self.shared.take(incoming)).await;
        abandoned.is_told = false;
        asked
    }

    async fn request(&self, method: &str, params: &str, mirrored: HeaderMap) -> Result<Value, PeerFault> {
        match &self.way {
            Way::Http(way) => {
                let pass = way.pass().await?;
                // Before there is a greeting, the greeting is what is asked.
                let is_older = self.greeting().is_some_and(|greeting| !greeting.is_modern());
                if is_older && method != DISCOVER && !way.is_greeted() {
                    self.initialize_over(way, &pass).await?;
                }
                self.asked(way, method, params, mirrored, &pass).await
            }
            Way::Lines(writer) => {
                let id = self.shared.next_id();
                let text = message::request(id, method, params);
                let (answer, answered) = oneshot::channel();
                {
                    let mut waiting = self.shared.waiting();
                    if waiting.is_closed {
                        return Err(PeerFault::Closed);
                    }
                    waiting.requests.insert(id, answer);
                }
                let mut abandoned = Abandoned { peer: self, id, of: None, is_told: method != GREETING };
                if !writer.send(text).await {
                    abandoned.is_told = false;
                    return Err(PeerFault::Closed);
                }
                let answer = answered.await.unwrap_or(Err(PeerFault::Closed));
                abandoned.is_told = false;
                answer
            }
        }
    }
}

impl Shared {
    fn new() -> Self {
        Self { waiting: Mutex::default(), changes: watch::Sender::new(0), closed: watch::Sender::new(false) }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// A request that nobody may wait for any more when this is dropped.
struct Abandoned<'a> {
    peer: &'a Peer,
    id: u64,
    /// What goes along when it is told over HTTP: who asked gives it up.
    of: Option<Pass>,
    is_told: bool,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        self.peer.shared.waiting().requests.remove(&self.id);
        if !self.is_told {
            return;
        }
        let params = format!(r#"{{"requestId":{},"reason":"nobody waits for it any more"}}"#, self.id);
        let text = message::notice("notifications/cancelled", &params);
        match &self.peer.way {
            Way::Lines(writer) => writer.try_send(text),
            Way::Http(way) => {
                let _ = self.of.take().map(|pass| way.tell_later("notifications/cancelled", text, pass));
            }
        }
    }
}

/// The text of a request's parameters: with who asks in the newer generation.
fn params(is_modern: bool, fields: &str) -> String {
    if !is_modern {
        return format!("{{{fields}}}");
    }
    let comma = if fields.is_empty() { "" } else { "," };
    let version = format!(r#""io.modelcontextprotocol/protocolVersion":"{MODERN}""#);
    let who =
        format!(r#""io.modelcontextprotocol/clientInfo":{CLIENT},"io.modelcontextprotocol/clientCapabilities":{{}}"#);
    format!(r#"{{"_meta":{{{version},{who}}}{comma}{fields}}}"#)
}

/// What an answer to `server/discover` says, if it is one of a server that speaks the newer generation.
fn modern(answer: Result<Value, PeerFault>) -> Option<Greeting> {
    let answer = answer.ok()?;
    let versions = answer.get("supportedVersions")?.as_array()?;
    versions.iter().any(|version| version == MODERN).then(|| greeting(MODERN, &answer))
}

/// What is said in the older greeting.
fn hello() -> String {
    let newest = LEGACY[0];
    format!(r#"{{"protocolVersion":"{newest}","capabilities":{{}},"clientInfo":{CLIENT}}}"#)
}

/// What an answer to the older greeting says.
fn agreed(answer: &Value) -> Result<Greeting, PeerFault> {
    let version = answer.get("protocolVersion").and_then(Value::as_str).ok_or(PeerFault::Malformed)?;
    let revision = LEGACY.into_iter().find(|known| *known == version).ok_or(PeerFault::Revision)?;
    Ok(greeting(revision, answer))
}

fn greeting(revision: &'static str, answer: &Value) -> Greeting {
    let tools = answer.get("capabilities").and_then(|offered| offered.get("tools"));
    let tells = tools.and_then(|tools| tools.get("listChanged")).and_then(Value::as_bool).unwrap_or_default();
    Greeting { revision, has_tools: tools.is_some(), tells_changes: tells }
}
