//! The body of an answer that is written piece by piece.

use core::convert::Infallible;
use core::pin::Pin;
use core::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame};
use tokio::sync::mpsc::Receiver;

/// Gives what is sent to it, until nobody is left who could send.
pub struct Streamed(pub Receiver<Frame<Bytes>>);

impl Body for Streamed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|frame| frame.map(Ok))
    }
}
