//! Programs that are let in by a token, each for one subject.
//!
//! What is kept of a token is a hash. A client proves with it who it speaks for, and nothing else: it answers no question and
//! changes no setting.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use capability_core::Timestamp;
use capability_core::approval::Operator;
use capability_core::audit::SettingKey;
use capability_core::session::{SlotPath, Subject};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::data_dir::{DataDirError, read_private, write_private};
use crate::environment::{NoRandomness, random};
use crate::error::SettingError;
use crate::hex;
use crate::host::Host;

/// The most clients at a time.
const MOST: usize = 64;

/// Proof of being a client: 256 random bits. It has no `Debug` form and no `Display`: showing it is a decision.
pub struct ClientToken([u8; 32]);

impl ClientToken {
    /// From 64 hexadecimal digits; nothing else is a token.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        hex::decode(text).map(Self)
    }

    /// 64 hexadecimal digits, for whoever sets the client up and nobody else.
    #[must_use]
    pub fn reveal(&self) -> String {
        hex::encode(&self.0)
    }

    /// What is kept in its place. A token is random, so that a plain hash of it cannot be guessed.
    fn kept(&self) -> String {
        hex::encode(&self.hash())
    }

    /// The same as bytes.
    pub(super) fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }
}

/// One client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientEntry {
    /// What it is called.
    pub name: Subject,
    /// For whom it speaks.
    pub subject: Subject,
    /// For which slot of its agent; for none, when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<SlotPath>,
    /// Since when it is let in.
    pub created: Timestamp,
    token_sha256: String,
}

/// Why the list of clients is not changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// The file cannot be read or written.
    File(DataDirError),
    /// There are no random bytes.
    Randomness(NoRandomness),
    /// A client is called so already.
    Taken,
    /// There are as many as there may be.
    Full,
    /// No client is called so.
    Unknown,
}

impl core::fmt::Display for ClientError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Randomness(error) => error.fmt(f),
            Self::Taken => f.write_str(
                "a client is called so already\nhelp: revoke it with `capability mcp token revoke`, or take another name",
            ),
            Self::Full => write!(
                f,
                "{MOST} clients are let in, which is as many as there may be\nhelp: revoke one with `capability mcp token revoke`"
            ),
            Self::Unknown => {
                f.write_str("no client is called so\nhelp: see those that are let in with `capability mcp token list`")
            }
        }
    }
}

impl core::error::Error for ClientError {}

/// The list of clients, in one file. Only the owner of the data directory uses it.
pub struct Clients {
    path: PathBuf,
    entries: Mutex<Vec<ClientEntry>>,
}

impl Clients {
    /// Reads the list.
    ///
    /// # Errors
    /// [`DataDirError`] when the file cannot be read, is not the host's alone, or is damaged: a list that cannot be read lets
    /// nobody in and is not taken for an empty one.
    pub fn open(path: PathBuf) -> Result<Self, DataDirError> {
        let entries = match read_private(&path)? {
            None => Vec::new(),
            Some(bytes) => serde_json::from_slice(&bytes).map_err(|_| DataDirError::Damaged {
                path: path.clone(),
                rule: "the list of clients is JSON that this host wrote",
                help: "remove it, and let the clients in anew with `capability mcp token create`",
            })?,
        };
        Ok(Self { path, entries: Mutex::new(entries) })
    }

    /// Lets a client in, with a token that is told once.
    ///
    /// # Errors
    /// [`ClientError`]; nobody was let in then.
    pub fn create(
        &self,
        name: Subject,
        subject: Subject,
        slot: Option<SlotPath>,
        now: Timestamp,
    ) -> Result<ClientToken, ClientError> {
        let token = random().map(ClientToken).map_err(ClientError::Randomness)?;
        let mut entries = self.entries();
        self.free(&entries, &name)?;
        let mut next = entries.clone();
        next.push(ClientEntry { name, subject, slot, created: now, token_sha256: token.kept() });
        self.write(&next)?;
        *entries = next;
        Ok(token)
    }

    /// Whether a client could be let in under this name.
    ///
    /// # Errors
    /// [`ClientError::Taken`] and [`ClientError::Full`].
    pub fn could_create(&self, name: &Subject) -> Result<(), ClientError> {
        self.free(&self.entries(), name)
    }

