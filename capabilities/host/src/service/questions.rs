//! Questions to the rules, and what somebody can do under them.

use core::time::Duration;
use std::path::Path;
use std::sync::Arc;

use capability_core::policy::analysis::{
    Asker, Entry, Matrix, Row, Sketch, Surroundings, compare, explain, matrix, reach,
};
use capability_core::policy::{self, Registered};
use capability_core::self_model::SelfModel;
use capability_core::session::{Declarations, Mode, SlotPath, Subject};
use rustix::process::Pid;
use serde_json::json;

use super::{Service, document};
use crate::blocking::blocking;
use crate::policy::{Loaded, Standing, digest, load};
use crate::protocol::{AskedCall, Compared, Eyes, Fault, PolicyQuestion, Reached, Reply};

/// How long a question for what is new waits for it.
const FOLLOWED_FOR: Duration = Duration::from_secs(2);
/// How often it looks by itself: files change without telling anybody.
const LOOKED_EVERY: Duration = Duration::from_millis(500);

impl Service {
    pub(super) async fn asked(&self, question: &PolicyQuestion, peer: Option<Pid>) -> Result<Reply, Fault> {
        match question {
            PolicyQuestion::Explain(call) => document(&self.explained(call)?),
            PolicyQuestion::Matrix { subject, slot } => {
                document(&blocking(|| self.table(subject.as_ref(), slot.as_ref()))?)
            }
            PolicyQuestion::Reach { subject, slot, capability, unasked } => {
                document(&blocking(|| self.reached(subject, slot.as_ref(), capability.as_deref(), *unasked))?)
            }
            PolicyQuestion::Compare { file } => document(&blocking(|| self.compared(file.as_ref()))?),
            PolicyQuestion::Accept { proof, digest } => {
                let operator = self.operator(proof, peer)?;
                let accepted = self.host.accept_policy(&operator, digest).await;
                let revision = accepted.map_err(|error| Fault::told(4, &error))?;
                document(&json!({ "revision": revision.to_string() }))
            }
            PolicyQuestion::SelfModel { eyes, seen: None } => document(&blocking(|| self.seen_by(eyes))?),
            PolicyQuestion::SelfModel { eyes, seen: Some(seen) } => document(&self.next_after(eyes, seen).await?),
        }
    }

