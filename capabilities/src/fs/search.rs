//! Lines of files.

use std::io::Read as _;

use capability_core::handle::{BrokerFault, EntryKind, Read, Workspace, is_sensitive_path};
use capability_core::{Context, Failure, Preview, capability};
use globset::GlobMatcher;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::glob::{matcher, relative};
use super::path::{self, ROOT};
use super::read::{cost, text_of};
use super::walk::{Skipped, Stopped, Walk};

/// What a query is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Matching {
    /// A text.
    #[default]
    Text,
    /// A text whose upper and lower case are the same.
    TextInAnyCase,
    /// A regular expression.
    Regex,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SearchResult {
    /// The directory.
    pub path: String,
    /// Matching lines, in the order of a walk.
    pub matches: Vec<LineMatch>,
    /// How many files were read.
    pub files_read: u32,
    /// How many bytes these hold.
    pub bytes_read: u64,
    /// What was passed over.
    pub skipped: Skipped,
    /// Why there may be more; null when everything was looked at.
    pub stopped: Option<Stopped>,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineMatch {
    /// The file, from the workspace's root.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The first character of it that matches, counted from 1.
    pub column: u32,
    /// The line without its end, or what is around the match in a long one.
    pub text: String,
    /// Whether that is not the whole line.
    pub cut: bool,
}

/// The most bytes of a file that is read.
const MAX_FILE_BYTES: u64 = 2 * 1024 * 1024;
/// The most bytes that are read in all.
const MAX_SEARCHED_BYTES: u64 = 64 * 1024 * 1024;
/// The most characters of a line that are given, and how many of them stand before the match.
const MAX_LINE_CHARS: usize = 300;
const CHARS_BEFORE: usize = 60;
/// How much is given, in bytes of JSON.
const MAX_MATCHED_BYTES: usize = 52 * 1024;
/// What one match takes beside its texts.
const MATCH_BYTES: usize = 96;
/// The most memory that an expression may take, in bytes.
const MAX_REGEX_BYTES: usize = 1024 * 1024;

/// Searches the text files of the workspace line by line, for a text or a regular expression.
///
/// What is no text, too large, linked, or called as secrets are is passed over and counted. An expression takes time in
/// proportion to what it is held against, whatever it is.
#[capability(
    name = "fs.search",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "Search files",
    bounds(timeout = "10s"),
    target = path(path),
    check = can_be_searched,
    preview = what_is_searched,
    resident,
    idempotent
)]
pub async fn fs_search(
    workspace: &Workspace<Read>,
    context: &Context,
    /// What a line is to hold.
    #[schemars(length(min = 1, max = 512))]
    query: String,
    /// The directory to look below; `.` is the workspace's root.
    #[serde(default = "root")]
    #[schemars(length(min = 1, max = 1024))]
    path: String,
    /// Which files, as for `fs.glob`: `**/*.md`. Without it all of them.
    #[schemars(length(min = 1, max = 256))]
    files: Option<String>,
    /// What `query` is: a text, a text in any case, or a regular expression.
    #[serde(default)]
    matching: Matching,
    /// How many matches at most.
    #[serde(default = "some")]
    #[schemars(range(min = 1, max = 500))]
    limit: u32,
) -> Result<SearchResult, Failure> {
    let expression = expression(&query, matching).map_err(Failure::public)?;
    let wanted = files.as_deref().map(matcher).transpose().map_err(Failure::public)?;
    let mut walk = Walk::of(workspace, context, &path).await.map_err(BrokerFault::into_public)?;
    let mut search = Search {
        expression,
        wanted,
        limit: limit as usize,
        left: MAX_MATCHED_BYTES,
        files: 0,
        bytes: 0,
        matches: Vec::new(),
    };
    while let Some(found) = walk.next().await {
        match found.kind {
            EntryKind::Directory => continue,
            EntryKind::Other => walk.skipped.not_plain += 1,
            EntryKind::File if !search.wants(relative(&path, &found.path)) => continue,
            EntryKind::File if is_sensitive_path(&found.path) => walk.skipped.secret += 1,
            EntryKind::File if found.bytes > MAX_FILE_BYTES => walk.skipped.too_large += 1,
            EntryKind::File if search.bytes + found.bytes > MAX_SEARCHED_BYTES => {
                walk.stopped = Some(Stopped::Bytes);
            }
            EntryKind::File => match content(workspace, &found.path).await {
                Ok(content) => match search.read(found.path, content) {
                    Ok(()) => {}
                    Err(Passed::Binary) => walk.skipped.binary += 1,
                    Err(Passed::Full) => walk.stopped = Some(Stopped::Results),
                },
                Err(BrokerFault::HardLinked) => walk.skipped.hard_linked += 1,
                Err(BrokerFault::CapExceeded) => walk.skipped.too_large += 1,
                Err(BrokerFault::Sensitive) => walk.skipped.secret += 1,
                Err(BrokerFault::OutsideWorkspace | BrokerFault::NotAFile) => walk.skipped.not_plain += 1,
                // It was there a moment ago.
                Err(BrokerFault::NotFound) => {}
                Err(fault @ (BrokerFault::Ended | BrokerFault::Unserved)) => return Err(fault.into_public()),
                Err(_) => walk.skipped.refused += 1,
            },
        }
    }
    Ok(SearchResult {
        path,
        matches: search.matches,
        files_read: search.files,
        bytes_read: search.bytes,
        skipped: walk.skipped,
        stopped: walk.stopped,
    })
}

