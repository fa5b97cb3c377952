//! Tokens for servers, encrypted where they lie: one file for each server and owner.
//!
//! The key lies in the same directory as a file of its own. It keeps a token from whoever gets one of the files, a copy or a
//! backup without the key; whoever reads as the host's user reads both.

use std::path::{Path, PathBuf};

use capability_core::handle::{BrokerFault, MAX_SECRET_BYTES};
use capability_core::redact::MIN_REDACTED_BYTES;
use capability_core::session::Subject;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sha2::{Digest as _, Sha256};

use crate::data_dir::{DataDirError, check_dir, create_dir, read_private, write_private};
use crate::environment::random;
use crate::hex;
use crate::secrets::{NoRoom, note, private_text, wipe};

/// Where tokens lie.
#[derive(Debug)]
pub struct Credentials(PathBuf);

/// Why a token is not kept or not given out. Nothing of it is in the text.
#[derive(Debug)]
#[non_exhaustive]
pub enum CredentialFault {
    /// It is too short to be found again in what its server says, longer than a secret may be, or holds what no header takes.
    Form,
    /// It does not open with this directory's key: damaged, or another server's or owner's.
    Sealed,
    /// The file of the operator's cannot be read, or holds no token.
    File,
    /// What stands in the file of the operator's is too short to be found again in what its server says.
    Short,
    /// The host knows as many secrets as it can look for.
    Full,
    /// The directory is not the host's alone, or cannot be written.
    Directory(DataDirError),
}

impl core::fmt::Display for CredentialFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Form => f.write_str(
                "that is no token: one is a single line of 8 and more characters of plain ASCII without spaces\n\
                 help: write it to standard input, as in `capability providers credential set SERVER < FILE`",
            ),
            Self::Sealed => f.write_str(
                "a stored token does not open with this directory's key\n\
                 help: set it anew with `capability providers credential set SERVER`",
            ),
            Self::File => f.write_str(
                "the configured token file cannot be read\nhelp: write it readable for the host alone (mode 0600)",
            ),
            Self::Short => f.write_str(
                "the configured token is shorter than 8 bytes\nhelp: a shorter one could not be kept out of what goes out",
            ),
            Self::Full => f.write_str(
                "the host knows as many secrets as it can look for\nhelp: start it again, and look at `capability doctor`",
            ),
            Self::Directory(error) => error.fmt(f),
        }
    }
}

impl From<NoRoom> for CredentialFault {
    fn from(NoRoom: NoRoom) -> Self {
        Self::Full
    }
}

impl core::error::Error for CredentialFault {}

impl From<DataDirError> for CredentialFault {
    fn from(error: DataDirError) -> Self {
        Self::Directory(error)
    }
}

const KEY: &str = "key";

impl Credentials {
    /// In this directory, which is made when the first token is kept.
    pub const fn new(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Keeps a token for a server: a subject's own, or the one for everybody.
    ///
    /// # Errors
    /// [`CredentialFault`]; what was kept before is kept still.
    pub fn set(&self, server: &str, subject: Option<&Subject>, token: &str) -> Result<(), CredentialFault> {
        if !is_token(token.as_bytes()) {
            return Err(CredentialFault::Form);
        }
        note(token.as_bytes())?;
        let key = self.key(true)?.ok_or(CredentialFault::Sealed)?;
        let nonce = random::<NONCE_LEN>().map_err(DataDirError::Randomness)?;
        let mut sealed = token.as_bytes().to_vec();
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), owner(server, subject), &mut sealed)
            .map_err(|_| CredentialFault::Form)?;
        Ok(write_private(&self.file(server, subject), &[nonce.as_slice(), &sealed].concat())?)
    }

    /// Forgets a token, and says whether there was one.
    ///
    /// # Errors
    /// [`CredentialFault::Directory`].
    pub fn remove(&self, server: &str, subject: Option<&Subject>) -> Result<bool, CredentialFault> {
        let file = self.file(server, subject);
        match std::fs::remove_file(&file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(DataDirError::io("remove", &file)(error).into()),
        }
    }

    /// The subject's own token, else the one for everybody, else what the operator's file holds.
    ///
    /// # Errors
    /// [`CredentialFault`]. A token that is there and cannot be read is not passed over.
    pub fn token(
        &self,
        server: &str,
        subject: Option<&Subject>,
        file: Option<&Path>,
    ) -> Result<Option<Vec<u8>>, CredentialFault> {
        for owner in [subject, None].iter().skip(usize::from(subject.is_none())) {
            if let Some(token) = self.open(server, *owner)? {
                return Ok(Some(token));
            }
        }
        let Some(file) = file else { return Ok(None) };
        let mut token = private_text(file).map_err(|fault| match fault {
            BrokerFault::CredentialShort => CredentialFault::Short,
            BrokerFault::SecretsFull => CredentialFault::Full,
            _ => CredentialFault::File,
        })?;
        if is_token(&token) {
            return Ok(Some(token));
        }
        wipe(&mut token);
        Err(CredentialFault::File)
    }

    /// The subject's own token, and no other one.
    ///
    /// # Errors
    /// [`CredentialFault`].
    pub fn own(&self, server: &str, subject: &Subject) -> Result<Option<Vec<u8>>, CredentialFault> {
        self.open(server, Some(subject))
    }

    /// Whether the subject has a token of its own, as far as can be told: where that cannot be looked at it has one, so that
    /// nothing is taken for everybody's that may be its own.
    pub fn has_own(&self, server: &str, subject: &Subject) -> bool {
        let file = self.file(server, Some(subject));
        !std::fs::symlink_metadata(file).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
    }

    fn open(&self, server: &str, subject: Option<&Subject>) -> Result<Option<Vec<u8>>, CredentialFault> {
        let Some(mut sealed) = self.read(&self.file(server, subject))? else { return Ok(None) };
        let key = self.key(false)?.ok_or(CredentialFault::Sealed)?;
        let nonce = sealed.get(..NONCE_LEN).and_then(|nonce| <[u8; NONCE_LEN]>::try_from(nonce).ok());
        let nonce = Nonce::assume_unique_for_key(nonce.ok_or(CredentialFault::Sealed)?);
        let opened = key.open_within(nonce, owner(server, subject), &mut sealed, NONCE_LEN..);
        let token = opened.map_err(|_| CredentialFault::Sealed)?.to_vec();
        note(&token)?;
        Ok(Some(token))
    }

    fn key(&self, make: bool) -> Result<Option<LessSafeKey>, CredentialFault> {
        let path = self.0.join(KEY);
        let bytes = match self.read(&path)? {
            Some(bytes) => bytes,
            None if make => {
                if !self.0.exists() {
                    create_dir(&self.0).map_err(DataDirError::io("make", &self.0))?;
                }
                check_dir(&self.0)?;
                let key = random::<32>().map_err(DataDirError::Randomness)?.to_vec();
                write_private(&path, &key)?;
                key
            }
            None => return Ok(None),
        };
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| CredentialFault::Sealed)?;
        Ok(Some(LessSafeKey::new(key)))
    }

    /// A file of the directory; none while there is no directory.
    fn read(&self, file: &Path) -> Result<Option<Vec<u8>>, CredentialFault> {
        if !self.0.exists() {
            return Ok(None);
        }
        check_dir(&self.0)?;
        Ok(read_private(file)?)
    }

    /// Names of subjects can be longer than names of files, and hold what those cannot.
    fn file(&self, server: &str, subject: Option<&Subject>) -> PathBuf {
        let whose = subject.map_or_else(
            || "all".to_owned(),
            |subject| {
                let hash = Sha256::digest(subject.as_str());
                hex::encode(hash.get(..16).unwrap_or_default())
            },
        );
        self.0.join(format!("{server}.{whose}"))
    }
}

