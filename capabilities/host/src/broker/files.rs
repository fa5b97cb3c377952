//! Files below the workspace root, by descriptors that the kernel confines.

mod change;
mod target;

use std::ffi::CStr;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use capability_core::handle::{
    BrokerFault, EntryKind, Fingerprint, Listing, MAX_ENTRIES, MAX_READ_BYTES, MAX_WRITE_BYTES, Workdir,
    WorkspaceEntry, is_plain_path,
};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::environment::random;
use crate::hex;

/// How often a lookup is tried again that another process's renaming kept from ending.
const MAX_TRIES: u32 = 16;

/// A workspace root: opened once, so that whatever happens to its path later it stays the same directory.
#[derive(Debug)]
pub struct Files {
    root: OwnedFd,
    /// Files and directories that are the host's own, wherever they are.
    own: Vec<PathBuf>,
}

impl Files {
    /// Below this directory, and never what is the host's own.
    pub fn new(root: OwnedFd, own: Vec<PathBuf>) -> Self {
        Self { root, own }
    }

    /// A plain file, open to be read. `sole`: one with a second name is refused.
    pub fn open(&self, path: &str, sole: bool) -> Result<OwnedFd, BrokerFault> {
        plain(path)?;
        // Looked at before it is opened: opening alone can do something to a device.
        let there = Identity::of_file(&self.lookup(path, OFlags::PATH)?, sole)?;
        if self.own().any(|own| own == there) {
            return Err(BrokerFault::Protected);
        }
        there.held(self.lookup(path, READING)?)
    }

    /// The hash of a plain file of one name; none when nothing is there.
    pub fn fingerprint(&self, path: &str) -> Result<Option<Fingerprint>, BrokerFault> {
        match self.open(path, true) {
            Ok(file) => hashed(file).map(Some),
            Err(BrokerFault::NotFound) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// What is the host's own, as it is now.
    fn own(&self) -> impl Iterator<Item = Identity> {
        self.own.iter().filter_map(|path| rustix::fs::stat(path).ok().map(|stat| Identity::of(&stat)))
    }

    /// What stands in a directory.
    pub fn entries(&self, path: &str) -> Result<Listing, BrokerFault> {
        let directory = self.directory(path)?;
        let mut listing = Listing::default();
        let mut found = rustix::fs::Dir::read_from(&directory).map_err(fault)?;
        while let Some(entry) = found.read() {
            let entry = entry.map_err(fault)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            if listing.entries.len() >= MAX_ENTRIES {
                return Err(BrokerFault::CapExceeded);
            }
            match name.to_str().ok().filter(|name| is_plain_path(name)) {
                None => listing.unnamed = listing.unnamed.saturating_add(1),
                // What is gone before it is looked at was not there.
                Some(text) => listing.entries.extend(entry_of(&directory, name, text.to_owned())?),
            }
        }
        listing.entries.sort_unstable_by(|one, two| one.name.cmp(&two.name));
        Ok(listing)
    }

    /// Puts a plain file in place: written beside it, made durable, and renamed over it. The rename replaces a *name* in a
    /// directory that is held open: whatever stands under that name by then is not written to and not followed.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<(), BrokerFault> {
        if content.len() > MAX_WRITE_BYTES {
            return Err(BrokerFault::CapExceeded);
        }
        let (directory, name) = self.parent(path)?;
        let mode = match self.standing(&directory, name)? {
            None => Mode::RUSR | Mode::WUSR,
            Some(stat) if stat.st_nlink > 1 => return Err(BrokerFault::HardLinked),
            Some(stat) => kept(&stat),
        };
        let beside = staged(&directory, content, mode)?;
        if let Err(errno) = rustix::fs::renameat(&directory, &beside, &directory, name) {
            discard(&directory, &beside);
            return Err(fault(errno));
        }
        rustix::fs::fsync(&directory).map_err(fault)
    }

    /// Removes a plain file.
    pub fn remove(&self, path: &str) -> Result<(), BrokerFault> {
        let (directory, name) = self.parent(path)?;
        self.standing(&directory, name)?.ok_or(BrokerFault::NotFound)?;
        rustix::fs::unlinkat(&directory, name, AtFlags::empty()).map_err(fault)?;
        rustix::fs::fsync(&directory).map_err(fault)
    }

    /// The directory that a path's last part stands in, and that part.
    fn parent<'p>(&self, path: &'p str) -> Result<(OwnedFd, &'p str), BrokerFault> {
        plain(path)?;
        let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
        Ok((self.directory(directory)?, name))
    }

