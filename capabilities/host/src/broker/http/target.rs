//! From an approved target's text to the one host and port it names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use capability_core::contract::TargetKind;
use capability_core::handle::BrokerFault;

/// The longest address that is read, in bytes.
const MAX_BYTES: usize = 8 * 1024;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// Who.
    pub host: Host,
    /// Where.
    pub port: u16,
}

/// A name to be resolved, or an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// In lower case, without a final dot.
    Name(String),
    /// As it is.
    Address(IpAddr),
}

impl core::fmt::Display for Host {
    /// As it stands in a URL.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

impl core::fmt::Display for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// `http` or `https`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// In the clear, port 80.
    Http,
    /// Over TLS, port 443.
    Https,
}

impl Scheme {
    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

impl Place {
    /// The place that a target names: the host and port of an `http` or `https` address, or a host alone with the port for
    /// TLS.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedTarget`] for everything that two readers might read as two places.
    pub fn of_target(kind: TargetKind, text: &str) -> Result<Self, BrokerFault> {
        match kind {
            TargetKind::Url => Self::of_url(text).map(|(_, place, _)| place).ok_or(BrokerFault::MalformedTarget),
            TargetKind::Host => Self::of_authority(text, Scheme::Https.port()).ok_or(BrokerFault::MalformedTarget),
            TargetKind::Path
            | TargetKind::Service
            | TargetKind::Repository
            | TargetKind::Address
            | TargetKind::Argv
            | TargetKind::Text
            | TargetKind::None => Err(BrokerFault::MalformedTarget),
        }
    }

    /// Scheme and place of an absolute `http` or `https` address, and what follows the place.
    pub fn of_url(text: &str) -> Option<(Scheme, Self, &str)> {
        // What some readers take out and others keep, and the slash that only some take for one.
        let doubtful = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.len() > MAX_BYTES || text.contains(doubtful) {
            return None;
        }
        let (scheme, rest) = text.split_once("://")?;
        let scheme = match scheme {
            _ if scheme.eq_ignore_ascii_case("http") => Scheme::Http,
            _ if scheme.eq_ignore_ascii_case("https") => Scheme::Https,
            _ => return None,
        };
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        Some((scheme, Self::of_authority(authority, scheme.port())?, rest))
    }

    /// `host`, `host:port`, `[address]` or `[address]:port`, in plain ASCII: no user, no password, no escape, and no
    /// spelling of a number but the usual one.
    pub fn of_authority(text: &str, standard_port: u16) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                // A zone is no part of an address: it names an interface of this machine, and the parser takes none.
                let address: Ipv6Addr = address.parse().ok()?;
                (Host::Address(IpAddr::V6(address)), port)
            }
            None => {
                let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
                (host_of(host)?, port)
            }
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => standard_port,
            None => return None,
            Some(digits) if (1..=5).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().ok().filter(|port| *port != 0)?
            }
            Some(_) => return None,
        };
        Some(Self { host, port })
    }
}

