//! The one boxed future type of the crate.

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = core::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