    /// Which directory a command would run in.
    pub fn workdir(&self, path: &str) -> Result<Workdir, BrokerFault> {
        let stat = rustix::fs::fstat(self.directory(path)?).map_err(fault)?;
        let root = std::fs::read_link(format!("/proc/self/fd/{}", self.root.as_raw_fd()));
        let root = root.ok().and_then(|root| root.into_os_string().into_string().ok());
        Ok(Workdir { device: stat.st_dev, inode: stat.st_ino, root, lasts: false })
    }

    /// The root itself.
    pub fn root(&self) -> &OwnedFd {
        &self.root
    }

    /// A directory, open.
    pub fn directory(&self, path: &str) -> Result<OwnedFd, BrokerFault> {
        if path != "." {
            plain(path)?;
        }
        self.lookup(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// The plain file of that name in a directory, when something is there: never what is the host's own.
    fn standing(&self, directory: &OwnedFd, name: &str) -> Result<Option<rustix::fs::Stat>, BrokerFault> {
        let there = standing(directory, name)?;
        match there.as_ref().map(Identity::of) {
            Some(there) if self.own().any(|own| own == there) => Err(BrokerFault::Protected),
            _ => Ok(there),
        }
    }

    /// Opens below the root: no step up, no link of any kind on the way, no other file system, whatever is renamed meanwhile. What
    /// is mounted below the root is not in the workspace: it may be the host's own directory, or a view of the kernel's.
    fn lookup(&self, path: &str, flags: OFlags) -> Result<OwnedFd, BrokerFault> {
        let confined =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
        for _ in 0..MAX_TRIES {
            match rustix::fs::openat2(&self.root, path, flags | OFlags::CLOEXEC, Mode::empty(), confined) {
                // The kernel could not tell whether a racing rename led outside.
                Err(Errno::AGAIN | Errno::INTR) => {}
                found => return found.map_err(fault),
            }
        }
        Err(BrokerFault::Unavailable)
    }
}

/// NONBLOCK: opening a pipe must not wait for its other end.
const READING: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Which file it is, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    const fn of(stat: &rustix::fs::Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }

    /// Of a plain file. `sole`: one with a second name is refused.
    fn of_file(found: &OwnedFd, sole: bool) -> Result<Self, BrokerFault> {
        let stat = rustix::fs::fstat(found).map_err(fault)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if sole && stat.st_nlink > 1 => Err(BrokerFault::HardLinked),
            FileType::RegularFile => Ok(Self::of(&stat)),
            FileType::Symlink => Err(BrokerFault::OutsideWorkspace),
            _ => Err(BrokerFault::NotAFile),
        }
    }

    /// What was opened after it was looked at, if it is the same file.
    fn held(self, opened: OwnedFd) -> Result<OwnedFd, BrokerFault> {
        if Self::of_file(&opened, false)? == self { Ok(opened) } else { Err(BrokerFault::Changed) }
    }
}

/// The hash of what a file holds.
fn hashed(file: OwnedFd) -> Result<Fingerprint, BrokerFault> {
    let mut content = Vec::new();
    File::from(file).take(MAX_READ_BYTES + 1).read_to_end(&mut content).map_err(|_| BrokerFault::Unavailable)?;
    if content.len() as u64 > MAX_READ_BYTES { Err(BrokerFault::CapExceeded) } else { Ok(Fingerprint::of(&content)) }
}

/// A new file beside where it is to stand, durable, under a name that nobody can foresee.
fn staged(directory: &OwnedFd, content: &[u8], mode: Mode) -> Result<String, BrokerFault> {
    staged_as(directory, beside()?, content, mode)
}

