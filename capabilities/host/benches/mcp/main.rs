//! What a call over MCP costs, beside servers that use the same library and do nothing else, and beside the same host reached
//! without a layer of ours.
//!
//! | server | what a call does |
//! |---|---|
//! | `bare` | parses, calls the function, serialises: nothing is checked, isolated or recorded |
//! | `around` | the same library in front of a host's executor: all six stages, a worker, records |
//! | `ours` | `capability mcp`, `capability serve` |
//!
//! All of them run at the same time, and rounds of calls are interleaved. Processor time is that of the whole tree of a server's
//! processes. Ours to `around` is what our layer adds; ours to `bare` is what all of it costs.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark ends where something is wrong, and prints"
)]

#[path = "../../../../capability-core/benches/support/calls.rs"]
#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "the other benchmarks need more of it, and stop where something is wrong"
)]
mod calls;
mod client;
#[path = "../isolation/figures.rs"]
#[expect(dead_code, reason = "the other benchmark needs more of it")]
mod figures;
mod processes;
mod servers;

use std::process::ExitCode;
use std::time::Duration;

use client::{Client, Http, Lines};
use figures::{Samples, told};
use processes::Tree;
use servers::{Kind, Role, Server};

/// How often everything is done. A turn has at most a thousand calls, and each connection stays below that.
struct Often {
    rounds: usize,
    each: usize,
}

/// How many connections call at a time.
const AT_ONCE: usize = 16;

fn main() -> ExitCode {
    capability_host::become_worker();
    if let Some(role) = Role::of_this_process() {
        return servers::run(role);
    }
    // `cargo test --benches` only wants to know that it runs.
    let test = std::env::args().any(|word| word == "--test");
    let often = if test { Often { rounds: 1, each: 2 } } else { Often { rounds: 30, each: 15 } };
    // Below the working directory: a temporary directory is often in memory, where nothing is durable.
    let dir = tempfile::tempdir_in(".").expect("a directory");
    let program = servers::Program::set_up(dir.path());
    for way in ["lines", "http"] {
        let mut all: Vec<Measured> = Kind::ALL
            .into_iter()
            .map(|kind| {
                let (server, client) = match way {
                    "lines" => program.lines(kind),
                    _ => program.http(kind),
                };
                Measured::new(kind, server, client)
            })
            .collect();
        for tool in ["bench-add", "bench-search"] {
            one_at_a_time(way, tool, &mut all, &often);
        }
        if way == "http" {
            at_once(&program, &all, &often);
        }
    }
    ExitCode::SUCCESS
}

/// One server with one connection.
struct Measured {
    kind: Kind,
    server: Server,
    client: Box<dyn Client>,
    took: Samples,
    /// Microseconds of processor time, and in how many calls.
    spent: (f64, usize),
}

impl Measured {
    fn new(kind: Kind, server: Server, client: Box<dyn Client>) -> Self {
        Self { kind, server, client, took: Samples::default(), spent: (0.0, 0) }
    }

    fn cpu(&self) -> f64 {
        self.spent.0 / self.spent.1.max(1) as f64
    }
}

fn one_at_a_time(way: &str, tool: &str, all: &mut [Measured], often: &Often) {
    for one in all.iter_mut() {
        (one.took, one.spent) = (Samples::default(), (0.0, 0));
        for _ in 0..5 {
            one.client.call(tool);
        }
    }
    for _ in 0..often.rounds {
        for one in all.iter_mut() {
            let mut tree = Tree::of(one.server.pid());
            for _ in 0..often.each {
                one.took.add(one.client.call(tool));
            }
            one.spent.0 += tree.spent();
            one.spent.1 += often.each;
        }
    }
    let [bare, around, ours] = all else { panic!("three servers") };
    println!("\n{way}, {tool}, one call at a time");
    println!("  {:<24} {:>10} {:>10} {:>10} {:>12} {:>12}", "", "bare", "around", "ours", "ours/around", "ours/bare");
    let row = |what: &str, [bare, around, ours]: [f64; 3], target: &str| {
        let (layer, whole) = (ours / around, ours / bare);
        println!("  {what:<24} {bare:>10.1} {around:>10.1} {ours:>10.1} {layer:>12.2} {whole:>12.2}{target}");
    };
    row("median, us", [&*bare, around, ours].map(|one| one.took.median()), "");
    let cpu = [&*bare, around, ours].map(Measured::cpu);
    let target = if cpu[2] <= cpu[1] * 1.1 {
        "   (target of ours/around 1.1: met)"
    } else {
        "   (target of ours/around 1.1: missed)"
    };
    row("processor, us a call", cpu, target);
    told(
        "what our layer adds to the library alone",
        &format!("{:+.1} us of processor, {:.2} of bare", cpu[2] - cpu[1], (cpu[2] - cpu[1]) / cpu[0]),
    );
}

/// Many connections that each wait for their answer before they ask again.
fn at_once(program: &servers::Program, all: &[Measured], often: &Often) {
    println!("\nhttp, bench-add, {AT_ONCE} connections at once");
    println!("  {:<24} {:>10} {:>10} {:>12}", "", "p50 ms", "p99 ms", "calls/s");
    for one in all {
        let calls = often.rounds;
        let begun = std::time::Instant::now();
        let callers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                let mut client: Http = program.another(&one.server);
                std::thread::spawn(move || (0..calls).map(|_| client.call("bench-add")).collect::<Vec<Duration>>())
            })
            .collect();
        let mut took: Vec<Duration> =
            callers.into_iter().flat_map(|caller| caller.join().expect("it called")).collect();
        let rate = took.len() as f64 / begun.elapsed().as_secs_f64();
        took.sort_unstable();
        let at = |part: usize| took[(took.len() - 1) * part / 100].as_secs_f64() * 1e3;
        println!("  {:<24} {:>10.2} {:>10.2} {rate:>12.0}", one.kind.name(), at(50), at(99));
    }
}

/// So that both ways of speaking are one type where they are measured.
fn boxed(client: impl Client + 'static) -> Box<dyn Client> {
    Box::new(client)
}

fn lines(child: &mut std::process::Child) -> Box<dyn Client> {
    boxed(Lines::of(child))
}
