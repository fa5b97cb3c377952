//! What isolation costs, as ratios of one run, and how long a body outlives its deadline.
//!
//! Rounds of the floor and of ours are interleaved, and medians compared: a neighbour that takes half the machine for a
//! second changes both sides. With `-- --deadlines` only the deadlines are measured, with `-- --costs` only the costs.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    reason = "a benchmark ends where something is wrong, and prints; bodies here do what no author should"
)]

#[path = "../../../../tests/isolation/bodies.rs"]
#[expect(unsafe_code, dead_code, reason = "the bodies of the tests: raw descriptors, signal masks")]
mod bodies;
mod figures;
mod floor;
mod lab;

use std::hint::black_box;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use capability_core::executor::InlineRunner;
use capability_core::handle::{Http, Read, Workspace};
use capability_core::{Context, Failure, capability};
use capability_host::audit_log::AuditLog;
use capability_host::runner::WorkerRunner;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use tokio::runtime::{Builder, Runtime};

use bodies::Deed;
use figures::{Samples, heading, ratio, spread, told};
use floor::{Echo, Plain};
use lab::{Lab, called, ended, entry, settled};

/// Holds nothing and reads nothing: what a worker may serve again.
#[capability(name = "bench.add", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// The same with a handle: what a worker serves once.
#[capability(name = "bench.once", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
fn once(_context: &Context, a: i64, b: i64) -> i64 {
    a + b
}

/// The same, and it might change something outside.
#[capability(name = "bench.change", version = 1, side_effect = mutating, network = external, bounds(per_turn = 1000))]
fn change(a: i64, b: i64) -> i64 {
    a + b
}

/// Connects as often as one call may, and tells how many nanoseconds each took.
#[capability(name = "bench.connect", version = 1, side_effect = read_only, network = external, target = url(url), bounds(per_turn = 1000))]
async fn connect(http: &Http, url: String) -> Result<Vec<u64>, Failure> {
    let _ = url;
    let (mut held, mut took) = (Vec::new(), Vec::new());
    for _ in 0..CONNECTIONS {
        let begun = Instant::now();
        held.push(http.connect().await?);
        took.push(u64::try_from(begun.elapsed().as_nanos())?);
    }
    Ok(took)
}

/// Reads a file of the workspace several times, and tells how many nanoseconds each took.
#[capability(name = "bench.read", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
async fn read(workspace: &Workspace<Read>) -> Result<Vec<u64>, Failure> {
    let mut took = Vec::new();
    for _ in 0..READS {
        let begun = Instant::now();
        black_box(workspace.read(FILE, 64 * 1024).await?);
        took.push(u64::try_from(begun.elapsed().as_nanos())?);
    }
    Ok(took)
}

/// Does what a body can do wrong.
#[capability(name = "bench.misbehave", version = 1, side_effect = read_only, network = local, bounds(per_turn = 1000))]
async fn misbehave(_context: &Context, deed: Deed) -> Result<String, Failure> {
    bodies::perform(deed).await
}

const CONNECTIONS: usize = 8;
const READS: usize = 16;
/// Below the workspace, of 4 KiB.
const FILE: &str = "a/b/c/file";
const ADD: &[u8] = br#"{"a":40,"b":2}"#;
const GIB: usize = 1 << 30;

/// How often everything is done.
#[derive(Clone, Copy)]
struct Often {
    rounds: u32,
    trials: u32,
}

fn main() {
    capability_host::become_worker();
    Echo::turn_off();
    let said = |wanted: &str| std::env::args().any(|word| word == wanted);
    let arguments: Vec<_> = std::env::args().collect();
    if let Some([_, variant, times]) = arguments.windows(3).find(|words| words[0] == "--count") {
        return current_thread().block_on(count(variant, times.parse().expect("a number")));
    }
    // `cargo test --benches` only wants to know that it runs.
    let often = if said("--test") { Often { rounds: 1, trials: 1 } } else { Often { rounds: 60, trials: 60 } };
    if !said("--deadlines") {
        start_up(often);
        round_trips("current_thread runtime", &current_thread(), often);
        round_trips("multi_thread runtime", &multi_thread(), often);
        around(often);
    }
    if !said("--costs") {
        deadlines(often);
    }
}

