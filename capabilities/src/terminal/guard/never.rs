//! What is never run, and where nothing is written.

use super::Why;
use super::paths::Place;
use super::reach::base;
use super::script::Direction;
use super::site::Site;
use super::tables::{ENDS_MACHINE, NEVER, WRITERS, WRITING_OPTIONS};
use super::word::Word;

/// The gravest thing about a command besides what it does not say: [`Why::OnlyLooks`] when there is none.
pub(super) fn check(words: &[Word], site: &Site<'_>) -> Why {
    let Some((program, rest)) = words.split_first() else { return Why::OnlyLooks };
    let name = base(&program.text);
    if is_never(name, rest) {
        return Why::Never;
    }
    let mut why = Why::OnlyLooks;
    if rest.iter().chain([program]).any(|word| site.is_sensitive(&word.text)) {
        why = Why::Sensitive;
    }
    written(name, rest).into_iter().fold(why, |why, (path, literal)| why.max(writes(path, literal, site)))
}

/// What a redirection makes of a command.
pub(super) fn redirected(direction: Direction, target: &Word, site: &Site<'_>) -> Why {
    match direction {
        Direction::Out if target.text == "-" || target.text.bytes().all(|b| b.is_ascii_digit()) => Why::Construct,
        Direction::Out => writes(&target.text, target.literal, site),
        Direction::In if site.is_sensitive(&target.text) => Why::Sensitive,
        Direction::In if site.place(&target.text, target.literal) == Place::Outside => Why::ReadsOutside,
        Direction::In => Why::Construct,
    }
}

fn writes(path: &str, literal: bool, site: &Site<'_>) -> Why {
    if is_device(path) {
        return Why::Never;
    }
    if site.is_protected(path) {
        return Why::WritesProtected;
    }
    match site.place(path, literal) {
        Place::Nothing => Why::Construct,
        Place::Outside => Why::WritesOutside,
        Place::Inside | Place::Unknown => Why::Writes,
    }
}

/// A disk, or memory itself.
fn is_device(path: &str) -> bool {
    let Some(device) = path.strip_prefix("/dev/") else { return false };
    let disks = ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "mapper/", "md", "dm-", "loop", "sr", "nbd", "zd"];
    disks.iter().any(|disk| device.starts_with(disk)) || matches!(device, "mem" | "kmem" | "port")
}

/// The paths that a command writes to by what it is, and whether each is known as it stands.
fn written<'a>(name: &str, rest: &'a [Word]) -> Vec<(&'a str, bool)> {
    let mut paths = Vec::new();
    let operands =
        || rest.iter().filter(|word| !word.text.starts_with('-')).map(|word| (word.text.as_str(), word.literal));
    match WRITERS.iter().find(|(writer, _)| *writer == name) {
        Some((_, true)) => paths.extend(operands().next_back()),
        Some((_, false)) => paths.extend(operands()),
        None => {}
    }
    match name {
        "dd" => paths.extend(rest.iter().filter_map(|word| Some((word.text.strip_prefix("of=")?, word.literal)))),
        "sort" | "tree" | "curl" | "gcc" | "cc" => paths.extend(short_output(rest)),
        "sed" if rest.iter().any(|word| word.text.starts_with("-i") || word.text.starts_with("--in-place")) => {
            paths.extend(operands().skip(1));
        }
        "uniq" => paths.extend(operands().nth(1)),
        _ => {}
    }
    for (at, word) in rest.iter().enumerate() {
        match word.text.split_once('=') {
            Some((option, value)) if WRITING_OPTIONS.contains(&option) => paths.push((value, word.literal)),
            _ if WRITING_OPTIONS.contains(&word.text.as_str()) => {
                paths.extend(rest.get(at + 1).map(|value| (value.text.as_str(), value.literal)));
            }
            _ => {}
        }
    }
    paths
}

/// `-o FILE` and `-oFILE`.
fn short_output(rest: &[Word]) -> Vec<(&str, bool)> {
    let mut paths = Vec::new();
    for (at, word) in rest.iter().enumerate() {
        match word.text.strip_prefix("-o") {
            Some("") => paths.extend(rest.get(at + 1).map(|value| (value.text.as_str(), value.literal))),
            Some(value) => paths.push((value, word.literal)),
            None => {}
        }
    }
    paths
}

fn is_never(name: &str, rest: &[Word]) -> bool {
    let is = |word: &Word, list: &[&str]| list.contains(&word.text.as_str());
    let recursive = || {
        rest.iter().any(|word| {
            let short = word.text.starts_with('-') && !word.text.starts_with("--");
            word.text == "--recursive" || (short && word.text.contains(['r', 'R']))
        })
    };
    match name {
        _ if NEVER.contains(&name) || name == "mkfs" || name.starts_with("mkfs.") => true,
        "systemctl" | "loginctl" => rest.iter().any(|word| is(word, ENDS_MACHINE)),
        "init" => rest.iter().any(|word| is(word, &["0", "1", "6", "S", "s"])),
        "dd" => rest.iter().filter_map(|word| word.text.strip_prefix("of=")).any(is_device),
        "rm" if rest.iter().any(|word| word.text == "--no-preserve-root") => true,
        "rm" | "chmod" | "chown" | "chgrp" | "shred" if recursive() => rest.iter().any(|word| is_root(&word.text)),
        "mv" => rest.iter().any(|word| is_root(&word.text)),
        "find" => {
            let deletes = rest.iter().any(|word| word.text == "-delete" || is(word, &["rm", "unlink", "shred"]));
            deletes && rest.iter().take_while(|word| !word.text.starts_with('-')).any(|word| is_root(&word.text))
        }
        "kill" => rest.last().is_some_and(|word| word.text == "-1") && rest.len() > 1,
        "shred" | "tee" | "cp" => rest.iter().any(|word| is_device(&word.text)),
        _ => false,
    }
}

/// The root of everything, a home, or a directory that a system stands on.
fn is_root(path: &str) -> bool {
    const SYSTEM: &[&str] = &[
        "", "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "opt", "proc", "root", "run", "sbin", "srv",
        "sys", "usr", "var",
    ];
    let trimmed = path.trim_end_matches(['*', '/', '.']);
    if matches!(trimmed, "~" | "$HOME" | "${HOME}") {
        return true;
    }
    let Some(below) = path.strip_prefix('/') else { return false };
    let segments: Vec<&str> = below.split('/').filter(|segment| !segment.is_empty() && *segment != ".").collect();
    match segments.as_slice() {
        [] => true,
        [one] => SYSTEM.contains(one) || one.starts_with('*') || *one == "..",
        [one, rest @ ..] => {
            SYSTEM.contains(one) && rest.iter().all(|segment| segment.starts_with('*') || *segment == "..")
        }
    }
}

/// A function that calls itself twice at once, whatever it is called.
pub(super) fn is_fork_bomb(text: &str) -> bool {
    let dense: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let separates = |c: char| ";&|(){}".contains(c);
    dense.match_indices("(){").any(|(at, _)| {
        let (before, body) = dense.split_at(at);
        let name = before.rsplit(separates).next().unwrap_or_default();
        body.match_indices('|').any(|(pipe, _)| {
            let left = body.get(..pipe).and_then(|left| left.rsplit(separates).next()).unwrap_or_default();
            let right = body.get(pipe + 1..).and_then(|right| right.split(separates).next()).unwrap_or_default();
            // `then f(){`: without blanks a keyword sticks to the name.
            !left.is_empty() && left == right && name.ends_with(left)
        })
    })
}
