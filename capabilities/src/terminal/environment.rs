//! Variables that decide what runs, and are therefore not set.

/// Whole names.
const NAMES: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "EDITOR",
    "ENV",
    "GLIBC_TUNABLES",
    "HOME",
    "IFS",
    "NODE_OPTIONS",
    "PAGER",
    "PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "SHELL",
    "SHELLOPTS",
    "TMPDIR",
    "VISUAL",
];
/// How names begin.
const BEGINNINGS: &[&str] = &["BASH_FUNC_", "DYLD_", "GIT_CONFIG", "GIT_SSH", "LD_"];
/// How names end.
const ENDS: &[&str] = &["_COMMAND", "_PROXY"];

/// Whether a command may be given a variable of this name.
///
/// # Errors
/// What is wrong with it, and what to do.
pub(super) fn is_settable(name: &str) -> Result<(), &'static str> {
    let formed = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !formed {
        return Err("a name in `env` is none that a shell knows; use letters, digits and `_`, a digit not first");
    }
    let upper = name.to_ascii_uppercase();
    let decides = NAMES.contains(&upper.as_str())
        || BEGINNINGS.iter().any(|begin| upper.starts_with(begin))
        || ENDS.iter().any(|end| upper.ends_with(end));
    if decides {
        return Err(
            "a name in `env` decides which programs run or what they load; set it inside a `script`, where it is seen",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_settable;

    #[test]
    fn what_decides_what_runs_is_not_set() {
        for name in [
            "PATH",
            "path",
            "HOME",
            "LD_PRELOAD",
            "LD_X",
            "BASH_ENV",
            "IFS",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "https_proxy",
            "ALL_PROXY",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "BASH_FUNC_x",
            "GLIBC_TUNABLES",
            "",
            "1A",
            "A-B",
            "A=B",
            "A\nB",
            "Ä",
        ] {
            assert!(is_settable(name).is_err(), "{name}");
        }
        for name in ["A", "_x1", "RUST_LOG", "NODE_ENV", "CI", "PATHS"] {
            assert_eq!(is_settable(name), Ok(()), "{name}");
        }
    }
}
