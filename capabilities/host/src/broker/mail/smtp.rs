//! One letter over one connection: what failed before the letter was on its way is told apart from what failed after.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;
use std::net::SocketAddr;

use capability_core::handle::{BrokerFault, Letter};
use lettre::address::{Address, Envelope};
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{
    AsyncSmtpConnection, AsyncTokioStream, Certificate, CertificateStore, TlsParameters,
};
use lettre::transport::smtp::extension::ClientId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::rustls::Error as TlsError;

use super::{MailSettings, Security};
use crate::broker::endpoint::{authorities_as_data, secured};
use crate::broker::http::{Host, addresses, connected};
use crate::broker::resolve::Resolver;
use crate::secrets::{private_text, wipe};

pub async fn send(
    settings: &MailSettings,
    resolver: &dyn Resolver,
    letter: &Letter,
    id: &str,
) -> Result<(), BrokerFault> {
    let message = message(settings, letter, id)?;
    let mut connection = opened(settings, resolver).await?;
    let sent = connection.send(message.envelope(), &message.formatted()).await;
    match sent {
        Ok(_) => {
            // It is taken: what becomes of the farewell is nobody's matter.
            let _ = connection.quit().await;
            Ok(())
        }
        // A server that answers says what it did with it: nothing.
        Err(error) if error.status().is_some() => Err(BrokerFault::LetterRefused),
        Err(_) => Err(BrokerFault::Uncertain),
    }
}

/// A connection that is as private as it is to be, and signed in.
async fn opened(settings: &MailSettings, resolver: &dyn Resolver) -> Result<AsyncSmtpConnection, BrokerFault> {
    let place = &settings.server.place;
    let found = addresses(resolver, &place.host).await?;
    let stream = connected(&found, place.port).await?;
    // The machine's own name is nobody's business.
    let name = ClientId::Domain("localhost".to_owned());
    let peer = stream.peer_addr().map_err(|_| BrokerFault::Unavailable)?;
    let stream: Box<dyn AsyncTokioStream> = match settings.security {
        Security::Tls => Box::new(Capped::new(secured(&settings.server, stream).await?, peer)),
        Security::Starttls | Security::None => Box::new(Capped::new(stream, peer)),
    };
    let mut connection =
        AsyncSmtpConnection::connect_with_transport(stream, &name).await.map_err(|error| spoken(&error))?;
    if settings.security == Security::Starttls {
        if !connection.can_starttls() {
            return Err(BrokerFault::Untrusted);
        }
        connection.starttls(parameters(settings)?, &name).await.map_err(|error| spoken(&error))?;
    }
    if let Some((user, file)) = &settings.login {
        let mut password = private_text(file)?;
        let text = core::str::from_utf8(&password).map_err(|_| BrokerFault::CredentialUnreadable)?.to_owned();
        wipe(&mut password);
        let credentials = Credentials::new(user.clone(), text);
        let signed = connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await;
        signed
            .map_err(|error| if error.status().is_some() { BrokerFault::CredentialRefused } else { spoken(&error) })?;
    }
    Ok(connection)
}

fn message(settings: &MailSettings, letter: &Letter, id: &str) -> Result<Message, BrokerFault> {
    let mailbox = |address: &str| {
        let address: Address = address.parse().map_err(|_| BrokerFault::MalformedAddress)?;
        Ok::<_, BrokerFault>(Mailbox::new(None, address))
    };
    let (from, to) = (mailbox(&settings.from)?, mailbox(&letter.to)?);
    let envelope = Envelope::new(Some(from.email.clone()), vec![to.email.clone()]);
    Message::builder()
        .from(from)
        .to(to)
        .subject(letter.subject.clone())
        .message_id(Some(format!("<{id}>")))
        .date_now()
        .header(ContentType::TEXT_PLAIN)
        .envelope(envelope.map_err(|_| BrokerFault::MalformedAddress)?)
        .body(letter.text.clone())
        .map_err(|_| BrokerFault::MalformedLetter)
}

fn parameters(settings: &MailSettings) -> Result<TlsParameters, BrokerFault> {
    let server = &settings.server;
    let name = match (&server.server_name, &server.place.host) {
        (Some(name), _) | (None, Host::Name(name)) => name.clone(),
        (None, Host::Address(address)) => address.to_string(),
    };
    let builder = TlsParameters::builder(name);
    let builder = match &server.ca_file {
        None => builder.certificate_store(CertificateStore::WebpkiRoots),
        Some(file) => {
            let mut builder = builder.certificate_store(CertificateStore::None);
            for authority in authorities_as_data(file)? {
                builder =
                    builder.add_root_certificate(Certificate::from_der(authority).map_err(|_| BrokerFault::Untrusted)?);
            }
            builder
        }
    };
    builder.build_rustls().map_err(|_| BrokerFault::Untrusted)
}

/// What went wrong before there was a letter, without the server's words.
fn spoken(error: &Error) -> BrokerFault {
    if error.is_tls() || is_about_tls(error) {
        BrokerFault::Untrusted
    } else if error.is_timeout() {
        BrokerFault::TimedOut
    } else if error.status().is_some() || error.is_response() {
        BrokerFault::MalformedReply
    } else {
        BrokerFault::Unavailable
    }
}

/// Whether TLS is at the bottom of it: the library says that the connection failed, and keeps the reason behind that.
fn is_about_tls(error: &Error) -> bool {
    let mut cause = core::error::Error::source(error);
    while let Some(inner) = cause {
        let wrapped = inner.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if inner.is::<TlsError>() || wrapped.is_some_and(|wrapped| wrapped.is::<TlsError>()) {
            return true;
        }
        cause = inner.source();
    }
    false
}

/// A connection as the library takes it, with an end: it gives so many bytes and no more. The library reads whole lines, and a line
/// has no end that it would wait for in vain.
struct Capped<S> {
    stream: S,
    peer: SocketAddr,
    left: usize,
}

/// The most bytes that a server may say, certificates included.
const MAX_SAID_BYTES: usize = 256 * 1024;

impl<S> Capped<S> {
    const fn new(stream: S, peer: SocketAddr) -> Self {
        Self { stream, peer, left: MAX_SAID_BYTES }
    }
}

impl<S> core::fmt::Debug for Capped<S> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Capped")
    }
}

impl<S: AsyncRead + AsyncWrite + Send + Sync + Unpin> AsyncTokioStream for Capped<S> {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Capped<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, into))?;
        self.left = self.left.saturating_sub(into.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Capped<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