    fn callable(&self) -> Vec<Entry<'static>> {
        self.host.executor().registry().iter().map(Entry::of).collect()
    }

    pub(crate) fn explained(&self, call: &AskedCall) -> Result<policy::analysis::Explanation, Fault> {
        let AskedCall { name, version, eyes, scope, target, at } = call;
        let version = self.version(name, *version)?;
        let executor = self.host.executor();
        let found = executor.registry().resolve(name, version.get()).ok_or_else(|| {
            Fault::refused(format!("no capability is `{name}@{version}`"), "see what exists with `capability list`")
        })?;
        let capability = found.entry();
        if let (Some(_), None) = (target, capability.target().argument) {
            return Err(Fault::usage(format!("`{name}` acts on nothing in particular"), "leave `--target` out"));
        }
        if let (Some(_), None) = (scope, capability.scope()) {
            return Err(Fault::usage(format!("`{name}` has no scope"), "leave `--scope` out"));
        }
        let sketch = Sketch {
            subject: eyes.subject.clone(),
            capability: name.clone(),
            version,
            scope: scope.clone(),
            origin: eyes.origin,
            target: target.clone(),
            at: at.unwrap_or_else(|| self.host.environment().now()),
            class: None,
        };
        let declarations = self.declared(&eyes.subject, eyes.slot.as_ref())?;
        let asker = Asker { subject: &eyes.subject, declarations: &declarations, mode: eyes.mode, behind: &[] };
        let in_force = executor.policy();
        let decision = policy::explain(&sketch.question(capability, &asker, executor, &in_force));
        Ok(explain(sketch.clone(), &decision))
    }

    /// What subjects may, each in every slot that it may ask from. A manifest that is none is told in its row.
    pub(crate) fn table(&self, subject: Option<&Subject>, slot: Option<&SlotPath>) -> Result<Matrix, Fault> {
        let (local, known) = (Subject::local(), self.host.subjects());
        let asked = match (subject, slot) {
            (Some(subject), slot) => {
                self.everywhere(subject, slot)?.into_iter().map(|one| (subject, Ok(one))).collect()
            }
            (None, Some(_)) => return Err(Fault::usage("a slot is a subject's", "say whose with `--subject NAME`")),
            (None, None) => core::iter::once(&local)
                .chain(&known)
                .flat_map(|subject| match self.everywhere(subject, None) {
                    Ok(all) => all.into_iter().map(|one| (subject, Ok(one))).collect(),
                    Err(fault) => vec![(subject, Err(fault.message))],
                })
                .collect::<Vec<_>>(),
        };
        let executor = self.host.executor();
        let (in_force, now, callable) = (executor.policy(), self.host.environment().now(), self.callable());
        let askers = asked.iter().filter_map(|(subject, from)| {
            let (_, declarations) = from.as_ref().ok()?;
            Some(Asker { subject, declarations, mode: Mode::Live, behind: &[] })
        });
        let mut told = matrix(&in_force, &askers.collect::<Vec<_>>(), &callable, executor, now).rows.into_iter();
        let rows = asked.iter().filter_map(|(subject, from)| match from {
            Ok((slot, _)) => told.next().map(|row| Row { slot: slot.clone(), ..row }),
            Err(fault) => {
                let (subject, fault) = ((*subject).clone(), Some(fault.clone()));
                Some(Row { subject, slot: None, fault, standings: Vec::new() })
            }
        });
        Ok(Matrix { rows: rows.collect() })
    }

    /// Everywhere that a subject may ask from, with what it declares there; or the one slot that is named.
    fn everywhere(
        &self,
        subject: &Subject,
        slot: Option<&SlotPath>,
    ) -> Result<Vec<(Option<SlotPath>, Declarations)>, Fault> {
        let slots = match slot {
            Some(slot) => vec![Some(slot.clone())],
            None => self.slots(subject)?,
        };
        slots.into_iter().map(|slot| Ok((slot.clone(), self.declared(subject, slot.as_ref())?))).collect()
    }

    fn reached(
        &self,
        subject: &Subject,
        slot: Option<&SlotPath>,
        capability: Option<&str>,
        unasked: bool,
    ) -> Result<Vec<Reached>, Fault> {
        let from = self.everywhere(subject, slot)?;
        let executor = self.host.executor();
        let (in_force, now, callable) = (executor.policy(), self.host.environment().now(), self.callable());
        let around: &dyn Surroundings = executor;
        let named = |entry: &&Entry<'_>| capability.is_none_or(|name| entry.capability.name().as_str() == name);
        let found: Vec<_> = callable
            .iter()
            .filter(named)
            .flat_map(|entry| from.iter().map(move |from| (entry, from)))
            .map(|(entry, (slot, declarations))| {
                let asker = Asker { subject, declarations, mode: Mode::Live, behind: &[] };
                Reached {
                    capability: entry.capability.to_string(),
                    slot: slot.clone(),
                    reach: reach(&in_force, &asker, entry, unasked, around, now),
                }
            })
            .collect();
        match capability {
            Some(name) if found.is_empty() => Err(Fault::refused(
                format!("no capability is called `{name}`"),
                "see what exists with `capability list`",
            )),
            _ => Ok(found),
        }
    }

    fn compared(&self, file: Option<&(String, String)>) -> Result<Compared, Fault> {
        let standing = self.host.policy().standing();
        let (new, waits) = match (file, &standing.waiting) {
            (Some((name, text)), _) => {
                let registry = self.host.executor().registry();
                let subjects = self.host.subjects();
                let registered = Registered::of(registry.iter().map(|held| held.entry())).with_subjects(&subjects);
                let loaded = load(Path::new(name), text.as_bytes(), &registered);
                let Loaded { policy, .. } = loaded.map_err(|error| Fault::told(4, &error))?;
                (Arc::new(policy), false)
            }
            (None, Some(waiting)) => (Arc::clone(&waiting.policy), true),
            // It makes no policy, and doctor says why.
            (None, None) => match standing.problem {
                Some(problem) => return Err(Fault::told(4, &problem)),
                None => (Arc::clone(&standing.policy), false),
            },
        };
        let Standing { policy: in_force, .. } = standing;
        let comparison = compare(&in_force, &new, &self.callable(), self.host.environment().now());
        Ok(Compared {
            revision: new.revision().to_string(),
            in_force: in_force.revision().to_string(),
            digest: digest(&new),
            waits,
            comparison,
        })
    }

    fn seen_by(&self, eyes: &Eyes) -> Result<SelfModel, Fault> {
        let Eyes { subject, slot, mode, origin } = eyes;
        let declarations = self.declared(subject, slot.as_ref())?;
        let asker = Asker { subject, declarations: &declarations, mode: *mode, behind: &[] };
        let (executor, now) = (self.host.executor(), self.host.environment().now());
        Ok(SelfModel::of(executor.registry(), &executor.policy(), &asker, *origin, executor, now))
    }

    /// The next self-model in which something is otherwise than in this one; none when that takes too long.
    async fn next_after(&self, eyes: &Eyes, seen: &SelfModel) -> Result<Option<SelfModel>, Fault> {
        let mut changes = self.host.changes();
        let until = tokio::time::Instant::now() + FOLLOWED_FOR;
        loop {
            let model = blocking(|| self.seen_by(eyes))?;
            if !model.change_since(seen).is_empty() {
                return Ok(Some(model));
            }
            if tokio::time::Instant::now() >= until {
                return Ok(None);
            }
            let _ = tokio::time::timeout(LOOKED_EVERY, changes.changed()).await;
        }
    }
}
