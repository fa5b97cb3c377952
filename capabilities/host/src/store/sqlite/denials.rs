//! How often people said no to the same thing. Every step here is part of the transaction of the move it belongs to.

use capability_core::Timestamp;
use capability_core::approval::{DENIALS_BEFORE_A_LOOP, DENIALS_LAPSE, DenialLoop, Filed};
use capability_core::session::Subject;
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::connection::Unreadable;

/// The most calls that are counted; those that were denied longest ago go first.
const KEPT: i64 = 65_536;

/// Whether nobody is asked about this call again.
pub(super) fn hold(transaction: &Transaction<'_>, filed: &Filed) -> Result<bool, Unreadable> {
    let sql = "SELECT 1 FROM denials WHERE repeated = ?1 AND denials >= ?2 AND until > ?3";
    let key =
        params![filed.repeated.as_bytes().as_slice(), DENIALS_BEFORE_A_LOOP, filed.approval.created_at.as_micros()];
    Ok(transaction.query_row(sql, key, |_| Ok(())).optional()?.is_some())
}

/// One denial more; the first again once the others have lapsed.
pub(super) fn count(transaction: &Transaction<'_>, denied: &Filed, now: Timestamp) -> Result<(), Unreadable> {
    let pending = &denied.approval;
    transaction.execute(
        "INSERT INTO denials (repeated, subject, capability, version, denials, last_at, until)
         VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6)
         ON CONFLICT (repeated) DO UPDATE SET denials = iif(until > ?5, denials + 1, 1), last_at = ?5, until = ?6",
        params![
            denied.repeated.as_bytes().as_slice(),
            pending.identity.subject.as_str(),
            pending.capability,
            pending.version.get(),
            now.as_micros(),
            now.after(DENIALS_LAPSE).as_micros(),
        ],
    )?;
    transaction.execute(
        "DELETE FROM denials WHERE repeated IN
         (SELECT repeated FROM denials ORDER BY until DESC LIMIT -1 OFFSET ?1)",
        [KEPT],
    )?;
    Ok(())
}

/// Somebody said yes to it.
pub(super) fn clear(transaction: &Transaction<'_>, approved: &Filed) -> Result<(), Unreadable> {
    transaction.execute("DELETE FROM denials WHERE repeated = ?1", [approved.repeated.as_bytes().as_slice()])?;
    Ok(())
}

/// Counts that mean nothing any more.
pub(super) fn lapse(transaction: &Transaction<'_>, now: Timestamp) -> Result<usize, Unreadable> {
    Ok(transaction.execute("DELETE FROM denials WHERE until <= ?1", [now.as_micros()])?)
}

/// Every count of one subject.
pub(super) fn forget(transaction: &Transaction<'_>, subject: &Subject) -> Result<usize, Unreadable> {
    Ok(transaction.execute("DELETE FROM denials WHERE subject = ?1", [subject.as_str()])?)
}

/// Every loop that holds.
pub(super) fn all(transaction: &Transaction<'_>, now: Timestamp) -> Result<Vec<DenialLoop>, Unreadable> {
    let mut statement = transaction.prepare(
        "SELECT subject, capability, version, denials, last_at, until FROM denials
         WHERE denials >= ?1 AND until > ?2 ORDER BY last_at DESC",
    )?;
    let row = |row: &Row<'_>| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, u32>(2)?,
            row.get::<_, u32>(3)?,
            row.get::<_, i64>(4)?,
            row.get::<_, i64>(5)?,
        ))
    };
    let mut loops = Vec::new();
    for found in statement.query_map(params![DENIALS_BEFORE_A_LOOP, now.as_micros()], row)? {
        let (subject, capability, version, denials, last_at, until) = found?;
        loops.push(DenialLoop {
            subject: subject.parse().map_err(|_| Unreadable::Content)?,
            capability,
            version: version.try_into().map_err(|_| Unreadable::Content)?,
            denials,
            last_at: Timestamp::from_micros(last_at),
            until: Timestamp::from_micros(until),
        });
    }
    Ok(loops)
}
