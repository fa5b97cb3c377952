//! Hexadecimal text of bytes.

/// Appends lower-case digits.
pub(crate) fn write(text: &mut Vec<u8>, bytes: &[u8]) {
    // Of four bits there is always a digit: the remainder of sixteen is below sixteen.
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |half: u8| DIGITS.get(usize::from(half & 0xf)).copied().unwrap_or(b'0');
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
}

/// Lower-case digits.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = Vec::with_capacity(bytes.len() * 2);
    write(&mut text, bytes);
    text.into_iter().map(char::from).collect()
}

/// Exactly `N` bytes from lower-case digits.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn there_and_back() {
        assert_eq!(super::encode(&[0, 0xab, 0xff]), "00abff");
        assert_eq!(super::decode::<3>("00abff"), Some([0, 0xab, 0xff]));
        for wrong in ["", "00abf", "00ABFF", "00abfg", "00abff00"] {
            assert_eq!(super::decode::<3>(wrong), None, "{wrong}");
        }
    }
}
