//! stub
use super::Capability;
/// x
pub const MAX_SCHEMA_BYTES: usize = 65536;
/// x
#[derive(Debug, Clone)]
pub struct SchemaFault;
impl core::fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("x")
    }
}
/// x
pub struct Schemas;
impl Schemas {
    /// x
    pub fn of(_: &Capability) -> Result<Self, SchemaFault> {
        Ok(Self)
    }
    /// x
    pub fn arguments_digest(&self) -> [u8; 32] {
        [0; 32]
    }
    /// x
    pub fn result_digest(&self) -> [u8; 32] {
        [0; 32]
    }
}
