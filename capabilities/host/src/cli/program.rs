//! What this program is called, in its own texts.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::OnceLock;

/// What texts that are written before anybody knows the program's name call it.
const GENERIC: &str = "capability";

/// The name that this program was called by.
pub fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| called(std::env::args_os().next()))
}

/// The last part of the path, unless it would not read as one word of a command line.
fn called(path: Option<OsString>) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    let name = path.as_deref().map(Path::new).and_then(Path::file_name).and_then(OsStr::to_str);
    let name = name.filter(|name| !name.starts_with('-') && name.chars().all(plain));
    name.unwrap_or(GENERIC).to_owned()
}

/// A text that names commands, with this program's own name in them.
pub fn own(text: &str) -> Cow<'_, str> {
    under(name(), text)
}

fn under<'t>(name: &str, text: &'t str) -> Cow<'t, str> {
    if name == GENERIC {
        return text.into();
    }
    text.replace(&format!("`{GENERIC} "), &format!("`{name} ")).into()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use clap::CommandFactory;

    use super::{GENERIC, called, under};
    use crate::cli::arguments::CommandLine;

    #[test]
    fn the_name_is_the_last_part_of_the_path_or_none_at_all() {
        let named = |path: &str| called(Some(path.into()));
        assert_eq!((named("/usr/bin/household"), named("./house-2.0")), ("household".into(), "house-2.0".into()));
        for odd in ["", "/", "-sh", "a b", "a`b", "a\u{202e}b", "a\nb"] {
            assert_eq!(named(odd), GENERIC, "{odd:?}");
        }
        assert_eq!(called(None), GENERIC);
    }

    #[test]
    fn commands_are_called_by_the_own_name_and_nothing_else_is() {
        let text = "run `capability doctor`, then `capability list`; a capability is `capability_core`'s";
        let own = "run `household doctor`, then `household list`; a capability is `capability_core`'s";
        assert_eq!(under("household", text), own);
        assert_eq!(under(GENERIC, text), text);
    }

    fn files(at: &Path, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(at).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                files(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "md") {
                found.push(path);
            }
        }
    }

    /// Every command that a text of ours names is one.
    #[test]
    fn every_named_command_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = Vec::new();
        for part in ["capabilities", "capability-core/src", "docs"] {
            files(&root.join(part), &mut found);
        }
        let grammar = CommandLine::command();
        let mut named = 0;
        for path in found.iter().filter(|path| !path.ends_with("program.rs")) {
            let text = fs::read_to_string(path).unwrap();
            // A string that goes on in the next line of its source.
            let text = text.replace("\\\n", "");
            for code in text.split(&format!("`{GENERIC} ")).skip(1) {
                let mut command = &grammar;
                for word in code.split('`').next().unwrap().split_whitespace() {
                    if let Some(flag) = word.strip_prefix("--") {
                        let globals = grammar.get_arguments().filter(|argument| argument.is_global_set());
                        let mut known = command.get_arguments().chain(globals);
                        assert!(known.any(|argument| argument.get_long() == Some(flag)), "{}: {word}", path.display());
                    } else if command.has_subcommands() {
                        let next = command.find_subcommand(word);
                        command = next.unwrap_or_else(|| panic!("{}: no command {word:?}", path.display()));
                        named += 1;
                    }
                }
            }
        }
        assert!(named > 40, "the texts are read: {named}");
    }
}
