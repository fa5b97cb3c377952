//! What it costs to take secrets out of a text, as ratios to copying it.
//!
//! `cargo bench -p capability-core --bench redact` prints one line for each: the median of nine runs. The floor is one copy of
//! the same text into room that is there.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "what a benchmark prints is its result")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use capability_core::redact::{Redactor, WITHHELD};

const RUNS: usize = 9;
const SECRETS: usize = 20;
/// What a command writes at a time.
const PIECE: usize = 8192;

fn main() {
    let size = if std::env::args().any(|word| word == "--test") { 1 << 16 } else { 1 << 22 };
    let secrets: Vec<String> = (0..SECRETS).map(|nth| format!("ghp_{nth:02}Xq7/{}+k=", "bZ3w9_".repeat(4))).collect();
    let redactor = Arc::new(Redactor::new(secrets.iter().map(String::as_str)));
    let log =
        text(size, "2026-11-30T12:00:00Z INFO request served path=/api/v1/items status=200 took=12ms bytes=5120\n");
    let packed =
        text(size, "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg\n");

    println!("{SECRETS} secrets; `copy` is one copy of the same {size} bytes");
    for (name, text) in [("a log", &log), ("base64 in lines", &packed)] {
        let mut into = vec![0; text.len()];
        let copy = median(|| into.copy_from_slice(black_box(text.as_bytes())));
        let mut grown = Vec::new();
        let written = median(|| {
            grown = Vec::new();
            text.as_bytes().chunks(PIECE).for_each(|piece| grown.extend_from_slice(black_box(piece)));
        });
        let whole = median(|| assert_ne!(black_box(redactor.text(black_box(text))), WITHHELD));
        let document = serde_json::to_string(text).expect("a text is JSON");
        let json = median(|| drop(black_box(redactor.json(black_box(&document)))));
        let mut out = Vec::new();
        let streamed = median(|| {
            out = Vec::new();
            let mut stream = redactor.stream();
            text.as_bytes().chunks(PIECE).for_each(|piece| stream.push(black_box(piece), &mut out));
            stream.finish(&mut out);
        });
        let rate = |time: Duration| text.len() as f64 / 1e6 / time.as_secs_f64();
        println!("\n{name}: a copy {:.0} MB/s, one that grows {:.0} MB/s", rate(copy), rate(written));
        for (what, time) in [("a whole text", whole), ("inside a document", json), ("in pieces", streamed)] {
            println!(
                "  {what:<18} {:>6.0} MB/s  {:.2} of a copy that grows, {:.2} of a copy",
                rate(time),
                written.as_secs_f64() / time.as_secs_f64(),
                copy.as_secs_f64() / time.as_secs_f64()
            );
        }
    }
}

fn text(size: usize, line: &str) -> String {
    line.repeat(size / line.len() + 1)
}

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort_unstable();
    times.get(RUNS / 2).copied().unwrap_or_default()
}
