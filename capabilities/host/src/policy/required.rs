//! What skills require of policy, on top of the operator's rules.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use capability_core::policy::{Policy, PolicyRevision, PolicySource, Registered, Source};

use super::load::{load, zone};
use super::{FilePolicy, PolicyError};

/// In force where what skills require cannot be told: nothing is let through, since what one of them forbids is not known.
const NOTHING: &str = "[[rule]]\nid = \"rules-of-skills-are-unreadable\"\neffect = \"deny\"\nreason = \"the rules of an accepted \
skill cannot be read by this build; an operator accepts another one, or removes it\"\n";

/// The operator's rules, and whatever accepted skills require besides. Those can only raise.
pub struct RequiredPolicy {
    file: Arc<FilePolicy>,
    required: Mutex<Required>,
    /// Lets nothing through.
    nothing: Arc<Policy>,
}

#[derive(Default)]
struct Required {
    /// None where they cannot be told.
    sources: Option<Vec<Source>>,
    /// What became of both, by the operator's revision.
    last: Option<(PolicyRevision, Arc<Policy>)>,
}

impl RequiredPolicy {
    /// On top of these rules; nothing is required yet.
    ///
    /// # Errors
    /// When the rule that stands in for unreadable ones is none, which would be a fault of this build.
    pub(crate) fn new(file: Arc<FilePolicy>, registered: &Registered<'_>) -> Result<Self, PolicyError> {
        let nothing = Arc::new(load(Path::new("skills"), NOTHING.as_bytes(), registered)?.policy);
        Ok(Self { file, required: Mutex::new(Required { sources: Some(Vec::new()), last: None }), nothing })
    }

    /// What is required from now on; none where that cannot be told, and nothing is let through then.
    pub(crate) fn require(&self, sources: Option<Vec<Source>>) {
        *self.required.lock().unwrap_or_else(PoisonError::into_inner) = Required { sources, last: None };
    }
}

impl PolicySource for RequiredPolicy {
    fn current(&self) -> Arc<Policy> {
        let own = self.file.current();
        let mut required = self.required.lock().unwrap_or_else(PoisonError::into_inner);
        if required.sources.as_ref().is_some_and(Vec::is_empty) {
            return own;
        }
        if let Some((_, policy)) = required.last.as_ref().filter(|(of, _)| *of == own.revision()) {
            return Arc::clone(policy);
        }
        let joined = required.sources.clone().and_then(|sources| own.joined(sources, &zone).ok());
        let policy = joined.map_or_else(|| Arc::clone(&self.nothing), Arc::new);
        required.last = Some((own.revision(), Arc::clone(&policy)));
        policy
    }
}

impl core::fmt::Debug for RequiredPolicy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("RequiredPolicy")
    }
}
