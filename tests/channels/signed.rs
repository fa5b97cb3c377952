//! Mail whose signature is checked here, by keys that a name server of a test publishes.

use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};

use base64ct::{Base64, Encoding as _};
use mail_auth::common::crypto::Ed25519Key;
use mail_auth::common::headers::HeaderWriter as _;
use mail_auth::dkim::DkimSigner;

use crate::home::Ran;
use crate::lab::{Lab, home};

const DOMAIN: &str = "home.example";

/// What the name server says to a question for a text.
#[derive(Clone)]
enum Says {
    Text(String),
    NoSuchName,
    Nothing,
}

/// A name server, and what it was asked.
struct Names {
    at: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Names {
    fn start(says: impl Fn(&str) -> Says + Send + 'static) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (at, asked) = (socket.local_addr().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut packet = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut packet) {
                let (name, end) = question(&packet[..length]);
                seen.lock().unwrap().push(name.clone());
                let (code, text) = match says(&name) {
                    Says::Text(text) => (0, Some(text)),
                    Says::NoSuchName => (3, None),
                    Says::Nothing => continue,
                };
                // The question's number and text; an answer that points back to its name.
                let mut answer = packet[..2].to_vec();
                answer.extend([0x81, 0x80 | code, 0, 1, 0, u8::from(text.is_some()), 0, 0, 0, 0]);
                answer.extend(&packet[12..end]);
                if let Some(text) = text {
                    let length = u8::try_from(text.len()).unwrap();
                    answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, length + 1, length]);
                    answer.extend(text.as_bytes());
                }
                socket.send_to(&answer, from).unwrap();
            }
        });
        Self { at, asked }
    }

    fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.dedup();
        asked
    }
}

/// The name that is asked for, and where the question ends.
fn question(packet: &[u8]) -> (String, usize) {
    let (mut labels, mut at) = (Vec::new(), 12);
    while packet[at] > 0 {
        let end = at + 1 + usize::from(packet[at]);
        labels.push(String::from_utf8_lossy(&packet[at + 1..end]).to_lowercase());
        at = end;
    }
    (labels.join("."), at + 5)
}

/// Whoever signs for a domain.
struct Signer {
    key: Vec<u8>,
}

impl Signer {
    fn new() -> Self {
        Self { key: Ed25519Key::generate_pkcs8().unwrap() }
    }

    fn key(&self) -> Ed25519Key {
        Ed25519Key::from_pkcs8_maybe_unchecked_der(&self.key).unwrap()
    }

    fn record(&self) -> String {
        format!("v=DKIM1; k=ed25519; p={}", Base64::encode_string(&self.key().public_key()))
    }

    /// A mail with this signature above it.
    fn sign(&self, domain: &str, mail: &str) -> String {
        let fields = ["From", "Date", "Message-ID", "Subject"];
        let signer = DkimSigner::from_key(self.key()).domain(domain).selector("s1").headers(fields);
        signer.sign(mail.as_bytes()).unwrap().to_header() + mail
    }
}

fn mail(number: u32) -> String {
    let date = jiff::Timestamp::from_second(crate::lab::now()).unwrap().strftime("%a, %d %b %Y %H:%M:%S +0000");
    format!(
        "From: Me <me@{DOMAIN}>\r\nMessage-ID: <{number}@{DOMAIN}>\r\nDate: {date}\r\nSubject: lights\r\n\r\nlights off {number}\r\n"
    )
}

fn lab(names: &Names, more: &str) -> Lab {
    let channel = "[channels.mail]\nkind = \"email\"\nsubject = \"agent:home\"\nsenders = [\"me@home.example\"]\nrecipients = [\"agent@home.example\"]\nverify_dkim = true\n";
    Lab::of(home(), &format!("{channel}name_server = \"{}\"\n{more}", names.at))
}

fn deliver(lab: &Lab, raw: &str) -> Ran {
    lab.home.run_with(&["channel", "deliver", "mail", "--recipient", "agent@home.example"], raw)
}

/// By the sender's own key, as lines end over the network and as they end on a machine.
#[test]
fn a_mail_that_its_senders_domain_signed_is_taken_in_once() {
    let signer = Signer::new();
    let record = signer.record();
    let names = Names::start(move |_| Says::Text(record.clone()));
    let lab = lab(&names, "");
    let first = signer.sign(DOMAIN, &mail(1));
    let second = signer.sign(DOMAIN, &mail(2)).replace("\r\n", "\n");
    for raw in [&first, &second, &first] {
        deliver(&lab, raw).exits(0);
    }
    let mut texts: Vec<_> = lab.texts().iter().map(|text| text.trim().to_owned()).collect();
    texts.sort_unstable();
    assert_eq!(texts, ["lights off 1", "lights off 2"]);
    lab.refused(Some("mail"), "replayed", 1);
    assert_eq!(names.asked(), ["s1._domainkey.home.example"]);
}

