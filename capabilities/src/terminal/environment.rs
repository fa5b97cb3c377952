//! Variables that decide what runs, and are therefore not set.

use capability_core::handle::{is_bindable_variable, is_execution_control, is_variable_name};

/// Whether a command may be given a variable of this name.
///
/// # Errors
/// What is wrong with it, and what to do.
pub(super) fn is_settable(name: &str) -> Result<(), &'static str> {
    if !is_variable_name(name) {
        return Err("a name in `env` is none that a shell knows; use letters, digits and `_`, a digit not first");
    }
    if is_execution_control(name) {
        return Err(
            "a name in `env` decides which programs run or what they load; set it inside a `script`, where it is seen",
        );
    }
    Ok(())
}

/// Whether a secret may be bound to a variable of this name.
///
/// # Errors
/// What is wrong with it, and what to do.
pub(super) fn takes_a_secret(name: &str) -> Result<(), &'static str> {
    if is_bindable_variable(name) {
        return Ok(());
    }
    Err(
        "a variable in `secrets` decides what runs, or what a language's own programs load; bind the secret to a name of its own, such as `DEPLOY_TOKEN`",
    )
}

#[cfg(test)]
mod tests {
    use super::{is_settable, takes_a_secret};

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
            assert!(is_settable(name).is_err() && takes_a_secret(name).is_err(), "{name}");
        }
        for name in ["A", "_x1", "RUST_LOG", "NODE_ENV", "CI", "PATHS"] {
            assert_eq!(is_settable(name), Ok(()), "{name}");
        }
    }
}
