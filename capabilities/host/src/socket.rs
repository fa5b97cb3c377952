//! The 0600 socket in the data directory: how a second command line reaches the host that owns it.
//!
//! One connection carries one request and one reply. The host says first that it lets the client in, so that a client
//! which was not let in knows that nothing was asked; then the client sends one line of JSON, and the host one document.
//! A client that goes away before its reply calls off what it asked for.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use crate::protocol::{Fault, Reply, Request};
use crate::service::Service;

/// The longest request, in bytes: the largest arguments, escaped, and their claims.
const MAX_REQUEST: u64 = 8 * 1024 * 1024;
/// The longest reply, in bytes: the largest result twice escaped.
const MAX_REPLY: u64 = 64 * 1024 * 1024;
/// How long a client may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// How many clients are served at a time.
const MAX_CLIENTS: usize = 64;
/// How long the host waits after a client that it could not take in.
const BREATH: Duration = Duration::from_millis(100);
/// How often the host does what is due though nobody asks.
const SWEEP: Duration = Duration::from_secs(10);
/// What the host sends to a client that it lets in.
const LET_IN: u8 = b'\n';

/// Listens on the socket, replacing what a host that died left behind. The caller owns the directory's lock.
///
/// # Errors
/// When the socket cannot be made.
pub fn listen(path: &Path) -> std::io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // The directory is 0700: nobody else can connect between the two calls.
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(listener)
}

/// How long a host serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serve {
    /// Whoever comes.
    On,
    /// Whoever was let in, to the end.
    Out,
    /// Nobody: what was asked for is called off.
    NoMore,
}

/// Serves clients for as long as `serve` says, and now and then does what is due though nobody asks.
pub async fn serve(listener: UnixListener, service: Arc<Service>, mut serve: watch::Receiver<Serve>) {
    let mut clients = JoinSet::new();
    let mut sweep = interval_at(Instant::now() + SWEEP, SWEEP);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = serve.changed() => break,
            Some(_) = clients.join_next(), if !clients.is_empty() => {}
            accepted = listener.accept(), if clients.len() < MAX_CLIENTS => {
                match accepted {
                    Ok((stream, _)) => {
                        let service = Arc::clone(&service);
                        clients.spawn(async move { answer(stream, &service).await });
                    }
                    // Whoever knocks still stands there, and would be turned away again at once, for as long as this
                    // process has no descriptor left.
                    Err(_) => tokio::time::sleep(BREATH).await,
                }
            }
            // Finished before the end like a client is: what was moved is recorded.
            _ = sweep.tick() => {
                let service = Arc::clone(&service);
                clients.spawn(async move { service.sweep().await });
            }
        }
    }
    drop(listener);
    tokio::select! {
        () = async { while clients.join_next().await.is_some() {} } => return,
        _ = serve.wait_for(|serve| *serve == Serve::NoMore) => {}
    }
    clients.shutdown().await;
}

/// Whether whoever is at the other end may ask anything: the user this host runs as, and nobody else, root and those whom
/// the kernel does not name included.
fn admits(peer_uid: Option<u32>, own_uid: u32) -> bool {
    peer_uid == Some(own_uid)
}

async fn answer(stream: UnixStream, service: &Service) {
    // Another user cannot reach a socket in a 0700 directory; root can, and is told who may.
    let peer = stream.peer_cred().ok();
    let admitted = admits(peer.map(|peer| peer.uid()), rustix::process::getuid().as_raw());
    if !admitted {
        tracing::warn!(uid = peer.map(|peer| peer.uid()), "another user is turned away");
    }
    let caller = peer.filter(|_| admitted).and_then(|peer| peer.pid()).and_then(Pid::from_raw);
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    if writer.write_all(&[LET_IN]).await.is_err() {
        return;
    }
    let reply = match timeout(REQUEST_TIMEOUT, request(&mut reader)).await {
        _ if !admitted => {
            Reply::Fault(Fault::refused("only the owner of this host may talk to it", "run as the user who started it"))
        }
        Ok(Some(request)) => tokio::select! {
            reply = service.handle(&request, caller) => reply,
            // Dropping the call leaves its record.
            () = gone(&mut reader), if request.is_called_off() => return,
        },
        Ok(None) | Err(_) => Reply::Fault(Fault::usage(
            "the request is not one this host understands",
            "use the same version on both sides",
        )),
    };
    if let Ok(bytes) = serde_json::to_vec(&reply) {
        // A client that does not read its reply keeps nobody else out, and no host from ending.
        let told = async {
            let _ = writer.write_all(&bytes).await;
            let _ = writer.shutdown().await;
        };
        let _ = timeout(REQUEST_TIMEOUT, told).await;
    }
}

/// One line of JSON; `None` for anything else.
async fn request(reader: &mut (impl AsyncBufReadExt + Unpin)) -> Option<Request> {
    let mut line = Vec::new();
    reader.take(MAX_REQUEST).read_until(b'\n', &mut line).await.ok()?;
    serde_json::from_slice(line.strip_suffix(b"\n")?).ok()
}

/// Waits until the other side has closed. It has nothing more to say before that; what it says is passed over.
async fn gone(reader: &mut (impl AsyncRead + Unpin)) {
    let mut rest = [0; 64];
    while reader.read(&mut rest).await.is_ok_and(|read| read > 0) {}
}

/// Why there is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// Nobody listens, or whoever did left before it let this client in: nothing was asked.
    NotLetIn,
    /// The host went away after it was asked: what became of it is in the audit log.
    WentAway,
}

/// Asks the host behind the socket; it has `patience` to let this client in.
///
/// # Errors
/// [`Unanswered`].
pub async fn ask(path: &Path, request: &Request, patience: Duration) -> Result<Reply, Unanswered> {
    let let_in = async {
        let mut stream = UnixStream::connect(path).await.ok()?;
        (stream.read_u8().await.ok()? == LET_IN).then_some(stream)
    };
    let mut stream = timeout(patience, let_in).await.ok().flatten().ok_or(Unanswered::NotLetIn)?;
    reply(&mut stream, request).await.map_err(|_| Unanswered::WentAway)
}

async fn reply(stream: &mut UnixStream, request: &Request) -> std::io::Result<Reply> {
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line).await?;
    let mut bytes = Vec::new();
    stream.take(MAX_REPLY + 1).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 > MAX_REPLY {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    serde_json::from_slice(&bytes).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::admits;

    #[test]
    fn only_the_owner_is_admitted() {
        assert!(admits(Some(1000), 1000) && admits(Some(0), 0));
        for other in [None, Some(0), Some(999), Some(1001), Some(65534), Some(u32::MAX)] {
            assert!(!admits(other, 1000), "{other:?}");
        }
        assert!(!admits(Some(1000), 0) && !admits(None, 0));
    }
}
