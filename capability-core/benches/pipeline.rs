//! The whole pipeline against the floor "parse, call, serialise", small and large, and each stage by itself.
//!
//! `cargo bench -p capability-core --bench pipeline` prints one table of ratios, all measured in one run: rounds of every
//! variant are interleaved and the median is taken, so that a noisy neighbour disturbs all of them alike. The check of the
//! result is measured by itself too, and the ratio is given with and without it. With
//! `-- --count VARIANT N` it runs one variant N times and nothing else, for an instruction counter.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that goes wrong stops, and what it prints is its result"
)]

#[expect(dead_code, reason = "this benchmark uses some of it")]
mod support;

use std::hint::black_box;
use std::time::Instant;

use capability_core::__validation::Validators;
use capability_core::executor::{Invocation, Proposed};
use capability_core::{Outcome, Proposal};
use support::Bench;
use support::calls::{ADD, SEARCH, add_floor, search_floor};

/// Calls of one round: below the caps of one turn.
const ROUND: usize = 100;
const ROUNDS: usize = 400;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|word| word == "--count") {
        let (variant, times) = (&arguments[at + 1], arguments[at + 2].parse().unwrap());
        return runtime.block_on(count(variant, times));
    }
    if arguments.iter().any(|word| word == "--test") {
        return runtime.block_on(async { count("add", 10).await });
    }
    runtime.block_on(table());
}

async fn count(variant: &str, times: usize) {
    let bench = Bench::new();
    for chunk in 0..times.div_ceil(ROUND) {
        let session = bench.session();
        for _ in 0..ROUND.min(times - chunk * ROUND) {
            match variant {
                "add-floor" => drop(black_box(add_floor(black_box(ADD)))),
                "search-floor" => drop(black_box(search_floor(black_box(SEARCH)))),
                "add" => drop(black_box(call(&bench, &session, "bench.add", ADD).await)),
                "search" => drop(black_box(call(&bench, &session, "bench.search", SEARCH).await)),
                other => panic!("no variant `{other}`"),
            }
        }
        bench.sink.clear();
    }
}

async fn call(bench: &Bench, session: &capability_core::Session, name: &str, arguments: &[u8]) -> Outcome {
    let outcome = bench.executor.invoke(session, Proposal::new(name, 1, arguments)).await;
    assert!(outcome.result().is_some(), "{outcome:?}");
    outcome
}

/// Nanoseconds per call of one round.
fn per_call(begun: Instant) -> f64 {
    begun.elapsed().as_nanos() as f64 / ROUND as f64
}

async fn table() {
    let bench = Bench::new();
    println!("{:<12} {:>10} {:>10} {:>8} {:>22}", "call", "floor ns", "ours ns", "ratio", "without result check");
    for (name, arguments, floor) in
        [("bench.add", ADD, add_floor as fn(&[u8]) -> Vec<u8>), ("bench.search", SEARCH, search_floor)]
    {
        let mut floors = Vec::new();
        let mut ours = Vec::new();
        let mut checks = Vec::new();
        let held = bench.executor.registry().iter().find(|held| held.entry().name().as_str() == name).unwrap();
        let validators = Validators::compile(held.schemas().unwrap()).unwrap();
        let result = call(&bench, &bench.session(), name, arguments).await.result().unwrap().to_owned();
        let mut stages: [Vec<f64>; 6] = Default::default();
        for round in 0..ROUNDS {
            let session = bench.session();
            let begun = Instant::now();
            for _ in 0..ROUND {
                drop(black_box(floor(black_box(arguments))));
            }
            floors.push(per_call(begun));
            let begun = Instant::now();
            for _ in 0..ROUND {
                drop(black_box(call(&bench, &session, name, black_box(arguments)).await));
            }
            ours.push(per_call(begun));
            bench.sink.clear();
            let begun = Instant::now();
            for _ in 0..ROUND {
                black_box(validators.result(black_box(result.as_bytes())).is_ok());
            }
            checks.push(per_call(begun));
            if round % 12 == 0 {
                staged(&bench, name, arguments, &mut stages).await;
            }
        }
        let (floor, ours, check) = (median(&mut floors), median(&mut ours), median(&mut checks));
        let without = (ours - check) / floor;
        println!("{name:<12} {floor:>10.0} {ours:>10.0} {:>8.2} {without:>22.2}", ours / floor);
        let names = ["entry+resolve", "validate", "policy", "confirm", "execute", "audit"];
        for (stage, times) in names.iter().zip(&mut stages) {
            let time = median(times);
            println!("  {stage:<14} {time:>8.0} ns {:>8.2} of the floor", time / floor);
        }
        println!("  {:<14} {check:>8.0} ns {:>8.2} of the floor, a part of execute", "result check", check / floor);
    }
}

/// Each stage by itself, a round at a time.
async fn staged(bench: &Bench, name: &str, arguments: &[u8], stages: &mut [Vec<f64>; 6]) {
    let session = bench.session();
    let begun = Instant::now();
    let proposed: Vec<Invocation<Proposed>> = (0..ROUND)
        .map(|_| bench.executor.enter_for_measurement(&session, Proposal::new(name, 1, arguments)).unwrap())
        .collect();
    let resolved: Vec<_> = proposed.into_iter().map(|step| step.resolve().ok().unwrap()).collect();
    stages[0].push(per_call(begun));
    macro_rules! stage {
        ($at:literal, $from:ident, $step:ident) => {{
            let begun = Instant::now();
            let mut next = Vec::with_capacity(ROUND);
            for step in $from {
                next.push(step.$step().await.ok().unwrap());
            }
            stages[$at].push(per_call(begun));
            next
        }};
    }
    let validated = stage!(1, resolved, validate);
    let permitted = stage!(2, validated, permit);
    let confirmed = stage!(3, permitted, confirm);
    let executed = stage!(4, confirmed, execute);
    let begun = Instant::now();
    for step in executed {
        drop(black_box(step.audit().await));
    }
    stages[5].push(per_call(begun));
    bench.sink.clear();
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
