//! What a server says that its answer is.

/// A `Content-Type`, as far as it is of use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType {
    /// Type and subtype in lower case, as in `text/html`.
    pub essence: String,
    /// The value of `charset`, if there is one.
    pub charset: Option<String>,
}

impl MediaType {
    /// Reads a header's value; `None` when it says nothing that can be relied on.
    #[must_use]
    pub fn parse(value: &str) -> Option<Self> {
        let mut parts = value.split(';');
        let essence = parts.next()?.trim().to_ascii_lowercase();
        let (kind, subtype) = essence.split_once('/')?;
        if essence.len() > 127 || !is_token(kind) || !is_token(subtype) {
            return None;
        }
        let mut charset = None;
        for part in parts {
            let Some((name, value)) = part.split_once('=') else { continue };
            if !name.trim().eq_ignore_ascii_case("charset") {
                continue;
            }
            let value = value.trim();
            let value = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(value);
            if !is_token(value) || value.len() > 64 || charset.is_some_and(|before: String| before != value) {
                return None;
            }
            charset = Some(value.to_owned());
        }
        Some(Self { essence, charset })
    }
}

fn is_token(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !text.is_empty() && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::MediaType;

    #[test]
    fn a_media_type_is_read_or_there_is_none() {
        for (value, essence, charset) in [
            ("text/html", "text/html", None),
            ("Text/HTML; Charset=\"UTF-8\"", "text/html", Some("UTF-8")),
            (" text/plain ;boundary=x; charset=latin1 ;", "text/plain", Some("latin1")),
            ("text/plain; charset=a; charset=a", "text/plain", Some("a")),
            ("application/vnd.x+json;flag", "application/vnd.x+json", None),
        ] {
            let found = MediaType::parse(value).unwrap();
            assert_eq!((found.essence.as_str(), found.charset.as_deref()), (essence, charset), "{value}");
        }
        for value in [
            "",
            "text",
            "/",
            "text/",
            "text/html, image/png",
            "text/ht ml",
            "text/html; charset=a; charset=b",
            "text/html; charset=",
            "text/html; charset=\"a b\"",
            "text/\u{e9}",
        ] {
            assert_eq!(MediaType::parse(value), None, "{value}");
        }
    }
}
