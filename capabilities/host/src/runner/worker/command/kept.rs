//! The beginning and the end of an output of any length.

use std::collections::VecDeque;

use capability_core::handle::{
    KeptOutput, MAX_KEPT_BYTES, MAX_LOG_HEAD_BYTES, MAX_LOG_TAIL_BYTES, MAX_PAGE_BYTES, OutputPage,
};

/// What has been read so far, in bounded room.
#[derive(Debug)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
    most: (usize, usize),
}

impl Output {
    /// Of a command whose end is waited for.
    pub const fn of_a_call() -> Self {
        Self::keeping(MAX_KEPT_BYTES, MAX_KEPT_BYTES)
    }

    /// Of one that runs on.
    pub const fn of_the_background() -> Self {
        Self::keeping(MAX_LOG_HEAD_BYTES, MAX_LOG_TAIL_BYTES)
    }

    pub(super) const fn keeping(head: usize, tail: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), dropped: 0, most: (head, tail) }
    }

    /// Takes in what comes next.
    pub fn add(&mut self, bytes: &[u8]) {
        let (head, tail) = self.most;
        let (first, rest) = bytes.split_at(bytes.len().min(head - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(tail);
        self.tail.drain(..over);
        self.dropped += over as u64;
    }

    /// How many bytes have come.
    pub fn total(&self) -> u64 {
        self.head.len() as u64 + self.dropped + self.tail.len() as u64
    }

    /// What was written from this byte on, or from the next one that is kept. A character that is cut off at the end is left for
    /// the next page while the rest of it may still come.
    pub fn page(&self, from: u64, is_over: bool) -> OutputPage {
        let (head, resumes) = (self.head.len() as u64, self.head.len() as u64 + self.dropped);
        let from = from.min(self.total());
        let from = if (head..resumes).contains(&from) { resumes } else { from };
        let skip = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        // In front of a gap the page ends; where there is none, the two parts are one.
        let of_head = self.head.get(skip(from)..).unwrap_or_default().iter();
        let of_tail =
            (from >= resumes || self.dropped == 0).then(|| self.tail.iter().skip(skip(from.saturating_sub(resumes))));
        let mut bytes: Vec<u8> = of_head.chain(of_tail.into_iter().flatten()).take(MAX_PAGE_BYTES).copied().collect();
        let is_all = from + bytes.len() as u64 == self.total();
        let ends_for_good = if is_all { is_over } else { self.dropped > 0 && from + bytes.len() as u64 == head };
        if !ends_for_good {
            bytes.truncate(bytes.len() - cut_off(&bytes));
        }
        OutputPage { next: from + bytes.len() as u64, from, text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// As text.
    pub fn kept(&self) -> KeptOutput {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.dropped == 0 {
            // One text, so that no character is cut in two.
            let whole = [self.head.as_slice(), &tail].concat();
            return KeptOutput { head: String::from_utf8_lossy(&whole).into_owned(), ..KeptOutput::default() };
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        KeptOutput { head: text(&self.head), tail: text(&tail), dropped: self.dropped }
    }
}

/// How many bytes at the end are the beginning of a character, and not all of it.
fn cut_off(bytes: &[u8]) -> usize {
    let begun = bytes.iter().rev().take(3).position(|byte| byte & 0xC0 != 0x80);
    let Some(behind) = begun else { return 0 };
    let lead = bytes.get(bytes.len() - 1 - behind).copied().unwrap_or_default();
    let length = match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    if behind + 1 < length { behind + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::{MAX_KEPT_BYTES, MAX_LOG_HEAD_BYTES, MAX_LOG_TAIL_BYTES, MAX_PAGE_BYTES, Output};
    use proptest::prelude::*;

    fn letters(length: usize) -> Vec<u8> {
        (0..length).map(|at| b'a' + u8::try_from(at % 26).unwrap()).collect()
    }

    /// All pages in turn, as whoever asks for one after the other has them.
    fn pages(output: &Output) -> (String, u64) {
        let (mut text, mut at, mut left_out) = (String::new(), 0, 0);
        loop {
            let page = output.page(at, true);
            assert!(page.next - page.from <= MAX_PAGE_BYTES as u64 && page.from >= at);
            left_out += page.from - at;
            text += &page.text;
            if page.next == output.total() {
                return (text, left_out);
            }
            assert!(page.next > at, "it goes on");
            at = page.next;
        }
    }

    #[test]
    fn a_character_is_not_cut_by_a_page_unless_the_output_is() {
        let mut output = Output::of_the_background();
        output.add("ä€".as_bytes().get(..4).unwrap());
        assert_eq!((output.page(0, false).text.as_str(), output.page(0, false).next), ("ä", 2));
        assert_eq!((output.page(0, true).text.as_str(), output.page(0, true).next), ("ä\u{fffd}", 4));
        output.add("€".as_bytes().get(2..).unwrap());
        assert_eq!(output.page(2, false).text, "€");
        // Bytes that are no text keep nobody waiting.
        output.add(&[0xFF, 0x80, 0x80, 0x80]);
        assert_eq!(output.page(5, false).next, 9);
        assert_eq!(output.page(1_000, false), output.page(9, false), "there is nothing yet");
        let mut output = Output::of_the_background();
        output.add(&"€".repeat(30_000).into_bytes());
        assert_eq!(pages(&output), ("€".repeat(30_000), 0));
    }

    proptest! {
        /// However it arrives, the beginning and the end are kept and the rest is counted.
        #[test]
        fn the_ends_are_kept_and_the_rest_is_counted(chunks in prop::collection::vec(0_usize..40_000, 0..6)) {
            let length = chunks.iter().sum::<usize>();
            let all = letters(length);
            let (mut output, mut at) = (Output::of_a_call(), 0);
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

        /// Page after page, whoever reads has what is kept once, in order, and knows how much is not.
        #[test]
        fn pages_give_what_is_kept_once_and_count_the_rest(chunks in prop::collection::vec(0_usize..60_000, 0..6)) {
            let all = letters(chunks.iter().sum());
            let (mut output, mut at) = (Output::of_the_background(), 0);
            for chunk in chunks {
                output.add(&all[at..at + chunk]);
                at += chunk;
            }
            prop_assert_eq!(output.total(), all.len() as u64);
            let gap = all.len().saturating_sub(MAX_LOG_HEAD_BYTES + MAX_LOG_TAIL_BYTES);
            let (head, tail) = (MAX_LOG_HEAD_BYTES.min(all.len()), (MAX_LOG_HEAD_BYTES + gap).min(all.len()));
            let expected = [&all[..head], &all[tail..]].concat();
            prop_assert_eq!(pages(&output), (String::from_utf8(expected).unwrap(), gap as u64));
        }

        /// Any bytes, read at any time from anywhere: no page goes back, and each is text.
        #[test]
        fn any_bytes_are_pages(bytes in prop::collection::vec(any::<u8>(), 0..300), from in 0_u64..400, over: bool) {
            let mut output = Output::keeping(64, 100);
            output.add(&bytes);
            let page = output.page(from, over);
            prop_assert!(page.from >= from.min(output.total()) && page.next >= page.from && page.next <= output.total());
            prop_assert!(!over || page.next > page.from || page.from == output.total());
        }
    }
}
