//! Files below a workspace root.

use core::marker::PhantomData;
use std::fs::File;
use std::io::Read as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Changes, Handle, HandleKind, OnDevice, Reads, Targetless, sealed,
};
use crate::call::Call;

/// The longest path, in bytes.
pub const MAX_PATH_BYTES: usize = 1024;
/// The most bytes that [`Workspace::read`] reads, whatever it is asked for.
pub const MAX_READ_BYTES: u64 = 8 * 1024 * 1024;
/// The most bytes that [`Workspace::write`] writes.
pub const MAX_WRITE_BYTES: usize = 1024 * 1024;
/// The most entries that [`Workspace::entries`] tells.
pub const MAX_ENTRIES: usize = 4096;
/// The most files that [`Workspace::change`] changes.
pub const MAX_CHANGES: usize = 64;

/// Marker: files are read.
pub struct Read;
/// Marker: files are read and written.
pub struct Write;

/// [`Read`] or [`Write`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a workspace is lent for, and `#[capability]` knows two: it is read, or it is read and written\nhelp: write `&Workspace<Read>` or `&Workspace<Write>`, from `capability_core::handle`",
    label = "neither `Read` nor `Write`"
)]
pub trait WorkspaceAccess: sealed::Sealed + Send + Sync + 'static {
    /// What holding a workspace with this access means for the class.
    type Power;
    /// Whether files may be written.
    #[doc(hidden)]
    const MAY_CHANGE: bool;
}
impl sealed::Sealed for Read {}
impl sealed::Sealed for Write {}
impl WorkspaceAccess for Read {
    type Power = Reads;
    const MAY_CHANGE: bool = false;
}
impl WorkspaceAccess for Write {
    type Power = Changes;
    const MAY_CHANGE: bool = true;
}

/// A workspace root: files below it and no others, by descriptors that the kernel confines.
///
/// Paths are relative to the root, with `/` between their parts: no `..`, no leading `/`. A path that leads over a link of
/// any kind is refused, wherever the link leads.
///
/// A file with a name that says that it is secret ([`is_sensitive_path`](super::is_sensitive_path)) is only read or written by
/// a call whose `target` is that very path, once a person has answered it: a `preview` that
/// raises the call has it asked. One with a name that says that others run it or believe it
/// ([`is_protected_path`](super::is_protected_path)) is never changed.
///
/// A host without a configured workspace does not serve it: a capability that takes it is then refused at policy with
/// `missing_runtime_binding`, visible to operators.
///
/// ```
/// use capability_core::handle::{BrokerFault, Workspace, Write};
///
/// async fn sign(workspace: &Workspace<Write>) -> Result<(), BrokerFault> {
///     let mut text = workspace.read("notes/today.md", 64 * 1024).await?;
///     text.extend_from_slice(b"\nread and signed\n");
///     workspace.write("notes/today.md", text).await
/// }
/// ```
pub struct Workspace<A>(Call, PhantomData<A>);

impl<A> Workspace<A> {
    /// A plain file, open to be read.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedPath`], [`BrokerFault::NotFound`], [`BrokerFault::OutsideWorkspace`],
    /// [`BrokerFault::NotAFile`] and [`BrokerFault::NotPermitted`], and which one.
    pub async fn open(&self, path: &str) -> Result<File, BrokerFault> {
        self.opened(path, false).await
    }

    /// The same of a file that has no second name: what it holds is in the workspace and nowhere else.
    ///
    /// # Errors
    /// Those of [`Workspace::open`], and [`BrokerFault::HardLinked`] for a file with a second name.
    pub async fn open_sole(&self, path: &str) -> Result<File, BrokerFault> {
        self.opened(path, true).await
    }

