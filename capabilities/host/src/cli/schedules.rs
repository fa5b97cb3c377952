//! `schedules`.

use clap::Subcommand;
use serde_json::Value;

use super::commands::{Proofs, show};
use super::output::Output;
use super::render;
use crate::connection::Connection;
use crate::display::text::written_out;
use crate::protocol::{Fault, Request, ScheduleShown};

/// What to do with schedules.
#[derive(Debug, Subcommand)]
pub enum Schedules {
    /// Show every schedule: when it runs next, how its last run ended, and how many of its times went by unused
    List,
    /// End one, on record
    Cancel {
        /// Its number
        number: u64,
    },
}

pub async fn perform(
    connection: &Connection<'_>,
    command: Schedules,
    proofs: &Proofs,
    output: Output,
) -> Result<u8, Fault> {
    let proof = proofs.operator().await?;
    match command {
        Schedules::List => {
            show::<Vec<ScheduleShown>>(connection, &Request::ScheduleList(proof), output, |found| list(found)).await
        }
        Schedules::Cancel { number } => {
            show::<Value>(connection, &Request::ScheduleCancel(proof, number), output, render::plain).await
        }
    }
}

fn list(found: &[ScheduleShown]) -> String {
    if found.is_empty() {
        return "nothing is scheduled\n".to_owned();
    }
    let one = |shown: &ScheduleShown| {
        let ScheduleShown { subject, slot, origin, schedule } = shown;
        let slot = slot.as_ref().map(|slot| format!("/{slot}")).unwrap_or_default();
        let plan = &schedule.plan;
        let time = |at: Option<capability_core::Timestamp>| at.map_or_else(|| "never".to_owned(), |at| at.to_string());
        let last = schedule.last_outcome.as_deref().map_or_else(String::new, |word| format!(", {word}"));
        format!(
            "{}  {} for `{subject}{slot}`, asked for by way of {}\n    at `{}` by the clock of {}\n    next {}; last {}{last}; {} missed\n    {}\n",
            schedule.number,
            written_out(&plan.capability),
            origin.as_str(),
            written_out(&plan.cron),
            written_out(&plan.zone),
            time(schedule.next_at),
            time(schedule.last_at),
            schedule.missed,
            written_out(&plan.arguments)
        )
    };
    found.iter().map(one).collect()
}
