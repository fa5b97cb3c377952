//! How tools have been doing: counts and last outcomes, kept across sessions, and what that says to whoever would try again.

use core::num::NonZeroU32;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use super::remote::locked;
use super::{ProviderDecision, ProviderType, ToolTag};
use crate::audit::{Asked, Event, OutcomeKind, Record, Sink, Submission};
use crate::contract::SideEffect;
use crate::executor::Outcome;
use crate::future::BoxFuture;
use crate::session::SessionId;
use crate::store::StoreFault;
use crate::time::Timestamp;

/// After how many failures one after the other a tool counts as failing.
pub const FAILING_AFTER: u32 = 3;

/// For how long failures are evidence of how a tool is now, in seconds.
pub const EVIDENCE_SECONDS: u64 = 3600;

/// What is said to whoever would call a tool again that has been failing.
pub const GUIDANCE: &str =
    "the last calls of this tool failed: look at what they did before trying again, or go another way";

/// For how many sessions and tools it is remembered that they were told; beyond, all of it is forgotten and told again.
const MAX_TOLD: usize = 4096;

/// A tool as its health is kept: a compiled capability by name and version, a foreign one by its connection and our number
/// for it. No word of a provider's is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HealthKey(String);

impl HealthKey {
    /// The tool that a decision is about.
    #[must_use]
    pub fn of(decision: &ProviderDecision) -> Self {
        let served = (decision.provider_type.as_str(), &*decision.provider_id);
        Self::written(decision.capability.as_str(), decision.version.get(), served, decision.tag())
    }

    /// The tool that a record is about.
    fn of_record(asked: &Asked) -> Option<Self> {
        let (name, version, _) = asked.capability?;
        let provided = asked.provided.as_deref();
        let served = provided.map_or(("compiled", "compiled"), |own| (own.kind().as_str(), own.id()));
        Some(Self::written(name.as_str(), version.get(), served, provided.and_then(crate::audit::ProvidedBy::tool)))
    }

    fn written(name: &str, version: u32, (kind, id): (&str, &str), tool: Option<ToolTag>) -> Self {
        let tool = tool.map(|tag| format!(" {tag}")).unwrap_or_default();
        Self(format!("{name}@{version} {kind} {id}{tool}"))
    }

    /// Its parts, for whoever shows it; none for a stored text that is no key.
    #[must_use]
    pub fn parts(&self) -> Option<HealthParts<'_>> {
        let mut words = self.0.split(' ');
        let (name, version) = words.next()?.split_once('@')?;
        let (kind, provider) = (ProviderType::named(words.next()?)?, words.next()?);
        let tool = words.next().map(str::parse).transpose().ok()?;
        let parts = HealthParts { capability: name, version: version.parse().ok()?, kind, provider, tool };
        words.next().is_none().then_some(parts)
    }

    /// As it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// From a store that kept it.
    #[must_use]
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }
}

/// What a [`HealthKey`] is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HealthParts<'k> {
    /// The registered capability.
    pub capability: &'k str,
    /// Its version.
    pub version: NonZeroU32,
    /// Which kind of provider carries it out.
    pub kind: ProviderType,
    /// Which one of that kind.
    pub provider: &'k str,
    /// The foreign tool's number; none for what the capability itself does.
    pub tool: Option<ToolTag>,
}

/// What became of a tool's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolHealth {
    /// How many ran to a result that does not say that they failed.
    pub worked: u64,
    /// How many began and gave none, or one by which the provider says that it failed.
    pub failed: u64,
    /// How many of the last ones failed, one after the other.
    pub in_a_row: u32,
    /// How the last one ended; `executed` as well where the provider says that it failed.
    pub last: OutcomeKind,
    /// When.
    pub at: Timestamp,
}

impl ToolHealth {
    /// Whether it is failing, by evidence that is not old.
    #[must_use]
    pub fn is_failing(&self, now: Timestamp) -> bool {
        self.in_a_row >= FAILING_AFTER && now.since(self.at).as_secs() < EVIDENCE_SECONDS
    }

    /// What both say together, of which this is the later.
    fn since(self, before: Self) -> Self {
        Self {
            worked: self.worked.saturating_add(before.worked),
            failed: self.failed.saturating_add(before.failed),
            in_a_row: if self.worked > 0 || self.is_apart_from(before) {
                self.in_a_row
            } else {
                self.in_a_row.saturating_add(before.in_a_row)
            },
            ..self
        }
    }

