//! How tools have been doing.

use capability_core::BoxFuture;
use capability_core::Timestamp;
use capability_core::provider::{HealthKey, HealthStore, ToolHealth};
use capability_core::store::StoreFault;
use rusqlite::{Transaction, params};

use super::Database;
use super::connection::{Erased, Unreadable};

/// Tools' health on disk.
#[derive(Debug, Clone)]
pub struct SqliteHealth(Database);

impl SqliteHealth {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    /// All that is kept, before anything runs.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn kept(&self) -> Result<Vec<(HealthKey, ToolHealth)>, StoreFault> {
        self.0.0.transact_here(all)
    }
}

fn all(transaction: &Transaction<'_>) -> Result<(Vec<(HealthKey, ToolHealth)>, Erased), Unreadable> {
    let mut statement = transaction.prepare("SELECT tool, worked, failed, in_a_row, last, at FROM health")?;
    let columns = |row: &rusqlite::Row<'_>| {
        let counts = (row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, row.get::<_, u32>(3)?);
        Ok((row.get::<_, String>(0)?, counts, row.get::<_, String>(4)?, row.get::<_, i64>(5)?))
    };
    let mut kept = Vec::new();
    for row in statement.query_map([], columns)? {
        let (tool, (worked, failed, in_a_row), last, at) = row?;
        let health = ToolHealth {
            worked: u64::try_from(worked).map_err(|_| Unreadable::Content)?,
            failed: u64::try_from(failed).map_err(|_| Unreadable::Content)?,
            in_a_row,
            last: serde_json::from_value(last.into()).map_err(|_| Unreadable::Content)?,
            at: Timestamp::from_micros(at),
        };
        kept.push((HealthKey::from_stored(tool), health));
    }
    Ok((kept, Erased::Nothing))
}

const SAVE: &str =
    "INSERT OR REPLACE INTO health (tool, worked, failed, in_a_row, last, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// A count as SQLite has numbers: one that does not fit is the largest.
fn counted(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl HealthStore for SqliteHealth {
    fn load(&self) -> BoxFuture<'_, Result<Vec<(HealthKey, ToolHealth)>, StoreFault>> {
        self.0.0.transact(all)
    }

    fn save(&self, changed: Vec<(HealthKey, ToolHealth)>) -> BoxFuture<'_, Result<(), StoreFault>> {
        self.0.0.transact(move |transaction| {
            let mut statement = transaction.prepare(SAVE)?;
            for (key, health) in changed {
                let (worked, failed) = (counted(health.worked), counted(health.failed));
                let (last, at) = (health.last.as_str(), health.at.as_micros());
                statement.execute(params![key.as_str(), worked, failed, health.in_a_row, last, at])?;
            }
            Ok(((), Erased::Nothing))
        })
    }
}
