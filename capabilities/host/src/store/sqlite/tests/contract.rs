//! What every approval store must do: the same tests against the one in memory and the one on disk.

use std::sync::Arc;

use capability_core::Code;
use capability_core::approval::{ApprovalStatus, DenialReason, Move, Successor, next_status};
use capability_core::session::Subject;
use capability_core::store::{Answer, Approvals, Filing, Instead, MAX_PENDING_PER_SUBJECT, Moved};

use super::{at, both, digest, filed, id};

fn deny() -> Answer {
    Answer::Deny { reason: Some(DenialReason::NotNow), note: Some("not today".to_owned()) }
}

async fn answer(store: &dyn Approvals, number: u64, answer: Answer, now: i64) -> Moved {
    store.answer(id(number), answer, &Subject::local(), at(now)).await.unwrap()
}

async fn status(store: &dyn Approvals, number: u64) -> ApprovalStatus {
    store.find(id(number)).await.unwrap().unwrap().summary.status
}

#[tokio::test]
async fn what_is_filed_is_found_as_it_was() {
    both(async |store| {
        assert!(store.find(id(1)).await.unwrap().is_none());
        assert_eq!(store.file(filed(1, "alice", 100)).await.unwrap(), Filing::Filed);
        let found = store.find(id(1)).await.unwrap().unwrap();
        let (expected, kept) = (filed(1, "alice", 100), found.filed.unwrap());
        assert_eq!((&kept.approval, kept.digest), (&expected.approval, expected.digest));
        assert_eq!(found.summary.identity, expected.approval.identity);
        assert_eq!((found.summary.status, found.note), (ApprovalStatus::Pending, None));
        assert_eq!((found.summary.created_at, found.summary.expires_at), (at(0), at(100)));
    })
    .await;
}

