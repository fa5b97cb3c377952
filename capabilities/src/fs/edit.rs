//! What a change of files needs, and how it is shown.

use core::fmt::Write as _;

use capability_core::handle::{
    BrokerFault, FileChange, Fingerprint, MAX_READ_BYTES, Workspace, Write, is_plain_path, is_protected_path,
    is_sensitive_path,
};
use capability_core::{Concern, Failure, MAX_PREVIEW_BYTES, Raise};
use similar::TextDiff;

use super::read::text_of;

/// The most lines that differ, of both sides, that are shown one by one. It bounds the work as well, and by size instead of by
/// time: what is shown must come out the same when the call runs.
const MAX_DIFFERENT_LINES: usize = 4000;
/// The longest difference that is shown.
const MAX_SHOWN_BYTES: usize = MAX_PREVIEW_BYTES - 16 * 1024;

/// Why a path is changed by nobody, whoever would answer.
pub fn denied(path: &str) -> Option<Raise> {
    if !is_plain_path(path) {
        Some(Raise::deny(Concern::OutsideWorkspace))
    } else if is_protected_path(path) {
        Some(Raise::deny(Concern::ProtectedPath))
    } else {
        None
    }
}

/// What stands at a path before a change.
#[derive(Default)]
pub struct Standing {
    fingerprint: Option<Fingerprint>,
    /// The content, where it may be looked at before anybody answered.
    pub content: Option<Vec<u8>>,
}

impl Standing {
    /// What stands there now, or why that is changed by nobody.
    pub async fn of(workspace: &Workspace<Write>, path: &str) -> Result<Result<Self, Raise>, Failure> {
        let found = match workspace.fingerprint(path).await {
            Ok(None) => can_be_made(workspace, path).await.map(|()| Self::default()),
            Ok(Some(_)) if !is_sensitive_path(path) => workspace.read(path, MAX_READ_BYTES).await.map(Self::holding),
            Ok(fingerprint) => Ok(Self { fingerprint, content: None }),
            Err(fault) => Err(fault),
        };
        match found {
            Ok(standing) => Ok(Ok(standing)),
            Err(BrokerFault::OutsideWorkspace) => Ok(Err(Raise::deny(Concern::OutsideWorkspace))),
            // Where a rule keeps it from this call, policy finds the rule, and says so.
            Err(BrokerFault::HardLinked | BrokerFault::Protected | BrokerFault::RuleDenied) => {
                Ok(Err(Raise::deny(Concern::ProtectedPath)))
            }
            Err(fault) => Err(failed(fault)),
        }
    }

    fn holding(content: Vec<u8>) -> Self {
        Self { fingerprint: Some(Fingerprint::of(&content)), content: Some(content) }
    }

    /// What a preview rests on that shows this.
    pub fn shown(&self, path: &str) -> [u8; 32] {
        FileChange::shown(path, self.sha256().as_ref())
    }

    /// The hash of the content; none when nothing is there.
    pub fn sha256(&self) -> Option<[u8; 32]> {
        self.fingerprint.map(|found| found.sha256)
    }
}

/// Refuses a new file whose directory would have to be where a file is.
async fn can_be_made(workspace: &Workspace<Write>, path: &str) -> Result<(), BrokerFault> {
    let mut above = path;
    while let Some((directory, _)) = above.rsplit_once('/') {
        match workspace.fingerprint(directory).await {
            Ok(None) => above = directory,
            Ok(Some(_)) => return Err(BrokerFault::NotAFile),
            // It is a directory, or nothing is told of it; the change itself is refused then.
            Err(BrokerFault::NotAFile | BrokerFault::Sensitive) => return Ok(()),
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

/// The failure of a change. After one of these nothing has changed.
pub fn failed(fault: BrokerFault) -> Failure {
    let failure = fault.into_public();
    match fault {
        BrokerFault::Changed
        | BrokerFault::NotFound
        | BrokerFault::NotAFile
        | BrokerFault::HardLinked
        | BrokerFault::OutsideWorkspace
        | BrokerFault::MalformedPath
        | BrokerFault::NotPermitted
        | BrokerFault::CapExceeded
        | BrokerFault::Sensitive
        | BrokerFault::Protected
        | BrokerFault::RuleDenied
        | BrokerFault::Unanswered
        | BrokerFault::Unconfirmed => failure.and_before_effect(),
        _ => failure,
    }
}

/// One file, as it is and as it is to be.
pub struct Edit<'e> {
    pub path: &'e str,
    pub before: Standing,
    pub after: Option<&'e [u8]>,
}

/// Edits as an approver sees them: a unified difference where there is one to be shown, and otherwise what can be said.
pub fn shown(edits: &[Edit<'_>]) -> String {
    let mut text = String::new();
    for edit in edits {
        let one = difference(edit).unwrap_or_else(|| summary(edit));
        if text.len() + one.len() <= MAX_SHOWN_BYTES {
            text.push_str(&one);
        } else {
            text.push_str(&summary(edit));
        }
    }
    text
}

/// Line by line, if both sides are text and that is short enough to be read.
fn difference(edit: &Edit<'_>) -> Option<String> {
    let text = |bytes: Option<&[u8]>| bytes.map_or(Some(String::new()), |bytes| text_of(bytes.to_vec()));
    if edit.before.fingerprint.is_some() && edit.before.content.is_none() {
        return None;
    }
    let (before, after) = (text(edit.before.content.as_deref())?, text(edit.after)?);
    if before == after || different_lines(&before, &after) > MAX_DIFFERENT_LINES {
        return None;
    }
    let name = |side: &str, there: bool| if there { format!("{side}/{}", edit.path) } else { "/dev/null".to_owned() };
    let heads = (name("a", edit.before.fingerprint.is_some()), name("b", edit.after.is_some()));
    // By line feeds alone, as everybody reads it.
    let (before, after): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let difference = TextDiff::configure().newline_terminated(true).diff_slices(&before, &after);
    Some(difference.unified_diff().context_radius(3).header(&heads.0, &heads.1).to_string())
}

/// How many lines there are between the first that differs and the last, on both sides.
fn different_lines(before: &str, after: &str) -> usize {
    let (before, after): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let head = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let rest = |lines: usize| lines - head;
    let tail = (before.iter().skip(head).rev())
        .zip(after.iter().skip(head).rev())
        .take_while(|(one, other)| one == other)
        .count();
    rest(before.len()) + rest(after.len()) - 2 * tail
}

/// In words: the new content stands among the arguments, the old one is told by its size.
fn summary(edit: &Edit<'_>) -> String {
    let Edit { path, before, after } = edit;
    let (old, new) = (before.fingerprint, after.map(Fingerprint::of));
    let mut text = match (old, new) {
        (None, None) => format!("leaves `{path}` absent"),
        (None, Some(new)) => format!("makes `{path}`, of {} bytes", new.bytes),
        (Some(old), None) => format!("removes `{path}`, of {} bytes", old.bytes),
        (Some(old), Some(new)) if old == new => format!("leaves `{path}` as it is, with its {} bytes", old.bytes),
        (Some(old), Some(new)) => {
            format!("puts {} bytes in the place of the {} bytes of `{path}`", new.bytes, old.bytes)
        }
    };
    if is_sensitive_path(path) {
        let _ = write!(text, "; what stands in it is not shown, as it is called as secrets are");
    }
    text.push('\n');
    text
}
