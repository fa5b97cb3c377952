//! Skills as operators accepted them.

use capability_core::store::StoreFault;
use capability_core::{BoxFuture, Timestamp};
use rusqlite::params;

use super::Database;
use super::connection::Erased;

/// Accepted skills on disk.
#[derive(Debug, Clone)]
pub struct SqliteSkills(Database);

/// One accepted skill as it is kept. What `package` holds is for whoever wrote it.
#[derive(Debug, Clone)]
pub struct KeptSkill {
    /// Its name.
    pub name: String,
    /// The digest that was accepted.
    pub digest: Vec<u8>,
    /// All of it.
    pub package: Vec<u8>,
    /// When.
    pub at: Timestamp,
}

impl SqliteSkills {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    /// All that were accepted, by name.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn all(&self) -> Result<Vec<KeptSkill>, StoreFault> {
        self.0.0.transact_here(|transaction| {
            let mut statement =
                transaction.prepare("SELECT name, digest, package, accepted_at FROM skills ORDER BY name")?;
            let kept = statement.query_map([], |row| {
                let at = Timestamp::from_micros(row.get(3)?);
                Ok(KeptSkill { name: row.get(0)?, digest: row.get(1)?, package: row.get(2)?, at })
            })?;
            Ok((kept.collect::<rusqlite::Result<Vec<_>>>()?, Erased::Nothing))
        })
    }

    /// Keeps one in the place of what was kept of that name.
    pub fn keep(&self, kept: KeptSkill) -> BoxFuture<'static, Result<(), StoreFault>> {
        self.0.0.transact(move |transaction| {
            let insert = "INSERT OR REPLACE INTO skills (name, digest, package, accepted_at) VALUES (?1, ?2, ?3, ?4)";
            transaction.execute(insert, params![kept.name, kept.digest, kept.package, kept.at.as_micros()])?;
            Ok(((), Erased::Content))
        })
    }

    /// Forgets one. Whether there was one of that name.
    pub fn forget(&self, name: &str) -> BoxFuture<'static, Result<bool, StoreFault>> {
        let name = name.to_owned();
        self.0.0.transact(move |transaction| {
            let gone = transaction.execute("DELETE FROM skills WHERE name = ?1", [name])?;
            Ok((gone > 0, Erased::Content))
        })
    }
}
