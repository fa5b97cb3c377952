//! Requests by hand: a test says itself which headers there are.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The status is this one; gives the answer back.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:#?}");
        self
    }

    /// A refusal for this reason.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        let answer = self.is(status);
        let told = answer.body.contains(&format!("data-code=\"{code}\"")) || answer.json_code() == Some(code.into());
        assert!(told, "no {code} in {answer:#?}");
        answer
    }

    fn json_code(&self) -> Option<Value> {
        serde_json::from_str::<Value>(&self.body).ok()?.get("code").cloned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The value of the first field of a form that is called so.
    pub fn field(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.body.split_once(&format!("name=\"{name}\" value=\""))?;
        rest.split('"').next()
    }
}

/// What a form sends.
pub fn form(fields: &[(&str, &str)]) -> String {
    let encode = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
        text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect::<String>()
    };
    fields.iter().map(|(key, value)| format!("{}={}", encode(key), encode(value))).collect::<Vec<_>>().join("&")
}

/// Writes bytes and reads whatever comes, until the other side closes.
pub fn raw(address: &str, request: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    // Whoever is refused early may find the connection closed before everything is written.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    Answer::read(&bytes)
}

/// A browser, or a program, with what it brings along.
#[derive(Clone)]
pub struct Client {
    /// Where it connects to.
    pub address: String,
    /// What it calls it.
    pub host: String,
    /// Further headers.
    pub headers: Vec<(String, String)>,
}

impl Client {
    pub fn new(address: &str) -> Self {
        Self { address: address.to_owned(), host: address.to_owned(), headers: Vec::new() }
    }

    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut with = self.clone();
        with.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
        with.headers.push((name.to_owned(), value.to_owned()));
        with
    }

    pub fn without(&self, name: &str) -> Self {
        let mut without = self.clone();
        without.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
        without
    }

    pub fn send(&self, method: &str, path: &str, kind: &str, body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.host);
        for (key, value) in &self.headers {
            request += &format!("{key}: {value}\r\n");
        }
        if method == "POST" {
            request += &format!("Content-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        }
        raw(&self.address, (request + "\r\n" + body).as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "", "")
    }

    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.send("POST", path, "application/x-www-form-urlencoded", &form(fields))
    }

    pub fn post_json(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, "application/json", &body.to_string())
    }
}
