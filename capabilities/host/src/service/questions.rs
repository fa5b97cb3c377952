//! Questions to the rules, and what somebody can do under them.

use core::time::Duration;
use std::path::Path;
use std::sync::Arc;

use capability_core::policy::analysis::{Asker, Entry, Matrix, Sketch, Surroundings, compare, explain, matrix, reach};
use capability_core::policy::{self, Registered};
use capability_core::self_model::SelfModel;
use capability_core::session::{Declarations, Mode, Subject};
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
            PolicyQuestion::Matrix { subject } => document(&blocking(|| self.table(subject.as_ref()))?),
            PolicyQuestion::Reach { subject, capability, unasked } => {
                document(&blocking(|| self.reached(subject, capability.as_deref(), *unasked))?)
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
        let declarations = self.manifest(&eyes.subject)?;
        let asker = Asker { subject: &eyes.subject, declarations: &declarations, mode: eyes.mode, behind: &[] };
        let in_force = executor.policy();
        let decision = policy::explain(&sketch.question(capability, &asker, executor, &in_force));
        Ok(explain(sketch.clone(), &decision))
    }

    pub(crate) fn table(&self, subject: Option<&Subject>) -> Result<Matrix, Fault> {
        let (local, known) = (Subject::local(), self.host.subjects());
        let subjects: Vec<&Subject> = match subject {
            Some(subject) => vec![subject],
            None => core::iter::once(&local).chain(&known).collect(),
        };
        let declared: Vec<(&Subject, Declarations)> =
            subjects.into_iter().map(|subject| Ok((subject, self.manifest(subject)?))).collect::<Result<_, Fault>>()?;
        let askers: Vec<_> = declared
            .iter()
            .map(|(subject, declarations)| Asker { subject, declarations, mode: Mode::Live, behind: &[] })
            .collect();
        let executor = self.host.executor();
        Ok(matrix(&executor.policy(), &askers, &self.callable(), executor, self.host.environment().now()))
    }

    fn reached(&self, subject: &Subject, capability: Option<&str>, unasked: bool) -> Result<Vec<Reached>, Fault> {
        let declarations = self.manifest(subject)?;
        let asker = Asker { subject, declarations: &declarations, mode: Mode::Live, behind: &[] };
        let executor = self.host.executor();
        let (in_force, now) = (executor.policy(), self.host.environment().now());
        let around: &dyn Surroundings = executor;
        let named = |entry: &Entry<'_>| capability.is_none_or(|name| entry.capability.name().as_str() == name);
        let found: Vec<_> = self
            .callable()
            .iter()
            .filter(|entry| named(entry))
            .map(|entry| Reached {
                capability: entry.capability.to_string(),
                reach: reach(&in_force, &asker, entry, unasked, around, now),
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
        let Eyes { subject, mode, origin } = eyes;
        let declarations = self.manifest(subject)?;
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
