//! The file, its schema, and the way from one version to the next.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::data_dir::{DataDirError, open_append};

/// Each step brings the database one version up. A step that was released is never changed.
const MIGRATIONS: &[&str] = &[
    include_str!("0001.sql"),
    include_str!("0002.sql"),
    include_str!("0003.sql"),
    include_str!("health.sql"),
    include_str!("definitions.sql"),
    include_str!("kept.sql"),
    include_str!("schedules.sql"),
    include_str!("skills.sql"),
];

/// Why a database is not used.
#[derive(Debug)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The file is not the host's alone.
    File(DataDirError),
    /// It was written by a newer version.
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version this host knows.
        known: i64,
    },
    /// It is no database, or a damaged one.
    Corrupt {
        /// Which file.
        path: PathBuf,
    },
    /// SQLite does not open it.
    Sqlite {
        /// Which file.
        path: PathBuf,
        /// Why not.
        error: rusqlite::Error,
    },
    /// The operating system refused.
    Io {
        /// Which file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

impl core::fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Newer { path, found, known } => write!(
                f,
                "the database `{}` has version {found}, and this host knows versions up to {known}: it is not guessed at\n\
                 help: run the newer host, or name another data directory",
                path.display()
            ),
            Self::Corrupt { path } => write!(
                f,
                "the database `{0}` is damaged: nothing runs on state that cannot be trusted\n\
                 help: restore it from a backup, or move `{0}`, `{0}-wal` and `{0}-shm` away; what is pending has to be \
                 proposed again, and journals start anew",
                path.display()
            ),
            Self::Sqlite { path, error } => {
                write!(
                    f,
                    "the database `{}` does not open: {error}\nhelp: look at the file system it lies on",
                    path.display()
                )
            }
            Self::Io { path, error } => {
                write!(f, "the database `{}` is not served: {error}\nhelp: free memory and threads", path.display())
            }
        }
    }
}

impl core::error::Error for DatabaseError {}

/// Opens and checks; see [`super::Database::open`].
pub(super) fn open(path: &Path) -> Result<Connection, DatabaseError> {
    // Made by us, so that it is private from its first byte on; SQLite gives its side files the same mode.
    drop(open_append(path).map_err(DatabaseError::File)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    prepare(Connection::open_with_flags(path, flags), path)
}

fn prepare(connection: rusqlite::Result<Connection>, path: &Path) -> Result<Connection, DatabaseError> {
    let told = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => {
            DatabaseError::Corrupt { path: path.to_owned() }
        }
        _ => DatabaseError::Sqlite { path: path.to_owned(), error },
    };
    let mut connection = connection.map_err(told)?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(told)?;
    // Version first: nothing of a newer database is touched.
    let found = version(&connection).map_err(told)?;
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if found > known {
        return Err(DatabaseError::Newer { path: path.to_owned(), found, known });
    }
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA secure_delete = ON;
             PRAGMA trusted_schema = OFF;
             PRAGMA cell_size_check = ON;",
        )
        .map_err(told)?;
    let healthy: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(told)?;
    if found < 0 || healthy != "ok" {
        return Err(DatabaseError::Corrupt { path: path.to_owned() });
    }
    migrate(&mut connection, found).map_err(told)?;
    // Whoever gave them remembered what they cover, and is gone.
    connection
        .execute_batch(
            "UPDATE grants SET ended = 'restarted', ended_at = unixepoch() * 1000000, target = NULL WHERE ended IS NULL",
        )
        .map_err(told)?;
    // A run that was on its way ended with its host.
    connection
        .execute_batch("UPDATE schedules SET last_outcome = 'interrupted' WHERE last_outcome IN ('running', 'pending')")
        .map_err(told)?;
    // What was erased before a crash must not stay in the write-ahead log.
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").map_err(told)?;
    Ok(connection)
}

/// 0 for an empty file; -1 for tables of somebody else.
fn version(connection: &Connection) -> rusqlite::Result<i64> {
    let has = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'";
    if connection.query_row(has, [], |row| row.get::<_, i64>(0))? == 1 {
        let found = connection.query_row("SELECT version FROM schema_version", [], |row| row.get(0)).optional()?;
        return Ok(found.unwrap_or(-1));
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(if tables == 0 { 0 } else { -1 })
}

fn migrate(connection: &mut Connection, found: i64) -> rusqlite::Result<()> {
    for (step, version) in MIGRATIONS.iter().zip(1_i64..).filter(|(_, version)| *version > found) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.execute("UPDATE schema_version SET version = ?1", [version])?;
        transaction.commit()?;
    }
    Ok(())
}
