//! Addresses as the client takes them.

use core::net::{Ipv4Addr, Ipv6Addr};

use fluent_uri::component::Host;
use fluent_uri::{Uri, UriRef};

/// The longest address, in bytes.
pub const MAX_ADDRESS_BYTES: usize = 2048;

/// `http` or `https`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// In the clear.
    Http,
    /// Over TLS.
    Https,
}

impl Scheme {
    /// As it stands in an address.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port of an address that names none.
    #[must_use]
    pub const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// An absolute `http` or `https` address of which every reader has the same idea: RFC 3986 to the letter, with a host that is
/// a plain name or a plain number, and no user in it.
///
/// ```
/// use capabilities::http::Address;
///
/// let address = Address::parse("HTTPS://Example.com:443/a/b?c=d#e").unwrap();
/// assert_eq!(address.to_string(), "https://example.com/a/b?c=d");
/// assert_eq!(address.join("../x").unwrap().to_string(), "https://example.com/x");
/// assert!(Address::parse("http://user@example.com/").is_err());
/// assert!(Address::parse("http://2130706433/").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Address {
    scheme: Scheme,
    /// In lower case; an IPv6 address without its brackets.
    host: HostName,
    port: u16,
    /// Path and query as they are sent; the path begins with a slash.
    request: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum HostName {
    Name(String),
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

/// Why a text is no address for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddressFault {
    /// Above [`MAX_ADDRESS_BYTES`].
    TooLong,
    /// A character outside ASCII: in a host it may look like another.
    NotAscii,
    /// Not an absolute address as RFC 3986 has it.
    Malformed,
    /// A scheme other than the two.
    Scheme,
    /// A user, with or without a password.
    User,
    /// No host, or one that readers disagree about.
    Host,
    /// No port number.
    Port,
}

impl AddressFault {
    /// What is wrong, and what would be right.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooLong => "the address is longer than 2048 bytes\nhelp: write a shorter one",
            Self::NotAscii => {
                "the address has characters outside ASCII\nhelp: write the host as `xn--..` and everything else percent-encoded"
            }
            Self::Malformed => {
                "it is no absolute address\nhelp: write it as in `https://example.com/path?query`, with spaces and the like percent-encoded"
            }
            Self::Scheme => "the address is neither `http` nor `https`\nhelp: write one of the two",
            Self::User => "the address has a user in it\nhelp: leave out what stands before `@`",
            Self::Host => {
                "the host is neither a plain name nor a plain address\nhelp: write a name such as `example.com`, four decimal numbers, or IPv6 in brackets"
            }
            Self::Port => "the port is no number from 1 to 65535\nhelp: leave it out, or write one as in `:8080`",
        }
    }
}

impl core::fmt::Display for AddressFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for AddressFault {}

impl Address {
    /// Parses an absolute address. What follows `#` is left out: it is never sent.
    ///
    /// # Errors
    /// [`AddressFault`] says what is wrong and what would be right, and quotes nothing.
    pub fn parse(text: &str) -> Result<Self, AddressFault> {
        if text.len() > MAX_ADDRESS_BYTES {
            return Err(AddressFault::TooLong);
        }
        if !text.is_ascii() {
            return Err(AddressFault::NotAscii);
        }
        Self::of(Uri::parse(text).map_err(|_| AddressFault::Malformed)?)
    }

    /// The address that a reference found at this one means, as in a `Location` header.
    ///
    /// # Errors
    /// [`AddressFault`] as for [`Address::parse`].
    pub fn join(&self, reference: &str) -> Result<Self, AddressFault> {
        if reference.len() > MAX_ADDRESS_BYTES {
            return Err(AddressFault::TooLong);
        }
        if !reference.is_ascii() {
            return Err(AddressFault::NotAscii);
        }
        let base = self.to_string();
        let base = Uri::parse(base.as_str()).map_err(|_| AddressFault::Malformed)?;
        let reference = UriRef::parse(reference).map_err(|_| AddressFault::Malformed)?;
        let joined = reference.resolve_against(&base).map_err(|_| AddressFault::Malformed)?;
        if joined.as_str().len() > MAX_ADDRESS_BYTES {
            return Err(AddressFault::TooLong);
        }
        Self::of(joined.borrow())
    }

    fn of(uri: Uri<&str>) -> Result<Self, AddressFault> {
        let is = |scheme: Scheme| uri.scheme().as_str().eq_ignore_ascii_case(scheme.as_str());
        let scheme =
            [Scheme::Http, Scheme::Https].into_iter().find(|scheme| is(*scheme)).ok_or(AddressFault::Scheme)?;
        let authority = uri.authority().ok_or(AddressFault::Host)?;
        if authority.has_userinfo() {
            return Err(AddressFault::User);
        }
        let host = match authority.host_parsed() {
            Host::Ipv4(address) => HostName::V4(address),
            Host::Ipv6(address) => HostName::V6(address),
            Host::RegName(name) => HostName::Name(plain_name(name.as_str())?),
            _ => return Err(AddressFault::Host),
        };
        let port = match authority.port() {
            None => scheme.port(),
            Some(digits) => match digits.as_str().parse() {
                Ok(port) if port > 0 => port,
                _ => return Err(AddressFault::Port),
            },
        };
        let path = uri.path().as_str();
        let mut request = if path.is_empty() { "/".to_owned() } else { path.to_owned() };
        if let Some(query) = uri.query() {
            request.push('?');
            request.push_str(query.as_str());
        }
        Ok(Self { scheme, host, port, request })
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host: a name in lower case, or an address without brackets.
    #[must_use]
    pub fn host(&self) -> String {
        match &self.host {
            HostName::Name(name) => name.clone(),
            HostName::V4(address) => address.to_string(),
            HostName::V6(address) => address.to_string(),
        }
    }

    /// The port, whether or not it was written.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Path and query, as they stand in a request's first line.
    #[must_use]
    pub fn request(&self) -> &str {
        &self.request
    }

    /// Whether both have scheme, host and port in common.
    #[must_use]
    pub fn same_origin(&self, other: &Self) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }

