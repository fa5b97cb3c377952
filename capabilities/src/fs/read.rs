//! One file.

use std::io::{Read as _, Seek as _, SeekFrom};

use base64ct::{Base64, Encoding as _};
use capability_core::handle::{BrokerFault, MAX_READ_BYTES, Read, Workspace, is_plain_path};
use capability_core::{Failure, Preview, capability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::path;

/// How a file's content is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadAs {
    /// As text, line by line.
    #[default]
    Text,
    /// As bytes, in base64.
    Base64,
}

/// What a file's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Encoding {
    /// Text in UTF-8, without NUL.
    Utf8,
    /// Anything else.
    Binary,
}

/// How a text's lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineEndings {
    /// None does: it has at most one line.
    None,
    /// In a line feed.
    Lf,
    /// In a carriage return and a line feed.
    Crlf,
    /// Some in this, some in that.
    Mixed,
}

impl LineEndings {
    /// Of this text.
    pub(super) fn of(text: &str) -> Self {
        let all = text.bytes().filter(|byte| *byte == b'\n').count();
        match text.as_bytes().windows(2).filter(|pair| *pair == b"\r\n").count() {
            _ if all == 0 => Self::None,
            0 => Self::Lf,
            crlf if crlf == all => Self::Crlf,
            _ => Self::Mixed,
        }
    }
}

/// A file, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileContent {
    /// The path that was asked for.
    pub path: String,
    /// How many bytes the file holds.
    pub bytes: u64,
    /// What they are; null when they were not all looked at.
    pub encoding: Option<Encoding>,
    /// How its lines end; null when it is no text, or was read as bytes.
    pub line_endings: Option<LineEndings>,
    /// Whether it begins with a byte order mark, which is in `text` then.
    pub byte_order_mark: bool,
    /// How many lines it has; null when it is no text, or was read as bytes.
    pub lines: Option<u64>,
    /// The text, its line endings as they are; null when it is no text, or was read as bytes.
    pub text: Option<String>,
    /// The bytes in base64, if they were asked for.
    pub base64: Option<String>,
    /// Where this part begins: lines for text, bytes for base64.
    pub offset: u64,
    /// How much of it this is, in the same unit.
    pub count: u64,
    /// Where the next part begins; null when this is the last.
    pub next_offset: Option<u64>,
    /// Whether the file goes on after this part.
    pub truncated: bool,
    /// Whether the last line here is longer than what is given of it: read it as base64.
    pub line_cut: bool,
}

/// How much text is given, in bytes of its JSON: with what stands beside it, it fits in the result's 64 KiB.
const MAX_TEXT_BYTES: usize = 56 * 1024;
/// The most bytes that are given in base64.
const MAX_BYTES: u32 = 40 * 1024;

/// Reads one file: as text, by lines, or as base64, by bytes.
///
/// A path is relative to the workspace. A file that is called as secrets are (`.env`, `.ssh`, `*.pem` and the like) and a path
/// from the root of the file system are read when a person says yes to that very path; the host's own files and the kernel's
/// are not read at all. A path that leads over a link is refused, and so is a file with a second name.
#[capability(
    name = "fs.read",
    version = 1,
    side_effect = read_only,
    network = local,
    title = "Read a file",
    bounds(per_turn = 32),
    target = path(path),
    check = can_be_read,
    preview = what_is_read,
    resident,
    idempotent
)]
pub async fn fs_read(
    workspace: &Workspace<Read>,
    /// The file: `notes/today.md` in the workspace, or `/etc/hosts` elsewhere.
    #[schemars(length(min = 1, max = 1025))]
    path: String,
    /// The first line, or with `base64` the first byte, counted from 0.
    #[serde(default)]
    offset: u64,
    /// How many lines at most, or with `base64` how many bytes; without it as many as fit.
    #[schemars(range(min = 1))]
    limit: Option<u32>,
    /// `text`, or `base64` for what is no text.
    #[serde(default)]
    read_as: ReadAs,
) -> Result<FileContent, Failure> {
    let opened = if is_plain_path(&path) { workspace.open_sole(&path).await } else { workspace.open_target().await };
    let mut file = opened.map_err(BrokerFault::into_public)?;
    let bytes = file.seek(SeekFrom::End(0))?;
    if read_as == ReadAs::Base64 {
        file.seek(SeekFrom::Start(offset.min(bytes)))?;
        let mut part = Vec::new();
        file.take(u64::from(limit.unwrap_or(MAX_BYTES).min(MAX_BYTES))).read_to_end(&mut part)?;
        return Ok(as_bytes(path, bytes, offset, &part));
    }
    if bytes > MAX_READ_BYTES {
        return Err(Failure::public(
            "the file has more than 8 MiB, which is not read as text\nhelp: read parts of it with `read_as` set to `base64`, or search it",
        ));
    }
    file.seek(SeekFrom::Start(0))?;
    let mut content = Vec::new();
    file.take(MAX_READ_BYTES).read_to_end(&mut content)?;
    Ok(as_text(path, content, offset, limit))
}

fn can_be_read(path: &str, _: &u64, _: &Option<u32>, _: &ReadAs) -> Result<(), String> {
    path::of_a_file(path)
}

async fn what_is_read(
    workspace: &Workspace<Read>,
    path: &str,
    _: &u64,
    _: &Option<u32>,
    _: &ReadAs,
) -> Result<Preview, Failure> {
    let raise = path::reading(workspace, path).await?;
    let place = if is_plain_path(path) { "in the workspace" } else { "outside the workspace" };
    Ok(Preview { text: format!("reads `{path}`, {place}"), raise, ..Preview::default() })
}

