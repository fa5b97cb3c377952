//! Who is an operator for the pages: one-time links, a password, and sessions in a cookie.
//!
//! Nothing here is ever handed to a proposer. What is kept of a link or a session is a hash; both end with the process.

mod limits;
mod links;
mod moment;
mod sessions;

pub use limits::Limits;
pub use links::LINK_LIFETIME;
pub use moment::Moment;
#[cfg(test)]
use sessions::{IDLE, LONGEST};

use std::sync::{Arc, Mutex, PoisonError};

use capability_core::Environment;
use capability_core::session::Subject;
use sha2::{Digest, Sha256};

use crate::hex;
use links::Links;
use sessions::Sessions;

/// 256 random bits as a person or a browser carries them. It has no `Debug` form and no `Display`: showing it is a decision.
pub struct Ticket([u8; 32]);

/// What is kept of a [`Ticket`]. It is random, so that a plain hash of it cannot be guessed.
pub type Kept = [u8; 32];

impl Ticket {
    fn random(environment: &dyn Environment) -> Self {
        let mut bytes = [0; 32];
        environment.fill_random(&mut bytes);
        Self(bytes)
    }

    /// From 64 hexadecimal digits; nothing else is one.
    pub fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text).map(Self)
    }

    /// 64 hexadecimal digits, for whoever it was made for and nobody else.
    pub fn reveal(&self) -> String {
        hex::encode(&self.0)
    }

    fn kept(&self) -> Kept {
        Sha256::digest(self.0).into()
    }
}

/// How somebody came to be an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By a cookie of the pages.
    Page,
    /// By the token of an operator session.
    Token,
}

impl Way {
    /// Who is called the operator in the log: the one there is, and the way.
    pub fn operator(self) -> Subject {
        let name = match self {
            Self::Page => "operator@page",
            Self::Token => "operator@api",
        };
        name.parse().unwrap_or_else(|_| Subject::local())
    }
}

/// Links and sessions of the pages.
pub struct Access {
    environment: Arc<dyn Environment>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    links: Links,
    sessions: Sessions,
    limits: Limits,
}

/// Why a login did not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Too many tries; how many seconds to wait.
    TooMany(u64),
    /// The link was used, is too old, or is none.
    NoSuchLink,
}

impl Access {
    pub fn new(environment: Arc<dyn Environment>) -> Self {
        Self { environment, state: Mutex::default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Moment {
        Moment::at(self.environment.now())
    }

    /// A link's secret: good for one login within [`LINK_LIFETIME`].
    pub fn link(&self) -> Ticket {
        let ticket = Ticket::random(self.environment.as_ref());
        let now = self.now();
        self.state().links.add(ticket.kept(), now);
        ticket
    }

    /// Counts one try to log in.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] when there were too many, of this peer or of all.
    pub fn try_once(&self, peer: std::net::IpAddr) -> Result<(), Refusal> {
        self.state().limits.take(peer).map_err(Refusal::TooMany)
    }

    /// Uses a link up.
    ///
    /// # Errors
    /// [`Refusal::NoSuchLink`].
    pub fn redeem(&self, link: &Ticket) -> Result<(), Refusal> {
        let now = self.now();
        if self.state().links.take(&link.kept(), now) { Ok(()) } else { Err(Refusal::NoSuchLink) }
    }

    /// Opens a session under this state of the credential, always with a ticket of its own: what a browser brought along
    /// becomes no session.
    pub fn open(&self, credential: u64) -> Ticket {
        let ticket = Ticket::random(self.environment.as_ref());
        let now = self.now();
        self.state().sessions.open(ticket.kept(), credential, now);
        ticket
    }

    /// What is kept of a session's ticket, while it is alive and the credential is the one it was opened under. Seen counts
    /// as used, unless it is only looked at.
    pub fn alive(&self, ticket: &Ticket, credential: u64, used: bool) -> Option<Kept> {
        let (kept, now) = (ticket.kept(), self.now());
        self.state().sessions.alive(&kept, credential, now, used).then_some(kept)
    }

    /// Whether a session is still alive, by what is kept of it.
    pub fn is_alive(&self, kept: &Kept, credential: u64) -> bool {
        let now = self.now();
        self.state().sessions.alive(kept, credential, now, false)
    }

    /// Ends a session.
    pub fn close(&self, kept: &Kept) {
        self.state().sessions.close(kept);
    }
}

#[cfg(test)]
mod tests;