    /// Whether so much time lies between both that the earlier says nothing of how the tool is now.
    fn is_apart_from(self, before: Self) -> bool {
        self.at.since(before.at).as_secs() >= EVIDENCE_SECONDS
    }

    fn after(before: Option<Self>, last: OutcomeKind, provider_failed: bool, at: Timestamp) -> Self {
        let (worked, failed, in_a_row) = before.map_or((0, 0, 0), |own| (own.worked, own.failed, own.in_a_row));
        let now = Self { worked, failed, in_a_row, last, at };
        // What is no evidence any more is no beginning of a row either.
        let in_a_row = if before.is_some_and(|before| now.is_apart_from(before)) { 0 } else { in_a_row };
        if last == OutcomeKind::Executed && !provider_failed {
            Self { worked: worked.saturating_add(1), failed, in_a_row: 0, last, at }
        } else {
            Self { worked, failed: failed.saturating_add(1), in_a_row: in_a_row.saturating_add(1), last, at }
        }
    }
}

/// Keeps the health of tools across sessions and starts.
pub trait HealthStore: Send + Sync + 'static {
    /// Everything that is kept.
    fn load(&self) -> BoxFuture<'_, Result<Vec<(HealthKey, ToolHealth)>, StoreFault>>;

    /// Keeps these, in place of what was kept of them.
    fn save(&self, changed: Vec<(HealthKey, ToolHealth)>) -> BoxFuture<'_, Result<(), StoreFault>>;
}

/// Keeps the health of tools for as long as the process lives.
#[derive(Debug, Default)]
pub struct MemoryHealth(Mutex<HashMap<HealthKey, ToolHealth>>);

impl HealthStore for MemoryHealth {
    fn load(&self) -> BoxFuture<'_, Result<Vec<(HealthKey, ToolHealth)>, StoreFault>> {
        let kept = locked(&self.0).iter().map(|(key, health)| (key.clone(), *health)).collect();
        Box::pin(core::future::ready(Ok(kept)))
    }

    fn save(&self, changed: Vec<(HealthKey, ToolHealth)>) -> BoxFuture<'_, Result<(), StoreFault>> {
        locked(&self.0).extend(changed);
        Box::pin(core::future::ready(Ok(())))
    }
}

/// Watches the log for how tools are doing. It is a sink in front of the host's own: what is recorded is what is counted.
pub struct HealthWatch {
    log: Arc<dyn Sink>,
    store: Arc<dyn HealthStore>,
    known: Mutex<Known>,
    /// Held while the store is asked; whether what was kept is known.
    settling: tokio::sync::Mutex<bool>,
}

#[derive(Default)]
struct Known {
    tools: HashMap<HealthKey, ToolHealth>,
    changed: BTreeSet<HealthKey>,
    /// Who was told that a tool is failing, since it began to.
    told: BTreeSet<(HealthKey, SessionId)>,
}

impl HealthWatch {
    /// In front of a log. What was kept is known from the first [`settle`](Self::settle) on.
    #[must_use]
    pub fn new(log: Arc<dyn Sink>, store: Arc<dyn HealthStore>) -> Self {
        Self { log, store, known: Mutex::default(), settling: tokio::sync::Mutex::default() }
    }

    /// The same where what was kept is at hand already.
    #[must_use]
    pub fn restored(log: Arc<dyn Sink>, store: Arc<dyn HealthStore>, kept: Vec<(HealthKey, ToolHealth)>) -> Self {
        let known = Known { tools: kept.into_iter().collect(), ..Known::default() };
        Self { log, store, known: Mutex::new(known), settling: tokio::sync::Mutex::new(true) }
    }

