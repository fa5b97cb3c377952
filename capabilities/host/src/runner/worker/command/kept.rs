//! The beginning and the end of an output of any length.

use std::collections::VecDeque;

use capability_core::handle::{KeptOutput, MAX_KEPT_BYTES};

/// What has been read so far, in bounded room.
#[derive(Debug, Default)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Output {
    /// Takes in what comes next.
    pub fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(MAX_KEPT_BYTES - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(MAX_KEPT_BYTES);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// As text.
    pub fn kept(self) -> KeptOutput {
        let tail: Vec<u8> = self.tail.into();
        let (head, tail, dropped) = (self.head, tail, self.dropped);
        if dropped == 0 {
            // One text, so that no character is cut in two.
            let whole = [head, tail].concat();
            return KeptOutput { head: String::from_utf8_lossy(&whole).into_owned(), ..KeptOutput::default() };
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        KeptOutput { head: text(&head), tail: text(&tail), dropped }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_KEPT_BYTES, Output};
    use proptest::prelude::*;

    proptest! {
        /// However it arrives, the beginning and the end are kept and the rest is counted.
        #[test]
        fn the_ends_are_kept_and_the_rest_is_counted(chunks in prop::collection::vec(0_usize..40_000, 0..6)) {
            let length = chunks.iter().sum::<usize>();
            let all: Vec<u8> = (0..length).map(|at| b'a' + u8::try_from(at % 26).unwrap()).collect();
            let (mut output, mut at) = (Output::default(), 0);
            for chunk in chunks {
                output.add(&all[at..at + chunk]);
                at += chunk;
            }
            let kept = output.kept();
            if length <= 2 * MAX_KEPT_BYTES {
                prop_assert_eq!((kept.head.as_bytes(), kept.dropped), (all.as_slice(), 0));
                prop_assert!(kept.tail.is_empty());
            } else {
                prop_assert_eq!(kept.head.as_bytes(), &all[..MAX_KEPT_BYTES]);
                prop_assert_eq!(kept.tail.as_bytes(), &all[length - MAX_KEPT_BYTES..]);
                prop_assert_eq!(kept.dropped, (length - 2 * MAX_KEPT_BYTES) as u64);
            }
        }
    }
}
