//! placeholder
/// x
pub const MAX_SCHEMA_BYTES: usize = 65536;
/// x
pub struct SchemaFault;
/// x
pub struct Schemas;
