//! Pending invocations and their answers.

use core::time::Duration;

use capability_core::BoxFuture;
use capability_core::Timestamp;
use capability_core::approval::{
    ApprovalId, ApprovalStatus, ApprovalSummary, Filed, InvocationDigest, Move, next_status,
};
use capability_core::session::Subject;
use capability_core::store::{Answer, Approvals, Found, MAX_PENDING_PER_SUBJECT, Moved, StoreFault};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::Database;
use super::connection::{Erased, Unreadable};

/// How long a final approval is found, without its content.
const FINALS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Approvals on disk. Every move is one conditional update: of two that race, one changes a row.
///
/// An approval that is due but not yet expired answers every move with `Not(Expired)` and is expired by
/// [`Approvals::expire_due`] alone, so that each expiry is reported, and recorded, once.
#[derive(Debug, Clone)]
pub struct SqliteApprovals(Database);

impl SqliteApprovals {
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

/// A move as SQL: where it leads, and the statuses it may start from, both taken from the state machine itself.
struct Shift {
    to: ApprovalStatus,
    from: String,
}

impl Shift {
    fn of(tried: Move) -> Option<Self> {
        let legal =
            || ApprovalStatus::ALL.into_iter().filter_map(move |from| Some((from, next_status(from, tried).ok()?)));
        let (_, to) = legal().next()?;
        let from: Vec<_> = legal().filter(|(_, leads)| *leads == to).map(|(from, _)| format!("'{from}'")).collect();
        Some(Self { to, from: from.join(", ") })
    }

    /// `UPDATE`, up to and including the condition on the status; content goes with the last move. `?1` is the time.
    fn sql(&self) -> String {
        let Self { to, from } = self;
        let erase = if to.is_final() { ", content = NULL, digest = NULL, finished_at = ?1" } else { "" };
        format!(
            "UPDATE approvals SET status = '{to}'{erase}, answered_by = coalesce(?2, answered_by), note = ?3 WHERE status IN ({from})"
        )
    }

    fn erased(&self, rows: usize) -> Erased {
        if rows > 0 && self.to.is_final() { Erased::Content } else { Erased::Nothing }
    }
}

/// One conditional move of one approval, and where it stands when nothing changed.
fn shift(
    transaction: &Transaction<'_>,
    tried: Move,
    id: ApprovalId,
    now: Timestamp,
    with: With<'_>,
) -> Result<(Moved, Erased), Unreadable> {
    let shift = Shift::of(tried).ok_or(Unreadable::Content)?;
    let sql = format!("{} AND id = ?4 AND expires_at > ?1 AND (?5 IS NULL OR digest = ?5)", shift.sql());
    let digest = with.digest.as_ref().map(|digest| digest.as_bytes().as_slice());
    let rows = transaction.execute(
        &sql,
        params![now.as_micros(), with.operator.map(Subject::as_str), with.note, id.to_string(), digest],
    )?;
    if rows == 1 {
        return Ok((Moved::Yes, shift.erased(rows)));
    }
    let stands =
        "SELECT status, expires_at > ?2, ?3 IS NULL OR digest IS NULL OR digest = ?3 FROM approvals WHERE id = ?1";
    let stands = transaction
        .query_row(stands, params![id.to_string(), now.as_micros(), digest], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?, row.get::<_, bool>(2)?))
        })
        .optional()?;
    let Some((status, in_time, matches)) = stands else {
        return Ok((Moved::Unknown, Erased::Nothing));
    };
    let status = status_of(&status)?;
    let moved = match (status.is_final(), in_time, matches) {
        (true, _, _) => Moved::Not(status),
        (false, false, _) => Moved::Not(ApprovalStatus::Expired),
        (false, true, false) => Moved::Mismatch,
        (false, true, true) => Moved::Not(status),
    };
    Ok((moved, Erased::Nothing))
}

/// What a move brings along.
#[derive(Default)]
struct With<'a> {
    operator: Option<&'a Subject>,
    note: Option<String>,
    digest: Option<InvocationDigest>,
}

fn status_of(text: &str) -> Result<ApprovalStatus, Unreadable> {
    ApprovalStatus::ALL.into_iter().find(|status| status.as_str() == text).ok_or(Unreadable::Content)
}

/// The columns of a summary, in this order.
const SUMMARY: &str = "SELECT status, summary, content, digest, note FROM approvals";

fn found(row: &Row<'_>) -> rusqlite::Result<Result<Found, Unreadable>> {
    let (status, summary): (String, String) = (row.get(0)?, row.get(1)?);
    let (content, digest): (Option<String>, Option<Vec<u8>>) = (row.get(2)?, row.get(3)?);
    let note = row.get(4)?;
    let read = || {
        let mut summary: ApprovalSummary = serde_json::from_str(&summary).ok()?;
        summary.status = status_of(&status).ok()?;
        let filed = match (content, digest) {
            (Some(content), Some(digest)) => Some(Filed {
                approval: serde_json::from_str(&content).ok()?,
                digest: InvocationDigest::from_bytes(digest.try_into().ok()?),
            }),
            _ => None,
        };
        Some(Found { summary, filed, note })
    };
    Ok(read().ok_or(Unreadable::Content))
}

