//! Secrets: where they come from, and that none of them goes out.
//!
//! A secret has a name and one place that it comes from. Whatever reads one here makes it known to the redactor, which every
//! outgoing view passes: there is no other way to read one.

mod dotenv;
mod known;
mod source;

pub use dotenv::is_name as is_variable_name;
pub use known::{Knowing, MOST as MOST_KNOWN, NoRoom, Room, redactor, room};
pub use source::{SecretFault, SecretSettings, Whence};

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capability_core::Timestamp;
use capability_core::audit::SecretSource;
use capability_core::handle::{BrokerFault, MAX_SECRET_BYTES, is_configured_name};
use capability_core::redact::is_redactable;

use crate::data_dir::{check_dir, read_private};
use crate::environment::now;
use crate::protocol::SecretShown;

/// Every secret of this host: one file for each in a directory that is the host's alone, and those that the configuration
/// says something about.
#[derive(Debug, Clone)]
pub struct Secrets {
    directory: PathBuf,
    named: Arc<BTreeMap<String, SecretSettings>>,
}

/// A value, overwritten when it is dropped.
pub struct Value(Vec<u8>);

impl Value {
    /// The text.
    pub fn text(&self) -> &str {
        // Whoever made it checked that it is text.
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        wipe(&mut self.0);
    }
}

impl Secrets {
    /// Those in this directory, and those about which something is said.
    #[must_use]
    pub const fn new(directory: PathBuf, named: Arc<BTreeMap<String, SecretSettings>>) -> Self {
        Self { directory, named }
    }

    /// Whether there is a secret of that name.
    pub fn has(&self, name: &str) -> bool {
        self.value(name).is_ok()
    }

    /// A pipe that holds the value, and nothing to write to it.
    pub fn reveal(&self, name: &str) -> Result<OwnedFd, BrokerFault> {
        let value = self.value(name)?;
        let piped = || {
            let (read, mut write) = std::io::pipe()?;
            // A pipe takes a page without waiting for its reader, and no secret is longer.
            write.write_all(&value.0)?;
            Ok::<_, std::io::Error>(OwnedFd::from(read))
        };
        piped().map_err(|_| BrokerFault::Unavailable)
    }

    /// The value itself, for the host's own use.
    pub fn text(&self, name: &str) -> Result<Vec<u8>, BrokerFault> {
        let mut value = self.value(name)?;
        Ok(core::mem::take(&mut value.0))
    }

    /// What can be bound to a command: the value, and when it ends.
    pub fn bindable(&self, name: &str) -> Result<(Value, Option<Timestamp>), SecretFault> {
        let value = self.value(name)?;
        Ok((value, self.named.get(name).and_then(|settings| settings.expires)))
    }

    /// Where a secret of that name comes from, whether or not it is there.
    pub fn source(&self, name: &str) -> SecretSource {
        self.named.get(name).map_or(SecretSource::Stored, |settings| settings.whence.source())
    }

    /// Every secret: those that are stored, and those that are configured.
    pub fn states(&self) -> Vec<SecretShown> {
        let mut names: Vec<String> = self.named.keys().cloned().chain(self.stored()).collect();
        names.sort();
        names.dedup();
        names.into_iter().map(|name| self.state(name)).collect()
    }

    /// Makes every value known that there is now: a view that comes before its first use holds none either.
    pub fn learn(&self) {
        drop(self.states());
    }

    fn state(&self, name: String) -> SecretShown {
        let settings = self.named.get(&name);
        let value = self.value(&name);
        let place = match settings.map(|settings| &settings.whence) {
            None | Some(Whence::Stored) => format!("`{}`", self.directory.join(&name).display()),
            Some(whence) => whence.words(),
        };
        let shown = shown(self.source(&name), place, value);
        SecretShown { expires: settings.and_then(|settings| settings.expires), name, ..shown }
    }

