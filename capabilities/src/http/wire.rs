//! The connection that the host handed over, with every byte that comes in counted.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;
use std::os::fd::OwnedFd;

use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
#[expect(clippy::disallowed_types, reason = "it wraps a connection that the host made and gave; it makes none")]
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// How much is read at a time, in bytes.
const CHUNK: usize = 8 * 1024;

/// A connection with a cap on what comes in: TLS records, headers, chunk marks and all.
pub(super) struct Wire {
    #[expect(clippy::disallowed_types, reason = "it wraps a connection that the host made and gave; it makes none")]
    stream: TcpStream,
    left: u64,
}

/// The cap of a [`Wire`] is reached. It travels as the inside of an [`io::Error`].
#[derive(Debug)]
pub(super) struct Spent;

impl core::fmt::Display for Spent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("more came in than the cap allows")
    }
}

impl core::error::Error for Spent {}

impl Wire {
    /// Around the host's descriptor, from inside a runtime that has sockets.
    pub(super) fn new(connected: OwnedFd, cap: u64) -> io::Result<Self> {
        #[expect(clippy::disallowed_types, reason = "the host's descriptor gets the type that reads and writes it")]
        let stream = {
            let stream = std::net::TcpStream::from(connected);
            stream.set_nonblocking(true)?;
            TcpStream::from_std(stream)?
        };
        Ok(Self { stream, left: cap })
    }
}

impl AsyncRead for Wire {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Err(io::Error::other(Spent)));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let came = buffer.filled().len().saturating_sub(before);
        self.left = self.left.saturating_sub(u64::try_from(came).unwrap_or(u64::MAX));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// In the clear or over TLS, as the HTTP library reads and writes it.
pub(super) enum Stream {
    Clear(Wire),
    Tls(Box<TlsStream<Wire>>),
}

impl hyper::rt::Read for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut into: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        // Copied once more than it must be, and so without a promise about memory that nobody has written.
        let mut room = [0; CHUNK];
        let most = into.remaining().min(CHUNK);
        let mut buffer = ReadBuf::new(room.get_mut(..most).unwrap_or_default());
        ready!(match &mut *self {
            Self::Clear(wire) => Pin::new(wire).poll_read(cx, &mut buffer),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_read(cx, &mut buffer),
        })?;
        into.put_slice(buffer.filled());
        Poll::Ready(Ok(()))
    }
}

impl hyper::rt::Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Clear(wire) => Pin::new(wire).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Clear(wire) => Pin::new(wire).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Clear(wire) => Pin::new(wire).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream.as_mut()).poll_shutdown(cx),
        }
    }
}
