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

/// Segments of paths that often hold secrets, in lower case.
const SENSITIVE: &[&str] = &[
    ".aws",
    ".azure",
    ".docker",
    ".env",
    ".envrc",
    ".git-credentials",
    ".gnupg",
    ".htpasswd",
    ".kube",
    ".my.cnf",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".vault-token",
    "credentials",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "secrets",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
];
/// Ends of names that often hold keys.
const SENSITIVE_ENDS: &[&str] = &[".kdbx", ".key", ".p12", ".pem", ".pfx", ".keystore", ".jks"];
/// Segments that nothing may write to or below, in lower case, and what must follow each.
const PROTECTED: &[(&str, &[&str])] = &[
    (".git", &["hooks", "config", "info", "modules"]),
    (".ssh", &[]),
    (".gnupg", &[]),
    (".bashrc", &[]),
    (".bash_profile", &[]),
    (".profile", &[]),
    (".zshrc", &[]),
    (".zshenv", &[]),
    (".gitconfig", &[]),
];
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

fn segments(path: &str) -> impl Iterator<Item = String> {
    // Of `REVISION:path` too.
    path.split(['/', ':', '=']).filter(|segment| !segment.is_empty() && *segment != ".").map(str::to_lowercase)
}

/// Whether its name says that it often holds secrets.
pub(super) fn is_sensitive(path: &str) -> bool {
    segments(path).any(|segment| {
        SENSITIVE.contains(&segment.as_str())
            || segment.starts_with(".env.")
            || SENSITIVE_ENDS.iter().any(|end| segment.ends_with(end))
    })
}

/// Whether nothing may write there.
pub(super) fn is_protected(path: &str) -> bool {
    let segments: Vec<String> = segments(path).collect();
    segments.iter().enumerate().any(|(at, segment)| {
        PROTECTED.iter().any(|(name, below)| {
            let next = segments.get(at + 1);
            segment == name && (below.is_empty() || next.is_none_or(|next| below.contains(&next.as_str())))
        })
    })
}
