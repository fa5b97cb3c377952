//! Services that the operator configured: the broker speaks with them and keeps credential and session.

mod exchange;
mod io;
mod pihole;
mod settings;
mod tls;

pub use io::exchanged;
pub use settings::{Auth, EndpointSettings, Reach};
pub use tls::{authorities, authorities_as_data, secured};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use capability_core::handle::{BrokerFault, EndpointReading, EndpointReply, HandleKind, HttpMethod};
use hyper::Method;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use tokio::time::{Instant, timeout, timeout_at};

use super::resolve::Resolver;
use crate::secrets::{private_text, wipe};
use exchange::{Sent, exchange, with_query};

/// How long one exchange may take, logging in included.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long giving a session back may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// What one exchange asks.
pub struct Question {
    pub method: HttpMethod,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
}

/// One configured service.
pub struct Service {
    settings: EndpointSettings,
    resolver: Arc<dyn Resolver>,
    session: pihole::Session,
}

impl Service {
    pub fn new(settings: EndpointSettings, resolver: Arc<dyn Resolver>) -> Self {
        Self { settings, resolver, session: pihole::Session::default() }
    }

    pub const fn settings(&self) -> &EndpointSettings {
        &self.settings
    }

    /// Asks what the kind lists and nothing else.
    pub async fn ask(&self, kind: &HandleKind, question: Question) -> Result<EndpointReply, BrokerFault> {
        let Question { method, path, query, body } = question;
        if !kind.lists(method, &path) {
            return Err(BrokerFault::NotListed);
        }
        let method = match method {
            HttpMethod::Get => Method::GET,
            HttpMethod::Post => Method::POST,
        };
        let path = with_query(&path, &query);
        let sent = |credential| Sent { method: method.clone(), path: path.clone(), body: body.clone(), credential };
        let asked = async {
            match &self.settings.auth {
                Auth::None => self.exchange(sent(None)).await,
                Auth::Bearer { token_file } => self.exchange(sent(Some(bearer(token_file.clone()).await?))).await,
                Auth::Pihole { .. } => self.session.ask(self, sent).await,
            }
        };
        timeout(EXCHANGE_TIMEOUT, asked).await.unwrap_or(Err(BrokerFault::TimedOut))
    }

    /// Gives a session back.
    pub async fn close(&self) {
        // It ends by itself later.
        let _ = timeout(CLOSE_TIMEOUT, self.session.close(self)).await;
    }

    async fn exchange(&self, sent: Sent) -> Result<EndpointReply, BrokerFault> {
        exchange(self.resolver.as_ref(), &self.settings, sent).await
    }
}

/// How long all of those of this device are waited for: well within the time of a call that only looks.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether the services of this device answer that say so without a credential: a Pi-hole's place for logging in. None is logged
/// in to. One that nobody was left time to ask does not answer.
pub async fn answering(services: &BTreeMap<String, Arc<Service>>) -> Vec<EndpointReading> {
    let until = Instant::now() + ANSWER_TIMEOUT;
    let mut found = Vec::new();
    for (name, service) in services {
        let settings = &service.settings;
        if let (Auth::Pihole { .. }, Reach::Device) = (&settings.auth, settings.reach) {
            let asked = timeout_at(until, service.exchange(pihole::asking_who())).await;
            let answers = asked.is_ok_and(|reply| reply.is_ok_and(|reply| matches!(reply.status, 200 | 401)));
            found.push(EndpointReading { name: name.clone(), answers });
        }
    }
    found
}

impl pihole::Line for Service {
    async fn exchange(&self, sent: Sent) -> Result<EndpointReply, BrokerFault> {
        Self::exchange(self, sent).await
    }

    async fn password(&self) -> Result<Vec<u8>, BrokerFault> {
        match self.settings.auth.file() {
            Some(file) => text_of(file.to_owned()).await,
            None => Err(BrokerFault::CredentialUnreadable),
        }
    }
}

async fn text_of(file: std::path::PathBuf) -> Result<Vec<u8>, BrokerFault> {
    tokio::task::spawn_blocking(move || private_text(&file)).await.map_err(|_| BrokerFault::Unavailable)?
}

async fn bearer(file: std::path::PathBuf) -> Result<(HeaderName, HeaderValue), BrokerFault> {
    let mut token = text_of(file).await?;
    let mut header = [b"Bearer ", token.as_slice()].concat();
    wipe(&mut token);
    let value = HeaderValue::from_bytes(&header).map_err(|_| BrokerFault::CredentialUnreadable);
    wipe(&mut header);
    let mut value = value?;
    value.set_sensitive(true);
    Ok((AUTHORIZATION, value))
}
