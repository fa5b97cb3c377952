//! Pending invocations and their answers.

use core::num::NonZeroU32;
use core::time::Duration;

use capability_core::approval::{
    ApprovalId, ApprovalStatus, ApprovalSummary, DenialLoop, DenialReason, Filed, Ground, InvocationDigest, Move,
    PastCall, Successor, next_status,
};
use capability_core::session::Subject;
use capability_core::store::{Answer, Approvals, Filing, Found, Instead, MAX_PENDING_PER_SUBJECT, Moved, StoreFault};
use capability_core::{BoxFuture, Code, Timestamp};
use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::Database;
use super::connection::{Erased, Unreadable};
use super::{denials, retained};

/// How long a final approval is found, without its content.
const FINALS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Approvals on disk. Every move is one conditional update: of two that race, one changes a row.
///
/// An approval that is due but not yet expired answers every move with `Not(Expired)` and is expired by
/// [`Approvals::expire_due`] alone, so that each expiry is reported, and recorded, once.
#[derive(Debug, Clone)]
pub struct SqliteApprovals {
    database: Database,
    /// How long the content of what was used is retained.
    retain: Option<Duration>,
}

impl SqliteApprovals {
    pub(super) const fn new(database: Database, retain: Option<Duration>) -> Self {
        Self { database, retain }
    }

    fn transact<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Transaction<'_>) -> Result<(T, Erased), Unreadable> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreFault>> {
        self.database.0.transact(job)
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
        let erase = if to.is_final() {
            ", content = NULL, digest = NULL, repeated = NULL, ground = NULL, finished_at = ?1"
        } else {
            ""
        };
        format!(
            "UPDATE approvals SET status = '{to}'{erase}, answered_by = coalesce(?2, answered_by), note = ?3, reason = ?6,
             successor = ?7, refused_with = ?8 WHERE status IN ({from})"
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
        params![
            now.as_micros(),
            with.operator.map(Subject::as_str),
            with.note,
            id.to_string(),
            digest,
            with.reason.map(DenialReason::as_str),
            with.successor.map(|id| id.to_string()),
            with.refused_with.map(Code::as_str),
        ],
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
    reason: Option<DenialReason>,
    note: Option<String>,
    digest: Option<InvocationDigest>,
    successor: Option<ApprovalId>,
    refused_with: Option<Code>,
}

fn status_of(text: &str) -> Result<ApprovalStatus, Unreadable> {
    ApprovalStatus::ALL.into_iter().find(|status| status.as_str() == text).ok_or(Unreadable::Content)
}

/// The columns of a summary, in this order.
const SUMMARY: &str =
    "SELECT status, summary, content, digest, note, reason, successor, refused_with, repeated, ground FROM approvals";

fn found(row: &Row<'_>) -> rusqlite::Result<Result<Found, Unreadable>> {
    let (status, summary): (String, String) = (row.get(0)?, row.get(1)?);
    let (content, digest): (Option<String>, Option<Vec<u8>>) = (row.get(2)?, row.get(3)?);
    let (note, reason): (_, Option<String>) = (row.get(4)?, row.get(5)?);
    let (successor, refused_with): (Option<String>, Option<String>) = (row.get(6)?, row.get(7)?);
    let (repeated, ground): (Option<Vec<u8>>, Option<Vec<u8>>) = (row.get(8)?, row.get(9)?);
    let read = || {
        let mut summary: ApprovalSummary = serde_json::from_str(&summary).ok()?;
        summary.status = status_of(&status).ok()?;
        let filed = match (content, digest, repeated, ground) {
            (Some(content), Some(digest), Some(repeated), Some(ground)) => Some(Filed {
                approval: serde_json::from_str(&content).ok()?,
                digest: InvocationDigest::from_bytes(digest.try_into().ok()?),
                repeated: InvocationDigest::from_bytes(repeated.try_into().ok()?),
                ground: Ground::from_bytes(ground.as_slice().try_into().ok()?),
            }),
            _ => None,
        };
        let reason = match reason {
            Some(word) => Some(DenialReason::ALL.into_iter().find(|reason| reason.as_str() == word)?),
            None => None,
        };
        let successor = match (successor, refused_with) {
            (Some(by), _) => Some(Successor::By(by.parse().ok()?)),
            (None, Some(word)) => {
                Some(Successor::Refused(Code::ALL.iter().copied().find(|code| code.as_str() == word)?))
            }
            (None, None) => None,
        };
        Some(Found { summary, filed, reason, note, successor })
    };
    Ok(read().ok_or(Unreadable::Content))
}

/// One with its content, for whatever is done beside a move.
fn filed(transaction: &Transaction<'_>, id: ApprovalId) -> Result<Option<Filed>, Unreadable> {
    let sql = format!("{SUMMARY} WHERE id = ?1");
    let found = transaction.query_row(&sql, [id.to_string()], found).optional()?.transpose()?;
    Ok(found.and_then(|found| found.filed))
}

/// Stores what is filed, as pending or as approved already, while `most` of its subject wait at most.
fn insert(
    transaction: &Transaction<'_>,
    filed: &Filed,
    status: ApprovalStatus,
    operator: Option<&Subject>,
    most: usize,
) -> Result<bool, Unreadable> {
    let json = |written: serde_json::Result<String>| written.map_err(|_| Unreadable::Content);
    let summary = filed.summary();
    let rows = transaction.execute(
        "INSERT INTO approvals (id, status, subject, summary, created_at, expires_at, content, digest, repeated, ground,
                                answered_by)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
         WHERE (SELECT count(*) FROM approvals WHERE subject = ?3 AND status = 'pending') < ?12",
        params![
            summary.id.to_string(),
            status.as_str(),
            summary.identity.subject.as_str(),
            json(serde_json::to_string(&summary))?,
            summary.created_at.as_micros(),
            summary.expires_at.as_micros(),
            json(serde_json::to_string(&filed.approval))?,
            filed.digest.as_bytes().as_slice(),
            filed.repeated.as_bytes().as_slice(),
            filed.ground.to_bytes().as_slice(),
            operator.map(Subject::as_str),
            i64::try_from(most).unwrap_or(i64::MAX),
        ],
    )?;
    Ok(rows == 1)
}

