//! A host with channels, and senders that know their secrets.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Child;
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::client::{Answer, raw};
use crate::home::{Home, Ran, ended, signal, until};

/// What every channel of the tests shares with its sender.
pub const SECRET: &str = "a secret for tests and nothing else";

/// One channel of most kinds, all for one subject.
pub const EVERY: &str = r#"
[channels.hook]
kind = "webhook"
subject = "agent:home"
secret = "shared"
id_header = "X-Id"

[channels.signed]
kind = "hmac"
subject = "agent:home"
secret = "shared"
header = "X-Signature"
prefix = "sha256="
timestamp_header = "X-Timestamp"

[channels.standard]
kind = "standard"
subject = "agent:home"
secret = "standard"

[channels.code]
kind = "github"
subject = "agent:home"
secret = "shared"

[channels.team]
kind = "slack"
subject = "agent:home"
secret = "shared"
users = ["U1", "U2"]
operators = ["U1"]
rooms = ["*"]

[channels.club]
kind = "mattermost"
subject = "agent:home"
secret = "shared"
users = ["u1"]
rooms = ["c1"]

[channels.bot]
kind = "telegram"
subject = "agent:home"
secret = "shared"
users = [7000000001]
rooms = [-1001234567890]

[channels.rooms]
kind = "matrix"
subject = "agent:home"
secret = "shared"
users = ["@me:home.example"]
rooms = ["!room:home.example"]

[channels.mail]
kind = "email"
subject = "agent:home"
senders = ["me@home.example"]
recipients = ["agent@home.example"]
authserv_id = "mx.home.example"
"#;

/// Everything else that the configuration holds.
pub const TOP: &str = "[channels]\nlisten = \"127.0.0.1:0\"\n\
    [subjects.\"agent:home\"]\ncapabilities = [\"house.greet\", \"house.send\", \"house.lookup\", \"web.fetch\"]\n";

