//! How long the questions to a policy take, with 20 and 200 rules.
//!
//! `cargo bench -p capability-core --bench analysis` prints one line for each question: the median of five runs, in
//! milliseconds. The rules are a mixture of what people write: a third about hosts, a third about files and commands, a third
//! about whole families, subjects and hours, a few of them about words in texts.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark that goes wrong stops, and what it prints is its result"
)]

#[path = "../tests/analysis/desk.rs"]
mod desk;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use capability_core::policy::analysis::{Asker, Entry, Open, check, compare, matrix, reach};
use capability_core::policy::{Policy, Rule, Source, SourceKind};
use capability_core::session::{Declarations, Mode, Subject};
use capability_core::{Registry, Timestamp};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

const RUNS: usize = 5;

fn main() {
    let counts: &[usize] = if std::env::args().any(|word| word == "--test") { &[20] } else { &[20, 200] };
    let registry = Registry::collect(&["capability-core"]).unwrap();
    let entries: Vec<_> = registry.iter().map(Entry::of).collect();
    let from: Timestamp = "2026-07-01T10:00:00Z".parse().unwrap();
    let subjects: Vec<Subject> = (0..6).map(|number| format!("agent-{number}").parse().unwrap()).collect();
    let declarations = Declarations::everything();
    let askers: Vec<_> = subjects
        .iter()
        .map(|subject| Asker { subject, declarations: &declarations, mode: Mode::Live, behind: &[] })
        .collect();
    println!(
        "{:>6} {:>10} {:>10} {:>10} {:>10} {:>10}   (ms, median of {RUNS})",
        "rules", "load", "check", "matrix", "reach", "compare"
    );
    for count in counts {
        let policy = compiled(*count, 0);
        let other = compiled(*count, 1);
        let load = median(|| drop(black_box(compiled(*count, 0))));
        let checked = median(|| drop(black_box(check(&policy, &entries, from))));
        let table = median(|| drop(black_box(matrix(&policy, &askers, &entries, &Open, from))));
        let reached = median(|| drop(black_box(reach(&policy, &askers[0], &entries[0], true, &Open, from))));
        let compared = median(|| drop(black_box(compare(&policy, &other, &entries, from))));
        let [load, checked, table, reached, compared] =
            [load, checked, table, reached, compared].map(|took| took.as_secs_f64() * 1e3);
        println!("{count:>6} {load:>10.2} {checked:>10.2} {table:>10.2} {reached:>10.2} {compared:>10.2}");
    }
}

fn median(mut once: impl FnMut()) -> Duration {
    let mut took: Vec<_> = (0..RUNS)
        .map(|_| {
            let begun = Instant::now();
            once();
            begun.elapsed()
        })
        .collect();
    took.sort();
    took[RUNS / 2]
}

fn compiled(count: usize, changed: usize) -> Arc<Policy> {
    let rules: Vec<Rule> =
        (0..count).map(|number| serde_json::from_value(rule(number, number == 7 && changed > 0)).unwrap()).collect();
    let zones = |_: &str| TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").ok();
    Arc::new(Policy::compile(vec![Source::new(SourceKind::Operator, b"", rules)], &zones).unwrap())
}

fn rule(number: usize, changed: bool) -> Value {
    let effect = ["allow", "ask", "deny", "ask_fresh"][(number / 3) % 4];
    let mut rule = json!({ "id": format!("rule-{number}"), "effect": effect, "reason": "because" });
    let (n, host) = (number / 3, ["**.example.com", "*.test", "**.lan", "**.org"][number % 4]);
    match number % 3 {
        0 => {
            rule["capability"] = ["desk.page", "desk.fetch", "desk.*"][n % 3].into();
            let host = if n % 5 == 0 { host.to_owned() } else { format!("host-{n}.example.com") };
            rule["target"] = json!({ "host": host });
            if n % 3 == 1 {
                rule["target"]["path"] = format!("/docs/{n}/**").into();
            }
            if n % 7 == 2 {
                rule["target"]["port"] = (8000 + n % 9).into();
            }
        }
        1 => match n % 3 {
            0 => {
                rule["capability"] = "desk.read".into();
                let path = [format!("area-{n}/**"), format!("**/key-{n}"), format!("area-{}/*/file-{n}", n - n % 6)];
                rule["target"] = json!({ "path": path[n / 3 % 3] });
            }
            1 => {
                rule["capability"] = "desk.run".into();
                rule["target"] = json!({ "argv": [format!("tool-{}", n % 17), format!("do-{n}"), "**"] });
            }
            _ => {
                rule["capability"] = "desk.say".into();
                rule["effect"] = "deny".into();
                rule["target"] = json!({ "text": format!("*word {n}*") });
            }
        },
        _ => {
            rule["capability"] = ["desk.*", "desk.read", "desk.run", "desk.call"][n % 4].into();
            rule["subject"] = format!("agent-{}", n % 8).into();
            if n % 2 == 0 {
                let (from, to) = (format!("{:02}:00", n % 24), format!("{:02}:30", (n * 7) % 24));
                let days = ["mon-fri", "sat-sun", "mon"][n % 3];
                rule["when"] = json!({ "days": [days], "from": from, "to": to, "tz": "Europe/Berlin" });
            }
        }
    }
    if changed {
        rule["effect"] = "allow".into();
    }
    rule
}