impl Approvals for SqliteApprovals {
    fn file(&self, filed: Filed) -> BoxFuture<'_, Result<bool, StoreFault>> {
        let Filed { approval, digest } = filed;
        let summary = ApprovalSummary {
            id: approval.id,
            status: ApprovalStatus::Pending,
            capability: approval.capability.clone(),
            version: approval.version,
            class: approval.class,
            risk: approval.risk,
            identity: approval.identity.clone(),
            created_at: approval.created_at,
            expires_at: approval.expires_at,
        };
        self.transact(move |transaction| {
            let json = |written: serde_json::Result<String>| written.map_err(|_| Unreadable::Content);
            let rows = transaction.execute(
                "INSERT INTO approvals (id, status, subject, summary, created_at, expires_at, content, digest)
                 SELECT ?1, 'pending', ?2, ?3, ?4, ?5, ?6, ?7
                 WHERE (SELECT count(*) FROM approvals WHERE subject = ?2 AND status = 'pending') < ?8",
                params![
                    summary.id.to_string(),
                    summary.identity.subject.as_str(),
                    json(serde_json::to_string(&summary))?,
                    summary.created_at.as_micros(),
                    summary.expires_at.as_micros(),
                    json(serde_json::to_string(&approval))?,
                    digest.as_bytes().as_slice(),
                    i64::try_from(MAX_PENDING_PER_SUBJECT).unwrap_or(i64::MAX),
                ],
            )?;
            Ok((rows == 1, Erased::Nothing))
        })
    }

    fn find(&self, id: ApprovalId) -> BoxFuture<'_, Result<Option<Found>, StoreFault>> {
        self.transact(move |transaction| {
            let sql = format!("{SUMMARY} WHERE id = ?1");
            let found = transaction.query_row(&sql, [id.to_string()], found).optional()?.transpose()?;
            Ok((found, Erased::Nothing))
        })
    }

    fn open(&self) -> BoxFuture<'_, Result<Vec<ApprovalSummary>, StoreFault>> {
        self.transact(|transaction| {
            let mut statement = transaction.prepare(&format!("{SUMMARY} WHERE finished_at IS NULL ORDER BY seq"))?;
            let mut open = Vec::new();
            for row in statement.query_map([], found)? {
                open.push(row??.summary);
            }
            Ok((open, Erased::Nothing))
        })
    }

    fn answer(
        &self,
        id: ApprovalId,
        answer: Answer,
        operator: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        let operator = operator.clone();
        self.transact(move |transaction| {
            let (tried, note) = match answer {
                Answer::Approve => (Move::Approve, None),
                Answer::Deny { note } => (Move::Deny, note),
            };
            shift(transaction, tried, id, now, With { operator: Some(&operator), note, digest: None })
        })
    }

    fn consume(
        &self,
        id: ApprovalId,
        digest: InvocationDigest,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        self.transact(move |transaction| {
            shift(transaction, Move::Consume, id, now, With { digest: Some(digest), ..With::default() })
        })
    }

    fn expire_due(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<ApprovalId>, StoreFault>> {
        self.transact(move |transaction| {
            let shift = Shift::of(Move::Expire).ok_or(Unreadable::Content)?;
            let sql = format!("{} AND expires_at <= ?1 RETURNING id", shift.sql());
            let mut statement = transaction.prepare(&sql)?;
            let ids = statement
                .query_map(params![now.as_micros(), None::<&str>, None::<&str>], |row| row.get::<_, String>(0))?
                .collect::<Result<Vec<_>, _>>()?;
            let due =
                ids.iter().map(|id| id.parse()).collect::<Result<Vec<_>, _>>().map_err(|_| Unreadable::Content)?;
            let kept = i64::try_from(FINALS_KEPT.as_micros()).unwrap_or(i64::MAX);
            let old = "DELETE FROM approvals WHERE finished_at IS NOT NULL AND finished_at <= ?1";
            let pruned = transaction.execute(old, [now.as_micros().saturating_sub(kept)])?;
            Ok((due, shift.erased(ids.len() + pruned)))
        })
    }

    fn withdraw(&self, id: ApprovalId) -> BoxFuture<'_, Result<(), StoreFault>> {
        self.transact(move |transaction| {
            transaction.execute("DELETE FROM approvals WHERE id = ?1", [id.to_string()])?;
            Ok(((), Erased::Content))
        })
    }
}
