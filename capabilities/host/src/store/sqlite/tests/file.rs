//! What only a store on disk must do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use capability_core::approval::{ApprovalStatus, HistoryEntry};
use capability_core::session::Subject;
use capability_core::store::{Answer, Approvals, Moved};

use super::{MARKER, at, digest, filed, id, sqlite};
use crate::store::sqlite::{Database, DatabaseError};

const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// Whether any file of the directory holds `text`.
fn anywhere(dir: &Path, text: &str) -> bool {
    fs::read_dir(dir).unwrap().any(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn a_restart_keeps_what_waits() {
    let (dir, database) = sqlite();
    let store = database.approvals();
    for number in 1..=3 {
        store.file(filed(number, "alice", 100)).await.unwrap();
    }
    let operator = Subject::local();
    store.answer(id(2), Answer::Approve, &operator, at(1)).await.unwrap();
    let note = Some("no".to_owned());
    store.answer(id(3), Answer::Deny { reason: None, note: note.clone() }, &operator, at(1)).await.unwrap();
    drop((store, database));
    let store = Database::open(&dir.path().join("state.db")).unwrap().approvals();
    let open: Vec<_> = store.open().await.unwrap().iter().map(|found| (found.id, found.status)).collect();
    assert_eq!(open, [(id(1), ApprovalStatus::Pending), (id(2), ApprovalStatus::Approved)]);
    let found = store.find(id(2)).await.unwrap().unwrap().filed.unwrap();
    assert_eq!((found.approval, found.digest), (filed(2, "alice", 100).approval, digest(1)));
    assert_eq!(store.find(id(3)).await.unwrap().unwrap().note, note);
    assert_eq!(store.consume(id(2), digest(1), at(2)).await.unwrap(), Moved::Yes);
}

/// With the last move everything a caller wrote is gone from every file, the write-ahead log included.
#[tokio::test]
async fn what_is_final_leaves_no_trace() {
    for ending in 0..4 {
        let (dir, database) = sqlite();
        let store = database.approvals();
        store.file(filed(1, "alice", 100)).await.unwrap();
        assert!(anywhere(dir.path(), MARKER));
        let operator = Subject::local();
        match ending {
            0 => drop(store.answer(id(1), Answer::Deny { reason: None, note: None }, &operator, at(1)).await.unwrap()),
            1 => {
                store.answer(id(1), Answer::Approve, &operator, at(1)).await.unwrap();
                store.consume(id(1), digest(1), at(1)).await.unwrap();
            }
            2 => drop(store.expire_due(at(100)).await.unwrap()),
            _ => store.withdraw(id(1)).await.unwrap(),
        }
        // The log is truncated after the answer: one more round trip has that behind it.
        store.open().await.unwrap();
        assert!(!anywhere(dir.path(), MARKER), "ending {ending}");
        drop((store, database));
        assert!(!anywhere(dir.path(), MARKER), "ending {ending}");
    }
}

#[tokio::test]
async fn finals_are_found_for_a_day() {
    let (_dir, database) = sqlite();
    let store = database.approvals();
    store.file(filed(1, "alice", 100)).await.unwrap();
    store.file(filed(2, "alice", 10 * DAY)).await.unwrap();
    store.expire_due(at(100)).await.unwrap();
    store.expire_due(at(100 + DAY - 1)).await.unwrap();
    assert!(store.find(id(1)).await.unwrap().is_some());
    store.expire_due(at(100 + DAY)).await.unwrap();
    assert!(store.find(id(1)).await.unwrap().is_none());
    assert!(store.find(id(2)).await.unwrap().is_some());
}

#[tokio::test]
async fn every_file_is_private() {
    let (dir, database) = sqlite();
    database.approvals().file(filed(1, "alice", 100)).await.unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600, "{}", path.display());
    }
}

/// The schema itself refuses what the code must never do.
#[tokio::test]
async fn the_schema_refuses_a_final_approval_with_content() {
    let (dir, database) = sqlite();
    database.approvals().file(filed(1, "alice", 100)).await.unwrap();
    let connection = rusqlite::Connection::open(dir.path().join("state.db")).unwrap();
    for wrong in [
        "UPDATE approvals SET status = 'consumed'",
        "UPDATE approvals SET status = 'consumed', content = NULL",
        "UPDATE approvals SET content = NULL, digest = NULL, finished_at = 1",
        "UPDATE approvals SET status = 'maybe'",
        "UPDATE approvals SET note = 'x'",
        "UPDATE approvals SET expires_at = 'soon'",
    ] {
        assert!(connection.execute(wrong, []).is_err(), "{wrong}");
    }
}

fn refused(path: &Path) -> DatabaseError {
    let error = Database::open(path).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&path.display().to_string()) && text.contains("\nhelp: "), "{text}");
    error
}