/// Every status, every move: the store goes where the state machine goes, and nowhere else.
#[tokio::test]
async fn every_move_agrees_with_the_state_machine() {
    both(async |store| {
        let mut number = 0;
        for from in ApprovalStatus::ALL {
            for tried in Move::ALL {
                number += 1;
                store.file(filed(number, "alice", 100)).await.unwrap();
                match from {
                    ApprovalStatus::Pending => {}
                    ApprovalStatus::Approved | ApprovalStatus::Consumed => {
                        assert_eq!(answer(&*store, number, Answer::Approve, 1).await, Moved::Yes);
                    }
                    ApprovalStatus::Denied => assert_eq!(answer(&*store, number, deny(), 1).await, Moved::Yes),
                    ApprovalStatus::Superseded => {
                        let instead = Instead::Refused(Code::SchemaViolation);
                        let moved = store.supersede(id(number), instead, &Subject::local(), at(1)).await.unwrap();
                        assert_eq!(moved, Moved::Yes);
                    }
                    ApprovalStatus::Expired => assert!(store.expire_due(at(100)).await.unwrap().contains(&id(number))),
                }
                if from == ApprovalStatus::Consumed {
                    assert_eq!(store.consume(id(number), digest(1), at(1)).await.unwrap(), Moved::Yes);
                }
                assert_eq!(status(&*store, number).await, from);
                let moved = match tried {
                    Move::Approve => answer(&*store, number, Answer::Approve, 2).await,
                    Move::Deny => answer(&*store, number, deny(), 2).await,
                    Move::Consume => store.consume(id(number), digest(1), at(2)).await.unwrap(),
                    Move::Supersede => {
                        let instead = Instead::Filed(Box::new(filed(1000 + number, "alice", 200)));
                        store.supersede(id(number), instead, &Subject::local(), at(2)).await.unwrap()
                    }
                    Move::Expire => {
                        let due = store.expire_due(at(100)).await.unwrap();
                        if due.contains(&id(number)) { Moved::Yes } else { Moved::Not(from) }
                    }
                };
                let (leads, says) = match next_status(from, tried) {
                    Ok(to) => (to, Moved::Yes),
                    Err(illegal) => (from, Moved::Not(illegal.from)),
                };
                assert_eq!((status(&*store, number).await, moved), (leads, says), "{from} {tried:?}");
                let found = store.find(id(number)).await.unwrap().unwrap();
                assert_eq!(found.filed.is_none(), leads.is_final(), "{from} {tried:?}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_denial_keeps_its_note() {
    both(async |store| {
        store.file(filed(1, "alice", 100)).await.unwrap();
        answer(&*store, 1, deny(), 1).await;
        let found = store.find(id(1)).await.unwrap().unwrap();
        assert_eq!((found.reason, found.note.as_deref()), (Some(DenialReason::NotNow), Some("not today")));
    })
    .await;
}

/// What comes in a pending one's place is there, approved, in the same step; and nothing is when the original has moved.
#[tokio::test]
async fn a_superseded_one_names_what_came_in_its_place() {
    both(async |store| {
        for number in [1, 2, 3] {
            store.file(filed(number, "alice", 100)).await.unwrap();
        }
        let by = |number, instead| store.supersede(id(number), instead, &Subject::local(), at(1));
        let changed = |number| Instead::Filed(Box::new(filed(number, "alice", 200)));
        assert_eq!(by(1, changed(11)).await.unwrap(), Moved::Yes);
        assert_eq!(by(2, Instead::Refused(Code::SchemaViolation)).await.unwrap(), Moved::Yes);
        assert_eq!(answer(&*store, 3, deny(), 1).await, Moved::Yes);
        assert_eq!(by(3, changed(13)).await.unwrap(), Moved::Not(ApprovalStatus::Denied));
        assert_eq!(by(1, changed(12)).await.unwrap(), Moved::Not(ApprovalStatus::Superseded));
        assert_eq!(by(4, changed(14)).await.unwrap(), Moved::Unknown);
        let found = async |number| store.find(id(number)).await.unwrap();
        let (one, two) = (found(1).await.unwrap(), found(2).await.unwrap());
        assert_eq!((one.successor, one.filed.is_none()), (Some(Successor::By(id(11))), true));
        assert_eq!((two.successor, two.filed.is_none()), (Some(Successor::Refused(Code::SchemaViolation)), true));
        assert_eq!(status(&*store, 11).await, ApprovalStatus::Approved);
        assert_eq!(store.consume(id(11), digest(1), at(2)).await.unwrap(), Moved::Yes);
        for none in [12, 13, 14] {
            assert!(found(none).await.is_none());
        }
        // Too late is too late here as well.
        store.file(filed(5, "alice", 100)).await.unwrap();
        let late = store.supersede(id(5), changed(15), &Subject::local(), at(100)).await.unwrap();
        assert_eq!((late, found(15).await.is_none()), (Moved::Not(ApprovalStatus::Expired), true));
    })
    .await;
}

#[tokio::test]
async fn it_expires_at_its_time_and_not_before() {
    both(async |store| {
        for number in [1, 2] {
            store.file(filed(number, "alice", 100)).await.unwrap();
        }
        assert_eq!(answer(&*store, 1, Answer::Approve, 99).await, Moved::Yes);
        assert!(store.expire_due(at(99)).await.unwrap().is_empty());
        let expired = Moved::Not(ApprovalStatus::Expired);
        assert_eq!(store.consume(id(1), digest(1), at(100)).await.unwrap(), expired);
        assert_eq!(answer(&*store, 2, Answer::Approve, 100).await, expired);
        assert_eq!(answer(&*store, 2, deny(), 100).await, expired);
        // A move that comes too late changes nothing, so that each expiry is told once, here.
        assert_eq!(store.expire_due(at(100)).await.unwrap(), [id(1), id(2)]);
        for number in [1, 2] {
            let found = store.find(id(number)).await.unwrap().unwrap();
            assert!(found.summary.status == ApprovalStatus::Expired && found.filed.is_none());
        }
        assert!(store.expire_due(at(100)).await.unwrap().is_empty());
        assert!(store.open().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_mismatch_burns_nothing() {
    both(async |store| {
        store.file(filed(1, "alice", 100)).await.unwrap();
        assert_eq!(store.consume(id(1), digest(2), at(1)).await.unwrap(), Moved::Mismatch);
        assert_eq!(store.consume(id(1), digest(1), at(1)).await.unwrap(), Moved::Not(ApprovalStatus::Pending));
        answer(&*store, 1, Answer::Approve, 1).await;
        for _ in 0..3 {
            assert_eq!(store.consume(id(1), digest(2), at(2)).await.unwrap(), Moved::Mismatch);
            assert_eq!(status(&*store, 1).await, ApprovalStatus::Approved);
        }
        assert_eq!(store.consume(id(1), digest(1), at(3)).await.unwrap(), Moved::Yes);
        assert_eq!(store.consume(id(1), digest(1), at(3)).await.unwrap(), Moved::Not(ApprovalStatus::Consumed));
        assert_eq!(store.consume(id(2), digest(1), at(3)).await.unwrap(), Moved::Unknown);
        assert_eq!(answer(&*store, 2, Answer::Approve, 3).await, Moved::Unknown);
    })
    .await;
}

#[tokio::test]
async fn only_so_many_wait_for_one_subject() {
    both(async |store| {
        let most = MAX_PENDING_PER_SUBJECT as u64;
        for number in 0..most {
            assert_eq!(store.file(filed(number, "alice", 100)).await.unwrap(), Filing::Filed);
        }
        assert_eq!(store.file(filed(most, "alice", 100)).await.unwrap(), Filing::TooManyPending);
        assert!(store.find(id(most)).await.unwrap().is_none());
        assert_eq!(store.file(filed(most + 1, "bob", 100)).await.unwrap(), Filing::Filed);
        // What is answered waits no more.
        answer(&*store, 3, Answer::Approve, 1).await;
        assert_eq!(store.file(filed(most + 2, "alice", 100)).await.unwrap(), Filing::Filed);
        assert_eq!(store.file(filed(most + 3, "alice", 100)).await.unwrap(), Filing::TooManyPending);
        let open = store.open().await.unwrap();
        let order: Vec<_> = (0..most).chain([most + 1, most + 2]).map(id).collect();
        assert_eq!(open.iter().map(|summary| summary.id).collect::<Vec<_>>(), order);
    })
    .await;
}

#[tokio::test]
async fn what_is_withdrawn_is_gone() {
    both(async |store| {
        store.file(filed(1, "alice", 100)).await.unwrap();
        store.file(filed(2, "alice", 100)).await.unwrap();
        store.withdraw(id(1)).await.unwrap();
        store.withdraw(id(1)).await.unwrap();
        assert!(store.find(id(1)).await.unwrap().is_none());
        assert_eq!(answer(&*store, 1, Answer::Approve, 1).await, Moved::Unknown);
        assert_eq!(store.open().await.unwrap().len(), 1);
    })
    .await;
}

/// Of everything that races for one move, exactly one wins, a thousand times over.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn races_have_one_winner() {
    both(async |store: Arc<dyn Approvals>| {
        let mut wins = [0_u32; 3];
        for run in 0..1000_u64 {
            let step = i64::try_from(run).unwrap() * 10;
            store.file(filed(run, "alice", step + 5)).await.unwrap();
            // Even runs race for a person's answer, odd ones for the approval.
            let approved = run % 2 == 1;
            if approved {
                assert_eq!(answer(&*store, run, Answer::Approve, step).await, Moved::Yes);
            }
            let racer = |what: usize| {
                let store = Arc::clone(&store);
                tokio::spawn(async move {
                    match (what, approved) {
                        (2, _) => store.expire_due(at(step + 5)).await.unwrap().contains(&id(run)),
                        (_, true) => store.consume(id(run), digest(1), at(step + 4)).await.unwrap() == Moved::Yes,
                        (_, false) => answer(&*store, run, deny(), step + 4).await == Moved::Yes,
                    }
                })
            };
            let racers = if run % 3 == 0 { [2, 1, 0] } else { [0, 1, 2] }.map(|what| (what, racer(what)));
            let mut winners = Vec::new();
            for (what, racing) in racers {
                if racing.await.unwrap() {
                    winners.push(what);
                }
            }
            assert_eq!(winners.len(), 1, "run {run}: {winners:?}");
            wins[winners[0]] += 1;
            assert!(status(&*store, run).await.is_final());
        }
        assert_eq!(wins.iter().sum::<u32>(), 1000);
    })
    .await;
}

/// Approve and deny at the same time: the store keeps the answer of whoever was told yes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_answers_race() {
    both(async |store: Arc<dyn Approvals>| {
        for run in 0..1000_u64 {
            store.file(filed(run, "alice", 100)).await.unwrap();
            let racer = |given: Answer| {
                let store = Arc::clone(&store);
                tokio::spawn(async move { answer(&*store, run, given, 1).await })
            };
            let (yes, no) = (racer(Answer::Approve), racer(deny()));
            let (yes, no) = (yes.await.unwrap(), no.await.unwrap());
            let expected = match (yes, no) {
                (Moved::Yes, Moved::Not(ApprovalStatus::Approved)) => ApprovalStatus::Approved,
                (Moved::Not(ApprovalStatus::Denied), Moved::Yes) => ApprovalStatus::Denied,
                other => panic!("run {run}: {other:?}"),
            };
            assert_eq!(status(&*store, run).await, expected);
            store.withdraw(id(run)).await.unwrap();
        }
    })
    .await;
}
