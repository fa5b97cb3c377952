//! How much a channel takes in, and how many records its refusals make.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use capability_core::Timestamp;
use capability_core::audit::{ChannelNamed, ChannelRule};

/// How many refusals by one rule of one channel have a record each, within a minute.
const EACH: u64 = 30;
const MINUTE: i64 = 60 * 1_000_000;

/// So many a minute, and as many at once after a quiet one.
#[derive(Debug)]
pub struct Rate {
    per_minute: u32,
    state: Mutex<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    /// What is left, in messages times the microseconds of a minute: whole numbers throughout.
    left: i64,
    at: Timestamp,
}

impl Rate {
    /// Full at first.
    #[must_use]
    pub fn new(per_minute: u32, now: Timestamp) -> Self {
        Self { per_minute, state: Mutex::new(Bucket { left: i64::from(per_minute) * MINUTE, at: now }) }
    }

    /// Takes so many, all of them or none.
    pub fn take(&self, count: usize, now: Timestamp) -> bool {
        let mut bucket = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let most = i64::from(self.per_minute) * MINUTE;
        // A clock that was put back fills nothing.
        let passed = i64::try_from(now.since(bucket.at).as_micros()).unwrap_or(MINUTE).min(MINUTE);
        bucket.left = (bucket.left + passed * i64::from(self.per_minute)).min(most);
        bucket.at = now;
        let wanted = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(MINUTE);
        let takes = bucket.left >= wanted;
        if takes {
            bucket.left -= wanted;
        }
        takes
    }
}

/// Refusals that have no record yet.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<BTreeMap<(Option<String>, ChannelRule), Tally>>);

#[derive(Debug)]
struct Tally {
    channel: Option<ChannelNamed>,
    since: Timestamp,
    recorded: u64,
    waiting: u64,
}

/// A record to be made: of so many refusals.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    /// Of which channel.
    pub channel: Option<ChannelNamed>,
    /// By which rule.
    pub rule: ChannelRule,
    /// How many.
    pub count: u64,
}

impl Refusals {
    fn tallies(&self) -> MutexGuard<'_, BTreeMap<(Option<String>, ChannelRule), Tally>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one, and says whether it has a record of its own. There are as many tallies as channels and rules.
    pub fn count(&self, channel: Option<&ChannelNamed>, rule: ChannelRule, now: Timestamp) -> Option<Told> {
        let mut tallies = self.tallies();
        let key = (channel.map(|named| named.channel.to_string()), rule);
        let new = || Tally { channel: channel.cloned(), since: now, recorded: 0, waiting: 0 };
        let tally = tallies.entry(key).or_insert_with(new);
        if now.as_micros().saturating_sub(tally.since.as_micros()).abs() >= MINUTE {
            (tally.since, tally.recorded) = (now, 0);
        }
        tally.waiting += 1;
        if tally.recorded >= EACH {
            return None;
        }
        tally.recorded += 1;
        Some(Told { channel: channel.cloned(), rule, count: core::mem::take(&mut tally.waiting) })
    }

    /// Everything that waits for its record.
    pub fn waiting(&self) -> Vec<Told> {
        let mut tallies = self.tallies();
        let waiting = tallies.iter_mut().filter(|(_, tally)| tally.waiting > 0);
        waiting
            .map(|((_, rule), tally)| Told {
                channel: tally.channel.clone(),
                rule: *rule,
                count: core::mem::take(&mut tally.waiting),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use capability_core::Timestamp;
    use capability_core::audit::ChannelRule;

    use super::{EACH, Rate, Refusals};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn so_many_a_minute_and_no_more() {
        let rate = Rate::new(6, at(0));
        assert!((0..6).all(|_| rate.take(1, at(0))) && !rate.take(1, at(9)));
        assert!(rate.take(1, at(10)) && !rate.take(1, at(10)));
        // All or none, and after a long time no more than a minute's.
        assert!(!rate.take(7, at(10_000)) && rate.take(6, at(10_000)) && !rate.take(1, at(10_000)));
        // A clock that is put back gives nothing away.
        assert!(!rate.take(1, at(0)) && !rate.take(1, at(9)) && rate.take(1, at(10)));
    }

    #[test]
    fn every_refusal_is_counted_once_however_many_come() {
        let refusals = Refusals::default();
        let mut told = 0;
        for index in 0..1000 {
            told += refusals.count(None, ChannelRule::Stale, at(index / 500)).map_or(0, |told| told.count);
        }
        assert_eq!(told, EACH);
        assert_eq!(refusals.waiting().iter().map(|told| told.count).sum::<u64>(), 1000 - EACH);
        assert_eq!(refusals.waiting(), []);
        // After a minute there is room for records again.
        assert_eq!(refusals.count(None, ChannelRule::Stale, at(61)).unwrap().count, 1);
    }
}