/// One variant so many times and nothing else, for a profiler or a counter of instructions.
async fn count(variant: &str, times: u32) {
    let runner = WorkerRunner::new(64, true);
    for _ in 0..times {
        match variant {
            "reused" => called(&runner, entry("bench.add"), ADD).await,
            "single" => {
                settled().await;
                called(&runner, entry("bench.once"), ADD).await
            }
            other => panic!("no variant `{other}`"),
        };
    }
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

/// Until the sandbox is up and was attacked in every way.
fn start_up(often: Often) {
    println!("\nstart-up");
    let mut took = Samples::default();
    for _ in 0..often.rounds.min(5) {
        let runtime = current_thread();
        let begun = Instant::now();
        let runner = WorkerRunner::new(64, true);
        runtime.block_on(async {
            let findings = runner.attest().await.expect("workers").findings();
            took.add(begun.elapsed());
            assert!(!findings.is_empty());
        });
    }
    told("both zygotes and every way out tried, median", &format!("{:.1} ms", took.median() / 1e3));
}

fn round_trips(what: &str, runtime: &Runtime, often: Often) {
    heading(what);
    let mut echo = Echo::start();
    let (mut pings, mut reused, mut single) = <(Samples, Samples, Samples)>::default();
    let (mut reused_half, mut single_half) = <(Samples, Samples)>::default();
    let (mut small, mut large) = <(Samples, Samples)>::default();
    // As a task, since that is what calls of a host are: on a runtime of many threads `block_on` itself is one thread more.
    let measured = runtime.spawn(async move {
        let runner = WorkerRunner::new(64, true);
        for _ in 0..20 {
            called(&runner, entry("bench.add"), ADD).await;
            called(&runner, entry("bench.once"), ADD).await;
            settled().await;
        }
        for _ in 0..often.rounds {
            (0..40).for_each(|_| pings.add(echo.ping()));
            for _ in 0..40 {
                let (took, halfway) = called(&runner, entry("bench.add"), ADD).await;
                reused.add(took);
                reused_half.add(halfway);
            }
            (0..40).for_each(|_| pings.add(echo.ping()));
            for _ in 0..8 {
                settled().await;
                let (took, halfway) = called(&runner, entry("bench.once"), ADD).await;
                single.add(took);
                single_half.add(halfway);
            }
        }
        for _ in 0..often.rounds.min(3) {
            for _ in 0..30 {
                small.add(runner.fork_for_measurement().await.expect("a worker"));
            }
            // Every page of it is touched, and so has an entry in the tables that a fork of this process would copy.
            let resident = black_box(vec![1_u8; if often.rounds > 1 { GIB } else { 1 }]);
            for _ in 0..30 {
                large.add(runner.fork_for_measurement().await.expect("a worker"));
            }
            drop(resident);
        }
        // Read while the runner and its workers are there.
        let idle = idle_workers();
        (pings, reused, reused_half, single, single_half, small, large, idle)
    });
    let (pings, reused, reused_half, single, single_half, small, large, idle) =
        runtime.block_on(measured).expect("it ended");
    ratio("reused worker / ping-pong of two processes", &pings, &reused, Some(4.0));
    ratio("  its preparation alone", &pings, &reused_half, None);
    ratio("single-use worker, warm pool / ping-pong", &pings, &single, Some(10.0));
    ratio("  its preparation alone", &pings, &single_half, None);
    ratio("forking, host of 1 GiB / small host", &small, &large, Some(1.1));
    told("forking a worker to ready: what a refill costs", &format!("{:.0} us", small.median()));
    for [pss, dirty] in idle {
        told("an idle warm worker", &format!("PSS {pss} KiB, private dirty {dirty} KiB"));
    }
}

/// The memory of every process that was forked from a zygote of this one's, in KiB.
fn idle_workers() -> Vec<[u64; 2]> {
    let own = std::process::id();
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let all = std::fs::read_dir("/proc")
        .expect("processes")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let workers = all.filter(|pid| parent(*pid).and_then(parent) == Some(own));
    let measured = workers.filter_map(|pid| {
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let field = |name: &str| {
            rollup.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
        };
        Some([field("Pss:")?, field("Private_Dirty:")?])
    });
    measured.collect()
}

/// Whole calls with their records, and connections that the broker makes.
fn around(often: Often) {
    heading("whole calls and connections, current_thread runtime");
    // Below the working directory: a temporary directory is often in memory, where nothing is durable.
    let dir = tempfile::tempdir_in(".").expect("a directory");
    let (log, _) = AuditLog::open(&dir.path().join("audit")).expect("a log");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let address = listener.local_addr().expect("an address");
    listener.set_nonblocking(true).expect("set");
    let drained = || while listener.accept().is_ok() {};
    let mut plain = Plain::create(&dir.path().join("plain"));
    let (mut syncs, mut whole, mut light) = <(Samples, Samples, Samples)>::default();
    let (mut direct, mut brokered) = <(Samples, Samples)>::default();
    let (mut opened, mut beneath, mut asked, mut lent) = <(Samples, Samples, Samples, Samples)>::default();
    let file = dir.path().join(FILE);
    std::fs::create_dir_all(dir.path().join("a/b/c")).expect("directories");
    std::fs::write(&file, vec![b'x'; 4096]).expect("a file");
    let url = format!(r#"{{"url":"http://{address}/"}}"#);
    current_thread().block_on(async {
        let log = Arc::new(log);
        let lab = Lab::new(dir.path(), Arc::clone(&log) as _, &listener, Arc::new(WorkerRunner::new(64, true)));
        // The same broker and files, and bodies that need no other process to ask it.
        let near = Lab::new(dir.path(), log, &listener, Arc::new(InlineRunner));
        let root = std::fs::File::open(dir.path()).expect("a directory");
        for round in 0..u64::from(often.rounds) * 2 {
            syncs.add(plain.two_lines());
            let (_, took) = lab.resumed("bench.change", ADD, round).await;
            if round > 4 || often.rounds == 1 {
                whole.add(took);
            }
            syncs.add(plain.two_lines());
            light.add(lab.invoked("bench.add", ADD, round).await.1);
            let mut held: Vec<OwnedFd> = Vec::new();
            for _ in 0..CONNECTIONS {
                let begun = Instant::now();
                let stream = tokio::net::TcpStream::connect(address).await.expect("connected");
                held.push(stream.into_std().expect("a stream").into());
                direct.add(begun.elapsed());
            }
            drop(held);
            drained();
            let (result, _) = lab.resumed("bench.connect", url.as_bytes(), round).await;
            let each: Vec<u64> = serde_json::from_str(&result).expect("numbers");
            each.into_iter().for_each(|took| brokered.add_nanoseconds(took));
            drained();
            for _ in 0..READS {
                let begun = Instant::now();
                black_box(std::fs::read(&file).expect("its content"));
                opened.add(begun.elapsed());
                let begun = Instant::now();
                black_box(confined(&root));
                beneath.add(begun.elapsed());
            }
            let (result, _) = near.invoked("bench.read", b"{}", round).await;
            let each: Vec<u64> = serde_json::from_str(&result).expect("numbers");
            each.into_iter().for_each(|took| asked.add_nanoseconds(took));
            let (result, _) = lab.invoked("bench.read", b"{}", round).await;
            let each: Vec<u64> = serde_json::from_str(&result).expect("numbers");
            each.into_iter().for_each(|took| lent.add_nanoseconds(took));
        }
    });
    ratio("whole external call / two lines and fdatasync", &syncs, &whole, Some(1.5));
    ratio("whole read_only, local call / the same", &syncs, &light, None);
    ratio("connect through the broker / direct", &direct, &brokered, Some(1.5));
    ratio("a file of 4 KiB, opened beneath a root / by path", &opened, &beneath, Some(1.1));
    ratio("a file of 4 KiB, by the broker / read here", &opened, &asked, None);
    ratio("a file of 4 KiB, lent to a worker / read here", &opened, &lent, None);
}

/// A file's content as the broker opens it, and nothing else of what the broker does.
fn confined(root: &std::fs::File) -> Vec<u8> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = openat2(root, FILE, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty(), resolve).expect("it opens");
    let mut content = Vec::new();
    std::fs::File::from(opened).read_to_end(&mut content).expect("its content");
    content
}

/// From the deadline until the host says that the body is dead, with both processors busy.
fn deadlines(often: Often) {
    let given = Duration::from_millis(100);
    println!("\ndeadline to dead, both processors loaded, {} trials each", often.trials);
    println!("  {:<46} {:>8} {:>8} {:>8} {:>8}", "milliseconds", "min", "p50", "p90", "max");
    let done = Arc::new(AtomicBool::new(false));
    let load: Vec<_> = (0..2)
        .map(|_| {
            let done = Arc::clone(&done);
            std::thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    core::hint::spin_loop();
                }
            })
        })
        .collect();
    let runtime = current_thread();
    let runner = WorkerRunner::new(64, true);
    let mut all = Samples::default();
    for (deed, what, by_itself) in [
        (Deed::Busy, "busy loop", false),
        (Deed::ReadForever, "blocked read", false),
        (Deed::BusyWithSignalsBlocked, "busy loop, signals blocked", false),
        (Deed::Threads, "flood of spinning threads", false),
        (Deed::Hog, "memory hog", false),
        (Deed::DrippingFrame, "dripping frame", false),
        (Deed::Flood, "flood of output", false),
        (Deed::GiantFrame, "giant frame, from its start", true),
        (Deed::Overflow, "stack overflow, from its start", true),
        (Deed::Abort, "abort, from its start", true),
    ] {
        let arguments = serde_json::to_vec(&serde_json::json!({ "deed": deed })).expect("arguments");
        let mut late = Samples::default();
        for _ in 0..often.trials {
            let took = runtime.block_on(ended(&runner, entry("bench.misbehave"), &arguments, given));
            // What ends by itself before its deadline is late by nothing.
            let took = if by_itself { took } else { took.saturating_sub(given) };
            late.add(took);
            all.add(took);
        }
        spread(what, &late, Some(50.0));
    }
    spread("all of them", &all, Some(50.0));
    done.store(true, Ordering::Relaxed);
    load.into_iter().for_each(|thread| thread.join().expect("it ended"));
}
