//! Several files changed, all or none.
//!
//! Each new content is durable beside its place before the first is put there. A file that is replaced changes places with the
//! new one, and what was there is looked at once more *then*: if it is not what was shown, it is put back. Until the last one
//! is in place, everything that was there is still there under another name.

use std::os::fd::OwnedFd;

use capability_core::handle::{BrokerFault, FileChange, MAX_CHANGES, MAX_WRITE_BYTES};
use rustix::fs::{AtFlags, Mode, RenameFlags};
use rustix::io::Errno;

use super::{Files, READING, beside, discard, fault, hashed, kept, plain, staged, standing};

/// One change, as far as it has come.
struct Step<'c> {
    change: &'c FileChange,
    name: &'c str,
    directory: OwnedFd,
    /// The name beside it: of the new content before the change is made, of what was there afterwards.
    beside: Option<String>,
    /// Whether it is made.
    made: bool,
}

/// What was begun: taken back when it is dropped before it is kept.
struct Begun<'c> {
    steps: Vec<Step<'c>>,
    /// Directories that were made, each with the one it stands in.
    directories: Vec<(OwnedFd, String)>,
}

impl Files {
    /// Makes all the changes or none. `shown` says whether a preview rests on a file as it is.
    pub fn change(&self, changes: &[FileChange], shown: impl Fn(&[u8; 32]) -> bool) -> Result<(), BrokerFault> {
        check(changes, shown)?;
        let mut begun = Begun { steps: Vec::with_capacity(changes.len()), directories: Vec::new() };
        match self.made(changes, &mut begun) {
            Ok(()) => begun.keep(),
            // Whoever reads the fault may take it that nothing has changed, unless it says that nobody knows.
            Err(fault) => Err(if begun.take_back() { fault } else { BrokerFault::Unavailable }),
        }
    }

    fn made<'c>(&self, changes: &'c [FileChange], begun: &mut Begun<'c>) -> Result<(), BrokerFault> {
        for change in changes {
            let (directory, name) = self.parent_of(change, begun)?;
            let mode = match self.standing(&directory, name)? {
                Some(stat) if stat.st_nlink > 1 => return Err(BrokerFault::HardLinked),
                stat => stat.as_ref().map_or(Mode::RUSR | Mode::WUSR, kept),
            };
            // Nothing is written for what is no longer what was shown.
            if found(&directory, name)? != change.before {
                return Err(BrokerFault::Changed);
            }
            let beside = change.content.as_ref().map(|content| staged(&directory, content, mode)).transpose()?;
            begun.steps.push(Step { change, name, directory, beside, made: false });
        }
        begun.steps.iter_mut().try_for_each(Step::make)
    }

    /// The directory that a change is made in, made if need be, and the name in it.
    fn parent_of<'c>(&self, change: &'c FileChange, begun: &mut Begun<'c>) -> Result<(OwnedFd, &'c str), BrokerFault> {
        match self.parent(&change.path) {
            Err(BrokerFault::NotFound) if change.before.is_none() && change.content.is_some() => {}
            found => return found,
        }
        let (directories, name) = change.path.rsplit_once('/').unwrap_or((".", &change.path));
        let mut reached = String::new();
        for part in directories.split('/') {
            let above = if reached.is_empty() { "." } else { &reached };
            let above = self.directory(above)?;
            match rustix::fs::mkdirat(&above, part, Mode::RWXU) {
                Ok(()) => begun.directories.push((above, part.to_owned())),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(fault(errno)),
            }
            if !reached.is_empty() {
                reached.push('/');
            }
            reached.push_str(part);
        }
        Ok((self.directory(directories)?, name))
    }
}

/// What can be said of the changes before anything is looked at.
fn check(changes: &[FileChange], shown: impl Fn(&[u8; 32]) -> bool) -> Result<(), BrokerFault> {
    let bytes = changes.iter().filter_map(|change| change.content.as_ref()).map(Vec::len).sum::<usize>();
    if changes.len() > MAX_CHANGES || bytes > MAX_WRITE_BYTES {
        return Err(BrokerFault::CapExceeded);
    }
    for (at, change) in changes.iter().enumerate() {
        plain(&change.path)?;
        let twice = changes.iter().take(at).any(|other| other.path == change.path);
        if twice || (change.before.is_none() && change.content.is_none()) {
            return Err(BrokerFault::MalformedPath);
        }
        if !shown(&FileChange::shown(&change.path, change.before.as_ref())) {
            return Err(BrokerFault::Changed);
        }
    }
    Ok(())
}

