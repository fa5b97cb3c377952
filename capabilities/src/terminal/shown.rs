//! What a person sees of a command, and what policy hears.

use std::fmt::Write as _;

use super::guard::{Class, Judgement, Segment};

/// How much of one command is shown; the arguments have all of it.
const MAX_SHOWN: usize = 400;

/// What was found, one command a line.
pub(super) fn judgement(judgement: &Judgement) -> String {
    let mut text = format!("{}: {}\n", judgement.class().as_str(), judgement.why.words());
    for Segment { words, why } in &judgement.segments {
        let words = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let short: String = words.chars().take(MAX_SHOWN).collect();
        let more = if short.len() < words.len() { " …" } else { "" };
        let _ = writeln!(text, "  {:<5} {short}{more} ({})", why.class().as_str(), why.words());
    }
    text
}

/// A word as a shell would need it, so that two words never look like one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Every command that would be run besides the call's own target, each as the list of its words. A script is one of `bash`'s too.
pub(super) fn acts_on(judgement: &Judgement, argv: Option<&[String]>, script: Option<&str>) -> Vec<String> {
    let listed = |words: &[String]| serde_json::to_string(words).ok();
    let shell = script.and_then(|script| listed(&["bash", "-c", script].map(str::to_owned)));
    let others = judgement.commands().filter(|words| argv != Some(*words));
    let mut texts: Vec<String> = shell.into_iter().chain(others.filter_map(listed)).collect();
    if judgement.unknown {
        // No list of words: whatever rule asks about commands cannot be held against it, and that denies the call.
        texts.push("?".to_owned());
    }
    texts
}

/// Programs that take a file of the workspace and run it.
const RUNNERS: &[&str] = &[
    "ash", "awk", "bash", "bun", "dash", "deno", "fish", "gawk", "java", "julia", "ksh", "lua", "make", "node", "perl",
    "php", "python", "python3", "ruby", "sed", "sh", "source", ".", "tclsh", "zsh",
];

/// Files of the workspace that would be run, relative to its root.
pub(super) fn own_programs(judgement: &Judgement, workdir: &str, root: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for segment in judgement.segments.iter().filter(|segment| segment.why.class() > Class::Low) {
        let Some((program, rest)) = segment.words.split_first() else { continue };
        if program.contains('/') {
            paths.extend(below(program, workdir, root));
        }
        let name = program.rsplit('/').next().unwrap_or_default();
        if RUNNERS.contains(&name) || name.starts_with("python") {
            let file = rest.iter().find(|word| !word.starts_with('-'));
            paths.extend(file.and_then(|file| below(file, workdir, root)));
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

/// A path as it is from the root; none for one that leads elsewhere or is no plain one.
fn below(path: &str, workdir: &str, root: &str) -> Option<String> {
    let below = match path.strip_prefix('/') {
        None if workdir == "." => path.to_owned(),
        None => format!("{workdir}/{path}"),
        Some(_) if root.is_empty() => return None,
        Some(_) => path.strip_prefix(root)?.strip_prefix('/')?.to_owned(),
    };
    let parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let below = parts.join("/");
    capability_core::handle::is_plain_path(&below).then_some(below)
}

#[cfg(test)]
mod tests {
    use super::{acts_on, below, judgement, own_programs};
    use crate::terminal::guard::judge_script;

    #[test]
    fn own_programs_are_named_from_the_root() {
        for (path, workdir, expected) in [
            ("./x.sh", ".", Some("x.sh")),
            ("x/y", "a", Some("a/x/y")),
            ("/ws/a//b", "c", Some("a/b")),
            ("/bin/ls", ".", None),
            ("../x", "a", None),
            ("/ws", ".", None),
        ] {
            assert_eq!(below(path, workdir, "/ws").as_deref(), expected, "{path}");
        }
        let judged = judge_script("./run.sh; python3 -u tools/a.py x; bash b.sh; cat c", "/ws").expect("read");
        assert_eq!(own_programs(&judged, ".", "/ws"), ["b.sh", "run.sh", "tools/a.py"]);
    }

    #[test]
    fn every_command_is_a_line_and_words_stay_apart() {
        let judged = judge_script("cat 'a b' | sudo rm x", "/ws").expect("read");
        let text = judgement(&judged);
        assert!(text.starts_with("high: "), "{text}");
        assert!(text.contains("  low   cat 'a b' (only looks)\n"), "{text}");
        assert!(text.contains("  high  rm x (writes)\n"), "{text}");
        assert_eq!(acts_on(&judged, None, None), [r#"["cat","a b"]"#, r#"["sudo","rm","x"]"#, r#"["rm","x"]"#]);
        let unknown = judge_script("$X", "/ws").expect("read");
        assert_eq!(acts_on(&unknown, None, Some("$X")), [r#"["bash","-c","$X"]"#, r#"["$X"]"#, "?"]);
    }
}
