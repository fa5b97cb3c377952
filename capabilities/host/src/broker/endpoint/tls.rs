//! TLS with a service: the public authorities, or exactly those that the operator named.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use capability_core::handle::BrokerFault;
use rustix::fs::OFlags;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::settings::EndpointSettings;
use crate::broker::http::Host;

/// The largest file of authorities.
const MAX_BYTES: u64 = 1024 * 1024;

/// Speaks TLS over a connection. There is no way not to look at the certificate.
pub async fn secured(settings: &EndpointSettings, stream: TcpStream) -> Result<TlsStream<TcpStream>, BrokerFault> {
    let roots = match &settings.ca_file {
        None => RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() },
        Some(file) => {
            let file = file.clone();
            let read = tokio::task::spawn_blocking(move || authorities(&file)).await;
            read.map_err(|_| BrokerFault::Unavailable)??
        }
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|_| BrokerFault::Unavailable)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = match (&settings.server_name, &settings.place.host) {
        (Some(name), _) | (None, Host::Name(name)) => ServerName::try_from(name.clone()),
        (None, Host::Address(address)) => Ok(ServerName::IpAddress((*address).into())),
    };
    let name = name.map_err(|_| BrokerFault::Untrusted)?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| {
        // Whatever the library found wrong is wrapped in an error of its kind; a connection that broke off is not.
        match error.get_ref().is_some_and(|inner| inner.is::<tokio_rustls::rustls::Error>()) {
            true => BrokerFault::Untrusted,
            false => BrokerFault::Unavailable,
        }
    })
}

/// The authorities in a PEM file: at least one, and nothing that is none.
pub fn authorities(file: &Path) -> Result<RootCertStore, BrokerFault> {
    trusted(certificates(file)?)
}

fn trusted(certificates: Vec<CertificateDer<'static>>) -> Result<RootCertStore, BrokerFault> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate).map_err(|_| BrokerFault::Untrusted)?;
    }
    if roots.is_empty() { Err(BrokerFault::Untrusted) } else { Ok(roots) }
}

/// The same as plain data, for whoever speaks TLS elsewhere.
pub fn authorities_as_data(file: &Path) -> Result<Vec<Vec<u8>>, BrokerFault> {
    let certificates = certificates(file)?;
    trusted(certificates.clone())?;
    Ok(certificates.iter().map(|certificate| certificate.to_vec()).collect())
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, BrokerFault> {
    let refused = |_| BrokerFault::Untrusted;
    // Opening a pipe must not wait for its other end: it would keep a thread of the host for good.
    let waiting = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(waiting.bits()).map_err(|_| BrokerFault::Untrusted)?;
    let open = OpenOptions::new().read(true).custom_flags(flags).open(file).map_err(refused)?;
    if !open.metadata().map_err(refused)?.is_file() {
        return Err(BrokerFault::Untrusted);
    }
    let mut text = Vec::new();
    open.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(refused)?;
    // A part of it would be another list than the one that was written.
    if text.len() as u64 > MAX_BYTES {
        return Err(BrokerFault::Untrusted);
    }
    CertificateDer::pem_slice_iter(&text).collect::<Result<_, _>>().map_err(|_| BrokerFault::Untrusted)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::{BrokerFault, authorities};

    /// A pipe would keep a thread of the host for good, one for each exchange.
    #[test]
    fn a_file_of_authorities_is_a_plain_file_and_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let large = dir.path().join("large.pem");
        std::fs::write(&large, vec![b'\n'; (1 << 20) + 1]).unwrap();
        for file in [pipe, dir.path().to_owned(), large, dir.path().join("none")] {
            let (told, answer) = mpsc::channel();
            let read = file.clone();
            std::thread::spawn(move || told.send(authorities(&read).err()));
            assert_eq!(answer.recv_timeout(Duration::from_secs(20)), Ok(Some(BrokerFault::Untrusted)), "{file:?}");
        }
    }
}
