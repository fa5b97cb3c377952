//! What a server was given and nobody else is to see: tokens, secrets and headers. Whatever it says is looked through for it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use capability_core::redact::Redactor;

use crate::secrets::NoRoom;

/// Everything that went to one server since this host started, of one connection or another.
pub struct Given(Mutex<Held>);

struct Held {
    values: BTreeSet<String>,
    /// What finds them. Made again only when there is another one: making it costs more than looking.
    redactor: Arc<Redactor>,
}

impl Default for Given {
    fn default() -> Self {
        Self(Mutex::new(Held { values: BTreeSet::new(), redactor: Arc::new(Redactor::new([])) }))
    }
}

impl Given {
    /// One more value. It stays known when the operator puts another in its place: the server may have kept it.
    ///
    /// # Errors
    /// [`NoRoom`]: then it is not given.
    pub fn remember(&self, value: &str) -> Result<(), NoRoom> {
        crate::secrets::note(value.as_bytes())?;
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !held.values.contains(value) {
            held.values.insert(value.to_owned());
            held.redactor = Arc::new(Redactor::new(held.values.iter().map(String::as_str)));
        }
        Ok(())
    }

    /// What takes all of them out of a text.
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner).redactor)
    }
}
