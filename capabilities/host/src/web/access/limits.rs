//! How often somebody may try to log in.

use core::time::Duration;
use std::collections::HashMap;
use std::net::IpAddr;

use tokio::time::Instant;

/// Tries that one peer, and all together, have at once.
const PEER: u32 = 5;
const ALL: u32 = 20;
/// How long one more takes.
const PEER_EVERY: Duration = Duration::from_secs(12);
const ALL_EVERY: Duration = Duration::from_secs(3);
/// The most peers that are told apart. Beyond that, those that are not share what all have.
const MOST_PEERS: usize = 1024;

/// One bucket of tries.
#[derive(Clone, Copy)]
struct Bucket {
    left: u32,
    since: Instant,
}

impl Bucket {
    fn full(most: u32, now: Instant) -> Self {
        Self { left: most, since: now }
    }

    fn fill(&mut self, most: u32, every: Duration, now: Instant) {
        let passed = now.saturating_duration_since(self.since);
        let more = u32::try_from(passed.as_nanos() / every.as_nanos().max(1)).unwrap_or(u32::MAX);
        if self.left.saturating_add(more) >= most {
            *self = Self::full(most, now);
        } else {
            self.left += more;
            self.since += every * more;
        }
    }

    /// How many seconds until there is one.
    fn wait(&self, every: Duration, now: Instant) -> u64 {
        (self.since + every).saturating_duration_since(now).as_secs() + 1
    }
}

/// Tries to log in, by peer and of all.
pub struct Limits {
    all: Bucket,
    peers: HashMap<IpAddr, Bucket>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { all: Bucket::full(ALL, Instant::now()), peers: HashMap::new() }
    }
}

/// Whoever has one address of the sixth version has the network it is in.
fn peer(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

impl Limits {
    /// One try, or how many seconds to wait for one.
    pub fn take(&mut self, address: IpAddr) -> Result<(), u64> {
        let (peer, now) = (peer(address), Instant::now());
        self.all.fill(ALL, ALL_EVERY, now);
        if !self.peers.contains_key(&peer) && self.peers.len() >= MOST_PEERS {
            self.peers.retain(|_, bucket| {
                bucket.fill(PEER, PEER_EVERY, now);
                bucket.left < PEER
            });
        }
        if self.peers.len() < MOST_PEERS || self.peers.contains_key(&peer) {
            let bucket = self.peers.entry(peer).or_insert_with(|| Bucket::full(PEER, now));
            bucket.fill(PEER, PEER_EVERY, now);
            if bucket.left == 0 {
                return Err(bucket.wait(PEER_EVERY, now));
            }
            // A peer that waits its turn takes nothing from the others.
            if self.all.left > 0 {
                bucket.left -= 1;
            }
        }
        if self.all.left == 0 {
            return Err(self.all.wait(ALL_EVERY, now));
        }
        self.all.left -= 1;
        Ok(())
    }
}
