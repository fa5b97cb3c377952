//! Names in a path that are more than a name: what is behind them is secret, or is run by somebody else later.
//!
//! A path is looked at part by part, never by how it begins. The kernel follows no link on the way, so that the parts that
//! are asked for are the parts that are reached. Parts are compared as the most forgiving file system would: without case,
//! without what follows a colon, without dots and spaces at their end, without characters that nobody sees.

/// Directories and files whose content is a secret wherever they stand.
const SECRET: &[&str] = &[
    // Keys and credentials of programs.
    ".aws",
    ".azure",
    ".boto",
    ".docker",
    ".dockercfg",
    ".gcloud",
    ".git-credentials",
    ".gnupg",
    ".htpasswd",
    ".kube",
    ".my.cnf",
    ".mylogin.cnf",
    ".netrc",
    ".npmrc",
    ".oci",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".ssh",
    ".terraformrc",
    ".vault-token",
    ".yarnrc",
    ".yarnrc.yml",
    "_netrc",
    "credentials",
    "credentials.csv",
    "credentials.json",
    "credentials.toml",
    "credentials.yaml",
    "credentials.yml",
    ".credentials",
    ".credentials.json",
    "gshadow",
    "rclone.conf",
    "secrets",
    "secrets.json",
    "secrets.toml",
    "secrets.yaml",
    "secrets.yml",
    "shadow",
    "wallet.dat",
    // Keyrings and what browsers keep.
    "keyrings",
    "kwalletd",
    "kwalletd5",
    "cookies.sqlite",
    "key3.db",
    "key4.db",
    "login data",
    "logins.json",
    // What was typed.
    ".histfile",
    ".history",
    ".lesshst",
    ".sh_history",
    ".viminfo",
    ".zhistory",
    "fish_history",
];

/// Endings of the names of such files.
const SECRET_ENDINGS: &[&str] = &[
    ".gpg",
    ".jks",
    ".kdbx",
    ".key",
    ".keychain",
    ".keychain-db",
    ".keyring",
    ".keystore",
    ".p12",
    ".pem",
    ".pfx",
    ".pkcs12",
    ".ppk",
    ".tfstate",
    ".tfstate.backup",
    "_history",
];

/// Kinds of key files that are called `id_` and their kind, whatever follows.
const KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ed448", "id_xmss"];

/// Directories and files that are run, or believed, by somebody who is not asked again: no capability changes them.
const PROTECTED: &[&str] = &[
    // What a version control system keeps, its programs among it. `git~1` is how one file system also calls `.git`.
    ".git",
    "git~1",
    ".hg",
    ".svn",
    ".bzr",
    ".jj",
    "_darcs",
    ".gitconfig",
    ".gitmodules",
    // Keys and credentials: a key that is put there lets somebody in.
    ".aws",
    ".azure",
    ".docker",
    ".gcloud",
    ".gnupg",
    ".kube",
    ".oci",
    ".password-store",
    ".ssh",
    "keyrings",
    // What shells, sessions and tools run when they begin.
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".envrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".logout",
    ".pam_environment",
    ".profile",
    ".tcshrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    // What editors and assistants run when a folder is opened.
    ".idea",
    ".vscode",
    ".husky",
    ".mcp.json",
];

/// Whether some part of a path is called as things are whose content is a secret: `.env`, `.ssh`, `server.pem`,
/// `.bash_history`. Such a file is only read when somebody answered for this very path.
///
/// ```
/// use capability_core::handle::is_sensitive_path;
///
/// assert!(is_sensitive_path("app/.ENV.local"));
/// assert!(is_sensitive_path(".ssh/config"));
/// assert!(!is_sensitive_path("src/environment.rs"));
/// ```
#[must_use]
pub fn is_sensitive_path(path: &str) -> bool {
    path.split('/').map(folded).any(|name| is_sensitive(&name))
}

/// Whether some part of a path is called as things are that nothing may change: `.git`, `.ssh`, `.bashrc`. A call for it is
/// refused whoever answered.
#[must_use]
pub fn is_protected_path(path: &str) -> bool {
    path.split('/').map(folded).any(|name| PROTECTED.contains(&name.as_str()))
}

fn is_sensitive(name: &str) -> bool {
    SECRET.contains(&name)
        || name.starts_with(".env")
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || KEYS.iter().any(|key| name.starts_with(key))
        // A key by a name of its own: a source file has an ending.
        || name.strip_prefix("id_").is_some_and(|rest| !rest.contains('.') || rest.ends_with(".pub"))
}

