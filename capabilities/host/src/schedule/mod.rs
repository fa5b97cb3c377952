//! Calls that are made at times: what a subject may plan, and what happens when its time has come.
//!
//! A run is a call like any other. It is made in a session of its own, of the subject `schedule:NUMBER`, that declares the one
//! capability which the schedule is about and acts for the subject that made it: whatever that subject may not do, its schedule may
//! not do either. A time that went by while no host was there is counted and never made up for.

mod cron;

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::Arc;

use capability_core::executor::Proposal;
use capability_core::handle::{BrokerFault, Lease, Plan, Scheduled};
use capability_core::session::{
    Declaration, Declarations, Mode, Origin, Session, SessionIdentity, SlotPath, Subject, TurnId,
};
use capability_core::{Environment, Timestamp};

use crate::host::Host;
use crate::protocol::drawn_turn;
use crate::store::sqlite::{Maker, OwnedSchedule, SqliteSchedules};
use cron::Times;

/// How late a run may begin: the host looks every ten seconds, and may be busy.
const GRACE: Duration = Duration::from_secs(120);
/// How many times that went by are counted at once.
const MOST_MISSED: u64 = 10_000;
/// How many of the next times are foreseen.
const FORESEEN: usize = 3;

/// What a subject may do with its schedules.
pub struct Schedules {
    store: SqliteSchedules,
    environment: Arc<dyn Environment>,
    /// Every capability of the build.
    known: BTreeSet<String>,
}

impl Schedules {
    pub fn new(store: SqliteSchedules, environment: Arc<dyn Environment>, known: BTreeSet<String>) -> Self {
        Self { store, environment, known }
    }

    /// When a plan of this call's would run next.
    pub fn foreseen(&self, lease: &Lease, plan: &Plan) -> Result<Vec<Timestamp>, BrokerFault> {
        // Whoever is above it would not be above its runs: they outlive it.
        if lease.acts_for_another() {
            return Err(BrokerFault::ActsForAnother);
        }
        if !plan.fits() {
            return Err(BrokerFault::CapExceeded);
        }
        let times = Times::of(&plan.cron, &plan.zone).ok_or(BrokerFault::MalformedPlan)?;
        let name = name_of(&plan.capability).ok_or(BrokerFault::MalformedPlan)?;
        // A schedule that makes schedules would be for ever.
        if !self.known.contains(name) || name.starts_with("schedule.") {
            return Err(BrokerFault::MalformedPlan);
        }
        if serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&plan.arguments).is_err() {
            return Err(BrokerFault::MalformedPlan);
        }
        let mut at = self.environment.now();
        let mut next = Vec::new();
        while next.len() < FORESEEN {
            let Some(time) = times.after(at) else { break };
            next.push(time);
            at = time;
        }
        if next.is_empty() { Err(BrokerFault::MalformedPlan) } else { Ok(next) }
    }

    /// Makes a schedule of the call's subject: of the very slot that asked, for the reason that brought it.
    pub async fn create(&self, lease: &Lease, plan: Plan) -> Result<u64, BrokerFault> {
        let next = self.foreseen(lease, &plan)?.first().copied().ok_or(BrokerFault::MalformedPlan)?;
        let SessionIdentity { subject, origin, .. } = lease.identity().clone();
        self.store.create(Maker { subject, slot: lease.slot().cloned(), origin }, plan, next).await
    }

    /// The schedules of the identity's subject.
    pub async fn list(&self, identity: &SessionIdentity) -> Result<Vec<Scheduled>, BrokerFault> {
        let found = self.store.list(Some(identity.subject.clone())).await.map_err(|_| BrokerFault::Unavailable)?;
        Ok(found.into_iter().map(|found| found.schedule).collect())
    }

    /// Ends a schedule of the identity's subject.
    pub async fn cancel(&self, identity: &SessionIdentity, number: u64) -> Result<(), BrokerFault> {
        match self.store.cancel(number, Some(identity.subject.clone())).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(BrokerFault::UnknownSchedule),
            Err(_) => Err(BrokerFault::Unavailable),
        }
    }
}

/// The name in a declaration, without its scope.
fn name_of(declaration: &str) -> Option<&str> {
    declaration.parse::<Declaration>().ok()?;
    Some(declaration.split_once(':').map_or(declaration, |(name, _)| name))
}

