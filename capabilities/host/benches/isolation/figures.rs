//! Samples, their middle, and how they are told.

use std::time::Duration;

/// How long something took, each time it was done.
#[derive(Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn add(&mut self, took: Duration) {
        self.0.push(took.as_secs_f64() * 1e6);
    }

    pub fn add_nanoseconds(&mut self, took: u64) {
        self.0.push(took as f64 / 1e3);
    }

    /// What this part of the samples stays below, in microseconds.
    pub fn at(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        sorted.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
    }

    /// Microseconds.
    pub fn median(&self) -> f64 {
        self.at(0.5)
    }
}

pub fn heading(what: &str) {
    println!("\n{what}");
    println!("  {:<46} {:>10} {:>10} {:>7}", "", "floor us", "ours us", "ratio");
}

/// One ratio of medians, beside its target.
pub fn ratio(what: &str, floor: &Samples, ours: &Samples, target: Option<f64>) {
    let ratio = ours.median() / floor.median();
    let judged = target.map_or_else(String::new, |target| {
        format!("   (target {target}: {})", if ratio <= target { "met" } else { "missed" })
    });
    println!("  {what:<46} {:>10.1} {:>10.1} {ratio:>7.2}{judged}", floor.median(), ours.median());
}

/// A figure beside the ratios.
pub fn told(what: &str, figure: &str) {
    println!("  {what:<46} {figure}");
}

/// How samples are spread, in milliseconds, and whether the longest stays below a target.
pub fn spread(what: &str, samples: &Samples, target: Option<f64>) {
    let [least, half, most_of, all] = [0.0, 0.5, 0.9, 1.0].map(|part| samples.at(part) / 1e3);
    let judged = target.map_or_else(String::new, |target| {
        format!("   (target {target}: {})", if all <= target { "met" } else { "missed" })
    });
    println!("  {what:<46} {least:>8.2} {half:>8.2} {most_of:>8.2} {all:>8.2}{judged}");
}
