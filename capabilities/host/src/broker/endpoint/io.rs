//! A connection as the HTTP library takes it, with an end: it reads so many bytes and no more.

use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::ReadBufCursor;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much is read at a time.
const CHUNK: usize = 8 * 1024;

/// A stream that ends with an error after `left` bytes. Everything counts: status lines, headers, chunk frames, trailers.
pub struct Metered<S> {
    stream: S,
    left: usize,
}

impl<S> Metered<S> {
    pub const fn new(stream: S, most: usize) -> Self {
        Self { stream, left: most }
    }
}

impl<S: AsyncRead + Unpin> hyper::rt::Read for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<Result<(), Error>> {
        if self.left == 0 {
            return Poll::Ready(Err(ErrorKind::FileTooLarge.into()));
        }
        let mut chunk = [0; CHUNK];
        let most = CHUNK.min(into.remaining()).min(self.left);
        let Some(room) = chunk.get_mut(..most) else {
            return Poll::Ready(Err(ErrorKind::FileTooLarge.into()));
        };
        let mut read = ReadBuf::new(room);
        ready!(Pin::new(&mut self.stream).poll_read(context, &mut read))?;
        let read = read.filled();
        self.left = self.left.saturating_sub(read.len());
        into.put_slice(read);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> hyper::rt::Write for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Error>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
