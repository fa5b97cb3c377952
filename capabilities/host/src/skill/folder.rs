//! Reads a package from its folder: every step by a descriptor, no link followed, nothing read beyond what a skill may have.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use capability_core::skill::{MAX_RESOURCES, MAX_SKILL_BYTES};
use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::PackageFault;
use super::package::Package;

/// How deep folders nest in a skill.
const MAX_DEPTH: usize = 8;
/// The most files and folders that are looked at: its resources, two files of its own, and folders for them.
const MAX_ENTRIES: usize = 2 * MAX_RESOURCES;
/// The most skills of one folder.
pub(super) const MAX_SKILLS: usize = 64;

/// The names of the packages in a folder, in order: those that can be one.
///
/// # Errors
/// [`PackageFault`] when the folder cannot be read, or is a link.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, PackageFault> {
    let opened = rustix::fs::open(folder, flags() | OFlags::DIRECTORY, Mode::empty())
        .map_err(|error| opening(error, &folder.display().to_string()))?;
    let mut names = Vec::new();
    for name in entries(opened.as_fd(), "", &mut (8 * MAX_SKILLS))? {
        // What is beside the packages, such as a read-me, is none of them.
        if capability_core::handle::is_configured_name(&name) {
            names.push(name);
        }
    }
    names.sort();
    names.truncate(MAX_SKILLS);
    Ok(names)
}

/// Everything in the folder of one package; none where there is no such folder.
///
/// # Errors
/// [`PackageFault`] names the first thing that stands against it.
pub(super) fn read(folder: &Path, name: &str) -> Result<Option<Package>, PackageFault> {
    let top = rustix::fs::open(folder, flags() | OFlags::DIRECTORY, Mode::empty())
        .map_err(|error| opening(error, &folder.display().to_string()))?;
    let own = match rustix::fs::openat(&top, name, flags() | OFlags::DIRECTORY, Mode::empty()) {
        Ok(own) => own,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(opening(error, name)),
    };
    let mut reading = Reading { files: BTreeMap::new(), entries: MAX_ENTRIES, room: MAX_SKILL_BYTES };
    reading.folder(own.as_fd(), "", 0)?;
    let Reading { mut files, .. } = reading;
    let mut part = |file: &'static str| files.remove(file).ok_or(PackageFault::Missing(file));
    let (manifest, instructions) = (part("skill.toml")?, part("SKILL.md")?);
    Ok(Some(Package { manifest, instructions, resources: files }))
}

struct Reading {
    files: BTreeMap<String, Vec<u8>>,
    /// How many more entries are looked at.
    entries: usize,
    /// How many more bytes are read.
    room: usize,
}

impl Reading {
    fn folder(&mut self, folder: BorrowedFd<'_>, path: &str, depth: usize) -> Result<(), PackageFault> {
        if depth > MAX_DEPTH {
            return Err(PackageFault::TooDeep(path.to_owned()));
        }
        for name in entries(folder, path, &mut self.entries)? {
            let at = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
            if !name.bytes().all(plain) || name.starts_with('.') {
                return Err(PackageFault::Name(at));
            }
            let opened = rustix::fs::openat(folder, name.as_str(), flags(), Mode::empty());
            let opened = opened.map_err(|error| opening(error, &at))?;
            let found = rustix::fs::fstat(&opened).map_err(|error| opening(error, &at))?;
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory => self.folder(opened.as_fd(), &at, depth + 1)?,
                FileType::RegularFile if found.st_nlink > 1 => return Err(PackageFault::Linked(at)),
                FileType::RegularFile => {
                    let bytes = self.file(opened, &at)?;
                    self.files.insert(at, bytes);
                }
                _ => return Err(PackageFault::NotAFile(at)),
            }
        }
        Ok(())
    }

    fn file(&mut self, opened: OwnedFd, at: &str) -> Result<Vec<u8>, PackageFault> {
        let mut bytes = Vec::new();
        let most = u64::try_from(self.room).unwrap_or(u64::MAX).saturating_add(1);
        let read = File::from(opened).take(most).read_to_end(&mut bytes);
        read.map_err(|_| PackageFault::Unreadable(at.to_owned()))?;
        self.room = self.room.checked_sub(bytes.len()).ok_or(PackageFault::TooLarge)?;
        Ok(bytes)
    }
}

/// Read, follow nothing, and wait for nobody: opening a pipe that somebody put there must not wait for its other end.
fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

/// The names in a folder. Each takes from what is left to be looked at.
fn entries(folder: BorrowedFd<'_>, path: &str, left: &mut usize) -> Result<Vec<String>, PackageFault> {
    let unreadable = |_| PackageFault::Unreadable(path.to_owned());
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy();
        if matches!(&*name, "." | "..") {
            continue;
        }
        *left = left.checked_sub(1).ok_or(PackageFault::TooMany)?;
        names.push(name.into_owned());
    }
    Ok(names)
}

fn opening(error: Errno, path: &str) -> PackageFault {
    match error {
        // A link, or what is opened as a folder and is none.
        Errno::LOOP | Errno::NOTDIR => PackageFault::Link(path.to_owned()),
        Errno::NXIO => PackageFault::NotAFile(path.to_owned()),
        _ => PackageFault::Unreadable(path.to_owned()),
    }
}
