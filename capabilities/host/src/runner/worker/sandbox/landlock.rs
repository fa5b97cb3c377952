//! Landlock: no file, no connection, no signal, whatever a filter of system calls may have missed.

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, LandlockStatus, RestrictionStatus, Ruleset,
    RulesetAttr as _, RulesetError, Scope,
};

use super::{SandboxFault, Step, Strictness};

/// Denies everything that the kernel can deny, and tells by which version of its interface.
///
/// Files are promised, and the first version has them; the rest is taken where it is there.
pub(super) fn close(strictness: Strictness) -> Result<Option<u32>, SandboxFault> {
    match (deny_all(), strictness) {
        (Ok(status), _) => match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => Ok(Some(effective_abi as u32)),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => Err(SandboxFault::wrong(Step::Landlock)),
        },
        (Err(_), Strictness::Degraded) => Ok(None),
        (Err(_), Strictness::Promised) => Err(SandboxFault::wrong(Step::Landlock)),
    }
}

fn deny_all() -> Result<RestrictionStatus, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V10))?
        .handle_access(AccessNet::from_all(ABI::V10))?
        .scope(Scope::from_all(ABI::V10))?
        .create()?
        .restrict_self()
}
