//! Variables that decide what runs: no secret is bound to one, and a command sets none.

/// Whole names.
const NAMES: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "BROWSER",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "CXX",
    "EDITOR",
    "ENV",
    "FPATH",
    "GCONV_PATH",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ASKPASS",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_EXTERNAL_DIFF",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_TEMPLATE_DIR",
    "GIT_WORK_TREE",
    "GLIBC_TUNABLES",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LESSCLOSE",
    "LESSOPEN",
    "LUA_CPATH",
    "LUA_INIT",
    "LUA_PATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANPAGER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PS4",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTDOC",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "TMPDIR",
    "VISUAL",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];
/// How names begin.
const BEGINNINGS: &[&str] =
    &["BASH_FUNC_", "CARGO_BUILD_RUSTC", "DYLD_", "GIT_CONFIG", "GIT_SSH", "LD_", "NPM_CONFIG_"];
/// How names end.
const ENDS: &[&str] = &["_COMMAND", "_EDITOR", "_PAGER", "_PROXY", "_WRAPPER"];
/// How names begin to which no secret is bound, though a command may set them: a runtime reads many of them, and which of
/// those load something changes from one version to the next.
const NO_SECRET: &[&str] = &["GIT_", "LC_", "NODE_", "PERL", "PYTHON", "RUBY", "XDG_"];
/// Whole names of that kind.
const NO_SECRET_NAMES: &[&str] = &["LANG", "LOGNAME", "PWD", "TERM", "TZ", "USER"];

/// Whether a text can be the name of a variable at all: letters, digits and `_`, a digit not first, at most 128 bytes.
#[must_use]
pub fn is_variable_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 128
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a variable decides which programs run or what they load: `PATH`, `LD_PRELOAD`, `NODE_OPTIONS`, `GIT_SSH_COMMAND`, in
/// any case.
///
/// ```
/// use capability_core::handle::is_execution_control;
///
/// assert!(is_execution_control("LD_PRELOAD") && is_execution_control("https_proxy"));
/// assert!(!is_execution_control("DEPLOY_TOKEN"));
/// ```
#[must_use]
pub fn is_execution_control(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    NAMES.contains(&upper.as_str())
        || BEGINNINGS.iter().any(|begin| upper.starts_with(begin))
        || ENDS.iter().any(|end| upper.ends_with(end))
}

/// Whether a secret can be bound to a variable of this name.
#[must_use]
pub fn is_bindable_variable(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    is_variable_name(name)
        && !is_execution_control(name)
        && !NO_SECRET.iter().any(|begin| upper.starts_with(begin))
        && !NO_SECRET_NAMES.contains(&upper.as_str())
}

#[cfg(test)]
mod tests {
    use super::{is_bindable_variable, is_execution_control, is_variable_name};

    #[test]
    fn what_decides_what_runs_takes_no_secret() {
        for name in [
            "PATH",
            "path",
            "HOME",
            "SHELL",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "LD_X",
            "DYLD_INSERT_LIBRARIES",
            "GLIBC_TUNABLES",
            "BASH_ENV",
            "ENV",
            "IFS",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF_COMMAND",
            "GIT_CONFIG_COUNT",
            "GIT_ASKPASS",
            "https_proxy",
            "ALL_PROXY",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "PERL5OPT",
            "RUBYLIB",
            "BASH_FUNC_x",
            "PROMPT_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "GIT_EDITOR",
            "GIT_SEQUENCE_EDITOR",
            "GIT_PAGER",
            "GIT_DIR",
            "GIT_WORK_TREE",
            "GIT_PROXY_COMMAND",
            "MANPAGER",
            "SYSTEMD_PAGER",
            "SUDO_EDITOR",
            "BROWSER",
            "CC",
            "cxx",
            "RUSTC",
            "RUSTDOC",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "CARGO_BUILD_RUSTC",
            "CARGO_BUILD_RUSTC_WRAPPER",
            "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
            "PYTHONBREAKPOINT",
            "npm_config_script_shell",
            "NPM_CONFIG_GIT",
        ] {
            assert!(is_execution_control(name) && !is_bindable_variable(name), "{name}");
        }
        for name in
            ["PYTHONX", "NODE_ENV", "GIT_X", "PERL_X", "RUBY_X", "LANG", "lc_all", "", "1A", "A-B", "A=B", "A\nB", "Ä"]
        {
            assert!(!is_bindable_variable(name), "{name}");
        }
        for name in ["A", "_x1", "DEPLOY_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN", "PATHS"] {
            assert!(is_bindable_variable(name) && !is_execution_control(name), "{name}");
        }
        assert!(is_variable_name(&"A".repeat(128)) && !is_variable_name(&"A".repeat(129)));
    }
}
