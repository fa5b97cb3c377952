//! What a channel has seen: bounded, and never forgotten while a second one would still be let in.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capability_core::Timestamp;

use super::Replay;

/// The most that one channel knows.
pub const MOST_SEEN: usize = 32_768;

/// Something that was seen, and until when it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// A hash of what it is known by.
    pub id: [u8; 32],
    /// Until then a second one would be let in, were this one not known.
    pub window: Timestamp,
    /// Until then it is known where there is room.
    pub keep: Timestamp,
}

/// Why something is not new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotNew {
    /// It was taken in before.
    Before,
    /// It is being taken in at this moment, and whether that succeeds is not known.
    Meanwhile,
    /// There is no room to know one more, and nothing that may be forgotten.
    Full,
}

/// What one channel knows.
#[derive(Debug, Clone)]
pub struct Known(Arc<Mutex<Book>>);

#[derive(Debug)]
struct Book {
    most: usize,
    /// By id: until when, and whether it is there for good.
    seen: HashMap<[u8; 32], (Seen, bool)>,
    /// The same by the end of their windows.
    by_window: BTreeSet<(Timestamp, [u8; 32])>,
}

/// Ids that nobody else may take in meanwhile. Dropped without being kept, they were never seen.
#[derive(Debug)]
#[must_use = "what is not kept may come once more"]
pub struct Reserved {
    book: Known,
    seen: Vec<Seen>,
    forgotten: Vec<[u8; 32]>,
}

impl Known {
    /// From what is on disk.
    #[must_use]
    pub fn new(most: usize, seen: impl IntoIterator<Item = Seen>) -> Self {
        let mut book = Book { most, seen: HashMap::new(), by_window: BTreeSet::new() };
        seen.into_iter().for_each(|one| book.add(one, true));
        Self(Arc::new(Mutex::new(book)))
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves all of them, or none.
    ///
    /// # Errors
    /// [`NotNew`] when one of them is known, or there is no room.
    pub fn reserve(&self, replays: &[Replay], now: Timestamp) -> Result<Reserved, NotNew> {
        let mut book = self.book();
        book.expire(now);
        for replay in replays {
            match book.seen.get(&replay.id) {
                Some((_, false)) => return Err(NotNew::Meanwhile),
                Some((seen, true)) if now < seen.keep => return Err(NotNew::Before),
                _ => {}
            }
        }
        let forgotten = book.make_room(replays.len(), now).ok_or(NotNew::Full)?;
        let seen: Vec<_> = replays
            .iter()
            .map(|replay| Seen { id: replay.id, window: now.after(replay.window), keep: now.after(replay.keep) })
            .collect();
        seen.iter().for_each(|one| book.add(*one, false));
        drop(book);
        Ok(Reserved { book: self.clone(), seen, forgotten })
    }

    /// How many it knows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.book().seen.len()
    }

    /// Whether it knows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Book {
    fn add(&mut self, seen: Seen, kept: bool) {
        if let Some((before, _)) = self.seen.insert(seen.id, (seen, kept)) {
            self.by_window.remove(&(before.window, before.id));
        }
        self.by_window.insert((seen.window, seen.id));
    }

    fn remove(&mut self, id: &[u8; 32]) {
        if let Some((seen, _)) = self.seen.remove(id) {
            self.by_window.remove(&(seen.window, seen.id));
        }
    }

    /// Drops from the front what nothing asks for any more. The disk is rid of the same by its own.
    fn expire(&mut self, now: Timestamp) {
        while let Some((window, id)) = self.by_window.first().copied() {
            let over = self.seen.get(&id).is_none_or(|(seen, kept)| *kept && seen.keep <= now);
            if window > now || !over {
                return;
            }
            self.remove(&id);
            self.by_window.remove(&(window, id));
        }
    }

    /// Forgets the oldest beyond its window, as many as need be; `None` when those do not suffice.
    fn make_room(&mut self, wanted: usize, now: Timestamp) -> Option<Vec<[u8; 32]>> {
        let excess = (self.seen.len() + wanted).saturating_sub(self.most);
        let kept = |id: &[u8; 32]| self.seen.get(id).is_some_and(|(_, kept)| *kept);
        let beyond = self.by_window.iter().take_while(|(window, _)| *window <= now).map(|(_, id)| *id);
        let forgotten: Vec<_> = beyond.filter(kept).take(excess).collect();
        if forgotten.len() < excess {
            return None;
        }
        forgotten.iter().for_each(|id| self.remove(id));
        Some(forgotten)
    }
}

