//! What subjects declare: their manifests.
//!
//! A manifest is an `agent.yaml` in the data directory, below `subjects/NAME`: outside every workspace, and the host user's
//! alone. A short one may stand in `config.toml` instead. It is read whenever a session is opened, so that a declaration that is
//! taken back is taken back from the next call on. Source: the boundary contract, "Capability Rule" and "Approval Rule".

mod manifest;

pub use capability_core::session::SlotPath;
pub use manifest::ManifestError;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use capability_core::nearest;
use capability_core::policy::analysis::Entry;
use capability_core::registry::Registry;
use capability_core::session::{DECLARED_EFFECTS, Declaration, Declarations, Subject};

use crate::data_dir::{check_dir, read_private_up_to};
use manifest::{Agent, Component};

/// The largest manifest, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// The manifests of a data directory.
pub(crate) struct Manifests {
    dir: PathBuf,
    /// Everything that can be declared, and how.
    known: BTreeMap<String, Scoping>,
    /// The capabilities of the build: its own tools.
    tools: BTreeSet<String>,
    /// The providers that the operator configured.
    providers: BTreeSet<String>,
}

/// How calls of one name are told apart by a scope.
#[derive(Debug, Clone, Copy, Default)]
struct Scoping {
    /// There are calls with one.
    with: bool,
    /// There are calls without one.
    without: bool,
}

impl Scoping {
    /// What authors ask for by name, or by name and scope.
    const EITHER: Self = Self { with: true, without: true };
}

/// A subject's manifest, and those of its components by their slots.
type Parsed = (Agent, BTreeMap<SlotPath, Component>);

impl Manifests {
    /// Of the directory `dir`, which need not be there.
    pub(crate) fn new(dir: PathBuf, registry: &Registry, providers: BTreeSet<String>) -> Self {
        let names = registry.iter().map(|held| {
            let (entry, with) = (held.entry(), held.entry().scope().is_some());
            (entry.name().as_str(), Scoping { with, without: !with || Entry::of(held).scope_optional })
        });
        Self::of(dir, names, providers)
    }

