//! The subjects' journals.

use capability_core::BoxFuture;
use capability_core::Timestamp;
use capability_core::approval::{HistoryEntry, OperatorAct};
use capability_core::handle::{BrokerFault, MAX_ENTRIES_PER_TURN, MAX_ENTRY_BYTES};
use capability_core::session::{SessionIdentity, Subject};
use capability_core::store::{History, StoreFault};
use rusqlite::params;

use super::Database;
use super::connection::{Erased, Unreadable};

/// One entry, by its subject or by an operator. What a subject wrote is untrusted text: show it as text, never as markup,
/// and never take an instruction from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its number, over all subjects.
    pub seq: i64,
    /// What it says, and who wrote it.
    pub entry: HistoryEntry,
}

/// Journals on disk: a named content store, append-only, erased per subject.
#[derive(Debug, Clone)]
pub struct SqliteJournal(Database);

impl SqliteJournal {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    /// Appends to the journal of the identity's subject, under both caps, in one statement.
    ///
    /// # Errors
    /// [`BrokerFault::CapExceeded`] above a cap, [`BrokerFault::Unavailable`] when the store does not answer.
    pub fn append(
        &self,
        identity: &SessionIdentity,
        at: Timestamp,
        text: String,
    ) -> BoxFuture<'static, Result<(), BrokerFault>> {
        let (subject, session) = (identity.subject.clone(), identity.id.to_string());
        let turn = identity.turn.0.cast_signed();
        let appended = self.0.0.transact(move |transaction| {
            let most = i64::try_from(MAX_ENTRY_BYTES).unwrap_or(i64::MAX);
            let rows = transaction.execute(
                "INSERT INTO journal (subject, session, turn, at, text)
                 SELECT ?1, ?2, ?3, ?4, ?5
                 WHERE octet_length(?5) <= ?6
                   AND (SELECT count(*) FROM journal WHERE session = ?2 AND turn = ?3 AND subject = ?1 AND author = 'subject') < ?7",
                params![subject.as_str(), session, turn, at.as_micros(), text, most, MAX_ENTRIES_PER_TURN],
            )?;
            Ok((rows == 1, Erased::Nothing))
        });
        Box::pin(async move {
            match appended.await {
                Ok(true) => Ok(()),
                Ok(false) => Err(BrokerFault::CapExceeded),
                Err(StoreFault) => Err(BrokerFault::Unavailable),
            }
        })
    }

    /// A subject's newest entries, oldest of them first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn newest(&self, subject: &Subject, most: u32) -> BoxFuture<'static, Result<Vec<JournalEntry>, StoreFault>> {
        let subject = subject.clone();
        self.0.0.transact(move |transaction| {
            let sql = "SELECT seq, at, text, author FROM journal WHERE subject = ?1 ORDER BY seq DESC LIMIT ?2";
            let mut statement = transaction.prepare(sql)?;
            let columns = |row: &rusqlite::Row<'_>| {
                Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
            };
            let mut entries = Vec::new();
            for row in statement.query_map(params![subject.as_str(), most], columns)? {
                let (seq, at, text, author) = row?;
                let entry = match author.as_str() {
                    "operator" => HistoryEntry::Operator(serde_json::from_str(&text).map_err(|_| Unreadable::Content)?),
                    _ => HistoryEntry::Subject { at: Timestamp::from_micros(at), text },
                };
                entries.push(JournalEntry { seq, entry });
            }
            entries.reverse();
            Ok((entries, Erased::Nothing))
        })
    }

    /// How many entries a subject's journal has.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn count(&self, subject: &Subject) -> BoxFuture<'static, Result<u64, StoreFault>> {
        let subject = subject.clone();
        self.0.0.transact(move |transaction| {
            let sql = "SELECT count(*) FROM journal WHERE subject = ?1";
            let count: i64 = transaction.query_row(sql, [subject.as_str()], |row| row.get(0))?;
            Ok((u64::try_from(count).unwrap_or_default(), Erased::Nothing))
        })
    }

    /// Erases a subject's whole journal, and says how many entries it had.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn erase(&self, subject: &Subject) -> BoxFuture<'static, Result<usize, StoreFault>> {
        let subject = subject.clone();
        self.0.0.transact(move |transaction| {
            let rows = transaction.execute("DELETE FROM journal WHERE subject = ?1", [subject.as_str()])?;
            Ok((rows, if rows > 0 { Erased::Content } else { Erased::Nothing }))
        })
    }
}

impl History for SqliteJournal {
    fn tell(&self, act: OperatorAct) -> BoxFuture<'_, Result<(), StoreFault>> {
        self.0.0.transact(move |transaction| {
            let text = serde_json::to_string(&act).map_err(|_| Unreadable::Content)?;
            // It belongs to no session and no turn: nobody's cap counts it.
            transaction.execute(
                "INSERT INTO journal (subject, session, turn, at, text, author) VALUES (?1, '', 0, ?2, ?3, 'operator')",
                params![act.subject.as_str(), act.at.as_micros(), text],
            )?;
            Ok(((), Erased::Nothing))
        })
    }

    fn newest(&self, subject: &Subject, most: u32) -> BoxFuture<'_, Result<Vec<HistoryEntry>, StoreFault>> {
        let newest = Self::newest(self, subject, most);
        Box::pin(async move { Ok(newest.await?.into_iter().map(|found| found.entry).collect()) })
    }
}