/// A name of letters, digits and hyphens, or dotted decimal. Other alphabets are written as `xn--`, so that what is approved
/// is what is connected to.
fn host_of(text: &str) -> Option<Host> {
    let name = text.strip_suffix('.').unwrap_or(text);
    let label = |label: &str| {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
        (1..=63).contains(&label.len()) && label.bytes().all(plain)
    };
    if name.len() > 253 || !name.split('.').all(label) {
        return None;
    }
    // A last part that begins like a number is a number to some readers: then it is an address in its usual spelling.
    if name.rsplit('.').next()?.starts_with(|c: char| c.is_ascii_digit()) {
        let address: Ipv4Addr = text.parse().ok()?;
        return Some(Host::Address(IpAddr::V4(address)));
    }
    Some(Host::Name(name.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::{Host, Place, Scheme};
    use capability_core::contract::TargetKind;
    use capability_core::policy::{Acted, TargetPattern};

    fn place(url: &str) -> Option<String> {
        Place::of_url(url).map(|(_, place, _)| place.to_string())
    }

    #[test]
    fn a_plain_address_names_one_place() {
        for (url, wanted) in [
            ("http://example.com", "example.com:80"),
            ("HTTPS://Example.COM/a?b#c", "example.com:443"),
            ("https://example.com:8443/x", "example.com:8443"),
            ("https://example.com?x", "example.com:443"),
            ("http://8.8.8.8/", "8.8.8.8:80"),
            ("http://[2606:4700::1111]:81/", "[2606:4700::1111]:81"),
            ("http://xn--pple-43d.com/", "xn--pple-43d.com:80"),
            ("http://a_b.example./", "a_b.example:80"),
            ("http://de.example/wiki/Käse", "de.example:80"),
            ("http://127.0.0.1/", "127.0.0.1:80"),
            ("http://[::ffff:127.0.0.1]/", "[::ffff:127.0.0.1]:80"),
        ] {
            assert_eq!(place(url).as_deref(), Some(wanted), "{url}");
        }
        assert_eq!(
            Place::of_url("https://a.b/c?d").map(|(scheme, _, rest)| (scheme, rest)),
            Some((Scheme::Https, "/c?d"))
        );
    }

    /// What readers of addresses are known to disagree about is no address here.
    #[test]
    fn whatever_can_be_read_in_two_ways_is_refused() {
        for url in [
            // Numbers in other spellings, up to full-width digits and escapes.
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://127.0.0.1./",
            "http://0x7f000001/",
            "http://1.2.3.4.5/",
            "http://example.0x7f/",
            "http://①②⑦.⓪.⓪.①/",
            "http://%31%32%37.0.0.1/",
            // Users, passwords, backslashes, control characters, blanks.
            "http://docs.rs\\@evil.com/",
            "http://user@example.com/",
            "http://a:b@example.com/",
            "http://exa\tmple.com/",
            "http://exa\nmple.com/",
            "http://example.com /",
            " http://example.com/",
            "http://example.com\r\nHost: x/",
            "http://example.com\u{a0}/",
            "http://example.com@127.0.0.1/",
            // Other alphabets are written out.
            "http://аpple.com/",
            "http://example。com/",
            // Ports.
            "http://example.com:/",
            "http://example.com:0/",
            "http://example.com:65536/",
            "http://example.com:+80/",
            "http://example.com:80:80/",
            "http://[::1]80/",
            "http://example.com:8_0/",
            // Zones, broken brackets, empty parts.
            "http://[fe80::1%eth0]/",
            "http://[fe80::1%25eth0]/",
            "http://[::1/",
            "http://::1/",
            "http:///x",
            "http://./",
            "http://a..b/",
            "http://.a/",
            "http://",
            "",
            "example.com",
            "//example.com/",
            "http:example.com",
            "http:/example.com",
            // Other schemes.
            "ftp://example.com/",
            "file:///etc/passwd",
            "gopher://example.com/",
            "javascript://x",
            "https ://example.com",
        ] {
            assert_eq!(place(url), None, "{url:?}");
        }
        assert_eq!(place(&format!("http://{}.com/", "x".repeat(64))), None);
        assert_eq!(place(&format!("http://a/{}", "x".repeat(9000))), None);
    }

    /// Texts of the pieces that addresses are made of, many of which are none.
    fn texts(mut each: impl FnMut(&str)) {
        let pieces = [
            "http://",
            "https://",
            "a",
            ".",
            ":",
            "80",
            "@",
            "[",
            "]",
            "::1",
            "/",
            "\\",
            "%",
            "0x7f",
            "127.0.0.1",
            "-",
            "#",
            "?",
            "é",
            "xn--",
            "9",
            "_",
            " ",
            "\t",
        ];
        let mut state = 88_172_645_463_325_252_u64;
        for _ in 0..200_000 {
            let mut text = "http://".to_owned();
            for _ in 0..state % 7 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                text += pieces[(state % pieces.len() as u64) as usize];
            }
            state = state.wrapping_add(0x9e37_79b9);
            each(&text);
        }
    }

    /// Whatever is read is written as it was read: no text that names a place names another one when it is read again.
    #[test]
    fn reading_what_was_written_gives_the_same_place() {
        let mut read = 0;
        texts(|text| {
            if let Some((_, found, _)) = Place::of_url(text) {
                read += 1;
                let again = Place::of_url(&format!("http://{found}/")).map(|(_, place, _)| place);
                assert_eq!(again.as_ref(), Some(&found), "{text:?}");
                if let Host::Name(name) = found.host {
                    assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)), "{text:?}");
                }
            }
        });
        assert!(read > 1000, "some of them are addresses: {read}");
    }

    /// A rule is judged by the place that is connected to: what the one reads the other does, and as the same.
    #[test]
    fn policy_and_broker_read_one_place() {
        let (mut read, mut refused) = (0, 0);
        texts(|text| {
            let acted = Acted::read(TargetKind::Url, text);
            match (Place::of_url(text), acted) {
                (None, Err(_)) => refused += 1,
                (Some((_, Place { host, port }, _)), Ok(acted)) => {
                    let host = match host {
                        Host::Name(name) => name,
                        Host::Address(address) => address.to_string(),
                    };
                    let rule = serde_json::json!({ "host": host, "port": port });
                    let rule: TargetPattern = serde_json::from_value(rule).unwrap();
                    assert_eq!(acted.is_matched_by(&rule), Ok(true), "{text:?}");
                    read += 1;
                }
                (place, acted) => panic!("{text:?}: {place:?} {acted:?}"),
            }
        });
        assert!(read > 1000 && refused > 1000, "{read} {refused}");
    }
}
