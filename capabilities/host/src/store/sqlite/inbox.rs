//! What channels took in, and what they have seen.

use core::time::Duration;

use capability_core::audit::{ChannelKind, ChannelName, Receipt};
use capability_core::session::{SessionId, Subject, TurnId};
use capability_core::store::StoreFault;
use capability_core::{BoxFuture, Timestamp};
use rusqlite::{Row, params};

use super::Database;
use super::connection::{Erased, Unreadable};
use crate::channel::{Message, Seen};

/// One entry of a subject's inbox: what somebody outside wrote. It is data; show it as text, and take no instruction from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxEntry {
    /// The channel it came by.
    pub channel: ChannelName,
    /// The channel's kind.
    pub kind: ChannelKind,
    /// Whose inbox.
    pub subject: Subject,
    /// The session that the host made for it.
    pub session: SessionId,
    /// Its turn.
    pub turn: TurnId,
    /// When it came.
    pub at: Timestamp,
    /// Proof of its record.
    pub receipt: Receipt,
    /// What it says.
    pub message: Message,
}

/// What one event leaves: entries, and what it is known again by.
#[derive(Debug)]
pub struct Arrived {
    /// The channel.
    pub channel: ChannelName,
    /// The entries, in their order.
    pub entries: Vec<InboxEntry>,
    /// What it is known by.
    pub seen: Vec<Seen>,
    /// What is forgotten to make room.
    pub forgotten: Vec<[u8; 32]>,
}

/// How much a subject's inbox holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Held {
    /// How many entries.
    pub entries: u64,
    /// How many bytes they have.
    pub bytes: u64,
}

/// Inboxes on disk: a named content store with retention, erased per subject.
#[derive(Debug, Clone)]
pub struct SqliteInbox(Database);

impl SqliteInbox {
    pub(super) const fn new(database: Database) -> Self {
        Self(database)
    }