    fn of<'n>(dir: PathBuf, names: impl Iterator<Item = (&'n str, Scoping)>, providers: BTreeSet<String>) -> Self {
        let mut known: BTreeMap<String, Scoping> = BTreeMap::new();
        for (name, scoping) in names {
            // Versions of one name may differ.
            let of_all = known.entry(name.to_owned()).or_default();
            *of_all = Scoping { with: of_all.with || scoping.with, without: of_all.without || scoping.without };
        }
        let tools = known.keys().cloned().collect();
        known.extend(DECLARED_EFFECTS.map(|name| (name.to_owned(), Scoping::EITHER)));
        Self { dir, known, tools, providers }
    }

    /// Where a subject's manifest lies, or would.
    pub(crate) fn path(&self, subject: &Subject) -> PathBuf {
        self.dir.join(subject.as_str()).join("agent.yaml")
    }

    /// Every subject with a manifest of its own, in order.
    pub(crate) fn subjects(&self) -> Vec<Subject> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.parse().ok());
        let has_one = |subject: &Subject| is_directory_name(subject) && self.path(subject).exists();
        let mut subjects: Vec<Subject> = names.filter(has_one).collect();
        subjects.sort();
        subjects
    }

    /// What a subject declares for one of its slots, or for none; nothing when it has no manifest here.
    ///
    /// # Errors
    /// [`ManifestError`] for a file that is no manifest, and for one that names what does not exist: a subject with such a
    /// manifest declares nothing.
    pub(crate) fn read(
        &self,
        subject: &Subject,
        slot: Option<&SlotPath>,
    ) -> Result<Option<Declarations>, ManifestError> {
        let Some((agent, components)) = self.parsed(subject)? else { return Ok(None) };
        if let Some(slot) = slot.filter(|slot| !agent.has_slot(slot)) {
            return Err(ManifestError::new(
                &self.path(subject),
                None,
                format!("it has no slot `{slot}`"),
                "name one under `slots` or `components`, or leave the slot out",
            ));
        }
        let own = slot.and_then(|slot| components.get(slot));
        Ok(Some(agent.declarations(slot, own)))
    }

    /// Every slot of a subject's agent, in order; none when it has no manifest here.
    ///
    /// # Errors
    /// As [`Manifests::read`].
    pub(crate) fn slots(&self, subject: &Subject) -> Result<Vec<SlotPath>, ManifestError> {
        Ok(self.parsed(subject)?.map(|(agent, _)| agent.slots()).unwrap_or_default())
    }

    /// A subject's manifest with those of its components, every word of them looked at.
    fn parsed(&self, subject: &Subject) -> Result<Option<Parsed>, ManifestError> {
        if !is_directory_name(subject) {
            return Ok(None);
        }
        let path = self.path(subject);
        let Some(text) = self.text(&path)? else { return Ok(None) };
        let agent = Agent::parse(&path, &text)?;
        self.check(&path, agent.declared())?;
        self.check_demands(&path, &agent.demanded())?;
        let mut components = BTreeMap::new();
        for (at, file) in &agent.components {
            let path = self.dir.join(subject.as_str()).join(file.as_path());
            let Some(text) = self.text(&path)? else {
                return Err(ManifestError::new(
                    &self.path(subject),
                    None,
                    format!("the component at `{at}` has no file `{}`", file.as_path().display()),
                    "write its manifest there, or take the component out",
                ));
            };
            let component = Component::parse(&path, &text)?;
            self.check(&path, component.declared())?;
            self.check_demands(&path, &component.demanded())?;
            components.insert(at.clone(), component);
        }
        Ok(Some((agent, components)))
    }

    /// Whether everything that is declared exists, and some call is meant by it: what covers no call at all was meant otherwise.
    pub(crate) fn check<'d>(
        &self,
        path: &Path,
        declared: impl IntoIterator<Item = &'d Declaration>,
    ) -> Result<(), ManifestError> {
        // What names an effect wrongly is told first: nothing else is meant by it.
        let declared: Vec<_> = declared.into_iter().collect();
        declared.iter().try_for_each(|declared| self.check_effect(path, declared))?;
        declared.into_iter().try_for_each(|declared| {
            let scoping = self.exists(path, "declares", declared)?;
            if !declared.is_scoped() && !scoping.without {
                return Err(ManifestError::new(
                    path,
                    None,
                    format!("it declares `{declared}`, and every call of that has a scope"),
                    "write the scope behind a colon, as in `mcp.call:docs`, or `:*` for every one",
                ));
            }
            Ok(())
        })
    }

    /// The same for what is asked about or denied. Without a scope that is every call of the name.
    fn check_demands(&self, path: &Path, demanded: &[Declaration]) -> Result<(), ManifestError> {
        demanded.iter().try_for_each(|demanded| {
            self.check_effect(path, demanded)?;
            self.exists(path, "speaks of", demanded).map(drop)
        })
    }

    fn exists(&self, path: &Path, verb: &str, named: &Declaration) -> Result<Scoping, ManifestError> {
        let Some(scoping) = self.known.get(named.name()) else {
            let near = nearest(named.name(), self.known.keys().map(String::as_str));
            let near = near.map_or_else(String::new, |near| format!("; `{near}` is one that it has"));
            return Err(ManifestError::new(
                path,
                None,
                format!("it {verb} `{named}`, and this build has no such capability{near}"),
                "write names as `capability list` shows them, without a version",
            ));
        };
        if named.is_scoped() && !scoping.with {
            return Err(ManifestError::new(
                path,
                None,
                format!("it {verb} `{named}`, and no call of that has a scope"),
                "write the name alone",
            ));
        }
        Ok(*scoping)
    }

    /// Whether the provider or tool that an effect names is one. Which tools a provider has is known when it is asked, and looked at then.
    fn check_effect(&self, path: &Path, declared: &Declaration) -> Result<(), ManifestError> {
        let Some(scope) = declared.scope() else { return Ok(()) };
        let (named, known, what) = match (declared.name(), scope.split_once('/')) {
            ("provider.call", _) => (scope, &self.providers, "provider"),
            ("tool.call", Some((provider, _))) => (provider, &self.providers, "provider"),
            ("tool.call", None) => (scope, &self.tools, "tool"),
            _ => return Ok(()),
        };
        if known.contains(named) {
            return match self.known.get(named).filter(|_| what == "tool") {
                Some(scoping) if !scoping.without => Err(ManifestError::new(
                    path,
                    None,
                    format!("it declares `{declared}`, and every call of that has a scope"),
                    "declare the capability itself with its scope, as in `mcp.call:docs`",
                )),
                _ => Ok(()),
            };
        }
        let near = nearest(named, known.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; `{near}` is one"));
        Err(ManifestError::new(
            path,
            None,
            format!("it declares `{declared}`, and there is no {what} `{}`{near}", named.escape_default()),
            "write `provider.call:NAME` with a name under `[mcp.servers]`, `tool.call:NAME/TOOL`, or `tool.call:CAPABILITY`",
        ))
    }

    /// A file of a manifest: the host user's alone, and so is everything above it in the directory.
    fn text(&self, path: &Path) -> Result<Option<String>, ManifestError> {
        let mut above: Vec<_> = path.ancestors().skip(1).take_while(|part| part.starts_with(&self.dir)).collect();
        above.reverse();
        for part in above {
            match fs::symlink_metadata(part) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
                _ => check_dir(part).map_err(|error| ManifestError::file(path, &error))?,
            }
        }
        match read_private_up_to(path, MAX_BYTES).map_err(|error| ManifestError::file(path, &error))? {
            None => Ok(None),
            Some(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(ManifestError::new(path, None, "it is not UTF-8 text".to_owned(), "save it as UTF-8")),
            },
        }
    }
}

/// A subject may be called `..`, and no directory of its own can be.
fn is_directory_name(subject: &Subject) -> bool {
    !subject.as_str().starts_with('.')
}

/// What every text must hold to that is read as a manifest: for tests and fuzzers.
#[doc(hidden)]
pub fn hold(text: &str) {
    let path = Path::new("agent.yaml");
    let told = |error: ManifestError| assert!(!error.what().contains('\n') && !error.help().is_empty(), "{error}");
    match Agent::parse(path, text) {
        Ok(agent) => {
            // What is taken for a declaration is one, in whatever way the text wrote it.
            let alike = |one: &Declaration| one.to_string().parse::<Declaration>().is_ok_and(|again| again == *one);
            assert!(agent.declared().into_iter().all(alike), "{agent:?}");
            // Nothing that a manifest says of its approvals makes it declare more.
            let listed = agent.declarations(None, None);
            assert!(listed.listed().iter().all(|one| agent.declared().contains(&one)), "{agent:?}");
            for file in agent.components.values().map(manifest::ComponentFile::as_path) {
                assert!(file.is_relative() && !file.to_string_lossy().split('/').any(|part| part == ".."), "{agent:?}");
            }
        }
        Err(error) => told(error),
    }
    if let Err(error) = Component::parse(path, text) {
        told(error);
    }
}

#[cfg(test)]
mod tests;
