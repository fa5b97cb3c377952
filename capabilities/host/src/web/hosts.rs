//! By which names the pages may be asked for: a name that an attacker points at this machine is none of them.

use std::net::SocketAddr;

use crate::config::WebSettings;

/// Names that lead to this machine alone, whoever resolves them.
const OWN: [&str; 4] = ["127.0.0.1", "[::1]", "localhost", "capability.localhost"];

/// The names, each as a browser writes it into `Host`.
#[derive(Debug, Clone)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// Those of this machine and of the listener's own address, with its port, and those that the operator wrote.
    pub fn of(settings: &WebSettings, bound: SocketAddr) -> Self {
        let port = bound.port();
        let mut names = Vec::new();
        let mut with_port = |host: &str| {
            names.push(format!("{host}:{port}"));
            if port == 80 {
                // A browser leaves the port out that it would use anyway.
                names.push(host.to_owned());
            }
        };
        OWN.iter().for_each(|host| with_port(host));
        if !bound.ip().is_unspecified() {
            with_port(&match bound {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            });
        }
        for host in &settings.hosts {
            names.push(host.clone());
            if !host.contains(':') {
                names.push(format!("{host}:{port}"));
            }
        }
        Self(names)
    }

    /// Whether a request that asks for `host` may be meant for us.
    pub fn admit(&self, host: &str) -> bool {
        self.0.iter().any(|name| name.eq_ignore_ascii_case(host))
    }
}

/// Whether a page of this origin is one of ours, reached as `host`: the same host and port, over either scheme, since what
/// stands before us may speak TLS.
pub fn is_own_origin(origin: &str, host: &str) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::{Hosts, is_own_origin};
    use crate::config::WebSettings;

    #[test]
    fn a_foreign_name_is_none_of_ours() {
        let settings = |hosts: &[&str]| WebSettings {
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..WebSettings::default()
        };
        let hosts = Hosts::of(&settings(&["capability.home"]), "192.168.1.5:8722".parse().unwrap());
        for own in [
            "127.0.0.1:8722",
            "LOCALHOST:8722",
            "[::1]:8722",
            "capability.localhost:8722",
            "192.168.1.5:8722",
            "capability.home",
            "capability.home:8722",
        ] {
            assert!(hosts.admit(own), "{own}");
        }
        for foreign in [
            "",
            "127.0.0.1",
            "127.0.0.1:80",
            "evil.example:8722",
            "localhost:8722.evil.example",
            "0.0.0.0:8722",
            "a.localhost:8722",
        ] {
            assert!(!hosts.admit(foreign), "{foreign}");
        }
        let everywhere = Hosts::of(&settings(&[]), "0.0.0.0:80".parse().unwrap());
        assert!(everywhere.admit("localhost") && !everywhere.admit("0.0.0.0") && !everywhere.admit("192.168.1.5"));
        assert!(is_own_origin("https://capability.home", "capability.home") && is_own_origin("http://a:1", "a:1"));
        for origin in
            ["null", "", "http://a", "http://a:2", "file://a:1", "http://a:1/", "http://a:1.b", "http://u@a:1"]
        {
            assert!(!is_own_origin(origin, "a:1"), "{origin}");
        }
    }
}
