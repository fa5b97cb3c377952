//! Stores that forget with the process.

mod approvals;
mod grants;
mod history;
mod results;

pub use approvals::MemoryApprovals;
pub use grants::MemoryGrants;
pub use history::MemoryHistory;
pub use results::MemoryResults;

use core::num::NonZeroU32;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;

use super::{OptIns, Reservation, StoreFault, TurnCaps, Turns};
use crate::contract::CapabilityName;
use crate::future::{BoxFuture, Soon};
use crate::policy::OptIn;
use crate::session::{SessionId, TurnId};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, Result<T, StoreFault>> {
    Box::pin(core::future::ready(Ok(value)))
}

/// Turn counters in memory. The oldest turns are forgotten first.
#[derive(Debug, Default)]
pub struct MemoryTurns(Mutex<TurnTable>);

#[derive(Debug, Default)]
struct TurnTable {
    turns: HashMap<(SessionId, TurnId), Turn>,
    order: VecDeque<(SessionId, TurnId)>,
}

#[derive(Debug, Default)]
struct Turn {
    total: u32,
    each: Vec<((CapabilityName, NonZeroU32), u32)>,
}

/// The most turns remembered. What a host lets proposers number themselves, they can also use up: a host that does counts
/// per subject, as the command line does.
const TURNS_KEPT: usize = 16_384;

impl MemoryTurns {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Turns for MemoryTurns {
    fn reserve(
        &self,
        session: SessionId,
        turn: TurnId,
        capability: (CapabilityName, NonZeroU32),
        caps: TurnCaps,
    ) -> Soon<'_, Result<Reservation, StoreFault>> {
        let mut table = lock(&self.0);
        let TurnTable { turns, order } = &mut *table;
        let key = (session, turn);
        let counted = turns.entry(key).or_insert_with(|| {
            order.push_back(key);
            Turn::default()
        });
        let at = counted.each.iter().position(|(of, _)| *of == capability);
        let used = at.and_then(|at| counted.each.get(at)).map_or(0, |(_, used)| *used);
        let reservation = if used >= caps.capability {
            Reservation::CapabilityExhausted
        } else if counted.total >= caps.total {
            Reservation::TurnExhausted
        } else {
            counted.total += 1;
            match at.and_then(|at| counted.each.get_mut(at)) {
                Some((_, used)) => *used += 1,
                None => counted.each.push((capability, 1)),
            }
            Reservation::Made
        };
        if order.len() > TURNS_KEPT
            && let Some(oldest) = order.pop_front()
        {
            turns.remove(&oldest);
        }
        Soon::Ready(Ok(reservation))
    }
}

/// Switches in memory: everything is off until it is set.
#[derive(Debug, Default)]
pub struct MemoryOptIns(Mutex<BTreeSet<String>>);

impl MemoryOptIns {
    /// Everything off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Turns a family on or off.
    pub fn set(&self, family: &str, on: bool) {
        let mut families = lock(&self.0);
        if on {
            families.insert(family.to_owned());
        } else {
            families.remove(family);
        }
    }
}

impl OptIns for MemoryOptIns {
    fn state(&self, family: &str) -> OptIn {
        if lock(&self.0).contains(family) { OptIn::On } else { OptIn::Off }
    }
}