    /// Takes in what was kept, once, and keeps what has changed since the last time. A host calls it when it starts, now and
    /// then, and when it ends.
    ///
    /// # Errors
    /// When the store does not answer; it is made up for the next time then.
    pub async fn settle(&self) -> Result<(), StoreFault> {
        let mut restored = self.settling.lock().await;
        if !*restored {
            let kept = self.store.load().await?;
            let mut known = locked(&self.known);
            for (key, before) in kept {
                let live = known.tools.get(&key).copied();
                known.tools.insert(key, live.map_or(before, |live| live.since(before)));
            }
            *restored = true;
        }
        let changed: Vec<_> = {
            let mut known = locked(&self.known);
            let keys = core::mem::take(&mut known.changed);
            keys.into_iter().filter_map(|key| known.tools.get(&key).map(|health| (key.clone(), *health))).collect()
        };
        if changed.is_empty() {
            return Ok(());
        }
        let keys: Vec<_> = changed.iter().map(|(key, _)| key.clone()).collect();
        self.store.save(changed).await.inspect_err(|_| locked(&self.known).changed.extend(keys))
    }

    /// How a tool has been doing; none when it was never run.
    #[must_use]
    pub fn health(&self, decision: &ProviderDecision) -> Option<ToolHealth> {
        locked(&self.known).tools.get(&HealthKey::of(decision)).copied()
    }

    /// Every tool that was ever run, with how it has been doing, in the order of the keys.
    #[must_use]
    pub fn all(&self) -> Vec<(HealthKey, ToolHealth)> {
        let mut all: Vec<_> = locked(&self.known).tools.iter().map(|(key, health)| (key.clone(), *health)).collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }

    /// What the caller of a call that ran, or that waits to run, is told besides: see [`guidance`](Self::guidance). A call that
    /// was refused or answered with no is not tried again for any health of its tool, and nothing is said of it.
    #[must_use]
    pub fn after(&self, outcome: &Outcome, session: SessionId, now: Timestamp) -> Option<&'static str> {
        let matters = matches!(
            outcome.kind(),
            OutcomeKind::Pending
                | OutcomeKind::Failed
                | OutcomeKind::TimedOut
                | OutcomeKind::Panicked
                | OutcomeKind::ResultTooLarge
                | OutcomeKind::ResultInvalid
                | OutcomeKind::Withheld
        );
        let entry = outcome.entry.filter(|_| matters || outcome.provider_failed())?;
        match &outcome.decided {
            Some(decided) => self.guidance(decided, session, now),
            None => self.guidance(&ProviderDecision::compiled(entry, true), session, now),
        }
    }

    /// What whoever would call a tool again is told, once in a session for each time that it begins to fail: that the last
    /// calls of it failed, and that trying again may do something twice. What only reads may be tried again, and nothing is
    /// said of it.
    #[must_use]
    pub fn guidance(&self, decision: &ProviderDecision, session: SessionId, now: Timestamp) -> Option<&'static str> {
        if decision.class.side_effect == SideEffect::ReadOnly {
            return None;
        }
        let key = HealthKey::of(decision);
        let mut known = locked(&self.known);
        if !known.tools.get(&key)?.is_failing(now) {
            return None;
        }
        if known.told.len() >= MAX_TOLD {
            known.told.clear();
        }
        let first = known.told.insert((key, session));
        first.then_some(GUIDANCE)
    }

    fn note(&self, record: &Record) {
        let Event::Outcome { asked, outcome, provider_failed, .. } = &record.event else { return };
        let ran = match outcome {
            OutcomeKind::Executed
            | OutcomeKind::Failed
            | OutcomeKind::TimedOut
            | OutcomeKind::Panicked
            | OutcomeKind::ResultTooLarge
            | OutcomeKind::ResultInvalid => HealthKey::of_record(asked),
            OutcomeKind::Pending
            | OutcomeKind::Rejected
            | OutcomeKind::Denied
            | OutcomeKind::Expired
            | OutcomeKind::Superseded
            | OutcomeKind::Cancelled
            | OutcomeKind::Withheld
            | OutcomeKind::Interrupted => None,
        };
        let Some(key) = ran else { return };
        let mut known = locked(&self.known);
        let health = ToolHealth::after(known.tools.get(&key).copied(), *outcome, *provider_failed, record.at);
        // It works, or begins to fail anew.
        if health.in_a_row <= 1 {
            known.told.retain(|(told, _)| *told != key);
        }
        known.tools.insert(key.clone(), health);
        known.changed.insert(key);
    }
}

impl Sink for HealthWatch {
    fn submit(&self, record: Record) -> Submission {
        self.note(&record);
        self.log.submit(record)
    }
}
