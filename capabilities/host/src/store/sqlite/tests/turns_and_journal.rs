use std::sync::Arc;

use capability_core::contract::CapabilityName;
use capability_core::handle::{BrokerFault, MAX_ENTRIES_PER_TURN, MAX_ENTRY_BYTES};
use capability_core::registry::Registry;
use capability_core::session::{SessionId, SessionIdentity, Subject, TurnId};
use capability_core::store::{MemoryTurns, Reservation, TurnCaps, Turns};

use super::{at, identity, sqlite};
use crate::store::sqlite::Database;
use capability_core::approval::{DenialReason, HistoryEntry, OperatorAct, OperatorDeed};
use capability_core::store::History;

fn names() -> [CapabilityName; 2] {
    let registry = Registry::collect(&["capability-host", "capabilities"]).unwrap();
    let mut names = registry.iter().map(|held| held.entry().name());
    [names.next().unwrap(), names.next().unwrap()]
}

fn session(byte: u8) -> SessionId {
    SessionId::from_bytes([byte; 16])
}

async fn reserve(
    turns: &dyn Turns,
    session: SessionId,
    turn: u64,
    name: CapabilityName,
    caps: (u32, u32),
) -> Reservation {
    let caps = TurnCaps { capability: caps.0, total: caps.1 };
    turns.reserve(session, TurnId(turn), (name, core::num::NonZeroU32::MIN), caps).await.unwrap()
}

