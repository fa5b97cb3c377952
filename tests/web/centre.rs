//! A host that serves its pages, and somebody who is logged in to them.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::Value;

use crate::client::{Answer, Client};
use crate::home::{Home, PASSWORD, Ran, ended, signal, until};

/// Longer than a card is shown before it can be approved.
pub const ARMED: Duration = Duration::from_millis(800);

/// A served approval centre; its host is killed when it is dropped.
pub struct Centre {
    pub home: Home,
    child: Option<Child>,
    /// `127.0.0.1:PORT`
    pub address: String,
    /// What the first login link carries.
    pub link: String,
}

impl Centre {
    /// Of a household whose external family is on.
    pub fn new() -> Self {
        Self::of(Home::with_operator(), "")
    }

    pub fn of(home: Home, more: &str) -> Self {
        home.configure(&format!("{more}[web]\nlisten = \"127.0.0.1:0\"\n"));
        if home.token().exists() {
            home.operate(&["optin", "set", "house", "on"]).exits(0);
        }
        Self::serving(home, |_| {})
    }

    /// With something more about the process.
    pub fn serving(home: Home, more: impl FnOnce(&mut Command)) -> Self {
        let mut command = home.command(&["serve", "--json"]);
        more(&mut command);
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut document = String::new();
        while serde_json::from_str::<Value>(&document).is_err() {
            assert!(said.read_line(&mut document).unwrap() > 0, "{document}");
        }
        let said: Value = serde_json::from_str(&document).unwrap();
        let text = |key: &str| said[key].as_str().unwrap().to_owned();
        let address = text("web").strip_prefix("http://").unwrap().to_owned();
        let link = text("link").split_once("link=").unwrap().1.to_owned();
        Self { home, child: Some(child), address, link }
    }

    pub fn anybody(&self) -> Client {
        Client::new(&self.address)
    }

    /// A browser on our own page, not logged in.
    pub fn browser(&self) -> Client {
        self.anybody().with("Origin", &format!("http://{}", self.address))
    }

    /// Logs in by password, and gives the browser with its cookie.
    #[track_caller]
    pub fn logged_in(&self) -> Operator {
        self.enter(&[("password", PASSWORD)])
    }

    #[track_caller]
    pub fn enter(&self, proof: &[(&str, &str)]) -> Operator {
        let answer = self.browser().post("/login", proof).is(303);
        assert_eq!(answer.header("location"), Some("/"));
        Operator::with(self.browser().with("Cookie", &cookie(&answer)))
    }

    /// A program with the token of an operator session.
    pub fn program(&self) -> Client {
        let token = std::fs::read_to_string(self.home.token()).unwrap();
        self.anybody().with("Authorization", &format!("Bearer {token}"))
    }

    /// Ends the host and gives its data directory for another one.
    pub fn stopped(mut self) -> Home {
        let home = std::mem::replace(&mut self.home, Home::new());
        self.end();
        home
    }

    /// Ends the host and gives what it wrote on standard error.
    pub fn end(mut self) -> Ran {
        let mut child = self.child.take().unwrap();
        signal(&child, "TERM");
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        let mut ran = ended(child);
        ran.err = errors;
        ran
    }
}

impl Drop for Centre {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The cookie that an answer sets, as it is sent back.
pub fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// Somebody who is logged in.
#[derive(Clone)]
pub struct Operator {
    pub client: Client,
    pub csrf: String,
}

impl Operator {
    #[track_caller]
    fn with(client: Client) -> Self {
        let page = client.get("/").is(200);
        let csrf = page.field("csrf").unwrap().to_owned();
        Self { client, csrf }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.client.get(path)
    }

    /// A form of one of our pages.
    pub fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        self.client.post(path, &[&[("csrf", self.csrf.as_str())], fields].concat())
    }

    /// The card of an approval, looked at for long enough.
    #[track_caller]
    pub fn card(&self, id: &str) -> Answer {
        let card = self.get(&format!("/approvals/{id}")).is(200);
        std::thread::sleep(ARMED);
        card
    }

    /// Approves as a person does: looks, waits, types what is asked for.
    #[track_caller]
    pub fn approve(&self, id: &str) -> Answer {
        let card = self.card(id);
        self.approve_as(&card, id)
    }

    pub fn approve_as(&self, card: &Answer, id: &str) -> Answer {
        let (stamp, typed) = (card.field("stamp").unwrap(), word(card));
        let mut fields = vec![("stamp", stamp)];
        fields.extend(typed.as_deref().map(|typed| ("typed", typed)));
        self.post(&format!("/approvals/{id}/approve"), &fields)
    }

    pub fn deny(&self, id: &str, note: &str) -> Answer {
        self.post(&format!("/approvals/{id}/deny"), &[("note", note)])
    }
}

/// The word that a card asks for.
pub fn word(card: &Answer) -> Option<String> {
    let (_, rest) = card.body.split_once("data-word=\"")?;
    Some(rest.split('"').next().unwrap().to_owned())
}

/// Waits until a client gets this status.
pub fn until_status(what: &str, status: u16, mut ask: impl FnMut() -> Answer) -> Answer {
    until(what, || {
        let answer = ask();
        (answer.status == status).then_some(answer)
    })
}
