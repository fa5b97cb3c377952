//! Paths: what is plain has no part that leads elsewhere, and what a name is does not hang on how it is spelt.
#![no_main]

use capability_core::handle::{is_plain_absolute_path, is_plain_path, is_protected_path, is_sensitive_path};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|path: &str| {
    if is_plain_path(path) {
        assert!(path.split('/').all(|part| !matches!(part, "" | "." | "..")));
        assert!(!path.chars().any(char::is_control));
        assert!(is_plain_absolute_path(&format!("/{path}")));
    }
    for is in [is_sensitive_path, is_protected_path] {
        if is(path) {
            assert!(is(&path.to_uppercase()) && is(&format!("a/{path}")) && is(&format!("{path}/b")));
        }
    }
});
