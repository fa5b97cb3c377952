//! What a DKIM signature covers.
//!
//! Whether it is right is found elsewhere: by the mail server, or by [`super::here`]. What it leaves out is the sender's to choose, and nobody's word: a mail is
//! believed only as far as its signature goes.

use base64ct::{Base64Unpadded, Encoding as _};

use super::super::super::Refused;
use super::head::Head;

/// The most signatures that are looked at.
pub(super) const MAX_SIGNATURES: usize = 16;

/// What somebody reads of a mail besides its text: each is signed where it is there.
const READ: [&str; 3] = ["date", "message-id", "subject"];

/// One signature's tags.
struct Signature {
    /// Who signed, in lower case.
    domain: String,
    /// The fields that it covers, in lower case.
    covers: Vec<String>,
    /// Whether it covers a part of the text only.
    partly: bool,
    /// The signature itself.
    value: Vec<u8>,
}

/// The signatures of a domain, each as the bytes that it consists of: all of them cover what is read. Which of several was
/// found to be right, nobody knows here.
///
/// # Errors
/// [`Refused`] when there is none, or one that leaves something out.
pub(super) fn of_domain(head: &Head<'_>, domain: &str, body: &[u8]) -> Result<Vec<Vec<u8>>, Refused> {
    let fields: Vec<_> = head.all("dkim-signature").collect();
    if fields.len() > MAX_SIGNATURES {
        return Err(Refused::malformed("it has too many signatures"));
    }
    let malformed = || Refused::malformed("a signature is none");
    let all =
        fields.iter().map(|field| Signature::parse(field).ok_or_else(malformed)).collect::<Result<Vec<_>, _>>()?;
    let own: Vec<_> = all.into_iter().filter(|signature| signature.domain == domain).collect();
    if own.is_empty() {
        return Err(Refused::forged("no signature is its sender's"));
    }
    for signature in &own {
        if signature.partly {
            return Err(Refused::forged("a signature covers a part of the text only"));
        }
        let uncovered = |name: &&str| !signature.covers.iter().any(|covered| covered == name);
        let there = READ.iter().filter(|name| head.names().any(|there| there == **name));
        if uncovered(&"from") || there.copied().any(|name| uncovered(&name)) {
            return Err(Refused::forged("a signature leaves out what is read"));
        }
        if uncovered(&"content-type") && !has_one_reading(head, body)? {
            return Err(Refused::forged("a signature leaves out what says how to read the text"));
        }
    }
    Ok(own.into_iter().map(|signature| signature.value).collect())
}

/// Whether the text has one reading whatever stands in `Content-Type`: no type, plain text, or parts whose first begins with the very
/// first line. Large senders of mail do not sign that field.
fn has_one_reading(head: &Head<'_>, body: &[u8]) -> Result<bool, Refused> {
    let Some(value) = head.one("content-type")? else { return Ok(true) };
    let kind = mailparse::parse_content_type(value.trim());
    if kind.mimetype.eq_ignore_ascii_case("text/plain") {
        return Ok(true);
    }
    let Some(boundary) = kind.params.get("boundary").filter(|_| kind.mimetype.starts_with("multipart/")) else {
        return Ok(false);
    };
    let first = body.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = first.strip_suffix(b"\r").unwrap_or(first);
    Ok(first.strip_prefix(b"--") == Some(boundary.as_bytes()))
}

impl Signature {
    /// Reads the tags: each once, and those that must be there.
    fn parse(field: &str) -> Option<Self> {
        // Spaces within values mean nothing here: none of these has words.
        let plain: String = field.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let (mut domain, mut covers, mut value, mut partly) = (None, None, None, false);
        let mut names: Vec<&str> = Vec::new();
        for tag in plain.split(';').filter(|tag| !tag.is_empty()) {
            let (name, text) = tag.split_once('=')?;
            if names.contains(&name) {
                return None;
            }
            names.push(name);
            match name {
                "d" => domain = Some(text.to_ascii_lowercase()),
                "h" => covers = Some(text.split(':').map(str::to_ascii_lowercase).collect()),
                "l" => partly = true,
                "b" => {
                    // One spelling: the last character has bits that mean nothing, and some readers do not look at them.
                    let value_of = Base64Unpadded::decode_vec(text.trim_end_matches('=')).ok();
                    value = value_of.filter(|bytes| !bytes.is_empty());
                    value.as_ref()?;
                }
                _ => {}
            }
        }
        Some(Self { domain: domain?, covers: covers?, partly, value: value? })
    }
}

#[cfg(test)]
mod tests {
    use super::Signature;

    #[test]
    fn a_signature_has_one_spelling_and_each_tag_once() {
        let value = |field: &str| Signature::parse(field).map(|signature| signature.value);
        let whole = value(" v=1; d=Home.Example; h=From : date;\r\n\tbh=x; b=YWJj\r\n ZGU=").unwrap();
        assert_eq!(whole, b"abcde");
        assert_eq!(value("d=a;h=from;b=YWJjZGU"), Some(whole.clone()), "padding says nothing");
        for odd in [
            "",
            "d=a;h=from",
            "d=a;b=YWJj",
            "h=from;b=YWJj",
            "d=a;d=b;h=from;b=YWJj",
            "d=a;h=from;h=date;b=YWJj",
            "d=a;h=from;b=YWJj;b=YWJj",
            "d=a;h=from;b=",
            "d=a;h=from;b=Y",
            "d=a;h=from;b=*",
            // The same bytes in another spelling.
            "d=a;h=from;b=YWJjZGV",
            "d=a;h=from;b=YWJjZGX=",
            "d=a;h=from;b=YWJj;x",
        ] {
            assert_eq!(value(odd), None, "{odd}");
        }
        assert!(Signature::parse("d=a;h=from;l=3;b=YWJj").unwrap().partly);
    }
}
