//! One turn: a program from its start to its end.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Weak};

use capability_core::audit::{ConfiguredName, InvocationId};
use capability_core::handle::{AgentAnswer, AgentEnd, BrokerFault, MAX_ANSWER_BYTES};
use capability_core::session::{Session, SessionId, Subject};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{AgentSettings, Agents, TURN};
use crate::mcp::server;
use crate::provider::mcp::Started;
use crate::secrets::redactor;
use crate::service::Service;

/// How many connections of one turn are served at a time.
const MOST_CONNECTIONS: usize = 4;
/// How much is read at a time.
const CHUNK: usize = 16 * 1024;

/// A turn that has begun. Dropping it ends its session, and that is recorded; its program ends with the future that runs it.
pub struct Turn {
    pub(super) agents: Arc<Agents>,
    pub(super) service: Weak<Service>,
    pub(super) settings: AgentSettings,
    pub(super) name: ConfiguredName,
    pub(super) invocation: InvocationId,
    pub(super) parent: Subject,
    pub(super) session: Session,
    /// What its own connections are called.
    pub(super) connection: SessionId,
    pub(super) stop: CancellationToken,
    pub(super) gone: CancellationToken,
    pub(super) ended: AgentEnd,
}

impl Turn {
    /// Starts the program, and gives what became of it.
    ///
    /// # Errors
    /// [`BrokerFault::Unconfined`] and [`BrokerFault::Unavailable`]; nothing was told to the program then.
    pub async fn act(mut self, task: String) -> Result<AgentAnswer, BrokerFault> {
        let program = self.settings.program.clone();
        let secrets = tokio::task::spawn_blocking(move || program.secrets()).await;
        let secrets = secrets.unwrap_or(Err(BrokerFault::CredentialUnreadable))?;
        let mut socket = None;
        let started = self.settings.program.launch(&self.agents.data_dir, &secrets, |home| {
            let path = home.join("turn");
            let listener = UnixListener::bind(&path)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
            socket = Some(listener);
            Ok(vec![(OsString::from(TURN), path.into_os_string())])
        });
        let Started { mut running, input, output } = started.await.map_err(|_| BrokerFault::Unavailable)?;
        let listener = socket.ok_or(BrokerFault::Unavailable)?;
        if !running.is_apart() {
            running.end().await;
            return Err(BrokerFault::Unconfined);
        }
        let mut heard = Heard::default();
        let work = async {
            let (_, (), status) = tokio::join!(told(input, task), heard.listen(output), running.status());
            status
        };
        self.ended = tokio::select! {
            biased;
            () = self.session.ended() => AgentEnd::Stopped,
            () = self.stop.cancelled() => AgentEnd::Stopped,
            status = work => if status == Some(0) { AgentEnd::Answered } else { AgentEnd::Failed },
            () = served(listener, &self.service, self.connection) => AgentEnd::Failed,
            () = tokio::time::sleep(self.settings.timeout) => AgentEnd::TimedOut,
        };
        // Nothing more is done in its name, and then nothing of it is left.
        self.session.end();
        running.end().await;
        Ok(heard.answer(self.ended))
    }

    pub(super) fn record(&self, ended: Option<AgentEnd>) -> bool {
        let of = (self.invocation, self.name.clone(), self.parent.clone());
        self.agents.record(of, &self.session, ended)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.session.end();
        self.agents.turns().live.remove(&self.connection);
        let _ = self.record(Some(self.ended));
        self.gone.cancel();
    }
}

/// Tells the program its task. One that does not want to hear all of it has its reasons.
async fn told(mut input: UnixStream, task: String) {
    let _ = input.write_all(task.as_bytes()).await;
}

/// What a program has written so far.
#[derive(Default)]
struct Heard {
    bytes: Vec<u8>,
    more: bool,
}

impl Heard {
    /// Listens to the end of it, and keeps no more than is given.
    async fn listen(&mut self, mut output: UnixStream) {
        let mut chunk = vec![0; CHUNK];
        while let Ok(read @ 1..) = output.read(&mut chunk).await {
            let room = MAX_ANSWER_BYTES.saturating_sub(self.bytes.len());
            self.more |= read > room;
            self.bytes.extend_from_slice(chunk.get(..read.min(room)).unwrap_or_default());
        }
    }

    fn answer(self, ended: AgentEnd) -> AgentAnswer {
        let (mut stream, mut told) = (redactor().stream(), Vec::with_capacity(self.bytes.len()));
        stream.push(&self.bytes, &mut told);
        if self.more {
            stream.cut(&mut told);
        } else {
            stream.finish(&mut told);
        }
        let mut answer = String::from_utf8_lossy(&told).into_owned();
        let mut end = answer.len().min(MAX_ANSWER_BYTES);
        while !answer.is_char_boundary(end) {
            end -= 1;
        }
        let truncated = self.more || end < answer.len();
        answer.truncate(end);
        AgentAnswer { ended, answer, truncated }
    }
}

/// Speaks MCP with whoever connects, as the turn's session. It comes back when there is no host any more.
async fn served(listener: UnixListener, service: &Weak<Service>, connection: SessionId) {
    let mut served = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = served.join_next(), if !served.is_empty() => {}
            accepted = listener.accept(), if served.len() < MOST_CONNECTIONS => {
                let (Ok((stream, _)), Some(service)) = (accepted, service.upgrade()) else { return };
                let (reader, writer) = stream.into_split();
                served.spawn(server::turn(service, connection, reader, writer));
            }
        }
    }
}