    /// Host and port as the `Host` header has them.
    pub(super) fn authority(&self) -> String {
        let host = match &self.host {
            HostName::V6(address) => format!("[{address}]"),
            HostName::Name(_) | HostName::V4(_) => self.host(),
        };
        if self.port == self.scheme.port() { host } else { format!("{host}:{}", self.port) }
    }
}

impl core::fmt::Display for Address {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}://{}{}", self.scheme.as_str(), self.authority(), self.request)
    }
}

/// A name of letters, digits, hyphens and underscores, in lower case. What readers might take for a number is none.
fn plain_name(name: &str) -> Result<String, AddressFault> {
    let label = |label: &str| {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (1..=63).contains(&label.len())
            && label.bytes().all(allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    // `127.1`, `2130706433` and `0x7f.1` are numbers to some readers: the last label of a name has to start as no number does.
    let number = name.rsplit('.').next().is_none_or(|last| last.starts_with(|first: char| first.is_ascii_digit()));
    if name.len() > 253 || number || !name.split('.').all(label) {
        return Err(AddressFault::Host);
    }
    Ok(name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::{Address, AddressFault, MAX_ADDRESS_BYTES};
    use proptest::prelude::*;

    #[test]
    fn an_address_has_one_spelling() {
        for (text, canonical) in [
            ("http://example.com", "http://example.com/"),
            ("HTTP://EXAMPLE.com:80?q", "http://example.com/?q"),
            ("https://example.com:80/%7Ea/./b", "https://example.com:80/%7Ea/./b"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"),
            ("http://[0:0::1]:80/", "http://[::1]/"),
            ("http://xn--pple-43d.com/#fragment", "http://xn--pple-43d.com/"),
            ("http://a_b.example/", "http://a_b.example/"),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.to_string(), canonical, "{text}");
            assert_eq!(Address::parse(canonical).unwrap(), address);
        }
    }

    #[test]
    fn what_readers_disagree_about_is_no_address() {
        use AddressFault::{Host, Malformed, NotAscii, Port, Scheme, TooLong, User};
        let long = format!("http://a/{}", "a".repeat(MAX_ADDRESS_BYTES));
        for (text, fault) in [
            ("http://user@example.com/", User),
            ("http://user:password@example.com/", User),
            ("http://@example.com/", User),
            ("http://docs.rs\\@evil.example/", Malformed),
            ("http://exa\tmple.com/", Malformed),
            ("http://exa mple.com/", Malformed),
            ("http://example.com/\r\nX: y", Malformed),
            (" http://example.com/", Malformed),
            ("//example.com/", Malformed),
            ("example.com", Malformed),
            ("http:example.com", Host),
            ("http:///path", Host),
            ("http://2130706433/", Host),
            ("http://127.1/", Host),
            ("http://0x7f.1/", Host),
            ("http://0x7f000001/", Host),
            ("http://0177.0.0.1/", Host),
            ("http://127.0.0.1.1/", Host),
            ("http://127.0.0.1./", Host),
            ("http://%31%32%37.0.0.1/", Host),
            ("http://a%2eb/", Host),
            ("http://example.com./", Host),
            ("http://a..b/", Host),
            ("http://-a.example/", Host),
            ("http://a!b/", Host),
            ("http://[v1.x]/", Host),
            ("http://[fe80::1%25eth0]/", Malformed),
            ("http://\u{2460}\u{2461}\u{2466}.0.0.1/", NotAscii),
            ("http://\u{430}pple.com/", NotAscii),
            ("http://a:0/", Port),
            ("http://a:65536/", Port),
            ("http://a:/", Port),
            ("ftp://a/", Scheme),
            ("file:///etc/passwd", Scheme),
            ("javascript:alert(1)", Scheme),
            ("data:text/html,x", Scheme),
            (&long, TooLong),
        ] {
            assert_eq!(Address::parse(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn a_reference_is_resolved_as_it_stands_in_the_standard() {
        let base = Address::parse("http://a.example:8080/b/c/d?q").unwrap();
        for (reference, meant) in [
            ("g", "http://a.example:8080/b/c/g"),
            ("../../../g", "http://a.example:8080/g"),
            ("/g", "http://a.example:8080/g"),
            ("?y", "http://a.example:8080/b/c/d?y"),
            ("", "http://a.example:8080/b/c/d?q"),
            ("//b.example/g", "http://b.example/g"),
            ("https://b.example", "https://b.example/"),
        ] {
            assert_eq!(base.join(reference).unwrap().to_string(), meant, "{reference}");
        }
        for reference in
            ["javascript:alert(1)", "//user@b.example/", "file:///etc/passwd", "//127.1/", "\\\\b.example\\"]
        {
            assert!(base.join(reference).is_err(), "{reference}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_address_that_reads_back_or_none(text in "(https?://)?[a-z0-9.:@/?#%\\[\\]\\\\ -]{0,40}") {
            if let Ok(address) = Address::parse(&text) {
                let written = address.to_string();
                prop_assert_eq!(Address::parse(&written), Ok(address.clone()));
                prop_assert!(!written.contains(['#', ' ', '\\']));
                prop_assert!(!address.authority().contains('@'));
                prop_assert!(address.request().starts_with('/'));
            }
        }
    }
}
