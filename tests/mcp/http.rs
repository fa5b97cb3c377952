//! The same over HTTP: who gets in, and to what.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::home::{Home, signal, until};
use crate::people;
use crate::program::{fact, names_itself, ran, runs, waits};
use crate::project;

/// The skill that a suite finds a prompt in, by the name it has for clients of this host.
const PROMPT: &str = "test-simple_prompt";

/// The household with tools of a conformance suite's names.
fn suite() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let project = project::Project::new("suite-household", "", "");
        let suite = include_str!("../fixtures/mcp/suite.rs");
        project.write("src/main.rs", &format!("{}\n{suite}", project::HOUSEHOLD));
        project.build()
    })
}

/// A host that speaks MCP over HTTP.
pub struct Listening {
    pub home: Home,
    child: Child,
    pub port: u16,
}

impl Listening {
    pub fn new() -> Self {
        Self::of(Home::new())
    }

    /// One with the tools that the conformance suites ask for, as far as this host has anything to show for them.
    pub fn suite() -> Self {
        Self::with(Home::of(suite()), true)
    }

    fn of(home: Home) -> Self {
        Self::with(home, false)
    }

    fn with(home: Home, is_suite: bool) -> Self {
        let home = people::set_up(home);
        let configured = std::fs::read_to_string(home.data().join("config.toml")).unwrap();
        let more = "[subjects.ben]\ncapabilities = [\"house.greet\", \"house.think\", \"self.introspect\"]\n";
        let listening = "[mcp]\nlisten = \"127.0.0.1:0\"\nhosts = [\"mcp.home\"]\npatience = \"20s\"\n";
        let suited = if is_suite { Self::suit(&home, &configured) } else { configured };
        home.configure(&format!("{}{more}", suited.replace("[mcp]\n", listening)));
        if is_suite {
            home.operate(&["skills", "accept", PROMPT]).exits(0);
        }
        let mut child = home.command(&["serve", "--no-web", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let mut said = Vec::new();
        while !said.ends_with(b"\n") {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            said.extend(byte);
        }
        let said: Value = serde_json::from_slice(&said).unwrap();
        let address = said["mcp"].as_str().unwrap_or_else(|| panic!("{said}"));
        let port = address.strip_prefix("http://127.0.0.1:").unwrap().strip_suffix("/mcp").unwrap().parse().unwrap();
        Self { home, child, port }
    }

    /// Declares what a suite calls by names of its own, and lays a skill beside the data directory: a prompt, and a resource.
    fn suit(home: &Home, configured: &str) -> String {
        let folder = home.top().join("skills");
        let skill = folder.join(PROMPT);
        std::fs::create_dir_all(&skill).unwrap();
        std::fs::write(skill.join("SKILL.md"), "This is a simple prompt for testing.").unwrap();
        std::fs::write(skill.join("text.md"), "This is the content of the static text resource.").unwrap();
        let manifest = format!(
            "name = \"{PROMPT}\"\nversion = \"1.0.0\"\ndescription = \"Says something.\"\nresources = [\"text.md\"]\n\
             compatible = {{ from = \"0.1.0\", before = \"1.0.0\" }}\n[[tool]]\ncapability = \"house.greet\"\nversion = 1\n"
        );
        std::fs::write(skill.join("skill.toml"), manifest).unwrap();
        let suite = include_str!("../fixtures/mcp/suite.rs");
        let named = suite.split("(name = ").skip(1).filter_map(|rest| rest.split(',').next());
        let declared = named.fold("\"house.count\"".to_owned(), |all, one| format!("{all}, {one}"));
        format!("{}[skills]\nfolder = {folder:?}\n", configured.replace("\"house.count\"", &declared))
    }

    /// Ends it, and gives what it said on standard error.
    fn end(mut self) -> String {
        signal(&self.child, "TERM");
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }

    /// A client's token.
    pub fn token(&self, name: &str, subject: &str) -> String {
        std::fs::read_to_string(people::client(&self.home, name, subject)).unwrap().trim().to_owned()
    }

    pub fn client(&self, token: &str) -> Http {
        Http { port: self.port, headers: vec![("Authorization".into(), format!("Bearer {token}"))], next: 1 }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client by hand, one connection a request.
pub struct Http {
    port: u16,
    pub headers: Vec<(String, String)>,
    next: u64,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    /// The one message in it, whichever way it was sent.
    #[track_caller]
    pub fn message(&self) -> Value {
        let mut stream = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .map(str::trim)
            .filter(|data| !data.is_empty());
        let text = stream.next_back().unwrap_or_else(|| self.body.trim());
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

const NEWER: [(&str, &str); 1] = [("MCP-Protocol-Version", "2026-07-28")];

impl Http {
    pub fn with(&self, headers: &[(&str, &str)]) -> Self {
        let mut own = self.headers.clone();
        own.retain(|(key, _)| !headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(key)));
        own.extend(
            headers.iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| ((*key).into(), (*value).into())),
        );
        Self { port: self.port, headers: own, next: self.next }
    }

    pub fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let host = format!("127.0.0.1:{}", self.port);
        let default = [
            ("Host", host.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let mut head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
        for (key, value) in
            default.iter().filter(|(key, _)| !self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(key)))
        {
            head += &format!("{key}: {value}\r\n");
        }
        for (key, value) in &self.headers {
            head += &format!("{key}: {value}\r\n");
        }
        let _ = stream.write_all(&[head.as_bytes(), b"\r\n", body].concat());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        names_itself(body);
        Answer { status, head: head.to_owned(), body: if chunked { unchunked(body) } else { body.to_owned() } }
    }

    /// The same, answered while it goes on.
    pub fn begin(&self, message: &Value) -> Ongoing {
        let body = message.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let headers: String = self.headers.iter().map(|(key, value)| format!("{key}: {value}\r\n")).collect();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
        Ongoing { stream, seen: String::new() }
    }

    pub fn post(&self, message: &Value) -> Answer {
        self.send("POST", "/mcp", message.to_string().as_bytes())
    }

    /// A call of the newer age, which needs nothing before it.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        self.call_with(tool, json!({ "arguments": arguments }), &json!({}))
    }

    /// The same with more in it, by a client that can do these things.
    fn call_with(&mut self, tool: &str, mut params: Value, capabilities: &Value) -> Answer {
        let id = self.next;
        self.next += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "by-hand", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        params["name"] = json!(tool);
        let headers = [NEWER[0], ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
        self.with(&headers).post(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    }

    /// Opens a session of the older age, and gives whoever speaks in it.
    pub fn session(&self) -> Self {
        self.session_with(&json!({}))
    }

    fn session_with(&self, capabilities: &Value) -> Self {
        let client = json!({ "name": "by-hand", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
        let answer = self.post(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }));
        let session = answer.header("mcp-session-id").unwrap_or_else(|| panic!("{answer:#?}")).to_owned();
        let own = self.with(&[("Mcp-Session-Id", &session), ("MCP-Protocol-Version", "2025-11-25")]);
        assert_eq!(own.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).status, 202);
        own
    }
}

/// A request that goes on while others are answered: what comes is read as it comes.
pub struct Ongoing {
    stream: TcpStream,
    seen: String,
}

impl Ongoing {
    /// Reads until that has come.
    #[track_caller]
    pub fn until(&mut self, word: &str) -> &str {
        let mut buffer = [0; 4096];
        while !self.seen.contains(word) {
            let read = self.stream.read(&mut buffer).unwrap();
            assert!(read > 0, "`{word}` comes: {}", self.seen);
            self.seen += &String::from_utf8_lossy(&buffer[..read]);
        }
        &self.seen
    }

    /// The message in an event that holds this word.
    #[track_caller]
    pub fn event(&mut self, word: &str) -> Value {
        self.until(word);
        let event = |seen: &str| {
            let line = seen.lines().find(|line| line.contains(word))?;
            serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()
        };
        loop {
            if let Some(message) = event(&self.seen) {
                return message;
            }
            let mut buffer = [0; 4096];
            let read = self.stream.read(&mut buffer).unwrap();
            assert!(read > 0, "an event with `{word}` comes whole: {}", self.seen);
            self.seen += &String::from_utf8_lossy(&buffer[..read]);
        }
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let Some(chunk) = rest.get(..size).filter(|_| size > 0) else { break };
        whole += chunk;
        body = rest.get(size + 2..).unwrap_or("");
    }
    whole
}

pub fn older_call(id: u64, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
}

#[test]
fn both_ages_call_with_a_token_and_nobody_calls_without() {
    let host = Listening::new();
    let token = host.token("desktop", "anna");
    let mut anna = host.client(&token);
    ran(&anna.call("house-greet", json!({ "name": "a" })).message()["result"]);
    let session = anna.session();
    ran(&session.post(&older_call(2, "house-greet", json!({ "name": "a" }))).message()["result"]);
    assert_eq!(session.send("DELETE", "/mcp", b"").status, 202);
    assert_eq!(session.post(&older_call(3, "house-greet", json!({ "name": "a" }))).status, 404);

    let wrong = format!("{}{}", &token[..63], if token.ends_with('0') { '1' } else { '0' });
    for header in [
        "",
        "Bearer ",
        "Bearer x",
        &token,
        &format!("Basic {token}"),
        &format!("Bearer {wrong}"),
        &format!("bearer {token}x"),
    ] {
        for (method, path) in [("POST", "/mcp"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/"), ("OPTIONS", "/mcp")]
        {
            let refused = anna.with(&[("Authorization", header)]).send(method, path, b"{}");
            assert_eq!(
                (refused.status, refused.header("www-authenticate")),
                (401, Some("Bearer")),
                "{header} {refused:#?}"
            );
            assert!(refused.body.contains("`household mcp token create`"), "{refused:#?}");
        }
    }
    // An operator's token is another thing.
    let operator = std::fs::read_to_string(host.home.token()).unwrap();
    assert_eq!(
        anna.with(&[("Authorization", &format!("Bearer {}", operator.trim()))]).send("POST", "/mcp", b"{}").status,
        401
    );
    host.home.operate(&["mcp", "token", "revoke", "desktop"]).exits(0);
    assert_eq!(anna.call("house-greet", json!({ "name": "a" })).status, 401);
    assert_eq!(runs(&host.home, "house.greet"), 2);
}

#[test]
fn a_page_of_somebody_else_and_another_name_get_nowhere() {
    let host = Listening::new();
    let mut anna = host.client(&host.token("desktop", "anna"));
    let own = format!("127.0.0.1:{}", host.port);
    let evil = format!("evil.example:{}", host.port);
    for (name, origin, status) in [
        (own.as_str(), "", 200),
        ("mcp.home", "", 200),
        (&own, &format!("http://{own}"), 200),
        (&evil, "", 403),
        ("127.0.0.1", "", 403),
        (&own, "http://evil.example", 403),
        (&own, "null", 403),
        (&own, "http://127.0.0.1:1", 403),
    ] {
        let mut asked = anna.with(&[("Host", name), ("Origin", origin)]);
        assert_eq!(asked.call("house-greet", json!({ "name": "a" })).status, status, "{name} {origin}");
    }
    assert_eq!(anna.with(&[]).send("POST", "/other", b"{}").status, 404);
    anna.headers.push(("Host".into(), own.clone()));
    anna.headers.push(("Host".into(), own));
    assert_ne!(anna.call("house-greet", json!({ "name": "a" })).status, 200);
}

#[test]
fn one_clients_session_is_no_other_clients() {
    let host = Listening::new();
    let (anna, ben) = (host.client(&host.token("desktop", "anna")), host.client(&host.token("phone", "ben")));
    let session = anna.session();
    let id = session.headers.iter().find(|(key, _)| key == "Mcp-Session-Id").unwrap().1.clone();
    let stolen = ben.with(&[("Mcp-Session-Id", &id), ("MCP-Protocol-Version", "2025-11-25")]);
    assert_eq!(stolen.post(&older_call(2, "house-greet", json!({ "name": "a" }))).status, 404);
    assert_eq!(stolen.send("GET", "/mcp", b"").status, 404);
    assert_eq!(stolen.send("DELETE", "/mcp", b"").status, 404);
    ran(&session.post(&older_call(3, "house-greet", json!({ "name": "a" }))).message()["result"]);
    // What one client holds open is bounded: the first of many ends.
    let many: Vec<_> = (0..16).map(|_| anna.session()).collect();
    assert_eq!(session.post(&older_call(4, "house-greet", json!({ "name": "a" }))).status, 404);
    ran(&many[15].post(&older_call(5, "house-greet", json!({ "name": "a" }))).message()["result"]);
}

#[test]
fn a_session_that_a_client_closed_counts_no_more_among_those_that_it_has_open() {
    let host = Listening::new();
    let anna = host.client(&host.token("desktop", "anna"));
    let first = anna.session();
    for _ in 0..20 {
        assert_eq!(anna.session().send("DELETE", "/mcp", b"").status, 202);
    }
    ran(&first.post(&older_call(1, "house-greet", json!({ "name": "a" }))).message()["result"]);
}

/// A request goes on when its client hangs up. Another one of its id could be given its answer, or be called off in its place.
#[test]
fn an_id_is_taken_until_its_request_is_over_whether_or_not_anybody_listens() {
    let host = Listening::new();
    let session = host.client(&host.token("phone", "ben")).session();
    let mut going = session.begin(&older_call(7, "house-think", json!({ "ms": 50_000 })));
    going.until("\r\n\r\n");
    drop(going);
    let again = older_call(7, "house-greet", json!({ "name": "a" }));
    for _ in 0..10 {
        // Long enough that the host has seen its client go.
        std::thread::sleep(Duration::from_millis(50));
        let refused = session.post(&again);
        assert_eq!((refused.status, &refused.message()["error"]["code"]), (400, &json!(-32600)), "{refused:#?}");
    }
    // Any other id is free, and so is this one once its request has been called off.
    ran(&session.post(&older_call(8, "house-greet", json!({ "name": "a" }))).message()["result"]);
    let called_off = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    assert_eq!(session.post(&called_off).status, 202);
    let answer = until("the end of the first", || Some(session.post(&again)).filter(|answer| answer.status == 200));
    assert_eq!(answer.message()["id"], 7);
    ran(&answer.message()["result"]);
}

#[test]
fn what_is_wrong_with_a_message_is_answered_here_too() {
    let host = Listening::new();
    let mut anna = host.client(&host.token("desktop", "anna"));
    for (body, code) in
        [(&b"not json"[..], -32700), (b"[]", -32600), (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, -32602)]
    {
        let answer = anna.send("POST", "/mcp", body);
        assert_eq!((answer.status, &answer.message()["error"]["code"]), (400, &json!(code)), "{answer:#?}");
    }
    assert_eq!(anna.send("POST", "/mcp", &vec![b' '; 9 * 1024 * 1024]).status, 413);
    for (arguments, code) in [(json!([1]), "not_an_object"), (json!({ "name": 1 }), "schema_violation")] {
        let refused = anna.call("house-greet", arguments).message();
        assert_eq!(fact(&refused["result"], "code"), code, "{refused}");
    }
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"house-greet","arguments":{"name":"a","name":"b"}}}"#;
    let refused = anna.session().send("POST", "/mcp", twice.as_bytes()).message();
    assert_eq!(fact(&refused["result"], "code"), "duplicate_key", "{refused}");
    waits(&anna.call("house-count", json!({ "by": 1 })).message()["result"]);
}

#[test]
fn a_client_that_hangs_up_takes_its_call_along() {
    let host = Listening::new();
    let token = host.token("phone", "ben");
    let port = host.port;
    let caller = std::thread::spawn({
        let mut ben = host.client(&token);
        move || {
            // Gone after a moment.
            let _ =
                std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| ben.call("house-think", json!({ "ms": 1 }))));
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "by-hand", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let params = json!({ "_meta": meta, "name": "house-think", "arguments": { "ms": 50_000 } });
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
                 Mcp-Name: house-think\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    caller.join().unwrap();
    until("its end on record", || {
        host.home.records_of("outcome").iter().any(|record| record["outcome"] == "cancelled").then_some(())
    });
}

/// An answer in two writes waits 40 ms for the client's acknowledgement where small writes are held back: every single one.
#[test]
fn no_answer_is_held_back_until_the_one_before_is_acknowledged() {
    let host = Listening::new();
    let session = host.client(&host.token("desktop", "anna")).session();
    let mut stream = TcpStream::connect(("127.0.0.1", host.port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let headers: String = session.headers.iter().map(|(key, value)| format!("{key}: {value}\r\n")).collect();
    let mut fastest = Duration::MAX;
    for id in 1..=20 {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             {headers}Content-Length: {}\r\n\r\n",
            host.port,
            body.len()
        );
        let began = Instant::now();
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
        let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
        while !seen.ends_with(b"0\r\n\r\n") {
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "the connection stays open: {}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&buffer[..read]);
        }
        assert!(String::from_utf8_lossy(&seen).contains("\"result\""));
        fastest = fastest.min(began.elapsed());
    }
    assert!(fastest < Duration::from_millis(30), "the fastest of twenty took {fastest:?}");
}

#[test]
fn no_token_and_no_word_of_a_call_is_in_what_the_host_says() {
    let host = Listening::of(Home::talkative());
    let token = host.token("desktop", "anna");
    let mut anna = host.client(&token);
    anna.call("house-greet", json!({ "name": "canary-word" }));
    anna.with(&[("Authorization", "Bearer canary-token")]).call("house-greet", json!({}));
    anna.with(&[("Host", "canary-host"), ("Origin", "http://canary-origin")]).call("canary-tool", json!({}));
    anna.call("canary-tool", json!({}));
    for file in std::fs::read_dir(host.home.data().join("audit")).unwrap().map(|file| file.unwrap().path()) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains("canary") && !text.contains(&token), "{}", file.display());
    }
    let clients = std::fs::read_to_string(host.home.data().join("clients")).unwrap();
    assert!(!clients.contains(&token), "a hash is kept");
    let said = host.end();
    assert!(said.contains("capability_host::mcp"), "it says something: {said}");
    assert!(!said.contains("canary") && !said.contains(&token), "{said}");
}

/// Longer than it takes to read what is asked.
const READ: Duration = Duration::from_millis(1200);

/// The person at a client that is reached over HTTP is asked in both ages, and what they say counts where an operator said so.
#[test]
fn a_person_is_asked_over_http_in_both_ages() {
    let host = Listening::new();
    let forms = json!({ "elicitation": { "form": {} } });
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    let token = host.token("desktop", "anna");

    let mut newer = host.client(&token);
    let call = json!({ "arguments": { "by": 1 } });
    let asked = newer.call_with("house-count", call.clone(), &forms).message()["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["confirmation"];
    assert_eq!(question["method"], "elicitation/create", "{asked}");
    assert!(question["params"]["message"].as_str().unwrap().contains("house.count@1"), "{asked}");
    std::thread::sleep(READ);
    let mut again = call;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] = json!({ "confirmation": yes });
    let done = newer.call_with("house-count", again.clone(), &forms).message();
    ran(&done["result"]);
    // What was sealed for one call is nothing for another, and nothing once it was used.
    again["arguments"]["by"] = json!(2);
    assert_eq!(newer.call_with("house-count", again, &forms).message()["error"]["code"], -32602);
    // Nobody is asked by a client that cannot.
    waits(&newer.call("house-count", json!({ "by": 3 })).message()["result"]);

    let older = host.client(&token).session_with(&forms);
    let mut going = older.begin(&older_call(2, "house-count", json!({ "by": 4 })));
    let question = going.event("elicitation/create");
    assert!(question["params"]["message"].as_str().unwrap().contains("house.count@1"), "{question}");
    std::thread::sleep(READ);
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes });
    assert_eq!(older.post(&answer).status, 202);
    ran(&going.event("capability-host/outcome")["result"]);
    assert_eq!(runs(&host.home, "house.count"), 2);
}
