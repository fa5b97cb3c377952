//! A program that starts a host and speaks MCP with it, line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{Home, PATIENCE, Ran, ended, signal};

/// Which of the protocol's two ages a program speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// With `initialize`.
    Older,
    /// With everything in each request.
    Newer,
}

pub const BOTH: [Age; 2] = [Age::Older, Age::Newer];

const NEWER: &str = "2026-07-28";

/// A home whose programs are shown everything that is compiled in: what is tested elsewhere is which tools are.
pub fn listing(home: Home) -> Home {
    home.configure("[mcp]\nlist = \"all\"\n");
    home
}

pub struct Program {
    child: Option<Child>,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    age: Age,
    capabilities: Value,
    next: u64,
}

impl Program {
    /// Without anything that a person could be asked by.
    pub fn plain(home: &Home, age: Age) -> Self {
        Self::start(home, age, json!({}), &[])
    }

    /// With what it declares, and further words on the command line.
    pub fn start(home: &Home, age: Age, capabilities: Value, words: &[&str]) -> Self {
        let words = [&["mcp", "--no-web"], words].concat();
        let mut child = home.command(&words).stdin(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut program = Self { child: Some(child), input, lines, age, capabilities, next: 1 };
        if age == Age::Older {
            let client = json!({ "name": "by-hand", "version": "1" });
            let hello =
                json!({ "protocolVersion": "2025-11-25", "capabilities": program.capabilities, "clientInfo": client });
            let hello = program.request("initialize", hello);
            assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
            program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        program
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.raw(message.to_string().as_bytes());
    }

    /// Whatever comes next.
    #[track_caller]
    pub fn receive(&self) -> Value {
        let message = self.lines.recv_timeout(PATIENCE).expect("an answer comes");
        names_itself(&message.to_string());
        message
    }

    /// Has it end as a system does that shuts down, and waits for its end.
    pub fn interrupt(mut self) -> Ran {
        let child = self.child.take().unwrap();
        signal(&child, "TERM");
        ended(child)
    }

    /// Whether nothing comes for so long.
    pub fn is_silent(&self, span: Duration) -> bool {
        matches!(self.lines.recv_timeout(span), Err(RecvTimeoutError::Timeout))
    }

    /// Sends a request and gives its id.
    pub fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if self.age == Age::Newer {
            params["_meta"] = self.meta();
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// What each request of the newer age carries.
    pub fn meta(&self) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": NEWER,
            "io.modelcontextprotocol/clientInfo": { "name": "by-hand", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        })
    }

    /// A request and its answer.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].take()
    }

    /// A call with arguments as they are written.
    #[track_caller]
    pub fn call_raw(&mut self, tool: &str, arguments: &str) -> Value {
        let id = self.next;
        self.next += 1;
        let meta = if self.age == Age::Newer { format!(r#""_meta":{},"#, self.meta()) } else { String::new() };
        let params = format!(r#"{{{meta}"name":"{tool}","arguments":{arguments}}}"#);
        self.raw(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#).as_bytes());
        let mut answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].take()
    }

    #[track_caller]
    pub fn tools(&mut self) -> Vec<Value> {
        self.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
    }

    /// Closes its side and waits for the host's.
    pub fn end(mut self) -> Ran {
        drop(self.input.take());
        ended(self.child.take().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Every command in what a client is told is one of the author's own program, whatever the test is about.
#[track_caller]
pub fn names_itself(told: &str) {
    assert!(!told.contains("`capability "), "no program of that name is there: {told}");
}

/// A fact of ours about a result.
pub fn fact<'r>(result: &'r Value, name: &str) -> &'r Value {
    &result["_meta"][format!("capability-host/{name}")]
}

/// The words of a result.
pub fn words(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap_or_else(|| panic!("no content: {result}"));
    blocks.iter().map(|block| block["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// That it ran.
#[track_caller]
pub fn ran(result: &Value) {
    assert_eq!((fact(result, "outcome"), &result["isError"]), (&json!("executed"), &json!(false)), "{result}");
}

/// That it waits for a person and did nothing; gives the approval's id.
#[track_caller]
pub fn waits(result: &Value) -> String {
    assert_eq!((fact(result, "outcome"), &result["isError"]), (&json!("pending"), &json!(true)), "{result}");
    assert_eq!(fact(result, "effect"), "not_started", "{result}");
    assert_eq!(result["structuredContent"], Value::Null, "{result}");
    fact(result, "approval")["id"].as_str().unwrap().to_owned()
}

/// How often a capability ran to its end.
pub fn runs(home: &Home, capability: &str) -> usize {
    let ran = |record: &&Value| record["capability"] == capability && record["outcome"] == "executed";
    home.records_of("outcome").iter().filter(ran).count()
}
