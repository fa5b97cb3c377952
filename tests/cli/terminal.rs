//! Somebody at a terminal: what is shown, what is asked, and what each answer does.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::home::{Home, PASSWORD, PATIENCE, until};
use crate::project;

const SEND: &str = r#"invoke house.send '{"to":"the neighbours","text":"come over"}'"#;
const ASKED: &str = "run exactly this, once? [y/N]";

/// A shell on a terminal of its own.
struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    screen: Arc<Mutex<Vec<u8>>>,
    seen: usize,
}

impl Terminal {
    /// Runs a line in which `household` stands for the program.
    fn new(home: &Home, line: &str, environment: &[(&str, &str)]) -> Self {
        let line = line.replace("household ", &format!("{} ", project::household().display()));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env_clear().current_dir(home.top());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("CAPABILITY_DATA_DIR", home.data()).env("SHELL", "/bin/sh").env("TERM", "xterm");
        command.envs(environment.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (keyboard, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let screen = Arc::new(Mutex::new(Vec::new()));
        let shown = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().extend_from_slice(&bytes[..read]);
            }
        });
        Self { child, keyboard, screen, seen: 0 }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).replace("\r\n", "\n")
    }

    /// Waits until this is shown, after what was waited for before.
    fn shows(&mut self, words: &str) -> &mut Self {
        let from = self.seen;
        let end = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            if let Some(at) = text.get(from..).and_then(|text| text.find(words)) {
                self.seen = from + at + words.len();
                return self;
            }
            assert!(Instant::now() < end, "waited in vain for {words:?}: {text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn types(&mut self, keys: &str) -> &mut Self {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
        self.keyboard.flush().unwrap();
        self
    }

    /// Waits for the end: the exit code and everything that was shown.
    fn ends(mut self) -> (i32, String) {
        let exit = until("the end", || self.child.try_wait().unwrap()).code().unwrap();
        let mut length = None;
        until("the last words", || {
            let now = self.screen.lock().unwrap().len();
            (length.replace(now) == Some(now)).then_some(())
        });
        (exit, self.text())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn open_home() -> Home {
    let home = Home::with_operator();
    home.operate(&["optin", "set", "house", "on"]).exits(0);
    home
}

fn last_outcome(home: &Home) -> String {
    home.records_of("outcome").pop().unwrap()["outcome"].as_str().unwrap().to_owned()
}

#[test]
fn the_operator_sees_exactly_what_would_run_and_says_yes() {
    let home = open_home();
    let mut terminal = Terminal::new(&home, &format!("household {SEND} --reason 'they are lonely'"), &[]);
    terminal.shows("operator password: ").types(&format!("{PASSWORD}\n"));
    terminal.shows("house.send@1 asks to run").shows("mutating + external").shows("\"text\": \"come over\"");
    terminal.shows("as claimed by the proposer").shows("they are lonely").shows(ASKED).types("y\n");
    terminal.shows("sent 9 bytes to the neighbours");
    let (exit, text) = terminal.ends();
    assert!(exit == 0 && !text.contains(PASSWORD), "{text}");
    assert_eq!(last_outcome(&home), "executed");
}

#[test]
fn anything_but_yes_is_a_denial() {
    for answer in ["n\n", "\n", "yy\n", "\u{4}"] {
        let home = open_home();
        let mut terminal = Terminal::new(&home, &format!("household {SEND}"), &[]);
        terminal.shows("operator password: ").types(&format!("{PASSWORD}\n"));
        terminal.shows(ASKED).types(answer).shows("denied");
        assert_eq!(terminal.ends().0, 4, "{answer:?}");
        assert_eq!((last_outcome(&home).as_str(), home.records_of("intent").len()), ("denied", 0));
    }
}

#[test]
fn a_wrong_password_leaves_it_pending() {
    let home = open_home();
    let mut terminal = Terminal::new(&home, &format!("household {SEND}"), &[]);
    terminal.shows("operator password: ").types("not the right words\n");
    terminal.shows("that is not the operator password: the call stays pending").shows("approval: ");
    let (exit, text) = terminal.ends();
    assert!(exit == 3 && !text.contains("come over\""), "content without the credential: {text}");
    assert_eq!(home.operate_json(&["approvals", "list"]).1[0]["status"], "pending");
}

/// An open operator session counts at its own terminal, and nowhere else, whoever the host is.
#[test]
fn a_live_session_needs_no_password() {
    live_session(&open_home());
    let home = open_home();
    let _serving = home.serve();
    live_session(&home);
}

fn live_session(home: &Home) {
    let line = format!("household operator login && household {SEND} && household operator logout && household {SEND}");
    let mut terminal = Terminal::new(home, &line, &[]);
    terminal.shows("operator password: ").types(&format!("{PASSWORD}\n")).shows("operator session until");
    terminal.shows(ASKED);
    let mut other = Terminal::new(home, "household approvals list", &[]);
    other.shows("operator password: ").types("\n");
    assert_eq!(other.ends().0, 4);
    terminal.types("y\n").shows("sent 9 bytes").shows("every operator session is ended");
    terminal.shows("operator password: ").types("not the right words\n");
    assert_eq!(terminal.ends().0, 3);
}

#[test]
fn setup_asks_twice() {
    let home = Home::new();
    let mut terminal = Terminal::new(&home, "household operator setup", &[]);
    terminal.shows("new operator password: ").types(&format!("{PASSWORD}\n"));
    terminal.shows("the same again: ").types("something else\n").shows("the two passwords differ");
    assert_eq!(terminal.ends().0, 2);
    let mut terminal = Terminal::new(&home, "household operator setup", &[]);
    terminal.shows("new operator password: ").types(&format!("{PASSWORD}\n"));
    terminal.shows("the same again: ").types(&format!("{PASSWORD}\n")).shows("the operator password is set");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn nothing_hides_from_whoever_answers() {
    let home = open_home();
    let text = "pay\u{202e}001\u{200b}\u{1b}[2K\u{9b}2J\u{e0041}";
    let arguments = json!({ "to": "bank", "text": text }).to_string();
    let line = format!("household invoke house.send '{arguments}' --reason '{text}'");
    let mut terminal = Terminal::new(&home, &line, &[("NO_COLOR", "1")]);
    terminal.shows("operator password: ").types(&format!("{PASSWORD}\n")).shows(ASKED);
    let shown = terminal.text();
    for hidden in ['\u{202e}', '\u{200b}', '\u{1b}', '\u{9b}', '\u{e0041}'] {
        assert!(!shown.contains(hidden), "{hidden:?} in {shown:?}");
    }
    for written in ["\\u{202E}001\\u{200B}", "\\u{E0041}", "\\u{1B}[2K"] {
        assert!(shown.contains(written), "no {written} in {shown}");
    }
    terminal.types("n\n");
    assert_eq!(terminal.ends().0, 4);
}

/// One key is too quick for what does not read as what it is.
#[test]
fn what_hides_is_asked_about_twice() {
    for (second, exit) in [("n\n", 4), ("y\n", 0)] {
        let home = open_home();
        let arguments = json!({ "to": "b\u{430}nk", "text": "come over" }).to_string();
        let mut terminal = Terminal::new(&home, &format!("household invoke house.send '{arguments}'"), &[]);
        terminal
            .shows("operator password: ")
            .types(&format!("{PASSWORD}\n"))
            .shows("\\u{430}")
            .shows(ASKED)
            .types("y\n");
        terminal.shows("hide or look like others").shows("run it all the same? [y/N]").types(second);
        assert_eq!(terminal.ends().0, exit);
    }
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let home = Home::new();
    let doctor = "household doctor";
    assert!(Terminal::new(&home, doctor, &[]).ends().1.contains('\u{1b}'));
    for (line, environment) in [
        (doctor, &[("NO_COLOR", "1")][..]),
        (doctor, &[("TERM", "dumb")]),
        ("household doctor | cat", &[]),
        ("household doctor --json", &[]),
    ] {
        let (_, text) = Terminal::new(&home, line, environment).ends();
        assert!(text.contains("audit log") && !text.contains('\u{1b}'), "{line} {environment:?}: {text:?}");
    }
    assert!(!home.run(&["doctor"]).out.contains('\u{1b}'));
}

/// `--json` is for programs: a terminal is not asked.
#[test]
fn a_program_at_a_terminal_is_not_asked() {
    let home = open_home();
    let (exit, text) = Terminal::new(&home, &format!("household {SEND} --json"), &[]).ends();
    assert!(exit == 3 && !text.contains("password"), "{text}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["outcome"], "pending");
}

/// An interrupt ends every question, and the terminal echoes again.
#[test]
fn an_interrupt_ends_the_question() {
    let home = open_home();
    let line = format!("trap : INT; household {SEND}; echo \"exit $?\"; stty -a | grep -o ' -*echo '");
    let mut terminal = Terminal::new(&home, &line, &[]);
    terminal.shows("operator password: ").types("\u{3}").shows("exit 130").shows(" echo ");
    terminal.ends();
    let mut terminal = Terminal::new(&home, &line, &[]);
    terminal.shows("operator password: ").types(&format!("{PASSWORD}\n"));
    terminal.shows(ASKED).types("\u{3}").shows("exit 130").shows(" echo ");
    terminal.ends();
    let waiting = home.operate_json(&["approvals", "list"]).1;
    assert!(waiting.as_array().unwrap().iter().all(|one| one["status"] == "pending"), "{waiting}");
    assert_eq!(waiting.as_array().unwrap().len(), 2);
}
