//! What it costs to look at foreign text before anything is done with it: a command before it may be started, a message from
//! outside before it is taken in. Rounds of the floor and of ours are interleaved, and medians compared.
//!
//! A command's floor is starting the smallest program there is and waiting for its end; a message's is the hash that proves it
//! and reading its body as JSON.

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a benchmark ends where something is wrong, and prints")]

#[path = "isolation/figures.rs"]
#[expect(dead_code, reason = "the other benchmark needs more of it")]
mod figures;

use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

use capabilities::terminal::guard::{Base, judge_argv, judge_script};
use capability_core::audit::ChannelKind;
use capability_host::channel::verify::laws::{SECRET, look, proven};
use figures::{Samples, heading, ratio, told};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

/// Every command that the guard's own tests have, as a class, a tab and a JSON text.
const CASES: &str = include_str!("../../src/terminal/guard/cases.txt");
const BASE: Base<'_> = Base { root: "/ws", workdir: "." };

fn main() {
    let rounds = if std::env::args().any(|word| word == "--test") { 1 } else { 200 };
    commands(rounds);
    messages(rounds);
}

/// How long something takes once, of so many times.
fn timed(samples: &mut Samples, times: u32, mut once: impl FnMut()) {
    let begun = Instant::now();
    for _ in 0..times {
        once();
    }
    samples.add(begun.elapsed() / times);
}

fn commands(rounds: usize) {
    let scripts: Vec<String> = CASES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| serde_json::from_str(line.split_once('\t')?.1).ok())
        .collect();
    let long = scripts.iter().filter(|script| !script.contains(['\n', '#', '<'])).take(100);
    let long: String = long.map(String::as_str).collect::<Vec<_>>().join("\n");
    let plain: Vec<String> = ["rg", "--line-number", "fn main", "src"].map(str::to_owned).into();
    let (mut started, mut words, mut each, mut large) = <(Samples, Samples, Samples, Samples)>::default();
    for _ in 0..rounds {
        timed(&mut started, 1, || {
            let _ = Command::new("/bin/true").status().expect("it starts");
        });
        timed(&mut words, 100, || drop(black_box(judge_argv(black_box(&plain), BASE))));
        for script in &scripts {
            timed(&mut each, 1, || drop(black_box(judge_script(black_box(script), BASE))));
        }
        timed(&mut large, 1, || drop(black_box(judge_script(black_box(&long), BASE))));
    }
    heading("a command, judged");
    ratio("four words / starting a program", &started, &words, None);
    ratio("a script, the median of all in its tests / the same", &started, &each, None);
    ratio(&format!("a script of {} bytes / the same", long.len()), &started, &large, None);
    told("the slowest script in a hundred", &format!("{:.1} us", each.at(0.99)));
}

fn messages(rounds: usize) {
    let body =
        serde_json::json!({ "number": 7, "text": "x".repeat(512), "from": { "name": "a", "id": 1 } }).to_string();
    let body = body.as_bytes();
    heading("a message of half a KiB, verified");
    for kind in [ChannelKind::Webhook, ChannelKind::Hmac, ChannelKind::Standard, ChannelKind::Github] {
        let mut headers = proven(kind, body, "application/json");
        if kind == ChannelKind::Github {
            let fixed = [("x-github-event", "ping"), ("x-github-delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")];
            headers.extend(capability_host::channel::verify::laws::head(fixed));
        }
        look(kind, &headers, "", body).expect("it is taken in");
        let (mut floor, mut ours) = <(Samples, Samples)>::default();
        for _ in 0..rounds {
            timed(&mut floor, 50, || {
                let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
                mac.update(black_box(body));
                black_box(mac.finalize());
                drop(black_box(serde_json::from_slice::<serde_json::Value>(black_box(body)).expect("JSON")));
            });
            timed(&mut ours, 50, || drop(black_box(look(kind, &headers, "", black_box(body)))));
        }
        ratio(&format!("{kind} / hash and parse"), &floor, &ours, None);
    }
}
