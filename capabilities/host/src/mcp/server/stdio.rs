//! Messages on lines, as clients that start a program speak with it.

use std::collections::HashSet;
use std::io;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ErrorCode, GetExtensions, JsonRpcError, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde::Serialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::lift::{TAKEN, lift, read, refusal};

/// The longest message, in bytes: the largest arguments, escaped, and what stands around them.
const MAX_LINE: usize = 8 * 1024 * 1024;
/// How many messages may wait for the client to read.
const WAITING: usize = 64;

/// One connection.
pub struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// Whether the line so far is longer than a message may be: it is passed over to its end.
    too_long: bool,
    /// An answer that is owed before anything more is read.
    owed: Option<Vec<u8>>,
    /// Whether a request has come yet. Before one, nothing else means anything.
    opened: bool,
    /// The ids of requests that wait for their answers. The library has one place for each id: a second request would take the
    /// first one's, and the end of either would call the other off.
    under_way: HashSet<RequestId>,
    writer: Option<mpsc::Sender<Vec<u8>>>,
    written: Option<JoinHandle<()>>,
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    /// Over a pair of streams.
    pub fn new(reader: R, mut writer: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (sender, mut lines) = mpsc::channel::<Vec<u8>>(WAITING);
        let written = tokio::spawn(async move {
            while let Some(line) = lines.recv().await {
                if writer.write_all(&line).await.is_err() || writer.flush().await.is_err() {
                    return;
                }
            }
        });
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            too_long: false,
            owed: None,
            opened: false,
            under_way: HashSet::new(),
            writer: Some(sender),
            written: Some(written),
        }
    }

    /// The next line, whole: `None` at the end, an empty one for what was too long. Whoever stops waiting for it loses nothing.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let bytes = self.reader.fill_buf().await.ok().filter(|bytes| !bytes.is_empty())?;
            let (part, used, ends) = match memchr::memchr(b'\n', bytes) {
                Some(at) => (bytes.get(..at).unwrap_or_default(), at + 1, true),
                None => (bytes, bytes.len(), false),
            };
            if self.too_long || self.line.len() + part.len() > MAX_LINE {
                self.too_long = true;
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            self.reader.consume(used);
            if ends {
                let line = core::mem::take(&mut self.line);
                if core::mem::take(&mut self.too_long) {
                    self.owe(&refusal(None, ErrorCode::INVALID_REQUEST, "the message is longer than 8 MiB"));
                    return Some(Vec::new());
                }
                return Some(line);
            }
        }
    }

    fn owe(&mut self, answer: &JsonRpcError) {
        self.owed = line(answer).ok();
    }

    /// What a line says, when it says something.
    fn message(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let line = line.trim_ascii();
        if line.is_empty() {
            return None;
        }
        let lifted = lift(line).and_then(|lifted| Ok((read(&lifted.message)?, lifted.arguments)));
        let (mut message, arguments) = lifted.inspect_err(|answer| self.owe(answer)).ok()?;
        match &mut message {
            ClientJsonRpcMessage::Request(request) => {
                self.opened = true;
                if !self.under_way.insert(request.id.clone()) {
                    self.owe(&refusal(None, ErrorCode::INVALID_REQUEST, TAKEN));
                    return None;
                }
                if let Some(arguments) = arguments {
                    request.request.extensions_mut().insert(arguments);
                }
            }
            _ if !self.opened => return None,
            ClientJsonRpcMessage::Notification(notice) => {
                // What is called off is not answered.
                if let ClientNotification::CancelledNotification(cancelled) = &notice.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.under_way.remove(id);
                }
            }
            _ => {}
        }
        Some(message)
    }
}

fn line(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match &item {
            ServerJsonRpcMessage::Response(response) => {
                self.under_way.remove(&response.id);
            }
            ServerJsonRpcMessage::Error(error) => {
                let _ = error.id.as_ref().is_some_and(|id| self.under_way.remove(id));
            }
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => {}
        }
        let writer = self.writer.clone();
        async move {
            let line = line(&item)?;
            let writer = writer.ok_or(io::ErrorKind::BrokenPipe)?;
            writer.send(line).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            if self.owed.is_some() {
                let room = self.writer.as_ref()?.reserve().await.ok()?;
                room.send(self.owed.take().unwrap_or_default());
            }
            let line = self.next().await?;
            if let Some(message) = self.message(&line) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // What was answered is written before the end, as far as anybody reads it.
        self.writer = None;
        if let Some(written) = self.written.take() {
            let _ = written.await;
        }
        Ok(())
    }
}
