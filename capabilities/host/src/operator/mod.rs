//! The operator credential: who may approve, opt in and widen.
//!
//! A password, kept as an Argon2id hash, opens short operator sessions. Whoever proposes cannot approve with what it
//! proposes with: nothing a caller sends is a credential.

mod attempts;
mod error;
mod password;
mod sessions;
mod terminal;
mod token;

pub use error::OperatorError;
pub use password::MIN_PASSWORD_CHARS;
pub use sessions::SESSION_LIFETIME;
pub use terminal::TerminalBinding;
pub use token::OperatorToken;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use capability_core::Environment;

use crate::data_dir::{DataDirError, check_dir, create_dir, read_private, write_private};
use attempts::Attempts;
use sessions::Sessions;

/// The credential and its sessions, in one directory. Only the owner of the data directory uses it.
///
/// Checking a password takes tens of milliseconds and some memory on purpose: call it where blocking is allowed.
pub struct Credential {
    dir: PathBuf,
    environment: Arc<dyn Environment>,
    /// One check at a time: guesses cannot be made in parallel.
    state: Mutex<State>,
    /// Counts what ends every session: sessions that are kept elsewhere end with it.
    epoch: AtomicU64,
}

/// The hash of a password that is not yet set.
pub(crate) struct NewPassword(String);

/// A password was right: the stored hash that it belongs to.
pub(crate) struct Verified(Vec<u8>);

struct State {
    attempts: Attempts,
    sessions: Sessions,
}

impl core::fmt::Debug for Credential {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Credential")
    }
}

