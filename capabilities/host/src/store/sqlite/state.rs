//! What subjects keep under keys.

use core::time::Duration;

use capability_core::handle::{
    BrokerFault, Kept, MAX_KEYS, MAX_STATE_BYTES, MAX_VALUE_BYTES, StateScope, is_state_key,
};
use capability_core::session::{SessionIdentity, Subject};
use capability_core::store::StoreFault;
use capability_core::{BoxFuture, Timestamp};
use rusqlite::{OptionalExtension as _, params};

use super::Database;
use super::connection::Erased;

/// How long what belongs to a session is kept after it was put.
const SESSION_LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Texts under keys on disk: a named content store, erased per subject.
#[derive(Debug, Clone)]
pub struct SqliteState(Database);

/// One text, for operators: untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateEntry {
    /// Where it is kept.
    pub scope: StateScope,
    /// Under which key.
    pub key: String,
    /// The text.
    pub kept: Kept,
}

impl SqliteState {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    /// What the identity's subject keeps under a key.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedKey`]; [`BrokerFault::Unavailable`] when the store does not answer.
    pub fn get(
        &self,
        identity: &SessionIdentity,
        now: Timestamp,
        scope: StateScope,
        key: String,
    ) -> BoxFuture<'static, Result<Option<Kept>, BrokerFault>> {
        if !is_state_key(&key) {
            return Box::pin(core::future::ready(Err(BrokerFault::MalformedKey)));
        }
        let (subject, session) = (identity.subject.clone(), session_of(identity, scope));
        let since = since(scope, now);
        let found = self.0.0.transact(move |transaction| {
            let sql = "SELECT value, at FROM state
                       WHERE subject = ?1 AND scope = ?2 AND session = ?3 AND key = ?4 AND at >= ?5";
            let asked = params![subject.as_str(), scope.as_str(), session, key, since];
            let kept = transaction
                .query_row(sql, asked, |row| Ok(Kept { value: row.get(0)?, at: Timestamp::from_micros(row.get(1)?) }));
            Ok((kept.optional()?, Erased::Nothing))
        });
        Box::pin(async move { found.await.map_err(|StoreFault| BrokerFault::Unavailable) })
    }

    /// Puts a text under a key of the identity's subject, or takes it away, under every cap and in one step.
    ///
    /// # Errors
    /// [`BrokerFault::MalformedKey`]; [`BrokerFault::CapExceeded`] above a cap; [`BrokerFault::Unavailable`] when the store does not
    /// answer.
    pub fn put(
        &self,
        identity: &SessionIdentity,
        now: Timestamp,
        scope: StateScope,
        key: String,
        value: Option<String>,
    ) -> BoxFuture<'static, Result<(), BrokerFault>> {
        if !is_state_key(&key) {
            return Box::pin(core::future::ready(Err(BrokerFault::MalformedKey)));
        }
        if value.as_ref().is_some_and(|value| value.len() > MAX_VALUE_BYTES) {
            return Box::pin(core::future::ready(Err(BrokerFault::CapExceeded)));
        }
        let (subject, session) = (identity.subject.clone(), session_of(identity, scope));
        let put = self.0.0.transact(move |transaction| {
            // What sessions left behind goes whenever somebody writes.
            let stale = transaction
                .execute("DELETE FROM state WHERE scope = 'session' AND at < ?1", [since(StateScope::Session, now)])?;
            let sql = "DELETE FROM state WHERE subject = ?1 AND scope = ?2 AND session = ?3 AND key = ?4";
            let asked = params![subject.as_str(), scope.as_str(), session, key];
            let Some(value) = value else {
                let gone = transaction.execute(sql, asked)?;
                return Ok((true, if gone + stale > 0 { Erased::Content } else { Erased::Nothing }));
            };
            let most = i64::try_from(MAX_STATE_BYTES).unwrap_or(i64::MAX);
            let rows = transaction.execute(
                "INSERT INTO state (subject, scope, session, key, value, at)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6
                 WHERE (SELECT count(*) FROM state WHERE subject = ?1 AND scope = ?2 AND session = ?3 AND key <> ?4) < ?7
                   AND (SELECT coalesce(sum(octet_length(value)), 0) FROM state
                        WHERE subject = ?1 AND NOT (scope = ?2 AND session = ?3 AND key = ?4)) + octet_length(?5) <= ?8
                 ON CONFLICT (subject, scope, session, key) DO UPDATE SET value = excluded.value, at = excluded.at",
                params![subject.as_str(), scope.as_str(), session, key, value, now.as_micros(), MAX_KEYS, most],
            )?;
            // What stood there before is content that is gone.
            Ok((rows == 1, if rows == 1 || stale > 0 { Erased::Content } else { Erased::Nothing }))
        });
        Box::pin(async move {
            match put.await {
                Ok(true) => Ok(()),
                Ok(false) => Err(BrokerFault::CapExceeded),
                Err(StoreFault) => Err(BrokerFault::Unavailable),
            }
        })
    }

    /// Everything that a subject keeps, by scope and key.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn entries(&self, subject: &Subject) -> BoxFuture<'static, Result<Vec<StateEntry>, StoreFault>> {
        let subject = subject.clone();
        self.0.0.transact(move |transaction| {
            let sql = "SELECT scope, key, value, at FROM state WHERE subject = ?1 ORDER BY scope, key, session";
            let mut statement = transaction.prepare(sql)?;
            let rows = statement.query_map([subject.as_str()], |row| {
                let scope = match row.get::<_, String>(0)?.as_str() {
                    "core" => StateScope::Core,
                    _ => StateScope::Session,
                };
                let kept = Kept { value: row.get(2)?, at: Timestamp::from_micros(row.get(3)?) };
                Ok(StateEntry { scope, key: row.get(1)?, kept })
            })?;
            Ok((rows.collect::<Result<_, _>>()?, Erased::Nothing))
        })
    }

    /// Erases everything that a subject keeps, and says how many texts that were.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn erase(&self, subject: &Subject) -> BoxFuture<'static, Result<usize, StoreFault>> {
        let subject = subject.clone();
        self.0.0.transact(move |transaction| {
            let rows = transaction.execute("DELETE FROM state WHERE subject = ?1", [subject.as_str()])?;
            Ok((rows, if rows > 0 { Erased::Content } else { Erased::Nothing }))
        })
    }
}

fn session_of(identity: &SessionIdentity, scope: StateScope) -> String {
    match scope {
        StateScope::Core => String::new(),
        StateScope::Session => identity.id.to_string(),
    }
}

/// What was put before that moment is kept no more.
fn since(scope: StateScope, now: Timestamp) -> i64 {
    let lifetime = i64::try_from(SESSION_LIFETIME.as_micros()).unwrap_or(i64::MAX);
    match scope {
        StateScope::Core => i64::MIN,
        StateScope::Session => now.as_micros().saturating_sub(lifetime),
    }
}
