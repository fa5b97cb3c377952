//! The one boxed future type of the crate.

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = core::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An answer that is often there at once: a store in memory, a runner that parses on the caller's own task. Awaiting a
/// ready one allocates nothing.
#[must_use = "futures do nothing unless they are awaited"]
pub enum Soon<'a, T> {
    /// It is there.
    Ready(T),
    /// It comes.
    Later(BoxFuture<'a, T>),
}

impl<'a, T: 'a> IntoFuture for Soon<'a, T> {
    type Output = T;
    type IntoFuture = SoonFuture<'a, T>;

    fn into_future(self) -> Self::IntoFuture {
        SoonFuture(Some(self))
    }
}

/// The future of a [`Soon`].
pub struct SoonFuture<'a, T>(Option<Soon<'a, T>>);

// A ready value is only moved out, never pinned.
impl<T> Unpin for SoonFuture<'_, T> {}

impl<T> Future for SoonFuture<'_, T> {
    type Output = T;

    fn poll(mut self: core::pin::Pin<&mut Self>, context: &mut core::task::Context<'_>) -> core::task::Poll<T> {
        match self.0.take() {
            Some(Soon::Ready(answer)) => core::task::Poll::Ready(answer),
            Some(Soon::Later(mut later)) => match later.as_mut().poll(context) {
                core::task::Poll::Pending => {
                    self.0 = Some(Soon::Later(later));
                    core::task::Poll::Pending
                }
                ready @ core::task::Poll::Ready(_) => ready,
            },
            // Polled after it was ready: a future may stay pending then.
            None => core::task::Poll::Pending,
        }
    }
}

/// Polls once. What is there at once needs neither a timer nor a registration for anything else that may end it.
pub(crate) async fn at_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    core::future::poll_fn(|context| {
        core::task::Poll::Ready(match core::pin::Pin::new(&mut *future).poll(context) {
            core::task::Poll::Ready(output) => Some(output),
            core::task::Poll::Pending => None,
        })
    })
    .await
}
