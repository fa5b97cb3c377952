//! Room for entries that is used again: a vector of a few kilobytes costs an allocator more than filling it.

use core::cell::Cell;

use super::{Entry, Item, Text};

/// The largest room that is kept, in entries.
const MAX_KEPT: usize = 256;

thread_local! {
    static ROOM: [Cell<Vec<Entry<'static>>>; 2] = const { [Cell::new(Vec::new()), Cell::new(Vec::new())] };
}

/// Room for entries of any text, at least for `count`.
pub(super) fn take<'t>(count: usize) -> Vec<Entry<'t>> {
    let kept = ROOM.try_with(|[first, second]| {
        let room = first.take();
        if room.capacity() == 0 { second.take() } else { room }
    });
    let mut room = emptied(kept.unwrap_or_default());
    room.reserve(count);
    room
}

/// Keeps room for the next text of this thread.
pub(super) fn keep(room: Vec<Entry<'_>>) {
    if room.capacity() == 0 || room.capacity() > MAX_KEPT {
        return;
    }
    let room = emptied(room);
    // Where the thread ends, the room just goes.
    let _ = ROOM.try_with(|[first, second]| {
        let other = first.replace(room);
        if other.capacity() > 0 {
            second.set(other);
        }
    });
}

/// The same room for entries of another text: collecting nothing into a vector of the same layout keeps the memory.
fn emptied<'t>(mut room: Vec<Entry<'_>>) -> Vec<Entry<'t>> {
    room.clear();
    room.into_iter().map(|_| Entry { key: Text::Written(""), item: Item::Null }).collect()
}

#[cfg(test)]
mod tests {
    use super::{emptied, keep, take};

    #[test]
    fn room_is_used_again_and_a_lot_of_it_is_not_kept() {
        let room = take(40);
        let (at, capacity) = (room.as_ptr().addr(), room.capacity());
        assert!(capacity >= 40);
        let room = emptied(room);
        assert_eq!((room.as_ptr().addr(), room.capacity()), (at, capacity));
        keep(room);
        let again = take(10);
        assert_eq!((again.as_ptr().addr(), again.len()), (at, 0));
        keep(take(10_000));
        assert!(take(0).capacity() <= 256);
    }
}