#[tokio::test]
async fn both_caps_hold() {
    let (_dir, database) = sqlite();
    let stores: [Arc<dyn Turns>; 2] = [Arc::new(MemoryTurns::new()), Arc::new(database.turns())];
    let [one, two] = names();
    for turns in stores {
        let turns = &*turns;
        assert_eq!(reserve(turns, session(1), 1, one, (0, 9)).await, Reservation::CapabilityExhausted);
        assert_eq!(reserve(turns, session(1), 1, one, (2, 3)).await, Reservation::Made);
        assert_eq!(reserve(turns, session(1), 1, one, (2, 3)).await, Reservation::Made);
        assert_eq!(reserve(turns, session(1), 1, one, (2, 3)).await, Reservation::CapabilityExhausted);
        assert_eq!(reserve(turns, session(1), 1, two, (2, 3)).await, Reservation::Made);
        assert_eq!(reserve(turns, session(1), 1, two, (2, 3)).await, Reservation::TurnExhausted);
        assert_eq!(reserve(turns, session(1), 1, two, (9, 3)).await, Reservation::TurnExhausted);
        for (session, turn) in [(session(1), 2), (session(2), 1), (session(1), u64::MAX)] {
            assert_eq!(reserve(turns, session, turn, one, (1, 1)).await, Reservation::Made);
            assert_eq!(reserve(turns, session, turn, two, (1, 1)).await, Reservation::TurnExhausted);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_those_that_race_exactly_the_cap_gets_one() {
    let (dir, database) = sqlite();
    let turns = Arc::new(database.turns());
    let [one, _] = names();
    let racers: Vec<_> = (0..100)
        .map(|_| {
            let turns = Arc::clone(&turns);
            tokio::spawn(async move { reserve(&*turns, session(1), 1, one, (7, 32)).await })
        })
        .collect();
    let mut made = 0;
    for racer in racers {
        made += u32::from(racer.await.unwrap() == Reservation::Made);
    }
    assert_eq!(made, 7);
    drop((turns, database));
    let turns = Database::open(&dir.path().join("state.db")).unwrap().turns();
    assert_eq!(reserve(&turns, session(1), 1, one, (7, 32)).await, Reservation::CapabilityExhausted);
}

/// Old counters are looked for by the counters' own numbers: journals and approvals, which a proposer makes grow, number
/// their rows as well, and do not make a turn forget what it used.
#[tokio::test]
async fn what_else_is_stored_makes_no_turn_forget_what_it_used() {
    let (_dir, database) = sqlite();
    let turns = database.turns();
    let [one, two] = names();
    assert_eq!(reserve(&turns, session(1), 1, one, (2, 3)).await, Reservation::Made);
    let appended = database.0.transact(|transaction| {
        let row =
            "INSERT INTO journal (seq, subject, session, turn, at, text) VALUES (1024 * 1024, 'a', 's', 1, 0, '')";
        Ok((transaction.execute(row, [])?, crate::store::sqlite::connection::Erased::Nothing))
    });
    assert_eq!(appended.await, Ok(1));
    assert_eq!(reserve(&turns, session(1), 1, one, (2, 3)).await, Reservation::Made);
    assert_eq!(reserve(&turns, session(1), 1, one, (2, 3)).await, Reservation::CapabilityExhausted);
    assert_eq!(reserve(&turns, session(1), 1, two, (2, 3)).await, Reservation::Made);
    assert_eq!(reserve(&turns, session(1), 1, two, (2, 3)).await, Reservation::TurnExhausted);
}

#[tokio::test]
async fn a_journal_is_capped_and_append_only() {
    let (dir, database) = sqlite();
    let journal = database.journal();
    let who = identity("alice");
    let text = |bytes: usize| "é".repeat(bytes / 2) + &"x".repeat(bytes % 2);
    assert_eq!(journal.append(&who, at(0), text(MAX_ENTRY_BYTES + 1)).await, Err(BrokerFault::CapExceeded));
    for entry in 0..MAX_ENTRIES_PER_TURN {
        journal.append(&who, at(entry.into()), text(MAX_ENTRY_BYTES)).await.unwrap();
    }
    assert_eq!(journal.append(&who, at(9), "one more".into()).await, Err(BrokerFault::CapExceeded));
    let later = SessionIdentity { turn: TurnId(1), ..who.clone() };
    journal.append(&later, at(10), "later".into()).await.unwrap();
    journal.append(&identity("bob"), at(11), "bob's".into()).await.unwrap();
    let alice: Subject = "alice".parse().unwrap();
    let newest = journal.newest(&alice, 2).await.unwrap();
    assert_eq!(newest.len(), 2);
    assert_eq!(newest[1].entry, HistoryEntry::Subject { at: at(10), text: "later".to_owned() });
    let other = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    assert!(other.execute("UPDATE journal SET text = 'x'", []).unwrap_err().to_string().contains("append-only"));
    assert_eq!(journal.erase(&alice).await.unwrap(), 9);
    assert!(journal.newest(&alice, 10).await.unwrap().is_empty());
    assert_eq!(journal.newest(&"bob".parse().unwrap(), 10).await.unwrap().len(), 1);
}

/// What an operator did stands in the same journal: nobody's cap counts it, and no text that a subject writes becomes one.
#[tokio::test]
async fn an_operators_act_is_told_and_cannot_be_forged() {
    let (dir, database) = sqlite();
    let journal = database.journal();
    let act = OperatorAct {
        subject: "alice".parse().unwrap(),
        at: at(5),
        deed: OperatorDeed::Denied,
        capability: "web.search".to_owned(),
        version: core::num::NonZeroU32::MIN,
        reason: Some(DenialReason::TooBroad),
        note: Some("one query at a time".to_owned()),
    };
    let forged = serde_json::to_string(&HistoryEntry::Operator(act.clone())).unwrap();
    let plain = serde_json::to_string(&act).unwrap();
    journal.tell(act.clone()).await.unwrap();
    for text in [&forged, &plain] {
        journal.append(&identity("alice"), at(6), text.clone()).await.unwrap();
    }
    for entry in 2..MAX_ENTRIES_PER_TURN {
        journal.append(&identity("alice"), at(entry.into()), "x".to_owned()).await.unwrap();
    }
    let told: Vec<_> = History::newest(&journal, &act.subject, 3).await.unwrap();
    assert_eq!(told.len(), 3);
    let all = History::newest(&journal, &act.subject, 100).await.unwrap();
    let acts: Vec<_> = all.iter().filter(|entry| matches!(entry, HistoryEntry::Operator(_))).collect();
    assert_eq!(acts, [&HistoryEntry::Operator(act.clone())]);
    assert_eq!(all[1], HistoryEntry::Subject { at: at(6), text: forged });
    assert!(History::newest(&journal, &"bob".parse().unwrap(), 9).await.unwrap().is_empty());
    let other = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    assert!(
        other.execute("UPDATE journal SET author = 'operator'", []).unwrap_err().to_string().contains("append-only")
    );
}