/// What waited in a database of the first version goes on waiting: it can be answered and used, and is nobody's repetition.
#[tokio::test]
async fn a_database_of_the_first_version_is_brought_up_to_date() {
    let (dir, database) = sqlite();
    let filed = filed(1, "alice", 100);
    let mut content = serde_json::to_value(&filed.approval).unwrap();
    for later in ["verdict", "grant", "instead_of"] {
        content.as_object_mut().unwrap().remove(later);
    }
    drop(database);
    let path = dir.path().join("state.db");
    fs::remove_file(&path).unwrap();
    {
        let old = rusqlite::Connection::open(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        old.execute_batch(include_str!("../0001.sql")).unwrap();
        old.execute_batch("UPDATE schema_version SET version = 1").unwrap();
        let row = "INSERT INTO approvals (id, status, subject, summary, created_at, expires_at, content, digest, note,
                   finished_at) VALUES (?1, ?2, 'alice', ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let summary = serde_json::to_string(&filed.summary()).unwrap();
        let (created, expires) = (at(0).as_micros(), at(100).as_micros());
        let none: Option<&str> = None;
        old.execute(
            row,
            rusqlite::params![
                id(1).to_string(),
                "pending",
                summary,
                created,
                expires,
                content.to_string(),
                digest(1).as_bytes().as_slice(),
                none,
                none
            ],
        )
        .unwrap();
        let denied = summary.replace(&id(1).to_string(), &id(2).to_string());
        old.execute(
            row,
            rusqlite::params![id(2).to_string(), "denied", denied, created, expires, none, none, "no", created],
        )
        .unwrap();
        old.execute("INSERT INTO journal (subject, session, turn, at, text) VALUES ('alice', '', 1, 1, 'noted')", [])
            .unwrap();
    }
    let database = Database::open(&path).unwrap();
    let store = database.approvals();
    let found = store.find(id(1)).await.unwrap().unwrap();
    let kept = found.filed.unwrap();
    assert_eq!((&kept.approval, kept.digest), (&filed.approval, filed.digest));
    assert_eq!(store.answer(id(1), Answer::Approve, &Subject::local(), at(1)).await.unwrap(), Moved::Yes);
    assert_eq!(store.consume(id(1), digest(1), at(2)).await.unwrap(), Moved::Yes);
    assert_eq!(store.find(id(2)).await.unwrap().unwrap().note.as_deref(), Some("no"));
    let journal = database.journal().newest(&"alice".parse().unwrap(), 9).await.unwrap();
    assert!(matches!(&journal[0].entry, HistoryEntry::Subject { text, .. } if text == "noted"));
}

#[test]
fn a_newer_database_is_not_touched() {
    let (dir, database) = sqlite();
    drop(database);
    let path = dir.path().join("state.db");
    rusqlite::Connection::open(&path).unwrap().execute("UPDATE schema_version SET version = 99", []).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(refused(&path), DatabaseError::Newer { found: 99, known: 8, .. }));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_no_database_of_ours_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        crate::data_dir::write_private(&path, bytes).unwrap();
        path
    };
    assert!(matches!(refused(&write("text", &[b'x'; 4096])), DatabaseError::Corrupt { .. }));
    let foreign = write("foreign", b"");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(matches!(refused(&foreign), DatabaseError::Corrupt { .. }));
    let open = write("open", b"");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(refused(&open), DatabaseError::File(_)));
    let link = dir.path().join("link");
    std::os::unix::fs::symlink(&foreign, &link).unwrap();
    assert!(matches!(refused(&link), DatabaseError::File(_)));
}

/// Damage in any page is refused at the start or answered with a fault, and never with content that was not filed.
#[tokio::test]
async fn damaged_pages_are_refused() {
    let (dir, database) = sqlite();
    for number in 0..40 {
        database.approvals().file(filed(number, "alice", 100)).await.unwrap();
    }
    drop(database);
    let path = dir.path().join("state.db");
    let whole = fs::read(&path).unwrap();
    let mut refusals = 0;
    for page in 0..whole.len() / 4096 {
        let mut bytes = whole.clone();
        bytes[page * 4096..page * 4096 + 128].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        match Database::open(&path) {
            Err(DatabaseError::Corrupt { .. }) => refusals += 1,
            Err(other) => panic!("page {page}: {other}"),
            Ok(database) => {
                for number in 0..40 {
                    if let Ok(Some(found)) = database.approvals().find(id(number)).await {
                        assert_eq!(found.filed.unwrap().approval, filed(number, "alice", 100).approval);
                    }
                }
            }
        }
    }
    assert!(refusals > 2, "{refusals} refusals");
    // Cut off in the middle: refused as well.
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(matches!(refused(&path), DatabaseError::Corrupt { .. }));
}
