//! Logging in to a Pi-hole: one session, shared by every exchange, renewed once when it is no longer known.

use std::time::Duration;

use capability_core::handle::{BrokerFault, EndpointReply};
use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::exchange::Sent;
use crate::secrets::wipe;

const SESSION: HeaderName = HeaderName::from_static("x-ftl-sid");
const PATH: &str = "/api/auth";
/// How long a password that was refused is not tried again: the other side counts wrong ones.
const HELD_DOWN: Duration = Duration::from_secs(5);
/// The longest session name.
const MAX_SID_BYTES: usize = 256;

/// The session there is, if any.
#[derive(Default)]
pub struct Session(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Closed,
    /// `None` for a Pi-hole without a password, which gives no session.
    Open(Option<HeaderValue>),
    Refused(Instant),
}

/// One exchange with the service, whatever carries it.
pub trait Line {
    async fn exchange(&self, sent: Sent) -> Result<EndpointReply, BrokerFault>;
    /// The password, as it stands in its file now.
    async fn password(&self) -> Result<Vec<u8>, BrokerFault>;
}

impl Session {
    /// Asks within the session. What the service no longer knows is opened anew, once.
    pub async fn ask(
        &self,
        line: &impl Line,
        sent: impl Fn(Option<(HeaderName, HeaderValue)>) -> Sent,
    ) -> Result<EndpointReply, BrokerFault> {
        let first = self.sid(line, None).await?;
        let reply = line.exchange(sent(credential(first.clone()))).await?;
        if reply.status != 401 {
            return Ok(reply);
        }
        let second = self.sid(line, Some(&first)).await?;
        let reply = line.exchange(sent(credential(second))).await?;
        if reply.status == 401 { Err(BrokerFault::CredentialRefused) } else { Ok(reply) }
    }

    /// The session's name. Whoever comes first logs in; the others wait for it and use what it was given.
    async fn sid(
        &self,
        line: &impl Line,
        stale: Option<&Option<HeaderValue>>,
    ) -> Result<Option<HeaderValue>, BrokerFault> {
        let mut state = self.0.lock().await;
        match &*state {
            State::Open(sid) if stale.is_none_or(|stale| stale != sid) => return Ok(sid.clone()),
            State::Refused(until) if Instant::now() < *until => return Err(BrokerFault::CredentialRefused),
            State::Open(_) | State::Refused(_) | State::Closed => {}
        }
        *state = State::Closed;
        match login(line).await {
            Ok(sid) => {
                *state = State::Open(sid.clone());
                Ok(sid)
            }
            Err(fault) => {
                if fault == BrokerFault::CredentialRefused {
                    *state = State::Refused(Instant::now() + HELD_DOWN);
                }
                Err(fault)
            }
        }
    }

    /// Gives the session back: there are few of them.
    pub async fn close(&self, line: &impl Line) {
        let mut state = self.0.lock().await;
        if let State::Open(Some(sid)) = core::mem::take(&mut *state) {
            let sent =
                Sent { method: Method::DELETE, path: PATH.to_owned(), body: None, credential: credential(Some(sid)) };
            // It ends by itself after half an hour.
            let _ = line.exchange(sent).await;
        }
    }
}

/// The question whether somebody is logged in, asked by nobody: what answers it is a Pi-hole, and no session is opened.
pub fn asking_who() -> Sent {
    Sent { method: Method::GET, path: PATH.to_owned(), body: None, credential: None }
}

fn credential(sid: Option<HeaderValue>) -> Option<(HeaderName, HeaderValue)> {
    sid.map(|sid| (SESSION, sid))
}

#[derive(Deserialize)]
struct Answer {
    session: Given,
}

#[derive(Deserialize)]
struct Given {
    valid: bool,
    sid: Option<String>,
}

async fn login(line: &impl Line) -> Result<Option<HeaderValue>, BrokerFault> {
    let mut password = line.password().await?;
    let text = core::str::from_utf8(&password).map_err(|_| BrokerFault::CredentialUnreadable);
    let body = text.and_then(|text| {
        serde_json::to_vec(&serde_json::json!({ "password": text })).map_err(|_| BrokerFault::CredentialUnreadable)
    });
    wipe(&mut password);
    let sent = Sent { method: Method::POST, path: PATH.to_owned(), body: Some(body?), credential: None };
    let reply = line.exchange(sent).await?;
    match reply.status {
        200 => {}
        401 | 403 => return Err(BrokerFault::CredentialRefused),
        // Too many sessions or attempts.
        429 => return Err(BrokerFault::Busy),
        // It is starting.
        500..=599 => return Err(BrokerFault::Unavailable),
        // A second factor is asked for, say.
        400 => return Err(BrokerFault::CredentialRefused),
        _ => return Err(BrokerFault::MalformedReply),
    }
    let Given { valid, sid } = reply.json::<Answer>().map_err(|_| BrokerFault::MalformedReply)?.session;
    if !valid {
        return Err(BrokerFault::CredentialRefused);
    }
    let Some(sid) = sid else { return Ok(None) };
    if !(1..=MAX_SID_BYTES).contains(&sid.len()) {
        return Err(BrokerFault::MalformedReply);
    }
    let mut sid = HeaderValue::from_str(&sid).map_err(|_| BrokerFault::MalformedReply)?;
    // Told to the library, so that it is printed nowhere.
    sid.set_sensitive(true);
    Ok(Some(sid))
}
