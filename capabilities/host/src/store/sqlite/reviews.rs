//! What a person has to look at.

use capability_core::handle::{BrokerFault, MAX_OPEN_REVIEWS, Review, ReviewKind};
use capability_core::session::{SessionIdentity, Subject};
use capability_core::store::StoreFault;
use capability_core::{BoxFuture, Timestamp};
use rusqlite::params;

use super::Database;
use super::connection::{Erased, Unreadable};

/// Reviews on disk: a named content store, each erased when it is closed.
#[derive(Debug, Clone)]
pub struct SqliteReviews(Database);

/// An open review, for operators: what the subject says is untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenReview {
    /// Its number.
    pub number: u64,
    /// Who filed it.
    pub subject: Subject,
    /// What it says.
    pub review: Review,
    /// When it was filed.
    pub at: Timestamp,
}

impl SqliteReviews {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    /// Files a review in the name of the identity's subject.
    ///
    /// # Errors
    /// [`BrokerFault::CapExceeded`] above a cap; [`BrokerFault::Unavailable`] when the store does not answer.
    pub fn file(
        &self,
        identity: &SessionIdentity,
        now: Timestamp,
        review: Review,
    ) -> BoxFuture<'static, Result<u64, BrokerFault>> {
        if !review.fits() {
            return Box::pin(core::future::ready(Err(BrokerFault::CapExceeded)));
        }
        let subject = identity.subject.clone();
        let filed = self.0.0.transact(move |transaction| {
            let Review { kind, about, reason } = review;
            let rows = transaction.execute(
                "INSERT INTO reviews (subject, kind, about, reason, at)
                 SELECT ?1, ?2, ?3, ?4, ?5
                 WHERE (SELECT count(*) FROM reviews WHERE subject = ?1 AND closed_at IS NULL) < ?6",
                params![subject.as_str(), kind.as_str(), about, reason, now.as_micros(), MAX_OPEN_REVIEWS],
            )?;
            let number = u64::try_from(transaction.last_insert_rowid()).map_err(|_| Unreadable::Content)?;
            Ok(((rows == 1).then_some(number), Erased::Nothing))
        });
        Box::pin(async move {
            match filed.await {
                Ok(Some(number)) => Ok(number),
                Ok(None) => Err(BrokerFault::CapExceeded),
                Err(StoreFault) => Err(BrokerFault::Unavailable),
            }
        })
    }

    /// Every open review, oldest first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn open(&self) -> BoxFuture<'static, Result<Vec<OpenReview>, StoreFault>> {
        self.0.0.transact(move |transaction| {
            let sql =
                "SELECT number, subject, kind, about, reason, at FROM reviews WHERE closed_at IS NULL ORDER BY number";
            let mut statement = transaction.prepare(sql)?;
            let columns = |row: &rusqlite::Row<'_>| {
                Ok((
                    row.get::<_, i64>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    row.get::<_, String>(3)?,
                    row.get::<_, String>(4)?,
                    row.get::<_, i64>(5)?,
                ))
            };
            let mut open = Vec::new();
            for row in statement.query_map([], columns)? {
                let (number, subject, kind, about, reason, at) = row?;
                let kind = match kind.as_str() {
                    "package_trust" => ReviewKind::PackageTrust,
                    "dependency" => ReviewKind::Dependency,
                    _ => return Err(Unreadable::Content),
                };
                open.push(OpenReview {
                    number: u64::try_from(number).map_err(|_| Unreadable::Content)?,
                    subject: subject.parse().map_err(|_| Unreadable::Content)?,
                    review: Review { kind, about, reason },
                    at: Timestamp::from_micros(at),
                });
            }
            Ok((open, Erased::Nothing))
        })
    }

    /// Closes one, and erases what it says. `false` when there is no such open review.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn close(&self, number: u64, now: Timestamp) -> BoxFuture<'static, Result<bool, StoreFault>> {
        self.0.0.transact(move |transaction| {
            let number = i64::try_from(number).unwrap_or(-1);
            let rows = transaction.execute(
                "UPDATE reviews SET about = NULL, reason = NULL, closed_at = ?2 WHERE number = ?1 AND closed_at IS NULL",
                params![number, now.as_micros()],
            )?;
            Ok((rows == 1, if rows == 1 { Erased::Content } else { Erased::Nothing }))
        })
    }
}
