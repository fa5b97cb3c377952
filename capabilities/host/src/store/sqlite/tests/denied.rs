//! What both approval stores remember beside what waits: how often people said no, and what was used.

use core::time::Duration;
use std::sync::Arc;

use capability_core::approval::{DENIALS_LAPSE, Filed, InvocationDigest};
use capability_core::session::Subject;
use capability_core::store::{Answer, Approvals, Filing, Instead, MemoryApprovals, Moved};

use super::{MARKER, at, both, digest, filed, id, sqlite};
use crate::store::sqlite::Database;

const HOUR: i64 = DENIALS_LAPSE.as_micros() as i64;

/// The same call of a subject, under another id and at another time.
fn again(number: u64, subject: &str, now: i64) -> Filed {
    let mut again = filed(number, subject, now + 100);
    again.approval.created_at = at(now);
    again.repeated = InvocationDigest::from_bytes([if subject == "alice" { 1 } else { 2 }; 32]);
    again
}

async fn answered(store: &dyn Approvals, number: u64, answer: Answer, now: i64) {
    assert_eq!(store.answer(id(number), answer, &Subject::local(), at(now)).await.unwrap(), Moved::Yes);
}

fn deny() -> Answer {
    Answer::Deny { reason: None, note: None }
}

#[tokio::test]
async fn the_fourth_time_nobody_is_asked_until_it_lapses_or_is_cleared() {
    both(async |store| {
        let mut number = 0;
        let mut ask = async |subject: &str, now: i64| {
            number += 1;
            (store.file(again(number, subject, now)).await.unwrap(), number)
        };
        for turn in 0..3 {
            let (filing, number) = ask("alice", turn * 1000).await;
            assert_eq!(filing, Filing::Filed, "{turn}");
            answered(&*store, number, deny(), turn * 1000 + 1).await;
        }
        for now in [2002, HOUR, HOUR + 2000] {
            assert_eq!(ask("alice", now).await.0, Filing::DenialLoop, "{now}");
        }
        // Nobody else is meant, and nothing of it is kept but its count.
        assert_eq!(ask("bob", 3000).await.0, Filing::Filed);
        let loops = store.denial_loops(at(3000)).await.unwrap();
        assert_eq!((loops.len(), loops[0].denials, loops[0].subject.as_str()), (1, 3, "alice"));
        assert_eq!((loops[0].last_at, loops[0].until), (at(2001), at(2001 + HOUR)));
        assert!(store.denial_loops(at(2001 + HOUR)).await.unwrap().is_empty());
        // It lapses an hour after the last denial, and begins anew then.
        let (filing, number) = ask("alice", 2001 + HOUR).await;
        assert_eq!(filing, Filing::Filed);
        answered(&*store, number, deny(), 2002 + HOUR).await;
        assert_eq!(ask("alice", 2003 + HOUR).await.0, Filing::Filed);
    })
    .await;
}

#[tokio::test]
async fn a_yes_and_an_operator_clear_the_count() {
    both(async |store| {
        let mut number = 0;
        let deny_twice = async |number: &mut u64| {
            for _ in 0..2 {
                *number += 1;
                assert_eq!(store.file(again(*number, "alice", 0)).await.unwrap(), Filing::Filed);
                answered(&*store, *number, deny(), 1).await;
            }
        };
        deny_twice(&mut number).await;
        number += 1;
        store.file(again(number, "alice", 0)).await.unwrap();
        answered(&*store, number, Answer::Approve, 1).await;
        deny_twice(&mut number).await;
        // A call that an operator put in another one's place is a yes as well.
        number += 2;
        store.file(filed(number, "alice", 100)).await.unwrap();
        let changed = Instead::Filed(Box::new(again(number - 1, "alice", 0)));
        assert_eq!(store.supersede(id(number), changed, &Subject::local(), at(1)).await.unwrap(), Moved::Yes);
        deny_twice(&mut number).await;
        assert_eq!(store.clear_denials(&"bob".parse().unwrap()).await.unwrap(), 0);
        assert_eq!(store.clear_denials(&"alice".parse().unwrap()).await.unwrap(), 1);
        deny_twice(&mut number).await;
    })
    .await;
}

