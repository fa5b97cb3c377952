//! stub
use crate::contract::{SchemaFault, Schemas};
use serde_json::Value;
pub(crate) struct Validators;
#[derive(Clone, Debug)]
pub struct Arguments {
    bytes: Vec<u8>,
    value: Value,
}
impl Arguments {
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
    pub fn property(&self, n: &str) -> Option<&Value> {
        self.value.get(n)
    }
}
pub enum ArgumentCode {
    TooLarge,
    Malformed,
    DuplicateKey,
    TooDeep,
    ControlCharacter,
    NotAnObject,
    Schema,
}
pub struct ArgumentFault {
    pub code: ArgumentCode,
    pub message: String,
    pub help: String,
    pub keyword: Option<&'static str>,
    pub schema_path: Option<String>,
}
pub struct ResultFault {
    pub keyword: Option<&'static str>,
    pub schema_path: Option<String>,
}
impl Validators {
    pub(crate) fn compile(_: &Schemas) -> Result<Self, SchemaFault> {
        Ok(Self)
    }
    pub(crate) fn arguments(&self, raw: &[u8]) -> Result<Arguments, ArgumentFault> {
        let value: Value = serde_json::from_slice(raw).unwrap_or_default();
        Ok(Arguments { bytes: raw.to_vec(), value })
    }
    pub(crate) fn result(&self, _: &[u8]) -> Result<(), ResultFault> {
        Ok(())
    }
}