impl Credential {
    /// The credential kept in `dir`, which is made when it is not there.
    ///
    /// # Errors
    /// [`OperatorError::File`] when the directory is not the host's alone.
    pub fn open(dir: PathBuf, environment: Arc<dyn Environment>) -> Result<Self, OperatorError> {
        if std::fs::symlink_metadata(&dir).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            create_dir(&dir).map_err(DataDirError::io("make", &dir))?;
        }
        check_dir(&dir)?;
        let attempts = Attempts::new(dir.join("failures"));
        let sessions = Sessions::new(dir.join("sessions"));
        let state = Mutex::new(State { attempts, sessions });
        Ok(Self { dir, environment, state, epoch: AtomicU64::new(0) })
    }

    fn file(&self) -> PathBuf {
        self.dir.join("password")
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// A number that is another one whenever the password was set or changed, or every session was ended.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Whether a password has been set.
    ///
    /// # Errors
    /// [`OperatorError::File`].
    pub fn is_set_up(&self) -> Result<bool, OperatorError> {
        Ok(read_private(&self.file())?.is_some())
    }

    /// Sets the first password.
    ///
    /// # Errors
    /// [`OperatorError::AlreadySetUp`] when there is one, [`OperatorError::TooShort`] or [`OperatorError::TooLong`] for one
    /// that will not do.
    pub fn setup(&self, password: &str) -> Result<(), OperatorError> {
        self.set_first(&self.first(password)?)
    }

    /// Replaces the password and ends every session.
    ///
    /// # Errors
    /// As [`Credential::verify`] and [`Credential::setup`].
    pub fn change(&self, old: &str, new: &str) -> Result<(), OperatorError> {
        self.replace(&self.next(old, new)?)
    }

    /// A first password that will do, not yet set: what is recorded before it counts.
    pub(crate) fn first(&self, password: &str) -> Result<NewPassword, OperatorError> {
        if self.is_set_up()? {
            return Err(OperatorError::AlreadySetUp);
        }
        password::hash(password).map(NewPassword)
    }

    pub(crate) fn set_first(&self, new: &NewPassword) -> Result<(), OperatorError> {
        let _state = self.state();
        // Asked again under the lock: of two first passwords one is the first.
        if self.is_set_up()? {
            return Err(OperatorError::AlreadySetUp);
        }
        self.end_epoch();
        Ok(write_private(&self.file(), new.0.as_bytes())?)
    }

    /// A next password that will do, by somebody who knows the old one.
    pub(crate) fn next(&self, old: &str, new: &str) -> Result<NewPassword, OperatorError> {
        self.verify(old)?;
        password::hash(new).map(NewPassword)
    }

    pub(crate) fn replace(&self, new: &NewPassword) -> Result<(), OperatorError> {
        let state = self.state();
        self.end_epoch();
        state.sessions.clear()?;
        Ok(write_private(&self.file(), new.0.as_bytes())?)
    }

    /// Checks a password. Costs the same whether it is right or wrong; after each failure in a row the next check is
    /// refused for longer, across restarts too.
    ///
    /// # Errors
    /// [`OperatorError::Wrong`], [`OperatorError::TooSoon`] or [`OperatorError::NotSetUp`].
    pub fn verify(&self, password: &str) -> Result<(), OperatorError> {
        self.verified(password).map(drop)
    }

    /// The same, for opening a session later: what is recorded before it counts.
    pub(crate) fn verified(&self, password: &str) -> Result<Verified, OperatorError> {
        let state = self.state();
        let path = self.file();
        let stored = read_private(&path)?.ok_or(OperatorError::NotSetUp)?;
        // The failure is noted before the check: killing the host in the middle of it gains no free guess.
        state.attempts.begin(self.environment.now())?;
        let matches = password::matches(password, &stored).ok_or(DataDirError::Damaged {
            path,
            rule: "it holds one Argon2id hash, no weaker than this host makes them",
            help: "remove the whole `operator` directory and set a new password with `capability operator setup`",
        })?;
        if !matches {
            return Err(OperatorError::Wrong);
        }
        state.attempts.succeeded()?;
        Ok(Verified(stored))
    }

    /// Checks a password and opens a session of [`SESSION_LIFETIME`]; with a binding, the terminal it was opened at needs
    /// no token for that long.
    ///
    /// # Errors
    /// As [`Credential::verify`].
    pub fn login(&self, password: &str, terminal: Option<TerminalBinding>) -> Result<OperatorToken, OperatorError> {
        self.open_session(&self.verified(password)?, terminal)
    }

    /// Opens a session for whoever knew the password, unless it was changed since: that ended every session.
    pub(crate) fn open_session(
        &self,
        verified: &Verified,
        terminal: Option<TerminalBinding>,
    ) -> Result<OperatorToken, OperatorError> {
        let state = self.state();
        if read_private(&self.file())?.as_ref() != Some(&verified.0) {
            return Err(OperatorError::Wrong);
        }
        let token = OperatorToken::random()?;
        state.sessions.open(&token, terminal, self.environment.now())?;
        Ok(token)
    }

    /// Whether a token's session is alive.
    ///
    /// # Errors
    /// [`OperatorError::NoSession`] when it is not.
    pub fn check(&self, token: &OperatorToken) -> Result<(), OperatorError> {
        let alive = self.state().sessions.has(token, self.environment.now())?;
        if alive { Ok(()) } else { Err(OperatorError::NoSession) }
    }

    /// Whether a session is alive that was opened at this very terminal, by this very session leader.
    ///
    /// # Errors
    /// [`OperatorError::File`].
    pub fn live_session(&self, terminal: &TerminalBinding) -> Result<bool, OperatorError> {
        Ok(self.state().sessions.has_terminal(terminal, self.environment.now())?)
    }

    /// Ends a token's session, if it is alive.
    ///
    /// # Errors
    /// [`OperatorError::File`].
    pub fn logout(&self, token: &OperatorToken) -> Result<(), OperatorError> {
        Ok(self.state().sessions.close(token, self.environment.now())?)
    }

    /// Ends every session of a terminal.
    ///
    /// # Errors
    /// [`OperatorError::File`].
    pub fn logout_terminal(&self, terminal: &TerminalBinding) -> Result<(), OperatorError> {
        Ok(self.state().sessions.close_terminal(terminal, self.environment.now())?)
    }

    /// Ends every session.
    ///
    /// # Errors
    /// [`OperatorError::File`].
    pub fn logout_everywhere(&self) -> Result<(), OperatorError> {
        self.end_epoch();
        Ok(self.state().sessions.clear()?)
    }
}

#[cfg(test)]
mod tests;
