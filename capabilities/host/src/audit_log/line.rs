//! One line of the log, and what chains it to the one before.

use std::borrow::Cow;
use std::io::Write as _;

use capability_core::Timestamp;
use capability_core::audit::{LineHash, Record};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::hex;

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

/// Writes how a line with this number behind this hash begins.
fn open_into(bytes: &mut Vec<u8>, seq: u64, prev: LineHash) {
    bytes.extend_from_slice(br#"{"seq":"#);
    // Writing to a `Vec` cannot fail.
    let _ = write!(bytes, "{seq}");
    bytes.extend_from_slice(br#","prev":""#);
    hex::write(bytes, prev.as_bytes());
    bytes.extend_from_slice(br#"","#);
}

/// Appends the whole line without its line break, and gives its hash.
pub(super) fn compose(bytes: &mut Vec<u8>, seq: u64, prev: LineHash, fields: &[u8]) -> LineHash {
    let begin = bytes.len();
    open_into(bytes, seq, prev);
    bytes.extend_from_slice(fields);
    hash(bytes.get(begin..).unwrap_or_default())
}

/// What recovery needs to know of a line.
#[derive(Deserialize)]
pub(super) struct Marks<'a> {
    #[serde(borrow)]
    pub(super) event: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) invocation: Option<Cow<'a, str>>,
    pub(super) at: Option<Timestamp>,
    /// Of a rotation: the segment before.
    pub(super) first: Option<u64>,
    pub(super) bytes: Option<u64>,
}

/// Why a line does not belong where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Break {
    Chain,
    Garbage,
    Rotation,
}

impl Break {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Chain => {
                "its number or the hash of the line before it is another one: a line was changed, added, \
                            removed or moved here or directly before"
            }
            Self::Garbage => "it is not a record",
            Self::Rotation => "it does not name the segment before it and that segment's length",
        }
    }
}

/// Whether a line has this number and follows this hash; `expected` is scratch space. Says nothing of the rest.
pub(super) fn is_next(expected: &mut Vec<u8>, line: &[u8], seq: u64, prev: LineHash) -> bool {
    expected.clear();
    open_into(expected, seq, prev);
    line.starts_with(expected)
}

/// What a line says of itself, if it is a record.
pub(super) fn marks(line: &[u8]) -> Result<Marks<'_>, Break> {
    serde_json::from_slice(line).map_err(|_| Break::Garbage)
}
