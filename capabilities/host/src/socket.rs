//! The 0600 socket in the data directory: how a second command line reaches the host that owns it.
//!
//! One connection carries one request and one reply, each a JSON document; the writer closes its half after it.

use std::path::Path;
use std::sync::Arc;

use rustix::process::Pid;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::protocol::{Fault, Reply, Request};
use crate::service::Service;

/// The longest request, in bytes: the largest arguments, escaped, and their claims.
const MAX_REQUEST: u64 = 8 * 1024 * 1024;
/// The longest reply, in bytes: the largest result twice escaped.
const MAX_REPLY: u64 = 64 * 1024 * 1024;
/// How long a client may take to send its request.
const REQUEST_TIMEOUT: core::time::Duration = core::time::Duration::from_secs(10);
/// How many clients are served at a time.
const MAX_CLIENTS: usize = 64;

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

/// Serves clients until `stop` changes, then finishes those that were let in.
pub async fn serve(listener: UnixListener, service: Arc<Service>, mut stop: watch::Receiver<bool>) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            _ = stop.changed() => break,
            Some(_) = clients.join_next(), if !clients.is_empty() => {}
            accepted = listener.accept(), if clients.len() < MAX_CLIENTS => {
                if let Ok((stream, _)) = accepted {
                    let service = Arc::clone(&service);
                    clients.spawn(async move { answer(stream, &service).await });
                }
            }
        }
    }
    drop(listener);
    while clients.join_next().await.is_some() {}
}

async fn answer(mut stream: UnixStream, service: &Service) {
    // Another user cannot reach a socket in a 0700 directory; root can, and is told who may.
    let peer = stream.peer_cred().ok();
    let own = rustix::process::getuid().as_raw();
    let caller = peer.as_ref().filter(|peer| peer.uid() == own).and_then(|peer| peer.pid()).and_then(Pid::from_raw);
    let reply = match tokio::time::timeout(REQUEST_TIMEOUT, read::<Request>(&mut stream, MAX_REQUEST)).await {
        _ if peer.is_none_or(|peer| peer.uid() != own) => {
            Reply::Fault(Fault::refused("only the owner of this host may talk to it", "run as the user who started it"))
        }
        Ok(Ok(request)) => service.handle(&request, caller).await,
        Ok(Err(_)) | Err(_) => Reply::Fault(Fault::usage(
            "the request is not one this host understands",
            "use the same version on both sides",
        )),
    };
    if let Ok(bytes) = serde_json::to_vec(&reply) {
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
    }
}

/// Asks the host behind the socket.
///
/// # Errors
/// When nobody listens, or the host went away before it answered.
pub async fn ask(path: &Path, request: &Request) -> std::io::Result<Reply> {
    let mut stream = UnixStream::connect(path).await?;
    stream.write_all(&serde_json::to_vec(request)?).await?;
    stream.shutdown().await?;
    read(&mut stream, MAX_REPLY).await
}

async fn read<T: serde::de::DeserializeOwned>(stream: &mut UnixStream, max: u64) -> std::io::Result<T> {
    let mut bytes = Vec::new();
    stream.take(max + 1).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 > max {
        return Err(std::io::ErrorKind::FileTooLarge.into());
    }
    serde_json::from_slice(&bytes).map_err(Into::into)
}
