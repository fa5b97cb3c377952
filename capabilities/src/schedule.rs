//! Calls that are made at times.

use capability_core::handle::{BrokerFault, Plan, Read, Schedules, Write};
use capability_core::{Failure, Preview, Timestamp, capability};
use schemars::JsonSchema;
use serde::Serialize;

use crate::plain;

/// A schedule that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Made {
    /// Its number.
    pub schedule: u64,
}

/// Makes a schedule: a call that is made again and again, at times of a clock.
///
/// Each run is a call in a turn of its own, which declares the one capability, acts for you, and is asked about as any other. What it gives is
/// not kept.
#[capability(
    name = "schedule.create",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "Make a schedule",
    target = text(capability),
    risk = high,
    check = is_plan,
    preview = when
)]
pub async fn schedule_create(
    schedules: &Schedules<Write>,
    /// Minute, hour, day of the month, month, day of the week, as in `0 7 * * MON-FRI`.
    #[schemars(length(min = 9, max = 128))]
    cron: String,
    /// Where the clock is, as in `Europe/Berlin` or `UTC`.
    #[schemars(length(min = 1, max = 64))]
    zone: String,
    /// Which capability, with its scope where it has one, as in `repository.read:notes`.
    #[schemars(length(min = 3, max = 256))]
    capability: String,
    /// Its arguments, as the text of a JSON object.
    #[schemars(length(min = 2, max = 16_384))]
    arguments: String,
) -> Result<Made, Failure> {
    let made = schedules.create(Plan { cron, zone, capability, arguments }).await;
    made.map(|schedule| Made { schedule }).map_err(|fault| match fault {
        BrokerFault::CapExceeded | BrokerFault::MalformedPlan | BrokerFault::ActsForAnother => {
            fault.into_public().and_before_effect()
        }
        _ => fault.into_public(),
    })
}

fn is_plan(cron: &str, zone: &str, capability: &str, arguments: &str) -> Result<(), BrokerFault> {
    if plan(cron, zone, capability, arguments).fits() { Ok(()) } else { Err(BrokerFault::CapExceeded) }
}

fn plan(cron: &str, zone: &str, capability: &str, arguments: &str) -> Plan {
    let [cron, zone, capability, arguments] = [cron, zone, capability, arguments].map(str::to_owned);
    Plan { cron, zone, capability, arguments }
}

/// The pattern as the clock reads it. What is no plan is refused here.
async fn when(
    schedules: &Schedules<Write>,
    cron: &str,
    zone: &str,
    capability: &str,
    arguments: &str,
) -> Result<Preview, Failure> {
    // It would be another text at each look, so the times themselves are no part of what is approved.
    schedules.next(plan(cron, zone, capability, arguments)).await.map_err(BrokerFault::into_public)?;
    Ok(Preview {
        text: format!("calls {capability} at `{cron}` by the clock of {zone}, until it is cancelled"),
        ..Preview::default()
    })
}

/// Schedules, and what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Listed {
    /// By number.
    pub schedules: Vec<Entry>,
}

/// One schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// Its number.
    pub schedule: u64,
    /// Its times.
    pub cron: String,
    /// Where the clock is.
    pub zone: String,
    /// What it calls.
    pub capability: String,
    /// The beginning of its arguments.
    pub arguments: String,
    /// When it runs next; null when no such time comes.
    pub next_at: Option<Timestamp>,
    /// When it ran last.
    pub last_at: Option<Timestamp>,
    /// How that ended: `executed`, `pending`, `rejected`, `denied`, `expired`, `failed` and so on.
    pub last_outcome: Option<String>,
    /// How many of its times went by while nothing could run. None is made up for.
    pub missed: u64,
}

/// How much of the arguments is listed, in bytes of their JSON.
const MAX_LISTED_BYTES: usize = 512;

/// Lists your schedules: when each runs next, how its last run ended, and how many times went by unused.
#[capability(
    name = "schedule.list",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "List schedules",
    risk = low
)]
pub async fn schedule_list(schedules: &Schedules<Read>) -> Result<Listed, Failure> {
    let found = schedules.list().await.map_err(BrokerFault::into_public)?;
    let entry = |found: capability_core::handle::Scheduled| Entry {
        schedule: found.number,
        cron: found.plan.cron,
        zone: found.plan.zone,
        capability: found.plan.capability,
        arguments: plain::of_line(&found.plan.arguments, MAX_LISTED_BYTES).text,
        next_at: found.next_at,
        last_at: found.last_at,
        last_outcome: found.last_outcome,
        missed: found.missed,
    };
    Ok(Listed { schedules: found.into_iter().map(entry).collect() })
}

/// Ends one of your schedules.
#[capability(
    name = "schedule.cancel",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "End a schedule",
    risk = medium
)]
pub async fn schedule_cancel(
    schedules: &Schedules<Write>,
    /// Its number.
    #[schemars(range(min = 1))]
    schedule: u64,
) -> Result<(), Failure> {
    schedules.cancel(schedule).await.map_err(|fault| match fault {
        BrokerFault::UnknownSchedule => fault.into_public().and_before_effect(),
        _ => fault.into_public(),
    })
}
