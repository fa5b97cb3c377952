//! What was approved and used, for as long as an operator's setting retains it. Content.

use core::num::NonZeroU32;
use core::time::Duration;

use capability_core::Timestamp;
use capability_core::approval::{PastCall, PendingApproval};
use capability_core::session::Subject;
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::connection::Unreadable;

/// Keeps a call, in the transaction that uses its approval up.
pub(super) fn keep(transaction: &Transaction<'_>, used: &PendingApproval, at: Timestamp) -> Result<(), Unreadable> {
    let arguments = core::str::from_utf8(&used.arguments).map_err(|_| Unreadable::Content)?;
    let target = used.target.as_ref().map(serde_json::to_string).transpose().map_err(|_| Unreadable::Content)?;
    transaction.execute(
        "INSERT INTO retained (approval, subject, capability, version, arguments, target, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![
            used.id.to_string(),
            used.identity.subject.as_str(),
            used.capability,
            used.version.get(),
            arguments,
            target,
            at.as_micros(),
        ],
    )?;
    Ok(())
}

/// Erases what was retained long enough; everything, when nothing is.
pub(super) fn forget(transaction: &Transaction<'_>, now: Timestamp, retain: Duration) -> Result<usize, Unreadable> {
    let retain = i64::try_from(retain.as_micros()).unwrap_or(i64::MAX);
    if retain == 0 {
        // Whatever its time says: a clock that was set keeps nothing.
        return erase(transaction, None);
    }
    Ok(transaction.execute("DELETE FROM retained WHERE at <= ?1", [now.as_micros().saturating_sub(retain)])?)
}

/// Erases what is retained of one subject, or of all.
pub(super) fn erase(transaction: &Transaction<'_>, subject: Option<&Subject>) -> Result<usize, Unreadable> {
    let sql = "DELETE FROM retained WHERE ?1 IS NULL OR subject = ?1";
    Ok(transaction.execute(sql, [subject.map(Subject::as_str)])?)
}

const CALL: &str = "SELECT approval, subject, capability, version, arguments, target, at FROM retained";

/// The columns of [`CALL`].
type Columns = (String, String, String, u32, String, Option<String>, i64);

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
}

fn call((approval, subject, capability, version, arguments, target, at): Columns) -> Result<PastCall, Unreadable> {
    Ok(PastCall {
        approval: approval.parse().map_err(|_| Unreadable::Content)?,
        subject: subject.parse().map_err(|_| Unreadable::Content)?,
        capability,
        version: version.try_into().map_err(|_| Unreadable::Content)?,
        arguments: arguments.into_bytes(),
        target: target.map(|target| serde_json::from_str(&target)).transpose().map_err(|_| Unreadable::Content)?,
        at: Timestamp::from_micros(at),
    })
}

/// The last one of this subject, capability and version.
pub(super) fn last(
    transaction: &Transaction<'_>,
    subject: &Subject,
    capability: &str,
    version: NonZeroU32,
) -> Result<Option<PastCall>, Unreadable> {
    let sql = format!("{CALL} WHERE capability = ?1 AND subject = ?2 AND version = ?3 ORDER BY seq DESC LIMIT 1");
    let key = params![capability, subject.as_str(), version.get()];
    transaction.query_row(&sql, key, columns).optional()?.map(call).transpose()
}

/// The newest of a capability.
pub(super) fn of(transaction: &Transaction<'_>, capability: &str, limit: u32) -> Result<Vec<PastCall>, Unreadable> {
    let mut statement = transaction.prepare(&format!("{CALL} WHERE capability = ?1 ORDER BY seq DESC LIMIT ?2"))?;
    statement.query_map(params![capability, limit], columns)?.map(|row| call(row?)).collect()
}
