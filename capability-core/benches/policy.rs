//! What rules cost: one verdict, loading them, and the whole pipeline.
//!
//! `cargo bench -p capability-core --bench policy` prints ratios of one run: by number of rules, a verdict beside a walk over
//! all rules, which is the floor without an index, and beside a verdict without rules. 48 of 64 questions are aimed at a rule.
//! With `-- --count RULES N` it asks N questions and does nothing else, for an instruction counter.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark that goes wrong stops, and what it prints is its result"
)]

#[expect(dead_code, reason = "this benchmark uses some of it")]
mod support;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use capability_core::policy::{Acted, OptIn, Policy, Question, Rule, Source, SourceKind, Verdict, evaluate};
use capability_core::session::{Declarations, Mode, Origin, Subject};
use capability_core::{Capability, Proposal, Registry, Timestamp, capability};
use serde_json::{Value, json};
use support::Bench;
use support::calls::ADD;

/// Looks at an address.
#[capability(crate = ::capability_core, name = "rules.fetch", version = 1, side_effect = read_only, network = local, target = url(url))]
fn fetch(url: String) -> String {
    url
}

/// Looks at a file.
#[capability(crate = ::capability_core, name = "rules.read", version = 1, side_effect = read_only, network = local, target = path(path))]
fn read(path: String) -> String {
    path
}

/// Is asked to run something.
#[capability(crate = ::capability_core, name = "rules.run", version = 1, side_effect = read_only, network = local, target = argv(argv))]
fn run(argv: Vec<String>) -> Vec<String> {
    argv
}

const SIZES: [usize; 3] = [10, 1_000, 10_000];
const ROUNDS: usize = 40;

/// A Monday, noon.
const NOON: i64 = 1_796_036_400_000_000;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == "--count") {
        let (rules, times): (usize, usize) = (words[at + 1].parse().unwrap(), words[at + 2].parse().unwrap());
        let asked = Asked::new();
        let policy = Arc::new(policy(rules));
        for turn in 0..times {
            black_box(asked.judge(turn % 64, rules.max(10), &policy));
        }
        return;
    }
    verdicts();
    println!();
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(pipeline());
}

/// One rule of many: half of them about hosts, the rest about files and commands; some for one subject, and a few wide ones.
fn rule(number: usize) -> Value {
    let effect = ["allow", "ask", "ask_fresh", "deny"][number % 4];
    let mut rule = json!({ "id": format!("r{number}"), "effect": effect, "reason": "measured" });
    let (capability, target) = match number % 8 {
        0 | 1 => ("rules.fetch", json!({ "host": format!("h{number}.example{}.com", number % 97) })),
        2 | 3 => ("rules.*", json!({ "host": format!("**.site{number}.net") })),
        4 => ("rules.read", json!({ "path": format!("folder{number}/**") })),
        5 => ("*", json!({ "path": format!("**/file{number}") })),
        6 => ("rules.run", json!({ "argv": [format!("tool{number}"), "**"] })),
        _ => ("rules.read", json!({ "path": format!("folder{}/*/deep", number - 3) })),
    };
    rule["capability"] = capability.into();
    rule["target"] = target;
    if number.is_multiple_of(5) {
        rule["subject"] = "agent:measured".into();
    }
    if number < 4 {
        rule.as_object_mut().unwrap().remove("target");
        rule["capability"] = "rules.*".into();
        rule["effect"] = "ask".into();
        let day = ["mon", "tue", "wed", "thu"][number];
        rule["when"] = json!({ "days": [day], "tz": "UTC" });
    }
    rule
}

fn rules(many: usize) -> Vec<Rule> {
    (0..many).map(|number| serde_json::from_value(rule(number)).unwrap()).collect()
}

fn policy(many: usize) -> Policy {
    compiled(rules(many))
}

fn compiled(rules: Vec<Rule>) -> Policy {
    let sources = vec![Source::new(SourceKind::Operator, b"measured", rules)];
    Policy::compile(sources, &|_| Some(jiff::tz::TimeZone::UTC)).unwrap()
}

struct Asked {
    registry: Registry,
    subject: Subject,
    declarations: Declarations,
}

impl Asked {
    fn new() -> Self {
        let subject = "agent:measured".parse().unwrap();
        Self {
            registry: Registry::collect(&["capability-core"]).unwrap(),
            subject,
            declarations: Declarations::everything(),
        }
    }

    /// A question: three of four are aimed at one of so many rules.
    fn call(&self, number: usize, rules: usize) -> (&Capability, String) {
        let aimed = (number * 7919) % rules;
        let aimed = if number % 4 == 3 { aimed + 1_000_000 } else { aimed };
        let (name, target) = match aimed % 8 {
            0 | 1 => ("rules.fetch", format!("https://h{aimed}.example{}.com/a/b?c", aimed % 97)),
            2 | 3 => ("rules.fetch", format!("https://www.a.site{aimed}.net/")),
            4 => ("rules.read", format!("folder{aimed}/a/deep")),
            5 => ("rules.read", format!("a/b/file{aimed}")),
            6 => ("rules.run", format!("[\"tool{aimed}\",\"-x\"]")),
            _ => ("rules.read", format!("folder{}/a/deep", aimed - 3)),
        };
        (self.registry.resolve(name, 1).unwrap().entry(), target)
    }

