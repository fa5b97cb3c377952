//! Clients by hand: nothing of a library's stands between the clock and the server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crate::calls::{ADD, SEARCH};

/// Something that calls.
pub trait Client {
    /// How long one call took.
    fn call(&mut self, tool: &str) -> Duration;
}

/// The message of one call, in the newer age of the protocol.
fn message(id: u64, tool: &str) -> String {
    let arguments = core::str::from_utf8(if tool == "bench-add" { ADD } else { SEARCH }).expect("it is text");
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}},"name":"{tool}","arguments":{arguments}}}}}"#
    )
}

/// Whether it ran: what was refused costs less and measures nothing.
fn judged(answer: &[u8]) {
    let ran = memchr::memmem::find(answer, b"\"structuredContent\"").is_some();
    assert!(ran, "{}", String::from_utf8_lossy(answer));
}

/// Over the streams of a program.
pub struct Lines {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
    line: Vec<u8>,
}

impl Lines {
    pub fn of(child: &mut Child) -> Self {
        let input = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { input, output, next: 1, line: Vec::new() }
    }
}

impl Client for Lines {
    fn call(&mut self, tool: &str) -> Duration {
        let message = message(self.next, tool) + "\n";
        self.next += 1;
        self.line.clear();
        let begun = Instant::now();
        self.input.write_all(message.as_bytes()).expect("it is sent");
        self.output.read_until(b'\n', &mut self.line).expect("it is answered");
        let took = begun.elapsed();
        judged(&self.line);
        took
    }
}

/// Over one connection that is kept.
pub struct Http {
    stream: TcpStream,
    head: String,
    next: u64,
    seen: Vec<u8>,
}

impl Http {
    pub fn connect(port: u16, token: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_nodelay(true).expect("it is set");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
        );
        Self { stream, head, next: 1, seen: Vec::new() }
    }

    /// The length of the answer, head included, once that is there.
    fn whole(&self) -> Option<usize> {
        let head = memchr::memmem::find(&self.seen, b"\r\n\r\n")? + 4;
        let text = String::from_utf8_lossy(&self.seen[..head]).to_ascii_lowercase();
        assert!(text.starts_with("http/1.1 200"), "{}", String::from_utf8_lossy(&self.seen));
        let length = text.lines().find_map(|line| line.strip_prefix("content-length:")).expect("a length");
        Some(head + length.trim().parse::<usize>().expect("a number"))
    }
}

impl Client for Http {
    fn call(&mut self, tool: &str) -> Duration {
        let body = message(self.next, tool);
        self.next += 1;
        let request = format!("{}Mcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.seen.clear();
        let mut buffer = [0; 16 * 1024];
        let begun = Instant::now();
        self.stream.write_all(request.as_bytes()).expect("it is sent");
        while self.whole().is_none_or(|whole| self.seen.len() < whole) {
            let read = self.stream.read(&mut buffer).expect("it is answered");
            assert!(read > 0, "the connection stays open");
            self.seen.extend_from_slice(&buffer[..read]);
        }
        let took = begun.elapsed();
        judged(&self.seen);
        took
    }
}