/// Of many that ask at once after the third denial, none gets a card.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_race_gets_a_card_out_of_a_loop() {
    both(async |store: Arc<dyn Approvals>| {
        for number in 0..3 {
            store.file(again(number, "alice", 0)).await.unwrap();
            answered(&*store, number, deny(), 1).await;
        }
        let racers: Vec<_> = (3..100)
            .map(|number| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { store.file(again(number, "alice", 2)).await.unwrap() })
            })
            .collect();
        for racer in racers {
            assert_eq!(racer.await.unwrap(), Filing::DenialLoop);
        }
        assert!(store.open().await.unwrap().is_empty());
    })
    .await;
}

async fn used(store: &dyn Approvals, number: u64, subject: &str, now: i64) {
    store.file(filed(number, subject, now + 100)).await.unwrap();
    answered(store, number, Answer::Approve, now).await;
    assert_eq!(store.consume(id(number), digest(1), at(now)).await.unwrap(), Moved::Yes);
}

const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

#[tokio::test]
async fn what_was_used_is_retained_where_that_was_asked_for() {
    let (_dir, database) = sqlite();
    let stores: [Arc<dyn Approvals>; 2] =
        [Arc::new(MemoryApprovals::retaining(WEEK)), Arc::new(database.approvals_retaining(Some(WEEK)))];
    let version = core::num::NonZeroU32::MIN;
    let (alice, bob): (Subject, Subject) = ("alice".parse().unwrap(), "bob".parse().unwrap());
    for store in stores {
        for (number, subject) in [(1, "alice"), (2, "alice"), (3, "bob")] {
            used(&*store, number, subject, i64::try_from(number).unwrap() * 10).await;
        }
        // Denied and expired ones are gone.
        store.file(filed(4, "alice", 100)).await.unwrap();
        answered(&*store, 4, deny(), 50).await;
        let last = store.last_approved(&alice, "web.search", version).await.unwrap().unwrap();
        assert_eq!((last.approval, last.at, &last.subject), (id(2), at(20), &alice));
        assert_eq!(last.arguments, filed(2, "alice", 0).approval.arguments);
        assert_eq!(last.target, filed(2, "alice", 0).approval.target);
        let two = core::num::NonZeroU32::new(2).unwrap();
        assert_eq!(store.last_approved(&alice, "web.search", two).await.unwrap(), None);
        let newest = |limit| store.past_calls("web.search", limit);
        let ids = |calls: Vec<capability_core::approval::PastCall>| -> Vec<_> {
            calls.iter().map(|call| call.approval).collect()
        };
        assert_eq!(ids(newest(2).await.unwrap()), [id(3), id(2)]);
        assert!(store.past_calls("web.fetch", 9).await.unwrap().is_empty());
        // The time that it is retained for, to the microsecond.
        let week = i64::try_from(WEEK.as_micros()).unwrap();
        store.expire_due(at(week + 9)).await.unwrap();
        assert_eq!(newest(9).await.unwrap().len(), 3);
        store.expire_due(at(week + 10)).await.unwrap();
        assert_eq!(ids(newest(9).await.unwrap()), [id(3), id(2)]);
        assert_eq!(store.erase_retained(Some(&bob)).await.unwrap(), 1);
        assert_eq!(ids(newest(9).await.unwrap()), [id(2)]);
        assert_eq!(store.erase_retained(None).await.unwrap(), 1);
        assert!(newest(9).await.unwrap().is_empty());
    }
}

/// Off is off: nothing is kept, and what an earlier setting kept goes with the first look, out of the files as well.
#[tokio::test]
async fn without_the_setting_nothing_is_retained() {
    both(async |store| {
        used(&*store, 1, "alice", 1).await;
        assert!(store.past_calls("web.search", 9).await.unwrap().is_empty());
    })
    .await;
    let (dir, database) = sqlite();
    let retaining = database.approvals_retaining(Some(WEEK));
    used(&retaining, 1, "alice", 1).await;
    // The log is truncated after the answer: one more round trip has that behind it, and nothing moves while files are read.
    retaining.open().await.unwrap();
    let holds = || {
        std::fs::read_dir(dir.path()).unwrap().any(|file| {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes())
        })
    };
    assert!(holds());
    drop((retaining, database));
    let database = Database::open(&dir.path().join("state.db")).unwrap();
    let store = database.approvals();
    // Whatever the clock says meanwhile.
    store.expire_due(at(-1)).await.unwrap();
    assert!(store.past_calls("web.search", 9).await.unwrap().is_empty());
    drop((store, database));
    assert!(!holds());
}
