//! The head: which record was committed last.
//!
//! A chain alone does not protect its own last line, and cannot tell that lines were cut off its end. So every commit also
//! notes number and hash of the last record in a file of one sector, written in place after the log itself is durable.
//! The head is never ahead of the log; after a power cut it may be behind.

use capability_core::audit::LineHash;

use super::line::GENESIS;

const MAGIC: &str = "capability audit head 1 ";

/// Number and hash of the last record; 0 and zeros for an empty log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) hash: LineHash,
}

impl Head {
    pub(super) const EMPTY: Self = Self { seq: 0, hash: GENESIS };

    pub(super) fn to_text(self) -> String {
        format!("{MAGIC}{:020} {}\n", self.seq, self.hash)
    }

    /// Exactly what [`Head::to_text`] writes, or nothing.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(bytes).ok()?;
        let (seq, hash) = text.strip_prefix(MAGIC)?.strip_suffix('\n')?.split_once(' ')?;
        let head = Self { seq: seq.parse().ok()?, hash: hash.parse().ok()? };
        (head.to_text() == text).then_some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::Head;

    #[test]
    fn one_form_and_no_other() {
        let text = Head { seq: 7, ..Head::EMPTY }.to_text();
        assert_eq!(text.len(), 110);
        assert_eq!(Head::parse(text.as_bytes()).unwrap().seq, 7);
        for wrong in ["", &text[1..], &text.replace("00007", "+0007"), &text.replace('\n', "\r"), &format!("{text}x")] {
            assert_eq!(Head::parse(wrong.as_bytes()), None, "{wrong:?}");
        }
    }
}
