//! Standing answers: what they are, and how often each was used.

use core::time::Duration;

use capability_core::approval::{Grant, GrantEnd, GrantId};
use capability_core::store::{Grants, Spent, StoreFault};
use capability_core::{BoxFuture, Timestamp};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::Database;
use super::connection::{Erased, Unreadable};

/// How long a grant that has ended is found.
const ENDED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Grants on disk. A use is one conditional update: of two that race for the last one, one changes a row.
#[derive(Debug, Clone)]
pub struct SqliteGrants(Database);

impl SqliteGrants {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    fn transact<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<(T, Erased), Unreadable> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreFault>> {
        self.0.0.transact(job)
    }
}

const END: &str = "UPDATE grants SET ended = ?2, ended_at = ?3, target = NULL WHERE id = ?1 AND ended IS NULL";

fn grant(row: &Row<'_>) -> rusqlite::Result<Result<Grant, Unreadable>> {
    let (description, target): (String, Option<String>) = (row.get(0)?, row.get(1)?);
    let (used, last_used_at, ended): (u32, Option<i64>, Option<String>) = (row.get(2)?, row.get(3)?, row.get(4)?);
    let read = || {
        let mut grant: Grant = serde_json::from_str(&description).ok()?;
        grant.target = match target {
            Some(target) => Some(serde_json::from_str(&target).ok()?),
            None => None,
        };
        grant.used = used;
        grant.last_used_at = last_used_at.map(Timestamp::from_micros);
        grant.ended = match ended {
            Some(word) => Some(GrantEnd::ALL.into_iter().find(|end| end.as_str() == word)?),
            None => None,
        };
        Some(grant)
    };
    Ok(read().ok_or(Unreadable::Content))
}

impl Grants for SqliteGrants {
    fn create(&self, grant: Grant) -> BoxFuture<'_, Result<(), StoreFault>> {
        self.transact(move |transaction| {
            let json = |written: serde_json::Result<String>| written.map_err(|_| Unreadable::Content);
            let target = grant.target.as_ref().map(serde_json::to_string).map(json).transpose()?;
            // What it is about stands in a column of its own, which is emptied when it ends.
            let described = Grant { target: None, ..grant.clone() };
            transaction.execute(
                "INSERT INTO grants (id, description, target, expires_at, max_uses) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    grant.id.to_string(),
                    json(serde_json::to_string(&described))?,
                    target,
                    grant.expires_at.as_micros(),
                    grant.max_uses.get(),
                ],
            )?;
            let kept = i64::try_from(ENDED_KEPT.as_micros()).unwrap_or(i64::MAX);
            transaction.execute(
                "DELETE FROM grants WHERE ended_at IS NOT NULL AND ended_at <= ?1",
                [grant.created_at.as_micros().saturating_sub(kept)],
            )?;
            Ok(((), Erased::Nothing))
        })
    }

    fn spend(&self, id: GrantId, now: Timestamp) -> BoxFuture<'_, Result<Spent, StoreFault>> {
        self.transact(move |transaction| {
            let left = transaction
                .query_row(
                    "UPDATE grants SET used = used + 1, last_used_at = ?2
                     WHERE id = ?1 AND ended IS NULL AND used < max_uses AND expires_at > ?2
                     RETURNING max_uses - used",
                    params![id.to_string(), now.as_micros()],
                    |row| row.get::<_, u32>(0),
                )
                .optional()?;
            let Some(left) = left else { return Ok((Spent::Not, Erased::Nothing)) };
            if left > 0 {
                return Ok((Spent::Left(left), Erased::Nothing));
            }
            transaction.execute(END, params![id.to_string(), GrantEnd::UsedUp.as_str(), now.as_micros()])?;
            Ok((Spent::Left(0), Erased::Content))
        })
    }

    fn end(&self, id: GrantId, why: GrantEnd, now: Timestamp) -> BoxFuture<'_, Result<bool, StoreFault>> {
        self.transact(move |transaction| {
            let rows = transaction.execute(END, params![id.to_string(), why.as_str(), now.as_micros()])?;
            Ok((rows == 1, if rows == 1 { Erased::Content } else { Erased::Nothing }))
        })
    }

    fn all(&self) -> BoxFuture<'_, Result<Vec<Grant>, StoreFault>> {
        self.transact(|transaction| {
            let mut statement = transaction
                .prepare("SELECT description, target, used, last_used_at, ended FROM grants ORDER BY seq DESC")?;
            let mut all = Vec::new();
            for row in statement.query_map([], grant)? {
                all.push(row??);
            }
            Ok((all, Erased::Nothing))
        })
    }
}
