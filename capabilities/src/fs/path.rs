//! Paths as callers write them, and what a call for one needs.

use capability_core::handle::{
    BrokerFault, MAX_PATH_BYTES, TargetPlace, Workspace, WorkspaceAccess, is_plain_absolute_path, is_plain_path,
    is_sensitive_path,
};
use capability_core::{Concern, Failure, Raise};

/// The workspace's root.
pub const ROOT: &str = ".";

/// Refuses what is neither a plain path of the workspace nor the root itself.
pub fn in_workspace(path: &str) -> Result<(), String> {
    if path == ROOT || (is_plain_path(path) && !is_shells(path)) {
        return Ok(());
    }
    if is_plain_absolute_path(path) {
        return Err("the path begins at the root of the file system, and this looks only into the workspace\nhelp: write it as it is from the workspace's root, as in `notes`; `fs.read` reads one file elsewhere when a person says yes".to_owned());
    }
    Err(wrong(path))
}

/// Refuses what is neither a plain path of the workspace nor one from the root of the file system.
pub fn of_a_file(path: &str) -> Result<(), String> {
    if (is_plain_path(path) && !is_shells(path)) || is_plain_absolute_path(path) { Ok(()) } else { Err(wrong(path)) }
}

/// Whether a shell would read it as somebody's home directory. Whoever wrote it meant that.
fn is_shells(path: &str) -> bool {
    path == "~" || path.split_once('/').is_some_and(|(first, _)| first.starts_with('~'))
}

/// What is wrong with a path, without the path.
fn wrong(path: &str) -> String {
    let (what, help) = if is_shells(path) {
        ("`~` is a shell's word for a home directory, and no path", "write the whole path, from its first `/`")
    } else if path.len() > MAX_PATH_BYTES {
        ("the path is longer than 1024 bytes", "name a directory nearer to the root")
    } else if path.chars().any(char::is_control) {
        ("the path holds a control character", "write it without")
    } else if path.split('/').any(|part| matches!(part, "." | "..")) {
        ("the path has a `.` or `..` in it", "write it as it is from the workspace's root, as in `notes/today.md`")
    } else {
        ("the path has an empty part, or one that is too long", "write one `/` between parts of at most 255 bytes")
    };
    format!("{what}\nhelp: {help}")
}

/// What a call that only looks at a path of the workspace needs beyond its class.
pub fn looking_at(path: &str) -> Option<Raise> {
    is_sensitive_path(path).then_some(Raise::ask_fresh(Concern::SensitivePath))
}

/// What reading the call's target needs, which is this path.
pub async fn reading<A: WorkspaceAccess>(workspace: &Workspace<A>, path: &str) -> Result<Option<Raise>, Failure> {
    if is_plain_path(path) {
        return Ok(looking_at(path));
    }
    match workspace.target_place().await.map_err(BrokerFault::into_public)? {
        TargetPlace::Inside => Err(BrokerFault::InsideWorkspace.into_public()),
        TargetPlace::Protected => Ok(Some(Raise::deny(Concern::ProtectedPath))),
        TargetPlace::Outside => {
            Ok(Some(looking_at(path).unwrap_or_else(|| Raise::ask_fresh(Concern::OutsideWorkspace))))
        }
    }
}

/// A path below a directory.
pub fn below(directory: &str, name: &str) -> String {
    if directory == ROOT { name.to_owned() } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{below, in_workspace, of_a_file};

    #[test]
    fn what_is_refused_is_told_how_to_write_it_right() {
        for (path, what) in [
            ("~/.SSH/id_ed25519", "a shell's word"),
            ("~", "a shell's word"),
            ("~root/x", "a shell's word"),
            ("../../.kube/config", "a `.` or `..`"),
            ("/ws/../etc/x", "a `.` or `..`"),
            ("a/./b", "a `.` or `..`"),
            ("a//b", "an empty part"),
            ("a/", "an empty part"),
            ("", "an empty part"),
            ("a\nb", "a control character"),
            ("a\0", "a control character"),
        ] {
            for told in [in_workspace(path).unwrap_err(), of_a_file(path).unwrap_err()] {
                assert!(told.contains(what) && told.contains("\nhelp: "), "{path:?}: {told}");
            }
        }
        assert!(in_workspace("/etc/passwd").unwrap_err().contains("root of the file system"));
        assert!(of_a_file("~$draft.odt").is_ok());
        assert!(of_a_file("/etc/passwd").is_ok() && of_a_file(".").is_err() && in_workspace(".").is_ok());
        assert_eq!((below(".", "a"), below("a/b", "c")), ("a".to_owned(), "a/b/c".to_owned()));
    }

    proptest! {
        /// No refusal holds the path, and what is taken has no part that leads elsewhere.
        #[test]
        fn any_text_is_taken_or_refused_by_its_parts(path in "[a-c./~:\\\\ \u{0}\n\u{202e}]{0,24}") {
            for taken in [in_workspace(&path), of_a_file(&path)] {
                match taken {
                    Ok(()) => {
                        let relative = path.strip_prefix('/').unwrap_or(&path);
                        let detour = relative.split('/').any(|part| matches!(part, "" | "." | ".."));
                        prop_assert!(path == "." || !detour, "{path:?}");
                        prop_assert!(!path.chars().any(char::is_control));
                    }
                    Err(told) => prop_assert!(path.len() < 6 || !told.contains(&path)),
                }
            }
        }
    }
}
