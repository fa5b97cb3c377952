//! Operator sessions, on disk: hashes of tokens and when they end.

use core::time::Duration;
use std::path::PathBuf;

use capability_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::OperatorToken;
use super::terminal::{TerminalBinding, boot_id};
use crate::data_dir::{DataDirError, read_private, write_private};

/// How long an operator session lasts.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// The most sessions at a time; the oldest ends first.
const MOST: usize = 64;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    token_sha256: String,
    opened: Timestamp,
    expires: Timestamp,
    boot: String,
    terminal: Option<TerminalBinding>,
}

/// The file of sessions.
pub(super) struct Sessions {
    path: PathBuf,
}

impl Sessions {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Those that are alive: not yet ended, not from before the machine started, and not from the future, which is what a
    /// clock that was set back makes of them. A damaged file has none.
    fn alive(&self, now: Timestamp) -> Result<Vec<Session>, DataDirError> {
        let Some(bytes) = read_private(&self.path)? else {
            return Ok(Vec::new());
        };
        let mut sessions: Vec<Session> = serde_json::from_slice(&bytes).unwrap_or_default();
        let boot = boot_id();
        sessions.retain(|session| session.opened <= now && now < session.expires && session.boot == boot);
        Ok(sessions)
    }

    fn write(&self, sessions: &[Session]) -> Result<(), DataDirError> {
        write_private(&self.path, &serde_json::to_vec(sessions).unwrap_or_default())
    }

    pub(super) fn open(
        &self,
        token: &OperatorToken,
        terminal: Option<TerminalBinding>,
        now: Timestamp,
    ) -> Result<(), DataDirError> {
        let mut sessions = self.alive(now)?;
        if sessions.len() >= MOST {
            sessions.drain(..=sessions.len() - MOST);
        }
        let expires = now.after(SESSION_LIFETIME);
        sessions.push(Session { token_sha256: token.stored(), opened: now, expires, boot: boot_id(), terminal });
        self.write(&sessions)
    }

    pub(super) fn has(&self, token: &OperatorToken, now: Timestamp) -> Result<bool, DataDirError> {
        let stored = token.stored();
        Ok(self.alive(now)?.iter().any(|session| session.token_sha256 == stored))
    }

    pub(super) fn has_terminal(&self, terminal: &TerminalBinding, now: Timestamp) -> Result<bool, DataDirError> {
        Ok(self.alive(now)?.iter().any(|session| session.terminal.as_ref() == Some(terminal)))
    }

    pub(super) fn close(&self, token: &OperatorToken, now: Timestamp) -> Result<(), DataDirError> {
        let stored = token.stored();
        self.keep(now, |session| session.token_sha256 != stored)
    }

    pub(super) fn close_terminal(&self, terminal: &TerminalBinding, now: Timestamp) -> Result<(), DataDirError> {
        self.keep(now, |session| session.terminal.as_ref() != Some(terminal))
    }

    fn keep(&self, now: Timestamp, keep: impl Fn(&Session) -> bool) -> Result<(), DataDirError> {
        let mut sessions = self.alive(now)?;
        sessions.retain(keep);
        self.write(&sessions)
    }

    pub(super) fn clear(&self) -> Result<(), DataDirError> {
        self.write(&[])
    }
}
