//! The way to the host: this process itself, or whoever owns the data directory.

use core::future::poll_fn;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::Poll;
use std::panic::catch_unwind;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::connection::Connection;
use crate::protocol::{Fault, Reply, Request};
use crate::service::Service;

/// How many requests may be on their way before somebody waits.
const WAITING: usize = 64;

/// Something that asks a host. A question that nobody waits for any more is called off.
#[derive(Clone)]
pub enum Asker {
    /// The host is here.
    Here(Arc<Service>),
    /// The host is at the other end of a connection, which lives elsewhere in this process.
    There(mpsc::Sender<Asked>),
}

/// A question on its way.
pub struct Asked {
    request: Request,
    reply: oneshot::Sender<Result<Reply, Fault>>,
}

impl Asker {
    /// Asks.
    ///
    /// # Errors
    /// [`Fault`] when the host cannot be asked, or has refused.
    pub async fn ask(&self, request: Request) -> Result<Reply, Fault> {
        let reply = match self {
            Self::Here(service) => whole(service.handle(&request, None)).await?,
            Self::There(host) => {
                let (reply, replied) = oneshot::channel();
                host.send(Asked { request, reply }).await.map_err(|_| ended())?;
                replied.await.map_err(|_| ended())??
            }
        };
        match reply {
            Reply::Fault(fault) => Err(fault),
            reply => Ok(reply),
        }
    }
}

fn ended() -> Fault {
    Fault::broken("the host is ending", "start it again")
}

/// What a future gives, or that it panicked: whoever waits for an answer gets one.
pub async fn whole<T>(work: impl Future<Output = T> + Send) -> Result<T, Fault> {
    let mut work = Box::pin(work);
    let caught = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(done)) => Poll::Ready(Some(done)),
        Err(_) => Poll::Ready(None),
    });
    caught
        .await
        .ok_or_else(|| Fault::broken("the host failed while it answered", "look at it with `capability doctor`"))
}

/// The questions of a handler that cannot hold the connection itself.
pub struct Asks(mpsc::Receiver<Asked>);

impl Asks {
    /// Both ends.
    pub fn new() -> (Asker, Self) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Asker::There(sender), Self(receiver))
    }

    /// Asks each of them over a connection, all at a time, until nobody can ask any more.
    pub async fn answer(&mut self, connection: &Connection<'_>) {
        let mut asked: Vec<Pin<Box<dyn Future<Output = ()> + Send + '_>>> = Vec::new();
        poll_fn(|context| {
            loop {
                match self.0.poll_recv(context) {
                    Poll::Ready(Some(next)) => asked.push(Box::pin(one(connection, next))),
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Pending => break,
                }
            }
            asked.retain_mut(|one| one.as_mut().poll(context).is_pending());
            Poll::Pending
        })
        .await;
    }
}

async fn one(connection: &Connection<'_>, Asked { request, mut reply }: Asked) {
    let answer = tokio::select! {
        answer = whole(connection.ask(&request)) => answer,
        () = reply.closed() => return,
    };
    let _ = reply.send(answer.and_then(|answer| answer));
}
