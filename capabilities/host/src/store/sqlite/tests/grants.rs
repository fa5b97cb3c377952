//! What every grant store must do: the same tests against the one in memory and the one on disk.

use core::num::NonZeroU32;
use core::time::Duration;
use std::sync::Arc;

use capability_core::approval::{Grant, GrantEnd, GrantId, GrantScope};
use capability_core::contract::TargetKind;
use capability_core::session::{SessionId, Subject};
use capability_core::store::{Grants, MemoryGrants, Spent};

use super::{MARKER, at, id, sqlite};
use crate::store::sqlite::Database;

fn grant_id(number: u8) -> GrantId {
    GrantId::from_bytes([number; 16])
}

fn grant(number: u8, uses: u32, expires: i64) -> Grant {
    Grant {
        id: grant_id(number),
        subject: "alice".parse().unwrap(),
        session: SessionId::from_bytes([7; 16]),
        capability: "repository.read".to_owned(),
        version: NonZeroU32::MIN,
        scope: GrantScope::Target,
        target: Some((TargetKind::Repository, MARKER.to_owned())),
        granted_by: Subject::local(),
        approval: id(1),
        created_at: at(0),
        expires_at: at(expires),
        max_uses: NonZeroU32::new(uses).unwrap(),
        used: 0,
        last_used_at: None,
        ended: None,
    }
}

async fn both<F: Future<Output = ()>>(test: impl Fn(Arc<dyn Grants>) -> F) {
    test(Arc::new(MemoryGrants::new())).await;
    let (_dir, database) = sqlite();
    test(Arc::new(database.grants())).await;
}

#[tokio::test]
async fn it_is_used_as_often_as_it_may_be_and_not_once_more() {
    both(async |store| {
        store.create(grant(1, 2, 100)).await.unwrap();
        assert_eq!(store.all().await.unwrap(), [grant(1, 2, 100)]);
        assert_eq!(store.spend(grant_id(1), at(5)).await.unwrap(), Spent::Left(1));
        assert_eq!(store.spend(grant_id(1), at(6)).await.unwrap(), Spent::Left(0));
        assert_eq!(store.spend(grant_id(1), at(7)).await.unwrap(), Spent::Not);
        assert_eq!(store.spend(grant_id(9), at(7)).await.unwrap(), Spent::Not);
        let all = store.all().await.unwrap();
        let used = Grant {
            used: 2,
            last_used_at: Some(at(6)),
            ended: Some(GrantEnd::UsedUp),
            target: None,
            ..grant(1, 2, 100)
        };
        assert_eq!(all, [used]);
    })
    .await;
}

#[tokio::test]
async fn what_has_ended_answers_nothing_and_ends_once() {
    both(async |store| {
        store.create(grant(1, 9, 100)).await.unwrap();
        store.create(grant(2, 9, 100)).await.unwrap();
        assert_eq!(store.spend(grant_id(1), at(99)).await.unwrap(), Spent::Left(8));
        assert_eq!(store.spend(grant_id(1), at(100)).await.unwrap(), Spent::Not, "its time is over");
        assert!(store.end(grant_id(2), GrantEnd::Revoked, at(5)).await.unwrap());
        assert!(!store.end(grant_id(2), GrantEnd::Expired, at(6)).await.unwrap());
        assert!(!store.end(grant_id(3), GrantEnd::Revoked, at(6)).await.unwrap());
        assert_eq!(store.spend(grant_id(2), at(7)).await.unwrap(), Spent::Not);
        let all = store.all().await.unwrap();
        assert_eq!(
            all.iter().map(|grant| (grant.id, grant.ended)).collect::<Vec<_>>(),
            [(grant_id(2), Some(GrantEnd::Revoked)), (grant_id(1), None)]
        );
        assert_eq!(all[0].target, None);
        // A day later nothing is left of it.
        let day = i64::try_from(Duration::from_secs(24 * 60 * 60).as_micros()).unwrap();
        let mut later = grant(4, 1, day + 100);
        later.created_at = at(day + 5);
        store.create(later).await.unwrap();
        assert_eq!(store.all().await.unwrap().len(), 2);
    })
    .await;
}

/// A thousand races for the last uses: never one more than there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_those_that_race_exactly_as_many_get_a_use_as_there_are() {
    both(async |store: Arc<dyn Grants>| {
        for run in 0..250_u8 {
            store.create(grant(run, 2, 100)).await.unwrap();
            let racers: Vec<_> = (0..4)
                .map(|racer| {
                    let store = Arc::clone(&store);
                    tokio::spawn(async move {
                        // In every third run somebody takes it back meanwhile.
                        if racer == 3 && run % 3 == 0 {
                            store.end(grant_id(run), GrantEnd::Revoked, at(1)).await.unwrap();
                            return 0;
                        }
                        u32::from(store.spend(grant_id(run), at(1)).await.unwrap() != Spent::Not)
                    })
                })
                .collect();
            let mut spent = 0;
            for racer in racers {
                spent += racer.await.unwrap();
            }
            let found = store.all().await.unwrap().into_iter().find(|found| found.id == grant_id(run)).unwrap();
            assert_eq!(spent, found.used, "run {run}");
            assert!(if run % 3 == 0 { spent <= 2 } else { spent == 2 }, "run {run}: {spent}");
            assert!(found.ended.is_some(), "run {run}");
        }
    })
    .await;
}

/// Whoever gave them is gone with the process: nothing on disk says otherwise at the next start.
#[tokio::test]
async fn a_restart_ends_them_all_and_erases_what_they_were_about() {
    let (dir, database) = sqlite();
    database.grants().create(grant(1, 9, i64::MAX >> 1)).await.unwrap();
    drop(database);
    let database = Database::open(&dir.path().join("state.db")).unwrap();
    let all = database.grants().all().await.unwrap();
    assert_eq!((all[0].ended, &all[0].target), (Some(GrantEnd::Restarted), &None));
    assert_eq!(database.grants().spend(grant_id(1), at(1)).await.unwrap(), Spent::Not);
    drop(database);
    for file in std::fs::read_dir(dir.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes()));
    }
}
