//! The two operations of a surface: finding a deferred tool, and calling it.
//!
//! They are no capabilities. A search answers from the surface itself; a call leads into the executor like any other, with the
//! digest of the definition that the search showed.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::tool::{Fact, SelectionDigest};
use crate::contract::Class;
use crate::provider::ProviderFact;

/// The operation that finds deferred tools.
pub const TOOL_SEARCH: &str = "tool_search";
/// The operation that calls one of them.
pub const INVOKE_TOOL: &str = "invoke_tool";

/// The longest query, in characters.
pub const MAX_QUERY: usize = 256;
/// The most tools one search shows.
pub const MAX_HITS: usize = 10;
/// How many it shows unless it is told.
const DEFAULT_HITS: usize = 5;
/// How much JSON text the tools of one answer may have.
pub(super) const MAX_ANSWER_BYTES: usize = 32 * 1024;
/// The longest description in an answer, in bytes: however it is escaped, one tool fits into an answer.
pub(super) const MAX_FOUND_DESCRIPTION: usize = 2 * 1024;
/// The longest schema of arguments in an answer, in bytes of JSON text.
pub(super) const MAX_FOUND_SCHEMA: usize = 18 * 1024;

/// One operation as it is shown.
pub(super) struct Operation {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) arguments: Value,
}

/// Both, in their order.
pub(super) fn operations() -> [Operation; 2] {
    [
        Operation {
            name: TOOL_SEARCH,
            description: "Finds tools that are not in this list, by words about what they do. Each comes with the schema of its \
                          arguments and a digest; call it with `invoke_tool`.",
            arguments: json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "query": {
                        "type": "string", "minLength": 1, "maxLength": MAX_QUERY, "description": "What the tool should do.",
                    },
                    "limit": { "type": "integer", "minimum": 1, "maximum": MAX_HITS, "default": DEFAULT_HITS },
                },
                "required": ["query"],
            }),
        },
        Operation {
            name: INVOKE_TOOL,
            description: "Calls a tool that `tool_search` found.",
            arguments: json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "tool": { "type": "string", "description": "Its name." },
                    "digest": {
                        "type": "string", "pattern": "^[0-9a-f]{32}$", "description": "The digest it was found with.",
                    },
                    "arguments": { "type": "object", "description": "Its arguments, as its schema says." },
                },
                "required": ["arguments", "digest", "tool"],
            }),
        },
    ]
}

/// What `tool_search` takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
    pub(super) query: String,
    #[serde(default)]
    limit: Option<usize>,
}

impl Search {
    /// What is asked, where query and limit are in their bounds.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub(super) fn of(arguments: &[u8]) -> Result<Self, &'static str> {
        let search: Self =
            serde_json::from_slice(arguments).map_err(|_| "an object with `query` and, where wanted, `limit`")?;
        if !(1..=MAX_HITS).contains(&search.limit()) {
            return Err("`limit` is from 1 to 10");
        }
        if search.query.trim().is_empty() || search.query.chars().nth(MAX_QUERY).is_some() {
            return Err("`query` has 1 to 256 characters");
        }
        Ok(search)
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_HITS)
    }
}

/// What `invoke_tool` takes. The arguments stay the text that was sent: the executor reads it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Invoke<'a> {
    pub(super) tool: String,
    pub(super) digest: SelectionDigest,
    #[serde(borrow)]
    pub(super) arguments: &'a RawValue,
}

/// What `tool_search` answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchAnswer {
    /// The tools, the best first.
    pub tools: Vec<FoundTool>,
    /// How many more were found and are not shown.
    pub more: usize,
    /// The providers that are not ready: what they have may not be known, or cannot be called now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unready: Vec<ProviderFact>,
}

/// One tool that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoundTool {
    /// What `invoke_tool` calls it.
    pub name: String,
    /// Which definition of it this is.
    pub digest: SelectionDigest,
    /// What it does, in its own words.
    pub description: String,
    /// Its class.
    #[serde(flatten)]
    pub class: Class,
    /// The provider whose words these are, as kind and name; absent for what is compiled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// What stands against calling it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability: Option<Availability>,
    /// The schema of its arguments; only that they are an object, where it is too long.
    pub input_schema: Value,
    /// What is not whole here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

/// How long the parts are that an answer does not have whole, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// The description, of which only the beginning is here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<usize>,
    /// The schema of the arguments, which is not here: whatever is sent is checked by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<usize>,
}

impl FoundTool {
    /// Cut where a part is longer than it may be.
    pub(super) fn within_bounds(mut self) -> Self {
        let (description, schema) = (self.description.len(), self.input_schema.to_string().len());
        let cut = Cut {
            description: (description > MAX_FOUND_DESCRIPTION).then_some(description),
            input_schema: (schema > MAX_FOUND_SCHEMA).then_some(schema),
        };
        if cut.description.is_some() {
            self.description.truncate(self.description.floor_char_boundary(MAX_FOUND_DESCRIPTION));
        }
        if cut.input_schema.is_some() {
            self.input_schema = json!({ "type": "object" });
        }
        self.cut = (cut.description.is_some() || cut.input_schema.is_some()).then_some(cut);
        self
    }
}

/// A [`Fact`] that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Availability {
    /// Whether it can be called.
    pub admission: crate::provider::AdmissionStatus,
    /// The class that counts now, where it is another one than the tool's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// In words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl From<Fact<'_>> for Availability {
    fn from(fact: Fact<'_>) -> Self {
        Self { admission: fact.admission, class: fact.class, message: fact.message.map(ToOwned::to_owned) }
    }
}
