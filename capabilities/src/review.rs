//! What only a person may do: it is asked for here, and done by hand or not at all.
//!
//! Neither capability installs, downloads, runs or trusts anything, and no other built-in does. They leave a number in a list that
//! operators read with `capability reviews list`.

use capability_core::handle::{BrokerFault, MAX_REVIEW_REASON_BYTES, Review, ReviewKind, Reviews};
use capability_core::{Failure, capability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A request that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Filed {
    /// Its number in the operator's list.
    pub review: u64,
}

/// Asks the operator to trust a source of packages. Nothing is trusted by this: a person looks at it, later.
#[capability(
    name = "package.trust",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "Ask to trust a source of packages",
    target = text(source),
    risk = high,
    check = is_request
)]
pub async fn package_trust(
    reviews: &Reviews,
    /// The source: an address or a name, on one line.
    #[schemars(length(min = 1, max = 256))]
    source: String,
    /// What it is needed for.
    #[schemars(length(min = 1, max = 1024))]
    reason: String,
) -> Result<Filed, Failure> {
    filed(reviews, Review { kind: ReviewKind::PackageTrust, about: source, reason }).await
}

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ecosystem {
    /// The Rust registry.
    Cargo,
    /// The Python registry.
    Pypi,
    /// The JavaScript registry.
    Npm,
    /// The system's own packages.
    System,
    /// Something else; the reason says what.
    Other,
}

impl Ecosystem {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Cargo => "cargo",
            Self::Pypi => "pypi",
            Self::Npm => "npm",
            Self::System => "system",
            Self::Other => "other",
        }
    }
}

/// Asks the operator for a package. Nothing is installed by this: a person looks at it, later.
#[capability(
    name = "dependency.request",
    version = 1,
    side_effect = mutating,
    network = local,
    title = "Ask for a package",
    target = text(package),
    risk = medium,
    check = is_dependency
)]
pub async fn dependency_request(
    reviews: &Reviews,
    /// Where it comes from.
    ecosystem: Ecosystem,
    /// Its name, with a version where one is needed, on one line.
    #[schemars(length(min = 1, max = 256))]
    package: String,
    /// What it is needed for.
    #[schemars(length(min = 1, max = 1024))]
    reason: String,
) -> Result<Filed, Failure> {
    let about = format!("{}: {package}", ecosystem.as_str());
    filed(reviews, Review { kind: ReviewKind::Dependency, about, reason }).await
}

async fn filed(reviews: &Reviews, review: Review) -> Result<Filed, Failure> {
    let number = reviews.file(review).await.map_err(|fault| match fault {
        BrokerFault::CapExceeded => Failure::public(
            "too many requests of yours wait for a person\nhelp: an operator closes them with `capability reviews close`",
        )
        .and_before_effect(),
        _ => fault.into_public(),
    })?;
    Ok(Filed { review: number })
}

fn is_dependency(_: &Ecosystem, package: &str, reason: &str) -> Result<(), String> {
    is_request(package, reason)
}

fn is_request(about: &str, reason: &str) -> Result<(), String> {
    if about.chars().any(char::is_control) || about.trim().is_empty() {
        return Err("what is asked for is no plain line\nhelp: write one name or address".to_owned());
    }
    // The schema counts characters, the store bytes.
    if about.len() > 480 || reason.len() > MAX_REVIEW_REASON_BYTES {
        return Err("the request is too long\nhelp: say it shorter".to_owned());
    }
    Ok(())
}