impl Reserved {
    /// What is to be written to disk.
    #[must_use]
    pub fn seen(&self) -> &[Seen] {
        &self.seen
    }

    /// What is to be taken from disk, to make room.
    #[must_use]
    pub fn forgotten(&self) -> &[[u8; 32]] {
        &self.forgotten
    }

    /// It is on disk: seen, from now on.
    pub fn keep(mut self) {
        let mut book = self.book.book();
        for seen in self.seen.drain(..) {
            book.add(seen, true);
        }
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut book = self.book.book();
        self.seen.iter().for_each(|seen| book.remove(&seen.id));
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::collections::BTreeMap;

    use capability_core::Timestamp;
    use proptest::prelude::*;

    use super::{Known, NotNew};
    use crate::channel::Replay;

    fn replay(id: u8, window: u64, keep: u64) -> Replay {
        let seconds = Duration::from_secs;
        Replay { id: [id; 32], window: seconds(window), keep: seconds(keep.max(window)) }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_second_one_is_known_while_the_first_is_taken_in_and_when_it_is_kept() {
        let known = Known::new(8, []);
        let first = known.reserve(&[replay(1, 300, 300)], at(0)).unwrap();
        assert_eq!(known.reserve(&[replay(1, 300, 300)], at(0)).unwrap_err(), NotNew::Meanwhile);
        // It failed: it may come once more.
        drop(first);
        known.reserve(&[replay(1, 300, 300)], at(1)).unwrap().keep();
        for now in [1, 300] {
            assert_eq!(known.reserve(&[replay(2, 1, 1), replay(1, 300, 300)], at(now)).unwrap_err(), NotNew::Before);
        }
        // Nothing of what was refused is known.
        known.reserve(&[replay(2, 1, 1)], at(2)).unwrap().keep();
        known.reserve(&[replay(1, 300, 300)], at(301)).unwrap().keep();
    }

    #[test]
    fn over_the_cap_the_oldest_beyond_its_window_is_forgotten_and_nothing_within_it() {
        let known = Known::new(2, []);
        known.reserve(&[replay(1, 10, 1000)], at(0)).unwrap().keep();
        known.reserve(&[replay(2, 20, 1000)], at(0)).unwrap().keep();
        assert_eq!(known.reserve(&[replay(3, 10, 1000)], at(9)).unwrap_err(), NotNew::Full);
        let third = known.reserve(&[replay(3, 10, 1000)], at(10)).unwrap();
        assert_eq!(third.forgotten(), [[1; 32]]);
        third.keep();
        assert_eq!(known.len(), 2);
        assert_eq!(known.reserve(&[replay(2, 1, 1)], at(11)).unwrap_err(), NotNew::Before);
        assert_eq!(known.reserve(&[replay(4, 1, 1), replay(5, 1, 1)], at(20)).unwrap().forgotten(), [[2; 32], [3; 32]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Against a model that forgets nothing: within its window nothing comes twice, whatever else comes, and the cap holds.
        #[test]
        fn nothing_comes_twice_within_its_window(
            most in 1..6_usize,
            steps in prop::collection::vec((0..8_u8, 0..40_u64, 0..80_u64, 0..15_i64, any::<bool>()), 1..80),
        ) {
            let known = Known::new(most, []);
            let mut model: BTreeMap<u8, Timestamp> = BTreeMap::new();
            let mut now = 0;
            for (id, window, keep, later, succeeds) in steps {
                now += later;
                match known.reserve(&[replay(id, window, keep)], at(now)) {
                    Ok(reserved) => {
                        prop_assert!(model.get(&id).is_none_or(|until| *until <= at(now)), "{id} twice at {now}");
                        if succeeds {
                            model.insert(id, at(now).after(Duration::from_secs(window)));
                            reserved.keep();
                        }
                    }
                    Err(NotNew::Before) => prop_assert!(model.contains_key(&id)),
                    Err(NotNew::Full) => {
                        let within = model.values().filter(|until| **until > at(now)).count();
                        prop_assert!(within >= most, "{within} within their windows of {most}");
                    }
                    Err(NotNew::Meanwhile) => prop_assert!(false, "nobody is at it"),
                }
                prop_assert!(known.len() <= most);
            }
        }
    }
}
