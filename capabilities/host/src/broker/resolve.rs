//! From names to addresses.

use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use capability_core::BoxFuture;
use capability_core::handle::BrokerFault;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The most lookups that are under way at a time, those that nobody waits for any more included.
const MAX_LOOKUPS: usize = 32;
/// How long a lookup may take.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// Resolves names. The host's own asks the operating system; a test's says what it is told to.
pub trait Resolver: Send + Sync + 'static {
    /// Every address of a name, in the order of preference; asked once for each connection.
    fn addresses(&self, name: &str) -> BoxFuture<'static, Result<Vec<IpAddr>, BrokerFault>>;
}

/// The operating system's resolver, with everything that its administrator configured.
///
/// It cannot be called off: a lookup that nobody waits for any more goes on behind, on a thread of its own, and keeps its
/// place among the 32 that may be under way until it ends.
#[derive(Debug)]
pub struct SystemResolver(Arc<Semaphore>);

impl Default for SystemResolver {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_LOOKUPS)))
    }
}

impl Resolver for SystemResolver {
    fn addresses(&self, name: &str) -> BoxFuture<'static, Result<Vec<IpAddr>, BrokerFault>> {
        let (name, room) = (name.to_owned(), Arc::clone(&self.0));
        Box::pin(async move {
            let looked_up = async {
                let place = room.acquire_owned().await.map_err(|_| BrokerFault::Unavailable)?;
                let lookup = move || {
                    let found: Vec<_> = (name.as_str(), 0).to_socket_addrs().ok()?.map(|found| found.ip()).collect();
                    drop(place);
                    Some(found)
                };
                let found = tokio::task::spawn_blocking(lookup).await.map_err(|_| BrokerFault::Unavailable)?;
                found.filter(|found| !found.is_empty()).ok_or(BrokerFault::Unresolved)
            };
            timeout(LOOKUP_TIMEOUT, looked_up).await.unwrap_or(Err(BrokerFault::TimedOut))
        })
    }
}
