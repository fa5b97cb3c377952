//! The file, watched by looking at it.
//!
//! Each call looks at the file's metadata first, so that an edit counts from the very next call on. A watcher would be told by
//! the kernel a little later, and between the edit and the telling, calls would be judged by rules that are no longer written
//! anywhere. A look costs about a microsecond, which next to a record on disk is nothing.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use capability_core::audit::{Event, Record, SettingKey, Sink};
use capability_core::policy::{Policy, PolicyRevision, PolicySource, Registered};
use capability_core::session::Subject;
use capability_core::{Capability, Environment};

use super::{Loaded, PolicyError, Waiting, load};
use crate::data_dir::{read_private_up_to, write_private};
use crate::host::operator_name;

/// The largest file of rules, in bytes.
pub(crate) const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// For so long after a change the file's content is compared at every call too: a second change within one tick of the file
/// system's clock cannot be seen from outside.
const UNSETTLED: Duration = Duration::from_secs(2);

/// Where the rules and the copy of what is in force lie.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// What the operator writes.
    pub(crate) rules: PathBuf,
    /// What was last in force, written by the host.
    pub(crate) copy: PathBuf,
}

/// The operator's rules, read from a file in the data directory whenever it changed.
///
/// A file that makes no policy leaves in force what was, and so does one that is gone. Both are told: once in the log, and by
/// `capability doctor` for as long as they last.
pub struct FilePolicy {
    reader: Reader,
    state: Mutex<State>,
}

/// How the rules stand.
#[derive(Clone)]
pub(crate) struct Standing {
    /// What is in force.
    pub(crate) policy: Arc<Policy>,
    /// What is strange about it.
    pub(crate) strange: Vec<String>,
    /// Why the file is not what is in force, with what to do.
    pub(crate) problem: Option<String>,
    /// What the file says, when an operator has to accept it first.
    pub(crate) waiting: Option<Arc<Waiting>>,
}

struct State {
    standing: Standing,
    /// The file when it was last read.
    seen: Seen,
    /// Until then its content is compared too.
    unsettled_until: Option<Instant>,
    /// Which text was read last; none for a file that is not there or cannot be read.
    text: Option<PolicyRevision>,
}

/// What can be seen of a file from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    File { place: (u64, u64), size: u64, changed: (i64, i64), modified: (i64, i64) },
    Nothing,
    Unseen,
}

impl Seen {
    fn of(path: &Path) -> Self {
        match fs::symlink_metadata(path) {
            Ok(found) => Self::File {
                place: (found.dev(), found.ino()),
                size: found.size(),
                changed: (found.ctime(), found.ctime_nsec()),
                modified: (found.mtime(), found.mtime_nsec()),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::Nothing,
            Err(_) => Self::Unseen,
        }
    }
}

impl FilePolicy {
    /// Reads the file for the first time. No file is no rules, unless some were in force before.
    ///
    /// # Errors
    /// [`PolicyError`] for a file that makes no policy, for one that is gone, and when the log cannot take the change.
    pub(crate) fn open(
        places: Places,
        entries: Vec<&'static Capability>,
        subjects: Vec<Subject>,
        sink: Arc<dyn Sink>,
        environment: Arc<dyn Environment>,
    ) -> Result<Self, PolicyError> {
        let reader = Reader { places, entries, subjects, sink, environment };
        let standing = Standing { policy: Arc::default(), strange: Vec::new(), problem: None, waiting: None };
        let mut state = State {
            standing,
            seen: Seen::of(&reader.places.rules),
            unsettled_until: Some(Instant::now() + UNSETTLED),
            text: None,
        };
        let before = read(&reader.places.copy)?;
        match read(&reader.places.rules)? {
            None if before.is_some() => return Err(reader.gone()),
            None => {}
            Some(bytes) => {
                let loaded = load(&reader.places.rules, &bytes, &reader.registered())?;
                state.text = Some(loaded.policy.revision());
                match before {
                    // What was in force when the host ended goes on; anything else is new.
                    Some(before) if before == bytes => state.standing.take(loaded),
                    before => {
                        state.standing.policy = Arc::new(reader.before(before.as_deref())?);
                        reader.weigh(&mut state, loaded, bytes)?;
                    }
                }
            }
        }
        Ok(Self { reader, state: Mutex::new(state) })
    }

    /// How the rules stand now.
    pub(crate) fn standing(&self) -> Standing {
        self.looked().standing.clone()
    }

    /// Puts what waits for an operator in force. Whoever calls it has recorded that an operator accepted just that.
    ///
    /// # Errors
    /// [`PolicyError`] when the file is another one meanwhile, and when the log cannot take the change.
    pub(crate) fn accept(&self, accepted: &Waiting) -> Result<(), PolicyError> {
        let mut state = self.looked();
        let Some(waiting) = state.standing.waiting.take().filter(|waiting| waiting.is(accepted)) else {
            return Err(PolicyError::NotThat { path: self.reader.places.rules.clone() });
        };
        if let Err(error) = self.reader.admit(&waiting.policy, &waiting.bytes) {
            state.standing.waiting = Some(waiting);
            return Err(error);
        }
        let Waiting { policy, strange, .. } = &*waiting;
        state.standing =
            Standing { policy: Arc::clone(policy), strange: strange.clone(), problem: None, waiting: None };
        Ok(())
    }

