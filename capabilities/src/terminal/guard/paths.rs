//! What a path that stands in a command names, by its text alone.
//!
//! The kernel decides what a command can reach. This decides what a person is told, and what is refused before.

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
pub(super) fn paths(word: &str) -> impl Iterator<Item = &str> {
    word.split([':', '=']).chain([word])
}

#[cfg(test)]
mod tests {
    use super::super::Base;
    use super::super::site::Site;

    /// A command's words are looked at with the names that files are opened by.
    #[test]
    fn names_are_found_wherever_a_word_holds_them() {
        let site = Site::new(Base { root: "/ws", workdir: "." });
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
            assert!(site.is_sensitive(word), "{word}");
        }
        for word in [".git/hooks/pre-commit", "HEAD:.git/config", "--into=.bashrc", ".gnupg", ".vscode/tasks.json"] {
            assert!(site.is_protected(word), "{word}");
        }
        for word in ["src/main.rs", "secret", "a:b=c", ".gitignore"] {
            assert!(!site.is_sensitive(word) && !site.is_protected(word), "{word}");
        }
    }
}
