//! Invocations per turn.

use core::num::NonZeroU32;

use capability_core::Soon;
use capability_core::contract::CapabilityName;
use capability_core::session::{SessionId, TurnId};
use capability_core::store::{Reservation, StoreFault, TurnCaps, Turns};
use rusqlite::{OptionalExtension, params};

use super::Database;
use super::connection::Erased;

/// The most counters kept; the oldest go first. A caller of the command line numbers its own turns, and has a fresh cap in each
/// anyway: forgetting an old one gives it nothing that a new number would not.
const KEPT: i64 = 65_536;
/// How often the oldest are looked for: every so many new counters.
const PRUNED_EVERY: i64 = 1024;

/// Turn counters on disk. A reservation is one conditional insert-or-update.
#[derive(Debug, Clone)]
pub struct SqliteTurns(Database);

impl SqliteTurns {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }
}

const RESERVE: &str = "
    INSERT INTO turns (session, turn, capability, version, used)
    SELECT ?1, ?2, ?3, ?4, 1
    WHERE ?5 > 0 AND (SELECT coalesce(sum(used), 0) FROM turns WHERE session = ?1 AND turn = ?2) < ?6
    ON CONFLICT (session, turn, capability, version) DO UPDATE SET used = used + 1 WHERE used < ?5
    RETURNING seq";

const USED: &str = "
    SELECT coalesce(sum(used), 0) FROM turns WHERE session = ?1 AND turn = ?2 AND capability = ?3 AND version = ?4";

impl Turns for SqliteTurns {
    fn reserve(
        &self,
        session: SessionId,
        turn: TurnId,
        (name, version): (CapabilityName, NonZeroU32),
        caps: TurnCaps,
    ) -> Soon<'_, Result<Reservation, StoreFault>> {
        Soon::Later(self.0.0.transact(move |transaction| {
            // The same 64 bits, read as a signed number: SQLite has no other.
            let turn = turn.0.cast_signed();
            let session = session.to_string();
            let key = params![session, turn, name.as_str(), version.get(), caps.capability, caps.total];
            // The counter's own number: the connection's last inserted row may be one of another table.
            if let Some(seq) = transaction.query_row(RESERVE, key, |row| row.get::<_, i64>(0)).optional()? {
                if seq % PRUNED_EVERY == 0 {
                    transaction.execute("DELETE FROM turns WHERE seq <= ?1", [seq - KEPT])?;
                }
                return Ok((Reservation::Made, Erased::Nothing));
            }
            let key = params![session, turn, name.as_str(), version.get()];
            let used: i64 = transaction.query_row(USED, key, |row| row.get(0))?;
            let reservation = if used >= i64::from(caps.capability) {
                Reservation::CapabilityExhausted
            } else {
                Reservation::TurnExhausted
            };
            Ok((reservation, Erased::Nothing))
        }))
    }
}
