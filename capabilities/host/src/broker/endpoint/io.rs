//! One exchange over a connection that has an end: it reads so many bytes and no more.

use std::io::{Error, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::rt::ReadBufCursor;
use hyper::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most headers of an answer, and how long all of them may be.
const MAX_HEADERS: usize = 100;
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How much is read at a time.
const CHUNK: usize = 8 * 1024;

/// Sends one request, and gives what `then` makes of the answer. At most `most` bytes are read, and the connection goes no
/// further than the answer.
///
/// # Errors
/// `lost` when the connection is none, `of` what the library says, and what `then` gives.
pub async fn exchanged<S, T, E>(
    stream: S,
    most: usize,
    request: Request<Full<Bytes>>,
    lost: E,
    of: fn(&hyper::Error) -> E,
    then: impl AsyncFnOnce(Response<Incoming>) -> Result<T, E>,
) -> Result<T, E>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .handshake(Metered::new(stream, most))
        .await
        .map_err(|_| lost)?;
    let exchanged = async {
        let response = sender.send_request(request).await.map_err(|error| of(&error))?;
        then(response).await
    };
    tokio::pin!(connection, exchanged);
    tokio::select! {
        biased;
        done = &mut exchanged => done,
        // The connection may end before its last bytes are read: then the answer is there, or is known to be cut short.
        ended = &mut connection => match ended {
            Ok(()) => exchanged.await,
            Err(error) => Err(of(&error)),
        },
    }
}

/// A stream that ends with an error after `left` bytes. Everything counts: status lines, headers, chunk frames, trailers.
struct Metered<S> {
    stream: S,
    left: usize,
}

impl<S> Metered<S> {
    const fn new(stream: S, most: usize) -> Self {
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
