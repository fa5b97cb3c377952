//! A connection that stands: what is at its other end, and what its list was when it was read.

use std::sync::{Mutex, MutexGuard, PoisonError};

use capability_core::handle::BrokerFault;
use capability_core::provider::ProviderReach;
use tokio::sync::{Mutex as Turn, Notify};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::mcp::{Peer, PeerFault, Running};

/// A connection that stands, and the program at its other end. Dropping it ends both.
pub(super) struct Connection {
    pub(super) peer: Peer,
    pub(super) running: Turn<Option<Running>>,
    listed: Mutex<Listed>,
    /// Since when changes of its list are listened to; none while they are not.
    pub(super) hears: Mutex<Option<Instant>>,
    /// Told when a call was not answered as it should: whether the server is there is looked at at once.
    pub(super) doubted: Notify,
    pub(super) watching: Mutex<Option<JoinHandle<()>>>,
}

/// When the list was read.
pub(super) struct Listed {
    pub(super) at: Instant,
    /// What the server had said about changes by then.
    pub(super) change: u64,
    /// Which of the server's tokens it was read with.
    token: u64,
    /// Why it is not what the server has, or not all of it.
    pub(super) trouble: Option<&'static str>,
    /// Whether it could be read.
    is_read: bool,
    /// Whether nobody answers any more where it was read.
    pub(super) is_gone: bool,
}

impl Listed {
    /// It was read just now, when the server had said this of changes, with that token.
    pub(super) fn read(change: u64, token: u64, trouble: Option<&'static str>) -> Self {
        Self { at: Instant::now(), change, token, trouble, is_read: true, is_gone: false }
    }

    /// Whether it can be relied on, where that is the server's token now.
    pub(super) const fn is_read(&self, token: u64) -> bool {
        self.is_read && self.token == token
    }

    /// It could not be read again.
    pub(super) const fn fails(&mut self, why: &'static str, is_gone: bool) {
        self.trouble = Some(why);
        self.is_read = false;
        self.is_gone = is_gone;
    }

    /// What decisions are made from.
    pub(super) const fn reach(&self, token: u64) -> ProviderReach {
        match (self.is_read, self.trouble) {
            (true, _) if self.token != token => {
                ProviderReach::Unread("its token is another one, and its list is not read again yet")
            }
            (true, None) => ProviderReach::Ready,
            (true, Some(trouble)) => ProviderReach::Degraded(trouble),
            (false, Some(trouble)) if self.is_gone => ProviderReach::Offline(trouble),
            (false, Some(trouble)) => ProviderReach::Unread(trouble),
            (false, None) => ProviderReach::Unread("its tools are not listed yet"),
        }
    }
}

impl Connection {
    /// One whose list nobody has read yet.
    pub(super) fn new(peer: Peer, running: Option<Running>) -> Self {
        let listed = Listed { is_read: false, ..Listed::read(0, 0, None) };
        Self {
            peer,
            running: Turn::new(running),
            listed: Mutex::new(listed),
            hears: Mutex::default(),
            doubted: Notify::new(),
            watching: Mutex::default(),
        }
    }

    pub(super) fn listed(&self) -> MutexGuard<'_, Listed> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the task that looks after it to end, and gives it to whoever waits until it has.
    pub(super) fn stop_watching(&self) -> Option<JoinHandle<()>> {
        let watching = self.watching.lock().unwrap_or_else(PoisonError::into_inner).take();
        watching.inspect(JoinHandle::abort)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        drop(self.stop_watching());
    }
}

/// As long as this lives, changes are listened to.
pub(super) struct Hearing<'c>(&'c Mutex<Option<Instant>>);

impl<'c> Hearing<'c> {
    pub(super) fn of(hears: &'c Mutex<Option<Instant>>) -> Self {
        *hears.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        Self(hears)
    }
}

impl Drop for Hearing<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

pub(super) const fn fault(fault: PeerFault) -> BrokerFault {
    match fault {
        PeerFault::Closed | PeerFault::Session => BrokerFault::Unavailable,
        PeerFault::TooLarge => BrokerFault::ReplyTooLarge,
        PeerFault::Malformed | PeerFault::Refused(_) | PeerFault::Revision => BrokerFault::MalformedReply,
        PeerFault::Credential => BrokerFault::CredentialRefused,
        PeerFault::Untrusted => BrokerFault::Untrusted,
    }
}
