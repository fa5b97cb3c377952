//! What a person has to look at before anything comes of it.

use serde::{Deserialize, Serialize};

use super::{
    BrokerFault, BrokerReply, BrokerRequest, Changes, Handle, HandleFamily, HandleKind, OnDevice, Targetless, sealed,
};
use crate::call::Call;

/// The longest name of what a review is about, in bytes.
pub const MAX_REVIEWED_BYTES: usize = 512;
/// The longest reason, in bytes.
pub const MAX_REVIEW_REASON_BYTES: usize = 2048;
/// The most open reviews of one subject.
pub const MAX_OPEN_REVIEWS: u32 = 64;

/// Files something for an operator to review. Nothing else comes of it: whatever is asked for, a person does it by hand or not at all.
#[derive(Debug)]
pub struct Reviews(Call);

impl Reviews {
    /// Files it, and gives its number.
    ///
    /// # Errors
    /// [`BrokerFault::CapExceeded`] above [`MAX_REVIEWED_BYTES`], [`MAX_REVIEW_REASON_BYTES`] or [`MAX_OPEN_REVIEWS`];
    /// [`BrokerFault::Unavailable`] when the store does not answer; [`BrokerFault::Unconfirmed`] in a `preview`.
    pub async fn file(&self, review: Review) -> Result<u64, BrokerFault> {
        match self.0.ask(BrokerRequest::Review { review }).await? {
            BrokerReply::Filed(number) => Ok(number),
            _ => Err(BrokerFault::WrongReply),
        }
    }
}

impl sealed::Sealed for Reviews {}
impl Handle for Reviews {
    const KIND: HandleKind = HandleKind::new(HandleFamily::Reviews, "");
    type Reach = OnDevice;
    type Power = Changes;
    type Scope = Targetless;

    fn lend(call: &Call) -> Self {
        Self(call.clone())
    }
}

/// What is to be reviewed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// What kind of thing is asked for.
    pub kind: ReviewKind,
    /// What it is about, in the subject's own words.
    pub about: String,
    /// Why, in the subject's own words.
    pub reason: String,
}

/// What a review can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// That a source of packages be trusted.
    PackageTrust,
    /// That something be installed.
    Dependency,
}

impl ReviewKind {
    /// The word it is stored and shown as.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PackageTrust => "package_trust",
            Self::Dependency => "dependency",
        }
    }
}

impl Review {
    /// Whether it is within the caps.
    #[must_use]
    pub const fn fits(&self) -> bool {
        self.about.len() <= MAX_REVIEWED_BYTES && self.reason.len() <= MAX_REVIEW_REASON_BYTES
    }
}

impl core::fmt::Debug for Review {
    /// Without the subject's words.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Review({})", self.kind.as_str())
    }
}
