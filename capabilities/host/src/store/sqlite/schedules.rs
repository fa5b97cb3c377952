//! Calls that are made at times.

use capability_core::handle::{BrokerFault, MAX_SCHEDULES, Plan, Scheduled};
use capability_core::session::{Origin, SlotPath, Subject};
use capability_core::store::StoreFault;
use capability_core::{BoxFuture, Timestamp};
use rusqlite::{Row, params};

use super::Database;
use super::connection::{Erased, Unreadable};

/// Schedules on disk: a named content store, each erased when it ends.
#[derive(Debug, Clone)]
pub struct SqliteSchedules(Database);

/// Who made a schedule: what holds for the calls of whoever that is holds for its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maker {
    /// The subject.
    pub subject: Subject,
    /// The slot of its agent.
    pub slot: Option<SlotPath>,
    /// What brought the session that made it.
    pub origin: Origin,
}

/// A schedule and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedSchedule {
    /// For whom it acts.
    pub maker: Maker,
    /// The schedule.
    pub schedule: Scheduled,
}

const COLUMNS: &str = "number, subject, plan, next_at, last_at, last_outcome, missed, slot, origin";

impl SqliteSchedules {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    /// Makes one for a subject.
    ///
    /// # Errors
    /// [`BrokerFault::CapExceeded`] above [`MAX_SCHEDULES`]; [`BrokerFault::Unavailable`] when the store does not answer.
    pub fn create(&self, maker: Maker, plan: Plan, next_at: Timestamp) -> BoxFuture<'static, Result<u64, BrokerFault>> {
        let made = self.0.0.transact(move |transaction| {
            let plan = serde_json::to_string(&plan).map_err(|_| Unreadable::Content)?;
            let rows = transaction.execute(
                "INSERT INTO schedules (subject, plan, next_at, slot, origin)
                 SELECT ?1, ?2, ?3, ?5, ?6 WHERE (SELECT count(*) FROM schedules WHERE subject = ?1) < ?4",
                params![
                    maker.subject.as_str(),
                    plan,
                    next_at.as_micros(),
                    MAX_SCHEDULES,
                    maker.slot.map(String::from),
                    maker.origin.as_str()
                ],
            )?;
            let number = u64::try_from(transaction.last_insert_rowid()).map_err(|_| Unreadable::Content)?;
            Ok(((rows == 1).then_some(number), Erased::Nothing))
        });
        Box::pin(async move {
            match made.await {
                Ok(Some(number)) => Ok(number),
                Ok(None) => Err(BrokerFault::CapExceeded),
                Err(StoreFault) => Err(BrokerFault::Unavailable),
            }
        })
    }

    /// A subject's schedules, or everybody's, by number.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn list(&self, subject: Option<Subject>) -> BoxFuture<'static, Result<Vec<OwnedSchedule>, StoreFault>> {
        self.0.0.transact(move |transaction| {
            let sql = format!("SELECT {COLUMNS} FROM schedules WHERE ?1 IS NULL OR subject = ?1 ORDER BY number");
            let mut statement = transaction.prepare(&sql)?;
            let mut rows = statement.query([subject.as_ref().map(Subject::as_str)])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(owned(row)?);
            }
            Ok((found, Erased::Nothing))
        })
    }

    /// Ends one, of that subject or of anybody. `false` when there is no such one.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn cancel(&self, number: u64, subject: Option<Subject>) -> BoxFuture<'static, Result<bool, StoreFault>> {
        self.0.0.transact(move |transaction| {
            let rows = transaction.execute(
                "DELETE FROM schedules WHERE number = ?1 AND (?2 IS NULL OR subject = ?2)",
                params![i64::try_from(number).unwrap_or(-1), subject.as_ref().map(Subject::as_str)],
            )?;
            Ok((rows == 1, if rows == 1 { Erased::Content } else { Erased::Nothing }))
        })
    }

    /// Those whose time has come.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn due(&self, now: Timestamp) -> BoxFuture<'static, Result<Vec<OwnedSchedule>, StoreFault>> {
        self.0.0.transact(move |transaction| {
            let sql = format!("SELECT {COLUMNS} FROM schedules WHERE next_at <= ?1 ORDER BY next_at, number LIMIT 64");
            let mut statement = transaction.prepare(&sql)?;
            let mut rows = statement.query([now.as_micros()])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(owned(row)?);
            }
            Ok((found, Erased::Nothing))
        })
    }

    /// Moves one on from the time that it was due at: whoever moves it runs it, and nobody else does. `false` when somebody else
    /// moved it, or it has ended.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn move_on(
        &self,
        number: u64,
        from: Timestamp,
        to: Option<Timestamp>,
        missed: u64,
        ran_at: Option<Timestamp>,
    ) -> BoxFuture<'static, Result<bool, StoreFault>> {
        self.0.0.transact(move |transaction| {
            let rows = transaction.execute(
                "UPDATE schedules SET next_at = ?3, missed = missed + ?4, last_at = coalesce(?5, last_at),
                        last_outcome = iif(?5 IS NULL, last_outcome, 'running')
                 WHERE number = ?1 AND next_at = ?2",
                params![
                    i64::try_from(number).unwrap_or(-1),
                    from.as_micros(),
                    to.map(Timestamp::as_micros),
                    i64::try_from(missed).unwrap_or(i64::MAX),
                    ran_at.map(Timestamp::as_micros),
                ],
            )?;
            Ok((rows == 1, Erased::Nothing))
        })
    }

    /// Notes how a run ended, by the outcome's own word.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn ended(&self, number: u64, outcome: &'static str) -> BoxFuture<'static, Result<(), StoreFault>> {
        self.0.0.transact(move |transaction| {
            let sql = "UPDATE schedules SET last_outcome = ?2 WHERE number = ?1";
            transaction.execute(sql, params![i64::try_from(number).unwrap_or(-1), outcome])?;
            Ok(((), Erased::Nothing))
        })
    }
}

fn owned(row: &Row<'_>) -> Result<OwnedSchedule, Unreadable> {
    let time = |micros: Option<i64>| micros.map(Timestamp::from_micros);
    let count = |number: i64| u64::try_from(number).map_err(|_| Unreadable::Content);
    Ok(OwnedSchedule {
        maker: Maker {
            subject: row.get::<_, String>(1)?.parse().map_err(|_| Unreadable::Content)?,
            slot: row
                .get::<_, Option<String>>(7)?
                .map(|slot| slot.parse())
                .transpose()
                .map_err(|_| Unreadable::Content)?,
            origin: serde_json::from_value(row.get::<_, String>(8)?.into()).map_err(|_| Unreadable::Content)?,
        },
        schedule: Scheduled {
            number: count(row.get(0)?)?,
            plan: serde_json::from_str(&row.get::<_, String>(2)?).map_err(|_| Unreadable::Content)?,
            next_at: time(row.get(3)?),
            last_at: time(row.get(4)?),
            last_outcome: row.get(5)?,
            missed: count(row.get(6)?)?,
        },
    })
}
