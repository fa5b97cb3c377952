//! What a path that stands in a command names, by its text alone.
//!
//! The kernel decides what a command can reach. This decides what a person is told, and what is refused before.

use capability_core::handle::{is_protected_path, is_sensitive_path};

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Inside the workspace, as far as its text says.
    Inside,
    /// A device that takes and gives nothing.
    Nothing,
    /// Somewhere that its text does not say.
    Unknown,
    /// Outside the workspace.
    Outside,
}

/// Devices that anything may write to.
const NOTHING: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"];

/// Where a path leads, from the workspace's root or one of its directories.
pub(super) fn place(path: &str, root: &str, literal: bool) -> Place {
    if NOTHING.contains(&path) {
        return Place::Nothing;
    }
    if path.starts_with('~') || path.starts_with("$HOME") || path.starts_with("${HOME}") {
        return Place::Outside;
    }
    let below = match path.strip_prefix('/') {
        None => path,
        Some(_) => match path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
            Some(below) if !root.is_empty() => below,
            _ if literal && path == root => "",
            _ => return Place::Outside,
        },
    };
    if below.split('/').any(|segment| segment == "..") {
        return Place::Outside;
    }
    if literal { Place::Inside } else { Place::Unknown }
}

/// The parts of a word that can be paths: of `REVISION:path` and `--option=path` too, and the whole of it.
fn paths(word: &str) -> impl Iterator<Item = &str> {
    word.split([':', '=']).chain([word])
}

/// Whether its name says that it often holds secrets.
pub(super) fn is_sensitive(word: &str) -> bool {
    paths(word).any(is_sensitive_path)
}

/// Whether nothing may write there.
pub(super) fn is_protected(word: &str) -> bool {
    paths(word).any(is_protected_path)
}

#[cfg(test)]
mod tests {
    use super::{is_protected, is_sensitive};

    /// A command's words are looked at with the names that files are opened by.
    #[test]
    fn names_are_found_wherever_a_word_holds_them() {
        for word in [
            "HEAD:.env",
            "--file=.ENV.local",
            "a/.ssh/id_ed25519",
            "secrets/x",
            "SECRETS.yml",
            "x=/etc/shadow",
            ".env:stream",
            "server.pem",
        ] {
            assert!(is_sensitive(word), "{word}");
        }
        for word in [".git/hooks/pre-commit", "HEAD:.git/config", "--into=.bashrc", ".gnupg", ".vscode/tasks.json"] {
            assert!(is_protected(word), "{word}");
        }
        for word in ["src/main.rs", "secret", "a:b=c", ".gitignore"] {
            assert!(!is_sensitive(word) && !is_protected(word), "{word}");
        }
    }
}
