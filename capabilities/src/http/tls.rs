//! Whom a TLS client believes.

use std::io;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};

use super::HttpFault;
use super::wire::{Spent, Wire};

/// TLS 1.2 or 1.3 with the server named `host`, whose certificate must chain to one of the public authorities or to one of
/// the operator's own.
pub(super) async fn connect(wire: Wire, host: String, own: Vec<Vec<u8>>) -> Result<TlsStream<Wire>, HttpFault> {
    let name = ServerName::try_from(host).map_err(|_| HttpFault::Address)?;
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for authority in own {
        roots.add(CertificateDer::from(authority)).map_err(|_| HttpFault::OwnAuthority)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| HttpFault::Tls)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // One connection, one exchange: there is nothing to resume.
    config.resumption = rustls::client::Resumption::disabled();
    TlsConnector::from(Arc::new(config)).connect(name, wire).await.map_err(|error| fault(&error))
}

/// What a failed handshake says, in one of our words.
fn fault(error: &io::Error) -> HttpFault {
    let Some(inner) = error.get_ref() else { return HttpFault::Tls };
    if inner.is::<Spent>() {
        return HttpFault::WireCap;
    }
    match inner.downcast_ref::<rustls::Error>() {
        Some(rustls::Error::InvalidCertificate(_)) => HttpFault::Certificate,
        Some(_) | None => HttpFault::Tls,
    }
}
