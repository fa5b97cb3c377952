//! The forms in which programs write a value.
//!
//! | form | as |
//! |---|---|
//! | the value itself | with its line breaks left out, as in every text that is looked through |
//! | in JSON | `\"`, `\\`, `\n`, `\/`, `\u00e9` in both cases, `\u003c`; and JSON within JSON |
//! | in an address | `%2F` in both cases, a space as `%20` and `+`, whatever set of characters an encoder leaves alone |
//! | in HTML | `&amp;`, `&quot;`, `&#39;`, `&#x27;` |
//! | in base64 | both alphabets, wherever in a text the value begins: three phases |
//! | in hex | in both cases |

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64ct::{Base64, Base64Url, Encoding as _};

use super::{MIN_REDACTED_BYTES, is_redactable};

/// Runs of so many line breaks and fewer are passed over; a longer one keeps apart what stands around it.
pub(super) const MAX_BREAKS: usize = 2;

/// Every form of every value that is long enough, each once.
pub(super) fn of_all<'a>(values: impl IntoIterator<Item = &'a str>) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    for value in values.into_iter().flat_map(pieces) {
        if is_redactable(value) {
            of(value, &mut |form: String| {
                let form: Vec<u8> = form.into_bytes().into_iter().filter(|byte| !is_break(*byte)).collect();
                if form.len() >= MIN_REDACTED_BYTES {
                    forms.insert(form);
                }
            });
        }
    }
    forms
}

pub(super) const fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// A value as a whole; where it holds a run of line breaks that keeps apart, each of the parts.
fn pieces(value: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut from, mut run) = (0, 0);
    for (at, byte) in value.bytes().enumerate() {
        if is_break(byte) {
            run += 1;
            continue;
        }
        if run > MAX_BREAKS {
            pieces.extend(value.get(from..at));
            from = at;
        }
        run = 0;
    }
    pieces.extend(value.get(from..));
    if pieces.len() > 1 {
        // In base64 and in an address the runs are no line breaks any more.
        pieces.push(value);
    }
    pieces
}

fn of(value: &str, take: &mut impl FnMut(String)) {
    take(value.to_owned());
    for escape in ESCAPES {
        let once = in_json(value, *escape);
        take(in_json(&once, *escape));
        take(once);
    }
    for kept in KEPT {
        for upper in [false, true] {
            for plus in [false, true] {
                take(in_address(value, kept, upper, plus));
            }
        }
    }
    for quotes in [["&quot;", "'"], ["&quot;", "&#39;"], ["&quot;", "&#x27;"], ["&#34;", "&#39;"], ["\"", "'"]] {
        take(in_html(value, quotes));
    }
    for phase in 0..3 {
        let text: String = core::iter::repeat_n('\0', phase).chain(value.chars()).collect();
        for encoded in [Base64::encode_string(text.as_bytes()), Base64Url::encode_string(text.as_bytes())] {
            // What stands in a character together with a neighbour's bits is not known.
            let known = (phase * 8).div_ceil(6)..text.len() * 8 / 6;
            take(encoded.get(known).unwrap_or_default().to_owned());
            if phase == 0 {
                take(encoded.trim_end_matches('=').to_owned());
                take(encoded);
            }
        }
    }
    let hex = value.bytes().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    take(hex.to_uppercase());
    take(hex);
}

/// How a writer of JSON escapes what it need not.
#[derive(Debug, Clone, Copy)]
struct Escape {
    slash: bool,
    /// What is not ASCII, and in which case.
    beyond: Option<Case>,
    /// What HTML gives a meaning.
    html: bool,
}

#[derive(Debug, Clone, Copy)]
enum Case {
    Lower,
    Upper,
}

const ESCAPES: &[Escape] = &[
    Escape { slash: false, beyond: None, html: false },
    Escape { slash: true, beyond: None, html: false },
    Escape { slash: false, beyond: Some(Case::Lower), html: false },
    Escape { slash: false, beyond: Some(Case::Upper), html: false },
    Escape { slash: true, beyond: Some(Case::Lower), html: false },
    Escape { slash: true, beyond: Some(Case::Upper), html: false },
    Escape { slash: false, beyond: None, html: true },
    Escape { slash: false, beyond: Some(Case::Lower), html: true },
    Escape { slash: false, beyond: Some(Case::Upper), html: true },
];

fn in_json(value: &str, escape: Escape) -> String {
    let mut json = String::with_capacity(value.len());
    let unit = |json: &mut String, unit: u16| {
        let _ = match escape.beyond {
            Some(Case::Upper) => write!(json, "\\u{unit:04X}"),
            Some(Case::Lower) | None => write!(json, "\\u{unit:04x}"),
        };
    };
    for c in value.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '/' if escape.slash => json.push_str("\\/"),
            '<' | '>' | '&' | '\'' if escape.html => unit(&mut json, u16::try_from(u32::from(c)).unwrap_or_default()),
            c if u32::from(c) < 0x20 || (escape.beyond.is_some() && !c.is_ascii()) => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|half| unit(&mut json, *half));
            }
            c => json.push(c),
        }
    }
    json
}

/// What encoders leave as it is beside letters and digits: everything that is unreserved; a browser's component; a form;
/// a path; a whole address.
const KEPT: &[&str] = &["-._~", "-._~!*'()", "-._*", "-._~/", "-._~!*'();,/?:@&=+$#"];

fn in_address(value: &str, kept: &str, upper: bool, plus: bool) -> String {
    value.bytes().fold(String::with_capacity(value.len()), |mut address, byte| {
        let c = char::from(byte);
        if c.is_ascii_alphanumeric() || (c.is_ascii() && kept.contains(c)) {
            address.push(c);
        } else if plus && c == ' ' {
            address.push('+');
        } else {
            let _ = if upper { write!(address, "%{byte:02X}") } else { write!(address, "%{byte:02x}") };
        }
        address
    })
}

fn in_html(value: &str, [double, single]: [&str; 2]) -> String {
    value.chars().fold(String::with_capacity(value.len()), |mut html, c| {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str(double),
            '\'' => html.push_str(single),
            c => html.push(c),
        }
        html
    })
}