/// The hash of the plain file of that name; none when nothing is there.
fn found(directory: &OwnedFd, name: &str) -> Result<Option<[u8; 32]>, BrokerFault> {
    match rustix::fs::openat(directory, name, READING, Mode::empty()) {
        Ok(file) => Ok(Some(hashed(file)?.sha256)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(fault(errno)),
    }
}

impl Step<'_> {
    /// Makes the change, and looks at what was there.
    fn make(&mut self) -> Result<(), BrokerFault> {
        match (&self.beside, self.change.before) {
            (Some(new), None) => {
                self.create(new)?;
                self.beside = None;
                self.made = true;
                Ok(())
            }
            (Some(new), Some(before)) => {
                self.beside = Some(self.exchange(new)?);
                self.made = true;
                self.displaced_is(before)
            }
            (None, before) => {
                let aside = beside()?;
                rustix::fs::renameat(&self.directory, self.name, &self.directory, &aside).map_err(fault)?;
                self.beside = Some(aside);
                self.made = true;
                before.map_or(Ok(()), |before| self.displaced_is(before))
            }
        }
    }

    /// Puts a new file where nothing is.
    fn create(&self, new: &str) -> Result<(), BrokerFault> {
        let at = &self.directory;
        let made = match rustix::fs::renameat_with(at, new, at, self.name, RenameFlags::NOREPLACE) {
            // A file system without this kind of renaming; a second name is given to nothing but what has none yet, too.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::linkat(at, new, at, self.name, AtFlags::empty()).inspect(|()| discard(at, new))
            }
            made => made,
        };
        made.map_err(|errno| if errno == Errno::EXIST { BrokerFault::Changed } else { fault(errno) })
    }

    /// Puts a new file in the place of another, and gives the name that the other has then.
    fn exchange(&self, new: &str) -> Result<String, BrokerFault> {
        let at = &self.directory;
        match rustix::fs::renameat_with(at, new, at, self.name, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(new.to_owned()),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                let aside = beside()?;
                rustix::fs::linkat(at, self.name, at, &aside, AtFlags::empty()).map_err(fault)?;
                match rustix::fs::renameat(at, new, at, self.name) {
                    Ok(()) => Ok(aside),
                    Err(errno) => {
                        discard(at, &aside);
                        Err(fault(errno))
                    }
                }
            }
            Err(errno) => Err(fault(errno)),
        }
    }

    /// Whether what was there is what was shown.
    fn displaced_is(&self, before: [u8; 32]) -> Result<(), BrokerFault> {
        let Some(aside) = &self.beside else { return Err(BrokerFault::Unavailable) };
        match standing(&self.directory, aside) {
            Ok(Some(stat)) if stat.st_nlink == 1 && found(&self.directory, aside)? == Some(before) => Ok(()),
            _ => Err(BrokerFault::Changed),
        }
    }

    /// Takes the change back; whether it could.
    fn take_back(&self) -> bool {
        let at = &self.directory;
        match (&self.beside, self.made) {
            (Some(new), false) => {
                discard(at, new);
                true
            }
            (None, false) => true,
            // What was there gets its name again; the new file goes with it.
            (Some(aside), true) => rustix::fs::renameat(at, aside, at, self.name).is_ok(),
            (None, true) => rustix::fs::unlinkat(at, self.name, AtFlags::empty()).is_ok(),
        }
    }
}

impl Begun<'_> {
    /// Makes the changes last, and lets go of what was there.
    fn keep(self) -> Result<(), BrokerFault> {
        for Step { directory, beside, .. } in &self.steps {
            if let Some(aside) = beside {
                discard(directory, aside);
            }
            rustix::fs::fsync(directory).map_err(fault)?;
        }
        self.directories.iter().try_for_each(|(above, _)| rustix::fs::fsync(above).map_err(fault))
    }

    fn take_back(&self) -> bool {
        let mut all = true;
        for step in self.steps.iter().rev() {
            all &= step.take_back();
        }
        for (above, name) in self.directories.iter().rev() {
            // Left where somebody else has put something into it meanwhile.
            let _ = rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR);
        }
        all
    }
}
