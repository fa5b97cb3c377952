//! Finding the ends of texts and numbers, many bytes at a time.

/// How many of `bytes` stand before the first that ends a text, begins an escape, or may not stand in a text.
#[inline]
pub(super) fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    // Most texts are short.
    for word in bytes.as_chunks::<8>().0.iter().take(2) {
        match first_special(*word) {
            Some(within) => return at + within,
            None => at += 8,
        }
    }
    at + long(bytes.get(at..).unwrap_or_default())
}

fn long(bytes: &[u8]) -> usize {
    let mut at = 0;
    for block in bytes.as_chunks::<32>().0 {
        // Without an early exit inside the block, it is looked at all at once.
        if block.iter().fold(false, |any, byte| any | is_special(*byte)) {
            break;
        }
        at += 32;
    }
    let (words, rest) = bytes.get(at..).unwrap_or_default().as_chunks::<8>();
    for word in words {
        match first_special(*word) {
            Some(within) => return at + within,
            None => at += 8,
        }
    }
    at + rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len())
}

const fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The place of the first special byte of eight.
#[inline]
const fn first_special(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    let (quotes, escapes) = (word ^ (ONES * b'"' as u64), word ^ (ONES * b'\\' as u64));
    // A subtraction borrows into the next byte only from one that is found already, so the first is always right.
    let below = word.wrapping_sub(ONES * 0x20) & !word;
    let zero = (quotes.wrapping_sub(ONES) & !quotes) | (escapes.wrapping_sub(ONES) & !escapes);
    match (below | zero) & HIGH {
        0 => None,
        found => Some(found.trailing_zeros() as usize / 8),
    }
}

/// The number that `text` begins with, as far as its characters go.
#[inline]
pub(super) fn number(text: &str) -> &str {
    let ends = |byte: &u8| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let length = text.as_bytes().iter().position(ends).unwrap_or(text.len());
    text.get(..length).unwrap_or_default()
}

/// An integer without a sign that is written in a few digits. None for all other numbers.
#[inline]
pub(super) fn natural(literal: &[u8]) -> Option<u64> {
    match literal {
        [digit @ b'0'..=b'9'] => Some(u64::from(digit - b'0')),
        // Eighteen digits fit.
        [b'1'..=b'9', rest @ ..] if rest.len() < 18 => literal.iter().try_fold(0, |natural: u64, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit < 10).then(|| natural * 10 + u64::from(digit))
        }),
        _ => None,
    }
}
