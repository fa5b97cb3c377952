//! What the audit log costs, as ratios of one run.
//!
//! Rounds of the floor and of ours are interleaved, and medians compared: a neighbour that takes half the machine for a
//! second changes both sides. The last lines say what each target is and whether it was met.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a benchmark ends where something is wrong, and prints")]

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use capability_core::Stage;
use capability_core::Timestamp;
use capability_core::audit::{Asked, Event, OutcomeKind, Record, Sink};
use capability_core::executor::{Effect, Guarantees};
use capability_core::session::{Mode, Origin, SessionId, SessionIdentity, Subject, TurnId};
use capability_host::audit_log::{AuditLog, tail, verify};

/// The outcome of a call, as long as they are.
fn record(number: u64) -> Record {
    let at = Timestamp::from_micros(4_000_000_000_000_000);
    let identity = SessionIdentity {
        id: SessionId::from_bytes([3; 16]),
        subject: Subject::local(),
        mode: Mode::Live,
        origin: Origin::Model,
        turn: TurnId(number),
    };
    let asked = Asked {
        invocation: format!("{number:032x}").parse().expect("32 digits"),
        capability: None,
        provided: None,
        identity: Arc::new(identity),
    };
    Record {
        at,
        event: Event::Outcome {
            asked,
            outcome: OutcomeKind::Executed,
            stage: Stage::Execute,
            code: None,
            place: None,
            effect: Effect::Completed,
            approval: None,
            result_bytes: Some(4711),
            provider_failed: false,
            duration_us: 1234,
            guarantees: Some(Guarantees::NONE),
        },
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// So many writers, each of which waits for its receipt before it writes again: records a second.
fn writers(log: &Arc<AuditLog>, writers: u64, each: u64) -> f64 {
    let begun = Instant::now();
    runtime().block_on(async {
        let tasks: Vec<_> = (0..writers)
            .map(|writer| {
                let log = Arc::clone(log);
                tokio::spawn(async move {
                    for number in 0..each {
                        log.submit(record(writer * each + number)).durable().await.expect("durable");
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("it ended");
        }
    });
    (writers * each) as f64 / begun.elapsed().as_secs_f64()
}

/// Append and `fdatasync`, and nothing else: records a second.
fn raw(file: &mut File, line: &[u8], count: u64) -> f64 {
    let begun = Instant::now();
    for _ in 0..count {
        file.write_all(line).expect("written");
        file.sync_data().expect("synced");
    }
    count as f64 / begun.elapsed().as_secs_f64()
}

/// The same, on another thread that is asked for each and tells when it is done: what any log with one committing thread
/// costs at least.
fn handed_over(file: &File, line: &[u8], count: u64) -> f64 {
    let mut file = file.try_clone().expect("cloned");
    let (ask, asked) = sync_channel::<tokio::sync::oneshot::Sender<()>>(16);
    let line = line.to_vec();
    let thread = std::thread::spawn(move || {
        while let Ok(done) = asked.recv() {
            file.write_all(&line).expect("written");
            file.sync_data().expect("synced");
            let _ = done.send(());
        }
    });
    let begun = Instant::now();
    runtime().block_on(async {
        for _ in 0..count {
            let (done, told) = tokio::sync::oneshot::channel();
            ask.send(done).expect("asked");
            told.await.expect("told");
        }
    });
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    drop(ask);
    thread.join().expect("it ended");
    rate
}

/// A transaction of 64 rows in SQLite, as durable as ours: rows a second.
fn sqlite(connection: &rusqlite::Connection, line: &str, transactions: u64) -> f64 {
    let mut insert = connection.prepare("INSERT INTO log (line) VALUES (?1)").expect("prepared");
    let begun = Instant::now();
    for _ in 0..transactions {
        connection.execute_batch("BEGIN").expect("begun");
        for _ in 0..64 {
            insert.execute([line]).expect("inserted");
        }
        connection.execute_batch("COMMIT").expect("committed");
    }
    (transactions * 64) as f64 / begun.elapsed().as_secs_f64()
}

/// SQLite behind a thread that commits whatever queued up in one transaction, and as many writers as there are of ours:
/// rows a second.
fn sqlite_writers(path: &Path, line: &str, writers: u64, each: u64) -> f64 {
    let (ask, asked) = sync_channel::<tokio::sync::oneshot::Sender<()>>(1024);
    let (path, line) = (path.to_owned(), line.to_owned());
    let thread = std::thread::spawn(move || {
        let connection = rusqlite::Connection::open(path).expect("opened");
        connection.pragma_update(None, "synchronous", "FULL").expect("FULL");
        let mut insert = connection.prepare("INSERT INTO log (line) VALUES (?1)").expect("prepared");
        while let Ok(first) = asked.recv() {
            let mut batch = vec![first];
            batch.extend(asked.try_iter());
            connection.execute_batch("BEGIN").expect("begun");
            for _ in &batch {
                insert.execute([&line]).expect("inserted");
            }
            connection.execute_batch("COMMIT").expect("committed");
            for done in batch {
                let _ = done.send(());
            }
        }
    });
    let begun = Instant::now();
    runtime().block_on(async {
        let tasks: Vec<_> = (0..writers)
            .map(|_| {
                let ask = ask.clone();
                tokio::spawn(async move {
                    for _ in 0..each {
                        let (done, told) = tokio::sync::oneshot::channel();
                        ask.try_send(done).expect("there is room");
                        told.await.expect("told");
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("it ended");
        }
    });
    let rate = (writers * each) as f64 / begun.elapsed().as_secs_f64();
    drop(ask);
    thread.join().expect("it ended");
    rate
}

/// Hashing a line and a node of the tree, and nothing else: lines a second.
fn hashed(line: &[u8], count: u64) -> f64 {
    use sha2::{Digest as _, Sha256};
    let begun = Instant::now();
    for _ in 0..count {
        let mut leaf = Sha256::new();
        leaf.update([0]);
        leaf.update(std::hint::black_box(line));
        let mut node = Sha256::new();
        node.update([1]);
        node.update(leaf.finalize());
        node.update([7; 32]);
        std::hint::black_box(node.finalize());
    }
    count as f64 / begun.elapsed().as_secs_f64()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}

/// The rate at which `ours` does something over the rate of `theirs`, each the median of interleaved rounds.
fn interleaved(rounds: u32, mut theirs: impl FnMut() -> f64, mut ours: impl FnMut() -> f64) -> (f64, f64) {
    let (floor, own): (Vec<_>, Vec<_>) = (0..rounds).map(|_| (theirs(), ours())).unzip();
    (median(floor), median(own))
}

fn told(what: &str, floor: (&str, f64), ours: (&str, f64), target: f64) {
    let ratio = ours.1 / floor.1;
    let verdict = if ratio >= target { "met" } else { "missed" };
    println!(
        "{what:<34} {:>22} {:>11.0}/s {:>20} {:>11.0}/s   {ratio:>6.2}  (target {target}: {verdict})",
        floor.0, floor.1, ours.0, ours.1
    );
}

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let quick = std::env::args().any(|word| word == "--test");
    let (rounds, many) = if quick { (1, 1) } else { (15, 60) };
    // Below the working directory: a temporary directory is often in memory, where nothing is durable.
    let dir = tempfile::tempdir_in(".").expect("a directory");
    let audit = dir.path().join("audit");
    let (log, _) = AuditLog::open(&audit).expect("opened");
    let log = Arc::new(log);
    writers(&log, 1, 20);
    let mut line = tail(&audit, 1).expect("read").concat();
    println!("a line of {} bytes", line.len() + 1);
    line.push('\n');
    let mut file = OpenOptions::new().append(true).create(true).open(dir.path().join("raw")).expect("opened");

    let (floor, ours) = interleaved(rounds, || raw(&mut file, line.as_bytes(), many), || writers(&log, 1, many));
    told("one writer / append and fdatasync", ("fdatasync", floor), ("one writer", ours), 0.7);
    let (hand, _) = interleaved(rounds, || handed_over(&file, line.as_bytes(), many), || 1.0);
    println!(
        "  the floor with a thread in between: {hand:.0}/s, {:.2} of fdatasync; ours is {:.2} of it",
        hand / floor,
        ours / hand
    );
    let (one, all) = interleaved(rounds.min(7), || writers(&log, 1, many), || writers(&log, 512, many / 3 + 1));
    told("512 writers / one writer", ("one writer", one), ("512 writers", all), 30.0);

    let connection = rusqlite::Connection::open(dir.path().join("rows.db")).expect("opened");
    connection.pragma_update(None, "journal_mode", "WAL").expect("WAL");
    connection.pragma_update(None, "synchronous", "FULL").expect("FULL");
    connection.execute("CREATE TABLE log (seq INTEGER PRIMARY KEY, line TEXT NOT NULL)", []).expect("made");
    let row = line.trim_end();
    let rows = dir.path().join("rows.db");
    let each = many / 2 + 1;
    let (theirs, ours) = interleaved(rounds, || sqlite_writers(&rows, row, 64, each), || writers(&log, 64, each));
    told("64 writers / SQLite, WAL, FULL", ("64 writers", theirs), ("64 writers", ours), 1.5);
    let (alone, _) = interleaved(rounds, || sqlite(&connection, row, each), || 1.0);
    println!("  SQLite with 64 rows at hand in one transaction and nobody to wait for: {alone:.0}/s");
    drop(log);

    let bytes = grown(&audit, if quick { 1000 } else { 400_000 });
    let mut looks = Vec::new();
    let mut records = 0;
    for _ in 0..rounds.min(5) {
        let begun = Instant::now();
        let report = verify(&audit).expect("read");
        assert_eq!(report.exit_code(), 0, "{report}");
        records = report.records;
        looks.push(records as f64 / begun.elapsed().as_secs_f64());
    }
    let rate = median(looks);
    let floor = median((0..5).map(|_| hashed(row.as_bytes(), if quick { 1000 } else { 200_000 })).collect());
    println!("  hashing alone: {floor:.0} records/s, of which verifying reaches {:.2}", rate / floor);
    println!(
        "verify: {records} records, {:.0} MB: {rate:.0} records/s on one core, {:.0} MB/s  (target 1000000: {})",
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 * rate / records as f64,
        if rate >= 1e6 { "met" } else { "missed" }
    );
}

/// Makes a log longer, as fast as it goes, and tells how long it is in bytes.
fn grown(audit: &Path, count: u64) -> u64 {
    let (log, _) = AuditLog::open(audit).expect("opened");
    runtime().block_on(async {
        let mut waiting = std::collections::VecDeque::new();
        for number in 0..count {
            if waiting.len() >= 8192 {
                let first: capability_core::audit::Submission = waiting.pop_front().expect("there");
                first.durable().await.expect("durable");
            }
            waiting.push_back(log.submit(record(number)));
        }
        for last in waiting {
            last.durable().await.expect("durable");
        }
    });
    drop(log);
    std::thread::sleep(Duration::from_millis(10));
    let files = std::fs::read_dir(audit).expect("read").filter_map(Result::ok);
    files.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
}
