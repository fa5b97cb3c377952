//! Why a skill is not taken.

use core::fmt;

/// Why a skill is not taken. Names in it are the skill's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillFault {
    /// Its name is none.
    Name,
    /// It does not say what it is for, or says too much.
    Description,
    /// It was written for other versions.
    Incompatible,
    /// It is larger than a skill may be.
    TooLarge,
    /// Its instructions are not UTF-8.
    InstructionsNotText,
    /// Its instructions are empty or too long.
    InstructionsSize,
    /// A connection is named that cannot be one, or twice.
    Server(String),
    /// A tool stands behind a connection that the skill does not bind.
    ServerUnbound(String),
    /// A connection is bound that nobody configured here.
    ServerUnknown(String),
    /// A tool has a name that cannot be one.
    ToolName,
    /// One tool is named twice.
    ToolTwice,
    /// A capability is named that is not registered here.
    ToolUnowned(String),
    /// One of its rules allows.
    RuleLowers,
    /// A resource's path is none, or stands there twice.
    ResourcePath(String),
    /// A resource is declared and not there.
    ResourceMissing(String),
    /// A file is there that is not declared.
    ResourceUndeclared(String),
}

impl SkillFault {
    /// What would be right.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Name => "name it by its directory: a letter, then letters, digits, `_` and `-`, at most 32",
            Self::Description => "write one paragraph of at most 1024 bytes under `description`",
            Self::Incompatible => "ask its author for one that is written for this version; see `capability --version`",
            Self::TooLarge => "a skill has at most 4 MiB, 128 tools and 256 resources: split it",
            Self::InstructionsNotText => "write `SKILL.md` as UTF-8 text",
            Self::InstructionsSize => "write between one word and 64 KiB into `SKILL.md`",
            Self::Server(_) => "name each connection once under `[[mcp]]`, as it is configured",
            Self::ServerUnbound(_) => "bind it with `[[mcp]]` and `server = \"NAME\"`",
            Self::ServerUnknown(_) => "an operator configures the connection first",
            Self::ToolName => "name a tool as `capability list` shows it",
            Self::ToolTwice => "name each tool once",
            Self::ToolUnowned(_) => "name a capability and version of this build; see `capability list`",
            Self::RuleLowers => "write `ask`, `ask_fresh` or `deny`: what a skill requires of policy can only raise",
            Self::ResourcePath(_) => "write each path once, relative to the skill, without `..` and links",
            Self::ResourceMissing(_) => "put the file there, or take it out of `resources`",
            Self::ResourceUndeclared(_) => "list the file under `resources`, or take it away",
        }
    }
}

impl fmt::Display for SkillFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("the skill's name is none"),
            Self::Description => f.write_str("the skill does not say in one paragraph what it is for"),
            Self::Incompatible => f.write_str("the skill was written for other versions of this framework"),
            Self::TooLarge => f.write_str("the skill is larger than one may be"),
            Self::InstructionsNotText => f.write_str("the skill's instructions are no text"),
            Self::InstructionsSize => f.write_str("the skill's instructions are empty or too long"),
            Self::Server(name) => write!(f, "the connection `{name}` cannot be one, or is bound twice"),
            Self::ServerUnbound(name) => write!(f, "a tool stands behind `{name}`, which the skill does not bind"),
            Self::ServerUnknown(name) => write!(f, "the skill binds `{name}`, which is not configured here"),
            Self::ToolName => f.write_str("a tool of the skill has a name that cannot be one"),
            Self::ToolTwice => f.write_str("the skill names one tool twice"),
            Self::ToolUnowned(name) => write!(f, "the skill uses `{name}`, which nothing here owns"),
            Self::RuleLowers => f.write_str("a rule of the skill allows something"),
            Self::ResourcePath(path) => write!(f, "`{path}` is no path of a resource, or stands there twice"),
            Self::ResourceMissing(path) => write!(f, "the skill declares `{path}`, and it is not there"),
            Self::ResourceUndeclared(path) => write!(f, "`{path}` is there, and the skill does not declare it"),
        }?;
        write!(f, "\nhelp: {}", self.help())
    }
}

impl core::error::Error for SkillFault {}
