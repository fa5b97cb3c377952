//! Header fields, each of them once or not at all.

use axum::http::HeaderMap;

use super::Refused;

/// What stands in the head of a request. A field that two readers could read in two ways is refused: a proxy and this host
/// would each take another one for the true one.
#[derive(Debug, Clone, Copy)]
pub struct Headers<'a>(&'a HeaderMap);

impl<'a> Headers<'a> {
    /// Around a request's head.
    #[must_use]
    pub const fn new(map: &'a HeaderMap) -> Self {
        Self(map)
    }

    /// A field that may be missing.
    ///
    /// # Errors
    /// [`Refused`] as unauthenticated when it stands there twice, or holds anything but printable ASCII.
    pub fn optional(self, name: &str) -> Result<Option<&'a str>, Refused> {
        let mut values = self.0.get_all(name).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Refused::unauthenticated("a header stands there twice"));
        }
        let printable = |byte: &u8| matches!(byte, b' '..=b'~');
        match core::str::from_utf8(value.as_bytes()) {
            Ok(text) if text.as_bytes().iter().all(printable) => Ok(Some(text)),
            _ => Err(Refused::unauthenticated("a header holds more than printable ASCII")),
        }
    }

    /// A field that has to be there.
    ///
    /// # Errors
    /// As [`Self::optional`], and when it is missing.
    pub fn one(self, name: &str) -> Result<&'a str, Refused> {
        self.optional(name)?.ok_or(Refused::unauthenticated("a header is missing"))
    }

    /// The token of `Authorization: Bearer`.
    ///
    /// # Errors
    /// As [`Self::one`], and for any other scheme.
    pub fn bearer(self) -> Result<&'a str, Refused> {
        let value = self.one("authorization")?;
        match value.split_once(' ') {
            Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token),
            _ => Err(Refused::unauthenticated("`Authorization` has no bearer token")),
        }
    }

    /// The kind of body, in lower case and without parameters.
    ///
    /// # Errors
    /// As [`Self::optional`]; and for a body that is packed: what is signed is what travels, and nothing is unpacked here.
    pub fn content_type(self) -> Result<Option<String>, Refused> {
        if self.0.contains_key("content-encoding") {
            return Err(Refused::malformed("the body is packed"));
        }
        let value = self.optional("content-type")?;
        Ok(value.map(|value| value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};
    use capability_core::audit::ChannelRule;

    use super::Headers;

    #[test]
    fn a_field_that_could_be_read_in_two_ways_is_none() {
        let mut map = HeaderMap::new();
        map.append("x-once", HeaderValue::from_static("a"));
        map.append("x-twice", HeaderValue::from_static("a"));
        map.append("x-twice", HeaderValue::from_static("a"));
        map.append("x-odd", HeaderValue::from_bytes("sha256=é".as_bytes()).unwrap());
        map.append("x-raw", HeaderValue::from_bytes(b"\xff").unwrap());
        let headers = Headers::new(&map);
        assert_eq!(headers.one("X-Once"), Ok("a"));
        assert_eq!(headers.optional("x-none"), Ok(None));
        for name in ["x-none", "x-twice", "x-odd", "x-raw"] {
            assert_eq!(headers.one(name).unwrap_err().rule, ChannelRule::Unauthenticated, "{name}");
        }
    }
}
