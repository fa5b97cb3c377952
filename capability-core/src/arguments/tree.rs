//! Arguments and results as trees: slower, and able to say what is wrong with them.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use super::defaults::Defaults;
use super::fault::{ArgumentFault, ResultFault};
use super::{MAX_ARGUMENT_BYTES, canonical, exact, parse, refusal};
use crate::contract::Schemas;
use crate::contract::schema::{recursion, validation};

/// One capability's validators for trees, each compiled when something is refused for the first time.
pub(super) struct Trees {
    arguments: Tree,
    result: Tree,
    /// Refuses integers that were written as numbers too large to be exact; compiled when one turns up.
    exact: OnceLock<Option<Validator>>,
}

/// A schema, to tell what would be right, and its validator.
struct Tree {
    schema: Value,
    validator: OnceLock<Option<Validator>>,
}

impl Tree {
    fn of(schema: &Value) -> Self {
        Self { schema: schema.clone(), validator: OnceLock::new() }
    }

    /// None when it does not compile, which it did before for another representation.
    fn validator(&self) -> Option<&Validator> {
        let build = || validation().build(&recursion::guarded(&self.schema).ok()?).ok();
        self.validator.get_or_init(build).as_ref()
    }
}

impl Trees {
    pub(super) fn of(schemas: &Schemas) -> Self {
        Self { arguments: Tree::of(schemas.arguments()), result: Tree::of(schemas.result()), exact: OnceLock::new() }
    }

    /// The canonical text of arguments, or why there is none.
    pub(super) fn arguments(&self, raw: &[u8], defaults: &Defaults) -> Result<Vec<u8>, ArgumentFault> {
        let parsed = parse::parse(raw)?;
        let value = parsed.value;
        if !value.is_object() {
            return Err(refusal::not_an_object(&value));
        }
        let Some(validator) = self.arguments.validator() else { return Err(refusal::unsaid()) };
        let schema = &self.arguments.schema;
        if !validator.is_valid(&value) {
            return Err(refusal::refusal(validator, schema, &value, raw.len()));
        }
        if parsed.inexact
            && let Some(exact) = self.exact.get_or_init(|| exact::integers(schema))
            && !exact.is_valid(&value)
        {
            return Err(refusal::refusal(exact, schema, &value, raw.len()));
        }
        let Value::Object(mut properties) = value else {
            return Err(refusal::not_an_object(&Value::Null));
        };
        defaults.fill(&mut properties).map_err(|_| refusal::too_many_defaults())?;
        let bytes = canonical::object(&properties, raw.len());
        if bytes.len() > MAX_ARGUMENT_BYTES {
            return Err(refusal::too_many_defaults());
        }
        Ok(bytes)
    }

    /// Whether a result follows its schema, and where it does not.
    pub(super) fn result(&self, json: &str) -> Result<(), ResultFault> {
        let value: Value = serde_json::from_str(json).map_err(|_| ResultFault::unreadable())?;
        let Some(validator) = self.result.validator() else { return Err(ResultFault::unreadable()) };
        if validator.is_valid(&value) {
            return Ok(());
        }
        Err(refusal::result(validator, &self.result.schema, &value))
    }
}

impl core::fmt::Debug for Trees {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Trees").field("schema", &self.arguments.schema).finish_non_exhaustive()
    }
}