fn root() -> String {
    ROOT.to_owned()
}

const fn some() -> u32 {
    100
}

fn can_be_searched(
    query: &str,
    path: &str,
    files: &Option<String>,
    matching: &Matching,
    _: &u32,
) -> Result<(), String> {
    path::in_workspace(path)?;
    if is_sensitive_path(path) {
        return Err("what stands below that directory is called as secrets are, and those are not searched\nhelp: read one file by its own path with `fs.read`: a person is asked then".to_owned());
    }
    files.as_deref().map(matcher).transpose()?;
    expression(query, *matching).map(drop)
}

async fn what_is_searched(
    _: &Workspace<Read>,
    _: &Context,
    _: &str,
    path: &str,
    _: &Option<String>,
    _: &Matching,
    _: &u32,
) -> Result<Preview, Failure> {
    let text = format!("tells lines of files below `{path}`, in the workspace");
    Ok(Preview { text, ..Preview::default() })
}

fn expression(query: &str, matching: Matching) -> Result<Regex, String> {
    let literal = (matching != Matching::Regex).then(|| regex::escape(query));
    RegexBuilder::new(literal.as_deref().unwrap_or(query))
        .case_insensitive(matching == Matching::TextInAnyCase)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .nest_limit(50)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => {
                "the expression is too large\nhelp: repeat less, or search for a text".to_owned()
            }
            _ => "the expression is none\nhelp: leave `matching` out to search for the text itself, or write it as in `fn \\w+_test`".to_owned(),
        })
}

async fn content(workspace: &Workspace<Read>, path: &str) -> Result<Vec<u8>, BrokerFault> {
    let file = workspace.open_sole(path).await?;
    let mut content = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut content).map_err(|_| BrokerFault::Unavailable)?;
    if content.len() as u64 > MAX_FILE_BYTES { Err(BrokerFault::CapExceeded) } else { Ok(content) }
}

/// Why a file added nothing, or not all it has.
enum Passed {
    Binary,
    Full,
}

struct Search {
    expression: Regex,
    wanted: Option<GlobMatcher>,
    limit: usize,
    left: usize,
    files: u32,
    bytes: u64,
    matches: Vec<LineMatch>,
}

impl Search {
    fn wants(&self, path: &str) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(path))
    }

    fn read(&mut self, path: String, content: Vec<u8>) -> Result<(), Passed> {
        let bytes = content.len() as u64;
        let content = text_of(content).ok_or(Passed::Binary)?;
        self.files += 1;
        self.bytes += bytes;
        for (at, line) in content.lines().enumerate() {
            let Some(matched) = self.expression.find(line) else { continue };
            let before = line.get(..matched.start()).unwrap_or_default().chars().count();
            let from = if line.chars().count() > MAX_LINE_CHARS { before.saturating_sub(CHARS_BEFORE) } else { 0 };
            let text: String = line.chars().skip(from).take(MAX_LINE_CHARS).collect();
            let cost = MATCH_BYTES + path.chars().chain(text.chars()).map(cost).sum::<usize>();
            let room = self.left.checked_sub(cost).filter(|_| self.matches.len() < self.limit);
            self.left = room.ok_or(Passed::Full)?;
            let number = |number: usize| u32::try_from(number + 1).unwrap_or(u32::MAX);
            let cut = text.len() < line.len();
            self.matches.push(LineMatch { path: path.clone(), line: number(at), column: number(before), text, cut });
        }
        Ok(())
    }
}
