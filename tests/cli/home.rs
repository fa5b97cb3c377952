//! A data directory of its own for every test, and the commands that are run on it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::project;

pub const PASSWORD: &str = "four plain words here";

/// How long anything may take that is waited for.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Looks again and again until it is so.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What a command left.
#[derive(Debug)]
pub struct Ran {
    pub exit: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The exit code is this one; gives the run back.
    #[track_caller]
    pub fn exits(self, exit: i32) -> Self {
        assert_eq!(self.exit, exit, "{self:#?}");
        self
    }

    /// Standard output and standard error together hold these words.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.out.contains(word) || self.err.contains(word), "no {word:?} in {self:#?}");
        }
        self
    }

    /// Exactly one JSON document on standard output, and nothing on standard error.
    #[track_caller]
    pub fn document(&self) -> Value {
        assert!(self.err.lines().all(is_told_on_request), "{self:#?}");
        let mut documents = serde_json::Deserializer::from_str(&self.out).into_iter::<Value>();
        let document = documents.next().unwrap_or_else(|| panic!("no document: {self:#?}"));
        assert!(documents.next().is_none(), "more than one document: {self:#?}");
        document.unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// A line that only a program which was asked to tell more than warnings writes.
pub fn is_told_on_request(line: &str) -> bool {
    [" INFO capability_host", "DEBUG capability_host", "TRACE capability_host"].iter().any(|level| line.contains(level))
}

/// A data directory, and the program that works on it.
pub struct Home {
    top: TempDir,
    program: PathBuf,
    log: &'static str,
}

impl Home {
    /// Of the household.
    pub fn new() -> Self {
        Self::of(project::household())
    }

    pub fn of(program: &Path) -> Self {
        Self { top: tempfile::tempdir().unwrap(), program: program.to_owned(), log: "" }
    }

    /// Whose program tells all there is to tell.
    pub fn talkative() -> Self {
        Self { log: "trace", ..Self::new() }
    }

    /// With an operator password and a token of an open session.
    pub fn with_operator() -> Self {
        let home = Self::new();
        home.setup();
        home.login();
        home
    }

    pub fn setup(&self) {
        self.run_with(&["operator", "setup", "--password-stdin"], PASSWORD).exits(0);
    }

    pub fn login(&self) {
        let token = self.token();
        let words = ["operator", "login", "--password-stdin", "--token-file", token.to_str().unwrap()];
        self.run_with(&words, PASSWORD).exits(0);
    }

    pub fn top(&self) -> &Path {
        self.top.path()
    }

    pub fn data(&self) -> PathBuf {
        self.top.path().join("data")
    }

    pub fn log(&self) -> PathBuf {
        self.data().join("audit/seg-00000000000000000001.jsonl")
    }

    pub fn token(&self) -> PathBuf {
        self.top.path().join("token")
    }

    /// The configuration file, closed to everybody else.
    /// Writes a subject's own manifest.
    pub fn manifest(&self, subject: &str, text: &str) {
        let dir = self.data().join("subjects").join(subject);
        fs::create_dir_all(&dir).unwrap();
        for dir in [dir.as_path(), dir.parent().unwrap(), &self.data()] {
            fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let file = dir.join("agent.yaml");
        fs::write(&file, text).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub fn configure(&self, text: &str) {
        fs::create_dir_all(self.data()).unwrap();
        fs::set_permissions(self.data(), fs::Permissions::from_mode(0o700)).unwrap();
        let path = self.data().join("config.toml");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// A command on this directory, from an empty environment.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).env_clear().current_dir(self.top.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("CAPABILITY_DATA_DIR", self.data()).env("RUST_LOG", "trace").env("HOME", self.top.path());
        command.env("CAPABILITY_LOG", self.log);
        command
    }

    pub fn start(&self, words: &[&str]) -> Child {
        self.command(words).spawn().unwrap()
    }

    pub fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, "")
    }

    pub fn run_with(&self, words: &[&str], input: &str) -> Ran {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().unwrap();
        // A command that reads nothing may be gone before it is written to.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        ended(child)
    }

    /// Run with `--json`: the exit code and the one document.
    #[track_caller]
    pub fn json(&self, words: &[&str]) -> (i32, Value) {
        let ran = self.run(&[words, &["--json"]].concat());
        (ran.exit, ran.document())
    }

    /// Run with the operator's token.
    pub fn operate(&self, words: &[&str]) -> Ran {
        let token = self.token();
        self.run(&[words, &["--operator-token-file", token.to_str().unwrap()]].concat())
    }

    /// As an operator, and with `--json`.
    #[track_caller]
    pub fn operate_json(&self, words: &[&str]) -> (i32, Value) {
        let token = self.token();
        self.json(&[words, &["--operator-token-file", token.to_str().unwrap()]].concat())
    }

    /// Asks for what needs an answer, and gives the approval id.
    #[track_caller]
    pub fn pending(&self, words: &[&str]) -> String {
        let (exit, outcome) = self.json(&[&["invoke"], words].concat());
        assert_eq!(exit, 3, "{outcome}");
        outcome["approval"]["id"].as_str().unwrap().to_owned()
    }

    /// A host that serves in the background.
    pub fn serve(&self) -> Serving {
        let child = self.start(&["serve", "--no-web"]);
        let serving = Serving { child: Some(child) };
        until("the socket", || std::os::unix::net::UnixStream::connect(self.data().join("host.sock")).ok());
        serving
    }

    /// Every record of the log.
    pub fn records(&self) -> Vec<Value> {
        let files = fs::read_dir(self.data().join("audit")).into_iter().flatten().filter_map(Result::ok);
        let mut segments: Vec<_> =
            files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
        segments.sort();
        let text: String = segments.iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Every record of one kind.
    pub fn records_of(&self, event: &str) -> Vec<Value> {
        self.records().into_iter().filter(|record| record["event"] == event).collect()
    }
}

/// Waits for the end of a command.
pub fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status).map(|signal| -signal);
    Ran { exit: output.status.code().or(signal).unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).status().unwrap();
    assert!(sent.success());
}

/// A host in the background; killed when it is dropped.
pub struct Serving {
    child: Option<Child>,
}

impl Serving {
    pub fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Sends a signal and waits for the end.
    pub fn end(self, name: &str) -> Ran {
        self.end_by(|child| signal(child, name))
    }

    /// Does something that ends it and waits for the end.
    pub fn end_by(mut self, doing: impl FnOnce(&Child)) -> Ran {
        doing(self.child.as_ref().unwrap());
        ended(self.child.take().unwrap())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Every file below a directory, with its mode.
pub fn files_below(directory: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        found.push((path.clone(), metadata.permissions().mode() & 0o7777));
        if metadata.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found
}