    fn judge(&self, number: usize, rules: usize, policy: &Arc<Policy>) -> Verdict {
        let (capability, target) = self.call(number, rules);
        self.judge_call(capability, &target, policy)
    }

    fn judge_call(&self, capability: &Capability, target: &str, policy: &Arc<Policy>) -> Verdict {
        evaluate(&Question {
            capability,
            class: capability.class(),
            subject: &self.subject,
            origin: Origin::Model,
            declarations: &self.declarations,
            behind: &[],
            scope: None,
            target: Some((capability.target().kind, target)),
            acts_on: &[],
            secrets: &[],
            mode: Mode::Live,
            opt_in: OptIn::On,
            binding: capability_core::policy::Binding::Bound,
            raised: None,
            faulted: false,
            at: Timestamp::from_micros(NOON),
            policy,
        })
        .verdict()
    }

    /// The same rules, one after the other, cheapest question first; the strictest of what matches.
    fn walk(&self, capability: &Capability, target: &str, policy: &Policy) -> Verdict {
        let acted = Acted::read(capability.target().kind, target).unwrap();
        let minute = capability_core::policy::minute_of_week(Timestamp::from_micros(NOON), &jiff::tz::TimeZone::UTC);
        let matching = policy.rules().filter(|(.., rule)| {
            let selector = &rule.selector;
            selector.capability.matches(capability.name().as_str(), None)
                && selector.subject.as_ref().is_none_or(|subject| *subject == self.subject)
                && selector.target.as_ref().is_none_or(|target| acted.is_matched_by(target).unwrap())
                && selector.when.as_ref().is_none_or(|when| when.holds(minute.unwrap()))
        });
        matching.map(|(.., rule)| rule.effect.verdict()).max().unwrap_or(Verdict::Allow)
    }
}

fn verdicts() {
    let asked = Asked::new();
    let none = Arc::new(Policy::default());
    println!(
        "{:>7} {:>12} {:>12} {:>10} {:>12} {:>16} {:>12}",
        "rules", "verdict ns", "without ns", "walk ns", "walk/verdict", "of 10 rules", "compile ms"
    );
    let mut first = None;
    for size in SIZES {
        let policy = Arc::new(policy(size));
        let calls: Vec<_> = (0..64).map(|number| asked.call(number, size)).collect();
        let (mut ours, mut without, mut walks, mut loads) = (vec![], vec![], vec![], vec![]);
        for round in 0..ROUNDS {
            let turns = if size > 1_000 { 64 } else { 640 };
            let timed = |judge: &dyn Fn(&Capability, &str) -> Verdict, turns: usize| {
                let begun = Instant::now();
                for turn in 0..turns {
                    let (capability, target) = &calls[turn % 64];
                    black_box(judge(capability, black_box(target)));
                }
                begun.elapsed().as_nanos() as f64 / turns as f64
            };
            ours.push(timed(&|capability, target| asked.judge_call(capability, target, &policy), 640));
            without.push(timed(&|capability, target| asked.judge_call(capability, target, &none), 640));
            walks.push(timed(&|capability, target| asked.walk(capability, target, &policy), turns));
            if round % 8 == 0 {
                let rules = rules(size);
                let begun = Instant::now();
                drop(black_box(compiled(rules)));
                loads.push(begun.elapsed().as_secs_f64() * 1e3);
            }
        }
        let (ours, without, walk) = (median(&mut ours), median(&mut without), median(&mut walks));
        let base = *first.get_or_insert(ours);
        println!(
            "{size:>7} {ours:>12.0} {without:>12.0} {walk:>10.0} {:>12.2} {:>16.2} {:>12.2}",
            walk / ours,
            ours / base,
            median(&mut loads)
        );
    }
}

/// The small call without rules, with rules about other calls, and with one that asks for the time and matches.
async fn pipeline() {
    let others = || policy(1_000);
    let mine = || {
        let mut rules = rules(1_000);
        rules.push(
            serde_json::from_value(
                json!({ "id": "mine", "effect": "allow", "reason": "measured", "capability": "bench.add" }),
            )
            .unwrap(),
        );
        compiled(rules)
    };
    let variants = [("no rules", None), ("1000, about others", Some(others())), ("1000, one matches", Some(mine()))];
    let benches: Vec<_> = variants
        .into_iter()
        .map(|(name, policy)| {
            let bench = Bench::new();
            if let Some(policy) = policy {
                bench.policy.set(policy);
            }
            (name, bench, Vec::new())
        })
        .collect();
    let mut benches = benches;
    for _ in 0..ROUNDS {
        for (_, bench, times) in &mut benches {
            let session = bench.session();
            let begun = Instant::now();
            for _ in 0..900 {
                let outcome = bench.executor.invoke(&session, Proposal::new("bench.add", 1, black_box(ADD))).await;
                assert!(outcome.result().is_some());
            }
            times.push(begun.elapsed().as_nanos() as f64 / 900.0);
            bench.sink.clear();
        }
    }
    println!("{:<20} {:>8} {:>8}", "the whole call", "ns", "ratio");
    let mut floor = None;
    for (name, _, times) in &mut benches {
        let time = median(times);
        println!("{name:<20} {time:>8.0} {:>8.2}", time / *floor.get_or_insert(time));
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
