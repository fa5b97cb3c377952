//! placeholder
/// x
pub struct Contract;
/// x
pub struct ContractDrift;
/// x
pub struct LockError;
/// x
pub struct PackageLock;