impl Host {
    /// Makes the calls whose time has come by `now`, one after the other, each to its end: a person's answer included. Several of these
    /// may run at a time; each call is made by one of them.
    pub async fn run_due(&self, now: Timestamp) {
        // A store that does not answer has said so itself; the next look tries again.
        let Ok(due) = self.schedules().due(now).await else { return };
        for found in due {
            self.run(found, now).await;
        }
    }

    async fn run(&self, due: OwnedSchedule, now: Timestamp) {
        let OwnedSchedule { maker, schedule: Scheduled { number, plan, next_at, .. } } = due;
        let Some(due_at) = next_at else { return };
        let times = Times::of(&plan.cron, &plan.zone);
        let next = times.as_ref().and_then(|times| times.after(now));
        let went_by = times.as_ref().map_or(0, |times| times.between(due_at, now, MOST_MISSED));
        let (name, store) = (name_of(&plan.capability), self.schedules());
        let version = name.and_then(|name| self.executor().registry().newest(name));
        let (Some(name), Some(version), true) = (name, version, now.since(due_at) <= GRACE) else {
            tracing::warn!(number, "a schedule's time went by unused");
            let _ = store.move_on(number, due_at, next, went_by.saturating_add(1), None).await;
            return;
        };
        // Whoever moves it on runs it.
        if !matches!(store.move_on(number, due_at, next, went_by, Some(now)).await, Ok(true)) {
            return;
        }
        let Some(session) = self.session_of(&maker, number, &plan.capability) else {
            let _ = store.ended(number, "rejected").await;
            return;
        };
        let executor = self.executor();
        let outcome = executor.invoke(&session, Proposal::new(name, version.get(), plan.arguments)).await;
        let (mut ended, mut resumed) = (outcome.kind().as_str(), None);
        if let Some(approval) = outcome.approval() {
            let _ = store.ended(number, "pending").await;
            // It waits for as long as any question does, and no longer.
            if executor.answered(&session, approval).await.is_ok() {
                // By then its maker's manifest may say something else.
                resumed = self.session_of(&maker, number, &plan.capability);
                match &resumed {
                    Some(later) => ended = executor.resume(later, approval).await.kind().as_str(),
                    None => ended = "rejected",
                }
            }
        }
        let _ = store.ended(number, ended).await;
        // The turn was for this one call: whatever it left running ends with it, and so does whoever it started.
        for session in resumed.iter().chain([&session]) {
            executor.end_session(session).await;
        }
    }

    /// A fresh turn of a schedule, for the subject and slot that made it. What its maker may not do for the reason that brought it
    /// then, its runs may not do either.
    fn session_of(&self, maker: &Maker, number: u64, capability: &str) -> Option<Session> {
        let identity = |subject: Subject, origin: Origin| {
            let mut drawn = [0; 8];
            self.environment().fill_random(&mut drawn);
            let turn: TurnId = drawn_turn(u64::from_be_bytes(drawn));
            SessionIdentity { id: self.new_session_id(), subject, mode: Mode::Live, origin, turn }
        };
        let own = Declarations::only(vec![capability.parse().ok()?]);
        let schedule: Subject = format!("schedule:{number}").parse().ok()?;
        let Maker { subject, slot, origin } = maker;
        let declarations = self.declarations(subject, slot.as_ref());
        let behind = self.sessions().open_in(slot.clone(), identity(subject.clone(), *origin), declarations);
        Some(self.sessions().open_for(&behind, identity(schedule, Origin::Schedule), own))
    }

    /// What a subject declares now in a slot, by its manifest.
    pub(crate) fn declarations(&self, subject: &Subject, slot: Option<&SlotPath>) -> Declarations {
        if *subject == Subject::local() {
            return Declarations::everything();
        }
        match (self.config().subjects.get(subject), self.manifests().read(subject, slot)) {
            (None, Ok(Some(declarations))) => declarations,
            (Some(manifest), Ok(None)) if slot.is_none() => Declarations::only(manifest.capabilities.clone()),
            // Without a manifest that counts, or without that slot in it, it declares nothing.
            _ => Declarations::only(Vec::new()),
        }
    }

    /// The schedules, for operators.
    #[must_use]
    pub fn schedules(&self) -> SqliteSchedules {
        self.database().schedules()
    }
}