    fn looked(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = Seen::of(&self.reader.places.rules);
        if seen != state.seen {
            state.unsettled_until = Some(Instant::now() + UNSETTLED);
        }
        if let Some(until) = state.unsettled_until {
            // The look came first: what changes while the file is read is seen the next time.
            state.seen = seen;
            self.reader.reread(&mut state);
            if Instant::now() >= until {
                state.unsettled_until = None;
            }
        }
        state
    }
}

impl PolicySource for FilePolicy {
    fn current(&self) -> Arc<Policy> {
        Arc::clone(&self.looked().standing.policy)
    }
}

impl core::fmt::Debug for FilePolicy {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "FilePolicy({})", self.reader.places.rules.display())
    }
}

impl Standing {
    fn take(&mut self, Loaded { policy, strange }: Loaded) {
        *self = Self { policy: Arc::new(policy), strange, problem: None, waiting: None };
    }
}

/// What reading takes, and where changes are told.
pub(super) struct Reader {
    pub(super) places: Places,
    pub(super) entries: Vec<&'static Capability>,
    subjects: Vec<Subject>,
    sink: Arc<dyn Sink>,
    pub(super) environment: Arc<dyn Environment>,
}

impl Reader {
    pub(super) fn registered(&self) -> Registered<'_> {
        Registered::of(self.entries.iter().copied()).with_subjects(&self.subjects)
    }

    fn gone(&self) -> PolicyError {
        PolicyError::Gone { path: self.places.rules.clone(), copy: self.places.copy.clone() }
    }

    /// Reads the file, and puts it in force when it is another one and makes a policy.
    fn reread(&self, state: &mut State) {
        let bytes = match read(&self.places.rules) {
            Ok(Some(bytes)) => bytes,
            // Nothing was ever in force, and nothing is.
            Ok(None) if state.standing.policy.is_empty() && !self.places.copy.exists() => {
                state.text = None;
                state.standing.problem = None;
                return;
            }
            Ok(None) => return self.refuse(state, None, &self.gone()),
            Err(error) => return self.refuse(state, None, &error),
        };
        let text = PolicyRevision::of_operator_text(&bytes);
        if state.text == Some(text) {
            return;
        }
        if state.standing.policy.revision() == text {
            state.text = Some(text);
            (state.standing.problem, state.standing.waiting) = (None, None);
            return;
        }
        let loaded = load(&self.places.rules, &bytes, &self.registered());
        match loaded.and_then(|loaded| self.weigh(state, loaded, bytes)) {
            Ok(()) => state.text = Some(text),
            Err(error) => self.refuse(state, Some(text), &error),
        }
    }

    /// Puts rules in force that let through nothing new; all others wait for an operator, and what was in force stays.
    fn weigh(&self, state: &mut State, loaded: Loaded, bytes: Vec<u8>) -> Result<(), PolicyError> {
        let Loaded { policy, strange } = loaded;
        let policy = Arc::new(policy);
        let comparison = self.compared(&state.standing.policy, &policy);
        if comparison.relation.only_narrows() {
            self.admit(&policy, &bytes)?;
            state.standing = Standing { policy, strange, problem: None, waiting: None };
            return Ok(());
        }
        let waiting = Waiting { policy, strange, bytes, comparison };
        let problem = waiting.problem(&self.places.rules);
        tracing::warn!("{problem}\nwhat was in force before stays in force");
        let _ = self.told(SettingKey::PolicyHeld { revision: waiting.policy.revision() });
        state.standing.problem = Some(problem);
        state.standing.waiting = Some(Arc::new(waiting));
        Ok(())
    }

    /// Records what comes into force, and keeps a copy of it: first told, then kept, and only then does it count.
    fn admit(&self, policy: &Policy, bytes: &[u8]) -> Result<(), PolicyError> {
        let (revision, rules) = (policy.revision(), policy.rules().count());
        if !self.told(SettingKey::Policy { revision, rules }) {
            return Err(PolicyError::Untold { path: self.places.rules.clone() });
        }
        write_private(&self.places.copy, bytes).map_err(PolicyError::File)?;
        tracing::info!(%revision, rules, "rules are in force");
        Ok(())
    }

    /// What is in force stays. Told once for each text and each reason.
    fn refuse(&self, state: &mut State, text: Option<PolicyRevision>, error: &PolicyError) {
        let problem = error.to_string();
        if state.standing.problem.as_ref() != Some(&problem) || state.text != text {
            tracing::warn!("{problem}\nwhat was in force before stays in force");
            // A log that takes no more refuses every call by itself.
            let _ = self.told(SettingKey::PolicyRefused { revision: text });
        }
        state.text = text;
        (state.standing.problem, state.standing.waiting) = (Some(problem), None);
    }

    fn told(&self, key: SettingKey) -> bool {
        // Who changes a file in the data directory is an operator.
        let event = Event::Configuration { key, operator: operator_name() };
        !self.sink.submit(Record { at: self.environment.now(), event }).is_refused()
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, PolicyError> {
    read_private_up_to(path, MAX_FILE_BYTES).map_err(PolicyError::File)
}

#[cfg(test)]
mod tests;