/// Whatever is not right is forged, and no name is looked up that a stranger chose.
#[test]
fn a_mail_that_its_senders_domain_did_not_sign_is_forged() {
    let (signer, other) = (Signer::new(), Signer::new());
    let record = signer.record();
    let names = Names::start(move |name| match name {
        "s1._domainkey.home.example" => Says::Text(record.clone()),
        _ => Says::NoSuchName,
    });
    let lab = lab(&names, "");
    let right = signer.sign(DOMAIN, &mail(1));
    for (why, raw) in [
        ("unsigned", mail(1)),
        ("its text is another one", right.replace("lights off", "lights on")),
        ("its subject is another one", right.replace("Subject: lights", "Subject: doors")),
        ("somebody else's key", other.sign(DOMAIN, &mail(2))),
        ("somebody else's domain", other.sign("evil.example", &mail(3))),
        ("no such key", signer.sign(DOMAIN, &mail(4)).replace("s=s1", "s=s2")),
    ] {
        let ran = deliver(&lab, &raw).exits(0);
        assert!(ran.out.is_empty() && ran.err.is_empty(), "{why}: {ran:?}");
    }
    lab.refused(Some("mail"), "forged_sender", 6);
    // A mail server's word is worth nothing where none is named.
    let found =
        "Authentication-Results: mx.home.example; dkim=pass header.d=home.example\r\nReceived: from a by b; x\r\n";
    deliver(&lab, &format!("{found}{}", other.sign(DOMAIN, &mail(5)))).exits(0);
    lab.refused(Some("mail"), "forged_sender", 7);
    // Who is on no list has nothing looked up.
    let before = names.asked().len();
    let stranger = signer.sign(DOMAIN, &mail(6).replace("me@home.example>", "you@home.example>"));
    deliver(&lab, &stranger).exits(0);
    lab.refused(Some("mail"), "not_listed", 1);
    // A line that ends in the middle is signed as if it did not.
    deliver(&lab, &signer.sign(DOMAIN, &mail(7)).replace("lights off", "lights\r off")).exits(0);
    lab.refused(Some("mail"), "malformed", 1);
    assert_eq!(names.asked().len(), before, "{:?}", names.asked());
    assert!(lab.entries().is_empty() && names.asked().iter().all(|name| name.ends_with("._domainkey.home.example")));
}

/// A name server that says nothing is no reason to lose a mail, nor to take it in.
#[test]
fn a_mail_whose_key_cannot_be_had_is_tried_again() {
    let signer = Signer::new();
    let (record, there) = (signer.record(), Arc::new(Mutex::new(false)));
    let is_there = Arc::clone(&there);
    let names =
        Names::start(move |_| if *is_there.lock().unwrap() { Says::Text(record.clone()) } else { Says::Nothing });
    let lab = lab(&names, "");
    let raw = signer.sign(DOMAIN, &mail(1));
    deliver(&lab, &raw).exits(75);
    lab.refused(Some("mail"), "unavailable", 1);
    assert!(lab.entries().is_empty());
    *there.lock().unwrap() = true;
    deliver(&lab, &raw).exits(0);
    assert_eq!(lab.entries().len(), 1);
}

/// Where a mail server is named as well, both have to say so.
#[test]
fn of_two_who_say_so_neither_is_enough() {
    let signer = Signer::new();
    let record = signer.record();
    let names = Names::start(move |_| Says::Text(record.clone()));
    let lab = lab(&names, "authserv_id = \"mx.home.example\"\n");
    let trace = "Received: from a.example by mx.home.example; Mon, 30 Nov 2026 00:00:00 +0000\r\n";
    let found = |finding: &str| format!("Authentication-Results: mx.home.example; {finding}\r\n{trace}");
    let pass = "dkim=pass header.d=home.example";
    deliver(&lab, &format!("{}{}", found("dkim=fail"), signer.sign(DOMAIN, &mail(1)))).exits(0);
    deliver(&lab, &format!("{}{}", found(pass), Signer::new().sign(DOMAIN, &mail(2)))).exits(0);
    lab.refused(Some("mail"), "forged_sender", 2);
    deliver(&lab, &format!("{}{}", found(pass), signer.sign(DOMAIN, &mail(3)))).exits(0);
    assert_eq!(lab.entries().len(), 1);
}