/// Nothing that stands there already is opened, followed or replaced, and until it is whole it is the host user's alone.
fn staged_as(directory: &OwnedFd, name: String, content: &[u8], mode: Mode) -> Result<String, BrokerFault> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fresh = rustix::fs::openat(directory, &name, flags, Mode::RUSR | Mode::WUSR).map_err(fault)?;
    let put = || {
        let mut fresh = File::from(fresh);
        fresh.write_all(content).map_err(|_| BrokerFault::Unavailable)?;
        rustix::fs::fchmod(&fresh, mode).map_err(fault)?;
        fresh.sync_all().map_err(|_| BrokerFault::Unavailable)
    };
    match put() {
        Ok(()) => Ok(name),
        Err(fault) => {
            discard(directory, &name);
            Err(fault)
        }
    }
}

fn beside() -> Result<String, BrokerFault> {
    let suffix = random::<8>().map_err(|_| BrokerFault::Unavailable)?;
    Ok(format!(".{}.new", hex::encode(&suffix)))
}

/// Best effort: what is left behind is the host user's alone, under a name that nobody asked for.
fn discard(directory: &OwnedFd, name: &str) {
    let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
}

/// The permissions that a file keeps.
const fn kept(stat: &rustix::fs::Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode).intersection(Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO))
}

fn plain(path: &str) -> Result<(), BrokerFault> {
    if is_plain_path(path) { Ok(()) } else { Err(BrokerFault::MalformedPath) }
}

/// The plain file of that name in a directory, when something is there.
fn standing(directory: &OwnedFd, name: &str) -> Result<Option<rustix::fs::Stat>, BrokerFault> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(fault(errno)),
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Some(stat)),
            FileType::Symlink => Err(BrokerFault::OutsideWorkspace),
            _ => Err(BrokerFault::NotAFile),
        },
    }
}

fn entry_of(directory: &OwnedFd, name: &CStr, text: String) -> Result<Option<WorkspaceEntry>, BrokerFault> {
    let stat = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(None),
        stat => stat.map_err(fault)?,
    };
    let (kind, bytes) = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => (EntryKind::File, u64::try_from(stat.st_size).unwrap_or(0)),
        FileType::Directory => (EntryKind::Directory, 0),
        _ => (EntryKind::Other, 0),
    };
    Ok(Some(WorkspaceEntry { name: text, kind, bytes }))
}

/// What the kernel's answer means for the caller.
fn fault(errno: Errno) -> BrokerFault {
    match errno {
        Errno::NOENT | Errno::NOTDIR => BrokerFault::NotFound,
        // A link on the way, a step outside, and a mount or magic link that leads elsewhere.
        Errno::LOOP | Errno::XDEV => BrokerFault::OutsideWorkspace,
        Errno::ACCESS | Errno::PERM | Errno::ROFS => BrokerFault::NotPermitted,
        Errno::ISDIR | Errno::NXIO | Errno::NODEV => BrokerFault::NotAFile,
        Errno::NAMETOOLONG | Errno::INVAL => BrokerFault::MalformedPath,
        _ => BrokerFault::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use capability_core::handle::BrokerFault;
    use rustix::fs::Mode;

    use super::{beside, staged, staged_as};

    #[test]
    fn a_staged_file_is_new_hidden_and_nobody_elses() {
        let place = tempfile::tempdir().unwrap();
        let directory = OwnedFd::from(std::fs::File::open(place.path()).unwrap());
        let own = Mode::RUSR.union(Mode::WUSR);
        let name = staged(&directory, b"text", own).unwrap();
        assert!(name.starts_with('.') && name.len() > 16, "{name}");
        let mode = place.path().join(&name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o600);
        // Whatever stands there by then is neither followed nor replaced.
        std::fs::write(place.path().join("target"), "as it was").unwrap();
        symlink("target", place.path().join("planted")).unwrap();
        for taken in [name, "planted".to_owned(), "target".to_owned()] {
            let refused = staged_as(&directory, taken.clone(), b"text", own);
            assert!(matches!(refused, Err(BrokerFault::Unavailable)), "{taken}: {refused:?}");
        }
        assert_eq!(std::fs::read_to_string(place.path().join("target")).unwrap(), "as it was");
        assert!(place.path().join("planted").is_symlink());
        let names: std::collections::BTreeSet<_> = (0..1000).map(|_| beside().unwrap()).collect();
        assert_eq!(names.len(), 1000);
    }
}
