//! The server: one connection over standard input and output, or any number over HTTP.
//!
//! | file | holds |
//! |---|---|
//! | `lift` | the arguments of a call, taken out of a message byte for byte |
//! | `stdio` | messages on lines |
//! | `handler` | what a client asks, and what it is answered |
//! | `question` | how the person at a client is asked, and what of their answer is looked at |
//! | `result` | tools and outcomes as the protocol has them |
//! | `http` | the same over HTTP, for clients with a token |
//! | `portable` | schemas as every client can read them |
//! | `asker` | the way to the host, wherever it is |
//! | `turns` | when a turn ends |

mod asker;
mod handler;
mod http;
mod lift;
mod portable;
mod question;
mod result;
mod skills;
mod stdio;
mod turns;

pub use http::HttpServer;

use core::pin::pin;
use std::sync::Arc;

use capability_core::session::{Mode, SessionId, SlotPath, Subject};
use rmcp::service::serve_server_with_ct;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::connection::Connection;
use crate::environment::random;
use crate::protocol::{Caller, Client, Fault, Greeting, McpRequest, Proof, Redacted, Reply, Request};
use crate::service::Service;
use asker::{Asker, Asks};
use handler::Handler;
use stdio::Lines;

/// For whom a connection speaks.
pub struct Speaker {
    /// Another subject than the local one.
    pub subject: Option<Subject>,
    /// The slot of that subject's agent.
    pub slot: Option<SlotPath>,
    /// The mode; stricter only.
    pub mode: Option<Mode>,
    /// An operator's proof, for another subject.
    pub proof: Option<Proof>,
    /// A client's token, which names its subject.
    pub token: Option<Redacted>,
    /// The servers that its session has of its own, by name.
    pub with: Vec<String>,
}

/// Serves one client over a pair of streams, until the client closes its side.
///
/// # Errors
/// When the host does not let this client in.
pub async fn lines(
    connection: &Connection<'_>,
    speaker: Speaker,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), Fault> {
    let Speaker { subject, slot, mode, proof, token, with } = speaker;
    let id = random().map(SessionId::from_bytes);
    let id = id.map_err(|_| Fault::broken("the operating system gives no random bytes", "look at this machine"))?;
    let caller = Caller {
        subject,
        slot,
        mode,
        turn: None,
        entry: None,
        proof: None,
        client: Some(Client { connection: id, token, of_turn: false }),
        own: None,
        with,
    };
    // An operator vouches once, for as long as the connection lasts.
    let greeted = Caller { proof, ..again(&caller) };
    let greeting = match connection.ask(&Request::Mcp(McpRequest::Greet(greeted))).await? {
        Reply::Document(value) => serde_json::from_value::<Greeting>(value).ok(),
        Reply::Fault(fault) => return Err(fault),
        Reply::Outcome(_) => None,
    };
    let greeting = greeting
        .ok_or_else(|| Fault::broken("the host answered something else", "use the same version on both sides"))?;
    connection.leaves_with(Request::Mcp(McpRequest::Leave(again(&caller))));
    let staying = (!caller.with.is_empty()).then(|| Request::Mcp(McpRequest::Stay(again(&caller))));
    let stays = async {
        match &staying {
            Some(staying) => connection.stay(staying).await,
            None => core::future::pending().await,
        }
    };
    let attended = attended(connection, Lines::new(reader, writer), caller, &greeting);
    tokio::select! {
        () = attended => {}
        never = stays => match never {},
    }
    Ok(())
}

/// Waits for a connection on lines, wherever the host is.
async fn attended<R>(connection: &Connection<'_>, speaks: Lines<R>, caller: Caller, greeting: &Greeting)
where
    R: AsyncRead + Send + Unpin + 'static,
{
    if let Some(service) = connection.service() {
        // On the threads that hear of what a call waits for: a call that went through another one would wake it at each step.
        let handler = Handler::new(Asker::Here(Arc::clone(service)), caller, greeting);
        let calls = CancellationToken::new();
        connection.attend_lines(calls.clone(), spoken(handler, speaks, calls)).await;
    } else {
        let (asker, mut asks) = Asks::new();
        let handler = Handler::new(asker, caller, greeting);
        let mut served = pin!(spoken(handler, speaks, CancellationToken::new()));
        tokio::select! {
            () = &mut served => {}
            () = asks.answer(connection) => {}
        }
    }
}

/// Serves a turn's own program over one connection, until it closes its side: as the session of that turn and no other one.
pub async fn turn(
    service: Arc<Service>,
    connection: SessionId,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) {
    let settings = service.host().config().mcp();
    let millis = |span: core::time::Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let skills = service.host().skills().is_configured();
    let greeting = Greeting { turn_ms: millis(settings.turn), patience_ms: millis(settings.patience), skills };
    let caller = Caller { client: Some(Client { connection, token: None, of_turn: true }), ..Caller::default() };
    let handler = Handler::new(Asker::Here(service), caller, &greeting);
    spoken(handler, Lines::new(reader, writer), CancellationToken::new()).await;
}

/// One connection to its end, and to the end of its calls. A client that never says anything that counts, or goes away first, is
/// no fault of ours.
async fn spoken<R>(handler: Handler, lines: Lines<R>, calls: CancellationToken)
where
    R: AsyncRead + Send + Unpin + 'static,
{
    if let Ok(running) = serve_server_with_ct(handler.clone(), lines, calls).await {
        let _ = running.waiting().await;
    }
    handler.idle().await;
}

/// The same caller once more, for one further request.
fn again(caller: &Caller) -> Caller {
    let Caller { subject, slot, mode, turn, client, own, with, .. } = caller;
    Caller {
        subject: subject.clone(),
        slot: slot.clone(),
        mode: *mode,
        turn: *turn,
        entry: None,
        proof: None,
        client: client.clone(),
        own: *own,
        with: with.clone(),
    }
}
