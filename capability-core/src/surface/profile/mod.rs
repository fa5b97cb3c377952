//! How providers of models want tools written, and what that loses.
//!
//! Each has a dialect of JSON Schema of its own. A schema is rewritten where something else says the same; what a dialect cannot
//! say is a [`Loss`] with its place. Nothing is dropped silently, and whatever is lost here the executor still refuses.

mod anthropic;
mod gemini;
mod openai;

use core::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use super::projection::{MAX_DEPTH, depth_of};
use crate::contract::schema::pointer;

/// A provider's way of writing tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The Model Context Protocol: JSON Schema 2020-12 as it is.
    Mcp,
    /// `OpenAI` functions, strict wherever the schema can be written so without losing anything.
    OpenAi,
    /// Anthropic tools: JSON Schema 2020-12 without alternatives at its root.
    Anthropic,
    /// Gemini function declarations: a subset of `OpenAPI` 3.0.
    Gemini,
}

impl Profile {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Mcp, Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The longest name of a tool, in bytes. Wire names fit all of them.
    #[must_use]
    pub const fn max_name(self) -> usize {
        match self {
            Self::Mcp => 128,
            Self::OpenAi | Self::Anthropic | Self::Gemini => 64,
        }
    }

    /// Writes one tool. `exported` is the schema that its arguments are checked by, `shown` what is shown of it.
    #[must_use]
    pub fn tool(self, name: &str, description: &str, exported: &Value, shown: &Value) -> RenderedTool {
        let named = |tool, losses| RenderedTool { name: name.to_owned(), tool, losses };
        if name.len() > self.max_name() {
            return named(None, vec![Loss::new("", "name", "the name is longer than the provider takes")]);
        }
        if depth_of(exported).max(depth_of(shown)) > MAX_DEPTH {
            return named(None, vec![Loss::new("", "depth", "the schema nests deeper than is walked")]);
        }
        match self {
            Self::Mcp => {
                named(Some(json!({ "name": name, "description": description, "inputSchema": shown })), Vec::new())
            }
            Self::OpenAi => {
                let (parameters, strict, losses) = match openai::strict(exported) {
                    Ok(strict) => (strict, true, Vec::new()),
                    Err(losses) => (shown.clone(), false, losses),
                };
                let tool = json!({
                    "type": "function", "name": name, "description": description, "strict": strict,
                    "parameters": parameters,
                });
                named(Some(tool), losses)
            }
            Self::Anthropic => match anthropic::schema(shown) {
                Ok((schema, losses)) => {
                    let tool = json!({ "name": name, "description": description, "input_schema": schema });
                    named(Some(tool), losses)
                }
                Err(losses) => named(None, losses),
            },
            Self::Gemini => match gemini::schema(shown) {
                Ok((schema, losses)) => {
                    named(Some(json!({ "name": name, "description": description, "parameters": schema })), losses)
                }
                Err(losses) => named(None, losses),
            },
        }
    }
}

impl core::str::FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == text).ok_or(UnknownProfile)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownProfile;

impl fmt::Display for UnknownProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such profile\nhelp: write `mcp`, `openai`, `anthropic` or `gemini`")
    }
}

impl core::error::Error for UnknownProfile {}

/// Something of a schema that a profile cannot say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// Where in the schema, as a JSON pointer; empty for its root.
    pub path: String,
    /// The keyword, or what else it is.
    pub construct: &'static str,
    /// Why, and what becomes of it.
    pub why: &'static str,
}

impl Loss {
    pub(super) fn new(path: &str, construct: &'static str, why: &'static str) -> Self {
        Self { path: path.to_owned(), construct, why }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "its root" } else { self.path.as_str() };
        write!(f, "`{}` at `{place}`: {}", self.construct, self.why)
    }
}

/// One tool as a profile writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RenderedTool {
    /// Its wire name.
    pub name: String,
    /// How it is written; none when the provider would not take it at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Value>,
    /// What that loses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Loss>,
}

/// The shown tools of a surface as a profile writes them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rendered {
    /// Which.
    pub profile: Profile,
    /// The tools, in the surface's order.
    pub tools: Vec<RenderedTool>,
}

impl Rendered {
    /// The array of tools as compact JSON, without those that the provider would not take.
    #[must_use]
    pub fn array(&self) -> String {
        let tools: Vec<&Value> = self.tools.iter().filter_map(|tool| tool.tool.as_ref()).collect();
        serde_json::to_string(&tools).unwrap_or_else(|_| "[]".to_owned())
    }
}

/// `path` one step further down.
fn below(path: &str, step: &str) -> String {
    let mut path = path.to_owned();
    pointer::push(&mut path, step);
    path
}

#[cfg(test)]
mod tests;
