//! What one invocation may use up.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use capability_core::audit::InvocationId;
use capability_core::handle::{BrokerFault, Lease};

use super::received::bytes_received;

/// The most connections that one invocation may ask for.
pub const MAX_CONNECTIONS: u32 = 8;
/// The most bytes that may come in over all of its connections together.
pub const MAX_RECEIVED: u64 = 16 * 1024 * 1024;
/// The most exchanges with configured services.
pub const MAX_EXCHANGES: u32 = 32;
/// How often the bytes are counted. What a network delivers meanwhile is the most that can come in above the budget.
const COUNTED_EVERY: Duration = Duration::from_millis(20);

/// The accounts of all invocations that use the network.
#[derive(Debug, Default)]
pub struct Ledger(Arc<Mutex<HashMap<InvocationId, Arc<Account>>>>);

/// One invocation's account.
#[derive(Debug, Default)]
pub struct Account(Mutex<Spent>);

#[derive(Debug, Default)]
struct Spent {
    connections: u32,
    exchanges: u32,
    /// A duplicate of every connection that was handed out.
    open: Vec<OwnedFd>,
    /// Set when the invocation has ended or its bytes are used up.
    closed: bool,
}

impl Ledger {
    /// The account of a lease's invocation. The first asking for it has it closed when the lease ends.
    pub fn account(&self, lease: &Lease) -> Arc<Account> {
        let mut accounts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let account = accounts.entry(lease.invocation()).or_insert_with(|| {
            let account = Arc::<Account>::default();
            let (kept, ending, invocation) = (Arc::clone(&self.0), lease.ending(), lease.invocation());
            let watched = Arc::clone(&account);
            tokio::spawn(async move {
                let mut count = tokio::time::interval(COUNTED_EVERY);
                count.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
                loop {
                    tokio::select! {
                        biased;
                        () = ending.comes() => break,
                        _ = count.tick() => watched.count(),
                    }
                }
                watched.close();
                kept.lock().unwrap_or_else(PoisonError::into_inner).remove(&invocation);
            });
            account
        });
        Arc::clone(account)
    }
}

impl Account {
    fn spent(&self) -> std::sync::MutexGuard<'_, Spent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more connection is asked for.
    ///
    /// # Errors
    /// [`BrokerFault::BudgetSpent`].
    pub fn connection(&self) -> Result<(), BrokerFault> {
        let mut spent = self.spent();
        let Spent { connections, closed, .. } = &mut *spent;
        spend(connections, MAX_CONNECTIONS, *closed)
    }

    /// One more exchange is asked for.
    ///
    /// # Errors
    /// [`BrokerFault::BudgetSpent`].
    pub fn exchange(&self) -> Result<(), BrokerFault> {
        let mut spent = self.spent();
        let Spent { exchanges, closed, .. } = &mut *spent;
        spend(exchanges, MAX_EXCHANGES, *closed)
    }

    /// Hands out a connection: it is counted, and shut down with the account, from here on.
    ///
    /// # Errors
    /// [`BrokerFault::BudgetSpent`] when the account was closed meanwhile, [`BrokerFault::Unavailable`] when the connection
    /// cannot be watched.
    pub fn hand_out(&self, connected: OwnedFd) -> Result<OwnedFd, BrokerFault> {
        let kept = connected.try_clone().map_err(|_| BrokerFault::Unavailable)?;
        let mut spent = self.spent();
        if spent.closed {
            return Err(BrokerFault::BudgetSpent);
        }
        // A connection whose bytes nobody can count is not handed out.
        if bytes_received(&kept).is_none() {
            return Err(BrokerFault::Unavailable);
        }
        spent.open.push(kept);
        Ok(connected)
    }

    fn count(&self) {
        let spent = self.spent();
        let received = spent.open.iter().try_fold(0_u64, |sum, open| Some(sum.saturating_add(bytes_received(open)?)));
        if received.is_none_or(|received| received > MAX_RECEIVED) {
            drop(spent);
            self.close();
        }
    }

    /// Shuts everything down that was handed out, for every process that holds it, and hands out no more.
    fn close(&self) {
        let mut spent = self.spent();
        spent.closed = true;
        for open in spent.open.drain(..) {
            // A connection that the other side has closed already needs no more.
            let _ = rustix::net::shutdown(&open, rustix::net::Shutdown::Both);
        }
    }
}

fn spend(count: &mut u32, most: u32, closed: bool) -> Result<(), BrokerFault> {
    if closed || *count >= most {
        return Err(BrokerFault::BudgetSpent);
    }
    *count += 1;
    Ok(())
}
