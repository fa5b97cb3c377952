//! Bytes to text, and by which reading.

use encoding_rs::{CoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// How far into a page its own word about its charset may stand, in bytes.
const PRESCAN_BYTES: usize = 1024;

/// Text, and how it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text.
    pub text: String,
    /// The charset's name in the Encoding Standard, such as `UTF-8` or `windows-1252`.
    pub charset: &'static str,
    /// Whether some bytes were not of that charset: each such sequence is U+FFFD in the text.
    pub replaced: bool,
}

/// The charset that was named is none that is known, or one that can hide text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownCharset;

/// Reads bytes as text. A byte order mark counts most, then `label`, then, when `page` says that it is HTML, the page's own
/// `<meta>`; without any of them it is UTF-8, or windows-1252 for HTML that is not UTF-8. `whole` says that nothing was
/// cut off the end.
///
/// # Errors
/// [`UnknownCharset`] when `label` names a charset that the Encoding Standard has not, or only to refuse it.
pub fn decode(bytes: &[u8], label: Option<&str>, page: bool, whole: bool) -> Result<Decoded, UnknownCharset> {
    let named =
        label.map(|label| Encoding::for_label_no_replacement(label.as_bytes()).ok_or(UnknownCharset)).transpose()?;
    let marked = Encoding::for_bom(bytes);
    let encoding = match (marked, named) {
        (Some((encoding, _)), _) | (None, Some(encoding)) => encoding,
        (None, None) if page => in_page(bytes).unwrap_or_else(|| guessed(bytes, whole)),
        (None, None) => UTF_8,
    };
    let bytes = marked.and_then(|(_, length)| bytes.get(length..)).unwrap_or(bytes);
    let mut decoder = encoding.new_decoder_without_bom_handling();
    // More than a buffer's length is never asked for: bodies are capped far below.
    let room = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len());
    let mut text = String::with_capacity(room);
    let (result, _, replaced) = decoder.decode_to_string(bytes, &mut text, whole);
    debug_assert!(result == CoderResult::InputEmpty, "the room was computed for it");
    text.shrink_to_fit();
    Ok(Decoded { text, charset: encoding.name(), replaced })
}

/// UTF-8, unless it cannot be. A character that was cut at the end is no counterexample.
fn guessed(bytes: &[u8], whole: bool) -> &'static Encoding {
    match core::str::from_utf8(bytes) {
        Err(error) if whole || error.error_len().is_some() => WINDOWS_1252,
        Ok(_) | Err(_) => UTF_8,
    }
}

/// The charset that a page's first bytes name in a `<meta>`. It cannot be UTF-16, or these bytes would not be readable.
fn in_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..bytes.len().min(PRESCAN_BYTES))?.to_ascii_lowercase();
    let mut rest = start.as_slice();
    while let Some(at) = find(rest, b"<meta") {
        rest = rest.get(at + 5..)?;
        let end = find(rest, b">").unwrap_or(rest.len());
        let tag = rest.get(..end)?;
        if let Some(at) = find(tag, b"charset") {
            let value = tag.get(at + 7..)?.trim_ascii_start();
            let value = value.strip_prefix(b"=").unwrap_or_default().trim_ascii_start();
            let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
            let ends = |b: &u8| b"\"'; \t\n\r\x0c/".contains(b);
            let label = value.get(..value.iter().position(ends).unwrap_or(value.len()))?;
            if let Some(encoding) = Encoding::for_label_no_replacement(label) {
                return Some(if encoding == UTF_16BE || encoding == UTF_16LE { UTF_8 } else { encoding });
            }
        }
    }
    None
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::{Decoded, UnknownCharset, decode};

    fn read(bytes: &[u8], label: Option<&str>, page: bool) -> (String, &'static str, bool) {
        let Decoded { text, charset, replaced } = decode(bytes, label, page, true).unwrap();
        (text, charset, replaced)
    }

    #[test]
    fn the_reading_that_was_chosen_is_told() {
        let cafe = ("caf\u{e9}".to_owned(), false);
        for (bytes, label, page, charset) in [
            (&b"caf\xc3\xa9"[..], None, false, "UTF-8"),
            (b"caf\xc3\xa9", None, true, "UTF-8"),
            (b"caf\xe9", None, true, "windows-1252"),
            (b"caf\xe9", Some("iso-8859-1"), false, "windows-1252"),
            (b"caf\xe9", Some("latin1"), true, "windows-1252"),
            (b"\xef\xbb\xbfcaf\xc3\xa9", Some("latin1"), false, "UTF-8"),
            (b"\xfe\xff\0c\0a\0f\0\xe9", Some("utf-8"), false, "UTF-16BE"),
            (b"c\0a\0f\0\xe9\0", Some("utf-16"), false, "UTF-16LE"),
            (b"caf\xe9", Some(" ISO-8859-15 "), false, "ISO-8859-15"),
        ] {
            let (text, read_as, replaced) = read(bytes, label, page);
            assert_eq!((read_as, (text, replaced)), (charset, cafe.clone()), "{bytes:?} {label:?}");
        }
        assert_eq!(read(b"caf\xe9", None, false), ("caf\u{fffd}".into(), "UTF-8", true));
        assert_eq!(read(b"\x83A", Some("shift_jis"), false), ("\u{30a2}".into(), "Shift_JIS", false));
    }

    #[test]
    fn a_page_may_say_it_itself_and_a_text_may_not() {
        for page in [
            "<meta charset=windows-1251>\u{0}",
            "<META CHARSET = 'windows-1251'>\u{0}",
            "<meta name=a><meta http-equiv=content-type content=\"text/html; charset=windows-1251\">\u{0}",
        ] {
            let bytes = page.replace('\0', "").into_bytes().into_iter().chain([0xef]).collect::<Vec<_>>();
            assert_eq!(read(&bytes, None, true).1, "windows-1251", "{page}");
            assert_eq!(read(&bytes, None, false).1, "UTF-8", "{page}");
        }
        assert_eq!(read(b"<meta charset=utf-16>\xc3\xa9", None, true).1, "UTF-8");
        assert_eq!(read(b"<meta charset=bogus>\xe9", None, true).1, "windows-1252");
        assert_eq!(
            read(b"<meta charset=utf-8>\xe9", None, true),
            ("<meta charset=utf-8>\u{fffd}".into(), "UTF-8", true)
        );
    }

    #[test]
    fn a_charset_that_is_unknown_or_hides_text_is_refused() {
        for label in ["utf-7", "utf-32", "bogus", "", "hz-gb-2312", "iso-2022-kr", "ebcdic", "\u{e9}"] {
            assert_eq!(decode(b"a", Some(label), true, true), Err(UnknownCharset), "{label}");
        }
    }

    #[test]
    fn a_character_that_a_cap_cut_is_not_replaced() {
        let cut = decode(b"caf\xc3", Some("utf-8"), false, false).unwrap();
        assert_eq!((cut.text.as_str(), cut.replaced), ("caf", false));
        let whole = decode(b"caf\xc3", Some("utf-8"), false, true).unwrap();
        assert_eq!((whole.text.as_str(), whole.replaced), ("caf\u{fffd}", true));
        assert_eq!(decode(b"caf\xc3", None, true, false).unwrap().charset, "UTF-8");
    }
}
