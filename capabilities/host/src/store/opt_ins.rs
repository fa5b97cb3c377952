//! The switches of external families: one small file each.

use std::io;
use std::path::PathBuf;

use capability_core::policy::OptIn;
use capability_core::store::OptIns;

use crate::data_dir::{DataDirError, check_dir, create_dir, read_private, write_private};

/// Switches in one directory, read at every call so that an operator's change counts from the next call on.
///
/// A family's file holds exactly `on` or `off` and a line break. Anything else, a file that others can reach and a link
/// included, is damaged, which counts as off; no file at all is off.
#[derive(Debug)]
pub struct FileOptIns {
    dir: PathBuf,
}

/// Why a switch could not be set.
#[derive(Debug)]
#[non_exhaustive]
pub enum OptInError {
    /// That is no family's name.
    NotAFamily,
    /// The file cannot be written.
    File(DataDirError),
}

impl core::fmt::Display for OptInError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::NotAFamily => f.write_str(
                "that is no family: a family is the first segment of a capability's name\n\
                 help: see the families with `capability list`",
            ),
            Self::File(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for OptInError {}

impl FileOptIns {
    /// The switches in `dir`, which is made when it is not there.
    ///
    /// # Errors
    /// [`DataDirError`] when the directory is not the host's alone.
    pub fn open(dir: PathBuf) -> Result<Self, DataDirError> {
        if std::fs::symlink_metadata(&dir).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            create_dir(&dir).map_err(DataDirError::io("make", &dir))?;
        }
        check_dir(&dir)?;
        Ok(Self { dir })
    }

    /// Turns a family on or off; durable when this returns.
    ///
    /// # Errors
    /// [`OptInError`].
    pub fn set(&self, family: &str, on: bool) -> Result<(), OptInError> {
        let path = self.file(family).ok_or(OptInError::NotAFamily)?;
        // A link in the file's place is replaced itself, never followed; a directory there is an error.
        write_private(&path, if on { b"on\n" } else { b"off\n" }).map_err(OptInError::File)
    }

    /// The file of a family; none for a text that is no family.
    fn file(&self, family: &str) -> Option<PathBuf> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        let named =
            family.starts_with(|c: char| c.is_ascii_lowercase()) && family.len() <= 56 && family.bytes().all(plain);
        named.then(|| self.dir.join(family))
    }
}

impl OptIns for FileOptIns {
    fn state(&self, family: &str) -> OptIn {
        let Some(path) = self.file(family) else {
            return OptIn::Damaged;
        };
        match read_private(&path) {
            Ok(None) => OptIn::Off,
            Ok(Some(bytes)) => match bytes.as_slice() {
                b"on\n" => OptIn::On,
                b"off\n" => OptIn::Off,
                _ => OptIn::Damaged,
            },
            Err(_) => OptIn::Damaged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FileOptIns;
    use capability_core::policy::OptIn;
    use capability_core::store::OptIns;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn anything_but_a_clean_word_is_damaged() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("optin");
        let opt_ins = FileOptIns::open(dir.clone()).unwrap();
        assert_eq!(opt_ins.state("web"), OptIn::Off);
        opt_ins.set("web", true).unwrap();
        assert_eq!((opt_ins.state("web"), opt_ins.state("pihole")), (OptIn::On, OptIn::Off));
        opt_ins.set("web", false).unwrap();
        assert_eq!(opt_ins.state("web"), OptIn::Off);
        for wrong in ["", "on", "on\r\n", "On\n", " on\n", "on\n\n", "off", "true\n", "on\n\0"] {
            fs::write(dir.join("web"), wrong).unwrap();
            assert_eq!(opt_ins.state("web"), OptIn::Damaged, "{wrong:?}");
        }
        opt_ins.set("web", true).unwrap();
        assert_eq!(fs::metadata(dir.join("web")).unwrap().permissions().mode() & 0o7777, 0o600);
        fs::set_permissions(dir.join("web"), fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(opt_ins.state("web"), OptIn::Damaged);
    }

    #[test]
    fn links_directories_and_strange_names_are_damaged() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("optin");
        let opt_ins = FileOptIns::open(dir.clone()).unwrap();
        opt_ins.set("web", true).unwrap();
        symlink(dir.join("web"), dir.join("mail")).unwrap();
        fs::create_dir(dir.join("fs")).unwrap();
        for family in ["mail", "fs", "../optin/web", "WEB", "", "a/b", ".", "web.search"] {
            assert_eq!(opt_ins.state(family), OptIn::Damaged, "{family:?}");
        }
        for family in ["../x", "", "WEB", "web.search"] {
            assert!(opt_ins.set(family, true).is_err(), "{family:?}");
        }
    }
}
