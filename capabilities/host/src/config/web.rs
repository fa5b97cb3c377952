//! Where the approval centre listens, by the operator's word.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::Deserialize;

use super::bindings::Mistake;

/// `[web]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebTable {
    /// The address and port that the pages are served at; `127.0.0.1:8722` unless it says otherwise. One that other machines
    /// reach needs an operator password.
    pub listen: Option<String>,
    /// The names that people may call it by, beside those of this machine: `capability.home`, or with a port.
    pub hosts: Vec<String>,
}

/// The same, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSettings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Further names, in lower case, each with or without a port.
    pub hosts: Vec<String>,
}

/// The port that nobody chose.
const PORT: u16 = 8722;
const MAX_HOSTS: usize = 16;

impl Default for WebSettings {
    fn default() -> Self {
        Self { listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT), hosts: Vec::new() }
    }
}

impl WebSettings {
    pub(super) fn of(table: &WebTable) -> Result<Self, Mistake> {
        let mistake = |key, what, help| Mistake { table: "web".to_owned(), key, what, help };
        let listen = match &table.listen {
            None => Self::default().listen,
            Some(text) => text.parse().map_err(|_| {
                mistake(
                    "listen",
                    format!("`{}` is no address and port", text.escape_default()),
                    "write it as in `127.0.0.1:8722` or `[::1]:8722`",
                )
            })?,
        };
        if table.hosts.len() > MAX_HOSTS {
            let what = format!("{} hosts are listed: at most {MAX_HOSTS} are", table.hosts.len());
            return Err(mistake("hosts", what, "list the names that people use"));
        }
        let hosts = table.hosts.iter().map(|host| host.to_ascii_lowercase()).collect::<Vec<_>>();
        if let Some(host) = hosts.iter().find(|host| !is_authority(host)) {
            let what = format!("`{}` is no host name", host.escape_default());
            return Err(mistake("hosts", what, "write the name as people type it, as in `capability.home`"));
        }
        Ok(Self { listen, hosts })
    }

    /// Whether only this machine reaches it.
    #[must_use]
    pub const fn is_loopback(&self) -> bool {
        self.listen.ip().is_loopback()
    }
}

/// A name or an address of the fourth version, with or without a port.
fn is_authority(text: &str) -> bool {
    let (host, port) = match text.split_once(':') {
        None => (text, None),
        Some((host, port)) => (host, Some(port)),
    };
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let label = |label: &str| (1..=63).contains(&label.len()) && label.bytes().all(plain);
    let port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number.to_string() == port));
    port && host.len() <= 253 && host.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::{WebSettings, WebTable};

    #[test]
    fn names_are_plain_and_addresses_whole() {
        let of = |listen: Option<&str>, hosts: &[&str]| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            WebSettings::of(&WebTable { listen: listen.map(str::to_owned), hosts }).ok()
        };
        assert_eq!(of(None, &[]), Some(WebSettings::default()));
        assert!(WebSettings::default().is_loopback() && of(Some("[::1]:80"), &[]).unwrap().is_loopback());
        assert!(!of(Some("0.0.0.0:80"), &[]).unwrap().is_loopback());
        assert_eq!(of(None, &["Capability.home", "a:8443"]).unwrap().hosts, ["capability.home", "a:8443"]);
        for listen in ["localhost:8722", "8722", ":8722", "127.0.0.1", ""] {
            assert_eq!(of(Some(listen), &[]), None, "{listen}");
        }
        for host in ["", "*", "*.home", "a:b", "a:080", "a/b", "http://a", "a..b", "a b", "ä", "a:1:2", "@a"] {
            assert_eq!(of(None, &[host]), None, "{host}");
        }
    }
}
