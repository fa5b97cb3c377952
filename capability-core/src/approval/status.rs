//! Where an approval stands, and every legal move.

use serde::{Deserialize, Serialize};

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// Nobody has answered.
    Pending,
    /// A person said yes, and it has not run.
    Approved,
    /// A person said no. Final.
    Denied,
    /// Nobody answered, or nobody ran it, in time. Final.
    Expired,
    /// It was used. Final.
    Consumed,
    /// A person put another call in its place, or tried to. Final.
    Superseded,
}

impl ApprovalStatus {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Approved, Self::Denied, Self::Expired, Self::Consumed, Self::Superseded];

    /// The word used by stores and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Consumed => "consumed",
            Self::Superseded => "superseded",
        }
    }

    /// Whether nothing can happen to it any more; its content is erased then.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Denied | Self::Expired | Self::Consumed | Self::Superseded)
    }
}

impl core::fmt::Display for ApprovalStatus {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What can happen to an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Move {
    /// A person says yes.
    Approve,
    /// A person says no.
    Deny,
    /// Its time runs out.
    Expire,
    /// It is used.
    Consume,
    /// A person puts another call in its place.
    Supersede,
}

impl Move {
    /// Every move.
    pub const ALL: [Self; 5] = [Self::Approve, Self::Deny, Self::Expire, Self::Consume, Self::Supersede];
}

/// A move that the state machine does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllegalMove {
    /// Where the approval stands.
    pub from: ApprovalStatus,
    /// What was tried.
    pub tried: Move,
}

impl core::fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let tried = match self.tried {
            Move::Approve => "approved",
            Move::Deny => "denied",
            Move::Expire => "expired",
            Move::Consume => "used",
            Move::Supersede => "superseded",
        };
        write!(f, "an approval that is {} cannot be {tried}", self.from)
    }
}

impl core::error::Error for IllegalMove {}

/// The state machine. Denied, expired, consumed and superseded are final: no retry, no escalation.
///
/// # Errors
/// [`IllegalMove`] for every move it does not have.
pub const fn next_status(from: ApprovalStatus, tried: Move) -> Result<ApprovalStatus, IllegalMove> {
    match (from, tried) {
        (ApprovalStatus::Pending, Move::Approve) => Ok(ApprovalStatus::Approved),
        (ApprovalStatus::Pending, Move::Deny) => Ok(ApprovalStatus::Denied),
        (ApprovalStatus::Pending | ApprovalStatus::Approved, Move::Expire) => Ok(ApprovalStatus::Expired),
        (ApprovalStatus::Approved, Move::Consume) => Ok(ApprovalStatus::Consumed),
        (ApprovalStatus::Pending, Move::Supersede) => Ok(ApprovalStatus::Superseded),
        (ApprovalStatus::Pending, Move::Consume)
        | (ApprovalStatus::Approved, Move::Approve | Move::Deny | Move::Supersede)
        | (
            ApprovalStatus::Denied | ApprovalStatus::Expired | ApprovalStatus::Consumed | ApprovalStatus::Superseded,
            _,
        ) => Err(IllegalMove { from, tried }),
    }
}

#[cfg(test)]
mod tests {
    use super::{ApprovalStatus as S, Move as M, next_status};

    #[test]
    fn the_whole_machine() {
        let legal: Vec<_> = S::ALL
            .into_iter()
            .flat_map(|from| M::ALL.into_iter().map(move |tried| (from, tried)))
            .filter_map(|(from, tried)| next_status(from, tried).ok().map(|to| (from, tried, to)))
            .collect();
        assert_eq!(
            legal,
            [
                (S::Pending, M::Approve, S::Approved),
                (S::Pending, M::Deny, S::Denied),
                (S::Pending, M::Expire, S::Expired),
                (S::Pending, M::Supersede, S::Superseded),
                (S::Approved, M::Expire, S::Expired),
                (S::Approved, M::Consume, S::Consumed),
            ]
        );
    }
}
