//! Why a package is not taken.

use core::fmt;

use capability_core::skill::SkillFault;

/// Why a folder is no skill. Paths and words in it are the package's own: whoever shows them writes them out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackageFault {
    /// The folder, or something in it, cannot be read.
    Unreadable(String),
    /// A link stands where a file or folder should.
    Link(String),
    /// Something stands there that is neither a file nor a folder.
    NotAFile(String),
    /// One file has several names: what it holds may be somebody else's.
    Linked(String),
    /// A name in it is not plain.
    Name(String),
    /// There are more files and folders than a skill has.
    TooMany,
    /// Folders nest deeper than a skill's do.
    TooDeep(String),
    /// It is larger than a skill may be.
    TooLarge,
    /// There is no `skill.toml`, or no `SKILL.md`.
    Missing(&'static str),
    /// `skill.toml` does not say what it could say.
    Manifest {
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// It has a key that would have something installed.
    Installs {
        /// The key.
        key: String,
    },
    /// It calls itself otherwise than its folder is called.
    NotItsFolder {
        /// What it calls itself.
        name: String,
    },
    /// Its parts do not agree, or name what nobody here owns.
    Skill(SkillFault),
    /// Its rules do not fit this build.
    Rules(String),
}

impl PackageFault {
    fn help(&self) -> String {
        match self {
            Self::Unreadable(_) => "let the host's user read it".to_owned(),
            Self::Link(_) => "put the file itself there: links are not followed".to_owned(),
            Self::NotAFile(_) => "keep files and folders only".to_owned(),
            Self::Linked(_) => "put a copy there".to_owned(),
            Self::Name(_) => "write names of letters, digits, `.`, `_` and `-`, that do not begin with `.`".to_owned(),
            Self::TooMany => "a skill has at most 256 resources: split it".to_owned(),
            Self::TooDeep(_) => "put the files into fewer folders, at most 8 deep".to_owned(),
            Self::TooLarge => "a skill has at most 4 MiB: split it".to_owned(),
            Self::Missing(_) => "a skill has a `skill.toml` and a `SKILL.md` in a folder of its name".to_owned(),
            Self::Installs { .. } => {
                "take the key out: nothing is installed for a skill. Whoever needs something asks a person with `dependency.request`"
                    .to_owned()
            }
            Self::Manifest { .. } => {
                "keys are `name`, `version`, `description`, `compatible`, `resources`, and tables `[[tool]]`, `[[mcp]]`, `[[rule]]`"
                    .to_owned()
            }
            Self::NotItsFolder { .. } => "call the folder as `name` says".to_owned(),
            Self::Skill(fault) => fault.help().to_owned(),
            Self::Rules(_) => "its author writes rules about what this build has".to_owned(),
        }
    }
}

impl fmt::Display for PackageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(path) => write!(f, "`{path}` cannot be read"),
            Self::Link(path) => write!(f, "`{path}` is a link"),
            Self::NotAFile(path) => write!(f, "`{path}` is neither a file nor a folder"),
            Self::Linked(path) => write!(f, "`{path}` has other names elsewhere"),
            Self::Name(path) => write!(f, "`{path}` is no plain name"),
            Self::TooMany => f.write_str("the skill has more files than one may have"),
            Self::TooDeep(path) => write!(f, "`{path}` lies deeper than a skill goes"),
            Self::TooLarge => f.write_str("the skill is larger than one may be"),
            Self::Missing(file) => write!(f, "there is no `{file}`"),
            Self::Installs { key } => write!(f, "`skill.toml` has `{key}`, which would install something"),
            Self::Manifest { line, what } => write!(f, "`skill.toml` line {line}: {what}"),
            Self::NotItsFolder { name } => {
                write!(f, "the skill calls itself `{name}`, and its folder is called otherwise")
            }
            Self::Skill(fault) => {
                let text = fault.to_string();
                f.write_str(text.split_once("\nhelp: ").map_or(text.as_str(), |(what, _)| what))
            }
            Self::Rules(what) => f.write_str(what),
        }?;
        write!(f, "\nhelp: {}", self.help())
    }
}

impl core::error::Error for PackageFault {}

impl From<SkillFault> for PackageFault {
    fn from(fault: SkillFault) -> Self {
        Self::Skill(fault)
    }
}
