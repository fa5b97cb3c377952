//! Skills: packages that lie in a folder of the operator's choice, and those of them that an operator accepted.
//!
//! | module | what it does |
//! |---|---|
//! | `folder` | reads a package, file by file, and follows nothing |
//! | `package` | the bytes of one, and the skill that they are |
//! | `told` | skills as operators and sessions see them |
//!
//! What an operator accepts is every byte of a package. The accepted bytes are kept by the host: what a session is given is
//! never what the folder holds meanwhile. A folder that holds something else than was accepted puts its skill out of use,
//! while what the accepted one requires of policy stays in force until an operator accepts another one or removes it.

mod fault;
mod folder;
mod package;
mod told;

pub use fault::PackageFault;
pub(crate) use told::tools;
pub use told::{PartChange, SkillState, SkillTold, SkillToolTold, SkillWhole};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use capability_core::policy::{Policy, Registered, Source};
use capability_core::registry::Registry;
use capability_core::skill::Skill;
use capability_core::store::StoreFault;
use capability_core::{Capability, Timestamp};

use crate::policy::{RequiredPolicy, zone};
use crate::store::sqlite::{KeptSkill, SqliteSkills};
use package::Package;

/// Every skill of a host.
pub struct HostSkills {
    folder: Option<PathBuf>,
    store: SqliteSkills,
    policy: Arc<RequiredPolicy>,
    entries: Vec<&'static Capability>,
    accepted: Mutex<BTreeMap<String, Accepted>>,
    /// Held while a skill is accepted or removed: what is kept and what is in force stay the same.
    changing: tokio::sync::Mutex<()>,
}

/// A skill as an operator accepted it.
#[derive(Clone)]
struct Accepted {
    digest: [u8; 32],
    /// None for what is kept and cannot be read.
    package: Option<Arc<Package>>,
    at: Timestamp,
}

/// What stands in the folder now.
pub(crate) struct Found {
    pub(crate) package: Arc<Package>,
    pub(crate) skill: Skill,
}

/// What a look at one package found.
type Look = Result<Option<Found>, PackageFault>;

impl HostSkills {
    /// Knows what was accepted, and has it require of policy what it does.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(crate) fn open(
        folder: Option<PathBuf>,
        store: SqliteSkills,
        policy: Arc<RequiredPolicy>,
        entries: Vec<&'static Capability>,
    ) -> Result<Self, StoreFault> {
        let mut accepted = BTreeMap::new();
        for KeptSkill { name, digest, package, at } in store.all()? {
            let package = Package::of_kept(&package).map(Arc::new);
            let digest = digest.try_into().unwrap_or_default();
            accepted.insert(name, Accepted { digest, package, at });
        }
        let (accepted, changing) = (Mutex::new(accepted), tokio::sync::Mutex::default());
        let skills = Self { folder, store, policy, entries, accepted, changing };
        skills.require();
        Ok(skills)
    }

    /// Whether there is anything to look at.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.folder.is_some() || !self.accepted().is_empty()
    }

    fn accepted(&self) -> MutexGuard<'_, BTreeMap<String, Accepted>> {
        self.accepted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, name: &str) -> Option<Accepted> {
        self.accepted().get(name).cloned()
    }

    /// Has policy follow from what is accepted. What cannot be told lets nothing through.
    fn require(&self) {
        let accepted = self.accepted();
        let required = |one: &Accepted| match &one.package {
            Some(package) => package.requirements().map_err(|_| ()),
            None => Err(()),
        };
        let sources: Result<Vec<Option<Source>>, ()> = accepted.values().map(required).collect();
        self.policy.require(sources.ok().map(|sources| sources.into_iter().flatten().collect()));
    }

    /// The names of all skills: those in the folder, and those that were accepted.
    ///
    /// # Errors
    /// [`PackageFault`] when the folder cannot be read.
    pub(crate) fn names(&self) -> Result<Vec<String>, PackageFault> {
        let mut names = match &self.folder {
            Some(folder) => folder::names(folder)?,
            None => Vec::new(),
        };
        names.extend(self.accepted().keys().cloned());
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// The names of those that were accepted, in order.
    pub(crate) fn accepted_names(&self) -> Vec<String> {
        self.accepted().keys().cloned().collect()
    }

    /// What the folder holds under a name; nothing where there is no such package.
    ///
    /// # Errors
    /// [`PackageFault`] names the first thing that stands against it.
    pub(crate) fn look(&self, name: &str, servers: &dyn Fn(&str) -> bool, registry: &Registry) -> Look {
        let Some(folder) = self.folder.as_deref().filter(|_| capability_core::handle::is_configured_name(name)) else {
            return Ok(None);
        };
        let Some(package) = folder::read(folder, name)? else { return Ok(None) };
        let skill = self.checked(name, &package, servers, registry)?;
        Ok(Some(Found { package: Arc::new(package), skill }))
    }

    /// The skill that a package is, as far as this host can use it.
    fn checked(
        &self,
        name: &str,
        package: &Package,
        servers: &dyn Fn(&str) -> bool,
        registry: &Registry,
    ) -> Result<Skill, PackageFault> {
        let skill = package.skill(name)?;
        skill.check_owned(registry, servers)?;
        if let Some(required) = skill.requirements() {
            let told = |error: &dyn core::fmt::Display| {
                let text = error.to_string();
                PackageFault::Rules(text.split_once("\nhelp: ").map_or(text.clone(), |(what, _)| what.to_owned()))
            };
            let policy = Policy::compile(vec![required], &zone).map_err(|mistake| told(&mistake))?;
            let registered = Registered::of(self.entries.iter().copied());
            policy.fit(&registered).map_err(|mistake| told(&mistake))?;
        }
        Ok(skill)
    }

    /// A skill in use: accepted, and byte for byte what the folder holds now.
    pub(crate) fn loaded(&self, name: &str, servers: &dyn Fn(&str) -> bool, registry: &Registry) -> Option<Found> {
        let digest = self.of(name)?.digest;
        self.look(name, servers, registry).ok()?.filter(|found| *found.skill.digest() == digest)
    }

    /// Keeps what was found as accepted. Whoever calls it has recorded that an operator accepted just that.
    pub(crate) async fn accept(&self, name: &str, found: &Found, at: Timestamp) -> Result<(), StoreFault> {
        let _changing = self.changing.lock().await;
        let digest = *found.skill.digest();
        let kept = KeptSkill { name: name.to_owned(), digest: digest.to_vec(), package: found.package.kept(), at };
        self.store.keep(kept).await?;
        let package = Some(Arc::clone(&found.package));
        self.accepted().insert(name.to_owned(), Accepted { digest, package, at });
        self.require();
        Ok(())
    }

    /// Forgets what was accepted. Whoever calls it has recorded that. Whether there was any.
    pub(crate) async fn remove(&self, name: &str) -> Result<bool, StoreFault> {
        let _changing = self.changing.lock().await;
        let gone = self.store.forget(name).await?;
        self.accepted().remove(name);
        self.require();
        Ok(gone)
    }

    /// Whether an operator accepted any skill of that name.
    #[must_use]
    pub fn is_accepted(&self, name: &str) -> bool {
        self.of(name).is_some()
    }
}

impl core::fmt::Debug for HostSkills {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "HostSkills({})", self.accepted().len())
    }
}