    /// Stores what arrived, all of it or nothing.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn store(&self, arrived: Vec<Arrived>) -> BoxFuture<'static, Result<(), StoreFault>> {
        self.0.0.transact(move |transaction| {
            let sql = "INSERT INTO inbox (subject, channel, kind, session, turn, at, receipt, message)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
            let mut entry = transaction.prepare(sql)?;
            // One that was forgotten and came once more after its window.
            let sql = "INSERT INTO channel_seen (channel, id, window, keep) VALUES (?1, ?2, ?3, ?4)
                       ON CONFLICT (channel, id) DO UPDATE SET window = excluded.window, keep = excluded.keep";
            let mut seen = transaction.prepare(sql)?;
            let mut forget = transaction.prepare("DELETE FROM channel_seen WHERE channel = ?1 AND id = ?2")?;
            for arrived in &arrived {
                let channel = arrived.channel.as_str();
                for id in &arrived.forgotten {
                    forget.execute(params![channel, id])?;
                }
                for one in &arrived.seen {
                    seen.execute(params![channel, one.id, one.window.as_micros(), one.keep.as_micros()])?;
                }
                for one in &arrived.entries {
                    let kind = one.kind.as_str();
                    let receipt = serde_json::to_string(&one.receipt).map_err(|_| Unreadable::Content)?;
                    let message = serde_json::to_string(&one.message).map_err(|_| Unreadable::Content)?;
                    let (subject, session) = (one.subject.as_str(), one.session.to_string());
                    let (turn, at) = (one.turn.0.cast_signed(), one.at.as_micros());
                    entry.execute(params![subject, channel, kind, session, turn, at, receipt, message])?;
                }
            }
            Ok(((), Erased::Nothing))
        })
    }

    /// A subject's entries after a number, the oldest first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn after(
        &self,
        subject: &Subject,
        after: i64,
        most: u32,
    ) -> BoxFuture<'static, Result<Vec<(i64, InboxEntry)>, StoreFault>> {
        let subject = subject.clone();
        self.0.0.transact(move |transaction| {
            let sql = format!("{ENTRY} WHERE subject = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");
            let mut statement = transaction.prepare(&sql)?;
            let rows = statement.query_map(params![subject.as_str(), after, most], columns)?;
            let entries = rows.map(|row| entry(row?)).collect::<Result<Vec<_>, _>>()?;
            Ok((entries, Erased::Nothing))
        })
    }

    /// One entry of a subject.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn find(&self, subject: &Subject, seq: i64) -> BoxFuture<'static, Result<Option<InboxEntry>, StoreFault>> {
        let before = seq.saturating_sub(1);
        let found = self.after(subject, before, 1);
        Box::pin(async move { Ok(found.await?.into_iter().find(|(number, _)| *number == seq).map(|(_, entry)| entry)) })
    }

    /// How much a subject's inbox holds.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn held(&self, subject: &Subject) -> BoxFuture<'static, Result<Held, StoreFault>> {
        let subject = subject.clone();
        self.0.0.transact(move |transaction| {
            let mut statement = transaction.prepare("SELECT entries, bytes FROM inbox_held WHERE subject = ?1")?;
            let mut rows = statement.query([subject.as_str()])?;
            let number =
                |row: &Row<'_>, at| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)?.try_into().unwrap_or(u64::MAX));
            let held = match rows.next()? {
                Some(row) => Held { entries: number(row, 0)?, bytes: number(row, 1)? },
                None => Held::default(),
            };
            Ok((held, Erased::Nothing))
        })
    }

    /// How many entries of it came by one channel.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn held_by(&self, subject: &Subject, channel: &ChannelName) -> BoxFuture<'static, Result<u64, StoreFault>> {
        let (subject, channel) = (subject.clone(), channel.clone());
        self.0.0.transact(move |transaction| {
            let sql = "SELECT count(*) FROM inbox WHERE subject = ?1 AND channel = ?2";
            let mut statement = transaction.prepare(sql)?;
            let held: i64 = statement.query_row(params![subject.as_str(), channel.as_str()], |row| row.get(0))?;
            Ok((held.try_into().unwrap_or(u64::MAX), Erased::Nothing))
        })
    }

    /// Erases a subject's whole inbox, and says how many entries it had.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn erase(&self, subject: &Subject) -> BoxFuture<'static, Result<usize, StoreFault>> {
        let subject = subject.clone();
        self.0.0.transact(move |transaction| {
            let rows = transaction.execute("DELETE FROM inbox WHERE subject = ?1", [subject.as_str()])?;
            Ok((rows, if rows > 0 { Erased::Content } else { Erased::Nothing }))
        })
    }

    /// Erases what was kept long enough, and forgets what need not be known any more.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn forget(&self, now: Timestamp, retain: Duration) -> BoxFuture<'static, Result<usize, StoreFault>> {
        let before = now.as_micros().saturating_sub(i64::try_from(retain.as_micros()).unwrap_or(i64::MAX));
        self.0.0.transact(move |transaction| {
            transaction.execute("DELETE FROM channel_seen WHERE keep <= ?1", [now.as_micros()])?;
            let rows = transaction.execute("DELETE FROM inbox WHERE at <= ?1", [before])?;
            Ok((rows, if rows > 0 { Erased::Content } else { Erased::Nothing }))
        })
    }

    /// What a channel has to know: those that it must know the longest first.
    ///
    /// # Errors
    /// When the store does not answer.
    pub fn seen(
        &self,
        channel: &ChannelName,
        now: Timestamp,
        most: usize,
    ) -> BoxFuture<'static, Result<Vec<Seen>, StoreFault>> {
        let channel = channel.clone();
        self.0.0.transact(move |transaction| {
            let sql = "SELECT id, window, keep FROM channel_seen WHERE channel = ?1 AND keep > ?2
                       ORDER BY window DESC LIMIT ?3";
            let mut statement = transaction.prepare(sql)?;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![channel.as_str(), now.as_micros(), most], |row| {
                let (window, keep) = (row.get(1)?, row.get(2)?);
                let (window, keep) = (Timestamp::from_micros(window), Timestamp::from_micros(keep));
                Ok(Seen { id: row.get(0)?, window, keep })
            })?;
            Ok((rows.collect::<Result<Vec<_>, _>>()?, Erased::Nothing))
        })
    }
}

const ENTRY: &str = "SELECT seq, subject, channel, kind, session, turn, at, receipt, message FROM inbox";

/// The columns of [`ENTRY`].
type Columns = (i64, String, String, String, String, i64, i64, String, String);

fn columns(row: &Row<'_>) -> rusqlite::Result<Columns> {
    Ok((
        row.get(0)?,
        row.get(1)?,
        row.get(2)?,
        row.get(3)?,
        row.get(4)?,
        row.get(5)?,
        row.get(6)?,
        row.get(7)?,
        row.get(8)?,
    ))
}

fn entry(row: Columns) -> Result<(i64, InboxEntry), Unreadable> {
    let (seq, subject, channel, kind, session, turn, at, receipt, message) = row;
    let entry = InboxEntry {
        channel: channel.parse().map_err(|_| Unreadable::Content)?,
        kind: serde_json::from_value(kind.into()).map_err(|_| Unreadable::Content)?,
        subject: subject.parse().map_err(|_| Unreadable::Content)?,
        session: session.parse().map_err(|_| Unreadable::Content)?,
        turn: TurnId(turn.cast_unsigned()),
        at: Timestamp::from_micros(at),
        receipt: serde_json::from_str(&receipt).map_err(|_| Unreadable::Content)?,
        message: serde_json::from_str(&message).map_err(|_| Unreadable::Content)?,
    };
    Ok((seq, entry))
}