    /// The names of the files in the directory, as far as they are names.
    fn stored(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| is_configured_name(name)).collect()
    }

    fn value(&self, name: &str) -> Result<Value, SecretFault> {
        if !is_configured_name(name) {
            return Err(SecretFault::Absent);
        }
        let stored = self.directory.join(name);
        let Some(SecretSettings { whence, expires }) = self.named.get(name) else {
            return self.read_stored(&stored);
        };
        if *whence != Whence::Stored && std::fs::symlink_metadata(&stored).is_ok() {
            // Which of the two was meant is nobody's to guess.
            return Err(SecretFault::Twice);
        }
        let value = match whence {
            Whence::Stored => self.read_stored(&stored),
            elsewhere => elsewhere.read(),
        }?;
        if expires.is_some_and(|expires| expires <= now()) {
            return Err(SecretFault::Expired);
        }
        Ok(value)
    }

    fn read_stored(&self, path: &Path) -> Result<Value, SecretFault> {
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(SecretFault::Absent),
            Ok(_) | Err(_) => {}
        }
        check_dir(&self.directory).map_err(|_| SecretFault::Unreadable)?;
        private_value(path)
    }
}

/// A file with a credential, for a person.
pub fn credential_state(name: String, file: &Path) -> SecretShown {
    let read = match std::fs::symlink_metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(SecretFault::Absent),
        Ok(_) | Err(_) => private_value(file),
    };
    SecretShown { name, ..shown(SecretSource::File, format!("`{}`", file.display()), read) }
}

/// Whether it can be used, without a word of it and without its length.
fn shown(source: SecretSource, place: String, value: Result<Value, SecretFault>) -> SecretShown {
    let length = value.as_ref().ok().map(|value| match value.text() {
        text if text.len() <= LONG => "usual",
        _ => "long",
    });
    let fault = value.err();
    SecretShown {
        name: String::new(),
        source: source.as_str().to_owned(),
        place,
        state: fault.map_or("ready", SecretFault::as_str).to_owned(),
        length: length.map(str::to_owned),
        expires: None,
        help: fault.map(|fault| fault.help().to_owned()),
    }
}

/// The longest value that is not called long, in bytes.
const LONG: usize = 64;

/// The text of a file that is the host's alone, without the line break that editors put at its end. It is known from then on.
///
/// # Errors
/// [`BrokerFault::CredentialUnreadable`]; [`BrokerFault::CredentialShort`] and [`BrokerFault::SecretsFull`] when it could not be
/// looked for in what goes out.
pub fn private_text(path: &Path) -> Result<Vec<u8>, BrokerFault> {
    Ok(private_value(path).map(|mut value| core::mem::take(&mut value.0))?)
}

fn private_value(path: &Path) -> Result<Value, SecretFault> {
    noted(read_private(path).ok().flatten().ok_or(SecretFault::Unreadable)?)
}

/// What was read, if it can be a secret: text of up to [`MAX_SECRET_BYTES`] bytes, that can be looked for. It is known from then
/// on. Every secret comes by here: what is not known is not given out.
fn noted(text: Vec<u8>) -> Result<Value, SecretFault> {
    let mut value = Value(text);
    if value.0.ends_with(b"\n") {
        value.0.pop();
        if value.0.ends_with(b"\r") {
            value.0.pop();
        }
    }
    let within = (1..=MAX_SECRET_BYTES).contains(&value.0.len());
    if !within || value.0.contains(&0) || core::str::from_utf8(&value.0).is_err() {
        return Err(SecretFault::Malformed);
    }
    if !is_redactable(value.text()) {
        return Err(SecretFault::Short);
    }
    known::note(value.text())?;
    Ok(value)
}

/// Makes a value known that comes from elsewhere: a token that lies sealed, say.
///
/// # Errors
/// [`NoRoom`]: then it is not used.
pub fn note(value: &[u8]) -> Result<(), NoRoom> {
    core::str::from_utf8(value).map_or(Ok(()), known::note)
}

/// Overwrites what is no longer needed.
pub fn wipe(bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.resize(bytes.capacity(), 0);
    core::hint::black_box(bytes);
}

#[cfg(test)]
mod tests;
