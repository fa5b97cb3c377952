//! Connections to the approved public host.

mod address;
mod target;

pub use target::{Host, Place, Scheme};

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use capability_core::handle::{BrokerFault, Lease};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::budget::Account;
use super::resolve::Resolver;

/// The ports that every public host may be connected to at.
const STANDARD_PORTS: [u16; 2] = [80, 443];
/// How long one address may take to answer, and how many of a name's addresses are tried.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
const MAX_TRIED: usize = 4;

/// Connects to what was approved.
pub struct Connector {
    resolver: Arc<dyn Resolver>,
    /// Exact places that the operator allows whatever their addresses and ports are.
    allowed: Vec<Place>,
}

impl Connector {
    pub fn new(resolver: Arc<dyn Resolver>, allowed: Vec<Place>) -> Self {
        Self { resolver, allowed }
    }

    /// A connection to the lease's target: judged, resolved once, judged again by every address, and connected to exactly
    /// those.
    pub async fn connect(&self, lease: &Lease, account: &Account) -> Result<OwnedFd, BrokerFault> {
        let (kind, text) = lease.target().ok_or(BrokerFault::MalformedTarget)?;
        let place = Place::of_target(kind, text)?;
        let allowed = self.allowed.contains(&place);
        if !allowed && !STANDARD_PORTS.contains(&place.port) {
            return Err(BrokerFault::PortNotAllowed);
        }
        account.connection()?;
        let addresses = addresses(self.resolver.as_ref(), &place.host).await?;
        // One address that is not public refuses the name: whoever answers for it would choose which one is connected to.
        if !allowed && !addresses.iter().copied().all(address::is_public) {
            return Err(BrokerFault::NotPublic);
        }
        let connected = connected(&addresses, place.port).await?;
        let connected = connected.into_std().map_err(|_| BrokerFault::Unavailable)?;
        account.hand_out(connected.into())
    }
}

/// The addresses behind a host.
pub async fn addresses(resolver: &dyn Resolver, host: &Host) -> Result<Vec<IpAddr>, BrokerFault> {
    let found = match host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => resolver.addresses(name).await?,
    };
    if found.is_empty() { Err(BrokerFault::Unresolved) } else { Ok(found) }
}

/// The first of these addresses that answers.
pub async fn connected(addresses: &[IpAddr], port: u16) -> Result<TcpStream, BrokerFault> {
    let mut fault = BrokerFault::Unavailable;
    for address in addresses.iter().take(MAX_TRIED) {
        let place = SocketAddr::new(address::unwrapped(*address), port);
        match timeout(CONNECT_TIMEOUT, TcpStream::connect(place)).await {
            Ok(Ok(stream)) => {
                // Requests are small and are sent at once; a stream that cannot do that is no reason to refuse.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(_)) => fault = BrokerFault::Unavailable,
            Err(_) => fault = BrokerFault::TimedOut,
        }
    }
    Err(fault)
}
