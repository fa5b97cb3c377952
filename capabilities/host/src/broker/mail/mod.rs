//! The mail server that the operator configured.

mod smtp;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use capability_core::Environment;
use capability_core::handle::{BrokerFault, Letter, is_mail_address};
use tokio::time::timeout;

use super::endpoint::EndpointSettings;
use super::resolve::Resolver;
use crate::hex;
use crate::secrets::redactor;

/// How long handing a letter over may take: less than the call has, so that the answer is the server's.
const SEND_TIMEOUT: Duration = Duration::from_secs(20);

/// The server as the operator configured it, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSettings {
    /// Where it is and whose certificate it has.
    pub server: EndpointSettings,
    /// How the connection is kept from others.
    pub security: Security,
    /// The name to sign in with, and the file that holds the password.
    pub login: Option<(String, PathBuf)>,
    /// From whom letters come.
    pub from: String,
    /// To whom they may go: whole addresses, and hosts as `@example.org`.
    pub recipients: Vec<String>,
}

/// How the connection to a mail server is kept from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Security {
    /// TLS from the first byte on.
    #[default]
    Tls,
    /// TLS before anything but greetings is said. A server that does not offer it is not spoken with any further.
    Starttls,
    /// Not at all: for a server on this very machine.
    None,
}

/// Hands letters over.
pub struct Mailer {
    settings: MailSettings,
    resolver: Arc<dyn Resolver>,
    environment: Arc<dyn Environment>,
}

impl Mailer {
    pub fn new(settings: MailSettings, resolver: Arc<dyn Resolver>, environment: Arc<dyn Environment>) -> Self {
        Self { settings, resolver, environment }
    }

    /// From whom a letter to somebody would come, and by which server.
    pub fn sender(&self, to: &str) -> Result<String, BrokerFault> {
        self.admits(to)?;
        Ok(format!("from {} by {}", self.settings.from, self.settings.server.place))
    }

    /// Hands one letter over.
    pub async fn send(&self, letter: &Letter) -> Result<String, BrokerFault> {
        letter.check()?;
        self.admits(&letter.to)?;
        // It is sent as it was approved, so that nothing can be taken out of it.
        let redactor = redactor();
        if [&letter.subject, &letter.text].iter().any(|text| redactor.text(text) != text.as_str()) {
            return Err(BrokerFault::HoldsSecret);
        }
        let mut random = [0; 16];
        self.environment.fill_random(&mut random);
        let host = self.settings.from.split_once('@').map_or("localhost", |(_, host)| host);
        let id = format!("{}@{host}", hex::encode(&random));
        let sending = smtp::send(&self.settings, &*self.resolver, letter, &id);
        timeout(SEND_TIMEOUT, sending).await.unwrap_or(Err(BrokerFault::Uncertain)).map(|()| id)
    }

    /// Whether the operator listed that recipient. Hosts are compared without regard to case, names are not.
    fn admits(&self, to: &str) -> Result<(), BrokerFault> {
        if !is_mail_address(to) {
            return Err(BrokerFault::MalformedAddress);
        }
        let (name, host) = to.split_once('@').ok_or(BrokerFault::MalformedAddress)?;
        let listed = |entry: &String| match entry.split_once('@') {
            Some(("", listed)) => listed.eq_ignore_ascii_case(host),
            Some((listed_name, listed)) => listed_name == name && listed.eq_ignore_ascii_case(host),
            None => false,
        };
        if self.settings.recipients.iter().any(listed) { Ok(()) } else { Err(BrokerFault::NotARecipient) }
    }
}
