//! What a person sees of a command, and what policy hears.

use std::fmt::Write as _;

use super::guard::{Class, Judgement, Segment};

/// How much of one command is shown; the arguments have all of it.
const MAX_SHOWN: usize = 400;

/// What was found, one command a line.
pub(super) fn judgement(judgement: &Judgement) -> String {
    let mut text = format!("{}: {}\n", judgement.class().as_str(), judgement.why.words());
    for Segment { words, why, .. } in &judgement.segments {
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

/// Programs that take a file of the workspace and run it, without the version that their names may end in.
const RUNNERS: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "bun",
    "cmake",
    "csh",
    "dash",
    "deno",
    "elixir",
    "fish",
    "gawk",
    "gmake",
    "groovy",
    "guile",
    "java",
    "julia",
    "just",
    "ksh",
    "lua",
    "luajit",
    "make",
    "mawk",
    "ninja",
    "node",
    "nodejs",
    "osascript",
    "perl",
    "php",
    "pypy",
    "python",
    "rbash",
    "rscript",
    "ruby",
    "sed",
    "sh",
    "source",
    ".",
    "tclsh",
    "tcsh",
    "ts-node",
    "tsx",
    "zsh",
];

/// Files of the workspace that would be run, relative to its root. Which of its words a program takes for the file depends on its
/// options, so that every one counts that may name a file.
pub(super) fn own_programs(judgement: &Judgement, root: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for Segment { words, dirs, .. } in judgement.segments.iter().filter(|segment| segment.why.class() > Class::Low) {
        let Some((program, rest)) = words.split_first() else { continue };
        let mut named: Vec<String> = Vec::new();
        if program.contains('/') {
            named.push(program.clone());
        }
        let name = program.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        if RUNNERS.contains(&&*name)
            || RUNNERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || "-.".contains(c)))
        {
            for (at, word) in rest.iter().enumerate() {
                named.extend(operand(word).map(str::to_owned));
                // A module is a file too.
                if word == "-m" {
                    let module = rest.get(at + 1).map(|module| module.replace('.', "/"));
                    named.extend(
                        module.into_iter().flat_map(|path| [format!("{path}.py"), format!("{path}/__main__.py")]),
                    );
                }
            }
        }
        paths.extend(dirs.iter().flat_map(|dir| named.iter().filter_map(|path| below(path, dir, root))));
    }
    paths.sort();
    paths.dedup();
    paths
}

/// The part of a word that can name a file: of `--require=a.js` and `-ra.js` what is behind the option.
fn operand(word: &str) -> Option<&str> {
    match word.strip_prefix('-') {
        None => Some(word),
        Some(option) => match word.split_once('=') {
            Some((_, value)) => Some(value),
            None => option.get(1..).filter(|value| !option.starts_with('-') && value.contains(['.', '/'])),
        },
    }
}

/// A path as it is from the root; none for one that leads elsewhere or is no plain one.
fn below(path: &str, dir: &str, root: &str) -> Option<String> {
    let below = match path.strip_prefix('/') {
        None => format!("{dir}/{path}"),
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
    use crate::terminal::guard::{Base, judge_script};

    const BASE: Base<'_> = Base { root: "/ws", workdir: "." };

    #[test]
    fn own_programs_are_named_from_the_root() {
        for (path, dir, expected) in [
            ("./x.sh", "", Some("x.sh")),
            ("x/y", "a", Some("a/x/y")),
            ("/ws/a//b", "c", Some("a/b")),
            ("/bin/ls", "", None),
            ("../x", "a", None),
            ("/ws", "", None),
        ] {
            assert_eq!(below(path, dir, "/ws").as_deref(), expected, "{path}");
        }
        let judged = judge_script("./run.sh; python3 -u tools/a.py x; bash b.sh; cat c", BASE).expect("read");
        assert_eq!(own_programs(&judged, "/ws"), ["b.sh", "run.sh", "tools/a.py", "x"]);
        // An option may take a word along, or stand at it.
        for (script, workdir, file) in [
            ("python3 -W ignore run.py", ".", "run.py"),
            ("node -r ./a.js b.js", ".", "a.js"),
            ("node -r ./a.js b.js", ".", "b.js"),
            ("node -r./a.js b.js", ".", "a.js"),
            ("node --require=a.js b.js", ".", "a.js"),
            ("perl5.36 -I lib x.pl", ".", "x.pl"),
            ("env A=1 ruby -Ilib -w x.rb", ".", "x.rb"),
            ("python3 -m tools.run", ".", "tools/run.py"),
            ("bash -x -o pipefail x.sh", "a/b", "a/b/x.sh"),
            ("cd sub && ./x.sh", "a", "a/sub/x.sh"),
            ("make -f rules.mk", ".", "rules.mk"),
        ] {
            let judged = judge_script(script, Base { root: "/ws", workdir }).expect("read");
            let found = own_programs(&judged, "/ws");
            assert!(found.iter().any(|path| path == file), "{script}: {found:?}");
        }
    }

    #[test]
    fn every_command_is_a_line_and_words_stay_apart() {
        let judged = judge_script("cat 'a b' | sudo rm x", BASE).expect("read");
        let text = judgement(&judged);
        assert!(text.starts_with("high: "), "{text}");
        assert!(text.contains("  low   cat 'a b' (only looks)\n"), "{text}");
        assert!(text.contains("  high  rm x (writes)\n"), "{text}");
        assert_eq!(acts_on(&judged, None, None), [r#"["cat","a b"]"#, r#"["sudo","rm","x"]"#, r#"["rm","x"]"#]);
        let unknown = judge_script("$X", BASE).expect("read");
        assert_eq!(acts_on(&unknown, None, Some("$X")), [r#"["bash","-c","$X"]"#, r#"["$X"]"#, "?"]);
    }
}
