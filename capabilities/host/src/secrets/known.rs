//! Every secret that this process has read.
//!
//! It is one for the process: what was read is in its memory, whichever host of it read it, and the log is the process's, too.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use capability_core::redact::{Redaction, Redactor, is_redactable};

use super::wipe;

/// The most bytes of values that are looked for. Beyond that those that were read longest ago are looked for no more; whatever
/// is configured is read again and again.
const MOST: usize = 64 * 1024;

struct Known {
    /// What was read last comes first.
    values: VecDeque<String>,
    /// Knows them; made when it is asked for.
    redactor: Option<Arc<Redactor>>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known { values: VecDeque::new(), redactor: None });

/// Makes a value known.
pub(super) fn note(value: &str) {
    if !is_redactable(value) {
        return;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = known.values.iter().position(|known| known == value) {
        if at > 0
            && let Some(same) = known.values.remove(at)
        {
            known.values.push_front(same);
        }
        return;
    }
    known.values.push_front(value.to_owned());
    known.redactor = None;
    while known.values.iter().map(String::len).sum::<usize>() > MOST {
        let Some(oldest) = known.values.pop_back() else { break };
        wipe(&mut oldest.into_bytes());
    }
}

/// What knows every value that was read.
#[must_use]
pub fn redactor() -> Arc<Redactor> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let Known { values, redactor } = &mut *known;
    Arc::clone(redactor.get_or_insert_with(|| Arc::new(Redactor::new(values.iter().map(String::as_str)))))
}

/// The same, for whoever is handed where to ask.
#[derive(Debug, Clone, Copy)]
pub struct Knowing;

impl Redaction for Knowing {
    fn redactor(&self) -> Arc<Redactor> {
        redactor()
    }
}