/// A home whose secrets are there.
pub fn home() -> Home {
    let home = Home::with_operator();
    secret(&home, "shared", SECRET);
    secret(&home, "standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    home
}

pub fn secret(home: &Home, name: &str, text: &str) {
    let directory = home.data().join("secrets");
    fs::create_dir_all(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A host that is reached; killed when it is dropped.
pub struct Lab {
    pub home: Home,
    child: Option<Child>,
    pub address: String,
}

impl Lab {
    pub fn new() -> Self {
        Self::of(home(), EVERY)
    }

    pub fn of(home: Home, channels: &str) -> Self {
        home.configure(&format!("{TOP}{channels}"));
        Self::with(home)
    }

    /// As it is configured.
    pub fn with(home: Home) -> Self {
        let mut lab = Self { home, child: None, address: String::new() };
        lab.start();
        lab
    }

    fn start(&mut self) {
        let mut child = self.home.start(&["serve", "--json", "--no-web"]);
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        self.address =
            said["channels"].as_str().unwrap().trim_start_matches("http://").trim_end_matches("/channel/").to_owned();
        self.child = Some(child);
    }

    pub fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Ends it this way, and starts another one on the same directory.
    pub fn again(&mut self, name: &str) {
        self.end(name);
        self.start();
    }

    pub fn end(&mut self, name: &str) -> Ran {
        let child = self.child.take().unwrap();
        signal(&child, name);
        ended(child)
    }

    pub fn send(&self, request: &Request) -> Answer {
        raw(&self.address, &request.bytes(&self.address))
    }

    /// Every entry of the subject's inbox.
    #[track_caller]
    pub fn entries(&self) -> Vec<Value> {
        let (exit, part) = self.home.operate_json(&["inbox", "--subject", "agent:home", "-n", "100"]);
        assert_eq!(exit, 0, "{part}");
        part["entries"].as_array().unwrap().clone()
    }

    /// The texts of those entries.
    #[track_caller]
    pub fn texts(&self) -> Vec<String> {
        let text = |entry: &Value| entry["observation"]["result"]["text"].as_str().unwrap().to_owned();
        self.entries().iter().map(text).collect()
    }

    /// Waits until so many refusals by a rule of a channel are on record.
    #[track_caller]
    pub fn refused(&self, channel: Option<&str>, rule: &str, count: u64) {
        let of = |record: &Value| record["channel"].as_str() == channel && record["rule"] == rule;
        until(&format!("{count} refusals of {channel:?} by {rule}"), || {
            let records = self.home.records_of("channel_refusal");
            let counted: u64 = records.iter().filter(|one| of(one)).map(|one| one["count"].as_u64().unwrap()).sum();
            (counted == count).then_some(())
        });
    }

    /// Every refusal on record, as channel and rule.
    pub fn refusals(&self) -> Vec<(Option<String>, String)> {
        let records = self.home.records_of("channel_refusal");
        let text = |value: &Value| value.as_str().map(str::to_owned);
        records.iter().map(|one| (text(&one["channel"]), text(&one["rule"]).unwrap())).collect()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

pub fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    parts.iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().to_vec()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// One request, which a test may change before it is sent.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn post(channel: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { method: "POST", path: format!("/channel/{channel}"), headers: vec![], body: body.into() }
    }

    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    pub fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.retain(|(key, _)| key != name);
        self.with(name, value)
    }

    pub fn bytes(&self, host: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n", self.body.len());
        [head.as_bytes(), &self.body].concat()
    }
}

pub fn hook(id: &str, text: &str) -> Request {
    Request::post("hook", text).with("Authorization", format!("Bearer {SECRET}")).with("X-Id", id)
}

pub fn signed(body: &str, at: i64) -> Request {
    let at = at.to_string();
    let tag = mac(SECRET.as_bytes(), &[at.as_bytes(), b".", body.as_bytes()]);
    Request::post("signed", body).with("X-Signature", format!("sha256={}", hex(&tag))).with("X-Timestamp", at)
}

pub fn github(body: &str) -> Request {
    let tag = hex(&mac(SECRET.as_bytes(), &[body.as_bytes()]));
    Request::post("code", body)
        .with("X-Hub-Signature-256", format!("sha256={tag}"))
        .with("X-GitHub-Event", "issues")
        .with("X-GitHub-Delivery", "d-1")
        .with("Content-Type", "application/json")
}

pub fn slack(event: &str, user: &str, text: &str) -> Request {
    let inner = serde_json::json!({ "type": "message", "user": user, "channel": "C1", "text": text, "ts": event });
    slack_document(&serde_json::json!({ "type": "event_callback", "event_id": event, "event": inner }))
}

pub fn slack_document(document: &Value) -> Request {
    let (at, body) = (now().to_string(), document.to_string());
    let tag = hex(&mac(SECRET.as_bytes(), &[b"v0:", at.as_bytes(), b":", body.as_bytes()]));
    Request::post("team", body)
        .with("X-Slack-Signature", format!("v0={tag}"))
        .with("X-Slack-Request-Timestamp", at)
        .with("Content-Type", "application/json")
}

pub fn mattermost(post: &str, user: &str, text: &str) -> Request {
    let body =
        serde_json::json!({ "token": SECRET, "user_id": user, "channel_id": "c1", "post_id": post, "text": text });
    Request::post("club", body.to_string()).with("Content-Type", "application/json")
}

pub fn telegram(update: u64, user: i64, text: &str) -> Request {
    let message = serde_json::json!({ "message_id": update, "text": text, "from": { "id": user }, "chat": { "id": -1_001_234_567_890_i64 } });
    let body = serde_json::json!({ "update_id": update, "message": message });
    Request::post("bot", body.to_string())
        .with("X-Telegram-Bot-Api-Secret-Token", SECRET)
        .with("Content-Type", "application/json")
}

pub fn matrix(transaction: &str, events: &Value) -> Request {
    let body = serde_json::json!({ "events": events }).to_string();
    let path = format!("/_matrix/app/v1/transactions/{transaction}");
    Request { method: "PUT", path, headers: vec![], body: body.into() }
        .with("Authorization", format!("Bearer {SECRET}"))
        .with("Content-Type", "application/json")
}

pub fn matrix_event(id: &str, sender: &str, text: &str) -> Value {
    serde_json::json!({ "type": "m.room.message", "event_id": id, "room_id": "!room:home.example", "sender": sender,
        "content": { "msgtype": "m.text", "body": text } })
}
