//! Repositories that the operator configured: read where they lie, or from the copy that was fetched last.
//!
//! A call never reaches further than the disk. What is fetched is fetched by the operator's word, whole, into a folder beside the
//! copy in use, which then takes its place in one step.

mod carrier;
mod fetch;
mod read;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use capability_core::Timestamp;
use capability_core::handle::{BrokerFault, Revised};
use tokio::sync::Mutex;

use super::endpoint::EndpointSettings;
use super::resolve::Resolver;

/// Where a repository is, as the operator configured it, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepositorySource {
    /// On this machine: the repository's folder, or the one it is checked out in.
    Here(PathBuf),
    /// Elsewhere, and read from a copy.
    Elsewhere(Box<Elsewhere>),
}

/// A repository that is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// How it is reached.
    pub server: EndpointSettings,
    /// The name to sign in with, and the file that holds the password.
    pub login: Option<(String, PathBuf)>,
    /// How many commits of each branch are fetched.
    pub depth: core::num::NonZeroU32,
}

/// Every configured repository.
pub struct Repositories {
    sources: BTreeMap<String, RepositorySource>,
    /// Where the copies are.
    copies: PathBuf,
    resolver: Arc<dyn Resolver>,
    /// One fetch at a time.
    fetching: Mutex<()>,
}

impl Repositories {
    pub fn new(sources: BTreeMap<String, RepositorySource>, copies: PathBuf, resolver: Arc<dyn Resolver>) -> Self {
        Self { sources, copies, resolver, fetching: Mutex::new(()) }
    }

    /// Whether there is anything to read.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// What stands at a path of a revision. It takes as long as the disk does.
    pub fn read(&self, name: &str, revision: &str, path: &str) -> Result<Revised, BrokerFault> {
        match self.sources.get(name).ok_or(BrokerFault::UnknownRepository)? {
            RepositorySource::Here(place) => read::read(place, revision, path),
            RepositorySource::Elsewhere(_) => {
                let copy = self.copy(name);
                let fetched_at = fetched_at(&copy).ok_or(BrokerFault::NotFetched)?;
                read::read(&copy, revision, path).map(|read| Revised { fetched_at: Some(fetched_at), ..read })
            }
        }
    }

    /// When a copy was fetched; `None` where there is none yet.
    pub fn fetched_at(&self, name: &str) -> Option<Timestamp> {
        fetched_at(&self.copy(name))
    }

    /// Fetches anew what is elsewhere.
    ///
    /// # Errors
    /// [`BrokerFault::UnknownRepository`] for one that is not configured or is on this machine; otherwise why it could not be
    /// fetched. The copy in use is what it was then.
    pub async fn fetch(&self, name: &str) -> Result<(), BrokerFault> {
        let Some(RepositorySource::Elsewhere(source)) = self.sources.get(name) else {
            return Err(BrokerFault::UnknownRepository);
        };
        let _alone = self.fetching.lock().await;
        fetch::fetch(source, self.copy(name), Arc::clone(&self.resolver)).await
    }

    fn copy(&self, name: &str) -> PathBuf {
        self.copies.join(format!("{name}.git"))
    }
}

fn fetched_at(copy: &std::path::Path) -> Option<Timestamp> {
    let modified = std::fs::metadata(copy.join("HEAD")).ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_micros()).ok().map(Timestamp::from_micros)
}

/// Opens a repository of this machine with further configuration of ours, which goes before its own.
pub fn open_with(place: &std::path::Path, ours: &[&str]) -> Result<gix::Repository, BrokerFault> {
    read::open(place, ours)
}

/// How a repository is opened: its own configuration and no other, nothing from the environment, no object beyond so many bytes.
fn isolated(most_bytes: u64) -> gix::open::Options {
    gix::open::Options::isolated()
        .open_path_as_is(true)
        .with(gix::sec::Trust::Reduced)
        .config_overrides([format!("gitoxide.objects.allocLimit={most_bytes}")])
}
