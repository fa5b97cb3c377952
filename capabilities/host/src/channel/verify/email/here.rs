//! Signatures that are checked here, by the keys that domains publish (RFC 6376).

use core::fmt;
use core::time::Duration;
use std::net::SocketAddr;
use std::sync::Arc;

use capability_core::audit::ChannelRule;
use mail_auth::common::crypto::Algorithm;
use mail_auth::hickory_resolver::config::{NameServerConfig, ResolverConfig, ResolverOpts};
use mail_auth::hickory_resolver::system_conf::read_system_conf;
use mail_auth::{AuthenticatedMessage, DkimResult, MessageAuthenticator};
use tokio::time::timeout;

use super::super::super::Refused;
use super::signature::MAX_SIGNATURES;

/// How long one answer of a name server is waited for.
const ANSWER: Duration = Duration::from_secs(3);
/// How long all of it may take. A mail server waits meanwhile, and tries again later.
const PATIENCE: Duration = Duration::from_secs(8);

/// Where keys are looked up.
#[derive(Clone)]
pub struct Keys(Arc<MessageAuthenticator>);

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keys")
    }
}

impl Keys {
    /// Asks this name server, or those of this machine. None where this machine names none.
    #[must_use]
    pub fn of(name_server: Option<SocketAddr>) -> Option<Self> {
        let (config, mut options) = match name_server {
            None => read_system_conf().ok()?,
            Some(at) => {
                let mut server = NameServerConfig::udp_and_tcp(at.ip());
                server.connections.iter_mut().for_each(|way| way.port = at.port());
                (ResolverConfig::from_name_servers(vec![server]), ResolverOpts::default())
            }
        };
        (options.timeout, options.attempts) = (ANSWER, 2);
        MessageAuthenticator::new(config, options).ok().map(|keys| Self(Arc::new(keys)))
    }

    /// Whether this domain signed this very mail. Names of other domains are not looked up, whatever the mail says.
    ///
    /// # Errors
    /// [`Refused`]: it did not, or its key could not be had.
    pub(super) async fn prove(&self, raw: &[u8], domain: &str) -> Result<(), Refused> {
        // A line has one end. What is signed leaves such bytes out, and whoever reads the text may not.
        let mut bytes = raw.iter().peekable();
        while let Some(byte) = bytes.next() {
            if *byte == b'\r' && bytes.peek() != Some(&&b'\n') {
                return Err(Refused::malformed("a line ends in the middle"));
            }
        }
        let (keys, raw, domain) = (Arc::clone(&self.0), raw.to_vec(), domain.to_owned());
        // In a task of its own: what goes wrong there is a refusal.
        let checked = tokio::spawn(async move { timeout(PATIENCE, checked(&keys, &raw, &domain)).await });
        match checked.await {
            Ok(Ok(found)) => found,
            Ok(Err(_)) => Err(unavailable()),
            Err(_) => Err(Refused::malformed("its signatures cannot be checked")),
        }
    }
}

const fn unavailable() -> Refused {
    Refused::new(ChannelRule::Unavailable, "the key of the sender's domain cannot be had now")
}

async fn checked(keys: &MessageAuthenticator, raw: &[u8], domain: &str) -> Result<(), Refused> {
    let mut mail = AuthenticatedMessage::parse(raw).ok_or(Refused::malformed("the mail cannot be read"))?;
    mail.dkim_headers.retain(|own| own.header.d.eq_ignore_ascii_case(domain) && own.header.a != Algorithm::RsaSha1);
    mail.dkim_headers.truncate(MAX_SIGNATURES);
    for own in &mut mail.dkim_headers {
        // Nothing is looked up but the key: no place for reports, and nobody else who may sign.
        (own.header.r, own.header.atps) = (false, None);
    }
    let found = keys.verify_dkim(&mail).await;
    let signs = |result: &DkimResult| matches!(result, DkimResult::Pass);
    if found.iter().any(|one| signs(one.result())) {
        return Ok(());
    }
    if found.iter().any(|one| matches!(one.result(), DkimResult::TempError(_))) {
        return Err(unavailable());
    }
    Err(Refused::forged("no signature of the sender's domain is right"))
}