    async fn opened(&self, path: &str, sole: bool) -> Result<File, BrokerFault> {
        if !is_plain_path(path) {
            return Err(BrokerFault::MalformedPath);
        }
        match self.0.ask(BrokerRequest::Open { path: path.to_owned(), sole }).await? {
            BrokerReply::Descriptor(file) => Ok(file.into()),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// The file that the call's `target` of kind `path` names from the root of the file system, open to be read: exactly the
    /// approved path, once a person has answered this very call. There is nothing to name here.
    ///
    /// # Errors
    /// [`BrokerFault::Unanswered`] when no person answered this very call; [`BrokerFault::Unconfirmed`] in a `preview`;
    /// [`BrokerFault::Protected`] for what is the host's own or the kernel's; [`BrokerFault::InsideWorkspace`] for a way into
    /// the workspace that its rules are not about; those of [`Workspace::open_sole`].
    pub async fn open_target(&self) -> Result<File, BrokerFault> {
        match self.0.ask(BrokerRequest::OpenTarget).await? {
            BrokerReply::Descriptor(file) => Ok(file.into()),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Where the path from the root of the file system leads that the call's `target` names. A `preview` may ask it.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedPath`] when it is no such path; [`BrokerFault::Unavailable`] when it cannot be told.
    pub async fn target_place(&self) -> Result<TargetPlace, BrokerFault> {
        match self.0.ask(BrokerRequest::PlaceTarget).await? {
            BrokerReply::Placed(place) => Ok(place),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// The hash of a plain file's content: what an approval rests on, without what stands in it. `None` when nothing is there.
    /// That of a file with a secret's name is told to a call that changes files and whose `target` it is, so that its preview
    /// can rest on it, and otherwise only once a person has answered for that very path.
    ///
    /// # Errors
    /// Those of [`Workspace::open_sole`] but [`BrokerFault::NotFound`], and [`BrokerFault::CapExceeded`] above
    /// [`MAX_READ_BYTES`].
    pub async fn fingerprint(&self, path: &str) -> Result<Option<Fingerprint>, BrokerFault> {
        if !is_plain_path(path) {
            return Err(BrokerFault::MalformedPath);
        }
        match self.0.ask(BrokerRequest::Fingerprint { path: path.to_owned() }).await? {
            BrokerReply::Fingerprint(found) => Ok(found),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// A plain file's content, whole.
    ///
    /// # Errors
    /// Those of [`Workspace::open`]; [`BrokerFault::CapExceeded`] when it has more than `max_bytes` or more than
    /// [`MAX_READ_BYTES`]; [`BrokerFault::Unavailable`] when it cannot be read.
    pub async fn read(&self, path: &str, max_bytes: u64) -> Result<Vec<u8>, BrokerFault> {
        let file = self.open(path).await?;
        let most = max_bytes.min(MAX_READ_BYTES);
        let mut content = Vec::new();
        // It may grow while it is read: what counts is what arrives.
        file.take(most + 1).read_to_end(&mut content).map_err(|_| BrokerFault::Unavailable)?;
        if content.len() as u64 > most { Err(BrokerFault::CapExceeded) } else { Ok(content) }
    }

    /// What stands in a directory, by name; `.` is the root.
    ///
    /// # Errors
    /// Those of [`Workspace::open`], and [`BrokerFault::CapExceeded`] for a directory of more than [`MAX_ENTRIES`].
    pub async fn entries(&self, path: &str) -> Result<Listing, BrokerFault> {
        if path != "." && !is_plain_path(path) {
            return Err(BrokerFault::MalformedPath);
        }
        match self.0.ask(BrokerRequest::List { path: path.to_owned() }).await? {
            BrokerReply::Listed(listing) => Ok(listing),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl Workspace<Write> {
    /// Puts a plain file in place: after a crash there is the old content or the new, never a part. Its directory must be
    /// there. A file that was there keeps its permissions; a new one is the host user's alone.
    ///
    /// # Errors
    /// Those of [`Workspace::open`]; [`BrokerFault::HardLinked`] for a file with a second name; [`BrokerFault::CapExceeded`]
    /// above [`MAX_WRITE_BYTES`]; [`BrokerFault::Unavailable`] when it cannot be written; [`BrokerFault::Unconfirmed`] in a
    /// `preview`.
    pub async fn write(&self, path: &str, content: impl Into<Vec<u8>>) -> Result<(), BrokerFault> {
        let content = content.into();
        if !is_plain_path(path) {
            return Err(BrokerFault::MalformedPath);
        }
        if content.len() > MAX_WRITE_BYTES {
            return Err(BrokerFault::CapExceeded);
        }
        match self.0.ask(BrokerRequest::Write { path: path.to_owned(), content }).await? {
            BrokerReply::Written => Ok(()),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Changes plain files, all or none: each is what it is to be before the first is put in place, and what was put in place
    /// is taken back when another cannot be. Directories that a new file needs are made, the host user's alone.
    ///
    /// What is there must be what the call's preview rests on: [`FileChange::shown`] of each is in its `rests_on`.
    ///
    /// # Errors
    /// [`BrokerFault::Changed`] when something else is there than was shown, and nothing is changed then;
    /// [`BrokerFault::CapExceeded`] above [`MAX_CHANGES`] or [`MAX_WRITE_BYTES`] in all; those of [`Workspace::write`].
    pub async fn change(&self, changes: Vec<FileChange>) -> Result<(), BrokerFault> {
        if changes.iter().any(|change| !is_plain_path(&change.path)) {
            return Err(BrokerFault::MalformedPath);
        }
        match self.0.ask(BrokerRequest::Change { changes }).await? {
            BrokerReply::Changed => Ok(()),
            _ => Err(BrokerFault::WrongReply),
        }
    }

    /// Removes a plain file.
    ///
    /// # Errors
    /// Those of [`Workspace::open`]; [`BrokerFault::Unconfirmed`] in a `preview`.
    pub async fn remove(&self, path: &str) -> Result<(), BrokerFault> {
        if !is_plain_path(path) {
            return Err(BrokerFault::MalformedPath);
        }
        match self.0.ask(BrokerRequest::Remove { path: path.to_owned() }).await? {
            BrokerReply::Removed => Ok(()),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

/// Whether a path is plain: relative, without empty parts, `.` or `..`, without control characters, and short enough. The
/// kernel confines what such a path leads to; this rule keeps spellings out that only look harmless.
#[must_use]
pub fn is_plain_path(path: &str) -> bool {
    (1..=MAX_PATH_BYTES).contains(&path.len())
        && !path.chars().any(char::is_control)
        && path.split('/').all(|part| !matches!(part, "" | "." | "..") && part.len() <= 255)
}

/// Whether a path is plain and begins at the root of the file system: one `/`, and a plain path behind it.
#[must_use]
pub fn is_plain_absolute_path(path: &str) -> bool {
    path.strip_prefix('/').is_some_and(is_plain_path)
}

/// What stands in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// By name.
    pub entries: Vec<WorkspaceEntry>,
    /// How many more there are whose names are no plain text; they cannot be asked for.
    pub unnamed: u32,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceEntry {
    /// Its name: one part of a path.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// A plain file's size in bytes; zero for everything else.
    pub bytes: u64,
}

/// What a name in a directory stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A directory.
    Directory,
    /// A link, a pipe, a socket, a device: told, never opened.
    Other,
}

/// Where an absolute path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetPlace {
    /// Into the workspace.
    Inside,
    /// To what no capability may reach: the host's own directory and secrets, the kernel's own file systems.
    Protected,
    /// Anywhere else, or nowhere.
    Outside,
}

/// What a plain file holds, as a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// SHA-256 of its content.
    pub sha256: [u8; 32],
    /// How many bytes it holds.
    pub bytes: u64,
}

impl Fingerprint {
    /// Of this content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self { sha256: Sha256::digest(content).into(), bytes: content.len() as u64 }
    }
}

/// One file of a [`Workspace::change`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Relative to the workspace root.
    pub path: String,
    /// What must be there: SHA-256 of its content, or nothing.
    pub before: Option<[u8; 32]>,
    /// What is to be there: the whole content, or nothing.
    pub content: Option<Vec<u8>>,
}

impl core::fmt::Debug for FileChange {
    /// Without path and content.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("FileChange")
    }
}

impl FileChange {
    /// What a preview rests on that showed a change of this file as it is: its path, and its content or that there is none.
    #[must_use]
    pub fn shown(path: &str, before: Option<&[u8; 32]>) -> [u8; 32] {
        let mut shown = Sha256::new();
        shown.update(b"file\0");
        shown.update((path.len() as u64).to_be_bytes());
        shown.update(path);
        if let Some(before) = before {
            shown.update(before);
        }
        shown.finalize().into()
    }
}

impl<A> core::fmt::Debug for Workspace<A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Workspace")
    }
}

impl<A> sealed::Sealed for Workspace<A> {}
impl<A: WorkspaceAccess> Handle for Workspace<A> {
    const KIND: HandleKind = HandleKind::workspace(A::MAY_CHANGE);
    type Reach = OnDevice;
    type Power = A::Power;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone(), PhantomData)
    }
}

#[cfg(test)]
mod tests {
    use super::{is_plain_absolute_path, is_plain_path};

    #[test]
    fn only_plain_paths_are_asked_for() {
        for plain in ["a", "a/b.c", ".git/config", "..a/b..", "ä/ö", "a b", "x/".repeat(511).trim_end_matches('/')] {
            assert!(is_plain_path(plain), "{plain:?}");
        }
        let long = "x".repeat(256);
        for bad in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/.", "a\0", "a\nb", "a\u{85}", &long] {
            assert!(!is_plain_path(bad), "{bad:?}");
        }
        assert!(!is_plain_path(&"x/".repeat(600)));
        for (path, plain) in
            [("/etc/hosts", true), ("/a", true), ("/", false), ("//a", false), ("/a/../b", false), ("a", false)]
        {
            assert_eq!(is_plain_absolute_path(path), plain, "{path:?}");
        }
    }
}