impl Approvals for SqliteApprovals {
    fn file(&self, filed: Filed) -> BoxFuture<'_, Result<Filing, StoreFault>> {
        self.transact(move |transaction| {
            if denials::hold(transaction, &filed)? {
                return Ok((Filing::DenialLoop, Erased::Nothing));
            }
            let filed = insert(transaction, &filed, ApprovalStatus::Pending, None, MAX_PENDING_PER_SUBJECT)?;
            Ok((if filed { Filing::Filed } else { Filing::TooManyPending }, Erased::Nothing))
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
            let asked = filed(transaction, id)?;
            let (tried, reason, note) = match answer {
                Answer::Approve => (Move::Approve, None, None),
                Answer::Deny { reason, note } => (Move::Deny, reason, note),
            };
            let with = With { operator: Some(&operator), reason, note, ..With::default() };
            let moved = shift(transaction, tried, id, now, with)?;
            match (moved.0, asked) {
                (Moved::Yes, Some(asked)) if tried == Move::Deny => denials::count(transaction, &asked, now)?,
                (Moved::Yes, Some(asked)) => denials::clear(transaction, &asked)?,
                _ => {}
            }
            Ok(moved)
        })
    }

    fn consume(
        &self,
        id: ApprovalId,
        digest: InvocationDigest,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        let retain = self.retain.is_some();
        self.transact(move |transaction| {
            let used = if retain { filed(transaction, id)? } else { None };
            let with = With { digest: Some(digest), ..With::default() };
            let moved = shift(transaction, Move::Consume, id, now, with)?;
            if let (Moved::Yes, Some(used)) = (moved.0, used) {
                retained::keep(transaction, &used.approval, now)?;
            }
            Ok(moved)
        })
    }

    fn expire_due(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<ApprovalId>, StoreFault>> {
        let retain = self.retain.unwrap_or_default();
        self.transact(move |transaction| {
            let shift = Shift::of(Move::Expire).ok_or(Unreadable::Content)?;
            let sql = format!("{} AND expires_at <= ?1 RETURNING id", shift.sql());
            let mut statement = transaction.prepare(&sql)?;
            let ids = statement
                .query_map(
                    // As many as the statement numbers, of which only the time counts here.
                    params![
                        now.as_micros(),
                        None::<&str>,
                        None::<&str>,
                        None::<&str>,
                        None::<&str>,
                        None::<&str>,
                        None::<&str>,
                        None::<&str>
                    ],
                    |row| row.get::<_, String>(0),
                )?
                .collect::<Result<Vec<_>, _>>()?;
            let due =
                ids.iter().map(|id| id.parse()).collect::<Result<Vec<_>, _>>().map_err(|_| Unreadable::Content)?;
            let kept = i64::try_from(FINALS_KEPT.as_micros()).unwrap_or(i64::MAX);
            let old = "DELETE FROM approvals WHERE finished_at IS NOT NULL AND finished_at <= ?1";
            let pruned = transaction.execute(old, [now.as_micros().saturating_sub(kept)])?;
            let forgotten = retained::forget(transaction, now, retain)?;
            denials::lapse(transaction, now)?;
            let erased = if forgotten > 0 { Erased::Content } else { shift.erased(ids.len() + pruned) };
            Ok((due, erased))
        })
    }

    fn withdraw(&self, id: ApprovalId) -> BoxFuture<'_, Result<(), StoreFault>> {
        self.transact(move |transaction| {
            transaction.execute("DELETE FROM approvals WHERE id = ?1", [id.to_string()])?;
            Ok(((), Erased::Content))
        })
    }

    fn supersede(
        &self,
        id: ApprovalId,
        instead: Instead,
        operator: &Subject,
        now: Timestamp,
    ) -> BoxFuture<'_, Result<Moved, StoreFault>> {
        let operator = operator.clone();
        self.transact(move |transaction| {
            let (successor, refused_with) = match &instead {
                Instead::Filed(filed) => (Some(filed.approval.id), None),
                Instead::Refused(code) => (None, Some(*code)),
            };
            let with = With { operator: Some(&operator), successor, refused_with, ..With::default() };
            let moved = shift(transaction, Move::Supersede, id, now, with)?;
            if let (Moved::Yes, Instead::Filed(filed)) = (moved.0, &instead) {
                insert(transaction, filed, ApprovalStatus::Approved, Some(&operator), usize::MAX)?;
                denials::clear(transaction, filed)?;
            }
            Ok(moved)
        })
    }

    fn denial_loops(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<DenialLoop>, StoreFault>> {
        self.transact(move |transaction| Ok((denials::all(transaction, now)?, Erased::Nothing)))
    }

    fn clear_denials(&self, subject: &Subject) -> BoxFuture<'_, Result<usize, StoreFault>> {
        let subject = subject.clone();
        self.transact(move |transaction| Ok((denials::forget(transaction, &subject)?, Erased::Nothing)))
    }

    fn last_approved(
        &self,
        subject: &Subject,
        capability: &str,
        version: NonZeroU32,
    ) -> BoxFuture<'_, Result<Option<PastCall>, StoreFault>> {
        let (subject, capability) = (subject.clone(), capability.to_owned());
        self.transact(move |transaction| {
            Ok((retained::last(transaction, &subject, &capability, version)?, Erased::Nothing))
        })
    }

    fn past_calls(&self, capability: &str, limit: u32) -> BoxFuture<'_, Result<Vec<PastCall>, StoreFault>> {
        let capability = capability.to_owned();
        self.transact(move |transaction| Ok((retained::of(transaction, &capability, limit)?, Erased::Nothing)))
    }

    fn erase_retained(&self, subject: Option<&Subject>) -> BoxFuture<'_, Result<usize, StoreFault>> {
        let subject = subject.cloned();
        self.transact(move |transaction| {
            let erased = retained::erase(transaction, subject.as_ref())?;
            Ok((erased, if erased > 0 { Erased::Content } else { Erased::Nothing }))
        })
    }
}
