//! Every secret that this process has read.
//!
//! It is one for the process: what was read is in its memory, whichever host of it read it, and the log is the process's, too.
//! What is known stays known. Nothing that could not be looked for is read: the list has room for so much, and then it is full.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use capability_core::redact::{Redaction, Redactor, is_redactable};

/// The most bytes of values that are looked for: 16 of the longest, or some hundreds of usual ones, changed values among them.
pub const MOST: usize = 64 * 1024;

/// There is no room for another value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

/// How much room there is for further values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Enough.
    Enough,
    /// Less than a quarter: values that are changed now and then will fill it.
    Little,
    /// A value found none.
    None,
}

struct Known {
    values: BTreeSet<String>,
    /// How many bytes they have in all.
    bytes: usize,
    /// Whether a value found no room.
    refused: bool,
    /// Knows them; made when it is asked for.
    redactor: Option<Arc<Redactor>>,
}

impl Known {
    const fn nothing() -> Self {
        Self { values: BTreeSet::new(), bytes: 0, refused: false, redactor: None }
    }

    fn note(&mut self, value: &str) -> Result<(), NoRoom> {
        if !is_redactable(value) || self.values.contains(value) {
            return Ok(());
        }
        if self.bytes + value.len() > MOST {
            self.refused = true;
            return Err(NoRoom);
        }
        self.bytes += value.len();
        self.values.insert(value.to_owned());
        self.redactor = None;
        Ok(())
    }

    const fn room(&self) -> Room {
        match (self.refused, self.bytes > MOST / 4 * 3) {
            (true, _) => Room::None,
            (false, true) => Room::Little,
            (false, false) => Room::Enough,
        }
    }

    fn redactor(&mut self) -> Arc<Redactor> {
        let Self { values, redactor, .. } = self;
        Arc::clone(redactor.get_or_insert_with(|| Arc::new(Redactor::new(values.iter().map(String::as_str)))))
    }
}

static KNOWN: Mutex<Known> = Mutex::new(Known::nothing());

/// Makes a value known. One that is too short to be looked for is passed over: whoever reads secrets takes none.
///
/// # Errors
/// [`NoRoom`]: then it is not used.
pub(super) fn note(value: &str) -> Result<(), NoRoom> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).note(value)
}

/// How much room there is for values that are still to come.
#[must_use]
pub fn room() -> Room {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).room()
}

/// What knows every value that was read.
#[must_use]
pub fn redactor() -> Arc<Redactor> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).redactor()
}

/// The same, for whoever is handed where to ask.
#[derive(Debug, Clone, Copy)]
pub struct Knowing;

impl Redaction for Knowing {
    fn redactor(&self) -> Arc<Redactor> {
        redactor()
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, MOST, NoRoom, Room};

    /// What was known before stays known, and what finds no room is told so, however often.
    #[test]
    fn what_is_full_takes_no_further_value_and_forgets_none() {
        let value = |nth: usize| format!("{nth:01024}");
        let mut known = Known::nothing();
        assert_eq!(known.room(), Room::Enough);
        for nth in 0..MOST / 1024 {
            assert_eq!(known.note(&value(nth)), Ok(()), "{nth}");
            assert_eq!(known.note(&value(0)), Ok(()), "the same once more takes no room");
        }
        assert_eq!(known.room(), Room::Little);
        for _ in 0..2 {
            assert_eq!((known.note("one-too-many"), known.room()), (Err(NoRoom), Room::None));
        }
        assert_eq!(known.note("1234567"), Ok(()), "what is too short takes no room");
        let redactor = known.redactor();
        for nth in [0, 1, MOST / 1024 - 1] {
            assert_eq!(redactor.text(&value(nth)), "[redacted]", "{nth}");
        }
        assert_eq!(redactor.text("one-too-many"), "one-too-many");
    }
}
