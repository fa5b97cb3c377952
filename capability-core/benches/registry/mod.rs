//! What the number of registered capabilities costs: collecting them at start, and resolving one.
//!
//! Each binary holds one number of entries, since a registry is fixed when it is built. All of them measure the same
//! floor, a look-up in a map of one entry, so that their ratios can be compared; `-- --count N` resolves N times and
//! nothing else, for an instruction counter.

use std::collections::hash_map::RandomState;
use std::hint::black_box;
use std::time::Instant;

use capability_core::__private::{self as p, Definition};
use capability_core::Registry;

#[macro_use]
mod entries;

/// One locked entry of that name.
pub const fn entry(name: &'static str) -> Definition {
    Definition {
        name,
        version: 1,
        description: "An entry that is only counted.",
        side_effect: p::SideEffect::ReadOnly,
        network: p::Network::Local,
        options: p::Options { locked: true, ..p::Options::NONE },
        handles: &[],
        package: env!("CARGO_PKG_NAME"),
        location: p::SourceLocation::here(),
        code: p::Code::locked::<()>(
            |generator| generator.root_schema_for::<()>(),
            |generator| generator.root_schema_for::<()>(),
            |_| (),
        ),
    }
}

/// Prints one line: collecting all, and resolving one as a ratio to the floor.
pub fn measure() {
    let words: Vec<String> = std::env::args().collect();
    let registry = Registry::collect(&["capability-core"]).unwrap();
    let names: Vec<_> = registry.iter().map(|held| held.entry().name().as_str()).collect();
    if let Some(at) = words.iter().position(|word| word == "--count") {
        for turn in 0..words[at + 1].parse::<usize>().unwrap() {
            black_box(registry.resolve(black_box(names[turn % names.len()]), 1)).unwrap();
        }
        return;
    }
    let mut floor: std::collections::HashMap<(&str, u32), usize, RandomState> = std::collections::HashMap::default();
    floor.insert((names[0], 1), 0);
    let collecting = median(50, 1, || drop(black_box(Registry::collect(&["capability-core"]).unwrap())));
    let resolving = median(200, 1000, || {
        for turn in 0..1000 {
            black_box(registry.resolve(black_box(names[turn * 7919 % names.len()]), 1)).unwrap();
        }
    });
    let floor = median(200, 1000, || {
        for _ in 0..1000 {
            black_box(floor.get(black_box(&(names[0], 1)))).unwrap();
        }
    });
    let built = registry.iter().filter(|held| held.is_built()).count();
    println!(
        "{:>6} entries: collected in {:>8.1} us, {built} validators compiled by then; resolve {resolving:>5.1} ns, {:.2} of a look-up in a map of one",
        names.len(),
        collecting / 1000.0,
        resolving / floor
    );
}

/// The median over `rounds`, in nanoseconds per one of `each`.
fn median(rounds: usize, each: u32, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<_> = (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            work();
            begun.elapsed().as_nanos() as f64 / f64::from(each)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
