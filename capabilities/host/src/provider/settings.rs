//! What the operator wrote about a server, checked.

use std::collections::BTreeMap;
use std::time::Duration;

use capability_core::contract::Class;
use sha2::{Digest as _, Sha256};

use super::mcp::{HttpSettings, ProgramSettings};

/// One configured server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// How it is reached.
    pub way: Way,
    /// Whose it is.
    pub scope: Scope,
    /// The capabilities of this build that it carries out for its session, by name, each by which of its tools.
    pub carries_out: BTreeMap<String, String>,
    /// When.
    pub start: Start,
    /// How long connecting and listing may take in all.
    pub discovery: Duration,
    /// How often a server that is asked over HTTP is looked at while nobody calls.
    pub check: Duration,
    /// The classes that the operator gives its tools, each for one very definition.
    pub classes: Vec<ClassLine>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// A program of this machine is started.
    Program(ProgramSettings),
    /// An address is asked.
    Http(HttpSettings),
}

/// Whose a server is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Everybody's who declares it.
    #[default]
    Host,
    /// Nobody's, until a program names it for its own session: then it is that session's and no other one's, and ends with it.
    Request,
}

/// When a server is started or contacted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// When a call of `mcp.connect` is let through.
    #[default]
    Ask,
    /// With the host: the operator has answered for good.
    WithHost,
}

/// The class of one tool, for one very definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassLine {
    /// The server's name for it.
    pub tool: String,
    /// The digest of the definition that the operator looked at.
    pub definition: [u8; 32],
    /// What it is.
    pub class: Class,
}

impl ServerSettings {
    /// What the server is, as far as the configuration says: another program or another place is another server.
    ///
    /// Neither secrets nor credentials are part of it: those change without changing who is spoken to.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix("mcp server\0");
        let mut part = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        match &self.way {
            Way::Program(program) => {
                part(b"program");
                for word in &program.command {
                    part(word.as_bytes());
                }
                part(b"in");
                part(program.directory.as_ref().map_or(&[][..], |directory| directory.as_os_str().as_encoded_bytes()));
                for (name, value) in &program.set {
                    part(name.as_bytes());
                    part(value.as_bytes());
                }
            }
            Way::Http(http) => {
                part(b"http");
                part(format!("{:?}", http.place.scheme).as_bytes());
                part(http.place.place.to_string().as_bytes());
                part(http.place.base.as_bytes());
                part(http.place.server_name.as_deref().unwrap_or_default().as_bytes());
            }
        }
        hash.finalize().into()
    }
}
