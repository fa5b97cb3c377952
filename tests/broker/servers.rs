//! Servers at the loopback address that answer what a test tells them to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A server, what it was asked, and how many connected.
pub struct Server {
    pub port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Serves every connection with `serve`.
    pub async fn each<F>(serve: impl Fn(TcpStream) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("it is bound").port();
        let connections = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream));
            }
        });
        Self { port, requests: Arc::default(), connections }
    }

    /// Answers every request with what `answer` makes of it: a whole response.
    pub async fn answering(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (answer, kept) = (Arc::new(answer), Arc::clone(&requests));
        let server = Self::each(move |mut stream| {
            let (answer, kept) = (Arc::clone(&answer), Arc::clone(&kept));
            async move {
                let request = request(&mut stream).await;
                kept.lock().expect("no test panics with it").push(request.clone());
                let _ = stream.write_all(&answer(&request)).await;
                let _ = stream.shutdown().await;
            }
        })
        .await;
        Self { requests, ..server }
    }

    /// Every request so far, head and body.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no test panics with it").clone()
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads one request: its head, and a body of the length it gives.
pub async fn request(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut text = Vec::new();
    loop {
        let whole = String::from_utf8_lossy(&text);
        if let Some((head, body)) = whole.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned));
            if body.len() >= length.and_then(|length| length.parse().ok()).unwrap_or(0) {
                return whole.into_owned();
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(read @ 1..) => text.extend_from_slice(&chunk[..read]),
            _ => return String::from_utf8_lossy(&text).into_owned(),
        }
    }
}

/// A response with a body.
pub fn response(status: u16, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} Some\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A response with JSON.
pub fn json(status: u16, body: &serde_json::Value) -> Vec<u8> {
    response(status, "Content-Type: application/json\r\n", &body.to_string())
}

/// Sends until the other side has enough.
pub async fn endlessly(stream: &mut (impl AsyncWrite + Unpin), piece: &[u8]) -> u64 {
    let mut sent = 0;
    while let Ok(()) = stream.write_all(piece).await {
        sent += piece.len() as u64;
    }
    sent
}
