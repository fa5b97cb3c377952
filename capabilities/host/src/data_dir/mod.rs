//! The one directory that holds a host's state.

mod error;
mod lock;
mod private_file;

pub use error::DataDirError;
pub use lock::OwnerLock;
pub(crate) use private_file::{
    check_file, create_dir, open_append, read_private, read_private_up_to, sync_dir, write_private,
};

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use capability_core::approval::DigestKey;

use crate::environment::random;

/// What the file with the operator's rules is called.
pub(crate) const POLICY_FILE: &str = "policy.toml";

/// A data directory that belongs to this user alone: mode 0700, not a link, everything in it 0600 or 0700.
#[derive(Debug, Clone)]
pub struct DataDir(PathBuf);

impl DataDir {
    /// Where a host keeps its data when nobody says otherwise: `$XDG_STATE_HOME/capability`, else
    /// `~/.local/state/capability`; on macOS `~/Library/Application Support/capability`. `None` without a home directory.
    #[must_use]
    pub fn default_path() -> Option<PathBuf> {
        let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || absolute("HOME");
        let base = if cfg!(target_os = "macos") {
            home().map(|home| home.join("Library/Application Support"))
        } else {
            absolute("XDG_STATE_HOME").or_else(|| home().map(|home| home.join(".local/state")))
        };
        base.map(|base| base.join("capability"))
    }

    /// Opens a data directory, and makes it when it is not there.
    ///
    /// # Errors
    /// [`DataDirError`] when it is a link, no directory, somebody else's, or open to others.
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            create_dir(path).map_err(DataDirError::io("make", path))?;
        }
        check_dir(path)?;
        Ok(Self(path.to_owned()))
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The socket that the owning host listens on.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.0.join("host.sock")
    }

    /// Approvals, turn counters and journals.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.0.join("state.db")
    }

    /// The audit log's directory.
    #[must_use]
    pub fn audit(&self) -> PathBuf {
        self.0.join("audit")
    }

    /// Copies of repositories that are elsewhere.
    #[must_use]
    pub fn repositories(&self) -> PathBuf {
        self.0.join("repositories")
    }

    /// The switches of external families.
    #[must_use]
    pub fn opt_ins(&self) -> PathBuf {
        self.0.join("optin")
    }

    /// The switches of edges.
    #[must_use]
    pub fn edges(&self) -> PathBuf {
        self.0.join("edges")
    }

    /// The operator credential and its sessions.
    #[must_use]
    pub fn operator(&self) -> PathBuf {
        self.0.join("operator")
    }

    /// The directory of secrets: one file for each, named as it is.
    #[must_use]
    pub fn secrets(&self) -> PathBuf {
        self.0.join("secrets")
    }

    /// The directory of tokens for providers, sealed.
    #[must_use]
    pub fn credentials(&self) -> PathBuf {
        self.0.join("credentials")
    }

    /// Where manifests of subjects lie, each in a directory of its subject's name.
    #[must_use]
    pub fn subjects(&self) -> PathBuf {
        self.0.join("subjects")
    }

    /// The programs that are let in by a token: names, subjects, and hashes of the tokens.
    #[must_use]
    pub fn clients(&self) -> PathBuf {
        self.0.join("clients")
    }

    /// The optional configuration file.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    /// The operator's rules.
    #[must_use]
    pub fn policy(&self) -> PathBuf {
        self.0.join(POLICY_FILE)
    }

    /// Where the rules that were last in force are kept, in any data directory.
    pub(crate) const POLICY_IN_FORCE: &str = "policy.in-force.toml";

    /// A copy of the rules that were last in force.
    #[must_use]
    pub fn policy_in_force(&self) -> PathBuf {
        self.0.join(Self::POLICY_IN_FORCE)
    }

    /// Becomes the one owner, until the lock is dropped. Does not wait.
    ///
    /// # Errors
    /// [`DataDirError::Owned`] while another process is.
    pub fn lock(&self) -> Result<OwnerLock, DataDirError> {
        OwnerLock::take(&self.0.join("owner.lock"))
    }

    /// The installation's digest key: made at the first call, the same from then on.
    ///
    /// # Errors
    /// [`DataDirError`] when the file is damaged or cannot be written. A damaged key is not replaced by itself: pending
    /// approvals are bound to it.
    pub fn digest_key(&self) -> Result<DigestKey, DataDirError> {
        self.installation_key().map(DigestKey::new)
    }

    /// Another key of this installation for another purpose: nothing about the digest key follows from it.
    ///
    /// # Errors
    /// As [`digest_key`](Self::digest_key).
    pub(crate) fn key_for(&self, purpose: &str) -> Result<[u8; 32], DataDirError> {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &self.installation_key()?);
        let derived = ring::hmac::sign(&key, purpose.as_bytes());
        let mut bytes = [0; 32];
        bytes.iter_mut().zip(derived.as_ref()).for_each(|(byte, derived)| *byte = *derived);
        Ok(bytes)
    }

    fn installation_key(&self) -> Result<[u8; 32], DataDirError> {
        let path = self.0.join("digest.key");
        if let Some(bytes) = read_private(&path)? {
            let key = bytes.as_slice().try_into().map_err(|_| DataDirError::Damaged {
                path: path.clone(),
                rule: "a digest key is exactly 32 bytes",
                help: "remove it; a new one is made, and what is pending has to be proposed again",
            })?;
            return Ok(key);
        }
        let key = random::<32>().map_err(DataDirError::Randomness)?;
        write_private(&path, &key)?;
        Ok(key)
    }
}

/// Holds a directory to the rule: ours, no link, closed to everybody else.
pub(crate) fn check_dir(path: &Path) -> Result<(), DataDirError> {
    let found = fs::symlink_metadata(path).map_err(DataDirError::io("look at", path))?;
    let path = || path.to_owned();
    if found.is_symlink() {
        return Err(DataDirError::Link { path: path() });
    }
    if !found.is_dir() {
        return Err(DataDirError::NotADirectory { path: path() });
    }
    check_owner(&found, path(), 0o700)
}

/// Ours, and closed to everybody else.
fn check_owner(found: &fs::Metadata, path: PathBuf, wanted: u32) -> Result<(), DataDirError> {
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(DataDirError::Foreign { path });
    }
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(DataDirError::Open { path, mode, wanted });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