/// What a token is bound to: put in another's place, it does not open.
fn owner(server: &str, subject: Option<&Subject>) -> Aad<Vec<u8>> {
    let subject = subject.map_or("", Subject::as_str);
    Aad::from([server.as_bytes(), &[0], subject.as_bytes()].concat())
}

fn is_token(token: &[u8]) -> bool {
    (MIN_REDACTED_BYTES..=MAX_SECRET_BYTES).contains(&token.len()) && token.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::{CredentialFault, Credentials};
    use capability_core::session::Subject;

    #[test]
    fn a_token_is_its_servers_and_owners_and_lies_sealed() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("credentials");
        let (kept, child): (_, Subject) = (Credentials::new(place.clone()), "member:child".parse().unwrap());
        let token = |server: &str, subject: Option<&Subject>| {
            kept.token(server, subject, None).unwrap().map(|token| String::from_utf8(token).unwrap())
        };
        assert_eq!(token("docs", None), None);
        kept.set("docs", None, "for-everybody").unwrap();
        assert_eq!(token("docs", Some(&child)).as_deref(), Some("for-everybody"));
        kept.set("docs", Some(&child), "for-the-child").unwrap();
        assert_eq!(token("docs", Some(&child)).as_deref(), Some("for-the-child"));
        assert_eq!(token("docs", None).as_deref(), Some("for-everybody"));
        assert_eq!(token("other", Some(&child)), None);
        for file in std::fs::read_dir(&place).unwrap() {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            assert!(!String::from_utf8_lossy(&bytes).contains("for-"));
        }
        // In another owner's or server's place it does not open, and is not passed over.
        let files = [kept.file("docs", None), kept.file("docs", Some(&child)), kept.file("other", None)];
        for (from, to) in [(&files[1], &files[0]), (&files[1], &files[2])] {
            std::fs::copy(from, to).unwrap();
        }
        for server in ["docs", "other"] {
            assert!(matches!(kept.token(server, None, None), Err(CredentialFault::Sealed)), "{server}");
        }
        assert!(kept.remove("docs", Some(&child)).unwrap() && !kept.remove("docs", Some(&child)).unwrap());
    }

    /// From a file of the operator's as by the command.
    #[test]
    fn a_token_in_a_file_is_no_shorter_than_another() {
        let dir = tempfile::tempdir().unwrap();
        let (kept, file) = (Credentials::new(dir.path().join("credentials")), dir.path().join("token"));
        let read = |token: &str| {
            std::fs::write(&file, token).unwrap();
            std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
            kept.token("docs", None, Some(&file))
        };
        let fault = read("7-short\n").unwrap_err();
        assert!(matches!(fault, CredentialFault::Short) && !fault.to_string().contains("7-short"), "{fault}");
        assert_eq!(read("8-shorts\n").unwrap().unwrap(), b"8-shorts");
    }

    #[test]
    fn what_no_header_takes_is_no_token() {
        let dir = tempfile::tempdir().unwrap();
        let kept = Credentials::new(dir.path().join("credentials"));
        for token in ["", "7-short", "two words", "line\nbreak", "caf\u{e9}", &"x".repeat(10_000)] {
            assert!(matches!(kept.set("docs", None, token), Err(CredentialFault::Form)), "{token:?}");
        }
    }
}
