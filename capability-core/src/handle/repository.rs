//! Repositories that the operator configured, at one of their revisions.

use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Handle, HandleFamily, HandleKind, OnDevice, Reads, Targetless,
    is_configured_name, is_plain_path, sealed,
};
use crate::call::Call;
use crate::time::Timestamp;

/// The longest revision, in bytes.
pub const MAX_REVISION_BYTES: usize = 256;
/// The largest content that is given, in bytes: what is larger is told without its content.
pub const MAX_REVISED_BYTES: u64 = 256 * 1024;

/// Reads what repositories hold, as the operator configured them under `[repositories]`.
///
/// A repository that is elsewhere is read from the copy that the operator fetched last: no request leaves the device. No program
/// runs, whatever a repository's configuration, attributes or hooks say: objects are read, and nothing is checked out, filtered or
/// compared.
///
/// A host without a configured repository does not serve it: a capability that takes it is then refused at policy with
/// `missing_runtime_binding`, visible to operators.
///
/// ```
/// use capability_core::handle::{BrokerFault, Repository};
///
/// async fn licence(repository: &Repository) -> Result<Option<Vec<u8>>, BrokerFault> {
///     Ok(repository.read("docs", "HEAD", "LICENSE").await?.content)
/// }
/// ```
#[derive(Debug)]
pub struct Repository(Call);

impl Repository {
    /// What stands at `path` in `revision` of the repository that is configured under `name`.
    ///
    /// `path` is plain, as those of a workspace are; `revision` is one of those that [`is_revision`] takes.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedPath`] and [`BrokerFault::MalformedRevision`]; [`BrokerFault::UnknownRepository`],
    /// [`BrokerFault::UnknownRevision`] and [`BrokerFault::NotInRevision`], and which one; [`BrokerFault::Unavailable`] for a
    /// repository that cannot be read.
    pub async fn read(&self, name: &str, revision: &str, path: &str) -> Result<Revised, BrokerFault> {
        if !is_plain_path(path) {
            return Err(BrokerFault::MalformedPath);
        }
        if !is_revision(revision) {
            return Err(BrokerFault::MalformedRevision);
        }
        if !is_configured_name(name) {
            return Err(BrokerFault::UnknownRepository);
        }
        let (name, revision, path) = (name.to_owned(), revision.to_owned(), path.to_owned());
        match self.0.ask(BrokerRequest::Revised { name, revision, path }).await? {
            BrokerReply::Revised(revised) => Ok(*revised),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Repository {}
impl Handle for Repository {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Repository, "");
    type Reach = OnDevice;
    type Power = Reads;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

/// What stands at a path of a revision.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revised {
    /// The commit that the revision is, as hexadecimal digits.
    pub commit: String,
    /// The object that stands there, as hexadecimal digits.
    pub object: String,
    /// What it is.
    pub kind: RevisedKind,
    /// How large it is, in bytes; 0 for another repository's commit.
    pub size: u64,
    /// Its content, for a file or a link of at most [`MAX_REVISED_BYTES`]: foreign bytes.
    pub content: Option<Vec<u8>>,
    /// When it was fetched; `None` for a repository on this machine.
    pub fetched_at: Option<Timestamp>,
}

/// What can stand at a path of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevisedKind {
    /// A file.
    File,
    /// A symbolic link: its content is where it leads. Nobody follows it.
    Link,
    /// A directory.
    Directory,
    /// A commit of another repository, which is not here.
    Submodule,
}

impl core::fmt::Debug for Revised {
    /// Without what the repository holds.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Revised({:?}, {} bytes)", self.kind, self.size)
    }
}

/// Whether a text names a revision plainly: `HEAD`, a branch, a tag, or 4 to 40 hexadecimal digits, and then any of `~N` and `^N`
/// up to eight times, as in `main~2`. Whatever else revisions can be written as (searches, dates, reflogs, ranges, options) is none.
#[must_use]
pub fn is_revision(text: &str) -> bool {
    let end = text.find(['~', '^']).unwrap_or(text.len());
    let Some((name, steps)) = text.split_at_checked(end) else { return false };
    text.len() <= MAX_REVISION_BYTES && is_ref_name(name) && are_steps(steps)
}

fn is_ref_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+');
    // A part that begins with a hyphen is an option to some programs, one that begins or ends with a dot is a step to others.
    let part = |part: &str| {
        !part.is_empty()
            && !part.starts_with(['-', '.'])
            && !part.ends_with('.')
            && !part.contains("..")
            && part.bytes().all(plain)
    };
    name.split('/').all(part) && !name.ends_with(".lock")
}

fn are_steps(steps: &str) -> bool {
    let mut count = 0;
    let mut left = steps;
    while let Some(rest) = left.strip_prefix(['~', '^']) {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        count += 1;
        if digits > 4 || count > 8 {
            return false;
        }
        left = rest.get(digits..).unwrap_or_default();
    }
    left.is_empty()
}

#[cfg(test)]
mod tests {
    use super::is_revision;

    #[test]
    fn a_revision_is_a_name_and_steps_and_nothing_else() {
        for plain in [
            "HEAD",
            "main",
            "feature/a-b",
            "v1.0.2",
            "refs/tags/v1",
            "0a1b2c3d",
            "main~2",
            "main^",
            "HEAD^2~10^",
            "a+b",
        ] {
            assert!(is_revision(plain), "{plain}");
        }
        for other in [
            "",
            "-",
            "--output=/outside/x",
            "-n1",
            "a/-b",
            "a b",
            "main..dev",
            "main...dev",
            "^main",
            "~1",
            ":/fix",
            "main:file",
            ":file",
            "main^{/fix}",
            "main^{tree}",
            "HEAD@{1}",
            "@{u}",
            "@",
            "main@{yesterday}",
            "a..b",
            ".a",
            "a/.b",
            "a.",
            "a//b",
            "/a",
            "a/",
            "a.lock",
            "a\n",
            "a\0b",
            "a\u{202e}",
            "é",
            "main~12345",
            "main~1~1~1~1~1~1~1~1~1",
            "*",
            "a?",
            "a[b]",
            "a\\b",
            "../a",
        ] {
            assert!(!is_revision(other), "{other:?}");
        }
        assert!(!is_revision(&"a".repeat(257)));
    }
}
