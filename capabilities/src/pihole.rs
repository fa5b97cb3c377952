//! The household's Pi-hole, read and never changed.
//!
//! Both capabilities stand on one [`Endpoint`]: the host keeps the password and the session, and what may be sent at all is
//! the short list of [`Pihole`]. The address that tells whether blocking is on is the same that turns it off, by another
//! method; that method is not on the list.
//!
//! What comes back is aggregates. A count per client or per domain has no place in the results' schemas, so a Pi-hole that
//! tells more than it is asked, today or in a later version, tells it to nobody.

use core::time::Duration;

use capability_core::handle::{BrokerFault, Endpoint, EndpointKind, EndpointReply, HttpMethod, Reads};
use capability_core::{Clock, Failure, Timestamp, capability};
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::object::Object;

/// A Pi-hole of version 6. The operator configures it as `[endpoints.pihole]`; on a device of the household with
/// `reach = "device"`, without which nothing `local` is bound to it.
pub struct Pihole;

/// Whether blocking is on.
const BLOCKING: &str = "/api/dns/blocking";
/// Counts of the long-term database over any period.
const COUNTS: &str = "/api/stats/database/summary";
/// Among the live counters, how many domains are blocked.
const COUNTERS: &str = "/api/stats/summary";
/// What Pi-hole was told to forget.
const PRIVACY: &str = "/api/config/misc/privacylevel";

impl EndpointKind for Pihole {
    const NAME: &'static str = "pihole";
    type Power = Reads;
    const ALLOWED: &'static [(HttpMethod, &'static str)] = &[
        (HttpMethod::Get, BLOCKING),
        (HttpMethod::Get, COUNTS),
        (HttpMethod::Get, COUNTERS),
        (HttpMethod::Get, PRIVACY),
    ];
}

/// Whether Pi-hole is there and blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Status {
    /// Whether it answered.
    pub reachable: bool,
    /// Whether it blocks; null when it was not reached or does not know itself.
    pub blocking_enabled: Option<bool>,
    /// When it was asked.
    pub checked_at: Timestamp,
}

/// How long an answer is waited for: less than the call's 5 seconds, so that silence is an answer too.
const PATIENCE: Duration = Duration::from_secs(4);

/// Whether the household's Pi-hole can be reached and whether it blocks.
///
/// Takes no arguments. A Pi-hole that cannot be reached is an answer, not an error; one that refuses the configured password
/// is an error. Nothing about clients or domains is read.
#[capability(name = "pihole.status", version = 1, side_effect = read_only, network = local, title = "Pi-hole status")]
pub async fn pihole_status(pihole: &Endpoint<Pihole>, clock: &Clock) -> Result<Status, Failure> {
    let answer = tokio::time::timeout(PATIENCE, pihole.get(BLOCKING, &[])).await.unwrap_or(Err(BrokerFault::TimedOut));
    let checked_at = clock.now().await?;
    let reply = match answer {
        Ok(reply) => reply,
        Err(fault) if is_silence(fault) => return Ok(Status { reachable: false, blocking_enabled: None, checked_at }),
        Err(fault) => return Err(fault.into_public()),
    };
    let blocking_enabled = read::<Blocking>(&reply)?.blocking.known();
    Ok(Status { reachable: true, blocking_enabled, checked_at })
}

/// Which time the counts are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// Since midnight where the host is.
    Today,
    /// The 24 hours before the call.
    #[serde(rename = "last_24h")]
    Last24h,
}

/// Counts over a period. A count is null when Pi-hole's privacy level hides it or Pi-hole does not tell it; it is never zero
/// for that reason.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// The period that was asked for.
    pub period: Period,
    /// How many queries came in.
    pub queries_total: Option<u64>,
    /// How many of them were blocked.
    pub queries_blocked: Option<u64>,
    /// The same in percent of all, with one decimal.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub blocked_percentage: Option<f64>,
    /// How many domains are on the blocklists now.
    pub blocklist_size: Option<u64>,
    /// How many devices asked.
    pub unique_clients: Option<u64>,
    /// When it was asked.
    pub checked_at: Timestamp,
}

/// How much the household's Pi-hole has blocked: counts over today or the last 24 hours.
///
/// Counts only. No domain, client name or address is read. A count that Pi-hole's privacy level hides is null.
#[capability(name = "pihole.summary", version = 1, side_effect = read_only, network = local, title = "Pi-hole summary")]
pub async fn pihole_summary(
    pihole: &Endpoint<Pihole>,
    clock: &Clock,
    /// Which time to count over.
    period: Period,
) -> Result<Summary, Failure> {
    let checked_at = clock.now().await?;
    let until = seconds(checked_at);
    let from = match period {
        Period::Today => seconds(clock.day_began().await?),
        Period::Last24h => until.saturating_sub(SECONDS_PER_DAY),
    };
    let (from, until) = (from.to_string(), until.to_string());
    let query = [("from", from.as_str()), ("until", until.as_str())];
    let counts: Counts = ask(pihole, COUNTS, &query).await?;
    let counters: Counters = ask(pihole, COUNTERS, &[]).await?;
    let privacy = privacy(pihole).await?;
    summary(period, checked_at, &counts, &counters, privacy)
}

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// As Pi-hole counts time.
const fn seconds(time: Timestamp) -> i64 {
    time.as_micros().div_euclid(1_000_000)
}

