//! The numbers of turns: those that people give, and those that the host draws.

use capability_core::session::TurnId;

/// Turns that the host draws are numbered from here on, so that no number that somebody gives is one of them.
const DRAWN: u64 = 1 << 62;

/// A turn of its own, from random bits.
pub const fn drawn_turn(bits: u64) -> TurnId {
    TurnId(bits | DRAWN)
}

/// A turn that several calls share, by its number; `None` for a number too large to be one.
pub const fn shared_turn(number: u64) -> Option<TurnId> {
    if number < DRAWN { Some(TurnId(number)) } else { None }
}

/// The turn in words: a drawn number tells nobody anything.
pub fn turn_in_words(turn: TurnId) -> String {
    shared_turn(turn.0).map_or_else(|| "turn of its own".to_owned(), |turn| format!("turn {}", turn.0))
}

#[cfg(test)]
mod tests {
    use super::{drawn_turn, shared_turn, turn_in_words};

    #[test]
    fn no_number_that_is_given_is_a_drawn_one() {
        for bits in [0, 1, u64::MAX >> 2, u64::MAX >> 1, u64::MAX] {
            assert_eq!(turn_in_words(drawn_turn(bits)), "turn of its own");
        }
        let largest = u64::MAX >> 2;
        assert_eq!(turn_in_words(shared_turn(largest).unwrap()), format!("turn {largest}"));
        assert_eq!(shared_turn(largest + 1), None);
    }
}
