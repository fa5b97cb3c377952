//! Accepted definitions of others' tools.

use std::sync::Arc;

use capability_core::provider::{ProviderType, ToolDefinition};
use capability_core::store::StoreFault;
use capability_core::{BoxFuture, Timestamp};
use rusqlite::{OptionalExtension as _, Transaction, params};

use super::Database;
use super::connection::{Erased, Unreadable};
use crate::provider::Pin;

/// The most tools of one provider that are remembered: one that shows others every time does not fill the database.
const MAX_PINS: i64 = 4000;

/// Definitions on disk.
#[derive(Debug, Clone)]
pub struct SqliteDefinitions(Database);

/// A provider as it is remembered.
#[derive(Debug, Clone)]
pub struct OpenedProvider {
    /// Its number in the store.
    pub number: i64,
    /// What was accepted of it, in the order in which it was first seen.
    pub pins: Vec<Pin>,
}

/// What a listing was found to be.
#[derive(Debug, Clone)]
pub struct Observed {
    /// All that is remembered of the provider now.
    pub pins: Vec<Pin>,
    /// How many tools were seen for the first time.
    pub first: usize,
    /// How many differ from what was accepted, and did not before.
    pub changed: usize,
    /// Whether there was no room for all of them.
    pub is_full: bool,
}

impl SqliteDefinitions {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    /// What is remembered of a provider; A connection of another fingerprint than the
    /// remembered one puts everything that was accepted out of use.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn open(&self, kind: ProviderType, name: &str, connection: [u8; 32]) -> Result<OpenedProvider, StoreFault> {
        let (kind, name) = (kind.as_str(), name.to_owned());
        self.0.0.transact_here(move |transaction| {
            let found = "SELECT number, connection FROM providers WHERE kind = ?1 AND name = ?2";
            let found = transaction
                .query_row(found, params![kind, name], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)));
            let number = match found.optional()? {
                Some((number, before)) if before == connection => number,
                Some((number, _)) => {
                    transaction.execute("UPDATE definitions SET moved = 1 WHERE provider = ?1", [number])?;
                    let update = "UPDATE providers SET connection = ?2 WHERE number = ?1";
                    transaction.execute(update, params![number, connection])?;
                    number
                }
                None => {
                    let insert = "INSERT INTO providers (kind, name, connection) VALUES (?1, ?2, ?3)";
                    transaction.execute(insert, params![kind, name, connection])?;
                    transaction.last_insert_rowid()
                }
            };
            Ok((OpenedProvider { number, pins: pins(transaction, number)? }, Erased::Nothing))
        })
    }

    /// Compares what a provider listed with what was accepted: what is new is accepted, what differs is kept beside it, until an
    /// operator accepts what there is then. One that changed and changed back has changed. `refused` are the names of tools that
    /// are listed in a way that is not taken: those differ, too.
    pub fn observe(
        &self,
        provider: i64,
        listed: Vec<Arc<ToolDefinition>>,
        refused: Vec<String>,
        at: Timestamp,
    ) -> BoxFuture<'static, Result<Observed, StoreFault>> {
        self.0.0.transact(move |transaction| {
            let before = pins(transaction, provider)?;
            let mut room = MAX_PINS - i64::try_from(before.len()).unwrap_or(MAX_PINS);
            let (mut first, mut changed, mut is_full) = (0, 0, false);
            for definition in listed {
                let text = serde_json::to_string(definition.as_ref()).map_err(|_| Unreadable::Content)?;
                match before.iter().find(|pin| pin.accepted.id.native == definition.id.native) {
                    None if room <= 0 => is_full = true,
                    None => {
                        let insert =
                            "INSERT INTO definitions (provider, native, accepted, accepted_at) VALUES (?1, ?2, ?3, ?4)";
                        transaction.execute(insert, params![provider, definition.id.native, text, at.as_micros()])?;
                        room -= 1;
                        first += 1;
                    }
                    Some(pin) => {
                        let before = pin.seen.as_ref().unwrap_or(&pin.accepted);
                        if before.digest() != definition.digest() {
                            changed += usize::from(pin.seen.is_none());
                            transaction.execute(SEEN, params![pin.number, text])?;
                        }
                    }
                }
            }
            let is_refused = |pin: &&Pin| pin.seen.is_none() && refused.contains(&pin.accepted.id.native);
            for pin in before.iter().filter(is_refused) {
                let text = serde_json::to_string(pin.accepted.as_ref()).map_err(|_| Unreadable::Content)?;
                transaction.execute(SEEN, params![pin.number, text])?;
                changed += 1;
            }
            let pins = pins(transaction, provider)?;
            Ok((Observed { pins, first, changed, is_full }, Erased::Nothing))
        })
    }

    /// Accepts what a tool is now, if that is the definition with this digest. Gives all that is remembered of the provider,
    /// or nothing when it is not.
    pub fn accept(
        &self,
        provider: i64,
        native: &str,
        digest: [u8; 32],
        at: Timestamp,
    ) -> BoxFuture<'static, Result<Option<Vec<Pin>>, StoreFault>> {
        let native = native.to_owned();
        self.0.0.transact(move |transaction| {
            let pins_before = pins(transaction, provider)?;
            let pin = pins_before.iter().find(|pin| pin.accepted.id.native == native && pin.is_changed());
            let now = pin.map(|pin| pin.seen.as_ref().unwrap_or(&pin.accepted));
            let (Some(pin), Some(now)) = (pin, now.filter(|now| now.digest() == digest)) else {
                return Ok((None, Erased::Nothing));
            };
            let text = serde_json::to_string(now.as_ref()).map_err(|_| Unreadable::Content)?;
            let update =
                "UPDATE definitions SET accepted = ?2, accepted_at = ?3, seen = NULL, moved = 0 WHERE number = ?1";
            transaction.execute(update, params![pin.number, text, at.as_micros()])?;
            Ok((Some(pins(transaction, provider)?), Erased::Nothing))
        })
    }
}

/// What a provider says of a tool now.
const SEEN: &str = "UPDATE definitions SET seen = ?2 WHERE number = ?1";

fn pins(transaction: &Transaction<'_>, provider: i64) -> Result<Vec<Pin>, Unreadable> {
    let sql = "SELECT number, accepted, accepted_at, seen, moved FROM definitions WHERE provider = ?1 ORDER BY number";
    let mut statement = transaction.prepare(sql)?;
    let rows = statement.query_map([provider], |row| {
        Ok((row.get(0)?, row.get::<_, String>(1)?, row.get(2)?, row.get::<_, Option<String>>(3)?, row.get(4)?))
    })?;
    let definition =
        |text: &str| serde_json::from_str::<ToolDefinition>(text).map(Arc::new).map_err(|_| Unreadable::Content);
    let mut pins = Vec::new();
    for row in rows {
        let (number, accepted, accepted_at, seen, moved) = row?;
        pins.push(Pin {
            number,
            accepted: definition(&accepted)?,
            accepted_at: Timestamp::from_micros(accepted_at),
            seen: seen.as_deref().map(definition).transpose()?,
            moved,
        });
    }
    Ok(pins)
}