    fn free(&self, entries: &[ClientEntry], name: &Subject) -> Result<(), ClientError> {
        if entries.iter().any(|entry| entry.name == *name) {
            return Err(ClientError::Taken);
        }
        if entries.len() >= MOST { Err(ClientError::Full) } else { Ok(()) }
    }

    /// Lets a client in no more.
    ///
    /// # Errors
    /// [`ClientError`]; it is let in as before then.
    pub fn revoke(&self, name: &Subject) -> Result<(), ClientError> {
        let mut entries = self.entries();
        let mut next = entries.clone();
        next.retain(|entry| entry.name != *name);
        if next.len() == entries.len() {
            return Err(ClientError::Unknown);
        }
        self.write(&next)?;
        *entries = next;
        Ok(())
    }

    /// Whose token it is. Hashes are compared, which tells nothing about a token.
    #[must_use]
    pub fn of(&self, token: &ClientToken) -> Option<ClientEntry> {
        let kept = token.kept();
        self.entries().iter().find(|entry| entry.token_sha256 == kept).cloned()
    }

    /// All of them, in the order they were let in.
    #[must_use]
    pub fn all(&self) -> Vec<ClientEntry> {
        self.entries().clone()
    }

    fn write(&self, entries: &[ClientEntry]) -> Result<(), ClientError> {
        write_private(&self.path, &serde_json::to_vec(entries).unwrap_or_default()).map_err(ClientError::File)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<ClientEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl core::fmt::Debug for Clients {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Clients")
    }
}

impl Host {
    /// Lets a program in for a subject: recorded first, let in second. Its token is told here and nowhere else.
    ///
    /// # Errors
    /// [`SettingError`]; nobody is let in then.
    pub(crate) async fn admit_client(
        &self,
        operator: &Operator,
        name: &Subject,
        subject: &Subject,
        slot: Option<&SlotPath>,
    ) -> Result<ClientToken, SettingError> {
        self.clients().could_create(name)?;
        let (client, slot) = (name.clone(), slot.cloned());
        let key = SettingKey::Client { client, subject: subject.clone(), slot: slot.clone(), admitted: true };
        self.executor().record_setting(operator, key).await?;
        Ok(self.clients().create(name.clone(), subject.clone(), slot, self.environment().now())?)
    }

    /// Lets a program in no more: recorded first, turned away second.
    ///
    /// # Errors
    /// [`SettingError`]; it is let in as before then.
    pub(crate) async fn revoke_client(&self, operator: &Operator, name: &Subject) -> Result<(), SettingError> {
        let found = self.clients().all().into_iter().find(|entry| entry.name == *name).ok_or(ClientError::Unknown)?;
        let key = SettingKey::Client { client: found.name, subject: found.subject, slot: found.slot, admitted: false };
        self.executor().record_setting(operator, key).await?;
        Ok(self.clients().revoke(name)?)
    }
}

#[cfg(test)]
mod tests {
    use capability_core::Timestamp;

    use super::{ClientError, ClientToken, Clients};

    #[test]
    fn a_client_is_known_by_its_token_until_it_is_revoked() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("clients");
        let clients = Clients::open(path.clone()).unwrap();
        let now = Timestamp::from_micros(1);
        let token = clients.create("desktop".parse().unwrap(), "anna".parse().unwrap(), None, now).unwrap();
        let taken = clients.create("desktop".parse().unwrap(), "ben".parse().unwrap(), None, now);
        assert!(matches!(taken, Err(ClientError::Taken)));
        // Nothing of the token is kept but a hash.
        assert!(!std::fs::read_to_string(&path).unwrap().contains(&token.reveal()));

        let again = Clients::open(path.clone()).unwrap();
        assert_eq!(again.of(&token).unwrap().subject.as_str(), "anna");
        assert!(again.of(&ClientToken([7; 32])).is_none());
        assert!(matches!(again.revoke(&"phone".parse().unwrap()), Err(ClientError::Unknown)));
        again.revoke(&"desktop".parse().unwrap()).unwrap();
        assert!(again.of(&token).is_none() && Clients::open(path.clone()).unwrap().all().is_empty());

        // A list that cannot be read is no empty one.
        std::fs::write(&path, "[{}]").unwrap();
        assert!(Clients::open(path).is_err());
    }
}