fn as_bytes(path: String, bytes: u64, offset: u64, part: &[u8]) -> FileContent {
    let count = part.len() as u64;
    let end = offset.saturating_add(count);
    FileContent {
        path,
        bytes,
        encoding: None,
        line_endings: None,
        byte_order_mark: false,
        lines: None,
        text: None,
        base64: Some(Base64::encode_string(part)),
        offset,
        count,
        next_offset: (end < bytes).then_some(end),
        truncated: end < bytes,
        line_cut: false,
    }
}

fn as_text(path: String, content: Vec<u8>, offset: u64, limit: Option<u32>) -> FileContent {
    let bytes = content.len() as u64;
    let nothing = FileContent {
        path,
        bytes,
        encoding: Some(Encoding::Binary),
        line_endings: None,
        byte_order_mark: false,
        lines: None,
        text: None,
        base64: None,
        offset,
        count: 0,
        next_offset: None,
        truncated: false,
        line_cut: false,
    };
    let Some(content) = text_of(content) else { return nothing };
    let part = Part::of(&content, offset, limit.map_or(u64::MAX, u64::from));
    let end = offset.saturating_add(part.count);
    FileContent {
        encoding: Some(Encoding::Utf8),
        line_endings: Some(LineEndings::of(&content)),
        byte_order_mark: content.starts_with('\u{feff}'),
        lines: Some(part.lines),
        text: Some(part.text),
        count: part.count,
        next_offset: (end < part.lines).then_some(end),
        truncated: end < part.lines || part.cut,
        line_cut: part.cut,
        ..nothing
    }
}

/// What is text: UTF-8 without NUL.
pub(super) fn text_of(content: Vec<u8>) -> Option<String> {
    String::from_utf8(content).ok().filter(|text| !text.contains('\0'))
}

/// Some lines of a text.
struct Part {
    text: String,
    /// How many these are.
    count: u64,
    /// How many there are.
    lines: u64,
    /// Whether the last of these is not whole.
    cut: bool,
}

impl Part {
    fn of(content: &str, offset: u64, limit: u64) -> Self {
        let mut part = Self { text: String::new(), count: 0, lines: 0, cut: false };
        let mut left = MAX_TEXT_BYTES;
        let mut full = false;
        for line in content.split_inclusive('\n') {
            let at = part.lines;
            part.lines += 1;
            if full || at < offset || part.count >= limit {
                continue;
            }
            let cost = line.chars().map(cost).sum::<usize>();
            if let Some(rest) = left.checked_sub(cost) {
                (left, part.count) = (rest, part.count + 1);
                part.text.push_str(line);
                continue;
            }
            full = true;
            // A line that is too long by itself is given as far as it goes.
            if part.count == 0 {
                (part.cut, part.count) = (true, 1);
                for c in line.chars() {
                    let Some(rest) = left.checked_sub(self::cost(c)) else { break };
                    left = rest;
                    part.text.push(c);
                }
            }
        }
        part
    }
}

/// How many bytes a character takes inside a JSON string.
pub(super) const fn cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Encoding, LineEndings, MAX_TEXT_BYTES, Part, as_text, cost};

    #[test]
    fn what_is_no_text_is_told_and_not_given() {
        for bytes in [&b"\xff\xfea\0"[..], b"a\0b", b"\x89PNG\r\n", b"\xc3"] {
            let read = as_text("x".to_owned(), bytes.to_vec(), 0, None);
            assert_eq!((read.encoding, read.text, read.bytes), (Some(Encoding::Binary), None, bytes.len() as u64));
        }
    }

    #[test]
    fn marks_and_line_endings_are_told_and_kept() {
        for (text, endings) in [
            ("", LineEndings::None),
            ("a", LineEndings::None),
            ("a\nb", LineEndings::Lf),
            ("\u{feff}a\r\nb\r\n", LineEndings::Crlf),
            ("a\r\nb\n", LineEndings::Mixed),
            ("a\rb", LineEndings::None),
        ] {
            let read = as_text("x".to_owned(), text.into(), 0, None);
            assert_eq!((read.text.as_deref(), read.line_endings), (Some(text), Some(endings)), "{text:?}");
            assert_eq!((read.byte_order_mark, read.truncated), (text.starts_with('\u{feff}'), false));
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_and_that_is_told() {
        let long = "ä".repeat(MAX_TEXT_BYTES) + "\nb\n";
        let read = as_text("x".to_owned(), long.into(), 0, None);
        assert_eq!((read.count, read.line_cut, read.truncated, read.next_offset), (1, true, true, Some(1)));
        assert_eq!(read.text.map(|text| text.chars().count()), Some(MAX_TEXT_BYTES / 2));
    }

    proptest! {
        /// The parts that follow one another are the text, whatever is in it and however small they are.
        #[test]
        fn the_parts_are_the_whole(text in "[ab\n\r\"\u{1}ä]{0,80}", limit in 1_u64..5) {
            let (mut at, mut read, lines) = (0, String::new(), text.split_inclusive('\n').count() as u64);
            loop {
                let part = Part::of(&text, at, limit);
                prop_assert_eq!(part.lines, lines);
                prop_assert!(part.count <= limit && !part.cut);
                read.push_str(&part.text);
                at += part.count;
                if at >= lines {
                    break;
                }
                prop_assert!(part.count > 0);
            }
            prop_assert_eq!(read, text);
        }

        /// No character takes more in JSON than it is counted with.
        #[test]
        fn a_character_costs_what_it_takes(c in any::<char>()) {
            let taken = serde_json::to_string(&c.to_string()).map(|json| json.len() - 2).unwrap_or_default();
            prop_assert_eq!(cost(c), taken);
        }
    }
}
