//! `journal`: what subjects wrote down, for operators.

use capability_core::approval::Operator;
use capability_core::session::Subject;
use serde_json::{Value, json};

use super::{DOCTOR, Service};
use crate::protocol::{Entry, Fault, JournalPart};

/// The most entries that are shown at a time: all of them together fit into one reply.
pub const MOST_ENTRIES: u32 = 1000;

impl Service {
    pub(crate) async fn entries(&self, _: &Operator, subject: &Subject, most: u32) -> Result<JournalPart, Fault> {
        let journal = self.host.journal();
        let broken = |error: capability_core::store::StoreFault| Fault::broken(error.to_string(), DOCTOR);
        let found = journal.newest(subject, most.min(MOST_ENTRIES)).await.map_err(broken)?;
        let total = journal.count(subject).await.map_err(broken)?;
        let entries = found.into_iter().map(|found| Entry { seq: found.seq, entry: found.entry }).collect();
        Ok(JournalPart { subject: subject.clone(), total, entries })
    }

    pub(super) async fn erase(&self, operator: &Operator, subject: &Subject) -> Result<Value, Fault> {
        let erased = self.host.erase_journal(operator, subject).await.map_err(|error| Fault::told(6, &error))?;
        Ok(json!({ "subject": subject, "erased": erased }))
    }
}