/// A part of a path as the most forgiving file system compares it.
fn folded(name: &str) -> String {
    let lower = name.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    let name: String = lower.filter(|c| !is_ignored(*c)).collect();
    // What follows a colon names a stream of the same file.
    let name = name.split(':').next().unwrap_or_default();
    name.trim_end_matches(['.', ' ']).to_owned()
}

/// Characters that some file system leaves out when it compares names, and the dot that a Turkish `İ` comes apart into.
const fn is_ignored(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{307}'
            | '\u{34f}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{KEYS, PROTECTED, SECRET, SECRET_ENDINGS, folded, is_protected_path, is_sensitive_path};

    /// A name that is not in its compared form would never be found.
    #[test]
    fn the_lists_are_written_as_names_are_compared() {
        for name in SECRET.iter().chain(SECRET_ENDINGS).chain(KEYS).chain(PROTECTED) {
            assert_eq!(folded(name), *name);
        }
    }

    #[test]
    fn a_sensitive_name_is_found_in_any_spelling_at_any_place() {
        for path in [
            ".env",
            ".ENV",
            ".env::$DATA",
            ".env:stream",
            ".env.",
            ".env. .",
            ".env.production",
            ".envrc",
            "a/.Ssh/known_hosts",
            "a/.\u{17f}sh/x",
            ".\u{200b}ssh/x",
            ".aws/config",
            "a/.KUBE/config",
            ".\u{212a}ube/config",
            "certificates/server.PEM",
            "server.key ",
            "id_ed25519",
            "ID_RSA.bak",
            "id_work",
            "id_work.pub",
            ".netrc",
            ".npmrc",
            ".pypirc",
            ".pgpass",
            ".git-credentials",
            ".bash_history",
            ".zsh_history",
            ".local/share/keyrings/login.keyring",
            "/home/me/.SSH/id_ed25519",
            "/etc/shadow",
        ] {
            assert!(is_sensitive_path(path), "{path:?}");
        }
        for path in [
            "",
            "a",
            "env",
            "src/environment.rs",
            "a.envelope",
            "id_map.rs",
            "keys.rs",
            "monkey",
            "history.md",
            "ssh",
            "x.pem.rs",
        ] {
            assert!(!is_sensitive_path(path), "{path:?}");
        }
    }

    #[test]
    fn a_protected_name_is_found_in_any_spelling_at_any_place() {
        for path in [
            ".git",
            ".Git/hooks/pre-commit",
            "a/.GIT/config",
            ".git./config",
            ".git /config",
            ".git::$INDEX_ALLOCATION/config",
            "GIT~1/config",
            ".g\u{200c}it/config",
            ".g\u{131}t/config",
            ".g\u{130}t/config",
            ".hg/hgrc",
            ".svn/entries",
            ".ssh/authorized_keys",
            ".bashrc",
            "a/.VSCode/tasks.json",
        ] {
            assert!(is_protected_path(path), "{path:?}");
        }
        for path in ["", "git", "a.git", ".gitignore", ".github/workflows/ci.yml", "src/.gitkeep", "bashrc"] {
            assert!(!is_protected_path(path), "{path:?}");
        }
    }

    proptest! {
        /// However a name is dressed up, it is the same name, wherever it stands.
        #[test]
        fn no_dress_hides_a_name(
            name in prop_oneof![prop::sample::select(SECRET), prop::sample::select(PROTECTED)],
            at in any::<prop::sample::Index>(),
            unseen in prop::sample::select(&['\u{200b}', '\u{200d}', '\u{202e}', '\u{feff}', '\u{ad}', '\u{e0041}'][..]),
            end in "[. ]{0,3}(:[a-z$]{0,5})?",
            upper in any::<bool>(),
            (above, below) in ("([a-c]{1,2}/){0,2}", "(/[a-c]{1,2}){0,2}"),
        ) {
            let mut dressed: Vec<char> = if upper { name.to_uppercase() } else { name.to_owned() }.chars().collect();
            dressed.insert(at.index(dressed.len() + 1), unseen);
            let path = format!("{above}{}{end}{below}", dressed.into_iter().collect::<String>());
            prop_assert_eq!(is_sensitive_path(name), is_sensitive_path(&path), "{:?}", path);
            prop_assert_eq!(is_protected_path(name), is_protected_path(&path), "{:?}", path);
        }
    }
}