/// What Pi-hole keeps, from the most to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Privacy {
    /// Who asked.
    Clients,
    /// How much was asked, by nobody in particular.
    Numbers,
    /// It does not say. What cannot be vouched for is hidden: who asked, and a zero that may mean "not kept".
    Untold,
    /// Nothing that lasts.
    Nothing,
}

/// The privacy level. A Pi-hole that does not tell it has answered too.
async fn privacy(pihole: &Endpoint<Pihole>) -> Result<Privacy, Failure> {
    let reply = pihole.get(PRIVACY, &[]).await.map_err(BrokerFault::into_public)?;
    let level = if reply.is_success() { reply.json::<Object<Config>>().ok() } else { None };
    Ok(match level.and_then(|told| told.0.config.0.misc.0.privacylevel.known()) {
        Some(0 | 1) => Privacy::Clients,
        Some(2) => Privacy::Numbers,
        Some(_) => Privacy::Nothing,
        None => Privacy::Untold,
    })
}

fn summary(
    period: Period,
    checked_at: Timestamp,
    counts: &Counts,
    counters: &Counters,
    privacy: Privacy,
) -> Result<Summary, Failure> {
    let kept = |count: &Count| {
        let vouched = |count: &u64| match privacy {
            Privacy::Clients | Privacy::Numbers => true,
            Privacy::Untold => *count > 0,
            Privacy::Nothing => false,
        };
        count.known().filter(vouched)
    };
    let (queries_total, queries_blocked) = (kept(&counts.sum_queries), kept(&counts.sum_blocked));
    let blocked_percentage = match (queries_total, queries_blocked) {
        (Some(total), Some(blocked)) => {
            Some(percentage(blocked, total).ok_or_else(|| BrokerFault::NotJson.into_public())?)
        }
        _ => None,
    };
    Ok(Summary {
        period,
        queries_total,
        queries_blocked,
        blocked_percentage,
        blocklist_size: counters.gravity.0.domains_being_blocked.known(),
        // Where clients are not told apart they are all counted as one.
        unique_clients: if privacy == Privacy::Clients { counts.total_clients.known() } else { None },
        checked_at,
    })
}

/// Percent with one decimal; `None` for a part that is larger than the whole.
#[expect(clippy::cast_precision_loss, reason = "a percentage with one decimal needs no more than 52 bits")]
fn percentage(part: u64, whole: u64) -> Option<f64> {
    match (part, whole) {
        (0, 0) => Some(0.0),
        _ if part > whole => None,
        _ => Some((part as f64 / whole as f64 * 1000.0).round() / 10.0),
    }
}

/// Nobody is there: what `pihole.status` is there to tell.
const fn is_silence(fault: BrokerFault) -> bool {
    matches!(fault, BrokerFault::Unavailable | BrokerFault::TimedOut | BrokerFault::Unresolved)
}

async fn ask<T: DeserializeOwned>(pihole: &Endpoint<Pihole>, path: &str, query: &[(&str, &str)]) -> Result<T, Failure> {
    read(&pihole.get(path, query).await.map_err(BrokerFault::into_public)?)
}

/// An answer of the shape that was asked for. What else it holds is not looked at.
fn read<T: DeserializeOwned>(reply: &EndpointReply) -> Result<T, Failure> {
    match reply.status {
        200 => reply.json::<Object<T>>().map(|Object(found)| found).map_err(BrokerFault::into_public),
        401 | 403 => Err(BrokerFault::CredentialRefused.into_public()),
        429 => Err(BrokerFault::Busy.into_public()),
        _ => Err(BrokerFault::MalformedReply.into_public()),
    }
}

/// A number of things, or something else: a negative number stands for what is hidden.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum Count {
    Known(u64),
    #[default]
    #[serde(skip)]
    Absent,
    Other(IgnoredAny),
}

impl Count {
    const fn known(&self) -> Option<u64> {
        match self {
            Self::Known(count) => Some(*count),
            Self::Absent | Self::Other(_) => None,
        }
    }
}

#[derive(Deserialize)]
struct Blocking {
    blocking: BlockingWord,
}

/// Pi-hole's own word; `failed`, `unknown` and any later one mean that it does not know.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum BlockingWord {
    Enabled,
    Disabled,
    #[serde(other)]
    Unknown,
}

impl BlockingWord {
    const fn known(&self) -> Option<bool> {
        match self {
            Self::Enabled => Some(true),
            Self::Disabled => Some(false),
            Self::Unknown => None,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Counts {
    sum_queries: Count,
    sum_blocked: Count,
    #[serde(default)]
    total_clients: Count,
}

#[derive(Debug, Deserialize)]
struct Counters {
    gravity: Object<Gravity>,
}

#[derive(Debug, Deserialize)]
struct Gravity {
    #[serde(default)]
    domains_being_blocked: Count,
}

#[derive(Deserialize)]
struct Config {
    config: Object<Misc>,
}

#[derive(Deserialize)]
struct Misc {
    misc: Object<PrivacyLevel>,
}

#[derive(Deserialize)]
struct PrivacyLevel {
    privacylevel: Count,
}

#[cfg(test)]
mod tests;
