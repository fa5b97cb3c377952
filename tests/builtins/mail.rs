//! `mail.send`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use capability_core::audit::OutcomeKind;
use capability_core::executor::Effect;
use capability_core::{Code, Stage};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::household::{Household, folder, private, python};
use crate::servers::Server;

/// A real mail server, and a folder with its certificates.
struct MailServer {
    process: Child,
    said: BufReader<ChildStdout>,
    port: u16,
    top: TempDir,
}

impl MailServer {
    fn start(mode: &str) -> Self {
        let top = folder();
        let file = |name: &str, text: &str| {
            private(&top.path().join(name), text);
            top.path().join(name)
        };
        let authority = {
            let mut params = CertificateParams::new(vec![]).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
        };
        let key = KeyPair::generate().unwrap();
        let leaf = CertificateParams::new(vec!["mail.test".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
        file("ca.pem", &authority.pem());
        file("password", "open sesame\n");
        let files = [file("leaf.pem", &leaf.pem()), file("key.pem", &key.serialize_pem())];
        let mut command = Command::new(python());
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/python/mail_server.py")).arg(mode);
        match mode {
            "plain" => command.args(["", ""]),
            _ => command.args(["house", "open sesame"]).args(files),
        };
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        Self { process, said, port: line.trim().parse().unwrap(), top }
    }

    fn config(&self, security: &str) -> String {
        let at = |name: &str| self.top.path().join(name).display().to_string();
        let (ca, password) = (at("ca.pem"), at("password"));
        let tls = format!(
            "ca_file = \"{ca}\"\nserver_name = \"mail.test\"\nuser = \"house\"\npassword_file = \"{password}\"\n"
        );
        format!(
            "{}security = \"{security}\"\n{}",
            config(self.port),
            if security == "none" { "" } else { tls.as_str() }
        )
    }

    /// The next letter that it took.
    fn letter(&mut self) -> Value {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn config(port: u16) -> String {
    format!(
        "[mail]\nserver = \"127.0.0.1:{port}\"\nfrom = \"house@example.org\"\nrecipients = [\"ada@example.org\", \"@lab.example\"]\n"
    )
}

fn letter(to: &str) -> Value {
    json!({ "to": to, "subject": "The cellar, é", "text": "It is wet.\n.\nQUIT\n" })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_is_taken_by_a_real_server_over_each_kind_of_connection() {
    for (mode, security) in [("tls", "tls"), ("starttls", "starttls"), ("plain", "none")] {
        let mut server = MailServer::start(mode);
        let household = Household::open(folder(), &server.config(security)).await;
        let told = household.called("mail.send", &letter("ada@example.org")).await;
        let id = told["message_id"].as_str().unwrap();
        let taken = server.letter();
        assert_eq!(
            (&taken["from"], &taken["to"]),
            (&json!("house@example.org"), &json!(["ada@example.org"])),
            "{mode}"
        );
        let text = taken["text"].as_str().unwrap().replace("\r\n", "\n");
        assert_eq!(text.trim_end(), "It is wet.\n.\nQUIT", "{mode}");
        assert_eq!(taken["encrypted"], security != "none", "{mode}");
        assert_eq!(taken["user"], if security == "none" { "" } else { "house" }, "{mode}");
        let headers: Vec<_> =
            taken["headers"].as_array().unwrap().iter().map(|pair| pair[0].as_str().unwrap().to_lowercase()).collect();
        let header = |name: &str| {
            let at = headers.iter().position(|found| found == name);
            at.map(|at| taken["headers"][at][1].as_str().unwrap().to_owned())
        };
        assert_eq!(header("subject").as_deref(), Some("The cellar, é"), "{mode}");
        assert!(header("message-id").unwrap().contains(id), "{mode}: {id}");
        for other in ["cc", "bcc", "reply-to", "user-agent", "x-mailer"] {
            assert_eq!(header(other), None, "{mode}");
        }
        household.called("mail.send", &letter("anybody@LAB.example")).await;
        assert_eq!(server.letter()["to"], json!(["anybody@LAB.example"]));
        household.remembers_nothing_of(&["ada@example.org", "It is wet", "cellar", "open sesame"]);
        // What waits is kept until it is answered.
        let outcome = household.ask("mail.send", &letter("ada@example.org")).await;
        assert_eq!((outcome.kind(), outcome.stage()), (OutcomeKind::Pending, Stage::Confirm), "{mode}: {outcome:?}");
    }
}

/// A letter goes as it was approved, or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn a_letter_with_a_secret_of_the_host_is_not_sent() {
    let mut server = MailServer::start("tls");
    let household = Household::open(folder(), &server.config("tls")).await;
    for (key, text) in [("text", "it is open sesame.\n"), ("text", "b3BlbiBzZXNhbWU=\n"), ("subject", "open sesame")] {
        let mut letter = letter("ada@example.org");
        letter[key] = json!(text);
        let outcome = household.call("mail.send", &letter).await;
        assert_eq!(outcome.kind(), OutcomeKind::Failed, "{text}: {outcome:?}");
        let message = outcome.message().unwrap_or_default().into_owned();
        assert!(message.starts_with("what would be sent holds a secret of this host"), "{message}");
    }
    household.called("mail.send", &letter("ada@example.org")).await;
    assert_eq!(server.letter()["text"].as_str().map(|text| text.contains("It is wet.")), Some(true), "it is the first");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_in_a_letter_is_a_header_or_a_second_recipient() {
    let server = Server::always("220 hello\r\n");
    let household = Household::open(folder(), &format!("{}security = \"none\"\n", config(server.port()))).await;
    let with = |key: &str, value: &str| {
        let mut letter = letter("ada@example.org");
        letter[key] = json!(value);
        letter
    };
    for bad in [
        with("subject", "a\r\nBcc: eve@example.org"),
        with("subject", "a\nb"),
        with("subject", "a\rb"),
        with("subject", "a\u{85}b"),
        with("subject", "a\u{2028}b"),
        with("text", "a\r\n.\r\nMAIL FROM:<eve@example.org>"),
        with("text", "\u{1b}[2J"),
        with("to", "ada@example.org, eve@example.org"),
        with("to", "ada@example.org\r\nRCPT TO:<eve@example.org>"),
        with("to", "Ada <ada@example.org>"),
        with("to", "ada@example.org> SIZE=1"),
    ] {
        let outcome = household.ask("mail.send", &bad).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(Code::CheckRefused)), "{bad} {outcome:?}");
    }
    for bad in [
        with("subject", ""),
        with("bcc", "eve@example.org"),
        with("headers", "X: y"),
        with("from", "eve@example.org"),
        json!({ "to": ["ada@example.org"], "subject": "a", "text": "b" }),
    ] {
        let outcome = household.ask("mail.send", &bad).await;
        assert_eq!(
            (outcome.stage(), outcome.code()),
            (Stage::Validate, Some(Code::SchemaViolation)),
            "{bad} {outcome:?}"
        );
    }
    // Whoever is not listed is nobody to ask about.
    for to in ["eve@example.org", "ada@lab.example.org", "ada@sub.lab.example", "Ada@example.org"] {
        let outcome = household.ask("mail.send", &letter(to)).await;
        assert_eq!((outcome.stage(), outcome.code()), (Stage::Validate, Some(Code::PrepareFailed)), "{to} {outcome:?}");
        assert!(outcome.message().unwrap().contains("did not list that recipient"), "{to}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_or_a_switch_nothing_is_asked() {
    let outcome = Household::open(folder(), "").await.ask("mail.send", &letter("ada@example.org")).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::MissingRuntimeBinding)), "{outcome:?}");
    let off = Household::closed(folder(), &format!("{}security = \"none\"\n", config(1))).await;
    let outcome = off.ask("mail.send", &letter("ada@example.org")).await;
    assert_eq!((outcome.stage(), outcome.code()), (Stage::Policy, Some(Code::OptInOff)), "{outcome:?}");
}

/// What failed before the letter was on its way has had no effect, and what broke off after it may have had.
#[tokio::test(flavor = "multi_thread")]
async fn what_may_have_been_sent_is_told_apart_from_what_was_not() {
    let server = MailServer::start("starttls");
    let sure = server.config("starttls");
    let wrong_password = server.top.path().join("wrong");
    private(&wrong_password, "open barley\n");
    let password = server.top.path().join("password").display().to_string();
    let nobody = format!("{}security = \"none\"\n", config(1));
    let refusing = MailServer::start("plain");
    for (what, config, to, words, effect) in [
        ("nobody there", nobody, "ada@example.org", "did not answer", Effect::NotStarted),
        (
            "a wrong password",
            sure.replace(&password, &wrong_password.display().to_string()),
            "ada@example.org",
            "configured credential",
            Effect::NotStarted,
        ),
        (
            "a certificate for another name",
            sure.replace("mail.test", "other.test"),
            "ada@example.org",
            "not trusted",
            Effect::NotStarted,
        ),
        (
            "no TLS where there is to be",
            sure.replace(&format!("127.0.0.1:{}", server.port), &format!("127.0.0.1:{}", refusing.port)),
            "ada@example.org",
            "not trusted",
            Effect::NotStarted,
        ),
        (
            "a recipient that is not there",
            sure.clone(),
            "nobody@lab.example",
            "does not take the letter",
            Effect::NotStarted,
        ),
    ] {
        let household = Household::open(folder(), &config).await;
        let outcome = household.call("mail.send", &letter(to)).await;
        assert_eq!((outcome.kind(), outcome.effect()), (OutcomeKind::Failed, effect), "{what}: {outcome:?}");
        let told = outcome.message().unwrap();
        assert!(told.contains(words) && told.contains("\nhelp: ") && !told.contains("canary"), "{what}: {told}");
    }
    // It takes the letter and breaks off before it says so.
    let mut server = refusing;
    let household = Household::open(folder(), &server.config("none")).await;
    let slow = letter("slow@lab.example");
    let (outcome, ()) = tokio::join!(household.call("mail.send", &slow), async {
        tokio::time::sleep(std::time::Duration::from_secs(5)).await;
        server.process.kill().unwrap();
    });
    assert_eq!((outcome.kind(), outcome.effect()), (OutcomeKind::Failed, Effect::Unknown), "{outcome:?}");
    assert!(outcome.message().unwrap().contains("may have been sent"), "{:?}", outcome.message());
}

/// A server that talks without end is cut off.
#[tokio::test(flavor = "multi_thread")]
async fn an_endless_greeting_ends() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let talking = std::thread::spawn(move || {
        use std::io::Write as _;
        let (mut stream, _) = listener.accept().unwrap();
        let mut written = 0_usize;
        while stream.write_all(&[b'x'; 4096]).is_ok() && written < 64 << 20 {
            written += 4096;
        }
        written
    });
    let household = Household::open(folder(), &format!("{}security = \"none\"\n", config(port))).await;
    let outcome = household.call("mail.send", &letter("ada@example.org")).await;
    assert_eq!((outcome.kind(), outcome.effect()), (OutcomeKind::Failed, Effect::NotStarted), "{outcome:?}");
    let written = tokio::task::spawn_blocking(move || talking.join().unwrap()).await.unwrap();
    assert!(written < 64 << 20, "{written}");
}
