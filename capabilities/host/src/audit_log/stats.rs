//! Counting what a log says.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::disk::{Directory, Disk};
use super::error::AuditLogError;
use super::segment;

/// Counts over a whole log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// How many records.
    pub records: u64,
    /// Records per event.
    pub events: BTreeMap<String, u64>,
    /// Outcomes per word.
    pub outcomes: BTreeMap<String, u64>,
    /// Rejections per stage.
    pub rejected: BTreeMap<String, u64>,
    /// Outcomes per code.
    pub codes: BTreeMap<String, u64>,
    /// Outcomes per `name@version`; a name and version that do not exist count as `unknown`, and what ended before it was
    /// looked for, such as a call of a session that runs nothing, as `not resolved`.
    pub capabilities: BTreeMap<String, CapabilityStats>,
    /// How long invocations took, from entry to end.
    pub durations: Durations,
}

/// Counts of one capability.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CapabilityStats {
    /// How often it was asked for.
    pub asked: u64,
    /// Outcomes per word.
    pub outcomes: BTreeMap<String, u64>,
    /// Rejections per stage.
    pub rejected: BTreeMap<String, u64>,
    /// How long its invocations took, from entry to end.
    pub durations: Durations,
}

/// Median and 95th percentile, in microseconds; absent when nothing was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Durations {
    /// Half took at most this.
    pub p50_us: Option<u64>,
    /// 95 in 100 took at most this.
    pub p95_us: Option<u64>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    event: Cow<'a, str>,
    #[serde(borrow)]
    outcome: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stage: Option<Cow<'a, str>>,
    #[serde(borrow)]
    code: Option<Cow<'a, str>>,
    #[serde(borrow)]
    capability: Option<Cow<'a, str>>,
    version: Option<u32>,
    duration_us: Option<u64>,
}

impl Durations {
    fn of(mut measured: Vec<u64>) -> Self {
        measured.sort_unstable();
        // The nearest rank: the smallest value that at least so many in a hundred do not exceed.
        let rank = |percent: usize| measured.get((measured.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Self { p50_us: rank(50), p95_us: rank(95) }
    }
}

fn count(counts: &mut BTreeMap<String, u64>, word: &str) {
    match counts.get_mut(word) {
        Some(count) => *count += 1,
        None => drop(counts.insert(word.to_owned(), 1)),
    }
}

/// Counts as it reads.
#[derive(Default)]
struct Counter {
    stats: Stats,
    all: Vec<u64>,
    each: BTreeMap<String, Vec<u64>>,
}

impl Counter {
    fn take(&mut self, line: &[u8]) {
        let Ok(fields) = serde_json::from_slice::<Fields<'_>>(line) else { return };
        let stats = &mut self.stats;
        stats.records += 1;
        count(&mut stats.events, &fields.event);
        let Some(outcome) = fields.outcome.filter(|_| fields.event == "outcome") else { return };
        let capability = match (fields.capability, fields.version, fields.code.as_deref()) {
            (Some(name), Some(version), _) => format!("{name}@{version}"),
            (_, _, Some("unknown_capability")) => "unknown".to_owned(),
            _ => "not resolved".to_owned(),
        };
        count(&mut stats.outcomes, &outcome);
        if let Some(code) = &fields.code {
            count(&mut stats.codes, code);
        }
        let of = stats.capabilities.entry(capability.clone()).or_default();
        of.asked += 1;
        count(&mut of.outcomes, &outcome);
        if let Some(stage) = fields.stage.filter(|_| outcome == "rejected") {
            count(&mut stats.rejected, &stage);
            count(&mut of.rejected, &stage);
        }
        if let Some(duration) = fields.duration_us {
            self.all.push(duration);
            self.each.entry(capability).or_default().push(duration);
        }
    }

    fn finish(mut self) -> Stats {
        self.stats.durations = Durations::of(self.all);
        for (capability, measured) in self.each {
            self.stats.capabilities.entry(capability).or_default().durations = Durations::of(measured);
        }
        self.stats
    }
}

/// Counts the log in `dir`, reading it as a stream. Lines that are no records are left out: see [`super::verify`].
///
/// # Errors
/// [`AuditLogError`] when there is no log or it cannot be read.
pub fn stats(dir: &Path) -> Result<Stats, AuditLogError> {
    let disk = Directory::new(dir);
    let (mut counter, mut line) = (Counter::default(), Vec::new());
    for segment in segment::list(&disk).map_err(AuditLogError::io(dir))? {
        let path = dir.join(segment.name());
        let log = disk.read(&segment.name(), 0).map_err(AuditLogError::io(&path))?;
        let mut log = BufReader::with_capacity(1 << 16, log.take(segment.len));
        loop {
            line.clear();
            log.read_until(b'\n', &mut line).map_err(AuditLogError::io(&path))?;
            if line.last() != Some(&b'\n') {
                break;
            }
            counter.take(&line);
        }
    }
    Ok(counter.finish())
}
