//! One line of the log, and what chains it to the one before.

use std::borrow::Cow;

use capability_core::audit::{LineHash, Record};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The `prev` of the first line.
pub(super) const GENESIS: LineHash = LineHash::from_bytes([0; 32]);

/// The longest line, in bytes. Records hold numbers, words and ids, so real ones are far below.
pub(super) const MAX_LINE: usize = 64 * 1024;

/// The hash of a line: over its exact bytes without the line break, after one zero byte, as leaves of a hash tree are.
pub(super) fn hash(line: &[u8]) -> LineHash {
    let mut hasher = Sha256::new();
    hasher.update([0]);
    hasher.update(line);
    LineHash::from_bytes(hasher.finalize().into())
}

/// A record's own fields, without number and chain: everything behind the opening brace. `None` for one that does not fit
/// into a line.
pub(super) fn fields(record: &Record) -> Option<Vec<u8>> {
    let json = serde_json::to_vec(record).ok()?;
    let fields = json.strip_prefix(b"{")?;
    let fits = fields.len() + 256 <= MAX_LINE && !fields.contains(&b'\n');
    fits.then(|| fields.to_vec())
}

fn opening(seq: u64, prev: LineHash) -> String {
    format!(r#"{{"seq":{seq},"prev":"{prev}","#)
}

/// The whole line without its line break.
pub(super) fn compose(seq: u64, prev: LineHash, fields: &[u8]) -> Vec<u8> {
    let mut line = opening(seq, prev).into_bytes();
    line.extend_from_slice(fields);
    line
}

/// What recovery needs to know of a line.
#[derive(Deserialize)]
pub(super) struct Marks<'a> {
    #[serde(borrow)]
    pub(super) event: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) invocation: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) kind: Option<Cow<'a, str>>,
}

/// Why a line does not belong where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    Chain,
    Garbage,
}

impl Break {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Chain => {
                "its number or the hash of the line before it is another one: a line was changed, added, \
                            removed or moved here or directly before"
            }
            Self::Garbage => "it is not a record",
        }
    }
}

/// Checks that a line has this number, follows this hash, and is a record.
pub(super) fn check(line: &[u8], seq: u64, prev: LineHash) -> Result<Marks<'_>, Break> {
    let marks: Marks<'_> = serde_json::from_slice(line).map_err(|_| Break::Garbage)?;
    if line.starts_with(opening(seq, prev).as_bytes()) { Ok(marks) } else { Err(Break::Chain) }
}
